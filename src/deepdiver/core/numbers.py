"""Numbers in a text, in figures and in words.

The audit checks that every number of a sentence is in its quotes, and the embedded reasoner finds
answers among them.
"""

from __future__ import annotations

import functools
import re
from decimal import Decimal

from deepdiver.core.dates import GAP, dated
from deepdiver.core.text import part_scripts, words

_THIN = " \u00a0\u2009\u202f"
"""Spaces that group the digits of a number."""
_NUMBER = re.compile(
    r"(?=[-−+.\d])(?:(?<![\w.,])[-−+]?(?:"
    r"(?P<commas>[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?)"
    rf"|(?P<spaces>[1-9]\d{{0,2}}(?:[{_THIN}]\d{{3}})+(?:[.,]\d+)?)"
    r"|(?P<dots>[1-9]\d{0,2}(?:\.\d{3}){2,}(?:,\d+)?)"
    r")(?!\d)|(?:(?<![\w.])|(?<=\.\.))[-−+]?(?:\d+(?:[.,]\d+)?|(?<!\.)\.\d+))"
)
_MANUAL = re.compile(r"(?<=[A-Za-z0-9_])\(\d[A-Za-z]{0,2}\)")
"""The section of a manual, behind the name of a page: read(2)."""
_WITHOUT = re.compile(r"\bzero(?=-[a-z])", re.IGNORECASE)
"""A word for "without", no number: zero-emission, zero-trust."""
_SCALE = {"thousand": 3, "million": 6, "billion": 9, "bn": 9, "trillion": 12}
_SCALED = re.compile(rf"(?:{GAP}|-)?(?P<word>{'|'.join(_SCALE)})\b", re.IGNORECASE)
_SHORT = {"k": 3, "m": 6}
"""Scales that count only behind an amount of money: 5 m is a length, $5m is not."""
UNITS = {
    word: value
    for value, word in enumerate(
        words(
            "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
            "fifteen sixteen "
            "seventeen eighteen nineteen"
        )
    )
}
TENS = {
    word: 10 * n
    for n, word in enumerate(words("twenty thirty forty fifty sixty seventy eighty ninety"), 2)
}
_SEP = rf"(?:{GAP}|-)"
_BELOW_HUNDRED = (
    rf"(?:(?:{'|'.join(TENS)})\b(?:{_SEP}(?:{'|'.join(list(UNITS)[1:10])})\b)?"
    rf"|(?:{'|'.join(UNITS)})\b)"
)
_BELOW_THOUSAND = (
    rf"(?:(?:{_BELOW_HUNDRED}{_SEP})?hundred\b(?:{_SEP}(?:and{_SEP})?{_BELOW_HUNDRED})?"
    rf"|{_BELOW_HUNDRED})"
)
_SPELLED = re.compile(
    rf"\b(?=[zotfsenh]){_BELOW_THOUSAND}(?:{_SEP}(?:{'|'.join(_SCALE)})\b(?:{_SEP}(?:and{_SEP})?{_BELOW_THOUSAND})?)*",
    re.IGNORECASE,
)


def number(text: str) -> Decimal | None:
    """Return the value of a number, or None: 1,250 and 1 250 are 1250, and 3,5 is 3.5."""
    match = _NUMBER.fullmatch(text.strip())
    return _value(match) if match else None


def _value(match: re.Match[str]) -> Decimal:
    plain = match.group().replace("−", "-").translate(dict.fromkeys(map(ord, _THIN)))
    if match["commas"]:
        plain = plain.replace(",", "")
    elif match["dots"]:
        plain = plain.replace(".", "")
    return Decimal(plain.replace(",", "."))


_REMEMBERED = 2_000
"""Characters of a text whose numbers are cached."""
ROUNDED_TO, ROUNDED_FROM = 3, 10_000
"""The fewest digits of a rounded number, and the least whole number that may be one."""


def numbers(text: str) -> list[Decimal]:
    """Return the numbers of a text, in figures and in words.

    Those inside dates are left out, and so are the sections of manual pages.
    """
    return list((_numbers if len(text) <= _REMEMBERED else _numbers_of_long)(text))


@functools.lru_cache(maxsize=4_096)  # an audit holds the same sentences against many quotes
def _numbers(text: str) -> tuple[Decimal, ...]:
    bare = _undated(text)
    found = [(match.start(), _scaled(bare, match)) for match in _NUMBER.finditer(bare)]
    found += [(match.start(), _spelled(match.group())) for match in _SPELLED.finditer(bare)]
    return tuple(value for _, value in sorted(found))


# And all that a source says against each statement in turn.
_numbers_of_long = functools.lru_cache(maxsize=8)(_numbers.__wrapped__)


def figures_in(text: str) -> set[Decimal]:
    """Return the numbers of a text that are written in figures, but for dates and years.

    In words, people count their arguments: two records agree, one of three.
    """
    bare = _undated(text)
    found = {_scaled(bare, match) for match in _NUMBER.finditer(bare)}
    return {value for value in found if value % 1 or not 1900 <= value <= 2100}


def _undated(text: str) -> str:
    """Return a text without its dates and the sections of manual pages."""
    kept = list(text)
    for _, start, end in dated(text):
        kept[start:end] = "|" * (end - start)
    return _WITHOUT.sub("|", _MANUAL.sub("|", part_scripts("".join(kept))))


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
            part += UNITS.get(word, 0) + TENS.get(word, 0)
    return Decimal(whole + part)


def is_rounded(said: Decimal, exact: Decimal) -> bool:
    """Whether a number is another one rounded to three digits or more: 18.7 for 18.675 million.

    Whole numbers below `ROUNDED_FROM` are counts or years, and are not rounded without a word.
    """
    whole = said == said.to_integral_value()
    # Noughts at the end are places of a fraction, and may be a rounding of a whole number.
    digits, exponent = (said.normalize() if whole else said).as_tuple()[1:]
    if len(digits) < ROUNDED_TO or (whole and abs(said) < ROUNDED_FROM):
        return False
    return abs(said - exact) <= Decimal(5).scaleb(int(exponent) - 1)
