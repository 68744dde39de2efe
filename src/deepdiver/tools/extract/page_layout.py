"""Lines on a page, by size and place: which of them are headings, and where a paragraph ends.

A PDF knows no paragraphs. Without this a heading would run on into the sentence below it, and be
quoted with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

HEADING_SIZE = 1.15
"""How much larger than most of the text a heading is at least."""
LONGEST_HEADING = 200
WIDER = 1.35
"""How much more than the usual distance between lines parts paragraphs."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a page."""

    text: str
    """What it says."""
    size: float = 0.0
    """How large its letters are."""
    y: float = 0.0
    """How far up the page it stands."""
    bold: bool = False
    """Whether all of it is set in bold."""


def join_lines(pieces: Iterable[tuple[str, float, float, bool]]) -> list[Line]:
    """Put pieces of text (text, size, y, bold) together to lines.

    The texts of both, joined, are the same.
    """
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
    """What most of a document looks like."""

    size: float
    """How large most letters are; 0 where nothing is known."""
    bold: bool
    """Whether most of it is set in bold."""
    step: float
    """How far down the next line stands, mostly; negative where the page is counted from above."""

    def heads(self, line: Line, apart: bool) -> bool:
        """Tell whether a line is a heading.

        Larger than the text, or bold and apart from what is above it.
        """
        if (
            not self.size
            or not any(map(str.isalpha, line.text))
            or len(line.text) > LONGEST_HEADING
        ):
            return False
        return line.size >= HEADING_SIZE * self.size or (line.bold and not self.bold and apart)

    def parts(self, above: Line, below: Line) -> bool:
        """Tell whether two lines are further apart than lines of one paragraph."""
        down = (above.y - below.y) * (1 if self.step > 0 else -1)
        return bool(self.step) and down > WIDER * abs(self.step) * max(
            below.size / self.size if self.size else 1, 1
        )


def usual_look(pages: list[list[Line]]) -> UsualLook:
    """Judge what most of a document looks like."""
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
    """Give the paragraphs of a page, and for each whether it is a heading.

    The lines within one keep their ends.
    """
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
