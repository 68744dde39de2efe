"""Parts of a document weighed together: by hand, and what holds whatever the weights."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.encoders import weigh_parts
from deepdiver.encoders.weigh_parts import (
    LEAST,
    WEIGHTS,
    JudgedPart,
    features,
    leaning,
    log_odds,
    weigh,
)

likely = st.floats(0, 1)
parts = st.lists(
    st.builds(JudgedPart, st.just(0), st.just(0), likely, likely), min_size=1, max_size=6
)
bounded = st.floats(-7, 7)


def test_a_document_without_parts_has_no_features() -> None:
    with pytest.raises(ValueError, match="empty"):
        features([], "The ferry sank.", [])


def test_weights_and_features_must_be_as_many() -> None:
    with pytest.raises(ValueError, match="zip"):
        weigh([0.0])
    assert len(features(["It sank."], "It sank.", [JudgedPart(0, 0, 0.5, 0.5)])) + 1 == len(WEIGHTS)


@pytest.mark.parametrize("probability", [0.0, 1.0])
def test_what_is_sure_has_odds_all_the_same(probability: float) -> None:
    assert abs(log_odds(probability)) == pytest.approx(math.log((1 + LEAST) / LEAST))


@given(likely)
def test_odds_turn_round_with_the_probability(probability: float) -> None:
    assert log_odds(probability) == pytest.approx(-log_odds(1 - probability), abs=1e-6)
    assert log_odds(0.5) == 0.0


def test_features_by_hand() -> None:
    sentences = ["The ferry sank.", "Herring is eaten pickled.", "The captain of the ferry swam."]
    claim = "The captain sank the ferry."  # captain, sank, ferry
    found = features(
        sentences,
        claim,
        [JudgedPart(0, 0, 0.6, 0.1), JudgedPart(1, 1, 0.2, 0.9), JudgedPart(1, 2, 0.3, 0.3)],
    )
    assert found == pytest.approx(
        [
            log_odds(0.6),
            log_odds(0.9),
            log_odds(0.6 * 2 / 3),  # of the claim's words the first sentence holds two
            log_odds(0.3 * 2 / 3),  # the herring refutes most, but holds none
        ]
    )


def test_a_claim_without_words_is_held_by_nothing() -> None:
    found = features(["It is."], "the", [JudgedPart(0, 0, 0.9, 0.8)])
    assert found[2:] == (log_odds(0.0), log_odds(0.0))


@given(parts)
def test_the_order_of_the_parts_changes_nothing(listed: list[JudgedPart]) -> None:
    sentences, claim = ["The ferry sank in May."], "The ferry sank."
    assert features(sentences, claim, listed) == features(sentences, claim, listed[::-1])


def test_a_document_leans_as_its_part_that_favours_the_claim_most() -> None:
    strong, torn, weak = (
        JudgedPart(0, 0, 0.9, 0.09),
        JudgedPart(1, 1, 0.95, 0.9),
        JudgedPart(2, 2, 0.1, 0.2),
    )
    assert leaning([torn, strong, weak]) == leaning([strong]) == log_odds(0.9) - log_odds(0.09) > 0
    assert leaning([weak]) < 0
    assert leaning([JudgedPart(0, 0, 0.5, 0.5)]) == 0
    with pytest.raises(ValueError, match="empty"):
        leaning([])


@given(parts, likely, likely)
def test_more_to_read_makes_no_document_lean_less(
    listed: list[JudgedPart], supports: float, refutes: float
) -> None:
    assert leaning([*listed, JudgedPart(0, 0, supports, refutes)]) >= leaning(listed)
    assert leaning(listed) == leaning(listed[::-1])


@given(st.lists(bounded, min_size=len(WEIGHTS) - 1, max_size=len(WEIGHTS) - 1))
def test_two_sides_leave_room_for_neither(listed: list[float]) -> None:
    supports, refutes = weigh(listed)
    assert supports > 0
    assert refutes > 0
    assert supports + refutes < 1


def test_weighing_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weigh_parts, "WEIGHTS", ((1.0, 0.0), (0.0, 2.0), (math.log(2), 0.0)))
    # E to the 0, log 6 and log 4: 1, 6 and 4 of 11.
    supports, refutes = weigh([math.log(3), math.log(2)])
    assert [supports, refutes] == pytest.approx([6 / 11, 4 / 11])


@pytest.mark.parametrize(("side", "other"), [(0, 1), (1, 0)])
def test_the_stronger_a_side_the_likelier_it_is(side: int, other: int) -> None:
    even = [0.0] * (len(WEIGHTS) - 1)
    more = list(even)
    more[side] = more[2 + side] = 3.0
    assert weigh(more)[side] > weigh(even)[side]
    assert weigh(more)[side] - weigh(more)[other] > weigh(even)[side] - weigh(even)[other]


def test_a_document_that_says_nothing_is_likeliest_to_say_not_enough() -> None:
    sentences = ["Herring is eaten pickled."]
    supports, refutes = weigh(
        features(sentences, "The ferry sank.", [JudgedPart(0, 0, 0.02, 0.03)])
    )
    assert supports + refutes < 0.5
