"""Headings of a text, whichever way it marks them: `## Title`, a line below it, or a release.

    2.0.0 (2023-04-26)
    ==================

Change logs and plain texts have no other heads than these, and a passage without its release says
nothing about when it held.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from deepdiver.core.record import Mark
from deepdiver.core.text import Span, is_commented

LONGEST = 120
"""Characters of a title: a longer line is not one."""
DEEPEST = 3
"""The most headings above a place that are told: release, kind of change, component."""
_TITLED = re.compile(r"^(#{1,6})[ \t]+\S[^\n]*", re.MULTILINE)
_FENCED = re.compile(
    r"^(?P<fence>`{3,}|~{3,})[^\n]*\n.*?(?:^(?P=fence)|\Z)", re.MULTILINE | re.DOTALL
)
_UNDERLINED = re.compile(
    r"(?:\A|\n[ \t]*\n|(?:\A|\n)(?P<over>[=~^*+#-])(?P=over){2,}[ \t]*\n)"
    rf"(?P<title>(?![^\n]*\S {{3,}}\S)[^\s|>#][^\n|]{{0,{LONGEST}}})\n"
    r"(?P<rule>[=~^\"'*+#.:_-])(?P=rule){2,}[ \t]*(?=\n|\Z)"
)
_RELEASE = re.compile(
    r"(?:\A|(?<=\n\n))[\[v]{0,2}\d+(?:\.\d+)+[\w.+-]*\]?[ \t]*[(:,–—-][^\n]{0,40}\b(?:19|20)\d\d\b"
    r"[^\n]{0,12}(?=\n|\Z)"
)
_RULE = re.compile(r"\|[\s:|-]*-[\s:|-]*")
"""The line below the header of a table."""
_UNMARKED = 90
"""The level of a release without a mark: below all that are marked."""
_LOWEST = 99


class Heading(NamedTuple):
    """A heading."""

    span: Span
    """Where it stands."""
    level: int
    """Its level; 1 is the highest."""


@functools.lru_cache(maxsize=256)
def headings_of(text: str) -> tuple[Heading, ...]:
    """Return the headings of a text, in its order; a comment is none."""
    code = [match.span() for match in _FENCED.finditer(text)]
    found = {
        match.start(): Heading(Span(*match.span()), len(match[1]))
        for match in (() if is_commented(text) else _TITLED.finditer(text))
        if not any(start <= match.start() < end for start, end in code)
    }
    rules: dict[str, int] = {}
    for match in _UNDERLINED.finditer(text):
        # As in reStructuredText, the first kind of line is the highest, whichever it is.
        level = rules.setdefault(match["rule"], len(rules) + 1)
        found[match.start("title")] = Heading(Span(*match.span("title")), level)
    for match in _RELEASE.finditer(text):
        found.setdefault(match.start(), Heading(Span(*match.span()), _UNMARKED))
    return tuple(found[start] for start in sorted(found))


def marked_headings(marks: Iterable[Mark]) -> tuple[Heading, ...]:
    """Return the headings of a document whose format tells them, such as a web page or a letter.

    Its text shows them as lines like any other, so all that is known is where each begins.
    """
    return tuple(
        Heading(Span(mark.start, mark.start + len(mark.label)), _UNMARKED)
        for mark in marks
        if mark.kind == "heading"
    )


def headings_above(text: str, start: int, told: tuple[Heading, ...] = ()) -> list[Heading]:
    """Return the headings under which an offset stands, the highest first.

    The title of the whole text is left out, unless it is the only one: it is told with the text.
    Where a heading begins, those are returned under which it stands.

    Args:
        text: The text.
        start: The offset.
        told: The headings that its format tells. They count where its lines show fewer: there,
            "# umount /mnt" is a command.
    """
    held = _held(text, told)
    above: list[Heading] = []
    lowest = next((item.level for item in held if item.span.start == start), _LOWEST)
    for heading in reversed([item for item in held if item.span.start < start]):
        if heading.level < lowest:
            above.insert(0, heading)
            lowest = heading.level
    if len(above) > 1 and _is_title(held, above[0]):
        above = above[1:]
    return above[-DEEPEST:]


def heading_over(text: str, start: int, told: tuple[Heading, ...] = ()) -> str:
    """Return the words of the nearest heading above an offset of a text."""
    above = headings_above(text, start, told)
    return above[-1].span.of(text).strip("# ") if above else ""


def headings_within(
    text: str, part: Span, told: tuple[Heading, ...] = ()
) -> Iterator[tuple[int, str]]:
    """Yield the nearest heading above the start of a part, and each offset in it with another."""
    within = (head.span.start + 1 for head in _held(text, told))
    for start in (part.start, *(at for at in within if part.start < at < part.end)):
        yield start, heading_over(text, start, told)


def _held(text: str, told: tuple[Heading, ...]) -> tuple[Heading, ...]:
    shown = headings_of(text)
    return shown if len(shown) >= len(told) else told


def _is_title(held: Sequence[Heading], heading: Heading) -> bool:
    """Return whether a heading is the first of a text, and the only one of its level."""
    return held[0] == heading and sum(item.level == heading.level for item in held) == 1


def heads_of_table(text: str, start: int) -> Iterator[Span]:
    """Yield what holds for all rows of the table that an offset is within, but not that row itself.

    That is its header, a caption in the line above it, and a row of units or explanations below
    it, which has no figures.
    """
    lines = _table_above(text, start)
    if not lines:
        return
    top = lines[0].start
    caption = _line_before(text, top)
    if caption is not None and caption.end - caption.start <= LONGEST:
        yield caption
    yield lines[0]
    if len(lines) > 1 and not any(char.isdigit() for char in _unnamed(lines[1].of(text))):
        yield lines[1]


def _table_above(text: str, start: int) -> list[Span]:
    """Return the lines of a table above the one that an offset is within; none outside a table."""
    at = text.rfind("\n", 0, start) + 1
    if not text.startswith("|", at):
        return []
    lines: list[Span] = []
    while at:
        above = text.rfind("\n", 0, at - 1) + 1
        if not text.startswith("|", above):
            break
        if not _RULE.fullmatch(text, above, at - 1):
            lines.insert(0, Span(above, at - 1))
        at = above
    return lines


def _line_before(text: str, start: int) -> Span | None:
    """Return the line before an offset, over one blank line, unless it is a heading."""
    end = len(text[:start].rstrip())
    above = text.rfind("\n", 0, end) + 1
    near = end and text.count("\n", end, start) <= 2
    return Span(above, end) if near and not text.startswith(("#", "|"), above) else None


def _unnamed(row: str) -> str:
    """Return the values of a row whose cells may name their columns: of `| Year: 2023`, 2023."""
    return " ".join(cell.partition(": ")[2] or cell for cell in row.split("|"))


def sections_of(text: str, told: tuple[Heading, ...] = ()) -> Iterator[Span]:
    """Yield a text in parts, each beginning with a heading, as far as it has or is told some."""
    starts = [0, *(item.span.start for item in headings_of(text) or told), len(text)]
    for start, end in itertools.pairwise(starts):
        if text[start:end].strip():
            yield Span(start, end)
