"""The values that a report derives: code computes each again, and knows where its numbers stand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from fractions import Fraction

from deepdiver.core.arithmetic import (
    ArithmeticFaultError,
    Computed,
    comes_out,
    compute,
    gives_share,
)
from deepdiver.core.dates import dates
from deepdiver.core.ledger import Ledger
from deepdiver.core.numbers import numbers
from deepdiver.core.record import Derivation, Finding

UNITS = frozenset(map(Decimal, (7, 12, 24, 52, 60, 100, 365, 366, 1024, 1440, 3600, 86_400))) | {
    Decimal(10) ** power for power in (3, 6, 9, 12)
}
"""The parts of years, weeks, days and hours, percentages, thousands and bytes."""
CONSTANTS = UNITS | frozenset(map(Decimal, (*range(14), 28, 30, 31, 90, 91, 92)))
"""Numbers that an expression may use without a source: units, how many quarters lie between two
rows, halves and doubles, the days of months and quarters."""
FREE = CONSTANTS | {value / 100 for value in CONSTANTS} | {value * 100 for value in CONSTANTS}
"""The same as shares, too: 0.05, and 5 %."""
_SCALED = re.compile(r"(\d[\d.,]*)\s?([kKmMB])\b")
_SCALES = {"k": 3, "m": 6, "b": 9}
"""Numbers such as 400K and 3.5M. Elsewhere the letter may stand for kelvin or metres, so only sums
read it so."""


@dataclass(slots=True)
class Derivations:
    """The calculations of a report, by their names."""

    held: dict[str, Derivation] = field(default_factory=dict)
    """Those that come out."""
    values: dict[str, Fraction] = field(default_factory=dict)
    """Their exact values."""
    refused: dict[str, str] = field(default_factory=dict)
    """Why others do not come out, by their names."""
    named: set[str] = field(default_factory=set)
    """The names that the report uses, whether or not it says how they are calculated."""
    asked: str = ""
    """The question: its numbers need no source."""
    read: frozenset[str] = frozenset()
    """The words of everything that the writer was shown: a judgement may name what stands there."""

    def add(
        self,
        ledger: Ledger,
        made: Derivation,
        as_of: str,
        *,
        supposes: bool = False,
        proposed: str = "",
        lent: bool = False,
    ) -> bool:
        """Compute a calculation again; return whether it comes out.

        Args:
            ledger: Has its findings.
            made: The calculation.
            as_of: The run's date, which it may use without a quote.
            supposes: Whether it may have numbers of the writer's own; they are noted in it.
            proposed: The proposal that gives it, whose own numbers it may use, but for its result.
            lent: Whether its findings are those of its sentence, as it names none.
        """
        lost, fault = [], self._fault(made)
        if not fault and supposes:
            lost = self._supposed_in(ledger, made, as_of)
        elif not fault:
            lost = self._unsourced(ledger, made, as_of, FREE | self._own(made, proposed))
            fault = f"{', '.join(lost[:3])} is in none of its quotes" if lost else ""
        if fault:
            self.refused[made.name] = f"{made.name} = {made.expression}: {fault}"
            return False
        made = made.model_copy(
            update={"supposed": tuple(lost), "findings": self._needed(ledger, made, lent=lent)}
        )
        value = compute(made.expression, self.values).value
        if not made.result:
            share = gives_share(made.expression)
            shown = f"{float(100 * value):.3g}%" if share else _shown(value)
            made = made.model_copy(update={"result": shown})
        self.held[made.name], self.values[made.name] = made, value
        self.refused.pop(made.name, None)  # it may have waited for a result that it uses
        return True

    def compare(self, name: str, told: Sequence[str]) -> None:
        """Refuse a calculation that gives none of the numbers of its sentence."""
        made = self.held.get(name)
        if made is None or any(comes_out(self.values[name], n, roughly=True) for n in told):
            return
        del self.held[name]
        fault = f"it does not give {', '.join(told[-1:])} but {made.result}"
        self.refused[name] = f"{name} = {made.expression}: {fault}"

    def _supposed_in(self, ledger: Ledger, made: Derivation, as_of: str) -> list[str]:
        """Return the numbers of a calculation that the writer supposes, as no quote has them.

        If the quotes have all of them, those that they have in another form alone; if nothing else
        can be supposed, a unit is.
        """
        return (
            self._unsourced(ledger, made, as_of, UNITS)
            or self._unsourced(ledger, made, as_of, UNITS, exactly=True)
            or self._unsourced(ledger, made, as_of, frozenset())
        )

    def _fault(self, made: Derivation) -> str:
        try:
            computed = compute(made.expression, self.values)
        except ArithmeticFaultError as error:
            return str(error)
        if made.result and not comes_out(computed.value, made.result, roughly=True):
            return f"it does not give {made.result} but {_shown(computed.value)}"
        return ""

    def _own(self, made: Derivation, proposed: str) -> set[Decimal]:
        """Return the numbers of a proposal that a calculation may use: all but its result."""
        value = compute(made.expression, self.values).value
        return {number for number in numbers(proposed) if Fraction(number) != value}

    def _needed(self, ledger: Ledger, made: Derivation, *, lent: bool) -> tuple[str, ...]:
        """Return the findings of a calculation that have one of its numbers or days.

        Others are cited beside it for what they say, and would be told as what it comes from. What
        it cites itself without its numbers may be the rows that it has counted.
        """
        computed = compute(made.expression, self.values)
        used = len(computed.numbers) + len(computed.dates)
        quoted = {
            key: "\n\n".join(quote.text for quote in ledger.get(Finding, key).quotes)
            for key in made.findings
            if key in ledger
        }
        needed = tuple(
            key
            for key, text in quoted.items()
            if len(_unsourced(computed, text, "", frozenset(), exactly=False)) < used
        )
        return needed if needed or lent else made.findings

    def _unsourced(
        self,
        ledger: Ledger,
        made: Derivation,
        as_of: str,
        free: AbstractSet[Decimal],
        *,
        exactly: bool = False,
    ) -> list[str]:
        """Return the numbers and days of a calculation that no quote has, but for free ones."""
        computed = compute(made.expression, self.values)
        found = [ledger.get(Finding, key) for key in made.findings if key in ledger]
        text = "\n\n".join(quote.text for finding in found for quote in finding.quotes)
        # What is supposed is told with the number itself; elsewhere it may come from another sum.
        others = [] if not free >= FREE else [other.result for other in self.held.values()]
        known = "\n\n".join((text, self.asked, *others))
        return _unsourced(computed, known, as_of, free, exactly=exactly)

    def next_name(self) -> str:
        """Return a name that no calculation has."""
        taken = {*self.held, *self.refused, *self.named}
        number = len(taken) + 1
        while f"C{number}" in taken:
            number += 1
        return f"C{number}"

    def findings_of(self, names: Iterable[str]) -> list[str]:
        """Return the ids of the findings that calculations rest on, those of their parts too."""
        parts = self._with_parts(names)
        return list(dict.fromkeys(key for made in parts for key in made.findings))

    def _with_parts(self, names: Iterable[str]) -> list[Derivation]:
        """Return calculations, each followed by those whose results it uses."""
        found: dict[str, Derivation] = {}
        for name in names:
            if (made := self.held.get(name)) and name not in found:
                parts = self._with_parts(compute(made.expression, self.values).names)
                found |= {part.name: part for part in (made, *parts)}
        return list(found.values())

    def told(self, names: Iterable[str]) -> list[str]:
        """Return calculations as lines, with the numbers behind the names of others."""
        listed = [self.held[name] for name in names if name in self.held]
        return [
            f"{_spelled(made.expression, self.values)} = {made.result}"
            + (f" ({', '.join(made.supposed)} supposed)" if made.supposed else "")
            for made in listed
        ]

    def values_of(self, names: Iterable[str]) -> list[Fraction]:
        """Return the exact values of calculations and of their parts."""
        return [self.values[made.name] for made in self._with_parts(names)]

    def supposed(self, names: Iterable[str]) -> list[str]:
        """Return the numbers of calculations and of their parts that the writer supposes."""
        return [item for made in self._with_parts(names) for item in made.supposed]

    def are_from_question(self, names: Iterable[str]) -> bool:
        """Whether calculations rest on the question's own numbers and on units alone."""
        parts = self._with_parts(names)
        return bool(parts) and not any(made.findings or made.supposed for made in parts)

    def figures_of(self, names: Iterable[str]) -> str:
        """Return the results and numbers of calculations and of their parts, for the audit."""
        listed = self._with_parts(names)
        lines = [line for made in listed for line in (made.expression, made.result)]
        # How many values a sum has may be said: "in nine quarters".
        counts = {len(numbers(made.expression)) for made in listed} - {0, 1}
        return "\n".join((*lines, *map(str, sorted(counts))))


_PARTS = {
    Decimal("0.5"): re.compile(r"(?<!first )(?<!second )\bhalf (?:of|the|all)\b", re.IGNORECASE),
    Decimal("0.25"): re.compile(r"\b(?:a|one) quarter of\b", re.IGNORECASE),
    Decimal("0.75"): re.compile(r"\bthree[ -]quarters of\b", re.IGNORECASE),
}
"""Parts of a whole that a text may tell in words. The second quarter of a year is none of them."""


def _shown(value: Fraction) -> str:
    rounded = Decimal(f"{float(value):.6g}")
    return f"{rounded:,f}" if abs(rounded) >= 1_000 else f"{rounded:f}"


def _unsourced(
    computed: Computed, text: str, as_of: str, free: AbstractSet[Decimal], *, exactly: bool
) -> list[str]:
    """Return the numbers and days of an expression that no quote has, but for free ones.

    A quote may have them in another form, unless they must stand there `exactly`.
    """
    years = {day.year for day in (*dates(text), *dates(as_of))}
    known = set(numbers(text)) | {Decimal(year) for year in years if year}
    known |= {
        value.scaleb(_SCALES[letter.lower()])
        for found, letter in _SCALED.findall(text)
        for value in numbers(found)
    }
    known |= {value for value, told in _PARTS.items() if told.search(text)}
    if not exactly:
        known |= _in_other_forms(known, set(numbers(text)))
    known |= free
    lost = [f"{value:f}" for value in computed.numbers if value not in known]
    days = {_day(item) for item in (*_days(text), *_days(as_of))}
    return [*lost, *(day.isoformat() for day in computed.dates if day not in days)]


def _in_other_forms(known: AbstractSet[Decimal], said: AbstractSet[Decimal]) -> set[Decimal]:
    """Return the forms that numbers of quotes may have in an expression."""
    # A share may be written 0.15 or 15 %.
    forms = {value / 100 for value in known} | {value * 100 for value in known}
    # What is left of a whole: 0.4 beside 0.6, 40 beside 60 %. What grows by a share: 1.15 by 15 %.
    forms |= {1 - value for value in said if value < 1} | {100 - value for value in said}
    return forms | {1 + value / 100 for value in said} | {1 - value / 100 for value in said}


def _days(text: str) -> Sequence[str]:
    return [day.iso() for day in dates(text)]


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _spelled(text: str, values: Mapping[str, Fraction]) -> str:
    """Return an expression with the values of its names."""
    return re.sub(
        r"\bC\d+\b", lambda name: _shown(values[name[0]]) if name[0] in values else name[0], text
    )
