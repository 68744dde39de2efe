"""Questions that compare two things: each is read by itself, and code compares the results.

"Who is older, A or B" compares dates; "which singer is American, A or B" and "are A and B both
directors" ask the reader how far the texts about each support the statement; "are A and B in the
same state" compares two answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from deepdiver.core.dates import Day
from deepdiver.core.text import Span
from deepdiver.reason.embedded.names import bare, tokens
from deepdiver.reason.embedded.reader_answers import (
    LEAST_TITLE,
    Passage,
    answer_in,
    support_for,
    title_of,
)
from deepdiver.reason.embedded.reading import Reading, mention, read_sentence
from deepdiver.reason.embedded.rivals import same_words

EARLY = frozenset("first earlier earliest older oldest elder eldest".split())
LATE = frozenset("last later latest younger youngest newer newest".split())
APART = 0.1
"""The least difference in support between the two."""
BORNE_OUT = 0.5
"""From this probability on, the statement counts as true."""
LIKELY = 0.05
"""The least score of an answer that is compared with another."""
_JOINT = re.compile(r"\s*,?\s*(?P<joint>or|and)\s+(?:the |a |an )?", re.IGNORECASE)
_SINGULAR = {"are": "is", "were": "was", "do": "does", "have": "has"}
_CHOICE = re.compile(
    r"^(?:.*\b)?(?:which|what|who)\b[^,]*?\b(?P<verb>is|was|are|were|has|had|have|did|does|can"
    r"|plays?)\b(?P<rest>.*)$",
    re.I,
)
_YES_NO = re.compile(
    r"^(?P<verb>is|are|was|were|do|does|did|has|have|had|can)\b(?P<rest>.*)$", re.I
)
_SAME = re.compile(r"\b(?:the )?same (?P<noun>[a-z]+)", re.IGNORECASE)

_DEGREE = re.compile(
    r"\b(?:is|are|was|were|has been|have been)\s+(?:the\s+)?\w+(?:er|est)\b"
    r"|\b(?:more|less|most|least|fewer|better|worse)\b",
    re.IGNORECASE,
)
"""A question of degree, which what is said of each alone does not decide: it is left to the
sentences that answer it directly."""


@dataclass(frozen=True, slots=True)
class ComparedPair:
    """The two things that a question compares."""

    names: tuple[str, str]
    """Their names in the question."""
    choice: bool
    """Whether the question asks for one of them; else for yes or no."""
    rest: str
    """The question without them."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The result of a comparison."""

    answer: str
    """The name, or yes or no."""
    passages: tuple[int, ...]
    """The passages that it rests on, that of the answer first."""
    shown: str
    """How it was computed."""
    sure: float
    """How sure it is, 0..1."""


def compared_pair(question: str, titles: Iterable[str] = ()) -> ComparedPair | None:
    """Return the two things that a question compares; None if it does not compare.

    Args:
        question: The question.
        titles: Titles of sources: one that is in the question is a name, whatever words it has.
    """
    text = " ".join(question.split()).strip(" ?.")
    names = _names(text, titles)
    for one, other in pairwise(names):
        joint = _JOINT.fullmatch(text[one.end : other.start])
        if joint is None:
            continue
        choice, asks = joint["joint"].lower() == "or", _YES_NO.match(text)
        if not asks if choice else asks and _of_both(text):
            rest = " ".join(f"{text[: one.start]} {text[other.end :]}".replace(" ,", " ").split())
            return ComparedPair((one.of(text), other.of(text)), choice, rest.strip(" ,"))
    return None


def _names(text: str, titles: Iterable[str]) -> list[Span]:
    """Return where names stand, in order; a longer name hides those that it overlaps."""
    found = [Span(name.start, name.end) for name in read_sentence(text).names]
    for title in sorted({title_of(title) for title in titles}):
        if len(title) >= LEAST_TITLE and (at := text.lower().find(title.lower())) >= 0:
            found.append(Span(at, at + len(title)))
    kept: list[Span] = []
    for span in sorted(found, key=lambda span: (span.start - span.end, span.start)):
        if not any(span.start < other.end and other.start < span.end for other in kept):
            kept.append(span)
    return sorted(kept)


def _of_both(text: str) -> bool:
    return bool(re.search(r"\b(?:both|same)\b", text, re.IGNORECASE))


def passages_of_each(
    pair: ComparedPair, passages: Sequence[Passage]
) -> tuple[list[int], list[int]]:
    """Return the passages about each of the two.

    These are the passages of sources titled with its name, or else those that mention it.
    """
    readings = [read_sentence(one.text) for one in passages]
    made = []
    for name in pair.names:
        entitled = [n for n, one in enumerate(passages) if _same_title(one.title, name)]
        made.append(
            entitled or [n for n, reading in enumerate(readings) if mention(reading, name) >= 0]
        )
    return made[0], made[1]


def _same_title(title: str, name: str) -> bool:
    mine, theirs = (tuple(w for w in bare(text) if w != "the") for text in (title_of(title), name))
    return bool(mine) and mine == theirs


def compare(question: str, passages: Sequence[Passage]) -> Comparison | None:
    """Return the result of comparing the two things; None if nothing is certain."""
    pair = compared_pair(question, [one.title for one in passages])
    if pair is None:
        return None
    one, other = passages_of_each(pair, passages)
    if not one or not other:
        return None
    asked = {word.text for word in tokens(pair.rest)}
    if pair.choice and asked & (EARLY | LATE):
        return _by_date(pair, passages, one, other, early=bool(asked & EARLY))
    if pair.choice:
        return None if _DEGREE.search(pair.rest) else _by_claim(pair, passages, one, other)
    if same := _SAME.search(pair.rest):
        return _by_answer(pair, same["noun"], passages, one, other)
    return _both(pair, passages, one, other)


def _by_date(
    pair: ComparedPair,
    passages: Sequence[Passage],
    one: Sequence[int],
    other: Sequence[int],
    *,
    early: bool,
) -> Comparison | None:
    dated = [_earliest(passages, numbers) for numbers in (one, other)]
    if dated[0] is None or dated[1] is None or dated[0][0] == dated[1][0]:
        return None
    won = 0 if (dated[0][0] < dated[1][0]) == early else 1
    told = [
        f"{name}: {found[0].iso()}" for name, found in zip(pair.names, dated, strict=True) if found
    ]
    shown = f"{'; '.join(told)}; the {'earlier' if early else 'later'} is {pair.names[won]}."
    places = [found[1] for found in dated if found]
    return Comparison(pair.names[won], (places[won], places[1 - won]), shown, 0.8)


def _earliest(passages: Sequence[Passage], numbers: Sequence[int]) -> tuple[Day, int] | None:
    """Return the earliest date of something, which is when it was born, founded or made."""
    return min(
        (
            (day, n)
            for n in numbers
            for day, _, _ in read_sentence(passages[n].text).days
            if day.year
        ),
        default=None,
    )


def _by_claim(
    pair: ComparedPair, passages: Sequence[Passage], one: Sequence[int], other: Sequence[int]
) -> Comparison | None:
    """Choose the thing for which the statement has more support."""
    match = _CHOICE.match(pair.rest)
    if match is None:
        return None
    held = [
        _borne_out(f"{name} {match['verb']} {match['rest'].strip(' ,')}.", passages, numbers)
        for name, numbers in zip(pair.names, (one, other), strict=True)
    ]
    won = 0 if held[0][0] >= held[1][0] else 1
    if abs(held[0][0] - held[1][0]) < APART:
        return None
    shown = (
        f"Borne out of {pair.names[0]} by {held[0][0]:.2f}, of {pair.names[1]} by {held[1][0]:.2f}."
    )
    return Comparison(
        pair.names[won], (held[won][1], held[1 - won][1]), shown, round(0.5 + held[won][0] / 2, 3)
    )


def _both(
    pair: ComparedPair, passages: Sequence[Passage], one: Sequence[int], other: Sequence[int]
) -> Comparison | None:
    match = _YES_NO.match(pair.rest)
    if match is None:
        return None
    verb = _SINGULAR.get(match["verb"].lower(), match["verb"].lower())
    rest = re.sub(r"\bboth\b", "", match["rest"]).strip(" ,")
    held = [
        _borne_out(f"{name} {verb} {rest}.", passages, numbers)
        for name, numbers in zip(pair.names, (one, other), strict=True)
    ]
    weak = 0 if held[0][0] <= held[1][0] else 1
    shown = (
        f"Borne out of {pair.names[0]} by {held[0][0]:.2f}, of {pair.names[1]} by {held[1][0]:.2f}."
    )
    answer = "yes" if held[weak][0] >= BORNE_OUT else "no"
    return Comparison(
        answer,
        (held[weak][1], held[1 - weak][1]),
        shown,
        round(abs(held[weak][0] - BORNE_OUT) + 0.5, 3),
    )


def _borne_out(
    claim: str, passages: Sequence[Passage], numbers: Sequence[int]
) -> tuple[float, int]:
    """Return the best support for a claim, and the passage that gives it."""
    held = [(support_for(passages[n], claim), -n) for n in numbers]
    best, place = max(held)
    return best, -place


def _by_answer(
    pair: ComparedPair,
    noun: str,
    passages: Sequence[Passage],
    one: Sequence[int],
    other: Sequence[int],
) -> Comparison | None:
    """Ask the same question about both, and compare the answers."""
    told = []
    for name, numbers in zip(pair.names, (one, other), strict=True):
        asked = f"What {noun} is {name} in?"
        told.append(
            max(
                ((answer_in(asked, passages[n]), -n) for n in numbers),
                key=lambda item: (item[0][1], item[1]),
            )
        )
    (first, score), (second, least) = told[0][0], told[1][0]
    if min(score, least) < LIKELY or not first or not second:
        return None
    answer = "yes" if same_words(first, second) else "no"
    shown = f"{pair.names[0]}: {first}; {pair.names[1]}: {second}."
    return Comparison(answer, (-told[0][1], -told[1][1]), shown, 0.7)


def is_wanted_sentence(name: str, reading: Reading, title: str, first: bool) -> bool:
    """Return whether a sentence is worth taking for one of the two.

    In a text with its title, the first sentence and those with a date; elsewhere, those that
    mention it.
    """
    if _same_title(title, name):
        return first or bool(reading.days)
    return mention(reading, name) >= 0
