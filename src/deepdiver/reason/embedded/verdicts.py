"""The trained reader's verdicts, where the rules have none of their own.

Does a quote bear a claim out, or deny it?

A quote is judged by sentence and by pairs of sentences, and the strongest counts. Rules stay on
top: a quote that lacks a number or a date of the claim does not bear it out, however much it sounds
like it.
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
"""A side under this probability is no side."""
WORTH = 0.4
"""Strength of a verdict of probability 1: by itself it is no more than two thirds sure. On claims
about the world the side that the reader takes is right in little more than half of the cases,
however sure it is."""
SENTENCES = 6
"""Sentences that are judged of one quote."""
REMEMBERED = 8_192
"""Verdicts that are kept: a quote is judged anew in every round of a run."""
DIGITS = 3
"""Places of a strength."""
WORDS_SHARE = 0.5
"""What plain words count beside the reader where texts are asked how they lean. AUC of yes against
no on PubMedQA: the reader alone 0.58 and both 0.69 on its first 160 yes-or-no questions, from which
this was chosen; both 0.66 on all."""
NO_DENIAL = 0.6
"""How far a sentence without a denied outcome leans to yes; one with it leans to no in full."""

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
def verdict(quote: str, claim: str) -> DocumentVerdict:
    """Return how a quote bears on a claim, by the reader."""
    lines = [" ".join(span.of(quote).split()) for span in sentences(quote)[:SENTENCES]]
    return load_reader().verify_document(lines, claim)


def told(quote: str, claim: str) -> Bearing | None:
    """Return which way a quote speaks, and how strongly.

    None where the reader sees no side, or a value is missing.
    """
    found = verdict(quote, claim)
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
    """Whether a claim has a number or a date that a quote does not have."""
    held, days = set(numbers(quote)), dates(quote)
    return any(value not in held for value in numbers(claim)) or not all(
        any(other.covers(day) for other in days) for day in dates(claim)
    )


# -- how texts lean


def as_statement(question: str) -> str:
    """Return a yes-or-no question as the statement that yes would affirm, as near as leaving words out comes to it."""
    plain = question.strip().rstrip("?").strip()
    head = _ASKING.match(plain)
    rest = plain[head.end() :] if head else plain
    return f"{rest[:1].upper()}{rest[1:]}." if rest else ""


def leaning(question: str, quotes: Sequence[str]) -> tuple[float, list[float]]:
    """Return how quotes lean on a yes-or-no question, together and one by one, -1 (no) to 1 (yes).

    A text that answers rarely says so in the question's words, but one that found nothing says "no"
    and "not" a lot.
    """
    claim = as_statement(question)
    each = []
    for quote in quotes:
        found = verdict(quote, claim)
        plain = -1.0 if _DENIAL.search(quote) else NO_DENIAL
        each.append(
            round(
                (1 - WORDS_SHARE) * (found.supports - found.refutes) + WORDS_SHARE * plain, DIGITS
            )
        )
    return (round(sum(each) / len(each), DIGITS) if each else 0.0), each
