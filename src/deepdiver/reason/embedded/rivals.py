"""Rival answers by the reader: its answers in the findings, grouped by their words."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from deepdiver.core.names import names
from deepdiver.core.text import STOPWORDS, stem, terms, words
from deepdiver.reason.embedded.asked import understand
from deepdiver.reason.embedded.bearers import differ
from deepdiver.reason.embedded.chain import covered
from deepdiver.reason.embedded.clause import Clause, Kind
from deepdiver.reason.embedded.language.units import plain_line, units_in
from deepdiver.reason.embedded.names import same_name
from deepdiver.reason.embedded.reader_answers import Passage, ReaderAnswer, find_links, names_title
from deepdiver.reason.embedded.reading import mention, read_sentence
from deepdiver.reason.embedded.stepwise import agreement, ask_stepwise
from deepdiver.reason.embedded.word_lists import COMPANY_FORMS
from deepdiver.tasks import ShownFinding

LIKELY = 0.035
"""The least score of the likeliest answer for it to be proposed."""
NEAR = 0.35
"""Answers that score at least this share of the likeliest are its rivals."""
OTHER_DAY, OTHER_UNIT = 0.02, 0.3
"""The factors for an answer in a sentence that names other dates than the question alone, which is
about another event, or not the unit that it asks for, which may go without saying."""
ADDRESSED = frozenset("mr mrs ms miss dr prof professor sir".split())
"""Words before a name that do not tell whose it is."""
AS_GOOD = 0.5
"""Of names of one thing, those that score at least this share of the best may stand for it."""
OTHER_WORDS = 0.1
"""What a sentence is worth, as a share, that has no word of the question: it may say the same."""
ONE_OF_TWO = 0.5
"""The factor for belief in an answer if a copy of its text gives another: one of the two was
altered."""
SURE_OF_NONE = 0.05
"""The least belief in an answer."""
FIRST_GUESS = 0.5
"""The highest belief in an answer before any finding is judged: the findings that give it then move
belief to its likelihood."""


@dataclass(frozen=True, slots=True)
class Rival:
    """An answer, and the findings that give it."""

    answer: str
    """Its words."""
    score: float
    """The likelihood that it answers, by any of its origins, 0..1."""
    best: int
    """The finding that gives it most clearly."""
    giving: tuple[int, ...]
    """The findings that give it, the clearest first."""
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
        """All findings that give it or led to it."""
        return (*self.giving, *self.leading)


def find_rivals(question: str, clause: Clause, findings: Sequence[ShownFinding]) -> list[Rival]:
    """Return the rival answers that the reader finds, the likeliest first.

    Empty if no answer is likely.
    """
    asked = ask_stepwise(question, clause, _passages(clause, findings))
    told = [
        replace(item, score=round(item.score * _fit(question, findings[item.passage], item), 4))
        for item in asked.answers
        if _in_one_sentence(item, findings[item.passage])
        and (asked.steps or _says_it(clause, item, findings))
    ]
    groups = _together(told)
    scores = [_by_origin([(item, item.score) for item in group], findings) for group in groups]
    if not scores or max(scores) < LIKELY:
        return []
    bar = NEAR * max(scores)
    put = [number for number, score in enumerate(scores) if score >= bar]
    altered = _altered(groups, findings)
    likely = [
        asked.likelihood(
            _agreed(asked.question, groups[n], findings), _mentioned(groups[n], findings)
        )
        * ONE_OF_TWO ** (n in altered)
        for n in put
    ]
    believed = _believed(question, [groups[n] for n in put], likely, findings)
    steps = [step.passage for step in asked.steps]
    made = [
        _rival(groups[n], scores[n], steps, belief, n in altered)
        for n, belief in zip(put, believed, strict=True)
    ]
    return sorted(made, key=lambda rival: (-rival.likelihood, -rival.score))


def _in_one_sentence(item: ReaderAnswer, finding: ShownFinding) -> bool:
    """Return whether an answer is in one sentence or title: "fathoms. 06:30" is not a time."""
    said = plain_line(item.text)
    return said in _sentence_at(finding.quote, item.start) or said in plain_line(finding.source)


def _says_it(clause: Clause, item: ReaderAnswer, findings: Sequence[ShownFinding]) -> bool:
    numbers = (number for number in (item.passage, item.by) if number >= 0)
    return to_the_point(clause, (findings[number].quote for number in numbers))


def _believed(
    question: str,
    groups: Sequence[Sequence[ReaderAnswer]],
    likely: Sequence[float],
    findings: Sequence[ShownFinding],
) -> list[float]:
    """Return the belief in each answer, given that at most one of those that exclude it is right.

    A part of an answer excludes nothing: Ada, of Ada and Bo.
    """
    odds = [value / (1.0 - value) for value in likely]
    return [
        odds[n]
        / (
            1.0
            + math.fsum(
                odds[m]
                for m, other in enumerate(groups)
                if m == n or _exclude(question, one, other, findings)
            )
        )
        for n, one in enumerate(groups)
    ]


def _fit(question: str, finding: ShownFinding, told: ReaderAnswer) -> float:
    """Return the factor for an answer by the sentence that it stands in.

    What happened in 2025 is not told by a sentence that names 2026 alone, nor how many tonnes by
    one that counts cheeses.
    """
    sentence = _sentence_at(finding.quote, told.start)
    days, wanted = ([day for day, _, _ in read_sentence(t).days] for t in (sentence, question))
    other_day = bool(days and wanted) and not any(
        day.covers(other) or other.covers(day) for day in days for other in wanted
    )
    unit = stem(understand(question).unit)
    other_unit = bool(unit) and unit not in map(stem, words(f"{finding.source} {sentence}"))
    return (OTHER_DAY if other_day else 1.0) * (OTHER_UNIT if other_unit else 1.0)


def _shared(question: str, told: ReaderAnswer, findings: Sequence[ShownFinding]) -> float:
    """Return the share of a question's telling words that an answer's sentence has.

    The passage that led to it counts as well. Names and other words count the same, however many
    they are; names may also be in the title of the source, which says what a text is about.
    """
    said = [_sentence_at(findings[told.passage].quote, told.start)]
    if told.by >= 0:
        said.append(_sentence_at(findings[told.by].quote, told.at))
    sentence, title = (set(terms(t)) for t in (" ".join(said), findings[told.passage].source))
    named = set(terms(" ".join(names(question)))) - COMPANY_FORMS
    rest = set(terms(question)) - named - COMPANY_FORMS
    return math.sqrt(_share(named, sentence | title) * _share(rest, sentence))


def _share(wanted: set[str], said: set[str]) -> float:
    """Return the share of words that are said, never quite none: other words may say the same."""
    share = len(wanted & said) / len(wanted) if wanted else 1.0
    return OTHER_WORDS + (1.0 - OTHER_WORDS) * share


def _exclude(
    question: str,
    one: Sequence[ReaderAnswer],
    other: Sequence[ReaderAnswer],
    findings: Sequence[ShownFinding],
) -> bool:
    """Return whether two answers cannot both be right.

    Both can if one has all words of the other, or if their texts are about two bearers of a name.
    """
    texts = [[finding.quote for finding in _beside(group, findings)] for group in (one, other)]
    return exclude_each_other(question, (one[0].text, texts[0]), (other[0].text, texts[1]))


def exclude_each_other(
    question: str, one: tuple[str, Iterable[str]], other: tuple[str, Iterable[str]]
) -> bool:
    """Return whether two answers, each with the passages of its texts, cannot both be right."""
    first, second = (set(_telling(answer)) for answer, _ in (one, other))
    if first <= second or second <= first:
        return False
    return not differ(question, one[1], other[1], apart=(one[0], other[0]))


def _beside(group: Iterable[ReaderAnswer], findings: Sequence[ShownFinding]) -> list[ShownFinding]:
    return findings_beside([findings[told.passage] for told in group], findings)


def findings_beside(
    some: Iterable[ShownFinding], findings: Iterable[ShownFinding]
) -> list[ShownFinding]:
    """Return the findings that are from the same texts as some of them."""
    texts = set(map(_text, some))
    return [finding for finding in findings if _text(finding) in texts]


def _mentioned(group: Sequence[ReaderAnswer], findings: Sequence[ShownFinding]) -> int:
    """Return how many origins have the words of an answer without giving it.

    What is true of a thing is spoken of in several texts about it, what was made up in one. What a
    text only tells as said by others does not count: "They say 340. We have counted 412."
    """
    wanted = set(_telling(group[0].text))
    giving = {_origin(findings[told.passage]) for told in group}
    said: dict[str, set[str]] = {}
    for finding in findings:
        told = said.setdefault(_origin(finding), set())
        told.update(words(finding.source), *map(words, _own_sentences(finding.quote)))
    return sum(wanted <= told for origin, told in said.items() if origin not in giving)


def _own_sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text that are not hearsay."""
    return (unit.text for unit in units_in(text) if not read_sentence(unit.text).hearsay)


def _origin(finding: ShownFinding) -> str:
    return finding.origin or finding.id


def _sentence_at(text: str, place: int) -> str:
    """Return the sentence of a text at a place."""
    return next((u.text for u in units_in(text) if u.span.start <= place < u.span.end), text)


def _altered(
    groups: Sequence[Sequence[ReaderAnswer]], findings: Sequence[ShownFinding]
) -> frozenset[int]:
    """Return the answers in copies of a text that elsewhere gives another answer as often, or more.

    Texts that are the same except for the answer are not two witnesses: somebody has changed one of
    them. The answer of more texts stands; if both have as many, neither does. On RAMDocs, read text
    by text, this reduced wrong answers presented as right from 0.51 to 0.34 of the cases, and
    raised the cases with all right answers and no others from 0.28 to 0.33.
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


def _copied(
    one: Iterable[ReaderAnswer], other: Sequence[ReaderAnswer], findings: Sequence[ShownFinding]
) -> bool:
    """Return whether two answers are in copies of one text; one text may well give both."""
    pairs = [(findings[a.passage], findings[b.passage]) for a in one for b in other]
    return any(a.origin and a.origin == b.origin for a, b in pairs) and not any(
        _text(a) == _text(b) for a, b in pairs
    )


def _text(finding: ShownFinding) -> str:
    """Return the key of a finding's text."""
    return f"{finding.source}\0{finding.publisher}\0{finding.published}"


def _passages(clause: Clause, findings: Sequence[ShownFinding]) -> list[Passage]:
    """Return the findings to read.

    If none leads to another, those without a name get the name that the question is about as title:
    "The population was 459" was taken from a text about the town, and does not say so.
    """
    made = [Passage(finding.source, finding.quote) for finding in findings]
    if find_links(made, len(made)) or not clause.names:
        return made
    asked = clause.names[0]
    return [
        Passage(f"{one.title}: {asked}", one.text) if _nameless(one, asked) else one for one in made
    ]


def _nameless(passage: Passage, asked: str) -> bool:
    """Return whether a sentence has no name, or only a short form of the question's.

    Davis, of Ryan Davis.
    """
    reading = read_sentence(passage.text)
    return mention(reading, asked) < 0 and all(
        same_name(name.text, asked) for name in reading.names[:1]
    )


def to_the_point(clause: Clause, sentences: Iterable[str]) -> bool:
    """Return whether sentences say of the one they name anything of what is asked.

    The reader takes the only name for the answer. A sentence that names an album says who its
    artist is without the word "artist"; but only a sentence about green says which crate is green.
    """
    if not clause.keys or not (
        clause.kind in {Kind.PERSON, Kind.COMPANY} or _PREDICATE.fullmatch(clause.text)
    ):
        return True
    read_all = [read_sentence(sentence) for sentence in sentences]
    if any(covered(clause.keys, reading) > 0 for reading in read_all):
        return True
    named = (*clause.names, *clause.titles)
    return bool(_COPULAR.match(clause.text)) and any(
        mention(reading, name) >= 0 or names_title(reading.text, name)
        for reading in read_all
        for name in named
    )


_PREDICATE = re.compile(
    r"(?:which|what)(?: [a-z]+){1,2} (?:is|are|was|were) [a-z]+\?", re.IGNORECASE
)
_APART = re.compile(r"\s*\([^()]*\)?$")
"""What stands in brackets behind a name; a reader may have left out the last one."""
_COPULAR = re.compile(r"who(?:m)? (?:is|was|are|were) the\b", re.IGNORECASE)


def _rival(
    group: Sequence[ReaderAnswer],
    score: float,
    steps: Iterable[int],
    likelihood: float,
    disputed: bool,
) -> Rival:
    said = _fullest(group)
    giving = tuple(dict.fromkeys((said.passage, *(told.passage for told in group))))
    leading = dict.fromkeys(
        number for number in (*(told.by for told in group), *steps) if number >= 0
    )
    return Rival(
        answer=said.text,
        score=score,
        best=said.passage,
        giving=giving,
        leading=tuple(number for number in leading if number not in giving),
        likelihood=round(max(SURE_OF_NONE, likelihood), 3),
        disputed=disputed,
    )


def _fullest(group: Sequence[ReaderAnswer]) -> ReaderAnswer:
    """Return the fullest of the names that are nearly as likely as the best.

    Ruth Tamsin rather than Ms Tamsin, Marta Lindqvist rather than Dr M. Lindqvist (chair).
    """
    near = [told for told in group if told.score >= AS_GOOD * group[0].score]
    names = [told for told in near if _is_name(told.text)]
    return max(names, key=_fullness) if group[0] in names else group[0]


def _is_name(answer: str) -> bool:
    return all(word[:1].isupper() for word in _APART.sub("", answer).split())


def _fullness(told: ReaderAnswer) -> tuple[int, int]:
    """Return how many words of a name are written out, and how many it has."""
    words = _telling(_APART.sub("", told.text))
    return sum(len(word) > 1 for word in words), len(words)


def _together(told: Iterable[ReaderAnswer]) -> list[list[ReaderAnswer]]:
    """Group answers that are the same, or of which one contains the other's words."""
    groups: list[list[ReaderAnswer]] = []
    for item in told:
        for group in groups:
            if same_words(group[0].text, item.text):
                group.append(item)
                break
        else:
            groups.append([item])
    return groups


def same_words(one: str, other: str) -> bool:
    """Return whether two answers are the same, except for words before or after them, or initials.

    Hank Williams, Jr.; M. Lindqvist.
    """
    first, second = _telling(one), _telling(other)
    short, long = sorted((first, second), key=len)
    if not short:
        return first == second
    inside = any(
        all(map(_same_word, long[at : at + len(short)], short))
        for at in range(len(long) - len(short) + 1)
    )
    return inside and 2 * len(short) >= len(long)


def _same_word(one: str, other: str) -> bool:
    """Return whether two words are the same, or one is the initial of the other."""
    return one == other or (
        one[:1] == other[:1] and 1 in (len(one), len(other)) and one.isalpha() and other.isalpha()
    )


def _telling(text: str) -> list[str]:
    said = words(text)
    return [word for word in said if word not in STOPWORDS and word not in ADDRESSED] or said


def _agreed(
    question: str, group: Iterable[ReaderAnswer], findings: Sequence[ShownFinding]
) -> float:
    """Return how far the reader and the sentences of all origins agree on an answer."""
    return _by_origin(
        [(told, agreement(told.score, _shared(question, told, findings))) for told in group],
        findings,
    )


def _by_origin(
    worth: Iterable[tuple[ReaderAnswer, float]], findings: Sequence[ShownFinding]
) -> float:
    """Return the likelihood that one of several origins answers, each by its best answer."""
    best: dict[str, float] = {}
    for told, value in worth:
        origin = _origin(findings[told.passage])
        best[origin] = max(best.get(origin, 0.0), value)
    return round(1.0 - math.prod(1.0 - value for _, value in sorted(best.items())), 4)
