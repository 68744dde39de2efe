"""Chooses the sentences that an account of many documents is made of.

An open question, such as how sales could be raised, is answered by no single passage. Each document
that is about the matter tells a part of it in a few sentences, and those that say how much tell
more than those that say that it matters.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from deepdiver.core.dates import dated
from deepdiver.core.text import count_words
from deepdiver.reason.embedded.rating import nearness, rate, told_by
from deepdiver.reason.embedded.word_lists import HEARSAY

READ = 700
"""Sentences that are compared with a question: they take some three seconds of one core."""
ABOUT = 3
"""Sentences by which a document is judged: one that mentions the matter is not about it."""
AS_NEAR = 0.45
"""How near a document must be to the question, as a share of the nearest one. This number and those
below were chosen on the odd tasks of DRBench."""
PLAIN, MEASURED = 0.8, 0.3
"""How near a sentence must be, as a share of the nearest one, without a figure and with one."""
RELEVANT = 0.15
"""The reader's probability that a sentence bears on the question, from which on it is told. What it
leaves out are lines such as "Local time is UTC plus one hour"; of the insights, it left out none
that 0.1 lets in, and 0.2 left out 6 %."""
LOOKED_AT = 120
"""The best sentences that the reader looks at: they take a second of one core."""
HOW_MUCH = 0.3
"""What a sentence gains that has a figure other than a date. Without it, general sentences come
first, since they repeat the words of the question."""
BY_DOCUMENT, BY_READER = 0.5, 0.2
"""The weights of how near the document of a sentence is, and of the reader's probability."""
EACH = 4
"""The most sentences that a document tells."""
FEWEST, MOST = 5, 60
"""Words of a sentence: fewer are a heading or a greeting, more are a list or a table."""
_TIME = re.compile(r"\b\d{1,2}:\d{2}(?::\d{2})?\b")
_FIGURE = re.compile(r"(?<![\w.,-])[$€£]?\d")
_ADDRESS = re.compile(r"\S@\S")
"""The head of a letter: it has figures, and tells nothing."""


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence or a row of a document."""

    document: str
    """The document."""
    title: str
    """Its title."""
    text: str
    """What it says."""

    @property
    def tells(self) -> bool:
        """Whether it can stand alone: no question, heading, greeting, rumour or letter head."""
        heard = HEARSAY.search(self.text.lower()) is not None
        return self.is_told and not heard and count_words(self.text) >= FEWEST

    @property
    def is_told(self) -> bool:
        """Whether it is neither a question nor the head of a letter or a list, nor a line of a log.

        A time without its day, which stands above in the log, says nothing alone.
        """
        short = count_words(self.text) <= MOST
        logged = _TIME.search(self.text) is not None and not names_a_day(self.text)
        headed = self.text.endswith(("?", ":")) or _ADDRESS.search(self.text) is not None
        return short and not headed and not logged


def choose_details(
    question: str, lines: Sequence[Line], words: int, *, again: bool = False
) -> list[int]:
    """Return the places of the sentences that tell most, the best first, of each text once.

    Args:
        question: What was asked.
        lines: The sentences, those of the most promising documents first.
        words: The most words of all that are returned.
        again: Whether all of them were chosen before, among others: then none is too far away.
    """
    told: dict[str, int] = {}
    for place, line in enumerate(lines[:READ]):
        if line.tells:
            told.setdefault(line.text, place)
    places = list(told.values())
    # Alone, as it will stand: under a title that names the matter, "Local time is UTC plus one
    # hour" is as near to the question as what answers it.
    near = dict(zip(places, nearness(question, [lines[n].text for n in places]), strict=True))
    about = _documents(question, lines, near)
    bar, best = AS_NEAR * max(about.values(), default=0.0), max(near.values(), default=0.0)
    worth: dict[int, float] = {}
    for n in places:
        figure, document = has_figure(lines[n].text), about[lines[n].document]
        if again or (document >= bar and near[n] >= (MEASURED if figure else PLAIN) * best):
            worth[n] = near[n] + HOW_MUCH * figure + BY_DOCUMENT * document
    ranked = sorted(worth, key=lambda n: (-worth[n], n))[:LOOKED_AT]
    rated = rate(question, [lines[n].text for n in ranked])
    kept = {
        n: worth[n] + BY_READER * one.relevance
        for n, one in zip(ranked, rated, strict=True)
        if again or one.relevance >= RELEVANT
    }
    return _fitting(lines, sorted(kept, key=lambda n: (-kept[n], n)), words)


def nearest(question: str, lines: Sequence[Line], most: int) -> list[int]:
    """Return the places of the sentences that are nearest to a question, the nearest first."""
    places = [place for place, line in enumerate(lines[:READ]) if line.is_told]
    near = nearness(question, [told_by(lines[n].title, lines[n].text) for n in places])
    ranked = sorted(zip(near, places, strict=True), key=lambda pair: (-pair[0], pair[1]))
    return [place for _, place in ranked[:most]]


def names_a_day(text: str) -> bool:
    """Return whether a text names a year, or a day or month of one."""
    return any(day.year for day, _, _ in dated(text))


def has_figure(text: str) -> bool:
    """Return whether a text has a number in figures that is not a date or a time of day."""
    kept = list(_TIME.sub(" ", text))
    for _, start, end in dated("".join(kept)):
        kept[start:end] = " " * (end - start)
    return _FIGURE.search("".join(kept)) is not None


def _documents(question: str, lines: Sequence[Line], near: dict[int, float]) -> dict[str, float]:
    """Return how near each document is to the question: its nearest sentences under its title."""
    held: dict[str, list[int]] = {}
    for place in sorted(near, key=lambda n: (-near[n], n)):
        held.setdefault(lines[place].document, []).append(place)
    best = {document: places[:ABOUT] for document, places in held.items()}
    listed = [place for places in best.values() for place in places]
    titled = nearness(question, [told_by(lines[n].title, lines[n].text) for n in listed])
    value = dict(zip(listed, titled, strict=True))
    return {document: sum(value[n] for n in own) / len(own) for document, own in best.items()}


def _fitting(lines: Sequence[Line], ranked: Sequence[int], words: int) -> list[int]:
    """Return the best as far as they fit, so many of each document."""
    told: dict[str, int] = {}
    taken: list[int] = []
    for place in ranked:
        length, document = count_words(lines[place].text), lines[place].document
        if told.get(document, 0) < EACH and length <= words:
            words -= length
            told[document] = told.get(document, 0) + 1
            taken.append(place)
    return taken
