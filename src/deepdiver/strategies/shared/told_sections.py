"""What the sections of a report say, as whoever checks its bottom line is shown it."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from deepdiver.core.numbering import GAP
from deepdiver.strategies.shared.grounding import stems

ROOM = 16_000
"""The most characters that are shown: those of a report of standard length, with its code."""


@dataclass(frozen=True, slots=True)
class ToldSection:
    """What an audited section says, without marks."""

    heading: str
    """Its heading."""
    parts: tuple[str, ...]
    """Its paragraphs, its lists and its tables; a line for each point and row."""


def tell_sections(told: Sequence[ToldSection], said: Iterable[str], room: int = ROOM) -> str:
    """Return what sections say beside sentences that may sum them up.

    Where room is short, the opening of each section is shown first, and then the other parts of
    those that are nearest to a sentence, lists and tables as a whole: a sentence that sums one up
    has few words of each of its rows.

    Args:
        told: The sections.
        said: The sentences.
        room: The most characters of parts.
    """
    kept: set[tuple[int, int]] = set()
    for at, n in _by_nearness(told, said):
        if (size := len(told[at].parts[n])) <= room:
            kept.add((at, n))
            room -= size
    return "\n\n".join(
        _tell(section, {n for of, n in kept if of == at})
        for at, section in enumerate(told)
        if section.parts
    )


def _by_nearness(told: Sequence[ToldSection], said: Iterable[str]) -> list[tuple[int, int]]:
    """Return the places of all parts: openings, then those of the nearest sections."""
    asked = [stems(sentence) for sentence in said]
    near = {
        (at, n): max((len(own & stems(part)) for own in asked), default=0)
        for at, section in enumerate(told)
        for n, part in enumerate(section.parts)
    }
    nearest: dict[int, int] = {}
    for (at, _), shared in near.items():
        nearest[at] = max(shared, nearest.get(at, 0))
    return sorted(near, key=lambda of: (of[1] > 0, -nearest[of[0]], of[0], -near[of], of))


def _tell(section: ToldSection, kept: Collection[int]) -> str:
    """Return some parts of a section under its heading, with a sign for the others."""
    shown = [f"{section.heading}:"]
    for is_kept, group in itertools.groupby(enumerate(section.parts), lambda it: it[0] in kept):
        shown += [part for _, part in group] if is_kept else [GAP]
    return "\n".join(shown)
