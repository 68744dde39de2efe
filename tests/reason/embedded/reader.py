"""A reader with known answers, so that their use can be tested without the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from deepdiver.reason.embedded import reader_answers

Span = Callable[[str, str], tuple[str, int, float]]


def knowing(
    known: Mapping[str, float], *, whole: Mapping[tuple[str, ...], tuple[str, float]] | None = None
) -> Span:
    """Return what finds the likeliest of some words in a text.

    Args:
        known: Answers, and how likely each is wherever it stands.
        whole: Texts that hold all of some words have another answer.
    """

    def span(question: str, text: str) -> tuple[str, int, float]:
        for needed, (answer, score) in (whole or {}).items():
            if all(words in text for words in needed):
                return answer, text.index(answer), score
        there = [(score, answer) for answer, score in known.items() if answer in text]
        if not there:
            return "", 0, 0.0
        score, answer = max(there)
        return answer, text.index(answer), score

    return span


def teach(
    patch: pytest.MonkeyPatch,
    known: Mapping[str, float],
    **more: Mapping[tuple[str, ...], tuple[str, float]],
) -> None:
    """Put such a reader in the place of the trained one."""
    patch.setattr(reader_answers, "_span", knowing(known, **more))


def believe(patch: pytest.MonkeyPatch, supports: Mapping[str, float]) -> None:
    """Have claims borne out by evidence that holds some words, as far as is said."""
    patch.setattr(
        reader_answers,
        "_supports",
        lambda evidence, claim: max(
            (s for words, s in supports.items() if words in evidence), default=0.0
        ),
    )
