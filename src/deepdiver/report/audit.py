"""The audit: each sentence of a draft against the quotes it is said to stand on.

Code checks what code can check: the findings exist, every quote stands in its snapshot, numbers, dates and names of the
sentence occur in the quotes or come out of a shown calculation that code repeats. Whether the quotes carry the sense is
asked of the reasoner afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal

from deepdiver.core.record import Finding, Quote, Sentence, SentenceKind
from deepdiver.core.text import fold, words
from deepdiver.core.values import Day, dates, holds, names, number, numbers

Snapshot = Callable[[str], str]
"""Gives the saved text of a hash; KeyError if there is none."""


def faults(sentence: Sentence, findings: Sequence[Finding], snapshot: Snapshot, as_of: str) -> list[str]:
    """Return what is wrong with a sentence, in words; nothing if code finds no fault.

    Args:
        sentence: What is said.
        findings: The findings it names, as far as they exist.
        snapshot: Gives saved texts.
        as_of: The run's date, which a calculation may use without a quote.
    """
    if sentence.kind is SentenceKind.FRAME:
        return _faults_of_frame(sentence)
    if len(findings) < len(set(sentence.findings)):
        return ["it names a finding that does not exist"]
    if not findings:
        return ["it names no finding"]
    quotes = [quote for finding in findings for quote in finding.quotes]
    if missing := [quote for quote in quotes if not stands(quote, snapshot)]:
        return [f"the quote {missing[0].text[:60]!r} does not stand in its source"]
    return [*_faults_of_sum(sentence, quotes, as_of), *_faults_of_values(sentence, quotes, as_of)]


def stands(quote: Quote, snapshot: Snapshot) -> bool:
    """Whether the snapshot holds exactly the quote's text at the quote's span."""
    try:
        text = snapshot(quote.passage.snapshot)
    except KeyError:
        return False
    return bool(quote.text) and text[quote.passage.start : quote.passage.end] == quote.text


def _faults_of_frame(sentence: Sentence) -> list[str]:
    """A frame states no fact: a number, a date or a name in it is one."""
    said = [*map(str, numbers(sentence.text)), *(day.iso() for day in dates(sentence.text)), *names(sentence.text)]
    return [f"it states {said[0]} without a finding"] if said else []


def _faults_of_sum(sentence: Sentence, quotes: Iterable[Quote], as_of: str) -> list[str]:
    sum_ = sentence.calculation
    if sum_ is None:
        return ["it is a calculation without the sum"] if sentence.kind is SentenceKind.CALCULATION else []
    if not holds(sum_):
        return [f"the sum does not come out: {sum_.kind} of {', '.join(sum_.inputs)} is not {sum_.result}"]
    text = _joined(quotes)
    known_days, known_numbers = [*dates(text), *dates(as_of)], set(numbers(text))
    for item in sum_.inputs:
        days = dates(item)
        if days and not any(known.covers(day) for day in days for known in known_days):
            return [f"{item} stands in none of its quotes"]
        if not days and sum_.kind != "count" and number(item) not in known_numbers:
            return [f"{item} stands in none of its quotes"]
        if sum_.kind == "count" and not _contains(text, item):
            return [f"{item} stands in none of its quotes"]
    return []


def _faults_of_values(sentence: Sentence, quotes: Iterable[Quote], as_of: str) -> list[str]:
    text = _joined(quotes)
    known_days, known_numbers = list(dates(text)), set(numbers(text))
    if sum_ := sentence.calculation:
        known_days += [*dates(as_of), *(day for item in sum_.inputs for day in dates(item))]
        known_numbers |= {value for item in (*sum_.inputs, sum_.result) if (value := number(item)) is not None}
    known_numbers |= {Decimal(part) for day in known_days for part in (day.year, day.month, day.day) if part}
    found = []
    found += [day.iso() for day in dates(sentence.text) if not _known_day(day, known_days, known_numbers)]
    found += [f"{value:f}" for value in numbers(sentence.text) if value not in known_numbers]
    found += [name for name in names(sentence.text) if not _contains(text, name)]
    return [f"{', '.join(found[:3])} stands in none of its quotes"] if found else []


def _known_day(day: Day, known: Iterable[Day], figures: set[Decimal]) -> bool:
    only_year = not day.month and Decimal(day.year) in figures
    return only_year or any(other.covers(day) for other in known)


def _contains(text: str, name: str) -> bool:
    """Whether all words of a name stand in a text: a possessive or a missing initial is no other person."""
    listed = set(words(fold(text)[0]))
    bare = {word.removesuffix("'s") for word in listed}
    return all(word in listed or word in bare or len(word) == 1 for word in words(fold(name)[0]))


def _joined(quotes: Iterable[Quote]) -> str:
    return "\n\n".join(quote.text for quote in quotes)
