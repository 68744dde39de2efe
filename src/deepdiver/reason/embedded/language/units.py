"""Units of a text that can be quoted, and passages: neighbouring units that read together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from deepdiver.core.numbering import GAP, units_of
from deepdiver.core.text import Span

PASSAGE = 420
"""Characters of a passage: some three sentences, enough to understand each of them."""
LEANING = 2
"""Units of a sentence and of what it leans on."""
_HEADING = re.compile(r"^#{1,6}\s+([^\n]+)", re.MULTILINE)
_TITLE = re.compile(r"(?:\d+(?:\.\d+)*|[IVX]+)?[.)]?\s*(?:[^\W\d_][\w’'-]*(?: [\w’'-]+){0,4})?")
"""A heading that no mark tells: a few words, perhaps after a number, without a stop."""
_LETTERS = re.compile(r"\w")
_EMPHASIS = re.compile(r"\*\*|__|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)")


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
    """Its place among the units of the text."""


@dataclass(frozen=True, slots=True)
class Passage:
    """Neighbouring units under one heading."""

    span: Span
    """Its place in the text."""
    text: str
    """Its units as one line."""
    heading: str
    """The heading above it."""


def units_in(text: str, within: Sequence[tuple[int, int]] = ()) -> list[Unit]:
    """Return the units of a text, or those that touch some parts of it."""
    return [
        unit
        for unit in _all_units(text)
        if not within or any(unit.span.start < end and at < unit.span.end for at, end in within)
    ]


def _all_units(text: str) -> Iterator[Unit]:
    headings = [(match.start(), match[1].strip(" #*")) for match in _HEADING.finditer(text)]
    heading = ""
    for number, span in enumerate(units_of(text)):
        while headings and headings[0][0] <= span.start:
            heading = headings.pop(0)[1]
        words = plain_line(span.of(text))
        if words != GAP and _LETTERS.search(words):
            yield Unit(span, words, heading, number)


def plain_line(text: str) -> str:
    """Return a text as one line, without marks of emphasis."""
    return _EMPHASIS.sub("", " ".join(text.split())).strip()


def passages_in(
    text: str, within: Sequence[tuple[int, int]] = (), most: int = PASSAGE
) -> list[Passage]:
    """Return a text, or some parts of it, as passages of neighbouring units.

    A passage never crosses a heading or a gap. A heading that no mark tells opens the passage that
    follows it.
    """
    groups: list[list[Unit]] = []
    for unit in units_in(text, within):
        if not groups or not _continues(text, groups[-1], unit, most):
            groups.append([unit])
            continue
        groups[-1].append(unit)
    return [
        Passage(
            Span(group[0].span.start, group[-1].span.end),
            " ".join(unit.text for unit in group),
            group[0].heading,
        )
        for group in groups
    ]


def _continues(text: str, group: Sequence[Unit], unit: Unit, most: int) -> bool:
    """Return whether a unit belongs to the passage before it."""
    last = group[-1]
    if unit.number != last.number + 1 or unit.heading != last.heading:
        return False
    if _is_title(unit.text) and not _is_title(last.text) and len(group) > 1:
        return False
    return unit.span.end - group[0].span.start <= most


def _is_title(words: str) -> bool:
    return _TITLE.fullmatch(words) is not None


def passage_text(quote: str) -> str:
    """Return the units of a passage, a line for each, without the marks of lists and headings."""
    return "\n".join(unit.text for unit in _all_units(quote)) or plain_line(quote)


def in_context(title: str, passage: Passage) -> str:
    """Return a passage after the title and the heading that it stands under."""
    above = [title.strip(), passage.heading if passage.heading != title.strip() else ""]
    return " ".join([*(f"{part.rstrip('.')}." for part in above if part), passage.text])


def sentence_with(quote: str, words: str) -> str:
    """Return the unit of a quote that has some words; the first if none has them."""
    units = units_in(quote)
    found = [unit.text for unit in units if words.lower() in unit.text.lower()]
    return (found or [unit.text for unit in units] or [plain_line(quote)])[0]


def is_short(quote: str) -> bool:
    """Return whether a quote is a sentence, or one with the sentence that it leans on."""
    return len(units_in(quote)) <= LEANING
