"""The memory: what past runs found and how they judged it, to list, search and export.

It is read from the records of the runs, so there is no second copy that could differ from them. A
finding is a statement with its quotes. A verdict is a hypothesis that was tested, or a conclusion
that was checked. Each says where it comes from, how old it is, and whether its quotes are still in
the saved texts; what has none there any more is shown as such, and never offered to a new run.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from collections.abc import Set as AbstractSet
from datetime import date
from typing import Any, Literal

from deepdiver.core.record import (
    FINISHED,
    Assessment,
    Finding,
    HypothesisStatus,
    Quote,
    Record,
    Report,
    Run,
    Source,
    Verdict,
)
from deepdiver.core.text import terms
from deepdiver.errors import DamagedStoreError, LostTextError, UnknownNameError
from deepdiver.memory.relevance import glance, share_of_weight
from deepdiver.store import Store

_RECORD = re.compile(r"[fhv]_[0-9a-f]{16}")
"""The ids of findings, hypotheses and verdicts."""


class Provenance(Record):
    """Where a remembered thing was read."""

    title: str
    """The title of the source."""
    url: str
    """Its address."""
    published: str = ""
    """When it was published, if that is known."""
    quote: Quote
    """The quote, and where it is in the saved text."""


class Remembered(Record):
    """A finding or a verdict of a past run."""

    id: str
    """Its id in the ledger of the run."""
    kind: Literal["finding", "verdict"]
    """What it is."""
    statement: str
    """What was found, or what was judged."""
    verdict: str = ""
    """How it was judged: supported (0.91), refuted (0.08), PASS: …; empty for a finding."""
    run: str
    """The run that it is of."""
    question: str
    """What that run was asked."""
    date: str
    """The day that counted as today in that run, ISO 8601."""
    days: int
    """How old it is, in days."""
    stands: bool | None = None
    """Whether every quote behind it is still in its saved text; None: nobody has looked."""
    sources: tuple[Provenance, ...] = ()
    """Where it was read."""


def run_day(run: Run) -> str:
    """Return the day that counts as today in a run."""
    return str(run.settings.get("as_of") or run.created[:10])


def days_between(day: str, today: str) -> int:
    """Return how old something of a day is; 0 if that day is still to come."""
    return max(0, (date.fromisoformat(today[:10]) - date.fromisoformat(day[:10])).days)


def quote_is_saved(quote: Quote, store: Store) -> bool:
    """Return whether the saved text still has a quote; False if the text is lost."""
    try:
        return quote.stands_in(store.texts.get(quote.passage.snapshot))
    except LostTextError:
        return False


def check(item: Remembered, store: Store) -> Remembered:
    """Return something with whether its quotes are still in the saved texts."""
    stands = all(quote_is_saved(one.quote, store) for one in item.sources)
    return item.model_copy(update={"stands": stands})


def remembered_runs(store: Store, forgotten: Collection[str]) -> list[Run]:
    """Return the finished runs that are not forgotten, the newest first."""
    listed = store.runs.list_all()
    return [run for run in listed if run.status in FINISHED and run.id not in forgotten]


def remember(
    run: Run,
    store: Store,
    today: str,
    forgotten: Collection[str] = (),
    asked: Collection[str] = (),
) -> list[Remembered]:
    """Return what is remembered of a run: its verdicts, then its findings.

    Args:
        run: A finished run.
        store: Its store.
        today: The day from which ages are counted.
        forgotten: Ids that are left out.
        asked: Words of which a search wants one; a run that has none for certain is not read.

    Raises:
        ValueError: If the run has no report, or this version cannot read its record.
        DamagedStoreError: If its saved data are damaged.
    """
    text = store.records.report(run.id)
    if text is None:
        raise ValueError(f"{run.id} has no report")
    rows = store.records.ledger(run.id)
    told = (run.question, *(data for kind, _, data in rows if kind != "source"))
    if asked and not any(glance(one.lower(), asked) for one in told):
        return []
    report, read = Report.model_validate_json(text), _Records(rows)
    common: dict[str, Any] = {"run": run.id, "question": run.question, "date": run_day(run)}
    common["days"] = days_between(common["date"], today)
    made = [*_assessed(report, read), *_checked(read), *_found(read)]
    return [
        Remembered(
            **common,
            **fields,
            sources=tuple(read.provenance(quotes)),
        )
        for fields, quotes in made
        if fields["id"] not in forgotten
    ]


class _Records:
    """The records of a run that the memory reads."""

    def __init__(self, rows: Iterable[tuple[str, str, str]]) -> None:
        held = list(rows)

        def of(kind: str, model: type[Any]) -> dict[str, Any]:
            return {id_: model.model_validate_json(data) for k, id_, data in held if k == kind}

        self.sources: dict[str, Source] = of("source", Source)
        self.findings: dict[str, Finding] = of("finding", Finding)
        self.verdicts: dict[str, Verdict] = of("verdict", Verdict)

    def quotes(self, findings: Iterable[str]) -> list[Quote]:
        known = [self.findings[id_] for id_ in findings if id_ in self.findings]
        return [quote for finding in known for quote in finding.quotes]

    def provenance(self, quotes: Iterable[Quote]) -> Iterator[Provenance]:
        for quote in quotes:
            if source := self.sources.get(quote.source):
                yield Provenance(
                    title=source.title,
                    url=source.url,
                    published=source.published,
                    quote=quote,
                )


_Made = tuple[dict[str, Any], list[Quote]]


def _assessed(report: Report, read: _Records) -> Iterator[_Made]:
    for item in report.hypotheses:
        if item.status is not HypothesisStatus.OPEN:
            own = item.hypothesis
            fields = {"id": own.id, "kind": "verdict", "statement": own.statement}
            fields["verdict"] = f"{item.status.value} ({item.posterior:.2f})"
            yield fields, read.quotes(findings_behind(item))


def findings_behind(item: Assessment) -> tuple[str, ...]:
    """Return the findings that a hypothesis stands or falls on."""
    refuted = item.status is HypothesisStatus.REFUTED
    return item.refuting if refuted else (item.supporting or item.hypothesis.findings)


def _checked(read: _Records) -> Iterator[_Made]:
    for item in read.verdicts.values():
        fields = {"id": item.id, "kind": "verdict", "statement": item.conclusion}
        yield {**fields, "verdict": f"{item.kind.value}: {item.reason}"}, []


def _found(read: _Records) -> Iterator[_Made]:
    for item in read.findings.values():
        fields = {"id": item.id, "kind": "finding", "statement": item.statement}
        yield fields, list(item.quotes)


def count_remembered(run: Run, store: Store, forgotten: Collection[str]) -> tuple[int, int]:
    """Return how many findings and how many verdicts of a run are remembered.

    Raises:
        ValueError: If this version cannot read its report.
        DamagedStoreError: If its saved data are damaged.
    """
    kinds = Counter(kind for kind, id_, _ in store.records.ledger(run.id) if id_ not in forgotten)
    text = store.records.report(run.id)
    tested = Report.model_validate_json(text).hypotheses if text else ()
    judged = sum(
        item.status is not HypothesisStatus.OPEN and item.hypothesis.id not in forgotten
        for item in tested
    )
    return kinds["finding"], kinds["verdict"] + judged


def whole_memory(
    store: Store,
    today: str,
    forgotten: Collection[str],
    left_out: list[str] | None = None,
    words: str = "",
) -> Iterator[Remembered]:
    """Yield everything that is remembered, that of the newest run first, each thing once.

    Args:
        store: The store of the runs.
        today: The day from which ages are counted.
        forgotten: Ids that are left out.
        left_out: Receives the ids of the runs that cannot be read.
        words: What a search wants, so that it need not read everything closely.
    """
    known: set[str] = set()
    asked = tuple(dict.fromkeys(terms(words)))
    for run in remembered_runs(store, forgotten):
        try:
            held = remember(run, store, today, forgotten, asked)
        except (ValueError, DamagedStoreError, UnknownNameError):
            # The run is of another version, damaged, or was deleted just now.
            if left_out is not None:
                left_out.append(run.id)
            continue
        yield from (item for item in held if item.id not in known)
        known |= {item.id for item in held}


def search_memory(words: str, memory: Iterable[Remembered], limit: int) -> list[Remembered]:
    """Return what shares most with some words, the best first; of equals, the newest.

    The rarer a word is in the memory, the more it weighs, as where past runs are chosen for a
    question (`relevance`). Words of the question that it was found for count, and those of the
    thing itself count twice.
    """
    asked = dict.fromkeys(terms(words))
    listed = [(item, *_shared(item, asked.keys())) for item in memory]
    counts = Counter(term for _, own, around in listed for term in own | around)
    weights = {term: math.log(1 + (len(listed) + 1) / (counts[term] + 1)) for term in asked}
    ranked = [
        (share_of_weight(own | around, weights) + share_of_weight(own, weights), item)
        for item, own, around in listed
        if own | around
    ]
    ranked.sort(key=lambda pair: (-pair[0], pair[1].days, pair[1].kind != "verdict", pair[1].id))
    return [item for _, item in ranked[:limit]]


def _shared(item: Remembered, asked: AbstractSet[str]) -> tuple[AbstractSet[str], AbstractSet[str]]:
    """Return which words are in a thing itself, and which in the question it was found for."""
    own = "\n".join((item.statement, *(one.quote.text for one in item.sources)))
    return _words_in(own, asked), _words_in(item.question, asked)


def _words_in(text: str, asked: AbstractSet[str]) -> AbstractSet[str]:
    return asked & set(terms(text)) if glance(text.lower(), asked) else frozenset()


def find_memory(name: str, store: Store) -> str:
    """Return the id that a name stands for: of a finding, a verdict, or a run.

    Raises:
        UnknownNameError: If there is no such thing.
    """
    if _RECORD.fullmatch(name):
        for run in store.runs.list_all():
            if any(id_ == name for _, id_, _ in store.records.ledger(run.id)):
                return name
        raise UnknownNameError(f"no run has found or judged {name}; `deepdiver memory list RUN`")
    return store.runs.get(name).id
