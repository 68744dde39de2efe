"""The phrases that rows and summaries are made of: times, positions, counts, and foreign words.

`core.time_and_place` reads the times and positions back as what they were, and foreign words cannot
break out of their line or their quotation marks.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime

from deepdiver.tools.osint.times import Span

LONGEST_TITLE = 300
"""Characters of a title in a sentence: the longest headlines have half as many."""
FEW_DAYS = 14
"""Days that are listed one by one: of more, a reader wants the sum and the peak."""
DIGITS = 5
"""Decimals of a degree: a metre, finer than any service is."""
_UNSEEN = frozenset(
    "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
)
"""Marks that turn the direction of writing, and could make a sentence look like another one."""
_QUOTES = str.maketrans({'"': "'", "“": "'", "”": "'", "„": "'", "«": "'", "»": "'", "＂": "'"})


def utc(moment: datetime) -> str:
    """Return a moment as a row's `when` holds it: 2026-11-11T14:05:00Z.

    A moment without a time zone is taken for UTC.
    """
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return aware.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def clock(when: str) -> str:
    """Return a row's `when` in words: 2026-11-11 14:05 UTC, or the day if there is only a day."""
    return f"{when[:10]} {when[11:16]} UTC" if "T" in when else when


def duration(seconds: float) -> str:
    """Return a length of time in words: 45 minutes, 1 hour 30 minutes, 2 days 3 hours."""
    minutes = round(seconds / 60)
    parts = [(minutes // 1_440, "day"), (minutes // 60 % 24, "hour"), (minutes % 60, "minute")]
    named = [counted(number, unit) for number, unit in parts if number][:2]
    return " ".join(named) or "less than a minute"


def degrees(lat: float, lon: float) -> str:
    """Return a position in words: 49.9935 N, 36.2304 E."""
    return f"{_angle(lat, 'NS')}, {_angle(lon, 'EW')}"


def _angle(value: float, sides: str) -> str:
    """Return an angle with its side instead of a sign, and without trailing zeros."""
    near = round(value, DIGITS)
    return f"{abs(near):.{DIGITS}f}".rstrip("0").rstrip(".") + f" {sides[near < 0]}"


def number(value: float) -> str:
    """Return a number as people write it: 4.5 and 10, never 10.0 or 1e-05."""
    return f"{value:.6f}".rstrip("0").rstrip(".") if value % 1 else str(int(value))


def one_line(text: str, longest: int = LONGEST_TITLE) -> str:
    """Return foreign words on one line, without invisible marks, cut between words if too long."""
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
    """Return foreign words in quotation marks, which they cannot close by themselves."""
    return f'"{one_line(text, longest).translate(_QUOTES)}"'


def counted(number: int, thing: str, things: str = "") -> str:
    """Return a number of things: 1 article, 2,400 articles."""
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"


def count_by_day(days: Iterable[date | str]) -> dict[str, int]:
    """Count how often each day occurs, given as a date or as text that begins with an ISO date."""
    return dict(sorted(Counter(str(day)[:10] for day in days).items()))


def total_in(counts: Mapping[str, int], span: Span) -> int:
    """Return the sum of the counts of all days of a span."""
    return sum(counts.get(str(day), 0) for day in span.every())


def daily(counts: Mapping[str, int], span: Span) -> str:
    """Return the count of each day, zeros too; for more than FEW_DAYS, only the day with most."""
    every = [(day, counts.get(day, 0)) for day in map(str, span.every())]
    if len(every) == 1 or not any(number for _, number in every):
        return ""
    if len(every) <= FEW_DAYS:
        return "by day: " + ", ".join(f"{day}: {number:,}" for day, number in every)
    day, most = max(every, key=lambda one: one[1])
    return f"most on {day}: {most:,}"


def compared(counts: Mapping[str, int], span: Span, before: int | None) -> str:
    """Return a span with its counts by day, and the count of as many days before.

    The phrase follows the thing that is counted: "3 articles from …".

    Args:
        counts: The count of each day of the span.
        span: The days.
        before: The count of as many days before; None if it is not known.
    """
    days = daily(counts, span)
    here = f"{span}{f' ({days})' if days else ''}"
    if before is None:
        return here
    length = counted(span.days, "day")
    return f"{here}, against {before:,} in the {length} before ({span.before})"
