"""The values in a sentence that could fill the open place of a clause, the likeliest first."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal

from deepdiver.core.dates import Day
from deepdiver.core.numbers import numbers
from deepdiver.reason.embedded.clause import VALUES, Clause, Kind
from deepdiver.reason.embedded.names import Name, bare, same_name, tokens
from deepdiver.reason.embedded.reading import Quantity, Reading, mention, persons, read_sentence
from deepdiver.reason.embedded.word_lists import (
    BOUNDS,
    DETERMINERS,
    GROUPS,
)
from deepdiver.reason.embedded.word_roots import MEANINGS, root

BACKWARDS = 3
"""The factor by which a value before the verb counts as farther away: "born in 1850 and died in
1899"."""


@dataclass(frozen=True, slots=True)
class Value:
    """A value that could fill the open place."""

    text: str
    """The value, as it stands in the sentence."""
    start: int
    """Where it stands."""
    fit: float
    """How well it fits the question, 0..1."""
    born: tuple[str, str] = ("", "")
    """For an age: the first and the last possible day of birth, in ISO form."""
    exact: bool = False
    """For an age: whether the sentence gives the day of birth."""


def values_for(clause: Clause, reading: Reading, holes: Sequence[str]) -> list[Value]:
    """Return the values for a clause's open place, given the names that its hole stands for."""
    find = _FINDERS.get(clause.kind)
    if find is None:
        return []
    found = [
        value
        for value in find(clause, reading, holes)
        if not _excluded(value, clause, reading, holes)
    ]
    return _nearest_first(clause, reading, found)


def _excluded(value: Value, clause: Clause, reading: Reading, holes: Iterable[str]) -> bool:
    """Return whether the clause itself names a value, or the sentence denies it."""
    if clause.kind in {Kind.PERSON, Kind.COMPANY, Kind.PLACE, Kind.THING}:
        taken = (*clause.names, *holes)
        return any(
            same_name(value.text, other) or bare(value.text) == bare(other) for other in taken
        )
    return any(_same_word(value.text, denied) for denied in reading.denied)


def _same_word(text: str, denied: str) -> bool:
    first = tokens(text)
    return bool(first) and first[0].text == denied.lower()


def _nearest_first(clause: Clause, reading: Reading, found: Sequence[Value]) -> list[Value]:
    """Order values by fit, then by distance to a key of the clause.

    A date or a number usually follows its verb.
    """
    spots = [word.start for word in reading.words if matches(word.root, clause.keys)]
    back = BACKWARDS if clause.kind in VALUES else 1

    def far(value: Value) -> int:
        apart = [value.start - spot for spot in spots]
        return min((gap if gap > 0 else -back * gap for gap in apart), default=0)

    return sorted(found, key=lambda value: (-value.fit, far(value), value.start))


def matches(found: str, wanted: Iterable[str]) -> bool:
    """Return whether a root is one of those wanted, or a synonym of one."""
    meanings = set(MEANINGS.get(found, ()))
    return any(found == item or not meanings.isdisjoint(MEANINGS.get(item, ())) for item in wanted)


# -- names


def _persons(clause: Clause, reading: Reading, _: Sequence[str]) -> list[Value]:
    found = [
        Value(name.text, name.start, 1.0 if name.kind == "person" else 0.8)
        for name in persons(reading)
    ]
    if found or clause.noun != "person":
        return found
    bodies = [name for name in reading.names if name.kind in {"company", "body"}]
    return [Value(name.text, name.start, 0.7) for name in bodies]


def _companies(clause: Clause, reading: Reading, _: Sequence[str]) -> list[Value]:
    fits = {"company": 1.0, "body": 0.5}
    found = [Value(n.text, n.start, fits[n.kind]) for n in reading.names if n.kind in fits]
    others = [
        n for n in reading.names if n.kind not in fits and reading.text[: n.start].endswith(" by ")
    ]
    return found or [Value(n.text, n.start, 0.4) for n in others]


def _places(clause: Clause, reading: Reading, _: Sequence[str]) -> list[Value]:
    fits = {"place": 1.0, "other": 0.4}
    return [Value(n.text, n.start, fits[n.kind]) for n in reading.names if n.kind in fits]


def _things(clause: Clause, reading: Reading, _: Sequence[str]) -> list[Value]:
    return [
        Value(name.text, name.start, fit)
        for name in reading.names
        if (fit := _as_thing(clause, reading, name)) > 0
    ]


def _as_thing(clause: Clause, reading: Reading, name: Name) -> float:
    """Return how well a name fits a noun.

    It contains the noun, follows it, or at least is not of another kind.
    """
    if any(root(word) == clause.noun for word in bare(name.text)):
        return 1.0
    before = [word for word in reading.words if word.end <= name.start]
    if before and before[-1].root == clause.noun:
        return 0.95
    # "the steamer Meridian"
    named = len(before) > 1 and before[-2].text in DETERMINERS and before[-1].raw[0].islower()
    if _DEMONYM.search(name.text) and re.match(r" [a-z]", reading.text[name.end :]) and not named:
        return 0.0  # "American wheat"
    after = [word for word in reading.words if word.start >= name.end][:4]
    if (
        any(word.root == clause.noun for word in after)
        and reading.text[name.end : name.end + 1] == ","
    ):
        return 0.9  # "Morden, a town in the south"
    if clause.noun in GROUPS:
        return 0.8
    return {"other": 0.7, "place": 0.5, "person": 0.3}.get(name.kind, 0.2)


_DEMONYM = re.compile(r"^\w+(?:an|ish|ese|ic)$")


# -- dates and times


def _dates(clause: Clause, reading: Reading, _: Sequence[str]) -> list[Value]:
    found = [
        Value(reading.text[s:e], s, 1.0 if day.day else 0.9)
        for day, s, e in reading.days
        if day.year
    ]
    if found:
        return found
    partial = [Value(reading.text[s:e], s, 0.8) for day, s, e in reading.days]
    return partial or [Value(text, start, 0.7) for text, start, _ in reading.times]


def _times(clause: Clause, reading: Reading, _: Sequence[str]) -> list[Value]:
    return [Value(text, start, 1.0) for text, start, _ in reading.times]


# -- amounts


def _amounts(clause: Clause, reading: Reading, _: Sequence[str]) -> list[Value]:
    """Return the quantities that fit the clause.

    If there are several years, only those of the year asked for.
    """
    found = []
    for item in reading.quantities:
        fit = _as_amount(clause, reading, item)
        if fit > 0 and _of_the_year(clause, reading, item):
            found.append(Value(item.text, item.start, fit))
    return found


def _as_amount(clause: Clause, reading: Reading, item: Quantity) -> float:
    before = [word.text for word in reading.words if word.end <= item.start][-3:]
    if BOUNDS.intersection(before):
        return 0.0
    unit, rest = item.after[:1], item.after[1:3]
    if clause.noun and "how many" in clause.text.lower():
        if clause.noun in unit:
            return 1.0
        if clause.noun in rest:
            return 0.9
        return 0.6 if matches_any(item.after[:2], clause.keys) else 0.0
    if reading.text[item.start].isalpha():
        return 0.2  # a measurement is in figures: "two values" is not one
    if clause.noun and clause.noun in item.after:
        return 1.0
    return 0.7 if unit and unit[0] not in {"in", "and", "of", "on", "to"} else 0.2


def matches_any(found: Iterable[str], wanted: Sequence[str]) -> bool:
    """Return whether one of some roots matches."""
    return any(matches(item, wanted) for item in found)


def _of_the_year(clause: Clause, reading: Reading, item: Quantity) -> bool:
    wanted = {day.year for day in clause.days if day.year}
    years = [(day.year, start) for day, start, _ in reading.days if day.year]
    if not wanted or len({year for year, _ in years}) < 2:
        return True
    behind = [entry for entry in years if entry[1] >= item.start]
    nearest = min(behind or years, key=lambda entry: abs(entry[1] - item.start))
    return nearest[0] in wanted


# -- ages

_AGE_AFTER = re.compile(
    r"(?:,? (?:who )?(?:is|was|turned|turns|,)|,| \(|,? aged|,? age) ?(?:now |then |just )?(\d{1,3}"
    r"|[a-z]+(?:-[a-z]+)?)"
    r"(?: years? old| years? of age)?(?=[,.;:)]| and\b| on\b| in\b| according\b|$)"
)
_AGE_BEFORE = re.compile(r"(\d{1,3}|[a-z]+)-year-old(?: [a-z]+){0,3} $")
_BORN = re.compile(r"\b(?:born|birth)\b")


def _ages(clause: Clause, reading: Reading, holes: Sequence[str]) -> list[Value]:
    found = []
    for hole in holes or clause.names:
        at = mention(reading, hole)
        if at >= 0:
            value = _birth(reading, hole, at) or _stated_age(reading, hole, at)
            if value is not None:
                found.append(value)
    return found


def _birth(reading: Reading, hole: str, at: int) -> Value | None:
    """Return the birth date that follows a name, before the next name."""
    others = [
        n.start
        for n in reading.names
        if n.start > at and n.kind == "person" and not same_name(n.text, hole)
    ]
    born = _BORN.search(reading.text, at, min(others, default=len(reading.text)))
    if born is None:
        return None
    for day, start, end in reading.days:
        if 0 <= start - born.end() <= 40 and 0 < day.year < 9999:
            first, last = _span(day)
            return Value(reading.text[start:end], start, 1.0, (first, last), first == last)
    return None


def _span(day: Day) -> tuple[str, str]:
    """Return the first and last day that a date, however precise, can mean."""
    if day.exact() is not None:
        return day.iso(), day.iso()
    first = date(day.year, day.month or 1, 1)
    until = date(day.year + (day.month in {0, 12}), (day.month % 12) + 1 if day.month else 1, 1)
    return first.isoformat(), (until - timedelta(days=1)).isoformat()


def _stated_age(reading: Reading, hole: str, at: int) -> Value | None:
    """Return the age beside a name, with the days of birth possible on the day of the text."""
    end = next((name.end for name in reading.names if name.start == at), at + len(hole))
    match = _AGE_AFTER.match(reading.text, end) or _AGE_BEFORE.search(reading.text[:at])
    spelled = numbers(match[1]) if match else []
    if match is None or not spelled or not 0 <= spelled[0] <= 120:
        return None
    stated = next((day.exact() for day, _, _ in reading.days if day.exact()), None) or _iso(
        reading.published
    )
    years = int(spelled[0])
    if stated is None:
        return Value(match[1], match.start(1), 0.6)
    born = (
        (_years_before(stated, years + 1) + timedelta(days=1)).isoformat(),
        _years_before(stated, years).isoformat(),
    )
    return Value(match[1], match.start(1), 0.8, born)


def _years_before(day: date, years: int) -> date:
    try:
        return day.replace(year=max(1, day.year - years))
    except ValueError:  # 29 February
        return day.replace(year=max(1, day.year - years), day=28)


def _iso(text: str) -> date | None:
    try:
        return date.fromisoformat(text[:10])
    except ValueError:
        return None


_FINDERS: dict[Kind, Callable[[Clause, Reading, Sequence[str]], list[Value]]] = {
    Kind.PERSON: _persons,
    Kind.COMPANY: _companies,
    Kind.PLACE: _places,
    Kind.THING: _things,
    Kind.DATE: _dates,
    Kind.TIME: _times,
    Kind.AMOUNT: _amounts,
    Kind.AGE: _ages,
}


# -- comparing


def same_value(kind: Kind, one: Value, other: Value) -> bool | None:
    """Return whether two values of a kind agree; None if they cannot be compared."""
    if kind is Kind.AGE:
        return _ages_agree(one, other)
    if kind in {Kind.PERSON, Kind.COMPANY, Kind.PLACE, Kind.THING}:
        return same_name(one.text, other.text)
    if kind is Kind.AMOUNT:
        return _amounts_agree(one.text, other.text)
    return _moments_agree(one.text, other.text)


def _ages_agree(one: Value, other: Value) -> bool | None:
    if one.born[0] and other.born[0]:
        return one.born[0] <= other.born[1] and other.born[0] <= one.born[1]
    return None if one.text != other.text else True


def _moments_agree(one: str, other: str) -> bool | None:
    """Return whether two dates or times agree.

    1904 agrees with 3 September 1904, and a time does not contradict a date.
    """
    a, b = read_sentence(one), read_sentence(other)
    if a.days and b.days:
        return any(x.covers(y) or y.covers(x) for x, _, _ in a.days for y, _, _ in b.days)
    if a.times and b.times:
        return bool({time for time, _, _ in a.times} & {time for time, _, _ in b.times})
    return None


CLOSE = Decimal("0.1")
"""Measured values that differ by less than this share do not refute each other."""
COUNTED = 20
"""An integer below this was counted rather than measured, so one more is a different number."""
_SCALES = frozenset({"million", "billion", "thousand"})


def _amounts_agree(one: str, other: str) -> bool | None:
    """Return whether two quantities agree.

    None if their units differ, or if measured values are merely close.
    """
    a, b = numbers(one), numbers(other)
    if not a or not b:
        return None
    if a[0] == b[0]:
        return True
    if _units(one) and _units(other) and not _units(one) & _units(other):
        return None
    counted = a[0] == a[0].to_integral_value() and abs(a[0]) < COUNTED
    larger = max(abs(a[0]), abs(b[0]))
    return None if not counted and abs(a[0] - b[0]) < CLOSE * larger else False


def _units(text: str) -> set[str]:
    return {
        word.root for word in tokens(text) if word.text[0].isalpha() and not numbers(word.text)
    } - _SCALES
