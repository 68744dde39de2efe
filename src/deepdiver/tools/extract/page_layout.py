"""Finding headings and paragraphs on a page, by the size and position of its lines.

A PDF has no paragraphs. Without this, a heading would run into the sentence below it, and be quoted
with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

HEADING_SIZE = 1.15
"""How many times larger than most of the text a heading is at least."""
LONGEST_HEADING = 200
WIDER = 1.35
"""How many times the usual distance between lines separates paragraphs."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a page."""

    text: str
    """Its text."""
    size: float = 0.0
    """The size of its letters."""
    y: float = 0.0
    """Its vertical position on the page."""
    bold: bool = False
    """Whether all of it is bold."""


def join_lines(pieces: Iterable[tuple[str, float, float, bool]]) -> list[Line]:
    """Join pieces of text (text, size, y, bold) into lines."""
    found: list[Line] = []
    held: list[tuple[str, float, float, bool]] = []

    def close() -> None:
        said = [piece for piece in held if piece[0].strip()]
        sizes: Counter[float] = Counter()
        for text, size, _, _ in said:
            sizes[size] += len(text)
        text = "".join(piece[0] for piece in held)
        size = sizes.most_common(1)[0][0] if sizes else 0.0
        found.append(
            Line(
                text,
                size,
                said[0][2] if said else 0.0,
                bool(said) and all(piece[3] for piece in said),
            )
        )
        held.clear()

    for text, size, y, bold in pieces:
        first, *more = text.split("\n")
        held.append((first, size, y, bold))
        for part in more:
            close()
            held.append((part, size, y, bold))
    close()
    return found


@dataclass(frozen=True, slots=True)
class UsualLook:
    """The usual look of the lines of a document."""

    size: float
    """The size of most letters; 0 if unknown."""
    bold: bool
    """Whether most of it is bold."""
    step: float
    """The usual distance to the next line; negative if positions are counted from the top."""

    def heads(self, line: Line, apart: bool) -> bool:
        """Whether a line is a heading: larger than the text, or bold and apart from the others."""
        if (
            not self.size
            or not any(map(str.isalpha, line.text))
            or len(line.text) > LONGEST_HEADING
        ):
            return False
        return line.size >= HEADING_SIZE * self.size or (line.bold and not self.bold and apart)

    def parts(self, above: Line, below: Line) -> bool:
        """Whether two lines are further apart than lines of one paragraph."""
        down = (above.y - below.y) * (1 if self.step > 0 else -1)
        return bool(self.step) and down > WIDER * abs(self.step) * max(
            below.size / self.size if self.size else 1, 1
        )


def usual_look(pages: list[list[Line]]) -> UsualLook:
    """Return the usual look of the lines of a document."""
    sizes: Counter[float] = Counter()
    bold = letters = 0
    steps: Counter[float] = Counter()
    for page in pages:
        said = [line for line in page if line.text.strip()]
        for line in said:
            sizes[line.size] += len(line.text)
            letters += len(line.text)
            bold += len(line.text) * line.bold
        for above, below in pairwise(said):
            if above.size == below.size and 0 < abs(above.y - below.y) < 4 * above.size:
                steps[round(above.y - below.y, 1)] += 1
    size = sizes.most_common(1)[0][0] if sizes else 0.0
    return UsualLook(size, 2 * bold > letters, steps.most_common(1)[0][0] if steps else 0.0)


def paragraphs_of(page: list[Line], usual: UsualLook) -> Iterator[tuple[str, bool]]:
    """Yield the paragraphs of a page, with line ends kept, and whether each is a heading."""
    held: list[str] = []
    above: Line | None = None
    headed = False
    for line in page:
        if not line.text.strip():
            if held:
                yield "\n".join(held), headed
            held, above = [], None
            continue
        apart = above is None or usual.parts(above, line)
        heads = usual.heads(line, apart)
        goes_on = (
            above is not None
            and headed == heads
            and (line.size == above.size if heads else not apart)
        )
        if held and not goes_on:
            yield "\n".join(held), headed
            held = []
        held.append(line.text.rstrip())
        above, headed = line, heads
    if held:
        yield "\n".join(held), headed
