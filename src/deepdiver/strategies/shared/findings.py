"""Findings as tasks, states and results see them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from deepdiver.core.origins import origins
from deepdiver.core.record import Finding, Source
from deepdiver.core.text import (
    size_of,
    within,
)
from deepdiver.strategies.shared.base import Deps, LookResult, Update
from deepdiver.tasks import (
    Shown,
)

SHOWN_FINDINGS, SHOWN_BYTES = 80, 24_000
"""Findings shown in one task: those of the best sources, so many of them and so many bytes at most.
"""
KNOWN_BYTES = 8_000
"""What is already known, where it is only background."""
SNIPPET = 200
"""Characters of a source's snippet in a state."""


def show_findings(deps: Deps, keys: Iterable[str]) -> tuple[dict[str, str], tuple[Shown, ...]]:
    """Return findings as a task sees them, and the id behind each label."""
    findings = [deps.ledger.get(Finding, key) for key in dict.fromkeys(keys)]
    sources = {f.id: deps.ledger.get(Source, f.quotes[0].source) for f in findings}
    best = sorted(findings, key=lambda f: -sources[f.id].credibility.score)[:SHOWN_FINDINGS]
    sizes = itertools.accumulate(size_of(f.statement) + size_of(f.quotes[0].text) for f in best)
    kept = {f.id for f, size in zip(best, sizes, strict=True) if size <= SHOWN_BYTES}
    findings = [f for f in findings if f.id in kept]
    one_story = origins(sources[f.id] for f in findings)
    labels: dict[str, str] = {}
    shown = []
    for number, finding in enumerate(findings, 1):
        source = sources[finding.id]
        labels[f"F{number}"] = finding.id
        shown.append(
            Shown(
                id=f"F{number}",
                statement=finding.statement,
                quote=finding.quotes[0].text,
                source=source.title,
                publisher=source.publisher,
                published=source.published,
                credibility=source.credibility.score,
                origin=one_story[source.id],
            )
        )
    return labels, tuple(shown)


def list_statements(deps: Deps, keys: Iterable[str]) -> list[str]:
    """Return what findings say, as far as it is background."""
    return list(
        within(
            (deps.ledger.get(Finding, key).statement for key in dict.fromkeys(keys)), KNOWN_BYTES
        )
    )


def digest_finding(deps: Deps, key: str) -> dict[str, Any]:
    """Return a finding as state and results carry it: small, and without the source's text."""
    finding = deps.ledger.get(Finding, key)
    source = deps.ledger.get(Source, finding.quotes[0].source)
    return {
        "id": finding.id,
        "statement": finding.statement,
        "quote": finding.quotes[0].text,
        "about": finding.about,
        "source": source.id,
        "title": source.title,
        "url": source.url,
        "credibility": source.credibility.score,
    }


def enter_findings(state: Mapping[str, Any], deps: Deps, found: Sequence[LookResult]) -> Update:
    """Return the update that enters what was found into the state."""
    held = {item["id"] for item in state["gathered_information"]}
    new = [
        key
        for key in dict.fromkeys(key for looked in found for key in looked.findings)
        if key not in held
    ]
    return {
        "gathered_information": state["gathered_information"]
        + [digest_finding(deps, key) for key in new],
        "tried": list(
            dict.fromkeys(
                (*state["tried"], *(query for looked in found for query in looked.queries))
            )
        ),
        "limits": list(
            dict.fromkeys((*state["limits"], *(line for looked in found for line in looked.limits)))
        ),
        "new_findings": state["new_findings"] + len(new),
    }


def add_sources(
    sources: Sequence[dict[str, Any]], found: Iterable[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return sources, as a state carries them, with those of findings as `digest_finding` gives them."""
    held = {source["id"]: source for source in sources}
    for item in found:
        own = {name: item[name] for name in ("title", "url", "credibility")}
        held.setdefault(
            item["source"], {"id": item["source"], **own, "snippet": item["quote"][:SNIPPET]}
        )
    return list(held.values())
