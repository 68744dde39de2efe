"""How rows are told.

Times, positions and words from outside, so that code can read them back and nothing breaks out.

`core.whereabouts` reads a time and a position told here as what they were.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime

from deepdiver.tools.osint.arguments import Span

LONGEST_TITLE = 300
"""Characters of a title in a sentence: the longest headlines have half as many."""
FEW_DAYS = 14
"""Days that are told one by one: of more, a reader wants the sum and the peak."""
DIGITS = 5
"""Decimals of a degree: a metre, finer than any service is."""
_UNSEEN = frozenset(
    "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
)
"""Marks that turn the direction of writing, and could make a sentence look like another one."""


def utc(moment: datetime) -> str:
    """Return a moment in UTC as a row's `when` has it.

    2026-11-11T14:05:00Z; one without a zone is taken for UTC.
    """
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return aware.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def clock(when: str) -> str:
    """Tell a row's `when`: 2026-11-11 14:05 UTC, or the day alone where that is all there is."""
    return f"{when[:10]} {when[11:16]} UTC" if "T" in when else when


def degrees(lat: float, lon: float) -> str:
    """Tell a position: 49.9935 N, 36.2304 E."""
    return f"{_angle(lat, 'NS')}, {_angle(lon, 'EW')}"


def _angle(value: float, sides: str) -> str:
    """Write an angle with its side instead of a sign, and without zeros that say nothing."""
    near = round(value, DIGITS)
    return f"{abs(near):.{DIGITS}f}".rstrip("0").rstrip(".") + f" {sides[near < 0]}"


def number(value: float) -> str:
    """Write a number as people do: 4.5 and 10, never 10.0 or 1e-05."""
    return f"{value:.6f}".rstrip("0").rstrip(".") if value % 1 else str(int(value))


def one_line(text: str, longest: int = LONGEST_TITLE) -> str:
    """Return words from outside on one line, without anything that is not seen, cut between words where too long."""
    seen = "".join(
        " " if unicodedata.category(char) in {"Cc", "Zl", "Zp"} else char
        for char in text
        if char not in _UNSEEN
    )
    line = " ".join(seen.split())
    if len(line) <= longest:
        return line
    return f"{line[: longest - 1].rpartition(' ')[0] or line[: longest - 1]}…"


def quoted(text: str, longest: int = LONGEST_TITLE) -> str:
    """Return words from outside in quotation marks, which they cannot end by themselves."""
    return f'"{one_line(text, longest).translate(_QUOTES)}"'


_QUOTES = str.maketrans({'"': "'", "“": "'", "”": "'", "„": "'", "«": "'", "»": "'", "＂": "'"})


def counted(number: int, thing: str, things: str = "") -> str:
    """Tell a number of things: 1 article, 2,400 articles."""
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"


def by_day(days: Iterable[date | str]) -> dict[str, int]:
    """Count how often each day occurs; days are ISO, or the beginning of an ISO moment is."""
    return dict(sorted(Counter(str(day)[:10] for day in days).items()))


def daily(counts: Mapping[str, int], span: Span) -> str:
    """Tell how many there were on each day of a few, zeros too.

    Of many, on which day there were most.
    """
    every = [(day, counts.get(day, 0)) for day in map(str, span.every())]
    if len(every) == 1 or not any(number for _, number in every):
        return ""
    if len(every) <= FEW_DAYS:
        return "by day: " + ", ".join(f"{day}: {number:,}" for day, number in every)
    day, most = max(every, key=lambda one: one[1])
    return f"most on {day}: {most:,}"


def within(counts: Mapping[str, int], span: Span) -> int:
    """Return how many there were on all days of a span together."""
    return sum(counts.get(str(day), 0) for day in span.every())


def compared(counts: Mapping[str, int], span: Span, before: int | None) -> str:
    """Tell how many there were in a span, day by day, and in as many days before.

    What follows the thing counted.

    Args:
        counts: How many on each day of the span.
        span: The days.
        before: How many in as many days before; None: not known.
    """
    days = daily(counts, span)
    told = f"{span}{f' ({days})' if days else ''}"
    if before is None:
        return told
    length = counted(span.days, "day")
    return f"{told}, against {before:,} in the {length} before ({span.before})"
