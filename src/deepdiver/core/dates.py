"""Dates in a text, as precise as the text gives them.

The audit checks that every date of a sentence is in its quotes, and the embedded reasoner finds
answers among them.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from datetime import date

MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sept sep",
            "october oct",
            "november nov",
            "december dec",
        ),
        1,
    )
    for name in names.split()
}
_MONTH = rf"(?=[jfmasond])(?:{'|'.join(sorted(MONTHS, key=len, reverse=True))})"
"""A month. What letter it begins with is looked at first: that alone makes it three times as fast.
"""
GAP = r"(?=\s)[^\S\n]*+\n?+[^\S\n]*+"
"""White space that may include one line end, but no empty line."""
_DOT = r"(?:(?<![a-z]{5})\.)?+"
"""The point of an abbreviated month; behind a full name a point ends the sentence."""
_YEAR = rf"(?:,?{GAP}(?P<y>\d{{4}})\b)"
_DATES = (
    re.compile(r"\b(?P<y>\d{4})-(?P<m>\d{2})(?:-(?P<d>\d{2}))?(?=\b|T)"),
    re.compile(r"\b(?P<y>\d{4})/(?P<m>\d{1,2})/(?P<d>\d{1,2})\b"),
    re.compile(r"(?<![\w.])(?P<d>\d{1,2})\.(?P<m>\d{1,2})\.(?P<y>\d{4})\b"),
    re.compile(
        r"\b(?P<d>\d{1,2})(?:st|nd|rd"
        rf"|th)?{GAP}(?:of{GAP})?(?P<month>{_MONTH})\b{_DOT}{_YEAR}?",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b(?P<month>{_MONTH})\b{_DOT}{GAP}(?P<d>\d{{1,2}})(?:st|nd|rd"
        rf"|th)?\b(?![,.:]\d){_YEAR}?",
        re.IGNORECASE,
    ),
    re.compile(rf"\b(?P<month>{_MONTH})\b{_DOT}{_YEAR}", re.IGNORECASE),
    # The year of a span stands behind its last month: February to April 2027.
    re.compile(
        rf"\b(?P<month>{_MONTH})\b{_DOT}"
        rf"(?=(?:{GAP}(?:to|and|until|through){GAP}|\s?[-–—/]\s?)(?:{_MONTH})\b{_DOT}{_YEAR})",
        re.IGNORECASE,
    ),
)
_DIGIT = re.compile(r"\d")
_VERBS = frozenset({"may", "march", "mar"})
"""Months that are more likely verbs in lower case and without a year: 20 may be lost."""

_REMEMBERED = 2_000
"""The most characters of a text whose dates are remembered."""


@dataclass(frozen=True, slots=True, order=True)
class Day:
    """A date, as precise as the text gives it."""

    year: int = 0
    """The year, 0 if not given."""
    month: int = 0
    """The month, 0 if not given."""
    day: int = 0
    """The day, 0 if not given."""

    def covers(self, other: Day) -> bool:
        """Whether this date says everything that the other says, and perhaps more."""
        return all(
            theirs in (0, mine)
            for mine, theirs in (
                (self.year, other.year),
                (self.month, other.month),
                (self.day, other.day),
            )
        )

    def iso(self) -> str:
        """Return the ISO form, as long as the date is precise; a dash replaces an unknown year."""
        parts = [f"{self.year:04d}" if self.year else "-"]
        if self.month:
            parts.append(f"{self.month:02d}")
            if self.day:
                parts.append(f"{self.day:02d}")
        return "-".join(parts)

    def exact(self) -> date | None:
        """Return the calendar date if it is given to the day and exists, else None."""
        try:
            return date(self.year, self.month, self.day)
        except ValueError:
            return None


def dated(text: str) -> list[tuple[Day, int, int]]:
    """Return the dates of a text with their spans, in order.

    Of overlapping readings only the most complete counts.
    """
    return list((_dated if len(text) <= _REMEMBERED else _dated_of_long)(text))


@functools.lru_cache(maxsize=4_096)  # an audit holds the same sentences against many quotes
def _dated(text: str) -> tuple[tuple[Day, int, int], ...]:
    if _DIGIT.search(text) is None:
        return ()
    found: list[tuple[Day, int, int]] = []
    taken = bytearray(len(text))
    for pattern in _DATES:
        for match in pattern.finditer(text):
            start, end = match.span()
            if not any(taken[start:end]) and (day := _day(match)):
                found.append((day, start, end))
                taken[start:end] = b"\1" * (end - start)
    return tuple(sorted(found, key=lambda item: item[1]))


# And all that a source says against each statement in turn.
_dated_of_long = functools.lru_cache(maxsize=8)(_dated.__wrapped__)


def _day(match: re.Match[str]) -> Day | None:
    """Return the date of a match; None if there is no such day, or if its month is a verb."""
    groups = match.groupdict()
    if not groups.get("y") and groups["month"] in _VERBS:
        return None
    if "month" in groups:
        groups["m"] = str(MONTHS[groups["month"].lower()])
    given = {part: int(groups[part]) for part in "ymd" if groups.get(part)}
    try:
        # 2000: without a year, 29 February may exist.
        date(given.get("y", 2000), given["m"], given.get("d", 1))
    except ValueError:
        return None
    return Day(given.get("y", 0), given["m"], given.get("d", 0))


def dates(text: str) -> list[Day]:
    """Return the dates of a text."""
    return [day for day, _, _ in dated(text)]
