"""The audit checks each sentence of a draft against its quotes.

Code checks what code can check: the findings exist, every quote is in its snapshot, and the
numbers, dates, names and addresses of the sentence are in the quotes or come out of a shown
calculation that code repeats. The reasoner is asked afterwards whether the quotes carry the sense.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from decimal import Decimal

from deepdiver.core.calculation import is_correct
from deepdiver.core.dates import Day, dates
from deepdiver.core.names import names
from deepdiver.core.numbers import number, numbers
from deepdiver.core.record import Calculation, Finding, Quote, Sentence, SentenceKind
from deepdiver.core.text import STOPWORDS, fold, words

Snapshot = Callable[[str], str]
"""Returns the saved text of a hash; LostTextError if there is none."""
_ADDRESS = re.compile(r"\b(?:https?://|www\.)[^\s<>\"“”]*[^\s<>\"“”.,;:!?)\]']", re.IGNORECASE)
_PRONOUN = re.compile(
    r"\b(?:no|any|every|some|each|which)[ -]one\b|(?<![\w-])(?<!ty )one(?= of\b| another\b)"
    r"|\bone['’]s\b",
    re.IGNORECASE,
)
"""Where the word one is not a number."""
_TAIL = re.compile(r"-(\w+)")
_WORD = re.compile(r"[^\W\d_][\w’'\-]*")


def find_faults(
    sentence: Sentence, findings: Sequence[Finding], snapshot: Snapshot, as_of: str
) -> list[str]:
    """Return what is wrong with a sentence, in words; nothing if code finds no fault.

    Args:
        sentence: The sentence.
        findings: The findings that it names, as far as they exist.
        snapshot: Returns saved texts.
        as_of: The run's date, which a calculation may use without a quote.
    """
    if sentence.kind is SentenceKind.FRAME:
        return _faults_of_frame(sentence)
    if len(findings) < len(set(sentence.findings)):
        return ["it names a finding that does not exist"]
    if not findings:
        return ["it names no finding"]
    quotes = [quote for finding in findings for quote in finding.quotes]
    if missing := [quote for quote in quotes if not quote_stands(quote, snapshot)]:
        return [f"the quote {missing[0].text[:60]!r} does not stand in its source"]
    text = "\n\n".join(quote.text for quote in quotes)
    return [*_faults_of_sum(sentence, text, as_of), *_faults_of_values(sentence, text, as_of)]


def quote_stands(quote: Quote, snapshot: Snapshot) -> bool:
    """Whether the snapshot has exactly the quote's text at the quote's span."""
    text = snapshot(quote.passage.snapshot)
    return bool(quote.text) and text[quote.passage.start : quote.passage.end] == quote.text


def _faults_of_frame(sentence: Sentence) -> list[str]:
    """Return the faults of a frame, which must not state a number, a date, a name or an address."""
    text = sentence.text
    said = [day.iso() for day in dates(text)] + [f"{value:f}" for value in _numbers_said(text)]
    said += [*names(text), *_ADDRESS.findall(text)]
    return [f"it states {said[0]} without a finding"] if said else []


def _faults_of_sum(sentence: Sentence, text: str, as_of: str) -> list[str]:
    sum_ = sentence.calculation
    if sum_ is None:
        return (
            ["it is a calculation without the sum"]
            if sentence.kind is SentenceKind.CALCULATION
            else []
        )
    if not is_correct(sum_):
        return [
            f"the sum does not come out: {sum_.kind} of {', '.join(sum_.inputs)} is not "
            f"{sum_.result}"
        ]
    if sum_.kind == "count" and len({" ".join(words(item)) for item in sum_.inputs}) < len(
        sum_.inputs
    ):
        return ["it counts something twice"]
    unknown = _not_in(text, sum_, as_of)
    return [f"{unknown[0]} stands in none of its quotes"] if unknown else []


def _not_in(text: str, sum_: Calculation, as_of: str) -> list[str]:
    """Return the inputs of a calculation that are not in the quotes."""
    days = [*dates(text), *dates(as_of)]
    figures = {*numbers(text), *_years(days)}

    def known(item: str) -> bool:
        if found := dates(item):
            return all(_known_day(day, days) for day in found)
        return _contains(text, item) if sum_.kind == "count" else number(item) in figures

    return [item for item in sum_.inputs if not known(item)]


def _faults_of_values(sentence: Sentence, text: str, as_of: str) -> list[str]:
    days, figures = dates(text), set(numbers(text))
    if sum_ := sentence.calculation:
        days += [*dates(as_of), *(day for item in sum_.inputs for day in dates(item))]
        figures |= {
            value for item in (*sum_.inputs, sum_.result) if (value := number(item)) is not None
        }
    figures |= _years(days)
    found = _unknown(sentence.text, text, days, figures, names(sentence.text))
    return [f"{', '.join(found[:3])} stands in none of its quotes"] if found else []


def _unknown(
    said: str, text: str, days: Sequence[Day], figures: Collection[Decimal], named: Iterable[str]
) -> list[str]:
    """Return the values of what is said that are not known: dates, numbers, names, addresses."""
    found = [day.iso() for day in dates(said) if not _known_day(day, days)]
    found += [f"{value:f}" for value in _numbers_said(said) if value not in figures]
    found += [name for name in named if not _contains(text, name)]
    return found + [address for address in _ADDRESS.findall(said) if address not in text]


def unknown_values(said: str, known: str, *, by_capitals: bool = True) -> list[str]:
    """Return the numbers, dates, names and addresses of a text that other texts do not hold.

    This is for what cites nothing: a heading, or a question that is left open.

    Args:
        said: The text.
        known: The other texts.
        by_capitals: Whether capitals tell names. They do not if all words have one, as in many
            headings, or all nouns, as in German.
    """
    days = dates(known)
    named = names(said) if by_capitals else ()
    return _unknown(said, known, days, {*numbers(known), *_years(days)}, named)


def is_capitalised(text: str) -> bool:
    """Return whether all words of a text that count, and more than one, have a capital."""
    counting = [word for word in _WORD.findall(text) if word.lower() not in STOPWORDS]
    return len(counting) > 1 and all(word[0].isupper() for word in counting)


def _known_day(day: Day, known: Iterable[Day]) -> bool:
    return any(other.covers(day) for other in known)


def _years(days: Iterable[Day]) -> set[Decimal]:
    """Return the years of dates, which count as numbers: 2014 follows from 3 May 2014.

    The 3 does not, because alone it could count anything.
    """
    return {Decimal(day.year) for day in days if day.year}


def _numbers_said(text: str) -> list[Decimal]:
    return numbers(_PRONOUN.sub("…", text))


def _contains(text: str, name: str) -> bool:
    """Whether all words of a name are in a text.

    Possessives and initials are ignored, because they do not make another person of a name. Of a
    compound such as Oslo-based only the name counts.
    """
    listed = {part for word in _bare(text) for part in (word, *word.split("-"))}
    wanted = _bare(_TAIL.sub(lambda tail: "" if tail[1].islower() else tail[0], name))
    wanted = [word for word in wanted if len(word) > 1] or wanted
    return bool(wanted) and all(
        word in listed or listed.issuperset(word.split("-")) for word in wanted
    )


def _bare(text: str) -> list[str]:
    return [word.removesuffix("'s") for word in words(fold(text)[0])]
