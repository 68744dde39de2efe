"""Values in a text that can be checked: numbers, dates and names; and the sums that may be made of them.

The audit asks whether every value of a sentence stands in its quotes; the embedded reasoner reads answers off them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation

from deepdiver.core.record import Calculation
from deepdiver.core.text import STOPWORDS, sentences

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
_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_DATES = (
    re.compile(r"\b(?P<y>\d{4})-(?P<m>\d{2})(?:-(?P<d>\d{2}))?(?=\b|T)"),
    re.compile(
        rf"\b(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<month>{_MONTH})\.?(?:,? (?P<y>\d{{4}}))?\b", re.IGNORECASE
    ),
    re.compile(rf"\b(?P<month>{_MONTH})\.? (?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?:,? (?P<y>\d{{4}}))\b", re.IGNORECASE),
    re.compile(rf"\b(?P<month>{_MONTH})\.? (?P<y>\d{{4}})\b", re.IGNORECASE),
)
_NUMBER = re.compile(r"(?<![\w.,])[-−+]?\d{1,3}(?:[,  ]\d{3})+(?:\.\d+)?(?![\d])|(?<![\w.])[-−+]?\d+(?:[.,]\d+)?")
_SCALE = {"thousand": 3, "million": 6, "m": 6, "billion": 9, "bn": 9, "trillion": 12}
_NUMBER_WORDS = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
        "eighteen nineteen twenty".split()
    )
} | {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "hundred": 100}
_WORD = re.compile(r"[A-Za-z]+(?:-[a-z]+)?")
_CAPITAL = r"[A-ZÅÄÖÆØÉÜ]"
_NAME = re.compile(
    rf"\b{_CAPITAL}[\w’'\-]*(?:(?:\.(?= {_CAPITAL}))?(?: (?:of|de|van|von|der|den|la|le|du|&)(?= {_CAPITAL}))? {_CAPITAL}[\w’'\-]*)*"
)
_TITLES = frozenset("mr mrs ms dr prof professor sir captain mayor director chair chairman chairwoman minister".split())
_NO_NAME = STOPWORDS | _TITLES | MONTHS.keys()
"""Words that may stand capitalised before a name and are no part of it."""


@dataclass(frozen=True, slots=True, order=True)
class Day:
    """A date, as precise as the text gives it; 0 where it is silent."""

    year: int = 0
    """The year, 0 if not given."""
    month: int = 0
    """The month, 0 if not given."""
    day: int = 0
    """The day, 0 if not given."""

    def covers(self, other: Day) -> bool:
        """Whether this date says at least what the other says, and nothing else."""
        return all(
            theirs in (0, mine)
            for mine, theirs in ((self.year, other.year), (self.month, other.month), (self.day, other.day))
        )

    def iso(self) -> str:
        """Return the ISO form, as long as it is known."""
        parts = [f"{self.year:04d}"]
        if self.month:
            parts.append(f"{self.month:02d}")
            if self.day:
                parts.append(f"{self.day:02d}")
        return "-".join(parts)

    def exact(self) -> date | None:
        """Return the calendar date, if it is given to the day and exists."""
        try:
            return date(self.year, self.month, self.day)
        except ValueError:
            return None


def dated(text: str) -> list[tuple[Day, int, int]]:
    """Return the dates of a text with their spans, in order; a longer reading hides the shorter ones inside it."""
    found: list[tuple[Day, int, int]] = []
    for pattern in _DATES:
        for match in pattern.finditer(text):
            if any(start < match.end() and match.start() < end for _, start, end in found):
                continue
            groups = match.groupdict()
            month = MONTHS[groups["month"].lower()] if groups.get("month") else int(groups.get("m") or 0)
            day = Day(int(groups.get("y") or 0), month, int(groups.get("d") or 0))
            if day.month <= 12 and day.day <= 31:
                found.append((day, match.start(), match.end()))
    return sorted(found, key=lambda item: item[1])


def dates(text: str) -> list[Day]:
    """Return the dates of a text."""
    return [day for day, _, _ in dated(text)]


def number(text: str) -> Decimal | None:
    """Read one number: 1,250 and 1 250 are twelve hundred and fifty, 3,5 is three and a half."""
    plain = re.sub(r"[  ]", "", text).replace("−", "-").lstrip("+")
    plain = plain.replace(",", "") if re.search(r",\d{3}(?:\D|$)", plain) else plain.replace(",", ".")
    try:
        return Decimal(plain)
    except InvalidOperation:
        return None


def numbers(text: str) -> list[Decimal]:
    """Return the numbers of a text, in figures and in words up to a hundred, those inside dates left out."""
    kept = list(text)
    for _, start, end in dated(text):
        kept[start:end] = " " * (end - start)
    bare = "".join(kept)
    found: list[tuple[int, Decimal]] = []
    for match in _NUMBER.finditer(bare):
        if (value := number(match.group())) is not None:
            tail = _WORD.match(bare, match.end() + 1) if bare[match.end() : match.end() + 1] in {" ", "-"} else None
            power = _SCALE.get(tail.group().lower(), 0) if tail else 0
            found.append((match.start(), value.scaleb(power) if power else value))
    for match in _WORD.finditer(bare):
        if (spelled := _spelled(match.group().lower())) is not None:
            found.append((match.start(), Decimal(spelled)))
    return [value for _, value in sorted(found)]


def _spelled(word: str) -> int | None:
    tens, dash, ones = word.partition("-")
    if tens not in _NUMBER_WORDS:
        return None
    if not dash:
        return _NUMBER_WORDS[tens]
    return _NUMBER_WORDS[tens] + _NUMBER_WORDS[ones] if _NUMBER_WORDS.get(ones, 10) < 10 else None


def names(text: str) -> list[str]:
    """Return the names of a text: runs of capitalised words, without a word that merely opens its sentence."""
    starts = {span.start for span in sentences(text)}
    found: dict[str, None] = {}
    for match in _NAME.finditer(text):
        listed = match.group().split(" ")
        while listed and listed[0].lower().rstrip(".") in _NO_NAME:
            listed = listed[1:]
        opens = match.start() in starts or text[max(0, match.start() - 1) : match.start()] in {'"', "“", "#"}
        name = " ".join(listed).removesuffix("'s").removesuffix("’s")
        if not listed or (len(listed) == 1 and opens and len(match.group().split(" ")) == 1):
            continue
        found.setdefault(name)
    return list(found)


def holds(sum_: Calculation) -> bool:
    """Whether a calculation's result is what code gets from its inputs."""
    try:
        wanted = number(sum_.result)
        return wanted is not None and wanted == _compute(sum_)
    except (ValueError, InvalidOperation, IndexError):
        return False


def _compute(sum_: Calculation) -> Decimal:
    if sum_.kind in {"years", "days"}:
        first, second = (date.fromisoformat(text) for text in sum_.inputs)
        if sum_.kind == "days":
            return Decimal(abs((second - first).days))
        return Decimal(second.year - first.year - ((second.month, second.day) < (first.month, first.day)))
    if sum_.kind == "count":
        return Decimal(len(sum_.inputs))
    listed = [value for text in sum_.inputs if (value := number(text)) is not None]
    if len(listed) != len(sum_.inputs):
        raise ValueError("an input is not a number")
    return listed[0] - listed[1] if sum_.kind == "difference" else sum(listed, Decimal(0))
