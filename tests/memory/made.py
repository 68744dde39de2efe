"""Past runs as a store holds them, made by hand.

What was asked, concluded, found and searched for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from deepdiver.core.identity import canonical, content_id, digest
from deepdiver.core.record import (
    Assessment,
    Citation,
    Evidence,
    Finding,
    Hypothesis,
    HypothesisStatus,
    Passage,
    Quote,
    Record,
    Report,
    Run,
    RunStatus,
    Sentence,
    Source,
    SourceKind,
    Stance,
    Trial,
)
from deepdiver.store import Store

NOW = 1_800_000_000.0
OWNER = "Who owns Holm Works?"
ANNA, BERTIL = "Anna Holm owns Holm Works.", "Bertil Ask owns Holm Works."
REGISTER, GAZETTE = "Holm Works is owned by Anna Holm.", "Holm Works belongs to Bertil Ask."


def begin(
    store: Store,
    id_: str,
    question: str = OWNER,
    created: str = "2026-03-01T08:00:00+00:00",
    **settings: Any,
) -> Run:
    """Enter a run."""
    run = Run(
        id=id_,
        question=question,
        strategy="popper",
        settings=settings,
        created=created,
        version="0.1.0",
    )
    store.runs.create(run)
    return run


def finish(
    store: Store,
    id_: str,
    question: str = OWNER,
    created: str = "2026-03-01T08:00:00+00:00",
    *,
    status: RunStatus = RunStatus.ANSWERED,
    accepted: Sequence[str] = (ANNA,),
    refuted: Mapping[str, str] | None = None,
    **settings: Any,
) -> Run:
    """Enter a run with its report and its ledger; what it accepted stands on the register."""
    run = begin(store, id_, question, created, **settings)
    refuted = {BERTIL: REGISTER} if refuted is None else refuted
    source = source_of("doc:register", "Register", 0.9)
    main = finding_of(source, REGISTER)
    against = {text: finding_of(source, by) for text, by in refuted.items()}
    held = [hypothesis_of(text, HypothesisStatus.SUPPORTED, 0.9) for text in accepted]
    held += [hypothesis_of(text, HypothesisStatus.REFUTED, 0.1) for text in refuted]
    judged = [
        evidence_of(item.hypothesis.id, against[item.hypothesis.statement].id)
        for item in held[len(accepted) :]
    ]
    keep(store, id_, source, main, *against.values(), *(item.hypothesis for item in held), *judged)
    cited = Citation(
        number=1,
        source=source.id,
        finding=main.id,
        title=source.title,
        url=source.url,
        quote=REGISTER,
        passage=main.quotes[0].passage,
        credibility=0.9,
    )
    answer = (Sentence(text=REGISTER, findings=(main.id,), citations=(1,)),)
    report = Report(
        question=question,
        status=status,
        answer=answer if status is RunStatus.ANSWERED else (),
        confidence=0.91 if status is RunStatus.ANSWERED else 0.0,
        hypotheses=tuple(held),
        citations=(cited,),
    )
    store.records.save_report(id_, report.model_dump_json())
    store.runs.set_status(id_, status)
    return run


def keep(store: Store, run: str, *records: Record) -> None:
    """Enter records, and save the texts that they quote."""
    for one in records:
        for quote in one.quotes if isinstance(one, Finding) else ():
            store.texts.put(run, quote.text)
    store.records.add(
        run,
        [
            (type(one).__name__.lower(), one.model_dump()["id"], one.model_dump_json())
            for one in records
        ],
    )


def source_of(url: str, title: str, credibility: float = 0.5) -> Source:
    return Source.model_validate(
        {
            "id": content_id("s", url),
            "kind": SourceKind.DOCUMENT,
            "url": url,
            "title": title,
            "snapshot": "0" * 64,
            "credibility": {"score": credibility},
        }
    )


def finding_of(source: Source, text: str) -> Finding:
    passage = Passage(snapshot=digest(text), start=0, end=len(text))
    return Finding(
        id=content_id("f", text),
        statement=text,
        quotes=(Quote(source=source.id, passage=passage, text=text),),
    )


def hypothesis_of(text: str, status: HypothesisStatus, posterior: float) -> Assessment:
    made = Hypothesis(
        id=content_id("h", text), statement=text, supports_if="so", refutes_if="otherwise"
    )
    return Assessment(hypothesis=made, posterior=posterior, status=status, trials=1)


def evidence_of(hypothesis: str, finding: str, strength: float = 0.8) -> Evidence:
    key = content_id("e", hypothesis, finding, strength)
    return Evidence(
        id=key, hypothesis=hypothesis, finding=finding, stance=Stance.REFUTES, strength=strength
    )


def trial_of(hypothesis: str, *queries: str) -> Trial:
    key = content_id("t", hypothesis, queries)
    return Trial(id=key, hypothesis=hypothesis, iteration=1, queries=queries, searched=True)


def searched(
    store: Store, run: str, query: str, value: Any, *, kind: str = "search", failed: bool = False
) -> None:
    """Enter a search and its answer into a run's journal."""
    key = content_id("k", query, kind)
    asked = {"query": query} if kind == "search" else {"arguments": {"q": query}}
    store.journal.reserve(
        run,
        key,
        kind=kind,
        provider="corpus",
        what=query,
        request=canonical(asked),
        worst=Decimal(0),
        now=NOW,
    )
    store.journal.mark_sent(run, key, NOW)
    if failed:
        store.journal.fail(
            run, key, canonical({"type": "call", "fault": "server"}), Decimal(0), NOW
        )
    else:
        reply = canonical({"value": value, "cost": "0", "usage": {}})
        store.journal.settle(run, key, reply, Decimal(0), NOW)
