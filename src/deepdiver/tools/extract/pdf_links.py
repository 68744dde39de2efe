"""Writes the links and raised numbers of a PDF page into its text, as Markdown has them.

A link of a PDF is a rectangle that knows nothing of the words below it, and a note is a smaller
number. An address goes behind the piece of text that begins where its rectangle does, or else
behind the last one before it on the line: `words <https://…>`. A raised number gets brackets.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

Piece = tuple[str, float, float, bool]
"""Text, size, vertical position, and whether it is bold."""

NEAR = 3.0
"""Points by which a piece of text may begin behind its rectangle, or lie above or below it."""
RAISED = 0.8
"""A number of this part of the size of the text before it, or less, is raised."""
MOST_DIGITS = 3


@dataclass(frozen=True, slots=True)
class Target:
    """A link of a page."""

    url: str
    """Where it leads."""
    left: float
    """Its left edge, in points."""
    bottom: float
    """Its lower edge."""
    right: float
    """Its right edge."""
    top: float
    """Its upper edge."""


def write_links(
    pieces: Sequence[Piece], starts: Sequence[float], targets: Iterable[Target]
) -> list[Piece]:
    """Return the pieces of a page with its links and notes.

    Args:
        pieces: The pieces, in the order of the text.
        starts: Where each begins, from the left.
        targets: The links.
    """
    texts = [_noted(pieces, at) for at in range(len(pieces))]
    for target in targets:
        place = _find(pieces, starts, target)
        if place >= 0 and not target.url.startswith("mailto:"):
            said = texts[place].rstrip()
            behind = texts[place][len(said) :]
            texts[place] = f"{said} <{target.url}>{behind or ' '}"
    return [(text, *piece[1:]) for text, piece in zip(texts, pieces, strict=True)]


def _noted(pieces: Sequence[Piece], at: int) -> str:
    """Return the text of a piece; a raised number in brackets."""
    text, size = pieces[at][0], pieces[at][1]
    number = text.strip()
    around = (*pieces[max(0, at - 2) : at], *pieces[at + 1 : at + 3])
    usual = max((piece[1] for piece in around if piece[0].strip()), default=0.0)
    if number.isdecimal() and len(number) <= MOST_DIGITS and 0 < size <= RAISED * usual:
        return text.replace(number, f"[{number}]")
    return text


def _find(pieces: Sequence[Piece], starts: Sequence[float], target: Target) -> int:
    """Return the number of the piece that a link belongs to; -1 if there is none on its line."""
    line = [
        at
        for at, (text, _, y, _) in enumerate(pieces)
        if text.strip() and target.bottom - NEAR <= y <= target.top + NEAR
    ]
    before = [at for at in line if starts[at] <= target.left + NEAR]
    return max(before, key=lambda at: (starts[at], at)) if before else (line[0] if line else -1)
