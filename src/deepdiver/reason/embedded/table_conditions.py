"""What a question names in a table: columns by their names, rows by their values and dates.

How many wards had more than 15 volumetric pumps in March 2023?
columns   Ward, Volumetric
rows      Volumetric more than 15; Checked on March 2023
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from deepdiver.core.dates import Day, dated
from deepdiver.core.text import STOPWORDS
from deepdiver.reason.embedded.table_rows import (
    Table,
    days_of_rows,
    is_total,
    numeric_columns,
    quantity_in,
    word_stem,
    word_stems,
)

SHORT = 3
"""Characters of a cell below which only a code, such as P1, is meant without its column's name."""

_WORD = re.compile(r"[^\W_]+(?:['’.\-][^\W_]+)*|[%€$£]")
_BOUND = re.compile(
    r"\b(?P<sign>more than|over|above|greater than|higher than|longer than|larger than"
    r"|exceed(?:s|ed|ing)?|at least|less than|under|below|fewer than|lower than|shorter than"
    r"|smaller than|at most|up to)\s+(?:[£$€]\s?)?(?P<value>\d[\d,.]*\d|\d)",
    re.IGNORECASE,
)
_MORE = ("more", "over", "above", "greater", "higher", "longer", "larger", "exceed")
_QUARTER = re.compile(
    r"\b(?:(?P<word>first|second|third|fourth|last)\s+quarter|Q(?P<number>[1-4]))(?:\s+of)?\s+"
    r"(?P<year>\d{4})\b|\b(?P<before>\d{4})[ -]?Q(?P<behind>[1-4])\b",
    re.IGNORECASE,
)
_HALF = re.compile(
    r"\b(?:(?P<word>first|second)\s+half(?:-year)?|H(?P<number>[12]))(?:\s+of)?\s+(?P<year>\d{4})\b",
    re.IGNORECASE,
)
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "last": 4}
_YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d\b")
_JOINT = re.compile(r"\s*(?:and|to|until|till|–|-)\s*(?:the end of\s*)?")
_SIDE = re.compile(r"\b(before|after|since|until|till|by)\s+(?:the\s+)?$", re.IGNORECASE)
_TRUTHS = {"yes": True, "y": True, "true": True, "no": False, "n": False, "false": False}
_DENIALS = frozenset(
    "not no never without isn't aren't wasn't weren't don't doesn't didn't".split()
)
_OPEN = frozenset(
    "open pending outstanding unresolved unfinished ongoing unpaid unsettled incomplete".split()
)
_ENDS = frozenset(
    map(
        word_stem,
        "closed close end ended finished resolved completed settled returned paid done".split(),
    )
)
_ASKS = frozenset(
    "who whom whose what which when where why how many much total sum altogether together combined "
    "overall average mean difference highest lowest largest smallest biggest most least maximum "
    "minimum top number give tell list show compare please different distinct does did do is are "
    "was were has have had us days weeks months years hours old long still all every each "
    "or".split()
)
"""Words that say what to do with cells, and need not be explained by the table."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on the rows, as the question states it."""

    column: int
    """The column."""
    text: str
    """The condition in words: "Owner A. Bream"."""
    rows: frozenset[int]
    """The rows that meet it."""
    words: frozenset[int]
    """The places of the question's words that state it."""
    exact: bool = False
    """Whether the question has the whole cell."""


@dataclass(frozen=True, slots=True)
class Period:
    """The time that a question speaks of."""

    first: Day
    """Its first day."""
    last: Day
    """Its last day."""
    start: int
    """Where the question names it."""
    end: int
    """Where that ends."""

    def has(self, day: Day) -> bool:
        """Return whether a date is within it, as far as both are precise."""
        if self.first == self.last and not self.first.year:  # "23 December": of any year
            return (day.month, day.day) == (self.first.month, self.first.day)
        low = (self.first.year, self.first.month or 1, self.first.day or 1)
        high = (self.last.year, self.last.month or 12, self.last.day or 31)
        begin = (day.year, day.month or 1, day.day or 1)
        end = (day.year, day.month or 12, day.day or 31)
        return low <= begin and end <= high


class Named:
    """What a question names in a table."""

    def __init__(self, question: str, table: Table) -> None:
        """Compare a question with a table.

        Args:
            question: The question alone, with its background.
            table: The table.
        """
        self.text, self.table = question, table
        self.matches = list(_WORD.finditer(question))
        self.stems = [word_stem(match[0]) for match in self.matches]
        self.numeric = numeric_columns(table)
        self.days = days_of_rows(table)
        self.period = period_of(question)
        self.columns = self._columns()
        self.conditions = self._without_weaker(
            [
                *self._by_value(),
                *self._by_bound(),
                *self._by_period(),
                *self._by_truth(),
                *self._by_end(),
            ]
        )

    @property
    def told(self) -> frozenset[int]:
        """The places of the words that state conditions."""
        return frozenset(i for one in self.conditions for i in one.words)

    @property
    def conditioned(self) -> frozenset[int]:
        """The columns that have a condition."""
        return frozenset(one.column for one in self.conditions)

    def free_columns(self) -> list[int]:
        """Return the columns that the question names for their own sake, not for a condition."""
        told = self.told
        return [
            at
            for at, places in self.columns.items()
            if at not in self.conditioned and not places <= told
        ]

    def share_said(self, at: int) -> float:
        """Return how much of a column's name the question says."""
        return len(self.said_of(at)) / len(set(word_stems(self.table.columns[at])))

    def unexplained(self) -> list[str]:
        """Return the words of the question that nothing in the table explains."""
        explained = self._explained()
        return [self.matches[i][0] for i in self._asked() if i not in explained]

    def unexplained_names(self) -> list[str]:
        """Return the names and numbers of the question that nothing in the table explains."""
        opening = self.matches[0].start() if self.matches else 0
        explained = self._explained()
        words = [match for i, match in enumerate(self.matches) if i not in explained]
        return [
            match[0]
            for match in words
            if any(map(str.isdigit, match[0]))
            or (match.start() > opening and match[0][0].isupper() and match[0] != "I")
        ]

    def coverage(self) -> float:
        """Return the share of the question's words that the table explains."""
        asked = self._asked()
        return len(self._explained() & set(asked)) / len(asked) if asked else 0.0

    def _asked(self) -> list[int]:
        return [
            i for i, match in enumerate(self.matches) if match[0].lower() not in _ASKS | STOPWORDS
        ]

    def _explained(self) -> set[int]:
        title = set(word_stems(self.table.title))
        explained = {i for i, word in enumerate(self.stems) if word in title}
        return explained.union(self.told, *self.columns.values())

    def _columns(self) -> dict[int, frozenset[int]]:
        """Return the columns that the question names, with the places of the words that do."""
        found = {}
        for at, name in enumerate(self.table.columns):
            parts = {part for part in word_stems(name) if part not in STOPWORDS and len(part) > 1}
            places = [i for i, word in enumerate(self.stems) if _names(word, parts)]
            said = {part for i in places for part in _names(self.stems[i], parts)}
            if said and 2 * len(said) >= len([part for part in parts if not part.isdigit()]):
                found[at] = frozenset(places)
        return found

    def said_of(self, at: int) -> set[str]:
        """Return the words of a column's name that the question says."""
        parts = set(word_stems(self.table.columns[at]))
        return {part for i in self.columns.get(at, ()) for part in _names(self.stems[i], parts)}

    # -- conditions

    def _without_weaker(self, found: Sequence[Condition]) -> list[Condition]:
        """Leave out conditions whose words say more, or surer, as a condition on another column."""
        return [
            one
            for one in found
            if not any(other.column != one.column and self._beats(other, one) for other in found)
        ]

    def _beats(self, other: Condition, one: Condition) -> bool:
        if one.words == other.words and other.exact == one.exact:
            return self._follows_name(other) and not self._follows_name(one)
        return one.words < other.words or (
            one.words <= other.words and other.exact and not one.exact
        )

    def _follows_name(self, one: Condition) -> bool:
        """Return whether the name of its column stands just before a condition: from Oslo."""
        name = word_stems(self.table.columns[one.column])
        start = min(one.words)
        return bool(name) and self.stems[max(0, start - len(name)) : start] == name

    def _by_value(self) -> Iterable[Condition]:
        """Yield a condition for each cell of which the question has the whole or a telling part."""
        for at in range(len(self.table.columns)):
            if at not in self.days:
                yield from self._matched_cells(at)

    def _matched_cells(self, at: int) -> Iterable[Condition]:
        runs: dict[tuple[int, int], bool] = {}
        cells = {cell for row in self.table.rows if not is_total(row) and (cell := row.cells[at])}
        for cell in sorted(cells):
            words = _cell_stems(cell)
            for start, length in _runs(words, self.stems):
                whole = length == len(words)
                if self._tells(at, cell, start, length, whole=whole):
                    runs[start, length] = runs.get((start, length), False) or whole
        for start, length in _longest_only(runs):
            exact = runs[start, length]
            said = self.text[self.matches[start].start() : self.matches[start + length - 1].end()]
            yield Condition(
                at,
                f"{self.table.columns[at]} {said}",
                frozenset(self._holding(at, self.stems[start : start + length], exact=exact)),
                frozenset(range(start, start + length)),
                exact,
            )

    def _holding(self, at: int, wanted: Sequence[str], *, exact: bool) -> Iterable[int]:
        """Yield the rows whose cell has some words; if any cell is just those, only such rows."""
        for number, cell in enumerate(self.table.column(at)):
            words = _cell_stems(cell)
            if words == wanted or (not exact and _contains(words, wanted)):
                yield number

    def _tells(self, at: int, cell: str, start: int, length: int, *, whole: bool) -> bool:
        """Return whether words of the question that a cell has too are meant as that cell.

        A number, or a word such as "on", is meant only beside the name of its column. A part of a
        cell is meant if it has two words, or is unlike common words: a name or a code.
        """
        raw = [match[0] for match in self.matches[start : start + length]]
        content = [word for word in raw if word.lower() not in STOPWORDS and len(word) > 1]
        code = any(_is_code(word) for word in raw)
        if not content or quantity_in(cell) is not None or (len(cell) < SHORT and not code):
            return whole and self._beside_name(at, start, start + length)
        name = all(word[:1].isupper() for word in raw) and start > 0
        return whole or len(content) > 1 or code or name

    def _beside_name(self, at: int, start: int, end: int) -> bool:
        """Return whether a value stands beside its column's name, and no nearer to another's."""
        own = self._way(at, start, end)
        ways = [self._way(other, start, end) for other in self.columns if other != at]
        return own is not None and not any(way is not None and way < own for way in ways)

    def _way(self, at: int, start: int, end: int) -> int | None:
        """Return how many small words and numbers part words from a name; None if others do."""
        gaps = (
            range(end, place) if place >= end else range(place + 1, start)
            for place in self.columns.get(at, ())
        )
        return min((len(gap) for gap in gaps if all(map(self._is_small, gap))), default=None)

    def _is_small(self, i: int) -> bool:
        word = self.matches[i][0].lower()
        return word in STOPWORDS or word.isdigit()

    def _by_bound(self) -> Iterable[Condition]:
        """Yield "more than 5" and the like, on the numeric column that they are about."""
        for match in _BOUND.finditer(self.text):
            limit = quantity_in(match["value"])
            at = self._bounded(match.start())
            if limit is None or at is None:
                continue
            rows = frozenset(
                number
                for number, row in enumerate(self.table.rows)
                if (held := quantity_in(row.cells[at])) is not None
                and is_within(held.value, match["sign"].lower(), limit.value)
                and not is_total(row)
            )
            words = self._places(match.start(), match.end())
            yield Condition(at, f"{self.table.columns[at]} {match[0]}", rows, words, exact=True)

    def _bounded(self, place: int) -> int | None:
        """Return the numeric column that a bound is on: the one that is named nearest to it."""
        named = [at for at in self.numeric if at in self.columns]
        if not named:
            return self.numeric[0] if len(self.numeric) == 1 else None
        return min(
            named,
            key=lambda at: min(abs(self.matches[i].start() - place) for i in self.columns[at]),
        )

    def _places(self, start: int, end: int) -> frozenset[int]:
        return frozenset(i for i, match in enumerate(self.matches) if start <= match.start() < end)

    def _by_period(self) -> list[Condition]:
        """Return the condition on each date column that the question's period may be about.

        A period that no row has excludes them all, unless the title says that all rows are of it.
        """
        if self.period is None or not self.days:
            return []
        words = self._places(self.period.start, self.period.end)
        named = [at for at in self.days if at in self.columns]
        found = [self._in_period(at, self.period, words) for at in named or self.days]
        if held := [one for one in found if one.rows]:
            return held
        title = {*word_stems(self.table.title), *STOPWORDS}
        return [] if all(self.stems[i] in title for i in words) else found

    def _in_period(self, at: int, period: Period, words: frozenset[int]) -> Condition:
        days = enumerate(self.days[at])
        rows = frozenset(number for number, day in days if day is not None and period.has(day))
        text = f"{self.table.columns[at]} {self.text[period.start : period.end]}"
        return Condition(at, text, rows, words, exact=True)

    def _by_truth(self) -> Iterable[Condition]:
        """Yield a condition on each column of yes and no that the question names."""
        for at, places in self.columns.items():
            cells = [cell.strip().lower() for cell in self.table.column(at)]
            if not any(cells) or any(cell and cell not in _TRUTHS for cell in cells):
                continue
            before = self.matches[max(0, min(places) - 4) : max(places) + 1]
            wanted = _DENIALS.isdisjoint(match[0].lower() for match in before)
            rows = frozenset(i for i, cell in enumerate(cells) if _TRUTHS.get(cell) is wanted)
            text = f"{self.table.columns[at]} {'yes' if wanted else 'no'}"
            yield Condition(at, text, rows, places, exact=True)

    def _by_end(self) -> Iterable[Condition]:
        """Yield "open": no date yet in the one column that tells the end."""
        places = [i for i, match in enumerate(self.matches) if match[0].lower() in _OPEN]
        ends = [at for at in self.days if not _ENDS.isdisjoint(word_stems(self.table.columns[at]))]
        rows = {i for at in ends for i, row in enumerate(self.table.rows) if not row.cells[at]}
        asks_span = re.search(r"\bhow (?:long|many (?:days|weeks|months|years))\b", self.text, re.I)
        if places and len(ends) == 1 and rows and not asks_span:
            text = f"{self.table.columns[ends[0]]} is empty"
            yield Condition(ends[0], text, frozenset(rows), frozenset(places), exact=True)


def is_within(value: Decimal, sign: str, limit: Decimal) -> bool:
    """Return whether a value keeps to a bound such as "at least"."""
    if sign == "at least":
        return value >= limit
    if sign in {"at most", "up to"}:
        return value <= limit
    return value > limit if sign.startswith(_MORE) else value < limit


def _names(word: str, parts: set[str]) -> set[str]:
    """Return the parts of a column's name that a word says: "temp" may stand for temperature."""
    said = {word, *word.split("-")}
    return {
        part
        for part in parts
        if part in said
        or (len(part) >= SHORT and len(word) >= len(part) + SHORT and word.startswith(part))
    }


def _cell_stems(cell: str) -> list[str]:
    return [word_stem(part) for part in _WORD.findall(cell)]


def _is_code(word: str) -> bool:
    return any(char.isdigit() for char in word) and any(not char.isdigit() for char in word)


def _runs(words: Sequence[str], asked: Sequence[str]) -> list[tuple[int, int]]:
    """Return the runs of a question's words that a cell has too, none inside another."""
    found = []
    for start in range(len(asked)):
        length = max(
            (_shared(words[first:], asked[start:]) for first in range(len(words))), default=0
        )
        if length:
            found.append((start, length))
    return _longest_only(found)


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many words two lists begin with together."""
    pairs = zip(one, other, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _contains(words: Sequence[str], wanted: Sequence[str]) -> bool:
    size = len(wanted)
    return any(list(words[at : at + size]) == list(wanted) for at in range(len(words) - size + 1))


def _longest_only(runs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the runs that are not inside a longer one."""
    listed = sorted(set(runs))
    return [
        (start, length)
        for start, length in listed
        if not any(
            more > length and other <= start and start + length <= other + more
            for other, more in listed
        )
    ]


# -- periods


def period_of(text: str) -> Period | None:
    """Return the time that a question names: a day, a month, a quarter, a year, before or after."""
    for pattern, months in ((_QUARTER, 3), (_HALF, 6)):
        if match := pattern.search(text):
            return _part_of_year(match, months)
    found = dated(text)
    years = [match for match in _YEAR.finditer(text) if not _inside(match.start(), found)]
    found += [(Day(int(match[0])), match.start(), match.end()) for match in years]
    found.sort(key=lambda item: item[1])
    if not found:
        return None
    (day, start, end), *others = found
    if others and _JOINT.fullmatch(text[end : others[0][1]]):
        return Period(day, others[0][0], start, others[0][2])
    side = _SIDE.search(text[:start])
    if side is None:
        return Period(day, day, start, end)
    match side[1].lower():
        case "before":
            return Period(Day(), _eve(day), side.start(), end)
        case "after":
            return Period(_morrow(day), Day(9999, 12, 31), side.start(), end)
        case "since":
            return Period(day, Day(9999, 12, 31), side.start(), end)
        case _:
            return Period(Day(), day, side.start(), end)


def _part_of_year(match: re.Match[str], months: int) -> Period:
    groups = match.groupdict()
    told = groups.get("number") or groups.get("behind")
    place = int(told) if told else _ORDINALS[groups["word"].lower()]
    year = int(groups.get("year") or groups["before"])
    first, last = Day(year, months * (place - 1) + 1), Day(year, months * place)
    return Period(first, last, match.start(), match.end())


def _inside(place: int, spans: Iterable[tuple[Day, int, int]]) -> bool:
    return any(start <= place < end for _, start, end in spans)


def _eve(day: Day) -> Day:
    """Return the last date before one: it need not exist, only sort before."""
    if day.day:
        return (
            Day(day.year, day.month, day.day - 1) if day.day > 1 else _eve(Day(day.year, day.month))
        )
    return Day(day.year, day.month - 1) if day.month > 1 else Day(day.year - 1)


def _morrow(day: Day) -> Day:
    """Return the first date after one: it need not exist, only sort behind."""
    if day.day:
        return Day(day.year, day.month, day.day + 1)
    return Day(day.year, day.month + 1) if day.month else Day(day.year + 1)
