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
from deepdiver.reason.embedded.rating import nearness, told_by
from deepdiver.reason.embedded.word_lists import HEARSAY

READ = 500
"""Sentences that are compared with a question: they take some two seconds of one core."""
ABOUT = 3
"""Sentences by which a document is judged: one that mentions the matter is not about it."""
AS_NEAR = 0.45
"""How near a document must be to the question, as a share of the nearest one. This number and those
below were chosen on the odd tasks of DRBench: with 0.4, 0.45, 0.5 and 0.6, documents gave 0.59,
0.59, 0.57 and 0.43 of the insights, and 0.03, 0.02, 0.02 and 0.04 of the distractors."""
PLAIN, MEASURED = 0.7, 0.3
"""How near a sentence must be, as a share of the nearest one, without a figure and with one."""
HOW_MUCH = 0.3
"""What a sentence gains that has a figure other than a date. Without it, general sentences come
first, since they repeat the words of the question."""
BY_DOCUMENT = 0.5
"""The weight of how near the document of a sentence is."""
EACH, SHARES = 4, 3
"""Sentences that a document tells before another has told as many, and how often that is repeated
if there is room."""
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


def choose_details(question: str, lines: Sequence[Line], words: int) -> list[int]:
    """Return the places of the sentences that tell most, the best first, of each text once.

    Args:
        question: What was asked.
        lines: The sentences, those of the most promising documents first.
        words: The most words of all that are returned.
    """
    told: dict[str, int] = {}
    for place, line in enumerate(lines[:READ]):
        if line.tells:
            told.setdefault(line.text, place)
    places = list(told.values())
    near = dict(
        zip(
            places,
            nearness(question, [told_by(lines[n].title, lines[n].text) for n in places]),
            strict=True,
        )
    )
    about = _documents(lines, near)
    bar, best = AS_NEAR * max(about.values(), default=0.0), max(near.values(), default=0.0)
    worth: dict[int, float] = {}
    for n in places:
        figure, document = has_figure(lines[n].text), about[lines[n].document]
        if document >= bar and near[n] >= (MEASURED if figure else PLAIN) * best:
            worth[n] = near[n] + HOW_MUCH * figure + BY_DOCUMENT * document
    return _fitting(lines, sorted(worth, key=lambda n: (-worth[n], n)), words)


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


def _documents(lines: Sequence[Line], near: dict[int, float]) -> dict[str, float]:
    """Return how near each document is to the question: the mean of its nearest sentences."""
    held: dict[str, list[float]] = {}
    for place, value in near.items():
        held.setdefault(lines[place].document, []).append(value)
    best = {document: sorted(values)[-ABOUT:] for document, values in held.items()}
    return {document: sum(values) / len(values) for document, values in best.items()}


def _fitting(lines: Sequence[Line], ranked: Sequence[int], words: int) -> list[int]:
    """Return the best as far as they fit: a share of each document, and then another."""
    turns: dict[str, int] = {}
    shares: dict[int, int] = {}
    for place in ranked:
        turn = turns[lines[place].document] = turns.get(lines[place].document, -1) + 1
        shares[place] = turn // EACH
    taken: list[int] = []
    for place in sorted(ranked, key=shares.__getitem__):
        length = count_words(lines[place].text)
        if shares[place] < SHARES and length <= words:
            words -= length
            taken.append(place)
    return taken
