"""Sources that contradict each other.

Both sides stay out of the answer until a further independent source settles it.

The reasoner says which findings contradict and which confirm each other. Code takes a contradiction
only between statements that speak of the same and differ in a value or a denial, counts the
independent voices on each side, and settles it when one side has two of them at least, more than
the other, and is believed by `core.belief` all in all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from deepdiver.core import belief
from deepdiver.core.corroboration import publisher_of
from deepdiver.core.identity import content_id
from deepdiver.core.origins import origins
from deepdiver.core.record import Contradiction, Finding, SentenceKind, Source, Stance
from deepdiver.core.text import terms, words
from deepdiver.core.values import dates, names, numbers
from deepdiver.strategies.shared.base import Deps
from deepdiver.tasks import DraftSection, DraftSentence

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
_DENYING = frozenset("no not never none neither nor without nobody nothing cannot".split())

Pair = Sequence[str]
"""Ids of two findings."""


@dataclass(frozen=True, slots=True)
class Dispute:
    """Two sides of which at most one is right."""

    one: tuple[str, ...]
    """Ids of the findings on the first side; where it is settled, of the side that is borne out."""
    other: tuple[str, ...]
    """Those on the other side."""
    settled: bool
    """Whether a further independent source has settled it."""

    @property
    def excluded(self) -> frozenset[str]:
        """What the answer may not stand on."""
        return frozenset(self.other if self.settled else (*self.one, *self.other))


def can_contradict(one: str, other: str) -> bool:
    """Whether two statements can contradict each other.

    They speak of the same, and differ in a value or a denial.
    """
    mine, theirs = _values(one), _values(other)
    same = {term for term in set(terms(one)) & set(terms(other)) if not term.isdigit()}
    return bool(same) and (bool(mine - theirs and theirs - mine) or _denies(one) != _denies(other))


def _values(text: str) -> set[str]:
    named = {word for name in names(text) for word in words(name)}
    return (
        named
        | {f"{value.normalize():f}" for value in numbers(text)}
        | {day.iso() for day in dates(text)}
    )


def _denies(text: str) -> bool:
    return any(word in _DENYING or word.endswith("n't") for word in words(text))


def make_contradiction(deps: Deps, one: str, other: str, description: str) -> Contradiction | None:
    """Return the record of a contradiction between two findings.

    None where they cannot contradict each other.
    """
    told = [deps.ledger.get(Finding, key).statement for key in (one, other)]
    if one == other or not can_contradict(*told):
        return None
    pair = tuple(sorted((one, other)))
    return Contradiction(
        id=content_id("c", *pair), findings=pair, kind="contradicts", description=description
    )


def find_disputes(deps: Deps, conflicts: Iterable[Pair], same: Iterable[Pair]) -> list[Dispute]:
    """Return what is in dispute, each once, in the order in which it came up.

    Args:
        deps: The run's dependencies.
        conflicts: Pairs of findings that contradict each other.
        same: Pairs that say the same.
    """
    sides = _Sides(same)
    listed = dict.fromkeys((sides.side_of(one), sides.side_of(other)) for one, other in conflicts)
    found: dict[frozenset[tuple[str, ...]], Dispute] = {}
    for one, other in listed:
        if one != other:  # who confirms both sides has not read either
            found.setdefault(frozenset((one, other)), _weigh(deps, one, other))
    return list(found.values())


def list_excluded(found: Iterable[Dispute]) -> set[str]:
    """Return the findings that the answer may not stand on."""
    return {key for dispute in found for key in dispute.excluded}


class _Sides:
    """Findings that say the same, in chains too."""

    def __init__(self, same: Iterable[Pair]) -> None:
        self._held: dict[str, set[str]] = {}
        for one, other in same:
            joined = self._held.get(one, {one}) | self._held.get(other, {other})
            self._held |= dict.fromkeys(joined, joined)

    def side_of(self, key: str) -> tuple[str, ...]:
        return tuple(sorted(self._held.get(key, {key})))


def _weigh(deps: Deps, one: tuple[str, ...], other: tuple[str, ...]) -> Dispute:
    for first, second in ((one, other), (other, one)):
        mine, theirs = _sources_of(deps, first), _sources_of(deps, second)
        one_story = origins({source.id: source for source in (*mine, *theirs)}.values())
        voices, against = _count_voices(mine, one_story), _count_voices(theirs, one_story)
        weighed = [
            belief.Weighed(Stance.SUPPORTS, 1.0, s.credibility.score, one_story[s.id]) for s in mine
        ]
        weighed += [
            belief.Weighed(Stance.REFUTES, 1.0, s.credibility.score, one_story[s.id])
            for s in theirs
        ]
        if (
            voices >= VOICES
            and voices > against
            and belief.posterior(0.5, weighed) >= belief.SUPPORTED_AT
        ):
            return Dispute(first, second, settled=True)
    return Dispute(one, other, settled=False)


def _sources_of(deps: Deps, keys: Iterable[str]) -> list[Source]:
    named = sorted({quote.source for key in keys for quote in deps.ledger.get(Finding, key).quotes})
    return [deps.ledger.get(Source, key) for key in named]


def _count_voices(sources: Sequence[Source], one_story: dict[str, str]) -> int:
    """Count independent voices.

    Copies of one story are one, and so is what one publisher says twice.
    """
    return min(
        len({one_story[item.id] for item in sources}),
        len({publisher_of(item) or item.id for item in sources}),
    )


def make_sections(deps: Deps, found: Iterable[Dispute]) -> list[DraftSection]:
    """Return the part of a report that shows both sides of each dispute, in the words of the sources."""
    lines: list[DraftSentence] = []
    for dispute in found:
        lines.append(
            DraftSentence(text=SETTLED if dispute.settled else OPEN, kind=SentenceKind.FRAME)
        )
        lines += [_quote(deps, side[0]) for side in (dispute.one, dispute.other)]
    return [DraftSection(heading=HEADING, sentences=tuple(lines))] if lines else []


def describe_unsettled(deps: Deps, found: Iterable[Dispute]) -> list[str]:
    """Return what is not settled, in a line each."""
    return [
        "Not settled: "
        + " / ".join(
            deps.ledger.get(Finding, side[0]).statement for side in (dispute.one, dispute.other)
        )
        for dispute in found
        if not dispute.settled
    ]


def _quote(deps: Deps, key: str) -> DraftSentence:
    return DraftSentence(
        text=" ".join(deps.ledger.get(Finding, key).quotes[0].text.split()), findings=(key,)
    )
