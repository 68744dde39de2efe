"""Rival answers by the reader.

What it takes for an answer in the findings, the same words of all sources together.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from deepdiver.core.text import STOPWORDS, words
from deepdiver.reason.embedded.chain import covered
from deepdiver.reason.embedded.clause import Clause, Kind
from deepdiver.reason.embedded.names import same_name
from deepdiver.reason.embedded.reading import mention, read
from deepdiver.reason.embedded.spans import Passage, Told, entitled, links
from deepdiver.reason.embedded.steps import ask
from deepdiver.tasks import ShownFinding

LIKELY = 0.035
"""The likeliest answer is put forward from this score on."""
NEAR = 0.35
"""Answers that score at least this part of the likeliest are its rivals."""
ONE_OF_TWO = 0.5
"""What is left of belief in an answer where a copy of its text gives another: one of the two was
altered."""
SURE_OF_NONE = 0.05
"""Belief in an answer is never less."""
FIRST_GUESS = 0.5
"""Belief in an answer before any finding is judged, at most: what gives it then moves belief to its
likelihood."""


@dataclass(frozen=True, slots=True)
class Rival:
    """An answer, and the findings that give it."""

    answer: str
    """Its words."""
    score: float
    """How likely it answers: that any of its origins does, 0..1."""
    best: int
    """The finding that gives it most clearly."""
    giving: tuple[int, ...]
    """The findings that give it, that one first."""
    leading: tuple[int, ...]
    """Further findings that led to it."""
    likelihood: float
    """Belief in it by all of these."""
    disputed: bool = False
    """Whether copies of its texts give something else."""

    @property
    def prior(self) -> float:
        """Belief in it before its findings are judged."""
        return min(self.likelihood, FIRST_GUESS)

    @property
    def findings(self) -> tuple[int, ...]:
        """All that give it, or led to it."""
        return (*self.giving, *self.leading)


def rivals(question: str, clause: Clause, findings: Sequence[ShownFinding]) -> list[Rival]:
    """Return the rival answers that the reader finds, the likeliest first.

    None where none is likely.
    """
    asked = ask(question, clause, _passages(clause, findings))
    told = [
        item
        for item in asked.told
        if asked.steps
        or to_the_point(
            clause, (findings[number].quote for number in (item.passage, item.by) if number >= 0)
        )
    ]
    groups = _together(told)
    altered = _altered(groups, findings)
    scores = [_likelihood(_by_origin(group, findings)) for group in groups]
    if not scores or max(scores) < LIKELY:
        return []
    bar = NEAR * max(scores)
    put = [number for number, score in enumerate(scores) if score >= bar]
    likely = {n: asked.likelihood(scores[n]) * (ONE_OF_TWO if n in altered else 1.0) for n in put}
    shared = max(
        1.0, math.fsum(sorted(likely.values()))
    )  # rivals: belief in all of them is no more than one
    steps = [step.passage for step in asked.steps]
    made = [_rival(groups[n], scores[n], steps, likely[n] / shared, n in altered) for n in put]
    return sorted(made, key=lambda rival: (-rival.likelihood, -rival.score))


def _altered(groups: Sequence[Sequence[Told]], findings: Sequence[ShownFinding]) -> frozenset[int]:
    """Return the answers that stand in copies of a text which elsewhere gives another one, and no less often.

    Texts that are the same but for the answer are no two witnesses: somebody has changed one of
    them. What more texts say stands; where as many say the one as the other, neither does. On
    RAMDocs, read text by text, this brought wrong answers that are told as right down from 0.51 to
    0.34 of the cases, and all right ones alone up from 0.28 to 0.33.
    """
    texts = [{_text(findings[told.passage]) for told in group} for group in groups]
    return frozenset(
        one
        for one in range(len(groups))
        for other in range(len(groups))
        if one != other
        and len(texts[other]) >= len(texts[one])
        and _copied(groups[one], groups[other], findings)
    )


def _copied(one: Iterable[Told], other: Sequence[Told], findings: Sequence[ShownFinding]) -> bool:
    """Whether two answers stand in copies of one text; one text may well give both."""
    pairs = [(findings[a.passage], findings[b.passage]) for a in one for b in other]
    return any(a.origin and a.origin == b.origin for a, b in pairs) and not any(
        _text(a) == _text(b) for a, b in pairs
    )


def _text(finding: ShownFinding) -> str:
    """Return what tells a finding's text from others."""
    return f"{finding.source}\0{finding.publisher}\0{finding.published}"


def _passages(clause: Clause, findings: Sequence[ShownFinding]) -> list[Passage]:
    """Return the findings to read.

    Where none leads to another, those without a name under the one that is asked about.

    "The population was 459" was taken from a text about the town, and does not say so.
    """
    made = [Passage(finding.source, finding.quote) for finding in findings]
    if links(made, len(made)) or not clause.names:
        return made
    asked = clause.names[0]
    return [
        Passage(f"{one.title}: {asked}", one.text) if _nameless(one, asked) else one for one in made
    ]


def _nameless(passage: Passage, asked: str) -> bool:
    """Whether a sentence names nobody and nothing, or what is asked about in short alone.

    Davis, of Ryan Davis.
    """
    reading = read(passage.text)
    return mention(reading, asked) < 0 and all(
        same_name(name.text, asked) for name in reading.names[:1]
    )


def to_the_point(clause: Clause, sentences: Iterable[str]) -> bool:
    """Whether who is named is said to have done any of what is asked.

    The reader takes the only name for the answer.

    Who the artist of an album is, a sentence says that names the album; it need not say "artist".
    Which crate is green, only one says that speaks of green.
    """
    if not clause.keys or not (
        clause.kind in {Kind.PERSON, Kind.COMPANY} or _PREDICATE.fullmatch(clause.text)
    ):
        return True
    read_all = [read(sentence) for sentence in sentences]
    if any(covered(clause.keys, reading) > 0 for reading in read_all):
        return True
    named = (*clause.names, *clause.titles)
    return bool(_COPULAR.match(clause.text)) and any(
        mention(reading, name) >= 0 or entitled(reading.text, name)
        for reading in read_all
        for name in named
    )


_PREDICATE = re.compile(
    r"(?:which|what)(?: [a-z]+){1,2} (?:is|are|was|were) [a-z]+\?", re.IGNORECASE
)
_COPULAR = re.compile(r"who(?:m)? (?:is|was|are|were) the\b", re.IGNORECASE)


def _rival(
    group: Sequence[Told], score: float, steps: Iterable[int], likelihood: float, disputed: bool
) -> Rival:
    giving = tuple(dict.fromkeys(told.passage for told in group))
    leading = dict.fromkeys(
        number for number in (*(told.by for told in group), *steps) if number >= 0
    )
    return Rival(
        answer=group[0].text,
        score=score,
        best=group[0].passage,
        giving=giving,
        leading=tuple(number for number in leading if number not in giving),
        likelihood=round(max(SURE_OF_NONE, likelihood), 3),
        disputed=disputed,
    )


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
    """Whether two answers are the same, but for words that stand before or behind.

    Hank Williams, Jr.
    """
    first, second = _telling(one), _telling(other)
    short, long = sorted((first, second), key=len)
    if not short:
        return first == second
    inside = any(long[at : at + len(short)] == short for at in range(len(long) - len(short) + 1))
    return inside and 2 * len(short) >= len(long)


def _telling(text: str) -> list[str]:
    return [word for word in words(text) if word not in STOPWORDS] or words(text)


def _by_origin(group: Iterable[Told], findings: Sequence[ShownFinding]) -> dict[str, float]:
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
