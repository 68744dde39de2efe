"""Rival answers by the reader: what it takes for an answer in the findings, the same words of all sources together."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from deepdiver.core.text import STOPWORDS, words
from deepdiver.reason.embedded.chain import covered
from deepdiver.reason.embedded.clause import Clause, Kind
from deepdiver.reason.embedded.names import same_name
from deepdiver.reason.embedded.reading import mention, read
from deepdiver.reason.embedded.spans import Passage, Told, answers, links
from deepdiver.tasks import Shown

LIKELY = 0.035
"""The likeliest answer is put forward from this score on."""
NEAR = 0.35
"""Answers that score at least this part of the likeliest are its rivals; those of two origins may be right as well."""
BELIEVED, DOUBTED = 0.58, 0.25
"""Belief before any test in what may be right, and in a rival of one origin alone."""
SCORED = 0.17
"""What a certain score adds to that belief."""


@dataclass(frozen=True, slots=True)
class Rival:
    """An answer, and the findings that give it."""

    answer: str
    """Its words."""
    score: float
    """How likely it answers: that any of its origins does, 0..1."""
    best: int
    """The finding that gives it most clearly."""
    findings: tuple[int, ...]
    """All that give it, or led to it, that one first."""
    prior: float
    """Belief before any test."""


def rivals(question: str, clause: Clause, findings: Sequence[Shown]) -> list[Rival]:
    """Return the rival answers that the reader finds, the likeliest first; none where none is likely."""
    found = answers(question, clause, _passages(clause, findings))
    told = [
        item
        for item in found
        if to_the_point(clause, (findings[number].quote for number in (item.passage, item.by) if number >= 0))
    ]
    weighed = [(_by_origin(group, findings), group) for group in _together(told)]
    scored = sorted(((_likelihood(best), len(best), group) for best, group in weighed), key=lambda item: -item[0])
    if not scored or scored[0][0] < LIKELY:
        return []
    bar = NEAR * scored[0][0]
    return [
        _rival(group, score, likely=not place or (origins > 1 and group[0].by < 0))
        for place, (score, origins, group) in enumerate(scored)
        if score >= bar
    ]


def _passages(clause: Clause, findings: Sequence[Shown]) -> list[Passage]:
    """Return the findings to read; where none leads to another, those without a name under the one that is asked about.

    "The population was 459" was taken from a text about the town, and does not say so.
    """
    made = [Passage(finding.source, finding.quote) for finding in findings]
    if links(made, len(made)) or not clause.names:
        return made
    asked = clause.names[0]
    return [Passage(f"{one.title}: {asked}", one.text) if _nameless(one, asked) else one for one in made]


def _nameless(passage: Passage, asked: str) -> bool:
    """Whether a sentence names nobody and nothing, or what is asked about in short alone: Davis, of Ryan Davis."""
    reading = read(passage.text)
    return mention(reading, asked) < 0 and all(same_name(name.text, asked) for name in reading.names[:1])


def to_the_point(clause: Clause, sentences: Iterable[str]) -> bool:
    """Whether who is named is said to have done any of what is asked: the reader takes the only name for the answer."""
    if clause.kind not in {Kind.PERSON, Kind.COMPANY} or not clause.keys:
        return True
    return any(covered(clause.keys, read(sentence)) > 0 for sentence in sentences)


def _rival(group: Sequence[Told], score: float, *, likely: bool) -> Rival:
    listed = dict.fromkeys(number for told in group for number in (told.passage, told.by) if number >= 0)
    prior = BELIEVED + SCORED * score if likely else DOUBTED
    return Rival(group[0].text, score, group[0].passage, tuple(listed), round(prior, 3))


def _together(told: Iterable[Told]) -> list[list[Told]]:
    """Put answers together that are the same, or of which one holds the other's words."""
    groups: list[list[Told]] = []
    for item in told:
        for group in groups:
            if same_words(group[0].text, item.text):
                group.append(item)
                break
        else:
            groups.append([item])
    return groups


def same_words(one: str, other: str) -> bool:
    """Whether two answers are the same, but for words that stand before or behind: Hank Williams, Jr."""
    first, second = _telling(one), _telling(other)
    short, long = sorted((first, second), key=len)
    if not short:
        return first == second
    inside = any(long[at : at + len(short)] == short for at in range(len(long) - len(short) + 1))
    return inside and 2 * len(short) >= len(long)


def _telling(text: str) -> list[str]:
    return [word for word in words(text) if word not in STOPWORDS] or words(text)


def _by_origin(group: Iterable[Told], findings: Sequence[Shown]) -> dict[str, float]:
    """Return the best score that each origin gives an answer."""
    best: dict[str, float] = {}
    for told in group:
        finding = findings[told.passage]
        origin = finding.origin or finding.id
        best[origin] = max(best.get(origin, 0.0), told.score)
    return best


def _likelihood(best: Mapping[str, float]) -> float:
    """How likely one of several origins answers."""
    return round(1.0 - math.prod(1.0 - score for _, score in sorted(best.items())), 4)
