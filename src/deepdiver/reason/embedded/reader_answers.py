"""Answers by the trained reader, if the rules have none: words of a passage, with their likelihood.

A question with two steps is answered by two passages, of which the first names the second: "Ada
played for the Terns" and "The Terns are based in Morden". Read together they answer what neither
does alone. On the first fifty questions of HotpotQA, with ten passages each, the best answer of
single passages had an F1 of 0.29, that of such pairs 0.54.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from deepdiver.core.numbers import numbers
from deepdiver.core.text import STOPWORDS, words
from deepdiver.reason.embedded.clause import Clause, Kind
from deepdiver.reason.embedded.language.answer_kind import VALUES, AnswerKind, sought_by
from deepdiver.reason.embedded.names import bare
from deepdiver.reason.embedded.reading import quotable_sentences, read_sentence
from deepdiver.reason.embedded.word_lists import (
    COMPANY_FORMS,
)

MOST_PASSAGES = 40
"""Passages that are read one by one: 40 of 200 tokens take a second on two cores."""
MOST_LINKS = 24
"""Pairs of passages that are read together."""
LINKS_TO_ONE = 3
"""Passages that may lead to the same one: every text names a country."""
READ = 4_000
"""Characters of a passage that are read, as many as the strategies show of a text."""
LEAST_TITLE = 4
"""Characters of a title that is searched for in other passages: a shorter one occurs in too many
words."""
ALONE = 0.5
"""The factor for an answer from a single passage, if pairs of passages give answers too."""
OTHER_KIND = 0.02
"""The factor for an answer of the wrong kind: a name instead of a year."""
ASKED = 0.2
"""The factor for an answer that only repeats words of the question."""
OF_ANOTHER = 0.05
"""The factor for an answer from passages that name nothing in the question: the reader takes the
director of one film for that of another, with 0.93."""
SENTENCE = 600
"""A text with more characters than this surely names somebody."""
LONGEST_QUESTION = 400
"""Characters of a question that a few words can answer."""
WORTH = 0.005
"""Answers with a lower score are ignored."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage to read."""

    title: str
    """The title of its source."""
    text: str
    """Its text."""


@dataclass(frozen=True, slots=True)
class ReaderAnswer:
    """An answer by the reader, and its place."""

    text: str
    """The answer, as it stands in the passage."""
    score: float
    """The likelihood that it answers, 0..1, to four places."""
    passage: int
    """The number of the passage that contains it."""
    start: int
    """Its place in the passage's text; 0 if it is the title."""
    by: int = -1
    """The passage that led to it, or that it leads to; -1 if none."""
    at: int = -1
    """Where the sentence that names the other passage begins in that passage's text."""


@dataclass(frozen=True, slots=True)
class Link:
    """A sentence of one passage that names another."""

    source: int
    """The passage with the sentence."""
    start: int
    """Where the sentence begins."""
    sentence: str
    """The sentence."""
    target: int
    """The passage that it names."""


def find_answers(
    question: str, clause: Clause, passages: Sequence[Passage], known: int = 0
) -> list[ReaderAnswer]:
    """Return the answers that passages give alone and in pairs, the likeliest first.

    Args:
        question: The question.
        clause: Its last clause, which says what kind of thing it asks for.
        passages: The passages to read, the most promising first.
        known: How many of them, at the end, were read before: they count only for the passages that
            they lead to.
    """
    new = len(passages) - known
    passages = [Passage(one.title, one.text[:READ]) for one in passages]
    linked = [
        told for link in find_links(passages, new) if (told := _in_pair(question, passages, link))
    ]
    linked = [
        _worth(told, _about(question, passages[told.passage], passages[told.by])) for told in linked
    ]
    part = ALONE if linked else 1.0
    alone = [_in_one(question, passages, number) for number in range(min(new, MOST_PASSAGES))]
    found = [
        *linked,
        *(_worth(told, part * _about(question, passages[told.passage])) for told in alone if told),
    ]
    rated = [_worth(told, kind_fit(question, clause, told.text)) for told in found]
    return sorted((told for told in rated if told.score >= WORTH), key=lambda told: -told.score)


def best_single_answer(
    question: str, clause: Clause, passages: Sequence[Passage]
) -> ReaderAnswer | None:
    """Return the likeliest answer that a single passage gives; None if there is none."""
    found = [
        told for number in range(len(passages)) if (told := _in_one(question, passages, number))
    ]
    rated = [
        _worth(
            told, kind_fit(question, clause, told.text) * _about(question, passages[told.passage])
        )
        for told in found
    ]
    return max(rated, key=lambda told: told.score, default=None)


def _worth(told: ReaderAnswer, part: float) -> ReaderAnswer:
    return ReaderAnswer(
        told.text, round(told.score * part, 4), told.passage, told.start, told.by, told.at
    )


def _about(question: str, *passages: Passage) -> float:
    """Return the factor for an answer: low if its passages name others than the question does.

    A sentence that names nobody ("They founded it in 2009") may well be about the right thing.
    """
    named = _named(question)
    if named is None or any(named.search(one.title) or named.search(one.text) for one in passages):
        return 1.0
    return (
        OF_ANOTHER
        if any(len(one.text) > SENTENCE or read_sentence(one.text).names for one in passages)
        else 1.0
    )


@functools.lru_cache(maxsize=256)
def _named(question: str) -> re.Pattern[str] | None:
    """Return a pattern for the words of a question's names, without companies' legal forms."""
    named = {
        word for name in read_sentence(question).names for word in words(" ".join(bare(name.text)))
    }
    telling = sorted(re.escape(word) for word in named - COMPANY_FORMS - STOPWORDS if len(word) > 1)
    return re.compile(rf"(?<!\w)(?:{'|'.join(telling)})(?!\w)", re.IGNORECASE) if telling else None


def _in_one(question: str, passages: Sequence[Passage], number: int) -> ReaderAnswer | None:
    one = passages[number]
    head = _head(one.title)
    text, start, score = _span(question, head + one.text)
    text, start = _within(head + one.text, start, start + len(text), len(head))
    return ReaderAnswer(text, score, number, start) if text else None


def _in_pair(question: str, passages: Sequence[Passage], link: Link) -> ReaderAnswer | None:
    """Read a passage after the sentence that names it; the answer may be in either."""
    one, other = passages[link.source], passages[link.target]
    first, head = _head(one.title), _head(other.title)
    before = f"{first}{link.sentence} "
    text, start, score = _span(question, before + head + other.text)
    if not text:
        return None
    if start < len(before):
        text, start = _within(before, start, min(start + len(text), len(before)), len(first))
        return (
            ReaderAnswer(text, score, link.source, link.start + start, link.target, 0)
            if text
            else None
        )
    text, start = _within(
        before + head + other.text, start, start + len(text), len(before) + len(head)
    )
    return ReaderAnswer(text, score, link.target, start, link.source, link.start) if text else None


def _within(text: str, start: int, end: int, body: int) -> tuple[str, int]:
    """Return an answer and its place in the body, without the part of it that is in the title."""
    if start < body < end:
        # Title and first words: these are mostly the same, and the first words are in a sentence.
        start = body
    found = " ".join(text[start:end].split()).strip(" .,;:\"'“”()")
    return found, max(0, start - body)


def _head(title: str) -> str:
    return f"{title.strip()}. " if title.strip() else ""


def answer_in(question: str, passage: Passage) -> tuple[str, float]:
    """Return the answer of one passage, and its score."""
    told = _in_one(question, [passage], 0)
    return (told.text, told.score) if told else ("", 0.0)


def support_for(passage: Passage, claim: str) -> float:
    """Return the probability that a passage, with its title, supports a claim."""
    return _supports(_head(passage.title) + passage.text, claim)


@functools.lru_cache(maxsize=4_096)
def _supports(evidence: str, claim: str) -> float:
    from deepdiver.encoders.reader import load_reader

    return load_reader().verify([(evidence, claim)])[0].supports


@functools.lru_cache(maxsize=4_096)
def _span(question: str, text: str) -> tuple[str, int, float]:
    """Ask the reader, which is loaded at the first question; results are cached.

    A text is read for many problems.
    """
    from deepdiver.encoders.reader import load_reader

    found = load_reader().spans(question, [text])[0]
    return found.text, found.start, found.score


# -- passages that name each other


def find_links(passages: Sequence[Passage], targets: int) -> list[Link]:
    """Return the sentences that name one of the first passages by its title, one for each pair."""
    found: list[Link] = []
    for target, other in enumerate(passages[:targets]):
        if (name := _name(other.title)) is None:
            continue
        leading = (link for link in _naming(name, target, passages))
        found += [link for link, _ in zip(leading, range(LINKS_TO_ONE), strict=False)]
    return sorted(
        found, key=lambda link: (min(link.source, link.target), max(link.source, link.target))
    )[:MOST_LINKS]


def _naming(name: re.Pattern[str], target: int, passages: Sequence[Passage]) -> Iterator[Link]:
    own = title_of(passages[target].title)
    for source, one in enumerate(passages):
        if title_of(one.title) == own or not name.search(one.text):
            continue
        for span in quotable_sentences(one.text):
            if name.search(span.of(one.text)):
                yield Link(source, span.start, " ".join(span.of(one.text).split()), target)
                break


def title_of(title: str) -> str:
    """Return a title without its disambiguation: Mercury (planet)."""
    return re.sub(r"\s*\([^()]*\)\s*$", "", title).strip()


def names_title(text: str, title: str) -> bool:
    """Return whether a text contains a title."""
    name = _name(title)
    return name is not None and name.search(text) is not None


@functools.lru_cache(maxsize=2_048)
def _name(title: str) -> re.Pattern[str] | None:
    plain = title_of(title).removeprefix("The ")
    return (
        re.compile(rf"(?<!\w){re.escape(plain)}(?!\w)", re.IGNORECASE)
        if len(plain) >= LEAST_TITLE
        else None
    )


# -- what kind of answer


_CLOCK = frozenset("noon midnight midday dawn dusk sunrise sunset am pm clock hours".split())
"""Words of a time of day."""
_TIMES = frozenset({"once", "twice", "thrice"})


def kind_fit(question: str, clause: Clause, text: str) -> float:
    """Return the factor for an answer's kind, and for repeating the question."""
    listed = words(text)
    if not listed:
        return 0.0
    asked = set(words(question))
    repeats = all(word in asked or word in STOPWORDS for word in listed)
    part = ASKED if repeats and not clause.compares else 1.0
    return part if _right_kind(question, clause, text, listed) else part * OTHER_KIND


def _right_kind(question: str, clause: Clause, text: str, listed: Sequence[str]) -> bool:
    """Return whether an answer has a number or a name, if the question asks for one."""
    sought = sought_by(question).kind
    if sought is AnswerKind.TIME:
        return bool(read_sentence(text).times) or not _CLOCK.isdisjoint(listed)
    if sought in VALUES or clause.kind in {Kind.AMOUNT, Kind.DATE}:
        return _counts(text, listed)
    if clause.kind in {Kind.PERSON, Kind.PLACE, Kind.COMPANY}:
        return any(char.isupper() for char in text) and not _only_a_moment(text)
    return True


def _counts(text: str, listed: Sequence[str]) -> bool:
    digits = any(char.isdigit() for char in text)
    return digits or bool(numbers(text)) or not _TIMES.isdisjoint(listed)


def _only_a_moment(text: str) -> bool:
    reading = read_sentence(text)
    return bool(reading.days) and not reading.names


_SHORT = re.compile(
    r"\b(?:who|whom|whose|when|where|which|what|how (?:many|much|long|far|tall|large|high))\b", re.I
)
_LONG = re.compile(
    r"\bwhat (?:happened|caused?|(?:do|does|did)\b.*\bhappen)\b|^why\b|^how (?!many|much|long|far)",
    re.I,
)


def wants_short_answer(question: str, clause: Clause) -> bool:
    """Return whether a few words can answer.

    An age is computed, a yes or no judged, and an account given in whole sentences.
    """
    if clause.kind in {Kind.AGE, Kind.YES_NO, Kind.TIME} or _LONG.search(question):
        return False
    return clause.kind is not Kind.ACCOUNT or (
        bool(_SHORT.search(question)) and len(question) <= LONGEST_QUESTION
    )
