"""Findings, sources and sentences for tests of the report, as short as the tests need them."""

from __future__ import annotations

from typing import Any

from deepdiver.core.record import (
    Assessment,
    Credibility,
    Finding,
    Hypothesis,
    HypothesisStatus,
    Passage,
    Quote,
    Run,
    RunStatus,
    Sentence,
    Source,
    SourceKind,
)

AS_OF = "2026-11-15"
RUN = Run(
    id="20261115-holm-0001",
    question="Who owns Holm Works?",
    strategy="popper",
    settings={},
    created=f"{AS_OF}T09:00:00+00:00",
    version="0.1.0",
    status=RunStatus.ANSWERED,
)


def source(key: str = "s_1", **more: Any) -> Source:
    held: dict[str, Any] = {
        "title": f"Title of {key}",
        "url": f"https://example.org/{key}",
        "credibility": Credibility(score=0.9),
    }
    return Source(id=key, kind=SourceKind.PAGE, snapshot=f"h_{key}", **(held | more))


def quote(text: str, key: str = "s_1", start: int = 0) -> Quote:
    return Quote(
        source=key,
        passage=Passage(snapshot=f"h_{key}", start=start, end=start + len(text)),
        text=text,
    )


def finding(key: str, *quotes: Quote) -> Finding:
    return Finding(id=key, statement=f"statement of {key}", quotes=quotes)


def sentence(text: str, *findings: str, **more: Any) -> Sentence:
    return Sentence(text=text, findings=findings, **more)


def assessment(
    status: HypothesisStatus, posterior: float, statement: str = "Anna Holm owns it."
) -> Assessment:
    hypothesis = Hypothesis(
        id=f"h_{status}", statement=statement, supports_if="a register", refutes_if="another owner"
    )
    return Assessment(hypothesis=hypothesis, posterior=posterior, status=status, trials=1)
