"""Whether an entry is who is looked for.

How alike the names are, and what birth date and country say to it.

What is known besides the name moves the score: agreement takes away a part of what is missing to 1,
disagreement takes away a part of the whole, and what is not known changes nothing. The thresholds
are measured by `bench/sanctions.py` on 100,000 invented entities.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from deepdiver.tools.osint.sanctions.asked import Asked
from deepdiver.tools.osint.sanctions.comparing import Laid, compared
from deepdiver.tools.osint.sanctions.entity import Entity
from deepdiver.tools.osint.sanctions.names import name_of

MATCH = 0.92
"""From here on it is called a match: the words of the name in any order and script, spelt as
transliterations differ, or one vowel off. One consonant off in two words (0.9) is not, nor a name
of which one side lacks a word (0.85), unless the birth date speaks for it. Of invented strangers to
the list, 4 in 100 are taken for a match by their name alone, and fewer than 1 in 100 by name, birth
date and country."""
POSSIBLE = 0.7
"""From here on it is listed as possible: a missing word, an initial, some letters off, or the very
name with another year of birth (0.7). Of names with one letter off, 97 in 100 are listed."""
AGREES = {"birth date": 0.5, "birth year": 0.25, "country": 0.1}
"""The part of what is missing to 1 that agreement takes away."""
DIFFERS = {"birth year": 0.7, "birth date": 0.85, "country": 0.93}
"""What remains of the score where they differ. A day may be a slip of the pen, a year seldom;
people have several countries, and lists know some of them."""
_GONE = {
    "suhh": "am az by ee ge kg kz lt lv md ru tj tm ua uz",
    "cshh": "cz sk",
    "yucs": "ba hr me mk rs si xk",
    "csxx": "me rs xk",
    "ddde": "de",
}
"""States that are gone, and whose country somebody of theirs may be of today."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """How alike an entry is to who is looked for."""

    score: float
    """0 to 1."""
    reasons: tuple[str, ...]
    """Why, in words."""
    name: str
    """Which of its names it is."""

    @property
    def verdict(self) -> Literal["match", "possible", ""]:
        """What that comes to; empty: nothing that should be listed."""
        return "match" if self.score >= MATCH else "possible" if self.score >= POSSIBLE else ""


def likest(asked: Asked, names: Iterable[str], person: bool) -> Laid:
    """Return the most alike of some names, laid beside the one asked; of two as alike, the first.

    Args:
        asked: Who is looked for.
        names: Names of one entry, at least one.
        person: Whether they are a person's.
    """
    mine = name_of(asked.name, person)
    return max(
        (compared(mine, name_of(name, person)) for name in names), key=lambda laid: laid.score
    )


def judged(asked: Asked, entity: Entity, laid: Laid) -> Likeness:
    """Return how alike an entry is.

    Args:
        asked: Who is looked for.
        entity: The entry.
        laid: The most alike of its names, laid beside the one asked.
    """
    score, reasons = laid.score, list(laid.reasons())
    if laid.other.text != entity.name:
        reasons.insert(0, "alias")
    known = (_birth(asked.birth_date, entity.birth_date), _country(asked.country, entity.countries))
    for told, change in (
        known if score >= POSSIBLE else ()
    ):  # nothing makes a name alike that is not
        if told:
            reasons.append(told)
            score = change(score)
    return Likeness(round(score, 2), tuple(reasons), laid.other.text)


@dataclass(frozen=True, slots=True)
class _Change:
    """What something known besides the name does to a score."""

    agrees: float = 0.0
    differs: float = 1.0

    def __call__(self, score: float) -> float:
        return (score + (1 - score) * self.agrees) * self.differs


def _birth(asked: str, known: Sequence[str]) -> tuple[str, _Change]:
    """Compare birth dates as far as both are given.

    Of several that a list has, the likest counts.
    """
    dates = [date[:10] for date in known if date[:4].isdigit()]
    if not asked or not dates:
        return "", _Change()
    likest = max(dates, key=lambda date: (_shared(asked, date), date))
    agree, shared = _shared(asked, likest)
    if agree:
        what = "birth date" if shared == 3 else "birth year"
        return f"{what} agrees", _Change(agrees=AGREES[what])
    if shared:
        return f"birth date differs: {likest} against {asked}", _Change(
            differs=DIFFERS["birth date"]
        )
    return f"birth date differs: {likest[:4]} against {asked[:4]}", _Change(
        differs=DIFFERS["birth year"]
    )


def _shared(one: str, other: str) -> tuple[bool, int]:
    """Return whether two dates agree as far as both are given, and how many of their parts do from the year on."""
    parts = list(zip(one.split("-"), other.split("-"), strict=False))
    shared = next(
        (number for number, (mine, theirs) in enumerate(parts) if mine != theirs), len(parts)
    )
    return shared == len(parts), shared


def _country(asked: str, known: Sequence[str]) -> tuple[str, _Change]:
    codes = {now for code in known for now in _GONE.get(code, code[:2]).split()}
    if not asked or not codes:
        return "", _Change()
    if asked in codes:
        return "country agrees", _Change(agrees=AGREES["country"])
    return "country differs", _Change(differs=DIFFERS["country"])
