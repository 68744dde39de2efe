"""How the verdicts on a document's parts become one on the whole.

The strongest of many parts says too much: the more sentences, the likelier one of them seems to
bear on a claim. So the strongest on each side count together, by themselves and by how much of the
claim's words their part holds. A logistic function adds them up; training/reader/calibrate.py finds
its weights on documents that are in no evaluation set.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from deepdiver.core.text import terms

LEAST = 1e-3
"""What is added to a probability and to its opposite, so that log-odds stay within 7."""

WEIGHTS = (
    (0.615, -0.031),  # supports
    (-0.255, 0.204),  # refutes
    (0.14, -0.072),  # supports by share
    (0.268, 0.304),  # refutes by share
    (0.824, 0.057),  # always
)
"""What each feature counts for supports and for refutes, against not enough; the last row counts
always. On documents that these were not fitted on, macro F1 over four sets rose from 0.54 to 0.59
and the calibration error fell from 0.24 to 0.09; the mean of all parts, the largest share and the
second strongest beside them gave no more."""


@dataclass(frozen=True, slots=True)
class JudgedPart:
    """A sentence or two adjacent ones, and how they bear on a claim by themselves."""

    first: int
    """The number of the first sentence."""
    last: int
    """The number of the last one."""
    supports: float
    """How likely they bear the claim out."""
    refutes: float
    """How likely they contradict it."""


def features(
    sentences: Sequence[str], claim: str, parts: Sequence[JudgedPart]
) -> tuple[float, ...]:
    """Return what the whole is judged by, in the order of WEIGHTS.

    Args:
        sentences: Of the document.
        claim: What is judged.
        parts: At least one, in any order.
    """
    asked, words = set(terms(claim)), [set(terms(text)) for text in sentences]
    shares = [
        len(asked & (words[part.first] | words[part.last])) / max(1, len(asked)) for part in parts
    ]
    return (
        log_odds(max(part.supports for part in parts)),
        log_odds(max(part.refutes for part in parts)),
        log_odds(max(part.supports * share for part, share in zip(parts, shares, strict=True))),
        log_odds(max(part.refutes * share for part, share in zip(parts, shares, strict=True))),
    )


def leaning(parts: Sequence[JudgedPart]) -> float:
    """Return how far the part that favours the claim most does so rather than deny it.

    A rank, not a probability.
    """
    return max(log_odds(part.supports) - log_odds(part.refutes) for part in parts)


def log_odds(probability: float) -> float:
    """Return the logarithm of how much likelier something is than not, within bounds."""
    return math.log((probability + LEAST) / (1 - probability + LEAST))


def weigh(given: Sequence[float]) -> tuple[float, float]:
    """Return how likely a document with these features supports the claim, and how likely it refutes it."""
    sides = [
        math.fsum(w[side] * x for w, x in zip(WEIGHTS, (*given, 1.0), strict=True))
        for side in (0, 1)
    ]
    most = max(*sides, 0.0)
    supports, refutes, neither = (math.exp(value - most) for value in (*sides, 0.0))
    return supports / (supports + refutes + neither), refutes / (supports + refutes + neither)
