"""Arithmetic that a report shows, repeated by code.

    (15% * 100 + 25% * 135) / (100 + 135)    mean(12, 14.5, 9)    years(2011-03-14, 2026-11-16)

An expression has numbers, + - * / and brackets, the functions below, and the names of other
calculations of the report. Values are exact fractions; a result is right if it is the value,
rounded as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import NoReturn

from deepdiver.core.numbers import numbers

LONGEST = 600
"""The most characters of an expression."""
DEEPEST = 20
"""The most brackets within brackets."""
LARGEST = Fraction(10) ** 40
ROUNDED_FROM, NEARLY = 1_000, Fraction(1, 40)
"""The least number whose noughts may stand for a rounding, and how far it may be off: by 2.5 %."""
"""Values beyond this are refused: no report holds one, and fractions would grow without end."""

_TOKEN = re.compile(
    r"\s*(?:(?P<date>\d{4}-\d{2}-\d{2})(?!\d)|(?P<number>(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)"
    r"(?:\s*(?P<percent>%)|\s*(?P<scale>thousand|million|billion|trillion|bn|k|m)\b)?"
    r"|(?P<name>[A-Za-z]\w{0,30})|(?P<sign>[-+*/()×÷·−–:,;]))",
    re.IGNORECASE,
)
_SCALES = {"thousand": 3, "k": 3, "million": 6, "m": 6, "billion": 9, "bn": 9, "trillion": 12}
_SIGNS = {"×": "*", "·": "*", "÷": "/", ":": "/", "−": "-", "–": "-", ";": ","}
_SHARE = re.compile(r"(?:change|percent)\([^()]*(?:\([^()]*\)[^()]*)*\)")
_RESULT = re.compile(r"(?P<whole>[-−+]?\d[\d,\s\u00a0\u202f]*)(?:\.(?P<part>\d+))?")


class ArithmeticFaultError(ValueError):
    """An expression that cannot be computed; the message says why."""


@dataclass(frozen=True, slots=True)
class Computed:
    """The value of an expression, and what it is made of."""

    value: Fraction
    """The value."""
    numbers: tuple[Decimal, ...]
    """The numbers as they are written, percentages without their sign."""
    names: tuple[str, ...]
    """The names of other calculations."""
    dates: tuple[date, ...] = ()
    """The dates."""


def compute(text: str, named: Mapping[str, Fraction] | None = None) -> Computed:
    """Return the value of an expression.

    Args:
        text: The expression; what follows an equals sign is not read.
        named: The values of other calculations, by their names.

    Raises:
        ArithmeticFaultError: If it is not an expression, or has no value.
    """
    parser = _Parser(text.partition("=")[0], named or {})
    value = parser.parse()
    if abs(value) > LARGEST:
        raise ArithmeticFaultError("the value is too large")
    return Computed(value, tuple(parser.numbers), tuple(parser.names), tuple(parser.dates))


def gives_share(expression: str) -> bool:
    """Whether an expression gives a share and nothing else, which is told in percent."""
    return _SHARE.fullmatch(expression.strip()) is not None


def comes_out(value: Fraction, result: str, *, roughly: bool = False) -> bool:
    """Whether a result as it is written, such as `17.7%` or `1.2 million`, is a value rounded.

    Args:
        value: The value.
        result: What is written.
        roughly: Whether noughts at the end may stand for a rounding: 15,000 for 15,168.5.
    """
    said = numbers(result)
    match = _RESULT.search(result)
    if not said or match is None:
        return False
    written = Fraction(Decimal(re.sub(r"[,\s\u00a0\u202f]", "", match[0]).replace("−", "-")))
    scale = Fraction(said[0]) / written if written else Fraction(1)
    margin = abs(scale) * Fraction(1, 2 * 10 ** len(match["part"] or ""))
    if roughly and written.denominator == 1:
        margin = max(margin, abs(scale) * rounding_of(int(written)))
    asked = [value, value * 100] if "%" in result or "percent" in result else [value]
    return any(abs(one - Fraction(said[0])) <= margin for one in asked)


def rounding_of(whole: int) -> Fraction:
    """Return how far off a whole number may be whose noughts at the end stand for a rounding."""
    if abs(whole) < ROUNDED_FROM:
        return Fraction(1, 2)
    noughts = len(str(whole)) - len(str(whole).rstrip("0"))
    return max(Fraction(1, 2), min(Fraction(10**noughts, 2), NEARLY * abs(whole)))


def _share(values: Sequence[Fraction]) -> Fraction:
    part, whole = _two(values)
    return part / whole


def _change(values: Sequence[Fraction]) -> Fraction:
    before, after = _two(values)
    return (after - before) / before


def _two(values: Sequence[Fraction]) -> tuple[Fraction, Fraction]:
    if len(values) != 2:
        raise ArithmeticFaultError("it takes two values")
    return values[0], values[1]


_FUNCTIONS: dict[str, Callable[[Sequence[Fraction]], Fraction]] = {
    "sum": lambda values: sum(values, Fraction(0)),
    "mean": lambda values: sum(values, Fraction(0)) / len(values),
    "average": lambda values: sum(values, Fraction(0)) / len(values),
    "min": min,
    "max": max,
    "minimum": min,
    "maximum": max,
    "count": lambda values: Fraction(len(values)),
    "difference": lambda values: _two(values)[0] - _two(values)[1],
    "ratio": _share,
    "percent": _share,
    "change": _change,
}
"""percent and ratio: the first of the second; change: from the first to the second, as a share."""


def _years(began: date, ended: date) -> Fraction:
    """Return whole years, as ages are counted."""
    return Fraction(ended.year - began.year - ((ended.month, ended.day) < (began.month, began.day)))


def _months(began: date, ended: date) -> Fraction:
    """Return whole months."""
    months = 12 * (ended.year - began.year) + ended.month - began.month
    return Fraction(months - (ended.day < began.day))


_BETWEEN: dict[str, Callable[[date, date], Fraction]] = {
    "years": _years,
    "months": _months,
    "days": lambda began, ended: Fraction(abs((ended - began).days)),
}
"""Functions of two dates."""


class _Parser:
    """Reads an expression from left to right."""

    def __init__(self, text: str, named: Mapping[str, Fraction]) -> None:
        if len(text) > LONGEST:
            raise ArithmeticFaultError(f"an expression has at most {LONGEST} characters")
        self._named = named
        self.numbers: list[Decimal] = []
        self.names: list[str] = []
        self.dates: list[date] = []
        self._tokens = self._read(text)
        self._at = self._depth = 0

    def _read(self, text: str) -> list[re.Match[str]]:
        tokens, at, text = [], 0, text.rstrip()
        while at < len(text):
            token = _TOKEN.match(text, at)
            if token is None:
                raise ArithmeticFaultError(f"{text[at : at + 20].strip()!r} is not arithmetic")
            tokens.append(token)
            at = token.end()
        return tokens

    def parse(self) -> Fraction:
        """Return the value of the whole."""
        try:
            value = self._sum()
        except ZeroDivisionError:
            raise ArithmeticFaultError("it divides by zero") from None
        if self._at < len(self._tokens):
            self._refuse()
        return value

    def _refuse(self) -> NoReturn:
        rest = self._tokens[self._at][0].strip() if self._at < len(self._tokens) else "the end"
        raise ArithmeticFaultError(f"{rest} stands where a value or a sign should")

    def _sign(self) -> str:
        if self._at == len(self._tokens):
            return ""
        sign = self._tokens[self._at]["sign"] or ""
        return _SIGNS.get(sign, sign)

    def _take(self, *signs: str) -> str:
        """Step over one of some signs, and return it."""
        sign = self._sign()
        if sign and sign in signs:
            self._at += 1
            return sign
        return ""

    def _sum(self) -> Fraction:
        value = self._product()
        while sign := self._take("+", "-"):
            other = self._product()
            value = value + other if sign == "+" else value - other
        return value

    def _product(self) -> Fraction:
        value = self._factor()
        while sign := self._take("*", "/"):
            other = self._factor()
            value = value * other if sign == "*" else value / other
        return value

    def _factor(self) -> Fraction:
        sign = 1
        while self._take("-"):
            sign = -sign
        if self._take("("):
            return sign * self._arguments(1)[0]
        token = self._tokens[self._at] if self._at < len(self._tokens) else None
        if token is None or not (token["number"] or token["name"]):
            self._refuse()
        self._at += 1
        return sign * (self._number(token) if token["number"] else self._name(token["name"]))

    def _number(self, token: re.Match[str]) -> Fraction:
        written = Decimal(token["number"].replace(",", ""))
        written = written.scaleb(_SCALES[token["scale"].lower()]) if token["scale"] else written
        self.numbers.append(written)
        return Fraction(written) / (100 if token["percent"] else 1)

    def _name(self, name: str) -> Fraction:
        if self._take("("):
            if between := _BETWEEN.get(name.lower()):
                return between(*self._two_dates())
            function = _FUNCTIONS.get(name.lower())
            if function is None:
                known = ", ".join(sorted(_FUNCTIONS))
                raise ArithmeticFaultError(f"there is no function {name}; there are {known}")
            return function(self._arguments())
        if name not in self._named:
            raise ArithmeticFaultError(f"there is no calculation {name}")
        self.names.append(name)
        return self._named[name]

    def _two_dates(self) -> tuple[date, date]:
        """Return the dates up to the closing bracket."""
        found = [self._date()]
        if self._take(","):
            found.append(self._date())
        if len(found) != 2 or not self._take(")"):
            self._refuse()
        self.dates += found
        return found[0], found[1]

    def _date(self) -> date:
        text = self._tokens[self._at]["date"] if self._at < len(self._tokens) else None
        if text is None:
            self._refuse()
        self._at += 1
        try:
            return date.fromisoformat(text)
        except ValueError:
            raise ArithmeticFaultError(f"{text} is not a date") from None

    def _arguments(self, most: int = LONGEST) -> list[Fraction]:
        """Return the values up to the closing bracket."""
        self._depth += 1
        if self._depth > DEEPEST:
            raise ArithmeticFaultError(f"brackets are nested more than {DEEPEST} deep")
        values = [self._sum()]
        while len(values) < most and self._take(","):
            values.append(self._sum())
        if not self._take(")"):
            self._refuse()
        self._depth -= 1
        return values
