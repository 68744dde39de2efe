"""Numbered texts: a model names the numbers of sentences, and code cuts the quote.

A text is divided into units: sentences, rows of tables, items of lists, lines of heads. The number
of a unit is its place in the text, from 1, so it is the same in each part that is shown of it, in
each process and in a replay. Nobody who reads a numbered text need copy a word of it.

    <7> The permit was granted in June. <8> An appeal is possible until 4 July.
"""

from __future__ import annotations

import functools
import itertools
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence

from deepdiver.core.text import Span, sentences

LONGEST_UNIT = 600
"""Characters of a unit: what has no stop for so long is cut between words, so that a quote stays
readable."""
GAP = "[…]"
"""Stands where a part of the text is left out."""
MOST_CITED = 12
"""The most units of one citation; a range of a hundred sentences is not a quote."""

_NUMBERS = re.compile(r"(\d{1,6})(?:>?\s*(?:-|–|—|\.\.|to)\s*<?(\d{1,6}))?")
_POINTING = re.compile(r"(?:This|These|Those|Such|It|Its|They|Their|The (?:latter|former))\b")
"""Words that stand for what was named before; other languages have them in too many forms."""
_SPACE = re.compile(r"\s+")
TAB = "    "
_TRAILING = re.compile(r"(?<! ) ++(?=\n)")
_WIDE = re.compile(r"(?<=[^ \n]) {3,}+")
_INDENT = re.compile(r"(?m)^ ++")


@functools.lru_cache(maxsize=256)
def units_of(text: str) -> tuple[Span, ...]:
    """Return the units of a text, in its order."""
    return tuple(part for span in sentences(text) for part in _shortened(text, span))


def _shortened(text: str, span: Span) -> Iterator[Span]:
    start = span.start
    while span.end - start > LONGEST_UNIT:
        breaks = [gap.start() for gap in _SPACE.finditer(text, start + 1, start + LONGEST_UNIT)]
        # The second half only: a unit of two words would say nothing.
        cut = next((at for at in reversed(breaks) if at - start > LONGEST_UNIT // 2), None)
        cut = start + LONGEST_UNIT if cut is None else cut
        yield Span(start, cut)
        start = cut
        while text[start].isspace():
            start += 1
    yield Span(start, span.end)


def show_numbered(text: str, spans: Sequence[Span]) -> str:
    """Return parts of a text with the number of each unit before it.

    Args:
        text: The whole text.
        spans: The parts, in the order of the text, each ending where a unit ends. What lies
            between parts is marked as left out, unless it is blank.
    """
    shown: list[str] = []
    at = 0
    for span in spans:
        if text[at : span.start].strip():
            shown.append(GAP)
        shown.append(_numbered(text, span).strip())
        at = span.end
    if text[at:].strip():
        shown.append(GAP)
    return "\n\n".join(filter(None, shown))


def _numbered(text: str, part: Span) -> str:
    pieces: list[str] = []
    at, units = part.start, units_of(text)
    first = bisect_left(units, part.start, key=lambda unit: unit.start)
    last = bisect_left(units, part.end, key=lambda unit: unit.start)
    for number, unit in enumerate(units[first:last], first + 1):
        pieces += [text[at : unit.start], f"<{number}> "]
        at = unit.start
    return _less_blank("".join([*pieces, text[at : part.end]]))


def _less_blank(text: str) -> str:
    """Return a text with fewer blanks: what is shown need not be set in columns.

    Half of an indentation still tells what is below what, and two blanks that words are apart.
    """
    text = _TRAILING.sub("", text.replace("\t", TAB))
    return _INDENT.sub(lambda run: " " * ((len(run[0]) + 1) // 2), _WIDE.sub("  ", text))


def numbers_in(said: Iterable[str]) -> list[int]:
    """Return the numbers that a model names: `7`, `<7>`, `7-9`, `T2:7`.

    A label in front of a colon is not a number of the text.
    """
    found: list[int] = []
    for item in said:
        for match in _NUMBERS.finditer(item.rpartition(":")[2]):
            first = int(match[1])
            last = int(match[2]) if match[2] else first
            found += range(first, min(last, first + MOST_CITED - 1) + 1)
    return list(dict.fromkeys(found))


def cut_quotes(text: str, numbers: Iterable[int]) -> list[Span]:
    """Return the spans of units; neighbours are one span, and unknown numbers are left out.

    A unit that points back comes with the one before it: "It cannot be caught" says nothing alone.
    """
    units = units_of(text)
    asked = sorted({number for number in numbers if 1 <= number <= len(units)})[:MOST_CITED]
    known = sorted({*asked, *(n - 1 for n in asked if _points_back(text, units, n))})
    runs = itertools.groupby(enumerate(known), key=lambda item: item[1] - item[0])
    spans: list[Span] = []
    for _, run in runs:
        of_run = [number for _, number in run]
        spans.append(Span(units[of_run[0] - 1].start, units[of_run[-1] - 1].end))
    return spans


def _points_back(text: str, units: Sequence[Span], number: int) -> bool:
    """Whether a unit begins with a word for what the one before it names; no heading between."""
    if number < 2 or not _POINTING.match(units[number - 1].of(text)):
        return False
    before, own = units[number - 2], units[number - 1]
    return not text[before.end : own.start].strip() and own.end - before.start <= LONGEST_UNIT


def cut_pieces(text: str, most: int) -> list[Span]:
    """Return a text in pieces of at most `most` characters, cut where the text cuts itself.

    A piece ends, if it can, before a heading or a blank line in its second half; else behind a
    unit.
    """
    ends = [unit.end for unit in units_of(text)]
    pieces: list[Span] = []
    start = 0
    while len(text) - start > most:
        window = ends[bisect_right(ends, start) : bisect_right(ends, start + most)]
        if not window:
            break
        late = [end for end in window if end - start > most // 2]
        end = max(late, key=lambda end: (_break_after(text, end), end)) if late else window[-1]
        pieces.append(Span(start, end))
        start = end
    if text[start:].strip():
        pieces.append(Span(start, len(text)))
    return pieces


def _break_after(text: str, end: int) -> int:
    """Return how well a text can be cut behind an offset: 2 before a heading, 1 at a blank line."""
    gap = re.compile(r"\s*").match(text, end)
    until = gap.end() if gap else end
    if text.count("\n", end, until) < 2:
        return 0
    return 2 if text.startswith("#", until) else 1
