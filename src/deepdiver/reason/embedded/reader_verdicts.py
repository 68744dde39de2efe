"""The trained reader's verdicts, if the rules have none: does a quote support or deny a claim?

A quote is judged by its sentences and by pairs of them, and the strongest counts. Rules take
precedence: a quote that lacks a number or a date of the claim does not support it, however similar
it sounds.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

from deepdiver.core.dates import dates
from deepdiver.core.numbers import numbers
from deepdiver.core.record import Stance
from deepdiver.core.text import sentences
from deepdiver.encoders.reader import DocumentVerdict, load_reader

DECIDED = 0.6
"""A side with a lower probability does not count."""
WORTH = 0.4
"""The strength of a verdict with probability 1: by itself it is at most two thirds certain. On
claims about the world, the reader's side is right in little more than half of the cases, however
certain it is."""
SENTENCES = 6
"""Sentences of a quote that are judged."""
REMEMBERED = 8_192
"""Verdicts that are cached: a quote is judged again in every round of a run."""
DIGITS = 3
"""Decimal places of a strength."""
WORDS_SHARE = 0.5
"""The weight of plain words beside the reader in `leaning`. AUC of yes against no on PubMedQA: the
reader alone 0.58 and both 0.69 on its first 160 yes-or-no questions, on which this was chosen; both
0.66 on all."""
NO_DENIAL = 0.6
"""How far a sentence without a denied outcome leans to yes; one with it leans fully to no."""

_ASKING = re.compile(
    r"^(?:is there|are there|does|do|did|is|are|was|were|can|could|should|will|would|has|have)\s+",
    re.IGNORECASE,
)
_OUTCOMES = (
    "differ|significan|associat|correlat|effect|chang|improv|increas|decreas|reduc|lower|rais|affect|influenc|predict"
    "|relat|benefit"
)
_DENIAL = re.compile(rf"\b(?:no|not|neither|nor)\b[^.;]{{0,40}}\b(?:{_OUTCOMES})\w*", re.IGNORECASE)
"""How a text says that there was no effect or no difference."""

Bearing = tuple[Stance, float, str]


@functools.lru_cache(maxsize=REMEMBERED)
def reader_verdict(quote: str, claim: str) -> DocumentVerdict:
    """Return the reader's verdict on a claim, by a quote."""
    lines = [" ".join(span.of(quote).split()) for span in sentences(quote)[:SENTENCES]]
    return load_reader().verify_document(lines, claim)


def contrariety(one: str, other: str) -> float:
    """Return how surely two sentences contradict each other: the mean of both directions."""
    both = reader_verdict(one, other), reader_verdict(other, one)
    return sum(verdict.refutes for verdict in both) / 2


def reader_bearing(quote: str, claim: str) -> Bearing | None:
    """Return the side and strength of a quote; None without a side, or if a value is missing."""
    found = reader_verdict(quote, claim)
    if found.stance == "neutral" or max(found.supports, found.refutes) < DECIDED:
        return None
    if found.stance == "supports":
        carried = not lacks_values(claim, quote)
        return (
            (Stance.SUPPORTS, _strength(found.supports), "reads as saying it") if carried else None
        )
    return Stance.REFUTES, _strength(found.refutes), "reads as denying it"


def _strength(probability: float) -> float:
    return round(WORTH * probability, DIGITS)


def lacks_values(claim: str, quote: str) -> bool:
    """Return whether a claim has a number or a date that a quote does not have."""
    held, days = set(numbers(quote)), dates(quote)
    return any(value not in held for value in numbers(claim)) or not all(
        any(other.covers(day) for other in days) for day in dates(claim)
    )


# -- how texts lean


def as_statement(question: str) -> str:
    """Return the statement that a yes would affirm, as far as leaving out words can make it."""
    plain = question.strip().rstrip("?").strip()
    head = _ASKING.match(plain)
    rest = plain[head.end() :] if head else plain
    return f"{rest[:1].upper()}{rest[1:]}." if rest else ""


def leaning(question: str, quotes: Sequence[str]) -> tuple[float, list[float]]:
    """Return how quotes lean on a yes-or-no question, together and singly: -1 is no, 1 is yes.

    A text that answers rarely does so in the question's words, but one that found nothing says "no"
    and "not" a lot.
    """
    claim = as_statement(question)
    each = []
    for quote in quotes:
        found = reader_verdict(quote, claim)
        plain = -1.0 if _DENIAL.search(quote) else NO_DENIAL
        each.append(
            round(
                (1 - WORDS_SHARE) * (found.supports - found.refutes) + WORDS_SHARE * plain, DIGITS
            )
        )
    return (round(sum(each) / len(each), DIGITS) if each else 0.0), each
