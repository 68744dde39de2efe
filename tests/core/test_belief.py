"""How evidence moves belief.

Never far from one origin, never to certainty, and the same in any order.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from deepdiver.core.belief import (
    BELIEF_BOUND,
    FULL_WEIGHT,
    LIKELIEST,
    REFUTED_AT,
    SOURCE_BOUND,
    SUPPORTED_AT,
    UNLIKELIEST,
    WeighedEvidence,
    answer_confidence,
    bounded_prior,
    confidence,
    contributions,
    log_odds,
    posterior,
    probability,
    status,
    weight,
)
from deepdiver.core.record import HypothesisStatus, Stance

SHARES = st.floats(0, 1)
ORIGINS = st.sampled_from(["a", "b", "c", "d"])
ITEMS = st.builds(WeighedEvidence, st.sampled_from(Stance), SHARES, SHARES, ORIGINS)
LISTS = st.lists(ITEMS, max_size=12)
ROUNDING = 1e-12
"""What computing in floats may cost."""


def supports(strength: float = 1.0, credibility: float = 1.0, origin: str = "a") -> WeighedEvidence:
    return WeighedEvidence(Stance.SUPPORTS, strength, credibility, origin)


def refutes(strength: float = 1.0, credibility: float = 1.0, origin: str = "a") -> WeighedEvidence:
    return WeighedEvidence(Stance.REFUTES, strength, credibility, origin)


def neutral(strength: float = 1.0, credibility: float = 1.0, origin: str = "a") -> WeighedEvidence:
    return WeighedEvidence(Stance.NEUTRAL, strength, credibility, origin)


@given(SHARES, LISTS)
def test_no_belief_reaches_certainty(prior: float, items: list[WeighedEvidence]) -> None:
    belief = posterior(prior, items)
    assert 1 - BELIEF_BOUND <= belief <= BELIEF_BOUND
    assert 0 < belief < 1


def test_not_even_a_thousand_sources_make_certain() -> None:
    assert posterior(0.5, [supports(origin=str(i)) for i in range(1_000)]) == BELIEF_BOUND
    assert posterior(0.5, [refutes(origin=str(i)) for i in range(1_000)]) == pytest.approx(
        1 - BELIEF_BOUND, abs=1e-15
    )


@given(
    st.floats(1 - SOURCE_BOUND, SOURCE_BOUND),
    st.lists(
        ITEMS.map(
            lambda item: WeighedEvidence(item.stance, item.strength, item.credibility, "one")
        ),
        max_size=8,
    ),
)
def test_no_single_origin_moves_a_belief_past_its_bound(
    prior: float, items: list[WeighedEvidence]
) -> None:
    belief = posterior(prior, items)
    assert 1 - SOURCE_BOUND - ROUNDING <= belief <= SOURCE_BOUND + ROUNDING


@given(SHARES, LISTS, st.sampled_from([supports, refutes]), SHARES, SHARES)
def test_no_single_origin_moves_any_belief_further_past_the_bound(
    prior: float,
    others: list[WeighedEvidence],
    make: Callable[..., WeighedEvidence],
    strength: float,
    credibility: float,
) -> None:
    """A prior outside 0.1..0.9 is not pushed further out by one more origin alone."""
    alone = posterior(prior, [make(strength, credibility, "new")])
    start = posterior(prior, [])
    if start >= SOURCE_BOUND and make is supports:
        assert alone <= start + ROUNDING
    if start <= 1 - SOURCE_BOUND and make is refutes:
        assert alone >= start - ROUNDING
    # What an origin adds does not depend on who else speaks.
    together = contributions(prior, [*others, make(strength, credibility, "new")])
    assert together.get("new", 0.0) == contributions(
        prior, [make(strength, credibility, "new")]
    ).get("new", 0.0)


def test_one_full_source_brings_an_even_belief_exactly_to_the_bound() -> None:
    assert posterior(0.5, [supports()]) == pytest.approx(SOURCE_BOUND)
    assert posterior(0.5, [refutes()]) == pytest.approx(1 - SOURCE_BOUND)


def test_several_origins_together_pass_the_bound() -> None:
    assert posterior(0.5, [supports(origin="a"), supports(origin="b")]) > SOURCE_BOUND
    assert posterior(0.5, [refutes(origin="a"), refutes(origin="b")]) < 1 - SOURCE_BOUND


@given(SHARES, LISTS, st.randoms(use_true_random=False))
def test_the_order_of_evidence_does_not_matter_to_the_last_bit(
    prior: float, items: list[WeighedEvidence], random: object
) -> None:
    mixed = list(items)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    assert posterior(prior, mixed).hex() == posterior(prior, items).hex()
    assert contributions(prior, mixed) == contributions(prior, items)
    assert list(contributions(prior, mixed)) == list(contributions(prior, items))


@given(SHARES, LISTS)
def test_copies_of_one_story_count_once(prior: float, items: list[WeighedEvidence]) -> None:
    assert posterior(prior, items * 3) == posterior(prior, items)


@given(SHARES, ITEMS, SHARES, SHARES)
def test_a_weaker_copy_adds_nothing(
    prior: float, item: WeighedEvidence, less: float, lesser: float
) -> None:
    weaker = WeighedEvidence(
        item.stance, item.strength * less, item.credibility * lesser, item.origin
    )
    assert posterior(prior, [item, weaker]) == posterior(prior, [item])


def test_of_one_origin_the_strongest_of_each_side_counts() -> None:
    mixed = [
        supports(0.9, 1, "a"),
        supports(0.2, 1, "a"),
        refutes(0.4, 1, "a"),
        refutes(0.1, 1, "a"),
    ]
    assert contributions(0.5, mixed) == {"a": pytest.approx(FULL_WEIGHT * (0.9 - 0.4))}


def test_independent_origins_add_up() -> None:
    items = [supports(0.5, 0.6, "a"), refutes(0.3, 0.9, "b")]
    assert contributions(0.5, items) == {
        "a": pytest.approx(FULL_WEIGHT * 0.5 * 0.6),
        "b": pytest.approx(-FULL_WEIGHT * 0.3 * 0.9),
    }
    assert posterior(0.5, items) == pytest.approx(probability(FULL_WEIGHT * (0.30 - 0.27)))


@given(SHARES, LISTS, SHARES, SHARES, ORIGINS)
def test_neutral_evidence_changes_nothing(
    prior: float, items: list[WeighedEvidence], strength: float, credibility: float, origin: str
) -> None:
    assert posterior(prior, [*items, neutral(strength, credibility, origin)]) == posterior(
        prior, items
    )


@given(SHARES, LISTS, ORIGINS, SHARES)
def test_what_has_no_strength_or_comes_from_nobody_changes_nothing(
    prior: float, items: list[WeighedEvidence], origin: str, other: float
) -> None:
    for make in (supports, refutes):
        assert posterior(prior, [*items, make(0.0, other, origin)]) == posterior(prior, items)
        assert posterior(prior, [*items, make(other, 0.0, origin)]) == posterior(prior, items)


@given(SHARES, LISTS, SHARES, SHARES, SHARES, ORIGINS)
def test_stronger_support_never_lowers_and_stronger_refutation_never_raises(
    prior: float, items: list[WeighedEvidence], one: float, other: float, fixed: float, origin: str
) -> None:
    weak, strong = sorted((one, other))
    for make, sign in ((supports, 1), (refutes, -1)):
        by_strength = [
            posterior(prior, [*items, make(value, fixed, origin)]) for value in (weak, strong)
        ]
        by_credibility = [
            posterior(prior, [*items, make(fixed, value, origin)]) for value in (weak, strong)
        ]
        assert sign * by_strength[0] <= sign * by_strength[1] + ROUNDING
        assert sign * by_credibility[0] <= sign * by_credibility[1] + ROUNDING


@given(st.floats(0.05, 0.85), st.floats(0.05, 1), st.floats(0.05, 1))
def test_support_raises_and_refutation_lowers(
    prior: float, strength: float, credibility: float
) -> None:
    start = posterior(prior, [])
    assert posterior(prior, [supports(strength, credibility)]) > start
    assume(prior > 0.15)
    assert posterior(prior, [refutes(strength, credibility)]) < start


@pytest.mark.parametrize("prior", [UNLIKELIEST, 0.149, REFUTED_AT])
def test_what_was_unlikely_from_the_start_is_not_refuted_until_evidence_says_so(
    prior: float,
) -> None:
    assert status(posterior(prior, ()), 1, prior) is HypothesisStatus.UNDECIDED
    assert status(posterior(prior, ()), 0, prior) is HypothesisStatus.OPEN
    against = WeighedEvidence(Stance.REFUTES, 0.5, 1.0, "one")
    assert status(posterior(prior, [against]), 0, prior) is HypothesisStatus.REFUTED


@given(st.floats(-1, 2))
def test_a_prior_alone_neither_accepts_nor_refutes(told: float) -> None:
    prior = bounded_prior(told)
    assert UNLIKELIEST <= prior <= LIKELIEST
    assert status(posterior(prior, ()), 1, prior) is HypothesisStatus.UNDECIDED


@given(st.floats(1 - BELIEF_BOUND, BELIEF_BOUND))
def test_without_evidence_belief_is_the_prior(prior: float) -> None:
    assert posterior(prior, []) == pytest.approx(prior, abs=ROUNDING)


@given(SHARES, SHARES, LISTS)
def test_a_higher_prior_never_leads_to_a_lower_belief_from_support_alone(
    one: float, other: float, items: list[WeighedEvidence]
) -> None:
    low, high = sorted((one, other))
    same_side = [item for item in items if item.stance is Stance.SUPPORTS][:1]
    assert posterior(low, same_side) <= posterior(high, same_side) + ROUNDING


@given(SHARES, LISTS)
def test_for_and_against_are_treated_alike(prior: float, items: list[WeighedEvidence]) -> None:
    other_way = {
        Stance.SUPPORTS: Stance.REFUTES,
        Stance.REFUTES: Stance.SUPPORTS,
        Stance.NEUTRAL: Stance.NEUTRAL,
    }
    mirrored = [
        WeighedEvidence(other_way[item.stance], item.strength, item.credibility, item.origin)
        for item in items
    ]
    assert posterior(1 - prior, mirrored) == pytest.approx(1 - posterior(prior, items), abs=1e-9)


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (supports(), FULL_WEIGHT),
        (supports(0.5, 0.5), FULL_WEIGHT / 4),
        (refutes(0.5, 0.5), -FULL_WEIGHT / 4),
        (neutral(), 0.0),
    ],
)
def test_what_a_judgement_is_worth(item: WeighedEvidence, expected: float) -> None:
    assert weight(item) == pytest.approx(expected)


@given(st.floats(allow_nan=False))
def test_any_log_odds_make_a_belief_within_bounds(odds: float) -> None:
    assert 1 - BELIEF_BOUND <= probability(odds) <= BELIEF_BOUND


@given(st.floats(allow_nan=False))
def test_any_number_makes_finite_log_odds(p: float) -> None:
    assert math.isfinite(log_odds(p))
    assert abs(log_odds(p)) <= log_odds(BELIEF_BOUND) + ROUNDING


@given(st.floats(1 - BELIEF_BOUND, BELIEF_BOUND))
def test_log_odds_and_probability_undo_each_other(p: float) -> None:
    assert probability(log_odds(p)) == pytest.approx(p, abs=ROUNDING)


def test_log_odds_of_even_belief_are_zero() -> None:
    assert log_odds(0.5) == 0.0
    assert probability(0.0) == 0.5


@given(SHARES)
def test_without_a_trial_nothing_is_supported(belief: float) -> None:
    assert status(belief, 0) in {HypothesisStatus.OPEN, HypothesisStatus.REFUTED}
    assert status(belief, 0) is not HypothesisStatus.SUPPORTED


@given(SHARES, st.integers(1, 9))
def test_after_a_trial_nothing_is_open(belief: float, trials: int) -> None:
    assert status(belief, trials) is not HypothesisStatus.OPEN


@pytest.mark.parametrize(
    ("belief", "trials", "expected"),
    [
        (0.99, 0, HypothesisStatus.OPEN),
        (SUPPORTED_AT, 0, HypothesisStatus.OPEN),
        (0.5, 0, HypothesisStatus.OPEN),
        (REFUTED_AT + 1e-9, 0, HypothesisStatus.OPEN),
        (REFUTED_AT, 0, HypothesisStatus.REFUTED),
        (0.99, 1, HypothesisStatus.SUPPORTED),
        (SUPPORTED_AT, 1, HypothesisStatus.SUPPORTED),
        (SUPPORTED_AT - 1e-9, 1, HypothesisStatus.UNDECIDED),
        (0.5, 3, HypothesisStatus.UNDECIDED),
        (REFUTED_AT + 1e-9, 1, HypothesisStatus.UNDECIDED),
        (REFUTED_AT, 1, HypothesisStatus.REFUTED),
        (0.01, 2, HypothesisStatus.REFUTED),
    ],
)
def test_where_a_hypothesis_stands(belief: float, trials: int, expected: HypothesisStatus) -> None:
    assert status(belief, trials) is expected


def test_one_sound_source_is_just_enough_and_a_doubtful_one_is_not() -> None:
    assert status(posterior(0.5, [supports(1.0, 0.39)]), 1) is HypothesisStatus.SUPPORTED
    assert status(posterior(0.5, [supports(1.0, 0.38)]), 1) is HypothesisStatus.UNDECIDED
    assert status(posterior(0.5, [refutes(1.0, 0.39)]), 1) is HypothesisStatus.REFUTED


@given(st.lists(SHARES, min_size=1), st.lists(SHARES))
def test_confidence_is_the_mean_of_what_is_accepted(
    accepted: list[float], undecided: list[float]
) -> None:
    value = confidence(accepted, undecided)
    assert min(accepted) - ROUNDING <= value <= max(accepted) + ROUNDING
    assert value == pytest.approx(sum(accepted) / len(accepted))
    assert value.hex() == confidence(reversed(accepted), undecided).hex()
    assert value == confidence(accepted, [])


@given(st.lists(SHARES, min_size=1))
def test_where_nothing_is_accepted_confidence_is_the_best_of_the_undecided(
    undecided: list[float],
) -> None:
    assert confidence([], undecided) == max(undecided)


def test_confidence_in_nothing_is_zero() -> None:
    assert confidence([], []) == 0.0
    assert confidence(iter(()), iter(())) == 0.0


@given(st.lists(SHARES, min_size=1), SHARES)
def test_untested_is_the_mean_of_what_is_claimed_times_what_is_covered(
    sentences: list[float], coverage: float
) -> None:
    value = answer_confidence(sentences, coverage)
    assert value == pytest.approx(sum(sentences) / len(sentences) * coverage)
    assert 0.0 <= value <= max(sentences) + ROUNDING
    assert value.hex() == answer_confidence(reversed(sentences), coverage).hex()


def test_what_claims_nothing_or_covers_nothing_is_not_believed() -> None:
    assert answer_confidence([], 1.0) == 0.0
    assert answer_confidence([0.9], 0.0) == 0.0
