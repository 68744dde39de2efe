"""Two runs side by side: what both support, where they part, and at what cost.

Claims are the sentences of the reports that cite something. Two say the same if their words do, or
if the reader takes each to support the other. If they have nearly the same words and another
number, date or name, the claim has changed. They contradict each other if the reader is as good as
sure of it in both directions. Everything else only one of the runs says.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from deepdiver.core.outcomes import OUTCOMES, stated_confidence
from deepdiver.core.record import Citation, Report, Run, Source
from deepdiver.core.settings import EMBEDDED
from deepdiver.core.text import terms
from deepdiver.encoders.reader import SMALL, load_reader
from deepdiver.errors import StoreError, UsageError
from deepdiver.report.sentence_trail import PlacedSentence, placed_sentences
from deepdiver.report.spending import Spending, spending_of
from deepdiver.run.auditor.inner_conflicts import PAIRS, SHARED, share_words
from deepdiver.run.record import load_ledger
from deepdiver.store import CallState, Store
from deepdiver.strategies.shared.statements import repeats, values_of
from deepdiver.tools.address import canonical

NEARLY = 0.75
"""The part of its words that a claim shares with one that it has become."""
Relation = Literal["same", "contradicts", "changed"]


@dataclass(frozen=True, slots=True)
class RunSide:
    """One of two runs."""

    run: Run
    """The run."""
    report: Report
    """Its report."""
    claims: tuple[PlacedSentence, ...]
    """The sentences that cite something, each once."""
    addresses: frozenset[str]
    """The addresses of everything that it read, in the form in which they are compared."""
    cost: Spending
    """What it cost."""
    calls: int
    """How many calls were answered."""

    def cited(self, claim: PlacedSentence) -> list[Citation]:
        """Return the citations of a claim."""
        held = {item.number: item for item in self.report.citations}
        return [held[number] for number in claim.sentence.citations if number in held]


@dataclass(frozen=True, slots=True)
class ClaimPair:
    """Two claims that have to do with each other."""

    one: PlacedSentence
    """The claim of the first run."""
    other: PlacedSentence
    """The claim of the second."""
    relation: Relation
    """How they do."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs side by side."""

    one: RunSide
    """The first run."""
    other: RunSide
    """The second."""
    pairs: tuple[ClaimPair, ...]
    """The claims that have to do with each other, in the order of the first report."""
    only_one: tuple[PlacedSentence, ...]
    """What only the first says."""
    only_other: tuple[PlacedSentence, ...]
    """What only the second says."""

    def related(self, relation: Relation) -> list[ClaimPair]:
        """Return the pairs of one relation."""
        return [pair for pair in self.pairs if pair.relation == relation]


def load_side(name: str, store: Store) -> RunSide:
    """Return a run as one of two.

    Raises:
        UnknownNameError: If there is no such run.
        UsageError: If it has no report.
    """
    run = store.runs.get(name)
    text = store.records.report(run.id)
    if text is None:
        raise UsageError(f"run {run.id} is {run.status.value} and has no report yet")
    report = Report.model_validate_json(text)
    claims: dict[str, PlacedSentence] = {}
    for item in placed_sentences(report):
        if item.sentence.citations:
            claims.setdefault(item.sentence.text, item)
    rows = store.journal.rows(run.id)
    return RunSide(
        run,
        report,
        tuple(claims.values()),
        frozenset(canonical(item.url) for item in load_ledger(store, run.id).of(Source).values()),
        spending_of(store, run.id),
        sum(row.state is CallState.SETTLED for row in rows),
    )


async def compare_runs(one: str, other: str, store: Store) -> Comparison:
    """Compare two runs.

    Raises:
        UnknownNameError: If one of them is not there.
        UsageError: If one of them has no report, or both are the same run.
    """
    left, right = load_side(one, store), load_side(other, store)
    if left.run.id == right.run.id:
        raise UsageError(f"{left.run.id} cannot be compared with itself: name two runs")
    return await compare_sides(left, right)


async def compare_sides(left: RunSide, right: RunSide) -> Comparison:
    """Compare two runs that are loaded."""
    found = _repeated(left, right)
    taken = {pair.one.number for pair in found}, {pair.other.number for pair in found}
    rest = [item for item in left.claims if item.number not in taken[0]]
    others = [item for item in right.claims if item.number not in taken[1]]
    # In a thread, because other work of this process goes on.
    found += await asyncio.to_thread(_read_pairs, rest, others)
    known = {pair.one.number for pair in found}, {pair.other.number for pair in found}
    return Comparison(
        left,
        right,
        tuple(sorted(found, key=lambda pair: (pair.one.number, pair.other.number))),
        tuple(item for item in left.claims if item.number not in known[0]),
        tuple(item for item in right.claims if item.number not in known[1]),
    )


def _repeated(left: RunSide, right: RunSide) -> list[ClaimPair]:
    """Return the claims that say the same by their words: each of both sides with the first.

    Where one side says in two sentences what the other says in one, both are confirmed. So no claim
    that the other run makes too is taken for one of its own.
    """
    found: dict[tuple[int, int], ClaimPair] = {}
    for one in left.claims:
        if other := _first_repeat(one, right.claims):
            found[one.number, other.number] = ClaimPair(one, other, "same")
    taken = {pair.other.number for pair in found.values()}
    for other in (item for item in right.claims if item.number not in taken):
        if first := _first_repeat(other, left.claims):
            found[first.number, other.number] = ClaimPair(first, other, "same")
    return list(found.values())


def _first_repeat(claim: PlacedSentence, others: Sequence[PlacedSentence]) -> PlacedSentence | None:
    """Return the first claim that says the same by its words, before all one in the same words."""
    said = claim.sentence.text
    exact = (item for item in others if item.sentence.text == said)
    return next(exact, None) or next(
        (item for item in others if repeats(said, item.sentence.text)), None
    )


def _read_pairs(
    ones: Sequence[PlacedSentence], others: Sequence[PlacedSentence]
) -> list[ClaimPair]:
    """Return the claims that the reader, or another value, sets beside each other."""
    near = _near(ones, others)
    texts = [(one.sentence.text, other.sentence.text) for _, one, other in near]
    try:
        forth = load_reader().verify(texts) if near else []
        back = load_reader().verify([(two, first) for first, two in texts]) if near else []
    except (StoreError, ImportError):
        return []
    found: list[ClaimPair] = []
    taken: set[int] = set()
    for (share, one, other), there, here in zip(near, forth, back, strict=True):
        relation: Relation | None = None
        if share >= NEARLY and _differ(one.sentence.text, other.sentence.text):
            relation = "changed"
        elif min(there.supports, here.supports) >= SMALL.supports:
            relation = "same"
        elif min(there.refutes, here.refutes) >= SMALL.contradicts:
            relation = "contradicts"
        if relation and one.number not in taken:
            taken.add(one.number)
            found.append(ClaimPair(one, other, relation))
    return found


def _differ(one: str, other: str) -> bool:
    """Whether each of two claims has a number, a date or a name that the other has not."""
    mine, theirs = values_of(one), values_of(other)
    return bool(mine - theirs and theirs - mine)


def _near(
    ones: Sequence[PlacedSentence], others: Sequence[PlacedSentence]
) -> list[tuple[float, PlacedSentence, PlacedSentence]]:
    """Return the pairs of claims that share most of their words, the nearest first."""
    theirs = [frozenset(terms(item.sentence.text)) for item in others]
    found = [
        (share, one, other)
        for one in ones
        for mine in (frozenset(terms(one.sentence.text)),)
        for other, held in zip(others, theirs, strict=True)
        if (share := share_words(mine, held)) >= SHARED
    ]
    return sorted(found, key=lambda pair: (-pair[0], pair[1].number, pair[2].number))[:PAIRS]


def comparison_record(found: Comparison) -> dict[str, Any]:
    """Return a comparison as values of JSON."""
    return {
        "runs": [_side_record(side) for side in (found.one, found.other)],
        "sources_in_both": len(found.one.addresses & found.other.addresses),
        "pairs": [
            {
                "relation": pair.relation,
                "one": _claim_record(pair.one),
                "other": _claim_record(pair.other),
            }
            for pair in found.pairs
        ],
        "only_one": [_claim_record(item) for item in found.only_one],
        "only_other": [_claim_record(item) for item in found.only_other],
    }


def _side_record(side: RunSide) -> dict[str, Any]:
    return {
        "id": side.run.id,
        "question": side.run.question,
        "strategy": side.run.strategy,
        "model": side.run.settings.get("model", EMBEDDED),
        "status": side.run.status.value,
        "confidence": side.report.confidence,
        "claims": len(side.claims),
        "sources": len(side.addresses),
        "calls": side.calls,
        "usd": side.cost.text,
    }


def _claim_record(item: PlacedSentence) -> dict[str, Any]:
    return {"number": item.number, "text": item.sentence.text}


def comparison_head(found: Comparison) -> Iterator[str]:
    """Yield which run is A and which is B, and what they were asked."""
    asked = [found.one.run.question, found.other.run.question]
    yield from asked[:1] if asked[0] == asked[1] else ()
    for name, side in (("A", found.one), ("B", found.other)):
        also = f": {side.run.question}" if asked[0] != asked[1] else ""
        yield f"{name}  {side.run.id}{also}"
    yield ""


def comparison_rows(found: Comparison) -> list[tuple[str, str, str]]:
    """Return the figures of two runs side by side."""
    sides = (found.one, found.other)
    both = len(found.one.addresses & found.other.addresses)

    def row(name: str, *values: object) -> tuple[str, str, str]:
        left, right = map(str, values)
        return name, left, right

    return [
        row("", "A", "B"),
        row("strategy", *(side.run.strategy for side in sides)),
        row("model", *(side.run.settings.get("model", EMBEDDED) for side in sides)),
        row("as of", *(side.run.created[:10] for side in sides)),
        row("outcome", *(_outcome(side) for side in sides)),
        row("claims", *(len(side.claims) for side in sides)),
        row("sources read", *(f"{len(side.addresses)}, {both} in both" for side in sides)),
        row("calls", *(side.calls for side in sides)),
        row("cost", *(f"USD {side.cost.text}" for side in sides)),
    ]


def _outcome(side: RunSide) -> str:
    ending, sure = OUTCOMES.get(side.run.status), stated_confidence(side.report)
    how = ending.headline if ending else side.run.status.value
    return how if sure is None else f"{how} {sure:.2f}"


def comparison_lines(found: Comparison) -> Iterator[str]:
    """Yield what two runs say: together, against each other, and alone."""
    headings: dict[Relation, str] = {
        "same": "Both say, with citations",
        "contradicts": "They contradict each other",
        "changed": "They differ in a number, a date or a name",
    }
    for relation, heading in headings.items():
        if pairs := found.related(relation):
            yield from ("", f"{heading} ({len(pairs)})")
        for pair in pairs:
            one, other = pair.one, pair.other
            if one.sentence.text == other.sentence.text:
                yield f"   A{one.number} B{other.number}. {one.sentence.text}"
            else:
                yield f"   A{one.number}. {one.sentence.text}"
                yield f"   B{other.number}. {other.sentence.text}"
    for name, only in (("A", found.only_one), ("B", found.only_other)):
        if only:
            yield from ("", f"Only {name} says ({len(only)})")
        yield from (f"   {name}{item.number}. {item.sentence.text}" for item in only)
