"""The kind of thing that answers a question: a person, a date, an amount, and its noun or unit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from deepdiver.core.text import STOPWORDS
from deepdiver.reason.embedded.language.request import ASKING, AUXILIARIES
from deepdiver.reason.embedded.language.statement import is_past


class AnswerKind(StrEnum):
    """What fills the open place of a question."""

    PERSON = "a person"
    ORGANISATION = "an organisation"
    PLACE = "a place"
    THING = "a thing"
    DATE = "a date"
    TIME = "a time of day"
    DURATION = "a duration"
    AGE = "an age"
    COUNT = "a count"
    AMOUNT = "an amount"
    SHARE = "a share"
    YES_NO = "yes or no"
    ACCOUNT = "an account"


VALUES = frozenset(
    {
        AnswerKind.DATE,
        AnswerKind.TIME,
        AnswerKind.DURATION,
        AnswerKind.AGE,
        AnswerKind.COUNT,
        AnswerKind.AMOUNT,
        AnswerKind.SHARE,
    }
)
"""Kinds that contain a number or a date."""


@dataclass(frozen=True, slots=True)
class Sought:
    """What a question asks for."""

    kind: AnswerKind
    """Its kind."""
    noun: str = ""
    """The noun for it, in lower case: farm in "which farm", people in "how many people"."""
    unit: str = ""
    """The unit that the question wants: hectares in "how many hectares"."""
    several: bool = False
    """Whether it asks for more than one."""


_TIME_UNITS = frozenset(
    "second seconds minute minutes hour hours day days week weeks month months year years decade "
    "decades nights".split()
)
_UNITS = frozenset(
    "metre metres meter meters m km kilometre kilometres kilometers miles mile feet foot inches cm "
    "mm hectare hectares ha acres litre litres liters liter ml gallons kilo kilos kg kilogram "
    "kilograms gram grams g mg tonne tonnes tons ton pounds euro euros dollars dollar pence cents "
    "francs crowns kronor kwh mwh gwh kw mw watts volts amps degrees bytes kb mb gb tb percent "
    "points knots calories joules newtons bar pascals hertz decibels pages words".split()
)
_SHARES = frozenset("percentage percent share proportion fraction ratio rate".split())
_BY_NOUN = {
    noun: kind
    for kind, nouns in {
        AnswerKind.DATE: "date dates day year month deadline birthday expiry",
        AnswerKind.TIME: "time hour",
        AnswerKind.DURATION: "duration period lifetime span",
        AnswerKind.AGE: "age",
        AnswerKind.COUNT: "number count headcount population attendance",
        AnswerKind.AMOUNT: "amount price cost costs fee fees value sum size turnover revenue "
        "profit "
        "area length height width depth weight mass distance temperature speed concentration level "
        "limit threshold capacity budget rent salary penalty fine yield volume altitude diameter "
        "dose tariff charge excess",
        AnswerKind.PLACE: "place city town village country region location site seat headquarters "
        "capital address room street building district county state island port",
        AnswerKind.ORGANISATION: "company firm corporation business enterprise contractor "
        "manufacturer supplier operator subsidiary agency bank insurer airline publisher "
        "organisation organization institution authority ministry university hospital club party "
        "museum journal bidder",
        AnswerKind.PERSON: "person man woman chair chairman chairwoman chairperson president "
        "director ceo manager head founder owner inventor author editor leader captain minister "
        "mayor winner official officer scientist researcher employee member successor predecessor "
        "designer architect composer singer actor actress player king queen painter sculptor "
        "engineer producer writer poet coach teacher conductor translator lawyer judge doctor "
        "nurse witness clerk secretary contact son daughter wife husband mother father brother "
        "sister child parent people persons men women children",
        AnswerKind.ACCOUNT: "reason reasons cause causes effect effects consequence consequences "
        "result results difference differences plan story background purpose role",
        AnswerKind.SHARE: " ".join(_SHARES),
    }.items()
    for noun in nouns.split()
}
_EXTENTS = frozenset(
    "far high tall big large deep fast heavy wide thick hot cold strong late".split()
)
_BE = frozenset("is are was were".split())
_ARTICLES = frozenset("the my our your its their his her".split())
_BEFORE_NOUNS = tuple([word] for word in ("a", "an", *_ARTICLES))
_WORD = re.compile(r"\w+(?:['\-]\w+)*")


def sought_by(text: str) -> Sought:
    """Return what a question asks for."""
    words = [word.lower() for word in _WORD.findall(text)]
    asked = next((i for i, word in enumerate(words) if _plain(word) in ASKING), None)
    if asked is None:
        return _without_asking_word(words)
    rest = words[asked + 1 :]
    if "'" in words[asked]:  # what's the price
        rest.insert(0, "is")
    match _plain(words[asked]):
        case "who" | "whom" | "whose":
            return Sought(AnswerKind.PERSON, several=bool(rest) and rest[0] in {"are", "were"})
        case "when":
            return Sought(AnswerKind.DATE)
        case "where":
            return Sought(AnswerKind.PLACE)
        case "why":
            return Sought(AnswerKind.ACCOUNT)
        case "how":
            return _how(rest)
        case _:
            return _which(rest)


def _plain(word: str) -> str:
    plain = word.partition("'")[0]
    return plain.removesuffix("s") if plain in {"whats", "whos", "hows"} else plain


def _without_asking_word(words: Sequence[str]) -> Sought:
    if words and words[0] in AUXILIARIES:
        return Sought(AnswerKind.YES_NO)
    # keywords, or "tell me the price of": the first noun that stands for a kind of value
    for word in words:
        kind = _BY_NOUN.get(_singular(word), AnswerKind.ACCOUNT)
        if kind in VALUES:
            return Sought(kind, word)
    return Sought(AnswerKind.ACCOUNT)


def _how(rest: Sequence[str]) -> Sought:
    first = rest[0] if rest else ""
    if first == "old":
        return Sought(AnswerKind.AGE, unit="years")
    if first == "often":
        return Sought(AnswerKind.COUNT, "times")
    if first == "long":
        still = len(rest) > 1 and rest[1] in {"is", "are"}  # a tunnel or a period
        return Sought(AnswerKind.AMOUNT if still else AnswerKind.DURATION)
    if first in _EXTENTS:
        return Sought(AnswerKind.AMOUNT)
    if first not in {"many", "much"}:
        return Sought(AnswerKind.ACCOUNT)
    noun = _noun(rest[1:])
    last = noun.rpartition(" ")[2]
    if last in _TIME_UNITS:
        return Sought(AnswerKind.DURATION, noun, last)
    if last in _SHARES:
        return Sought(AnswerKind.SHARE, noun, "%")
    if last in _UNITS:
        return Sought(AnswerKind.AMOUNT, noun, last)
    return Sought(AnswerKind.COUNT if first == "many" else AnswerKind.AMOUNT, noun)


def _which(rest: Sequence[str]) -> Sought:
    """Return what "which" or "what" asks for: "which farm supplies", "what is the price of"."""
    if rest and rest[0] in AUXILIARIES:
        is_noun = rest[0] in _BE and len(rest) > 1 and rest[1] in _ARTICLES
        if not is_noun:
            return Sought(AnswerKind.ACCOUNT)
        rest = rest[2:]
    noun = _noun(rest)
    if not noun or is_past(noun.partition(" ")[0]):  # what happened
        return Sought(AnswerKind.ACCOUNT)
    last = noun.rpartition(" ")[2]
    plural = last.endswith("s") and not last.endswith(("ss", "us", "is"))
    kind = _BY_NOUN.get(last) or _BY_NOUN.get(_singular(last), AnswerKind.THING)
    return Sought(kind, noun, "%" if kind is AnswerKind.SHARE else "", plural)


def _noun(words: Sequence[str]) -> str:
    """Return the noun phrase with which words begin; it ends before a small word or a verb."""
    taken: list[str] = []
    for word in words[:4]:
        ends = word in STOPWORDS | AUXILIARIES | ASKING
        if ends or (taken and (word.endswith("ed") or _agrees(taken[-1], word))):
            break
        taken.append(word)
    # No article follows a noun: "what county shares a border" asks for one county.
    if len(taken) > 1 and words[len(taken) : len(taken) + 1] in _BEFORE_NOUNS:
        taken.pop()
    known = [i for i, word in enumerate(taken) if _singular(word) in _BY_NOUN or word in _UNITS]
    return " ".join(taken[: known[0] + 1] if known else taken[:3])


def _agrees(noun: str, word: str) -> bool:
    """Return whether a word may be the verb of the noun before it: one of the two ends in s."""
    return noun.endswith("s") != word.endswith("s") and noun.endswith("s")


def _singular(noun: str) -> str:
    if noun in _BY_NOUN or noun.endswith(("ss", "us", "is")):
        return noun
    return f"{noun[:-3]}y" if noun.endswith("ies") else noun.removesuffix("s")
