"""Checks by words, values and negation whether quotes carry a sentence, and repairs faulty ones.

Where the words leave it open, the trained reader decides; it never overrules a value or a negation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date
from typing import Literal

from deepdiver.core.dates import dates
from deepdiver.core.names import names
from deepdiver.core.numbers import numbers
from deepdiver.core.text import fold
from deepdiver.reason.embedded.extract import statement_of
from deepdiver.reason.embedded.language.units import plain_line
from deepdiver.reason.embedded.reader_verdicts import reader_verdict
from deepdiver.reason.embedded.reading import Reading, mention, quotable_sentences, read_sentence
from deepdiver.reason.embedded.stance import telling
from deepdiver.tasks import Check, Checks, CheckSupport, Claim, Repaired, Repairs, RepairSentences

PARTLY = 0.5
"""The share of a sentence's words that its quotes must have to carry it in part."""
SAID, DENIED = 0.6, 0.9
"""From this probability on, the reader takes a quote to say a sentence, or to contradict it."""
CONTRADICTED = "the quotes have its words and read as saying something else"
_OPENING = re.compile(r"^\s*(?:[-*+•>|]|\d{1,3}[.)])\s+")
_MARKS = re.compile(r"[`*_\\|]")
_AGE = re.compile(
    r"^(?P<name>.+) is (?P<years>\d{1,3}) years old on (?P<day>\d{4}-\d\d-\d\d) \(born on "
    r"(?P<born>[^()]+)\)\.$"
)

Support = Literal["full", "partial", "none"]


def check_support(task: CheckSupport) -> Checks:
    """Check each sentence."""
    return Checks(checks=tuple(_check(claim) for claim in task.claims))


def _check(claim: Claim) -> Check:
    if claim.calculations:  # code has repeated them, so only what is not calculated can be missing
        missing = _missing_values(claim.text, "\n\n".join((*claim.quotes, *claim.calculations)))
        reason = f"{missing} is neither quoted nor calculated" if missing else ""
        carried: Support = "none" if missing else "full"
        return Check(id=claim.id, support=carried, reason=reason, by=claim.cites)
    support, reason = support_of(claim.text, claim.quotes)
    return Check(id=claim.id, support=support, reason=reason, by=claim.cites)


def support_of(text: str, quotes: Sequence[str]) -> tuple[Support, str]:
    """Return how far quotes carry a sentence, and what is missing."""
    plain = _plain(text)
    if not plain or not quotes:
        return "none", "there is nothing to carry it"
    if any(plain in _plain(quote) for quote in quotes) or _age_follows(text, quotes):
        return "full", ""
    missing = _missing_values(text, "\n\n".join(quotes))
    if missing:
        return "none", f"{missing} is not in the quotes"
    claim, said = read_sentence(text), [read_sentence(quote) for quote in quotes]
    # The no of a cell denies nothing; but "|" is also in the headings of web pages.
    prose = any(" | " not in line for quote in quotes for line in quote.splitlines())
    if prose and all(claim.negated != reading.negated for reading in said):
        return "none", "one of the two denies and the other does not"
    return _carried_by_words(text, quotes, claim, said)


def _carried_by_words(
    text: str, quotes: Sequence[str], claim: Reading, said: Sequence[Reading]
) -> tuple[Support, str]:
    """Return how far the words of quotes carry a sentence whose values they have."""
    words = telling(claim)
    held = [word for word in words if any(word in reading.roots for reading in said)]
    if len(held) == len(words):
        return ("partial", CONTRADICTED) if read_as_denying(text, quotes) else ("full", "")
    absent = next(word.text for word in claim.words if word.root in words and word.root not in held)
    carried = len(held) / len(words) >= PARTLY or read_as_saying(text, quotes)
    return ("partial" if carried else "none"), f"“{absent}” is not in the quotes"


def read_as_saying(text: str, quotes: Iterable[str]) -> bool:
    """Return whether the reader takes a quote to say it, in any words."""
    return any(reader_verdict(quote, text).supports >= SAID for quote in quotes)


def read_as_denying(text: str, quotes: Sequence[str]) -> bool:
    """Return whether the reader takes a quote to contradict it, and none to say it."""
    found = [reader_verdict(quote, text) for quote in quotes]
    return any(item.refutes >= DENIED for item in found) and not any(
        item.supports >= SAID for item in found
    )


def _plain(text: str) -> str:
    """Return a text without typesetting, and without the marks that open rows and items."""
    lines = (_OPENING.sub("", line) for line in text.splitlines())
    told = _MARKS.sub("", plain_line(statement_of(" ".join(lines))))
    return " ".join(fold(told)[0].lower().split()).rstrip(".")


def _age_follows(text: str, quotes: Sequence[str]) -> bool:
    """Return whether an age follows from the day of birth that a quote gives for this name."""
    match = _AGE.match(text)
    born = dates(match["born"])[0].exact() if match and dates(match["born"]) else None
    if match is None or born is None:
        return False
    try:
        day = date.fromisoformat(match["day"])
    except ValueError:
        return False
    years = day.year - born.year - ((day.month, day.day) < (born.month, born.day))
    told = any(
        match["born"] in quote and mention(read_sentence(quote), match["name"]) >= 0
        for quote in map(statement_of, quotes)
    )
    return told and years == int(match["years"])


def _missing_values(text: str, quotes: str) -> str:
    """Return the first number, date or name of a sentence that its quotes do not contain."""
    known = set(numbers(quotes))
    for value in numbers(text):
        if value not in known:
            return f"{value:f}"
    days = dates(quotes)
    for day in dates(text):
        if not any(other.covers(day) for other in days):
            return day.iso()
    said = [read_sentence(quote) for quote in quotes.split("\n\n")]
    for name in names(text):
        if not any(mention(reading, name) >= 0 for reading in said):
            return name
    return ""


def repair_sentences(task: RepairSentences) -> Repairs:
    """Replace each faulty sentence with the nearest sentence of its quotes, or cut it."""
    return Repairs(
        repairs=tuple(
            Repaired(id=item.id, text=nearest(item.text, item.quotes)) for item in task.sentences
        )
    )


def nearest(text: str, quotes: Iterable[str]) -> str:
    """Return the quoted sentence that shares most words with a text.

    Empty if none shares at least a third of them.
    """
    wanted = telling(read_sentence(text))
    best, most = "", 0.0
    for quote in quotes:
        for span in quotable_sentences(quote):
            reading = read_sentence(span.of(quote))
            share = sum(word in reading.roots for word in wanted) / len(wanted) if wanted else 0.0
            if share > most and share >= 1 / 3:
                best, most = statement_of(span.of(quote)), share
    return best
