"""Whether a report tells an insight, by its values and its words, in the file that the insight comes from.

An insight is told where all of its numbers and at least half of its content words stand in one
sentence of the report that cites its file, or in two that cite neighbouring places of it. Words are
compared by their stems, numbers by their value: $1.2M is 1.2 million, six is 6. A report counts up
to its first 1,300 words.
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
from deepdiver.core.text import STOPWORDS, sentences, stem
from deepdiver.evals.cases import Gold

LONGEST = 1_300
"""Words of a report that count."""
NEIGHBOURS = 8
"""Characters that may lie between two neighbouring sentences of a file: the end of a line and the
mark of a list."""
_POWERS = {"k": 3, "m": 6, "b": 9, "bn": 9, "thousand": 3, "million": 6, "billion": 9}
_FIGURE = re.compile(
    rf"(?<![\w.,])(\d[\d,]*(?:\.\d+)?)(?:\s?-?\s?({'|'.join(_POWERS)}))?(?!\w)", re.IGNORECASE
)
_WORD = re.compile(r"[a-z]{3,}")


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence, as far as it is compared."""

    numbers: frozenset[Decimal]
    """The values that it gives."""
    words: frozenset[str]
    """The stems of what it is about."""

    def __or__(self, other: Unit) -> Unit:
        """Return two sentences as one."""
        return Unit(self.numbers | other.numbers, self.words | other.words)


@dataclass(frozen=True, slots=True)
class Placed:
    """A sentence of a report, and where it says that it is from."""

    unit: Unit
    """What it says."""
    file: str
    """Name of a file that it cites."""
    snapshot: str
    """Hash of the text in which the place stands."""
    start: int
    """Where the quote begins."""
    end: int
    """Where it ends."""


def figures(text: str) -> frozenset[Decimal]:
    """Return the numbers of a text that are written in figures, by value.

    Years are numbers, the 3 of Q3 is none.
    """
    found = []
    for match in _FIGURE.finditer(text):
        value = Decimal(match[1].replace(",", ""))
        found.append((value.scaleb(_POWERS[match[2].lower()]) if match[2] else value).normalize())
    return frozenset(found)


def content(text: str) -> frozenset[str]:
    """Return the stems of a text's words of three letters or more that say what it is about."""
    return frozenset(
        stem(word)
        for word in _WORD.findall(text.lower())
        if word not in STOPWORDS and word not in _POWERS
    )


def unit(text: str) -> Unit:
    """Read a sentence; a number may be in words too."""
    return Unit(figures(text) | {value.normalize() for value in numbers(text)}, content(text))


def tells(said: Unit, gold: str) -> bool:
    """Whether what is said holds all numbers of an insight and at least half of its content words."""
    words = content(gold)
    return figures(gold) <= said.numbers and 2 * len(words & said.words) >= len(words)


def findable(gold: Gold, text: str) -> bool:
    """Whether a sentence of a file, or two in a row, tell an insight.

    What does not stand there cannot be found.
    """
    units = [unit(span.of(text)) for span in sentences(text)]
    return any(
        tells(said, gold.text)
        for said in (*units, *(one | other for one, other in pairwise(units)))
    )


def told(report: Report, golds: Iterable[Gold]) -> list[str]:
    """Return the ids of the insights and distractors that a report tells, in their order."""
    placed = list(_placed(report))
    return [gold.id for gold in golds if _tells(placed, gold)]


def _tells(placed: Sequence[Placed], gold: Gold) -> bool:
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


def _neighbours(one: Placed, other: Placed) -> bool:
    return one.snapshot == other.snapshot and -1 <= other.start - one.end <= NEIGHBOURS


def _placed(report: Report) -> Iterator[Placed]:
    """Walk the sentences of a report that count, once for each place that they cite."""
    cited = {item.number: item for item in report.citations}
    for sentence in counted(report):
        said = unit(sentence.text)
        for number in sentence.citations:
            if item := cited.get(number):
                yield Placed(
                    said,
                    Path(item.url).name,
                    item.passage.snapshot,
                    item.passage.start,
                    item.passage.end,
                )


def counted(report: Report) -> Iterator[Sentence]:
    """Walk the sentences of a report up to its first 1,300 words.

    One that goes past them does not count.
    """
    left = LONGEST
    for sentence in (
        *report.answer,
        *(line for section in report.sections for line in section.sentences),
    ):
        left -= len(sentence.text.split())
        if left < 0:
            return
        yield sentence


def length(report: Report) -> int:
    """Return how many words a report has."""
    listed = (*report.answer, *(line for section in report.sections for line in section.sentences))
    return sum(len(sentence.text.split()) for sentence in listed)
