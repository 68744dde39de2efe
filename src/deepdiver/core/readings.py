"""Which parts of which texts were read, so that none is read twice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from deepdiver.core.text import Span


@dataclass(slots=True)
class Readings:
    """Which parts of which texts were read in a run."""

    held: dict[str, list[list[int]]] = field(default_factory=dict)
    """Start and end of each part, by the hash of the text: as the state carries it."""

    def unread(self, snapshot: str, text: str) -> list[Span]:
        """Return the parts of a text that were not read, in its order; blank ones are none."""
        gaps: list[Span] = []
        at = 0
        for start, end in [*sorted(self.held.get(snapshot, [])), [len(text), len(text)]]:
            if text[at:start].strip():
                gaps.append(Span(at, start))
            at = max(at, end)
        return gaps

    def add(self, snapshot: str, parts: Iterable[Span]) -> None:
        """Note that parts of a text are read now."""
        listed = [*self.held.get(snapshot, []), *([part.start, part.end] for part in parts)]
        # A new mapping: the one that was given belongs to the state.
        self.held = {**self.held, snapshot: join_parts(sorted(listed))}

    @property
    def size(self) -> int:
        """How many characters were read."""
        return sum(end - start for parts in self.held.values() for start, end in parts)


def join_parts(parts: Iterable[Sequence[int]]) -> list[list[int]]:
    """Return parts in order, those that touch as one."""
    made: list[list[int]] = []
    for start, end in parts:
        if made and start <= made[-1][1]:
            made[-1][1] = max(made[-1][1], end)
        else:
            made.append([start, end])
    return made
