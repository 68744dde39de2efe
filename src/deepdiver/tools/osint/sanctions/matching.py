"""Whether an entity is the one that a query looks for.

Names are compared first. A birth date or a country then moves the score: agreement takes away a
part of what is missing to 1, disagreement takes away a part of the whole, and what is not known
changes nothing. `bench/sanctions.py` measures the thresholds on 100,000 invented entities.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from deepdiver.tools.osint.sanctions.entity import PERSON, SOUGHT, Entity
from deepdiver.tools.osint.sanctions.name_comparison import NameComparison, compare_names
from deepdiver.tools.osint.sanctions.names import name_of
from deepdiver.tools.osint.sanctions.query import SanctionsQuery

if TYPE_CHECKING:
    from deepdiver.tools.osint.sanctions.index import Index

MATCH = 0.92
"""The least score of a match: the words of the name in any order and script, spelt as
transliterations differ, or with one other vowel. One other consonant in two words (0.9) is not a
match, nor a name of which one side lacks a word (0.85), unless the birth date speaks for it. Of
invented strangers to the list, 4 in 100 are taken for a match by their name alone, and fewer than 1
in 100 by name, birth date and country."""
POSSIBLE = 0.7
"""The least score of a possible match: a missing word, an initial, some other letters, or the same
name with another year of birth (0.7). Of names with one other letter, 97 in 100 are listed."""
AGREES = {"birth date": 0.5, "birth year": 0.25, "country": 0.1}
"""The part of what is missing to 1 that is added if both agree."""
DIFFERS = {"birth year": 0.7, "birth date": 0.85, "country": 0.93}
"""The part of the score that remains if both differ. A wrong day may be a slip, a wrong year seldom
is; people have several countries, and lists know some of them."""
_SUCCESSORS = {
    "suhh": "am az by ee ge kg kz lt lv md ru tj tm ua uz",
    "cshh": "cz sk",
    "yucs": "ba hr me mk rs si xk",
    "csxx": "me rs xk",
    "ddde": "de",
}
"""States that no longer exist, and the countries that their people may belong to today."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """How alike an entity is to the one that a query looks for."""

    score: float
    """0 to 1."""
    reasons: tuple[str, ...]
    """The reasons, in words."""
    name: str
    """The name of the entity that is most alike."""

    @property
    def verdict(self) -> Literal["match", "possible", ""]:
        """What the score amounts to; empty if the entity should not be listed."""
        return "match" if self.score >= MATCH else "possible" if self.score >= POSSIBLE else ""


def screen(query: SanctionsQuery, index: Index) -> list[tuple[Entity, Likeness]]:
    """Return the entities of an index that match a query or may match it, the most alike first."""
    wanted = SOUGHT.get(query.kind)
    found: list[tuple[Entity, Likeness]] = []
    for candidate in index.candidates(query.readings()):
        if wanted is not None and candidate.schema_name not in wanted:
            continue
        best = best_match(query, candidate.names, candidate.schema_name == PERSON)
        if best.score < POSSIBLE:
            continue
        entity = index.entity(candidate.number)
        likeness = judge(query, entity, best)
        if likeness.verdict:
            found.append((entity, likeness))
    return sorted(found, key=lambda pair: (-pair[1].score, pair[0].id))


def best_match(query: SanctionsQuery, names: Iterable[str], person: bool) -> NameComparison:
    """Compare the name of a query with some names; return the best comparison, or the first best.

    Args:
        query: The query.
        names: Names of one entity, at least one.
        person: Whether they are names of a person.
    """
    mine = name_of(query.name, person)
    return max(
        (compare_names(mine, name_of(name, person)) for name in names),
        key=lambda comparison: comparison.score,
    )


def judge(query: SanctionsQuery, entity: Entity, best: NameComparison) -> Likeness:
    """Return how alike an entity is to the one that a query looks for.

    Args:
        query: The query.
        entity: The entity.
        best: The comparison of its most similar name.
    """
    score, reasons = best.score, list(best.reasons())
    if best.other.text != entity.name:
        reasons.insert(0, "alias")
    if score >= POSSIBLE:  # a name that is not alike stays so
        for reason, change in (
            _compare_births(query.birth_date, entity.birth_date),
            _compare_countries(query.country, entity.countries),
        ):
            if reason:
                reasons.append(reason)
                score = change(score)
    return Likeness(round(score, 2), tuple(reasons), best.other.text)


@dataclass(frozen=True, slots=True)
class _Change:
    """The effect on a score of something that is known besides the name."""

    agrees: float = 0.0
    differs: float = 1.0

    def __call__(self, score: float) -> float:
        return (score + (1 - score) * self.agrees) * self.differs


def _compare_births(asked: str, known: Sequence[str]) -> tuple[str, _Change]:
    """Compare birth dates as far as both are given; of several in a list, the nearest counts."""
    dates = [date[:10] for date in known if date[:4].isdigit()]
    if not asked or not dates:
        return "", _Change()
    nearest = max(dates, key=lambda date: (_shared(asked, date), date))
    agree, shared = _shared(asked, nearest)
    if agree:
        what = "birth date" if shared == 3 else "birth year"
        return f"{what} agrees", _Change(agrees=AGREES[what])
    if shared:
        return f"birth date differs: {nearest} against {asked}", _Change(
            differs=DIFFERS["birth date"]
        )
    return f"birth date differs: {nearest[:4]} against {asked[:4]}", _Change(
        differs=DIFFERS["birth year"]
    )


def _shared(one: str, other: str) -> tuple[bool, int]:
    """Return whether two dates agree as far as both are given, and how many parts agree."""
    parts = list(zip(one.split("-"), other.split("-"), strict=False))
    shared = next(
        (number for number, (mine, theirs) in enumerate(parts) if mine != theirs), len(parts)
    )
    return shared == len(parts), shared


def _compare_countries(asked: str, known: Sequence[str]) -> tuple[str, _Change]:
    codes = {now for code in known for now in _SUCCESSORS.get(code, code[:2]).split()}
    if not asked or not codes:
        return "", _Change()
    if asked in codes:
        return "country agrees", _Change(agrees=AGREES["country"])
    return "country differs", _Change(differs=DIFFERS["country"])
