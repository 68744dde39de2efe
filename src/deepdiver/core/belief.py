"""How evidence moves belief.

The reasoner judges stance and strength; the arithmetic is here and nowhere else.

    log-odds(posterior) = log-odds(prior) + Σ over origins of  ± weight(strength) × credibility

Independence: copies of one story share an origin, and of one origin only the strongest support and
    the strongest
refutation count. Agreement of independent origins is this sum and nothing besides: how many agree
is told in the report (`core.corroboration`), and no source counts for more because others say the
same.

Bounds: no single origin moves a belief past 0.9 (or below 0.1), and no belief leaves 0.01..0.99,
    because a library that
has been read is never the world.
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
"""A tested hypothesis counts as supported from here on: one sound source (0.5 → 0.7 at weight 0.39)
is just enough."""
REFUTED_AT = 0.3
"""A hypothesis that evidence speaks against counts as refuted from here down, tested or not."""

AGAINST = 0.01
"""Evidence that has lowered a belief by less than this says nothing against it."""
LIKELIEST, UNLIKELIEST = 0.65, 0.12
"""A prior is a guess: kept within these it does not accept by itself, and one origin can still
speak against it. By itself it does not refute either: only evidence does."""


@dataclass(frozen=True, slots=True)
class WeighedEvidence:
    """One judgement, reduced to what belief needs."""

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
    # Summed by fsum over sorted values: floats added in another order could differ in the last bit,
    # and with it the report's hash.
    return probability(math.fsum([log_odds(prior), *sorted(contributions(prior, items).values())]))


def status(belief: float, trials: int, prior: float = 0.5) -> HypothesisStatus:
    """Return where a hypothesis stands.

    Args:
        belief: The posterior.
        trials: Attempts to refute it that could be carried out. Without one, nothing is ever
            accepted.
        prior: Belief before any evidence: one that was unlikely from the start is not refuted until
            evidence says so.
    """
    if belief <= REFUTED_AT and belief < prior - AGAINST:
        return HypothesisStatus.REFUTED
    if trials == 0:
        return HypothesisStatus.OPEN
    return HypothesisStatus.SUPPORTED if belief >= SUPPORTED_AT else HypothesisStatus.UNDECIDED


def confidence(accepted: Iterable[float], undecided: Iterable[float]) -> float:
    """Return belief in the answer as a whole.

    The mean over the accepted hypotheses; where none is accepted, the best of the undecided, and 0
    where there is none.
    """
    held = sorted(accepted)
    if held:
        return math.fsum(held) / len(held)
    return max(undecided, default=0.0)


def untested_confidence(sentences: Iterable[float], coverage: float) -> float:
    """Return belief in an answer that no hypothesis carries.

    Sources were weighed, and nothing was put to a test.

    The mean over its sentences, for each of them is claimed, times the part of the question that
    they answer.

    Args:
        sentences: Belief in each sentence of fact, by the sources for and against it.
        coverage: Which part of the question is answered, 0..1.
    """
    held = sorted(sentences)
    return math.fsum(held) / len(held) * coverage if held else 0.0
