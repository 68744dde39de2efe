"""How evidence moves belief.

The reasoner judges stance and strength. The arithmetic is here and nowhere else:

    log-odds(posterior) = log-odds(prior) + Σ over origins of  ± weight(strength) × credibility

Independence: copies of one story share an origin, and only the strongest support and the strongest
refutation of an origin count. Independent origins that agree add up, and nothing else does: the
report says how many agree (`core.corroboration`), but no source counts for more because others say
the same.

Bounds: no single origin moves a belief past 0.9 (or below 0.1), and no belief leaves 0.01..0.99,
because no library holds the whole world.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from deepdiver.core.record import HypothesisStatus, Stance

FULL_WEIGHT = math.log(9.0)
"""Log-odds of 0.9: what evidence of strength 1 from a source of credibility 1 is worth."""
SOURCE_BOUND = 0.9
"""No single origin moves a belief past this, nor below its complement."""
BELIEF_BOUND = 0.99
"""No belief goes past this, nor below its complement."""
SUPPORTED_AT = 0.7
"""A tested hypothesis is supported from this belief on: one sound source (0.5 → 0.7 at weight 0.39)
is just enough."""
REFUTED_AT = 0.3
"""A hypothesis that evidence speaks against is refuted from this belief down, tested or not."""

AGAINST = 0.01
"""Evidence that lowers a belief by less than this does not speak against it."""
LIKELIEST, UNLIKELIEST = 0.65, 0.12
"""Bounds of a prior, which is a guess. Within them no prior is enough to accept a hypothesis, and
one origin can still speak against it. A low prior does not refute either: only evidence does."""


@dataclass(frozen=True, slots=True)
class WeighedEvidence:
    """One judgement of a finding, reduced to what the arithmetic needs."""

    stance: Stance
    """For, against or neither."""
    strength: float
    """How strongly, 0..1."""
    credibility: float
    """How far the source is believed, 0..1."""
    origin: str
    """Copies of one story share this."""


def bounded_prior(prior: float) -> float:
    """Return a prior within its bounds."""
    return min(max(prior, UNLIKELIEST), LIKELIEST)


def log_odds(p: float) -> float:
    """Return ln(p / (1 − p)), with p kept within the bounds of belief."""
    p = min(max(p, 1.0 - BELIEF_BOUND), BELIEF_BOUND)
    return math.log(p / (1.0 - p))


def probability(odds: float) -> float:
    """Return the probability of log-odds, within the bounds of belief."""
    if odds >= 0:
        p = 1.0 / (1.0 + math.exp(-odds)) if odds < 700 else 1.0
    else:
        p = math.exp(odds) / (1.0 + math.exp(odds)) if odds > -700 else 0.0
    return min(max(p, 1.0 - BELIEF_BOUND), BELIEF_BOUND)


def weight(item: WeighedEvidence) -> float:
    """Return the log-odds that one judgement is worth, with its sign."""
    sign = {Stance.SUPPORTS: 1.0, Stance.REFUTES: -1.0, Stance.NEUTRAL: 0.0}[item.stance]
    return sign * FULL_WEIGHT * item.strength * item.credibility


def contributions(prior: float, items: Iterable[WeighedEvidence]) -> dict[str, float]:
    """Return what each origin adds to the log-odds, bounded as the module says."""
    strongest: dict[tuple[str, bool], float] = {}
    for item in items:
        value = weight(item)
        key = (item.origin, value > 0)
        if abs(value) > abs(strongest.get(key, 0.0)):
            strongest[key] = value
    origins = sorted({origin for origin, _ in strongest})
    start = log_odds(prior)
    room_up = max(0.0, log_odds(SOURCE_BOUND) - start)
    room_down = min(0.0, log_odds(1.0 - SOURCE_BOUND) - start)
    return {
        origin: min(
            max(
                strongest.get((origin, True), 0.0) + strongest.get((origin, False), 0.0), room_down
            ),
            room_up,
        )
        for origin in origins
    }


def posterior(prior: float, items: Iterable[WeighedEvidence]) -> float:
    """Return the belief after all evidence; the order of the evidence does not matter."""
    # fsum over sorted values: floats added in another order could differ in the last bit, and so
    # would the report's hash.
    return probability(math.fsum([log_odds(prior), *sorted(contributions(prior, items).values())]))


def status(belief: float, trials: int, prior: float = 0.5) -> HypothesisStatus:
    """Return where a hypothesis stands.

    Args:
        belief: The posterior.
        trials: Attempts to refute it that could be carried out. Without one, no hypothesis is
            accepted.
        prior: Belief before any evidence. A hypothesis that was unlikely from the start is refuted
            only if evidence speaks against it.
    """
    if belief <= REFUTED_AT and belief < prior - AGAINST:
        return HypothesisStatus.REFUTED
    if trials == 0:
        return HypothesisStatus.OPEN
    return HypothesisStatus.SUPPORTED if belief >= SUPPORTED_AT else HypothesisStatus.UNDECIDED


def confidence(accepted: Iterable[float], undecided: Iterable[float]) -> float:
    """Return the belief in an answer of which only the hypotheses behind it are weighed.

    This is the mean over the accepted hypotheses. If none is accepted, it is the belief in the best
    of the undecided ones, and 0 if there are none.
    """
    held = sorted(accepted)
    if held:
        return math.fsum(held) / len(held)
    return max(undecided, default=0.0)


def answer_confidence(sentences: Iterable[float], coverage: float) -> float:
    """Return the belief in an answer whose sentences are weighed.

    This is the mean over its sentences, because the answer claims all of them, times the part of
    the question that they answer.

    Args:
        sentences: Belief in each sentence of fact, from the sources for and against it.
        coverage: Which part of the question is answered, 0..1.
    """
    held = sorted(sentences)
    return math.fsum(held) / len(held) * coverage if held else 0.0
