"""Comparing two statements by their words: whether they say the same, or may contradict."""

from __future__ import annotations

from decimal import Decimal

from deepdiver.core.dates import dates
from deepdiver.core.names import names
from deepdiver.core.numbers import numbers
from deepdiver.core.text import shingles, terms, words

RUN, SAME = 3, 0.6
"""Statements that share this part of the shorter one's runs of three words, and no value that tells
them apart, are one: a statement in other order or with an addition still does, another statement
about the same thing does not."""
COUNTED, YEARS = 12, (1_900, 2_100)
"""Whoever tells what a text says may count things in it, up to a dozen, and says when that was from
the text's own date."""
ROUGHLY = 50
"""A figure that differs from another by less than one part in so many may stand for it."""
_DENYING = frozenset("no not never none neither nor without nobody nothing cannot".split())


def repeats(one: str, other: str) -> bool:
    """Return whether two statements say the same, as far as their words show it."""
    if words(one) == words(other):
        return True
    a, b = shingles(one, RUN), shingles(other, RUN)
    if len(a & b) < SAME * min(len(a), len(b)):
        return False
    mine, theirs = values_of(one), values_of(other)
    return denies(one) == denies(other) and (mine <= theirs or theirs <= mine)


def can_contradict(one: str, other: str) -> bool:
    """Return whether two statements share a subject and differ in a value or a denial."""
    mine, theirs = values_of(one), values_of(other)
    same = {term for term in set(terms(one)) & set(terms(other)) if not term.isdigit()}
    return bool(same) and (bool(mine - theirs and theirs - mine) or denies(one) != denies(other))


def values_of(text: str) -> set[str]:
    """Return what tells statements of similar words apart: numbers, dates and names."""
    named = {word for name in names(text) for word in words(name)}
    return (
        named
        | {f"{value.normalize():f}" for value in numbers(text)}
        | {day.iso() for day in dates(text)}
    )


def holds_figures(text: str, statement: str) -> bool:
    """Return whether a text has the figures of a statement, or some that are about the same.

    Counts of a few things and dates are free; a share may be a percentage, and a fall a loss.
    """
    if not (wanted := {abs(value) for value in numbers(statement) if not _is_free(value)}):
        return True
    held = {abs(value) for value in numbers(text)}
    held |= {value * 100 for value in held} | {value / 100 for value in held}
    return all(any(abs(value - own) <= own / ROUGHLY for own in held) for value in wanted)


def _is_free(value: Decimal) -> bool:
    whole = value == value.to_integral_value()
    return whole and (abs(value) <= COUNTED or YEARS[0] <= value <= YEARS[1])


def denies(text: str) -> bool:
    """Return whether a statement holds a word that denies something."""
    return any(word in _DENYING or word.endswith("n't") for word in words(text))
