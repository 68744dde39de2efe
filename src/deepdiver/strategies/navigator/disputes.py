"""Disputes between sources: both sides stay out of the answer until another source settles them.

The reasoner says which findings contradict and which confirm each other. Code accepts a
contradiction only between statements that share a subject and differ in a value or a denial. It
counts the independent voices on each side, and settles the dispute when one side has at least two
of them, more than the other, and `core.belief` believes it with everything counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from deepdiver.core import belief
from deepdiver.core.corroboration import publisher_of
from deepdiver.core.identity import content_id
from deepdiver.core.origins import origins
from deepdiver.core.record import (
    Contradiction,
    Finding,
    Section,
    Sentence,
    SentenceKind,
    Source,
    Stance,
)
from deepdiver.core.retraction import as_believed
from deepdiver.strategies.shared.base import Deps, State
from deepdiver.strategies.shared.statements import can_contradict

VOICES = 2
"""Independent sources that settle a contradiction: the one that began it, and a further one."""
HEADING = "Conflicting information"
OPEN = (
    "These statements contradict each other, and no further independent source settles it, so "
    "neither is used:"
)
SETTLED = (
    "These statements contradict each other, and a further independent source bears out the first:"
)

Pair = Sequence[str]
"""Ids of two findings."""


@dataclass(frozen=True, slots=True)
class Dispute:
    """Two sides, of which at most one is right."""

    one: tuple[str, ...]
    """Ids of the findings on the first side; in a settled dispute, on the side that was right."""
    other: tuple[str, ...]
    """Ids of the findings on the other side."""
    settled: bool
    """Whether a further independent source has settled the dispute."""

    @property
    def excluded(self) -> frozenset[str]:
        """Ids of the findings that the answer may not use."""
        return frozenset(self.other if self.settled else (*self.one, *self.other))


def make_contradiction(deps: Deps, one: str, other: str, description: str) -> Contradiction | None:
    """Return the record of a contradiction between two findings; None if they cannot contradict."""
    told = [deps.ledger.get(Finding, key).statement for key in (one, other)]
    if one == other or not can_contradict(*told):
        return None
    pair = tuple(sorted((one, other)))
    return Contradiction(
        id=content_id("c", *pair), findings=pair, kind="contradicts", description=description
    )


def find_disputes(deps: Deps, conflicts: Iterable[Pair], same: Iterable[Pair]) -> list[Dispute]:
    """Return the disputes, each once, in the order in which they came up.

    Args:
        deps: The run's dependencies.
        conflicts: Pairs of findings that contradict each other.
        same: Pairs that say the same.
    """
    sides = _Sides(same)
    listed = dict.fromkeys((sides.side_of(one), sides.side_of(other)) for one, other in conflicts)
    found: dict[frozenset[tuple[str, ...]], Dispute] = {}
    for one, other in listed:
        # Two findings that confirm each other do not contradict, whatever the reasoner says.
        if one != other:
            found.setdefault(frozenset((one, other)), _weigh(deps, one, other))
    return list(found.values())


def list_excluded(found: Iterable[Dispute]) -> set[str]:
    """Return the ids of the findings that the answer may not use."""
    return {key for dispute in found for key in dispute.excluded}


def find_excluded(deps: Deps, state: State) -> set[str]:
    """Return the ids of the findings that the disputes of a state keep out of the answer."""
    return list_excluded(find_disputes(deps, state["conflicts"], state["same"]))


class _Sides:
    """Groups of findings that say the same, directly or through others."""

    def __init__(self, same: Iterable[Pair]) -> None:
        self._held: dict[str, set[str]] = {}
        for one, other in same:
            joined = self._held.get(one, {one}) | self._held.get(other, {other})
            self._held |= dict.fromkeys(joined, joined)

    def side_of(self, key: str) -> tuple[str, ...]:
        return tuple(sorted(self._held.get(key, {key})))


def _weigh(deps: Deps, one: tuple[str, ...], other: tuple[str, ...]) -> Dispute:
    for first, second in ((one, other), (other, one)):
        if _prevails(_sources_of(deps, first), _sources_of(deps, second)):
            return Dispute(first, second, settled=True)
    return Dispute(one, other, settled=False)


def _prevails(mine: Sequence[Source], theirs: Sequence[Source]) -> bool:
    """Return whether the sources of one side settle a dispute against those of the other."""
    one_story = origins({source.id: source for source in (*mine, *theirs)}.values())
    voices = _count_voices(mine, one_story)
    if voices < VOICES or voices <= _count_voices(theirs, one_story):
        return False
    sides = ((Stance.SUPPORTS, mine), (Stance.REFUTES, theirs))
    weighed = [
        belief.WeighedEvidence(stance, 1.0, source.credibility.score, one_story[source.id])
        for stance, sources in sides
        for source in sources
    ]
    return belief.posterior(0.5, weighed) >= belief.SUPPORTED_AT


def _sources_of(deps: Deps, keys: Iterable[str]) -> list[Source]:
    named = sorted({quote.source for key in keys for quote in deps.ledger.get(Finding, key).quotes})
    return [as_believed(deps.ledger, deps.ledger.get(Source, key)) for key in named]


def _count_voices(sources: Sequence[Source], one_story: dict[str, str]) -> int:
    """Count independent voices: copies of one story are one, and so are texts of one publisher."""
    return min(
        len({one_story[item.id] for item in sources}),
        len({publisher_of(item) or item.id for item in sources}),
    )


def make_sections(deps: Deps, found: Iterable[Dispute]) -> list[Section]:
    """Return the section that quotes both sides of each dispute; none if there are no disputes."""
    lines: list[Sentence] = []
    for dispute in found:
        lines.append(Sentence(text=SETTLED if dispute.settled else OPEN, kind=SentenceKind.FRAME))
        lines += [_quote(deps, side[0]) for side in (dispute.one, dispute.other)]
    return [Section(heading=HEADING, sentences=tuple(lines))] if lines else []


def describe_unsettled(deps: Deps, found: Iterable[Dispute]) -> list[str]:
    """Return a line for each dispute that is not settled."""
    return [
        "Not settled: "
        + " / ".join(
            deps.ledger.get(Finding, side[0]).statement for side in (dispute.one, dispute.other)
        )
        for dispute in found
        if not dispute.settled
    ]


def _quote(deps: Deps, key: str) -> Sentence:
    return Sentence(
        text=" ".join(deps.ledger.get(Finding, key).quotes[0].text.split()), findings=(key,)
    )
