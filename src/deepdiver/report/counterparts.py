"""Counterparts of a sentence: what its quotes may say in its place.

A counterpart has one thing exchanged or left out: a word whose opposite the quotes have, a negation
or a "must" that they do not have, a name where they name somebody else. Code finds them; whether
the quotes carry the sentence or rather its counterpart is for the reader to say. Asked about both,
it need not be sure of either, and what it does not understand of one it does not understand of the
other.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from deepdiver.core.names import names
from deepdiver.core.opposites import are_opposite, are_two_sides, poles
from deepdiver.core.text import STOPWORDS, stem, words
from deepdiver.report.bindings import Cited, find_other_name
from deepdiver.report.clauses import NEGATORS, Unit, akin, is_english, read_unit, read_units, shared

_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
_NEGATION = re.compile(
    r"\b(?:do|does|did|need) not\b|\bcannot\b|\b(?:not|never)\b(?! only)|\bneither\b|\bnone of\b"
    r"|(?<!ca)(?<!wo)n['’]t\b|\bwithout\b|\bno\b(?! (?:longer|more|less|later|fewer)\b)",
    re.IGNORECASE,
)
_PART = re.compile(r"[^.;:!?|\n]+")
"""What words are beside each other in: a sentence or a cell."""
_CLAUSE = re.compile(r"[,;:.()]")
_STATE = re.compile(
    r"\b(?:is|are|was|were|can|could|will|would|should|may|must|has been|have been)\b(?! been)"
)
_NEAR = 4
"""Words on each side of a negation that are compared with those of a quote."""
_LEAST = 2
"""How many of them the quote must have."""
_REACH = 7
"""Words before another among which something may negate it."""
_AFFIRMED = {
    "cannot": "can",
    "need not": "needs to",
    "neither": "both",
    "none of": "all of",
    "without": "with",
}
"""What stands in the place of a negation that is more than a word less."""
_FOLLOWED = re.compile(r"\s+\w")
"""A word that says more of what follows it."""
_BEFORE_FIGURE = re.compile(r"\s+(?:(?:about|around|some|by|a|an)\s+)?[$€£]?\d")
"""What "only" says little of: that visits rose 12% but sales only 4.5% weighs two figures."""
_STRESSED = {
    stem(word): frozenset(map(stem, words(f"{word} {carriers}")))
    for listed, carriers in (
        (
            "all every always whole entire entirely everyone completely fully",
            "all every always whole entire entirely everyone everybody everything completely each "
            "both any anyone throughout whenever full fully total totally complete universal "
            "across ever 100",
        ),
        (
            "only alone solely exclusively",
            "only alone solely exclusively sole just exclusive single one but except unless "
            "limited merely purely until before",
        ),
        (
            "must",
            "must require need shall should necessary mandatory obliged essential force vital",
        ),
        ("guarantee", "guarantee ensure assure always certain sure"),
        ("prove", "prove proven proof show demonstrate establish confirm"),
        ("exactly precisely", "exactly exact precisely precise"),
        ("certainly definitely undoubtedly", "certainly certain definitely sure clearly doubt"),
        ("inevitably", "inevitably inevitable always"),
    )
    for word in words(listed)
}
"""Words that say more than a sentence without them, each with those that carry it."""

_DETERMINERS = frozenset(
    words(
        "no none one single few some several many multiple various most all every each any with "
        "without"
    )
)
"""Words that speak only of the word that they stand beside."""
_SINGLE = frozenset(("one", "single"))
_FOR_EACH = re.compile(r"[^.;:!?]{0,40}\b(?:per|for (?:each|every|all)|each)\b")
_UNITS_FOLLOW = frozenset(("a", "per", "each", "every", "one"))
_QUARTER = re.compile(r"\b(?:Q([1-4])|H([12]))\b")
_NUMBERED = ("first", "second", "third", "fourth")
_PARTICLES = frozenset(("up", "down"))
_MOVES = frozenset(words("is are was were be been go goes going gone went move moves moved trend"))
_MAKES = frozenset(words("make makes made making"))
_BY_FIGURE = re.compile(
    r"(?:\s+(?:about|around|nearly|almost|over|some|by|from|to|at))*\s+[$€£]?\d|\s+from\b"
)
_FIGURE = re.compile(r"(?<![\w.,])[$€£]?\d+(?:,\d{3})*(?:\.\d+)?%?(?![\w%]|[.,]\d)")
_YEAR = re.compile(r"(?:19|20)\d\d")


@dataclass(frozen=True, slots=True)
class Counterpart:
    """A sentence with one thing exchanged or left out."""

    text: str
    """What it says."""
    said: str
    """What the sentence has."""
    instead: str
    """What the counterpart has; empty if it leaves something out."""

    @property
    def weakens(self) -> bool:
        """Whether it takes back a word that says more than a sentence without it: must, only."""
        return stem(self.said.lower()) in _STRESSED

    def fault(self) -> str:
        """Return what is wrong with the sentence if its quotes say the counterpart."""
        if self.instead:
            return f"it says “{self.said}” where its quotes say “{self.instead}”"
        return f"it says “{self.said}”, which its quotes do not"


def find_counterparts(said: str, quotes: Sequence[Cited]) -> list[Counterpart]:
    """Return the counterparts of a sentence; mostly none.

    Args:
        said: The sentence.
        quotes: What it cites.
    """
    if not is_english(said):
        return []
    quoted = [unit for quote in quotes for unit in read_units(quote.text)]
    theirs = sorted({token.word for unit in quoted for token in unit if token.is_word})
    around = [token.word for quote in quotes for token in read_unit(quote.credit)]
    carrying = {stem(word) for word in (*theirs, *around)}
    return [
        *_exchanged(said, quotes),
        *_affirmed(said, quoted),
        *_denied(said, quoted),
        *_unstressed(said, carrying),
        *_renamed(said, quotes),
    ]


def find_exchanged(said: str, quotes: Iterable[str]) -> Iterator[str]:
    """Yield a sentence with two names, or two figures of a kind, in each other's place.

    Both stand once in the sentence, and somewhere in its quotes.

    Args:
        said: The sentence.
        quotes: What it cites.
    """
    if not is_english(said):
        return
    quoted = "\n".join(quotes)
    for kind in (names(said), *_figures_by_kind(said)):
        held = [each for each in kind if _count(each, said) == 1 and _count(each, quoted)]
        for one, other in itertools.combinations(held, 2):
            if one not in other and other not in one:
                yield _exchange(said, one, other)


def _exchange(said: str, one: str, other: str) -> str:
    def turned(spot: re.Match[str]) -> str:
        return one if spot.group() == other else other

    return re.sub(f"{_standing(one)}|{_standing(other)}", turned, said)


def _figures_by_kind(said: str) -> Iterator[list[str]]:
    """Yield the figures of a sentence, sums of a currency, shares, years and others apart."""
    found: dict[str, list[str]] = {}
    for figure in dict.fromkeys(_FIGURE.findall(said)):
        kind = "year" if _YEAR.fullmatch(figure) else re.sub(r"[\d.,]", "", figure)
        found.setdefault(kind, []).append(figure)
    yield from found.values()


def _standing(told: str) -> str:
    """Return a pattern of words where they are not a part of others."""
    return rf"(?<![\w.,$€£]){re.escape(told)}(?![\w%]|[.,]\d)"


def _count(told: str, text: str) -> int:
    return len(re.findall(_standing(told), text))


def _with(said: str, start: int, end: int, new: str) -> str:
    """Return a sentence with other words in one place; an empty place takes its space along."""
    if not new and said[end : end + 1] == " ":
        end += 1
    if start == 0:
        new = new[:1].upper() + new[1:]
    made = said[:start] + new + said[end:]
    return made[:1].upper() + made[1:]


@dataclass(frozen=True, slots=True)
class _Place:
    """A word in its place."""

    word: str
    stem: str
    start: int
    end: int
    beside: tuple[str, str]
    """The stems of the next words that count before and behind it; empty at an end."""
    than: str = ""
    """The stem of the next word that counts behind a "than"; empty if there is none."""
    around: frozenset[str] = frozenset()
    """The stems of the other words that count in its sentence or cell."""

    def is_of_same(self, other: _Place) -> bool:
        """Whether it may speak of the same thing as another, which stands in other words.

        Their sentences or cells share a word, or one of them says nothing else.
        """
        apart = self.around and other.around
        return not apart or shared(self.around, other.around) > 0

    def is_other_side(self, other: _Place) -> bool:
        """Whether both tell one event, of somebody else each: shops sell what customers buy."""
        mine, theirs = self.beside[0], other.beside[0]
        return are_two_sides(self.word, other.word) and not (mine and theirs and akin(mine, theirs))

    def is_beside(self, other: _Place) -> bool:
        """Whether it has the same word before it as another, or behind it."""
        pairs = zip(self.beside, other.beside, strict=True)
        return any(one and two and akin(one, two) for one, two in pairs)

    def compares_back(self, other: _Place) -> bool:
        """Whether both compare, with different things: A more than B, B less than A."""
        return bool(self.than and other.than) and not akin(self.than, other.than)


def _places(text: str) -> list[_Place]:
    """Return the words of a text that count or have an opposite."""
    parts = (list(_WORD.finditer(text, *part.span())) for part in _PART.finditer(text))
    return [place for spots in parts for place in _places_in(text, spots)]


def _places_in(text: str, spots: Sequence[re.Match[str]]) -> Iterator[_Place]:
    """Yield the same of a sentence or a cell, given its words."""
    listed = [spot.group().lower() for spot in spots]
    counting = {stem(word) for word in listed if _counts(word)}
    for at, (spot, word) in enumerate(zip(spots, listed, strict=True)):
        if spot.group() == "May" and (at > 0 or text[spot.end() + 1 :][:1].isdigit()):
            continue  # the month
        if word in _PARTICLES and not _tells_direction(text, spot, listed[at - 1] if at else ""):
            continue
        if (_counts(word) or poles(word)) and not _is_ordinal(listed, at):
            others = frozenset(counting - {stem(word)})
            yield _Place(word, stem(word), *spot.span(), *_beside(listed, at), others)


def _tells_direction(text: str, spot: re.Match[str], before: str) -> bool:
    """Whether "up" or "down" tells where something goes: that of "made up 30%" does not."""
    moves = before in _MOVES or _BY_FIGURE.match(text, spot.end()) is not None
    return moves and before not in _MAKES


def _beside(listed: Sequence[str], at: int) -> tuple[tuple[str, str], str]:
    """Return the stems of the words that count next to one, and of that behind a "than"."""
    before, behind = listed[:at][::-1], listed[at + 1 :]
    _, _, compared = " ".join(behind).partition("than ")
    return (_first(before), _first(behind)), _first(compared.split())


def _is_ordinal(listed: Sequence[str], at: int) -> bool:
    """Whether a "second" is not the unit of time: that stands behind a number or "per".

    Behind "a" it is one if no other word of the same thing follows: a second presentation.
    """
    before, after = ["", *listed][at], [*listed, ""][at + 1]
    if listed[at] != "second" or before.isdigit() or before == "per":
        return False
    return before not in _UNITS_FOLLOW or (bool(after) and after not in STOPWORDS)


def _first(listed: Iterable[str]) -> str:
    """Return the stem of the first word that counts; empty if there is none."""
    return next((stem(word) for word in listed if _counts(word)), "")


def _counts(word: str) -> bool:
    return len(word) > 1 and word not in STOPWORDS and word not in NEGATORS


def _exchanged(said: str, quotes: Sequence[Cited]) -> Iterator[Counterpart]:
    """Yield a sentence with an opposite of its quotes in the place of one of its words.

    The quotes do not have the sentence's word, or only the opposite beside the same word. What
    stands above a row, such as the unit of its column, is exchanged for nothing in it.
    """
    theirs = [place for quote in quotes for place in _places(_QUARTER.sub(_spelled, quote.text))]
    heads = {token.stem for quote in quotes for token in read_unit(quote.head)}
    for place in (place for place in _places(said) if place.stem not in heads):
        if place.word in _SINGLE and _FOR_EACH.match(said, place.end):
            continue  # one for each is several
        for rival in _rivals(place, theirs):
            text = _with(said, place.start, place.end, rival)
            yield Counterpart(text, said[place.start : place.end], rival)


def _rivals(place: _Place, theirs: Sequence[_Place]) -> list[str]:
    """Return the opposites of a word that quotes have in its place."""
    same = [other for other in theirs if _means_same(place, other)]
    beside = any(map(place.is_beside, same))
    return sorted(
        {
            other.word
            for other in theirs
            if are_opposite(place.word, other.word)
            and not place.compares_back(other)
            and not place.is_other_side(other)
            and (
                (place.is_beside(other) and not beside)
                or (place.is_of_same(other) and not (same or place.word in _DETERMINERS))
            )
        }
    )


def _spelled(period: re.Match[str]) -> str:
    """Return a quarter or a half in words: Q2, the second quarter."""
    quarter, half = period.groups()
    return f"{_NUMBERED[int(quarter or half) - 1]} {'quarter' if quarter else 'half'}"


def _means_same(one: _Place, other: _Place) -> bool:
    if are_opposite(one.word, other.word):
        return False
    return akin(one.stem, other.stem) or bool(poles(one.word) & poles(other.word))


def _affirmed(said: str, quoted: Sequence[Unit]) -> Iterator[Counterpart]:
    """Yield a sentence without a negation where its quotes say the same without one."""
    for spot in _NEGATION.finditer(said):
        if _is_affirmed(said, spot, quoted):
            new = _AFFIRMED.get(spot.group().lower(), "")
            yield Counterpart(_with(said, *spot.span(), new), spot.group(), new)


def _is_affirmed(said: str, spot: re.Match[str], quoted: Sequence[Unit]) -> bool:
    """Whether the quotes have the word behind a negation, among the same words, not negated."""
    behind = [token for token in read_unit(_CLAUSE.split(said[spot.end() :])[0]) if token.counts]
    before = [token for token in read_unit(said[: spot.start()]) if token.counts]
    if not behind:
        return False
    near = {token.stem for token in (*before[-_NEAR:], *behind[1 : _NEAR + 1])}
    places = [
        _is_denied(unit, at)
        for unit in quoted
        for at, token in enumerate(unit)
        if akin(token.stem, behind[0].stem)
        and shared(near, {other.stem for other in unit if other.counts}) >= _LEAST
    ]
    return bool(places) and not any(places)


def _is_denied(unit: Unit, at: int) -> bool:
    """Whether something that may carry a negation is near a word, or is the value of its cell."""
    bars = [place for place, token in enumerate(unit) if token.word == "|"]
    end = next((bar for bar in bars if bar > at), len(unit) if bars else at + 2)
    return any(token.may_negate for token in unit[max(0, at - _REACH) : end])


def _denied(said: str, quoted: Sequence[Unit]) -> Iterator[Counterpart]:
    """Yield a sentence that denies nothing with a "not", where its quotes deny something."""
    if any(token.negates for token in read_unit(said)):
        return
    if any(token.negates for unit in quoted for token in unit):
        for spot in _STATE.finditer(said):
            new = f"{spot.group()} not"
            yield Counterpart(_with(said, *spot.span(), new), spot.group(), new)


def _renamed(said: str, cited: Sequence[Cited]) -> Iterator[Counterpart]:
    """Yield a sentence with the name that the quote that says the same has in a name's place."""
    found = find_other_name(said, cited)
    spot = found and re.search(rf"\b{re.escape(found[0])}\b", said)
    if found and spot and not _QUARTER.fullmatch(found[0]):  # Q2 is nobody's name
        yield Counterpart(_with(said, *spot.span(), found[1]), *found)


def _unstressed(said: str, carrying: Collection[str]) -> Iterator[Counterpart]:
    """Yield a sentence without a word that says more than its quotes do."""
    for spot in _WORD.finditer(said):
        carriers = _STRESSED.get(stem(spot.group().lower()))
        if (
            carriers
            and carriers.isdisjoint(carrying)
            and _FOLLOWED.match(said, spot.end())
            and not (spot.start() and spot.group()[0].isupper())  # part of a name
            and not (spot.group().lower() == "only" and _BEFORE_FIGURE.match(said, spot.end()))
        ):
            yield Counterpart(_with(said, *spot.span(), ""), spot.group(), "")
