"""Answers questions from tables: a row answers with its header, a calculation names its cells.

    How many hectares in total do the farms of A. Bream lose?
    sum(4.4, 1.9) = 6.3, from the cells "Hectares" of the rows North Lea and South Lea

Where two columns or two tables fit equally well, there is no answer but the reason why.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction

from deepdiver.core.arithmetic import LONGEST, ArithmeticFaultError, compute
from deepdiver.encoders.embed import load_embedder
from deepdiver.reason.embedded.language.answer_kind import AnswerKind
from deepdiver.reason.embedded.language.form import AskedQuestion, Form
from deepdiver.reason.embedded.table_conditions import Condition, Named
from deepdiver.reason.embedded.table_rows import (
    Quantity,
    Row,
    Table,
    is_total,
    quantity_in,
    word_stems,
)

COVERED = 0.5
"""The share of a question's words that a table must explain: by its title, columns and cells."""
SIMILAR = 0.45
"""The cosine from which on a column may be meant by a word that its name has not."""
APART = 0.08
"""By how much the cosine of the meant column must exceed that of the next."""
MOST_NAMED = 6
"""Rows that a sentence names; of more it gives the number."""
FORMS = frozenset(
    {
        Form.LOOK_UP,
        Form.LIST,
        Form.CALCULATION,
        Form.COMPARISON,
        Form.YES_NO,
        Form.DEFINITION,
    }
)
"""The forms of questions that cells answer."""


class Operation(StrEnum):
    """What is done with the cells."""

    LOOK_UP = "look-up"
    SUM = "sum"
    MEAN = "mean"
    MINIMUM = "min"
    MAXIMUM = "max"
    EARLIEST = "earliest"
    LATEST = "latest"
    TOP = "top"
    COUNT = "count"
    DISTINCT = "distinct"
    DIFFERENCE = "difference"
    DAYS = "days"
    YEARS = "years"


@dataclass(frozen=True, slots=True)
class TableAnswer:
    """What a table answers."""

    operation: Operation
    """What was done."""
    text: str
    """The answer as a sentence that names its cells."""
    result: str
    """The value alone; several are joined by semicolons."""
    expression: str
    """The calculation for `core.arithmetic`, of numbers and dates as the rows have them; empty if
    the value stands in a cell."""
    table: Table
    """The table."""
    rows: tuple[Row, ...]
    """The rows that carry it, to be cited."""
    columns: tuple[str, ...]
    """The columns of its cells."""
    coverage: float = 0.0
    """The share of the question's words that the table explains."""


@dataclass(frozen=True, slots=True)
class TableRefusal:
    """Why a table that bears on a question does not answer it."""

    reason: str
    """What fits equally well, or does not fit together."""
    table: Table
    """The table."""
    coverage: float
    """The share of the question's words that the table explains."""


class UnfitError(Exception):
    """A table does not answer; the message says why, or is empty if there is nothing to say."""


def answer_from_tables(
    asked: AskedQuestion, tables: Sequence[Table]
) -> TableAnswer | TableRefusal | None:
    """Answer a question from the table that explains most of its words.

    Args:
        asked: The question.
        tables: The tables of the documents that were found (`table_rows.read_tables`).

    Returns:
        The answer; the reason why there is none, if a table bears on the question; None if none
        does.
    """
    found = [one for table in tables if (one := answer_from(asked, table)) is not None]
    if not found:
        return None
    most = max(one.coverage for one in found)
    best = [one for one in found if one.coverage == most]
    answers = [one for one in best if isinstance(one, TableAnswer)]
    if not answers:
        return best[0]
    if len({answer.result for answer in answers}) > 1:
        listed = "; ".join(dict.fromkeys(answer.text.rstrip(".") for answer in answers))
        return TableRefusal(f"several tables fit equally well: {listed}", answers[0].table, most)
    return answers[0]


def answer_from(asked: AskedQuestion, table: Table) -> TableAnswer | TableRefusal | None:
    """Answer a question from one table; None if the table does not bear on it."""
    if asked.form not in FORMS or not table.rows:
        return None
    named = Named(asked.matter, table)
    coverage = named.coverage()
    if coverage < COVERED or not (named.conditions or named.columns):
        return None
    try:
        return replace(_Worksheet(asked, named).answer(), coverage=coverage)
    except UnfitError as error:
        return TableRefusal(str(error), table, coverage) if str(error) else None


_COUNTS = "two three four five six seven eight nine ten"
_COUNTED = {word: count for count, word in enumerate(_COUNTS.split(), 2)}
_SOME = rf"(?:\d{{1,2}}|{'|'.join(_COUNTED)})"
_LOW = r"lowest|smallest|least|fewest|minimum|min|shortest|cheapest|worst|lightest|lower|smaller"
_HIGH = (
    r"highest|largest|biggest|greatest|maximum|max|most|longest|tallest|best|peak|heaviest|dearest"
)
_TOP = re.compile(
    rf"\btop (?P<count>{_SOME})\b|\b(?P<also>{_SOME}) (?:{_HIGH}|{_LOW}|most expensive)\b",
    re.IGNORECASE,
)
_CUES: tuple[tuple[Operation, re.Pattern[str]], ...] = tuple(
    (operation, re.compile(pattern, re.IGNORECASE))
    for operation, pattern in (
        (Operation.DISTINCT, r"\b(?:how many|number of) (?:different|distinct|unique)\b"),
        (Operation.MEAN, r"\baverage\b|\bmean(?= [a-z])(?! by| that)"),
        (
            Operation.DIFFERENCE,
            r"\bdifference\b|\bby how much\b|\bhow (?:much|many) (?:\w+ )?(?:more|less|fewer|higher"
            r"|lower|larger|smaller|bigger|longer|shorter|cheaper|older|greater)\b(?! than \d)",
        ),
        (Operation.TOP, _TOP.pattern),
        (Operation.LATEST, r"\b(?:latest|last|newest|most recent|youngest)\b"),
        (Operation.EARLIEST, r"\b(?:earliest|first|oldest)\b"),
        (Operation.MAXIMUM, rf"\b(?:{_HIGH})\b"),
        (Operation.MINIMUM, rf"\b(?:{_LOW})\b(?! than)(?!.* or )"),
        (Operation.SUM, r"\b(?:total|sum|altogether|together|combined|in all|overall)\b"),
    )
)
"""The words that say what to do with cells, the surest first."""
_DAYS_IN = {"week": 7}


def operation_of(text: str) -> Operation:
    """Return what a question says is to be done with cells; a look-up if it says nothing."""
    return next((operation for operation, cue in _CUES if cue.search(text)), Operation.LOOK_UP)


class _Worksheet:
    """One table, with what one question names in it."""

    def __init__(self, asked: AskedQuestion, named: Named) -> None:
        self.asked, self.named, self.table = asked, named, named.table
        period = named.period  # "the first quarter" asks for no minimum
        self.text = named.text[: period.start] + named.text[period.end :] if period else named.text
        self.operation = operation_of(self.text)

    def answer(self) -> TableAnswer:
        """Return the answer.

        Raises:
            UnfitError: If something fits equally well, or nothing does.
        """
        rows = self._rows()
        if self.asked.kind in {AnswerKind.DURATION, AnswerKind.AGE} and (made := self._span(rows)):
            return made
        match self.operation:
            case Operation.DIFFERENCE:
                return self._difference(rows)
            case Operation.DISTINCT:
                return self._distinct(rows)
            case Operation.MAXIMUM | Operation.MINIMUM | Operation.TOP:
                return self._extreme(rows)
            case Operation.EARLIEST | Operation.LATEST if made := self._outermost(rows):
                return made
            case Operation.MEAN:
                return self._mean(rows)
        return self._told(rows)

    def _told(self, rows: Sequence[int]) -> TableAnswer:
        """Return a sum, a count or a look-up, as what is asked for is in cells, rows or neither."""
        targets = self._targets()
        how_much = re.search(r"\bhow (?:much|many)\b", self.text, re.IGNORECASE)
        if targets and (self.operation is Operation.SUM or (len(rows) > 1 and how_much)):
            return self._sum(rows, targets)
        if self.asked.kind is AnswerKind.COUNT and not targets:
            return self._count(rows)
        return self._look_up(rows)

    # -- rows and columns

    def _rows(self) -> list[int]:
        """Return the rows that meet every condition; those that sum up others are left out.

        Conditions on the same column are alternatives: "in Hall A and Hall B".
        """
        self._refuse_rivals()
        rows = {number for number, row in enumerate(self.table.rows) if not is_total(row)}
        by_column: dict[int, set[int]] = {}
        for one in self.named.conditions:
            by_column.setdefault(one.column, set()).update(one.rows)
        for held in by_column.values():
            rows &= held
        if not rows:
            raise UnfitError
        return sorted(rows)

    def _refuse_rivals(self) -> None:
        """Refuse where the same words are conditions on two columns, with different rows."""
        conditions = self.named.conditions
        rivals = (
            (one, other)
            for i, one in enumerate(conditions)
            for other in conditions[i + 1 :]
            if _are_rivals(one, other)
        )
        for one, other in rivals:
            raise UnfitError(f"{one.text} and {other.text} fit equally well")

    def _targets(self) -> list[int]:
        """Return the numeric columns that the question asks for."""
        free = [at for at in self.named.free_columns() if at in self.named.numeric]
        if not free:
            others = [at for at in self.named.numeric if at not in self.named.conditioned]
            return self._meant(others)
        return self._most_said(free)

    def _meant(self, columns: Sequence[int]) -> list[int]:
        """Return the column whose name is most like a word of the question, if one stands out."""
        words = list(dict.fromkeys(filter(None, (self.asked.noun, *self.named.unexplained()))))
        if not columns or not words:
            return []
        names = [self.table.columns[at].replace("_", " ") for at in columns]
        vectors = load_embedder().embed([*words, *names])
        likeness = (vectors[: len(words)] @ vectors[len(words) :].T).max(axis=0)
        ranked = sorted(zip(map(float, likeness), columns, strict=True), reverse=True)
        next_best = ranked[1][0] if len(ranked) > 1 else 0.0
        stands_out = ranked[0][0] >= SIMILAR and ranked[0][0] - next_best >= APART
        return [ranked[0][1]] if stands_out else []

    def _one(self, columns: Sequence[int]) -> int:
        if not columns:
            raise UnfitError
        if len(columns) > 1:
            names = ", ".join(self.table.columns[at] for at in columns)
            raise UnfitError(f"the columns {names} fit equally well")
        return columns[0]

    def _numbers(self, rows: Sequence[int], columns: Sequence[int]) -> list[tuple[int, Quantity]]:
        """Return the numbers of some columns, with their rows.

        Raises:
            UnfitError: If there are none, or their units differ.
        """
        listed = [
            (number, held)
            for at in columns
            for number in rows
            if (held := quantity_in(self._cell(number, at))) is not None
        ]
        if not listed:
            raise UnfitError
        if len({held.unit.lower() for _, held in listed}) > 1:
            names = " and ".join(self.table.columns[at] for at in columns)
            raise UnfitError(f"the cells of {names} have different units")
        return listed

    # -- calculations

    def _sum(self, rows: Sequence[int], targets: Sequence[int]) -> TableAnswer:
        if self.operation is not Operation.SUM or not self._told_apart(targets):
            self._one(targets)
        held = self._numbers(rows, targets)
        if len(held) == 1:
            return self._look_up(rows)
        expression = _call("sum", [quantity.value for _, quantity in held])
        return self._made(Operation.SUM, expression, rows, targets, held[0][1].unit)

    def _told_apart(self, columns: Sequence[int]) -> bool:
        """Return whether the question has a word for each column that the others lack."""
        said = [self.named.said_of(at) for at in columns]
        return all(one - set().union(*said[:i], *said[i + 1 :]) for i, one in enumerate(said))

    def _mean(self, rows: Sequence[int]) -> TableAnswer:
        at = self._one(self._targets())
        held = self._numbers(rows, [at])
        expression = _call("mean", [quantity.value for _, quantity in held])
        return self._made(Operation.MEAN, expression, [n for n, _ in held], [at], held[0][1].unit)

    def _count(self, rows: Sequence[int]) -> TableAnswer:
        """Count rows: what is counted must be what the table lists."""
        noun = word_stems(self.asked.noun)[-1:]
        listed = {part for name in self.table.columns[:2] for part in word_stems(name)}
        listed |= set(word_stems(self.table.title))
        if not self.named.conditions or not noun or noun[0] not in listed:
            raise UnfitError
        return self._made(Operation.COUNT, _call("count", [Decimal(1)] * len(rows)), rows, [0])

    def _distinct(self, rows: Sequence[int]) -> TableAnswer:
        at = self._one(self.named.free_columns())
        seen: dict[str, int] = {}
        for number in rows:
            if cell := self._cell(number, at):
                seen.setdefault(cell.casefold(), number)
        expression = _call("count", [Decimal(1)] * len(seen))
        return self._made(Operation.DISTINCT, expression, list(seen.values()), [at])

    def _difference(self, rows: Sequence[int]) -> TableAnswer:
        """Return the difference between two rows of one column, or two columns of one row."""
        targets = self._targets()
        if (len(rows), len(targets)) not in {(2, 1), (1, 2)}:
            raise UnfitError("it is not clear which two cells are to be compared")
        held = self._numbers(rows, targets)
        if len(held) != 2:
            raise UnfitError("one of the two cells has no number")
        values = sorted((quantity.value for _, quantity in held), reverse=True)
        expression = f"{values[0]:f} - {values[1]:f}"
        return self._made(Operation.DIFFERENCE, expression, rows, targets, held[0][1].unit)

    def _span(self, rows: Sequence[int]) -> TableAnswer | None:
        """Return the time between two dates of one row, or the dates of two rows."""
        columns = self._span_columns(rows)
        if (len(rows), len(columns)) not in {(1, 2), (2, 1)}:
            return None
        days = [day for at in columns for number in rows if (day := self._day(number, at))]
        if len(days) != 2:
            raise UnfitError("one of the two dates is missing")
        years = self.asked.kind is AnswerKind.AGE or self.asked.unit.startswith("year")
        operation, unit = (Operation.YEARS, "years") if years else (Operation.DAYS, "days")
        expression = f"{operation}({min(days).isoformat()}, {max(days).isoformat()})"
        if divisor := _DAYS_IN.get(self.asked.unit.removesuffix("s")):
            expression, unit = f"{expression} / {divisor}", self.asked.unit
        return self._made(operation, expression, rows, columns, unit)

    def _span_columns(self, rows: Sequence[int]) -> list[int]:
        """Return the date columns that are named, or all; in one row there must be two."""
        columns = self._date_columns()
        if len(rows) > 1:
            return columns
        if len(columns) < 2:
            columns = list(self.named.days)
        if len(columns) > 2:
            names = ", ".join(self.table.columns[at] for at in columns)
            raise UnfitError(f"the dates {names} fit equally well")
        return columns

    def _date_columns(self) -> list[int]:
        named = [at for at in self.named.days if at in self.named.columns]
        return named or list(self.named.days)

    def _day(self, number: int, at: int) -> date | None:
        held = self.named.days[at][number]
        return held.exact() if held else None

    # -- the most and the least

    def _extreme(self, rows: Sequence[int]) -> TableAnswer:
        at = self._one(self._targets())
        held = self._numbers(rows, [at])
        largest = not re.search(rf"\b(?:{_LOW})\b", self.text, re.IGNORECASE)
        ranked = sorted(held, key=lambda item: -item[1].value if largest else item[1].value)
        best = [number for number, _ in ranked[: self._wanted(ranked)]]
        name = self.table.columns[at]
        listed = [f"{self._label(number)} ({name}: {self._cell(number, at)})" for number in best]
        expression = _call("max" if largest else "min", [quantity.value for _, quantity in held])
        shown = self.operation is not Operation.TOP and len(expression) <= LONGEST
        return TableAnswer(
            self.operation,
            f"{'Highest' if largest else 'Lowest'} {name}: {'; '.join(listed)}.",
            "; ".join(listed),
            expression if shown else "",
            self.table,
            tuple(
                self.table.rows[number] for number, _ in (held if shown else ranked[: len(best)])
            ),
            (name,),
        )

    def _wanted(self, ranked: Sequence[tuple[int, Quantity]]) -> int:
        """Return how many of the ranked rows are asked for; all that share the first place are."""
        found = _TOP.search(self.text)
        told = (found["count"] or found["also"]).lower() if found else "1"
        wanted = max(1, _COUNTED.get(told) or int(told))
        if wanted >= len(ranked):
            return len(ranked)
        edge = ranked[wanted - 1][1].value
        ties = [number for number, quantity in ranked if quantity.value == edge]
        if ranked[wanted][1].value != edge:
            return wanted
        if wanted > 1 or len(ties) > MOST_NAMED:
            raise UnfitError(f"{len(ties)} rows have the same value, {edge}")
        return len(ties)

    def _outermost(self, rows: Sequence[int]) -> TableAnswer | None:
        """Return the row with the first or last date; None if the table has no dates."""
        if not self.named.days:
            return None
        at = self._one(self._date_columns())
        held = [(day, number) for number in rows if (day := self.named.days[at][number])]
        if not held:
            raise UnfitError
        edge = (max if self.operation is Operation.LATEST else min)(held)[0]
        found = [number for day, number in held if day == edge]
        return self._cells_of(found, at) if len(rows) > len(found) else self._look_up(found)

    # -- look-ups

    def _look_up(self, rows: Sequence[int]) -> TableAnswer:
        """Return a cell of the row that is meant, or of few; whole rows if no column is."""
        period = self.named.period
        undated = period and not self.named.days and self.named.unexplained_names()
        if not self.named.conditions or undated:
            raise UnfitError
        if len(rows) > MOST_NAMED and not self.asked.several:
            raise UnfitError(f"{len(rows)} rows fit equally well")
        at = self._asked_column()
        if self.asked.form is Form.COMPARISON and at not in self.named.numeric:
            raise UnfitError  # what is compared is not among the columns
        if at is None:
            return self._whole_rows(rows)
        held = [number for number in rows if self._cell(number, at)]
        if not held:
            raise UnfitError(f"{self.table.columns[at]} is empty")
        return self._cells_of(held, at)

    def _asked_column(self) -> int | None:
        """Return the column that the question asks for: named, or of the kind that it wants."""
        if free := self.named.free_columns():
            best = self._most_said(free)
            return best[0] if len(best) == 1 else None
        columns = [at for at in range(len(self.table.columns)) if at not in self.named.conditioned]
        if self.asked.kind is AnswerKind.DATE:
            columns = [at for at in columns if at in self.named.days]
        elif self.asked.kind in _NUMBERS:
            columns = [at for at in columns if at in self.named.numeric]
        return columns[0] if len(columns) == 1 else next(iter(self._meant(columns)), None)

    def _most_said(self, columns: Sequence[int]) -> list[int]:
        """Return the columns of whose names the question says most."""
        most = max(map(self.named.share_said, columns))
        return [at for at in columns if self.named.share_said(at) == most]

    def _cells_of(self, rows: Sequence[int], at: int) -> TableAnswer:
        name = self.table.columns[at]
        listed = [self._named_cell(number, at) for number in rows]
        cells = dict.fromkeys(self._cell(number, at) for number in rows)
        return TableAnswer(
            self.operation if self.operation in _EDGES else Operation.LOOK_UP,
            f"{'; '.join(listed)}.",
            "; ".join(cells),
            "",
            self.table,
            tuple(self.table.rows[number] for number in rows),
            (name,),
        )

    def _whole_rows(self, rows: Sequence[int]) -> TableAnswer:
        shown = [self.table.rows[number] for number in rows[: 2 * MOST_NAMED]]
        listed = ["; ".join(self._pairs(row)) for row in shown]
        return TableAnswer(
            Operation.LOOK_UP,
            f"{'. '.join(listed)}.",
            " | ".join(listed),
            "",
            self.table,
            tuple(shown),
            self.table.columns,
        )

    def _pairs(self, row: Row) -> Iterable[str]:
        pairs = zip(self.table.columns, row.cells, strict=True)
        return (f"{name}: {cell}" for name, cell in pairs if cell)

    # -- saying it

    def _cell(self, number: int, at: int) -> str:
        return self.table.rows[number].cells[at]

    def _named_cell(self, number: int, at: int) -> str:
        name, label, cell = self.table.columns[at], self._label(number), self._cell(number, at)
        return f"{name}: {cell}" if label == cell else f"{name}, {label}: {cell}"

    def _label(self, number: int) -> str:
        """Return what a row is called: its first cell, and what the question tells it apart by."""
        cells = self.table.rows[number].cells
        first = next((cell for cell in cells if cell and quantity_in(cell) is None), cells[0])
        if cells[0] and 0 in self.named.conditioned and 0 not in self.named.days:
            first = cells[0]
        by_column: dict[int, list[Condition]] = {}
        for one in self.named.conditions:
            by_column.setdefault(one.column, []).append(one)
        apart = [
            at
            for at, held in by_column.items()
            if cells[at] != first
            and (len(held) > 1 or (at in self.named.days and cells[at].isdigit()))
        ]
        return ", ".join([first, *(f"{self.table.columns[at]} {cells[at]}" for at in apart)])

    def _made(
        self,
        operation: Operation,
        expression: str,
        rows: Sequence[int],
        columns: Sequence[int],
        unit: str = "",
    ) -> TableAnswer:
        """Return a calculation, computed as the report will compute it again.

        Raises:
            UnfitError: If it is too long to be shown, or has no value.
        """
        if lost := self.named.unexplained_names():
            raise UnfitError(f"the table does not say what belongs to {', '.join(lost)}")
        try:
            value = compute(expression).value
        except ArithmeticFaultError as error:
            raise UnfitError(f"{len(rows)} rows fit, but {error}") from None
        names = [self.table.columns[at] for at in columns]
        labels = [self._label(number) for number in rows]
        of = ", ".join(labels) if len(labels) <= MOST_NAMED else f"{len(labels)} rows"
        result = f"{unit}{_shown(value)}" if unit in _CURRENCIES else f"{_shown(value)} {unit}"
        what = "Rows" if operation is Operation.COUNT else " and ".join(names)
        return TableAnswer(
            operation,
            f"{what} ({of}): {expression} = {result.strip()}.",
            result.strip(),
            expression,
            self.table,
            tuple(self.table.rows[number] for number in rows),
            tuple(names),
        )


_NUMBERS = frozenset({AnswerKind.AMOUNT, AnswerKind.COUNT, AnswerKind.SHARE})
_EDGES = frozenset({Operation.EARLIEST, Operation.LATEST})
_CURRENCIES = frozenset("£$€")


def _are_rivals(one: Condition, other: Condition) -> bool:
    return one.column != other.column and one.words == other.words and one.rows != other.rows


def _call(name: str, values: Sequence[Decimal]) -> str:
    return f"{name}({', '.join(f'{value:f}' for value in values)})"


def _shown(value: Fraction) -> str:
    """Return a value as people write it: whole, or rounded to two places."""
    if value.denominator == 1:
        return f"{value.numerator:,}"
    return f"{float(value):,.2f}".rstrip("0").rstrip(".")
