"""Units of a text that can be quoted, and passages: neighbouring units that read together."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from deepdiver.core.numbering import GAP, units_of
from deepdiver.core.text import Span
from deepdiver.reason.embedded.reading import is_caption, only_a_moment

PASSAGE = 420
"""Characters of a passage: some three sentences, enough to understand each of them."""
LEANING = 2
"""Units of a sentence and of what it leans on."""
_HEADING = re.compile(r"^#{1,6}\s+([^\n]+)", re.MULTILINE)
_TITLE = re.compile(r"(?:\d+(?:\.\d+)*|[IVX]+)?[.)]?\s*(?:[^\W\d_][\w’'-]*(?: [\w’'-]+){0,4})?")
"""A heading that no mark tells: a few words, perhaps after a number, without a stop."""
_LETTERS = re.compile(r"\w")
_EMPHASIS = re.compile(r"\*\*|__|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)")
_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\([^()\s]*\)")
_RULE = re.compile(r"\s*\|?[ \t]*:?-{3,}")
"""The line below the header of a table."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence, row or item of a text."""

    span: Span
    """Its place in the text."""
    text: str
    """Its words as one line, without emphasis."""
    heading: str
    """The heading above it."""
    number: int
    """Its place among the units and gaps of the text."""
    leads: bool = False
    """Whether it only introduces what follows: the header of a table, or a line before a list."""

    caption: bool = False
    """Whether it is a line in italics as below a title, which says nothing by itself."""
    begins: bool = False
    """Whether it begins an entry, as of an option in a manual."""

    @property
    def is_row(self) -> bool:
        """Whether it is a row of a table."""
        return "|" in self.text


@dataclass(frozen=True, slots=True)
class Passage:
    """Neighbouring units under one heading."""

    span: Span
    """Its place in the text."""
    text: str
    """Its units as one line."""
    heading: str
    """The heading above it."""


def units_in(
    text: str, within: Sequence[tuple[int, int]] = (), entries: Collection[int] = ()
) -> list[Unit]:
    """Return the units of a text, or those that touch some parts of it.

    Args:
        text: The text.
        within: These parts, from and to; none: all of it.
        entries: Where the entries of a manual begin.
    """
    return [
        unit
        for unit in _all_units(text, entries)
        if not within or any(unit.span.start < end and at < unit.span.end for at, end in within)
    ]


def _all_units(text: str, entries: Collection[int] = ()) -> Iterator[Unit]:
    headings = [(match.start(), match[1].strip(" #*")) for match in _HEADING.finditer(text)]
    heading, number = "", 0
    for span in _with_their_moments(text):
        while headings and headings[0][0] <= span.start:
            heading = headings.pop(0)[1]
        words = plain_line(span.of(text))
        if _LETTERS.search(words):
            leads = words.endswith(":") or _RULE.match(text, span.end) is not None
            begins = span.start in entries
            yield Unit(span, words, heading, number, leads, is_caption(span.of(text)), begins)
        # A line without letters, as below the header of a table, parts nothing; a gap does.
        number += bool(_LETTERS.search(words)) or words == GAP


def _with_their_moments(text: str) -> Iterator[Span]:
    """Yield the spans of units; a time before a sentence, as in a log, belongs to it."""
    moment: Span | None = None
    for span in _by_line(text):
        if moment is not None:
            if "\n" in text[moment.end : span.start]:
                yield moment
            else:
                span = Span(moment.start, span.end)
        moment = span if only_a_moment(span.of(text)) else None
        if moment is None:
            yield span
    if moment is not None:
        yield moment


def _by_line(text: str) -> Iterator[Span]:
    """Yield the spans of units; a heading without a stop does not take the time below it along."""
    for span in units_of(text):
        line = text.rfind("\n", span.start, span.end) + 1
        if line and only_a_moment(text[line : span.end]):
            yield Span(span.start, line - 1)
            span = Span(line, span.end)
        yield span


def plain_line(text: str) -> str:
    """Return a text as one line, without marks of emphasis and the targets of links."""
    return _EMPHASIS.sub("", _LINK.sub(r"\1", " ".join(text.split()))).strip()


def passages_in(
    text: str,
    within: Sequence[tuple[int, int]] = (),
    most: int = PASSAGE,
    entries: Collection[int] = (),
) -> list[Passage]:
    """Return a text, or some parts of it, as passages of neighbouring units.

    A passage never crosses a heading or a gap, nor the end of a table. A heading that no mark
    tells, and what introduces a table or a list, open the passage that follows them; so does each
    entry of a manual.
    """
    groups: list[list[Unit]] = []
    for unit in units_in(text, within, entries):
        if groups and _continues(groups[-1], unit, most):
            groups[-1].append(unit)
        else:
            groups.append([*(_taken_along(groups[-1], unit) if groups else ()), unit])
    return [
        Passage(
            Span(group[0].span.start, group[-1].span.end),
            " ".join(unit.text for unit in group),
            group[0].heading,
        )
        for group in groups
        if not all(unit.leads or unit.caption for unit in group)
    ]


def _taken_along(group: list[Unit], unit: Unit) -> list[Unit]:
    """Take the units from the end of a passage that introduce the next unit."""
    introduced = unit.number == group[-1].number + 1 and unit.heading == group[-1].heading
    taken: list[Unit] = []
    while introduced and group and group[-1].leads:
        taken.insert(0, group.pop())
    return taken


def _continues(group: Sequence[Unit], unit: Unit, most: int) -> bool:
    """Return whether a unit belongs to the passage before it."""
    last = group[-1]
    if unit.number != last.number + 1 or unit.heading != last.heading:
        return False
    if _is_title(unit.text) and not _is_title(last.text) and len(group) > 1:
        return False
    if last.is_row and not unit.is_row:
        return False
    if unit.begins and not all(_is_title(one.text) for one in group):
        return False
    return unit.span.end - group[0].span.start <= most


def _is_title(words: str) -> bool:
    return _TITLE.fullmatch(words) is not None


def passage_lines(quote: str) -> list[str]:
    """Return the units of a passage, without the marks of lists and headings.

    A line that introduces the next one is told with it: "Therefore: it can be resumed."
    """
    lines: list[str] = []
    opening = ""
    for unit in _all_units(quote):
        if unit.leads and not unit.is_row:
            opening = f"{opening}{unit.text} "
            continue
        lines.append(f"{opening}{unit.text}")
        opening = ""
    return [*lines, *filter(None, [opening.strip()])] or [plain_line(quote)]


def sentence_with(quote: str, words: str) -> str:
    """Return the unit of a quote that has some words; the first if none has them."""
    units = units_in(quote)
    found = [unit.text for unit in units if words.lower() in unit.text.lower()]
    return (found or [unit.text for unit in units] or [plain_line(quote)])[0]


def is_short(quote: str) -> bool:
    """Return whether a quote is a sentence, or one with the sentence that it leans on."""
    return len(units_in(quote)) <= LEANING
