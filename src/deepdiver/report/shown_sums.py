"""Sums that a report shows in its own words, repeated by code.

Four forms say plainly what is computed: an equation (`12 + 30 = 42`), a share (`18 of 60 (30 %)`),
a change (`rose from 40 to 50, by 25 %`) and a row of totals below the column that it adds up. In
every other place two numbers may stand side by side for any reason, and nothing is said of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from deepdiver.core.arithmetic import ArithmeticFaultError, comes_out, compute
from deepdiver.core.numbers import numbers
from deepdiver.core.text import words

_FIGURE = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
_SCALED = rf"{_FIGURE}(?:\s*(?:thousand|million|billion|trillion|bn)\b)?"
_MONEY = r"[$€£]?\s*"
_EQUATION = re.compile(
    rf"(?<![\w.,]){_MONEY}(?P<left>{_SCALED}\s*%?(?:\s*[-+*/×÷−–]\s*{_MONEY}{_SCALED}\s*%?)+)"
    rf"\s*=\s*{_MONEY}(?P<result>[-−]?{_SCALED}\s*%?)(?![\w]|[.,]\d|\s*[-+*/×÷−–=])"
)
_SHARE = re.compile(
    rf"(?<![\w.,])(?P<part>{_FIGURE})\s+(?:out\s+)?of\s+(?:the\s+|its\s+|all\s+)?(?P<whole>{_FIGURE})"
    rf"(?:\s+[\w-]+){{0,4}}?\s*\(\s*(?P<result>{_FIGURE}\s*(?:%|per\s?cent))\s*\)",
    re.IGNORECASE,
)
_CHANGE = re.compile(
    r"\b(?P<verb>rose|grew|increased|climbed|fell|dropped|declined|decreased|shrank)\b[^.;()]{0,60}?\bfrom\s+"
    rf"{_MONEY}(?P<before>{_SCALED})(?P<unit>\s*%)?[^.;()]{{0,60}}?\s+to\s+{_MONEY}(?P<after>{_SCALED})"
    r"(?P<same>\s*%)?[^.;()]{0,60}?(?:[,(]\s*|\s)(?:an?\s+(?:increase|rise|gain|growth|drop|fall|"
    rf"decline|decrease)\s+of|by|up|down|[-+−])\s*(?P<result>{_FIGURE}\s*(?:%|per\s?cent\b))"
    r"(?!\s*points?\b)",
    re.IGNORECASE,
)
_SCALE = re.compile(r"\s*(?:thousand|million|billion|trillion|bn)\b", re.IGNORECASE)
_FALLING = frozenset(("fell", "dropped", "declined", "decreased", "shrank"))
_TOTAL = frozenset(words("total totals sum altogether overall summe gesamt"))
_CELL = re.compile(rf"\W*({_FIGURE})\s*(%|[A-Za-z€$£]{{1,4}}\.?)?\W*")
FEWEST_ROWS = 2
"""Rows above a total that make it a sum."""


@dataclass(frozen=True, slots=True)
class WrongSum:
    """A sum that does not come out."""

    shown: str
    """The sum as the report has it."""
    computed: str
    """What comes out."""


def wrong_sums(text: str) -> Iterator[WrongSum]:
    """Yield the sums of a sentence that do not come out."""
    for match in _EQUATION.finditer(text):
        yield from _compared(match[0], match["left"], match["result"])
    for match in _SHARE.finditer(text):
        yield from _compared(match[0], f"{match['part']} / {match['whole']}", match["result"])
    for match in _CHANGE.finditer(text):
        if match["unit"] or match["same"]:
            continue  # from 4 % to 5 %: by a quarter, or by a point
        scale = "" if _SCALE.search(match["before"]) else "".join(_SCALE.findall(match["after"]))
        ends = [f"{match['before']}{scale}", match["after"]]
        if match["verb"].lower() in _FALLING:
            ends.reverse()
        late, early = ends[1], ends[0]
        yield from _compared(
            match[0], f"({late} - {early}) / {match['before']}{scale}", match["result"]
        )


def _compared(shown: str, expression: str, result: str) -> Iterator[WrongSum]:
    try:
        value = compute(re.sub(r"[$€£]", "", expression)).value
    except ArithmeticFaultError:
        return
    said = re.sub(r"per\s?cent", "%", result, flags=re.IGNORECASE)
    if not comes_out(value, said):
        percent = "%" in said
        yield WrongSum(" ".join(shown.split()), _told(value * 100 if percent else value, percent))


def _told(value: Fraction, percent: bool = False) -> str:
    return f"{float(value):,.6g}{' %' if percent else ''}"


def wrong_totals(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[WrongSum]:
    """Yield the totals of a table's last row that its columns do not add up to."""
    for at, added, right in _totals(rows):
        if not right:
            name = header[at] if at < len(header) else f"column {at + 1}"
            yield WrongSum(f"{name}: {rows[-1][0]} {rows[-1][at]}", _told(added))


def ends_in_total(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the last row of a table is nothing but the sum of those above it."""
    found = list(_totals(rows))
    said = sum(bool(cell.strip()) for cell in rows[-1][1:]) if rows else 0
    return bool(found) and len(found) == said and all(right for _, _, right in found)


def _totals(rows: Sequence[Sequence[str]]) -> Iterator[tuple[int, Fraction, bool]]:
    """Yield each column that has a total: its number, what it adds up to, and if that is said."""
    if len(rows) <= FEWEST_ROWS or not rows[-1] or _TOTAL.isdisjoint(words(rows[-1][0])):
        return
    *above, last = rows
    for at in range(1, len(last)):
        cells = [row[at] if at < len(row) else "" for row in above]
        known = [value for cell in (*cells, last[at]) if (value := _value(cell)) is not None]
        if len(known) > len(cells):  # every cell has a number, and so has the total
            *parts, said = known
            added = sum(parts, Fraction(0))
            yield at, added, abs(added - said) <= _margin([*cells, last[at]])


def _margin(cells: Sequence[str]) -> Fraction:
    """Return how far rounded parts may be from a rounded whole: half a last place for each."""
    digits = max(map(_decimals, cells))
    return Fraction(len(cells), 2 * 10**digits) if digits else Fraction(0)


def _value(cell: str) -> Fraction | None:
    """Return the number of a cell that holds one and nothing else; not a share, nor a year."""
    match = _CELL.fullmatch(cell)
    if match is None or match[2] == "%":
        return None
    return Fraction(numbers(match[1])[0])


def _decimals(cell: str) -> int:
    return len(match[1].partition(".")[2]) if (match := _CELL.fullmatch(cell)) else 0
