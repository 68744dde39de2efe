"""Values in a text that can be checked.

Numbers, dates and names; and the sums that may be made of them.

The audit asks whether every value of a sentence stands in its quotes; the embedded reasoner reads
answers off them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction

from deepdiver.core.record import Calculation
from deepdiver.core.text import STOPWORDS, blocks, sentences, words

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
_GAP = r"(?=\s)[^\S\n]*+\n?+[^\S\n]*+"
"""White space within a line or over its end, never over an empty line."""
_DOT = r"(?:(?<![a-z]{5})\.)?+"
"""The point of a short form; behind a longer name it ends the sentence."""
_YEAR = rf"(?:,?{_GAP}(?P<y>\d{{4}})\b)"
_DATES = (
    re.compile(r"\b(?P<y>\d{4})-(?P<m>\d{2})(?:-(?P<d>\d{2}))?(?=\b|T)"),
    re.compile(r"\b(?P<y>\d{4})/(?P<m>\d{1,2})/(?P<d>\d{1,2})\b"),
    re.compile(r"(?<![\w.])(?P<d>\d{1,2})\.(?P<m>\d{1,2})\.(?P<y>\d{4})\b"),
    re.compile(
        r"\b(?P<d>\d{1,2})(?:st|nd|rd"
        rf"|th)?{_GAP}(?:of{_GAP})?(?P<month>{_MONTH})\b{_DOT}{_YEAR}?",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b(?P<month>{_MONTH})\b{_DOT}{_GAP}(?P<d>\d{{1,2}})(?:st|nd|rd"
        rf"|th)?\b(?![,.:]\d){_YEAR}?",
        re.IGNORECASE,
    ),
    re.compile(rf"\b(?P<month>{_MONTH})\b{_DOT}{_YEAR}", re.IGNORECASE),
)
_VERBS = frozenset({"may", "march", "mar"})
"""Months that, in small letters and without a year, are more likely verbs: 20 may be lost."""
_THIN = " \u00a0\u2009\u202f"
"""Spaces that group the digits of a number."""
_NUMBER = re.compile(
    r"(?<![\w.,])[-−+]?(?:"
    r"(?P<commas>[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?)"
    rf"|(?P<spaces>[1-9]\d{{0,2}}(?:[{_THIN}]\d{{3}})+(?:[.,]\d+)?)"
    r"|(?P<dots>[1-9]\d{0,2}(?:\.\d{3}){2,}(?:,\d+)?)"
    r")(?!\d)|(?<![\w.])[-−+]?(?:\d+(?:[.,]\d+)?|\.\d+)"
)
_SCALE = {"thousand": 3, "million": 6, "billion": 9, "bn": 9, "trillion": 12}
_SCALED = re.compile(rf"(?:{_GAP}|-)?(?P<word>{'|'.join(_SCALE)})\b", re.IGNORECASE)
_SHORT = {"k": 3, "m": 6}
"""Behind an amount of money alone: 5 m is a length, $5m is not."""
_UNITS = {
    word: value
    for value, word in enumerate(
        words(
            "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
            "fifteen sixteen "
            "seventeen eighteen nineteen"
        )
    )
}
_TENS = {
    word: 10 * n
    for n, word in enumerate(words("twenty thirty forty fifty sixty seventy eighty ninety"), 2)
}
_SEP = rf"(?:{_GAP}|-)"
_BELOW_HUNDRED = (
    rf"(?:(?:{'|'.join(_TENS)})\b(?:{_SEP}(?:{'|'.join(list(_UNITS)[1:10])})\b)?"
    rf"|(?:{'|'.join(_UNITS)})\b)"
)
_BELOW_THOUSAND = (
    rf"(?:(?:{_BELOW_HUNDRED}{_SEP})?hundred\b(?:{_SEP}(?:and{_SEP})?{_BELOW_HUNDRED})?"
    rf"|{_BELOW_HUNDRED})"
)
_SPELLED = re.compile(
    rf"\b{_BELOW_THOUSAND}(?:{_SEP}(?:{'|'.join(_SCALE)})\b(?:{_SEP}(?:and{_SEP})?{_BELOW_THOUSAND})?)*",
    re.IGNORECASE,
)
_UPPER = "".join(char for char in map(chr, range(0x41, 0x590)) if char.isupper())
"""Capitals of the Latin, Greek, Cyrillic and Armenian alphabets; other scripts have none."""
_INITIALS = rf"(?:[{_UPPER}]\.){{2,}}|[{_UPPER}]\.(?={_GAP}[{_UPPER}])"
_TITLED = rf"(?:Mr|Mrs|Ms|Dr|Prof|Capt|Col|Gen|Gov|Lt|Rev|Sen|Sgt|St)\.(?={_GAP}[{_UPPER}])"
_NAME_PART = rf"(?:{_TITLED}|{_INITIALS}|[{_UPPER}][\w’'\-]*)"
_NAME = re.compile(
    rf"\b{_NAME_PART}(?:(?:{_GAP}(?:of|de|van|von|der|den|la|le|du|&)){{0,2}}{_GAP}{_NAME_PART})*"
)
_INITIAL = re.compile(rf"[{_UPPER}]\.")
_BARE = re.compile(r"[.’']")
_FIRST_WORD = re.compile(r"\w")
_TITLES = frozenset(
    words(
        "mr mrs ms dr prof professor sir capt captain col gen gov governor lt rev sen senator sgt "
        "mayor director "
        "chair chairman chairwoman minister president"
    )
)
_OPENERS = frozenset(
    words(
        "according although another despite either every however later like many meanwhile near "
        "neither "
        "nevertheless several since still though today tomorrow unlike whether yesterday yet"
    )
)
_WEEKDAYS = frozenset(words("monday tuesday wednesday thursday friday saturday sunday"))
_NO_NAME = STOPWORDS | _TITLES | _OPENERS | _WEEKDAYS | MONTHS.keys() | _UNITS.keys() | _TENS.keys()
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
            for mine, theirs in (
                (self.year, other.year),
                (self.month, other.month),
                (self.day, other.day),
            )
        )

    def iso(self) -> str:
        """Return the ISO form, as long as it is known; a dash stands for a year that is not."""
        parts = [f"{self.year:04d}" if self.year else "-"]
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
    """Return the dates of a text with their spans, in order.

    A longer reading hides the shorter ones inside it.
    """
    found: list[tuple[Day, int, int]] = []
    taken = bytearray(len(text))
    for pattern in _DATES:
        for match in pattern.finditer(text):
            start, end = match.span()
            if not any(taken[start:end]) and (day := _day(match)):
                found.append((day, start, end))
                taken[start:end] = b"\1" * (end - start)
    return sorted(found, key=lambda item: item[1])


def _day(match: re.Match[str]) -> Day | None:
    """Return the date that was matched; None if there is no such day, or if its month is a verb."""
    groups = match.groupdict()
    if not groups.get("y") and groups["month"] in _VERBS:
        return None
    if "month" in groups:
        groups["m"] = str(MONTHS[groups["month"].lower()])
    given = {part: int(groups[part]) for part in "ymd" if groups.get(part)}
    try:
        date(
            given.get("y", 2000), given["m"], given.get("d", 1)
        )  # 2000: without a year, 29 February may exist
    except ValueError:
        return None
    return Day(given.get("y", 0), given["m"], given.get("d", 0))


def dates(text: str) -> list[Day]:
    """Return the dates of a text."""
    return [day for day, _, _ in dated(text)]


def number(text: str) -> Decimal | None:
    """Read one number: 1,250 and 1 250 are twelve hundred and fifty, 3,5 is three and a half."""
    match = _NUMBER.fullmatch(text.strip())
    return _value(match) if match else None


def _value(match: re.Match[str]) -> Decimal:
    plain = match.group().replace("−", "-").translate(dict.fromkeys(map(ord, _THIN)))
    if match["commas"]:
        plain = plain.replace(",", "")
    elif match["dots"]:
        plain = plain.replace(".", "")
    return Decimal(plain.replace(",", "."))


def numbers(text: str) -> list[Decimal]:
    """Return the numbers of a text, in figures and in words, those inside dates left out."""
    kept = list(text)
    for _, start, end in dated(text):
        kept[start:end] = "|" * (end - start)
    bare = "".join(kept)
    found = [(match.start(), _scaled(bare, match)) for match in _NUMBER.finditer(bare)]
    found += [(match.start(), _spelled(match.group())) for match in _SPELLED.finditer(bare)]
    return [value for _, value in sorted(found)]


def _scaled(text: str, match: re.Match[str]) -> Decimal:
    """Return a number in figures times the word behind it: 5 million, $5m."""
    value, end = _value(match), match.end()
    if scale := _SCALED.match(text, end):
        return value.scaleb(_SCALE[scale["word"].lower()])
    money = text[max(0, match.start() - 1) : match.start()] in {"$", "€", "£"}
    power = (
        _SHORT.get(text[end : end + 1].lower(), 0)
        if money and not text[end + 1 : end + 2].isalnum()
        else 0
    )
    return value.scaleb(power) if power else value


def _spelled(phrase: str) -> Decimal:
    """Return the value of a number in words: two hundred and fifty thousand, twenty-one."""
    whole = part = 0
    for word in re.findall(r"[a-z]+", phrase.lower()):
        if word == "hundred":
            part = (part or 1) * 100
        elif word in _SCALE:
            whole, part = whole + part * 10 ** _SCALE[word], 0
        else:
            part += _UNITS.get(word, 0) + _TENS.get(word, 0)
    return Decimal(whole + part)


def names(text: str) -> list[str]:
    """Return the names of a text.

    Runs of capitalised words, without a word that merely opens its sentence.
    """
    found: dict[str, None] = {}
    for unit in sorted([*sentences(text), *(span for span, heading in blocks(text) if heading)]):
        first = _FIRST_WORD.search(text, unit.start, unit.end)
        for match in _NAME.finditer(text, unit.start, unit.end):
            before = text[max(0, match.start() - 1) : match.start()]
            opens = before in {'"', "“", "«"} or (
                first is not None and first.start() == match.start()
            )
            if name := _name(match.group().split(), opens):
                found.setdefault(name)
    return list(found)


def _name(listed: list[str], opens: bool) -> str:
    """Return the name in a run of capitalised words.

    Empty if there is none, or if it may just open a sentence.
    """
    if opens and len(listed) == 1:
        return ""
    at = 0
    while (
        at < len(listed)
        and _BARE.split(listed[at].lower())[0] in _NO_NAME
        and not _INITIAL.fullmatch(listed[at])
    ):
        at += 1
    return " ".join(listed[at:]).removesuffix("'s").removesuffix("’s").rstrip("-’'")


def holds(sum_: Calculation) -> bool:
    """Whether a calculation's result is what code gets from its inputs."""
    try:
        wanted = number(sum_.result)
        return wanted is not None and Fraction(wanted) == _compute(sum_)
    except ValueError:
        return False


def _compute(sum_: Calculation) -> Fraction:
    if sum_.kind in {"years", "days"}:
        began, ended = (date.fromisoformat(text) for text in sum_.inputs)
        if sum_.kind == "days":
            return Fraction(abs((ended - began).days))
        return Fraction(
            ended.year - began.year - ((ended.month, ended.day) < (began.month, began.day))
        )
    if not sum_.inputs:
        raise ValueError("nothing comes of nothing")
    if sum_.kind == "count":
        return Fraction(len(sum_.inputs))
    listed = [Fraction(value) for text in sum_.inputs if (value := number(text)) is not None]
    if len(listed) != len(sum_.inputs):
        raise ValueError("an input is not a number")
    if sum_.kind == "sum":
        return sum(listed, Fraction(0))
    first, second = listed
    return first - second
