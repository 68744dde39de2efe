"""Extracts findings: the passages of the texts that bear most on the question."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter

from deepdiver.core.entries import names_term
from deepdiver.core.text import count_words, terms
from deepdiver.reason.embedded.asked import ACCOUNTS, is_open, understand
from deepdiver.reason.embedded.cells import rows_that_answer
from deepdiver.reason.embedded.details import Line, choose_details, names_a_day, nearest
from deepdiver.reason.embedded.language.form import AskedQuestion, Form
from deepdiver.reason.embedded.language.units import (
    PASSAGE,
    Passage,
    passages_in,
    units_in,
)
from deepdiver.reason.embedded.rating import ABOUT_IT, NAMED, Rating, placed, rate
from deepdiver.tasks import Extracted, ExtractFindings, Extraction, NumberedText

FINDINGS, ACCOUNT_FINDINGS = 16, 24
"""Findings of one extraction: for an answer, and for an account, which is made of many."""
RATED = 48
"""Passages that the models rate in one extraction, those with the most words of the question and
from the texts that the search ranked best. They take some three seconds of one core."""
PART = 1_000
"""Characters of a passage that has steps or items: these stand together."""
FEWEST_WORDS = 3
"""Words of a passage; fewer, or a question, say nothing."""
BEARS = 0.12
"""A passage with a lower score bears on nothing that was asked."""
A_DATE = 0.15
"""What a passage with a date gains in a timeline, which is made of dates."""
DETAIL_WORDS = 1_100
"""Words of single sentences that one extraction adds to the passages, for an open question."""
DATED = 24
"""Dated sentences that one extraction adds, for a timeline."""
PLACE = 0.01
"""What a text loses for each one that the search ranked before it."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage that may be quoted."""

    text: NumberedText
    """The text it is in."""
    place: int
    """The place of that text among those that were found."""
    passage: Passage
    """The passage."""
    context: str
    """Its words after its title and heading."""

    @property
    def quote(self) -> str:
        """Its characters in the text."""
        return self.passage.span.of(self.text.plain)

    @property
    def dated(self) -> bool:
        """Whether it names a day of a year."""
        return names_a_day(self.passage.text)


def find(task: ExtractFindings) -> Extraction:
    """Return the passages that bear most on the question, the best first.

    What a search for a refutation brought is rated by the question as well: what denies an answer
    bears on what was asked.
    """
    asked = understand(task.question)
    size = PART if asked.form in (Form.HOW_TO, Form.LIST) else PASSAGE
    by_date = asked.form is Form.TIMELINE
    listed = _preselect(asked.matter, list(_candidates(task.texts, size)), by_date)
    rated = _rated(asked.matter, listed)
    rows = rows_that_answer(task.question, task.texts)
    if not rows and _best(rated) < ABOUT_IT:
        # What the message says before its question may be what it is about.
        rated = _rated(task.question, listed)
        if _best(rated) < ABOUT_IT:
            return Extraction(findings=())
    scored = [
        (
            rating.score
            - PLACE * one.place
            + A_DATE * (by_date and one.dated)
            + NAMED * names_term(asked.text, one.quote),
            one,
        )
        for rating, one in zip(rated, listed, strict=True)
    ]
    best = sorted(scored, key=lambda item: -item[0])
    most = ACCOUNT_FINDINGS if asked.form in ACCOUNTS else FINDINGS
    quoted = {(item.source, item.quote) for item in rows}
    found = [
        item
        for item in map(_finding, [one for score, one in best[:most] if score >= BEARS])
        if (item.source, item.quote) not in quoted
    ]
    more = _details(asked, task.texts, found) if by_date or is_open(asked) else ()
    return Extraction(findings=(*rows, *found, *more))


def _rated(question: str, listed: Sequence[Candidate]) -> list[Rating]:
    return rate(question, [one.context for one in listed])


def _best(rated: Sequence[Rating]) -> float:
    return max((rating.score for rating in rated), default=0.0)


def _details(
    asked: AskedQuestion, texts: Sequence[NumberedText], found: Sequence[Extracted]
) -> list[Extracted]:
    """Return the sentences of whole texts that tell most, each by itself, so that it is cited.

    For a timeline, these are the dated ones.
    """
    by_date = asked.form is Form.TIMELINE
    units = [
        (text, unit)
        for text in texts
        for unit in units_in(text.plain)
        if not unit.caption and (not by_date or names_a_day(unit.text))
    ]
    lines = [Line(text.id, text.title, unit.text) for text, unit in units]
    best = (
        nearest(asked.matter, lines, DATED)
        if by_date
        else choose_details(asked.matter, lines, DETAIL_WORDS)
    )
    quoted = {(item.source, item.quote) for item in found}
    made = [
        Extracted(statement=unit.text, source=text.id, quote=unit.span.of(text.plain))
        for text, unit in (units[place] for place in best)
    ]
    return [item for item in made if (item.source, item.quote) not in quoted]


def _finding(one: Candidate) -> Extracted:
    return Extracted(statement=one.passage.text, source=one.text.id, quote=one.quote)


def _candidates(texts: Sequence[NumberedText], size: int) -> Iterator[Candidate]:
    for place, text in enumerate(texts):
        for passage in passages_in(text.plain, text.found, size, text.entries):
            if count_words(passage.text) >= FEWEST_WORDS and not passage.text.endswith("?"):
                heading = _heading_over(text, passage)
                yield Candidate(text, place, passage, placed(text.title, heading, passage.text))


def _heading_over(text: NumberedText, passage: Passage) -> str:
    """Return the heading that a passage stands under; its text may not show which line is one."""
    number = bisect_right(text.headings, passage.span.start, key=itemgetter(0))
    return text.headings[number - 1][1] if number else passage.heading


def _preselect(question: str, listed: Sequence[Candidate], by_date: bool) -> list[Candidate]:
    """Return the passages to rate: with words of the question, and from the first texts.

    For a timeline, those with a date come before those without.
    """
    if len(listed) <= RATED:
        return list(listed)
    wanted = set(terms(question))

    def promise(one: Candidate) -> float:
        shared = len(wanted & set(terms(one.context))) / max(1, len(wanted))
        return shared + 1 / (2 + one.place) + (by_date and one.dated)

    ranked = sorted(range(len(listed)), key=lambda number: (-promise(listed[number]), number))
    return [listed[number] for number in sorted(ranked[:RATED])]
