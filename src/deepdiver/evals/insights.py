"""Whether a report states an insight, judged by its numbers, its words and the file it comes from.

A report states an insight if one of its sentences cites the file of the insight and has all of its
numbers and at least half of its content words, or if two sentences that cite neighbouring places of
the file have them together. Words are compared by their stems and numbers by their value: $1.2M is
1.2 million, six is 6. Only the first 1,300 words of a report count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

from deepdiver.core.numbers import numbers
from deepdiver.core.record import Report, Sentence
from deepdiver.core.text import STOPWORDS, count_words, sentences, stem
from deepdiver.evals.cases import Gold

LONGEST_REPORT = 1_300
"""Words of a report that count."""
NEIGHBOURS = 8
"""Characters between two neighbouring sentences of a file at most: a line break and a list mark."""
_POWERS = {"k": 3, "m": 6, "b": 9, "bn": 9, "thousand": 3, "million": 6, "billion": 9}
_FIGURE = re.compile(
    rf"(?<![\w.,])(\d[\d,]*(?:\.\d+)?)(?:\s?-?\s?({'|'.join(_POWERS)}))?(?!\w)", re.IGNORECASE
)
_WORD = re.compile(r"[a-z]{3,}")


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a sentence that is compared."""

    numbers: frozenset[Decimal]
    """The values of its numbers."""
    words: frozenset[str]
    """The stems of its content words."""

    def __or__(self, other: Content) -> Content:
        """Return the content of two sentences together."""
        return Content(self.numbers | other.numbers, self.words | other.words)


@dataclass(frozen=True, slots=True)
class PlacedSentence:
    """A sentence of a report with one of the places that it cites."""

    unit: Content
    """Its content."""
    file: str
    """Name of the file that it cites."""
    snapshot: str
    """Hash of the saved text of the file."""
    start: int
    """Where the quote begins."""
    end: int
    """Where it ends."""


def figures_in(text: str) -> frozenset[Decimal]:
    """Return the values of the numbers in a text that are written in figures.

    Years are numbers; the 3 of Q3 is not.
    """
    found = []
    for match in _FIGURE.finditer(text):
        value = Decimal(match[1].replace(",", ""))
        found.append((value.scaleb(_POWERS[match[2].lower()]) if match[2] else value).normalize())
    return frozenset(found)


def content_words(text: str) -> frozenset[str]:
    """Return the stems of the content words of a text that have three letters or more."""
    return frozenset(
        stem(word)
        for word in _WORD.findall(text.lower())
        if word not in STOPWORDS and word not in _POWERS
    )


def content_of(text: str) -> Content:
    """Return the content of a sentence; numbers may be written in words too."""
    return Content(
        figures_in(text) | {value.normalize() for value in numbers(text)}, content_words(text)
    )


def tells(said: Content, gold: str) -> bool:
    """Whether a sentence has all numbers of an insight and at least half of its content words."""
    words = content_words(gold)
    return figures_in(gold) <= said.numbers and 2 * len(words & said.words) >= len(words)


def findable(gold: Gold, text: str) -> bool:
    """Whether one sentence of a file, or two in a row, state an insight, so it can be found."""
    units = [content_of(span.of(text)) for span in sentences(text)]
    return any(
        tells(said, gold.text)
        for said in (*units, *(one | other for one, other in pairwise(units)))
    )


def told_insights(report: Report, golds: Iterable[Gold]) -> list[str]:
    """Return the ids of the insights and distractors that a report states, in their order."""
    placed = list(_placed_sentences(report))
    return [gold.id for gold in golds if _tells(placed, gold)]


def _tells(placed: Sequence[PlacedSentence], gold: Gold) -> bool:
    own = sorted(
        (item for item in placed if item.file == gold.file),
        key=lambda item: (item.snapshot, item.start),
    )
    near = (
        one.unit | other.unit
        for at, one in enumerate(own)
        for other in own[at + 1 :]
        if _neighbours(one, other)
    )
    return any(tells(said, gold.text) for said in (*(item.unit for item in own), *near))


def _neighbours(one: PlacedSentence, other: PlacedSentence) -> bool:
    return one.snapshot == other.snapshot and -1 <= other.start - one.end <= NEIGHBOURS


def _placed_sentences(report: Report) -> Iterator[PlacedSentence]:
    """Yield the sentences of a report that count, once for each place that they cite."""
    cited = {item.number: item for item in report.citations}
    for sentence in counted_sentences(report):
        said = content_of(sentence.text)
        for number in sentence.citations:
            if item := cited.get(number):
                yield PlacedSentence(
                    said,
                    Path(item.url).name,
                    item.passage.snapshot,
                    item.passage.start,
                    item.passage.end,
                )


def counted_sentences(report: Report) -> Iterator[Sentence]:
    """Yield the sentences within the first 1,300 words of a report."""
    left = LONGEST_REPORT
    for sentence in (
        *report.answer,
        *(line for section in report.sections for line in section.all_sentences()),
    ):
        left -= count_words(sentence.text)
        if left < 0:
            return
        yield sentence


def word_count(report: Report) -> int:
    """Return the number of words of a report."""
    body = (line for section in report.sections for line in section.all_sentences())
    return sum(count_words(sentence.text) for sentence in (*report.answer, *body))
