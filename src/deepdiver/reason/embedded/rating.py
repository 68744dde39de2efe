"""The one place where passages are read for a question: how far each bears on it.

Two models rate a passage together with the title and the heading above it: the trained reader says
how likely it is that the passage bears on the question, and the embeddings how near the two are in
meaning. What was rated once is remembered, since the tasks of a run ask about the same passages,
and so are the vectors of passages, since the next question is asked about the same documents.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING

from deepdiver.core.languages import language_of
from deepdiver.core.text import terms
from deepdiver.encoders.embed import load_embedder
from deepdiver.encoders.reader import load_close_reader, load_reader
from deepdiver.tasks import ShownFinding

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vector = npt.NDArray[np.float32]

REMEMBERED = 20_000
"""Ratings that are remembered; then all are forgotten."""
VECTORS = 10_000
"""Vectors that are remembered, 17 MB; then all are forgotten. 25 questions about 40 documents need
some 3,000, and without them two fifths of the time of a question went into making them again."""
DIGITS = 4
"""Decimal places, so that every machine gets the same order."""
BY_RELEVANCE, BY_NEARNESS, BY_WORDS = 0.4, 0.4, 0.2
"""The weights of the reader, of the embeddings, and of the share of the question's telling words
that a passage has."""

NAMED = 0.3
"""What an entry gains whose term the question names: an option or a setting is meant exactly."""
ABOUT_IT = 0.2
"""If no passage reaches this score, nothing bears on the question. The best passage did for each of
37 questions over their own folder of documents, and for 13 of them over another folder."""

_UNSPACED = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]+")
"""Thai, kana and Chinese characters."""
UNDERSTOOD = frozenset({"English", ""})
"""The language of the models; a question without common words is taken for it."""


@dataclass(frozen=True, slots=True)
class Rating:
    """How far a passage bears on a question."""

    relevance: float
    """The reader's probability that it does, 0..1."""
    nearness: float
    """How near it is in meaning, -1..1."""
    words: float
    """The share of the question's telling words that it has, 0..1."""

    @property
    def score(self) -> float:
        """All three in one number, for ranking."""
        return round(
            BY_RELEVANCE * self.relevance + BY_NEARNESS * self.nearness + BY_WORDS * self.words,
            DIGITS,
        )


_rated: dict[tuple[str, str], Rating] = {}
_vectors: dict[str, Vector] = {}


def rate(question: str, passages: Sequence[str]) -> list[Rating]:
    """Rate passages, each with its title and heading, in their order."""
    if len(_rated) > REMEMBERED:
        _rated.clear()
    # Runs side by side ask from other threads: what is taken here must not be forgotten meanwhile.
    held = {text: known for text in passages if (known := _rated.get((question, text)))}
    if new := [text for text in dict.fromkeys(passages) if text not in held]:
        held |= zip(new, _rate(question, new), strict=True)
        _rated.update(((question, text), held[text]) for text in new)
    return [held[text] for text in passages]


def _rate(question: str, passages: Sequence[str]) -> list[Rating]:
    """Rate passages by both models; in a language that they do not know, by words alone."""
    wanted = _words(question)
    shared = [
        round(len(wanted & _words(text)) / len(wanted), DIGITS) if wanted else 0.0
        for text in passages
    ]
    if language_of(question) not in UNDERSTOOD:
        return [Rating(share, share, share) for share in shared]
    relevance = load_reader().relevance(question, passages)
    near = nearness(question, passages)
    return [Rating(*scores) for scores in zip(relevance, near, shared, strict=True)]


def nearness(question: str, texts: Sequence[str]) -> list[float]:
    """Return how near texts are to a question in meaning: ten times as fast as rating them.

    In a language that the model does not know, by their words.
    """
    if language_of(question) not in UNDERSTOOD:
        return [rating.nearness for rating in rate(question, texts)]
    asked, *vectors = _vectors_of([question, *texts])
    return [round(float(asked @ vector), DIGITS) for vector in vectors]


def _vectors_of(texts: Sequence[str]) -> list[Vector]:
    if len(_vectors) > VECTORS:
        _vectors.clear()
    held = {text: known for text in texts if (known := _vectors.get(text)) is not None}
    if new := [text for text in dict.fromkeys(texts) if text not in held]:
        held |= zip(new, load_embedder().embed(new), strict=True)
        _vectors.update((text, held[text]) for text in new)
    return [held[text] for text in texts]


def _words(text: str) -> set[str]:
    """Return the telling words of a text; where no spaces part them, each two characters."""
    pairs = {run[at : at + 2] for run in _UNSPACED.findall(text) for at in range(len(run) - 1)}
    return {*terms(_UNSPACED.sub(" ", text)), *pairs}


def rate_findings(question: str, findings: Sequence[ShownFinding]) -> list[Rating]:
    """Rate findings by their passages, each after the title of its source."""
    return rate(question, list(map(in_its_place, findings)))


def order_closely(
    question: str, findings: Sequence[ShownFinding], scores: Sequence[float]
) -> list[int]:
    """Return the places of findings, the best first, as the close reader would have them.

    Its opinion counts as much as that of the reader, besides the scores that they have.
    """
    if language_of(question) not in UNDERSTOOD:
        return list(range(len(findings)))
    found = load_close_reader().relevance(question, list(map(in_its_place, findings)))
    both = [BY_RELEVANCE * one + score for one, score in zip(found, scores, strict=True)]
    return sorted(range(len(both)), key=lambda place: (-round(both[place], DIGITS), place))


def in_its_place(finding: ShownFinding) -> str:
    """Return what a finding says, behind the title of its source and the heading above it."""
    return placed(finding.source, finding.heading, finding.statement)


def placed(title: str, heading: str, said: str) -> str:
    """Return a text behind the title of its source and the heading above it."""
    if heading and heading != title.strip() and not said.startswith(heading):
        said = told_by(heading, said)
    return told_by(title, said)


def rate_for_account(question: str, findings: Sequence[ShownFinding]) -> list[Rating]:
    """Rate findings after the title of their source and alone, as an account will tell them.

    A title that names the matter makes any sentence below it look near, and a sentence without its
    title may not say what it is about: the mean of both is taken.
    """
    alone = rate(question, [finding.statement for finding in findings])
    return [
        Rating(*((a + b) / 2 for a, b in zip(astuple(one), astuple(other), strict=True)))
        for one, other in zip(rate_findings(question, findings), alone, strict=True)
    ]


def told_by(title: str, text: str) -> str:
    """Return a text after the title of its source."""
    return f"{title.strip().rstrip('.')}. {text}".removeprefix(". ")
