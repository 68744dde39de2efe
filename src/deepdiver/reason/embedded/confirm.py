"""Asks the close reader before an answer is taken for sure: it reads better, and few passages.

An answer that it does not find in the same passage stays a likely one.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable

from deepdiver.encoders.reader import load_close_reader
from deepdiver.reason.embedded.asked import understand
from deepdiver.reason.embedded.rating import told_by
from deepdiver.reason.embedded.rivals import same_words
from deepdiver.tasks import ShownFinding

UNSURE = 0.65
"""The most that an answer is believed which the close reader does not find: less than an accepted
one."""
READ = 3
"""Passages that it reads, those that give the answer most clearly."""
BEARS = 0.3
"""The least relevance of a row that an answer is looked up in."""
RATHER = 0.5
"""The least probability that a sentence affirms, or denies, the statement in a question."""


def confirms(question: str, answer: str, giving: Iterable[ShownFinding]) -> bool:
    """Return whether one of the passages that give an answer gives it to the close reader, too."""
    text = understand(question).text
    for finding in list(giving)[:READ]:
        found, score, none = _answer_in(text, told_by(finding.source, finding.quote))
        if score > none and (same_words(found, answer) or _within(found, answer)):
            return True
    return False


def bears(question: str, row: ShownFinding) -> bool:
    """Return whether a row that an answer is looked up in bears on the question."""
    text = understand(question).text
    return _relevance(text, told_by(row.source, row.quote)) >= BEARS


def takes_side(sentence: str, statement: str, *, affirms: bool) -> bool:
    """Return whether a sentence, after its title, affirms a statement, or denies it."""
    supports, refutes = _verdict(sentence, statement)
    return (supports if affirms else refutes) >= RATHER


def _within(one: str, other: str) -> bool:
    """Whether one answer has all words of the other: a day, and the day of a year."""
    short, long = sorted((one.casefold(), other.casefold()), key=len)
    return bool(short) and f" {short} " in f" {long} "


@functools.lru_cache(maxsize=1_024)
def _answer_in(question: str, passage: str) -> tuple[str, float, float]:
    """Return the answer in a passage, how likely it is, and how likely there is none."""
    (span,) = load_close_reader().spans(question, [passage])
    return span.text, span.score, span.none


@functools.lru_cache(maxsize=1_024)
def _relevance(question: str, passage: str) -> float:
    return load_close_reader().relevance(question, [passage])[0]


@functools.lru_cache(maxsize=1_024)
def _verdict(evidence: str, claim: str) -> tuple[float, float]:
    (verdict,) = load_close_reader().verify([(evidence, claim)])
    return verdict.supports, verdict.refutes
