"""The arithmetic of evaluation, against values worked out by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.evals.measures import (
    Bin,
    accuracy,
    auc,
    balanced,
    brier,
    ece,
    ece_by_chance,
    exact,
    f1,
    holds_one,
    macro_f1,
    mean,
    rate,
    reliability,
    right,
    same_answer,
    stands_in,
    tokens,
    without,
)

words = st.lists(st.sampled_from("red green blue ferry 1902 98".split()), max_size=6).map(" ".join)
stated = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60)
scores = st.lists(
    st.tuples(st.booleans(), st.sampled_from([-2.0, -1.0, 0.0, 0.5, 1.0])), min_size=1, max_size=40
)


def test_nothing_has_no_mean_and_no_calibration() -> None:
    assert mean([]) is None
    assert rate([]) is None
    assert brier([]) is None
    assert ece([]) is None
    assert reliability([]) == ()
    assert auc([]) is None
    assert balanced([]) is None
    assert macro_f1([]) is None
    assert accuracy([]) is None


def test_one_class_alone_cannot_be_ranked() -> None:
    assert auc([(True, 1.0), (True, 0.0)]) is None
    assert balanced([(False, 1.0)]) is None


def test_answers_are_normalised_as_squad_does() -> None:
    assert tokens("The  Eagle, an 'anvil'!") == ["eagle", "anvil"]
    assert tokens("3,559 people") == ["3559", "people"]
    assert tokens("...") == []


@pytest.mark.parametrize(
    ("said", "gold", "expected"),
    [
        ("", "Paris", 0.0),
        ("Paris", "", 0.0),
        ("the", "a", 1.0),  # both are nothing after normalisation
        ("Paris", "paris.", 1.0),
        ("Stanley Hall", "G. Stanley Hall", 0.8),  # 2 of 2, 2 of 3
        ("red red", "red", 2 / 3),  # a word counts as often as it stands in both
        ("yes", "yes, it is", 0.0),
        ("no", "no", 1.0),
        ("Yes.", "yes", 1.0),
        ("Norway", "Sweden", 0.0),
    ],
)
def test_f1(said: str, gold: str, expected: float) -> None:
    assert f1(said, gold) == pytest.approx(expected)


@given(words, words)
def test_f1_is_symmetric_and_one_only_for_the_same_words(one: str, other: str) -> None:
    assert f1(one, other) == f1(other, one)
    assert 0.0 <= f1(one, other) <= 1.0
    assert (f1(one, other) == 1.0) == (sorted(tokens(one)) == sorted(tokens(other)))
    assert exact(one, one)


@pytest.mark.parametrize(
    ("gold", "text", "expected"),
    [
        ("Lille", "born in Lilleham", False),
        ("", "anything", False),
        ("1902", "built in 1902.", True),
        ("98 km", "it is 98 km long", True),
        ("98 km", "it is 98 long km", False),
        ("the WB", "on WB", True),
    ],
)
def test_an_answer_stands_in_a_text_word_for_word(gold: str, text: str, expected: bool) -> None:
    assert stands_in(gold, text) is expected


@pytest.mark.parametrize(
    ("said", "gold", "expected"),
    [
        ("people", "3,559 people", False),
        ("10", "10 April", True),
        ("April", "10 April", False),
        ("3,559", "3,559 people", True),
        ("3,559 people in 2010", "3,559 people", True),
        ("Bhatt", "Mahesh Bhatt", True),
        ("Raj Kapoor", "Mahesh Bhatt", False),
        ("", "Mahesh Bhatt", False),
        ("of", "Bank of England", False),
    ],
)
def test_a_part_is_the_same_answer_only_if_it_is_telling(
    said: str, gold: str, expected: bool
) -> None:
    assert same_answer(said, gold) is expected


@pytest.mark.parametrize(
    ("said", "answers", "expected"),
    [
        ("", ["x"], False),
        ("x", [], False),
        ("there is no such thing", ["no"], False),
        ("no", ["no"], True),
        ("Nick Hexum", ['Nicholas Lofton "Nick" Hexum'], True),
        ("Sid Haig was born in Fresno, California, and is an actor of films", ["Sid Haig"], True),
        ("Fresno", ["Sid Haig", "Fresno"], True),
        ("Sid", ["Sid Haig of Fresno"], False),
    ],
)
def test_what_is_right(said: str, answers: list[str], expected: bool) -> None:
    assert right(said, answers) is expected


def test_what_stands_within_an_answer_is_not_found_by_itself() -> None:
    left = without("born February 8, 1900 and not in 1900", ["February 8, 1900"])
    assert stands_in("1900", left)
    assert not stands_in("1900", without("born on February 8, 1900", ["February 8, 1900"]))
    assert not stands_in("red blue", without("red green blue", ["green"]))


def test_a_coin_is_worth_half() -> None:
    assert balanced([(True, 1.0), (True, -1.0), (False, -1.0), (False, 0.0)]) == pytest.approx(
        (0.5 + 0.75) / 2
    )
    assert balanced([(True, 0.0), (False, 0.0)]) == 0.5
    assert balanced([(True, 0.0), (False, -1.0)], undecided=0.0) == 0.5


def test_a_longer_text_holds_an_answer_and_no_yes_or_no() -> None:
    assert holds_one("There is no ferry in Norway.", ["Norway", "NO"])
    assert not holds_one("There is no ferry.", ["Norway", "NO"])
    assert not holds_one("", ["Norway"])


def test_ranking() -> None:
    assert auc([(True, 0.9), (False, 0.1)]) == 1.0
    assert auc([(True, 0.1), (False, 0.9)]) == 0.0
    assert auc([(True, 0.5), (False, 0.5)]) == 0.5
    # positives 3, 1; negatives 2, 1: 3 beats both, 1 ties one and loses one: 2.5 of 4
    assert auc([(True, 3), (True, 1), (False, 2), (False, 1)]) == pytest.approx(2.5 / 4)


@given(scores)
def test_ranking_is_what_counting_all_pairs_gives(judged: list[tuple[bool, float]]) -> None:
    up = [score for positive, score in judged if positive]
    down = [score for positive, score in judged if not positive]
    if not up or not down:
        assert auc(judged) is None
        return
    won = sum(1.0 if a > b else 0.5 if a == b else 0.0 for a in up for b in down)
    assert auc(judged) == pytest.approx(won / (len(up) * len(down)))
    turned = auc([(positive, -score) for positive, score in judged])
    assert turned == pytest.approx(1 - (auc(judged) or 0))


def test_accuracy_of_classes() -> None:
    assert accuracy([("a", "a"), ("b", "a"), ("b", "b"), ("b", "c")]) == 0.5
    assert accuracy(iter([("a", "b")])) == 0.0


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("ab")), min_size=1, max_size=30))
def test_accuracy_is_what_the_classes_have_right_by_their_size(
    pairs: list[tuple[str, str]],
) -> None:
    by = {name: [said for gold, said in pairs if gold == name] for name in "ab"}
    whole = sum(len(said) * said.count(name) / len(said) for name, said in by.items() if said)
    assert accuracy(pairs) == pytest.approx(whole / len(pairs))


def test_area_by_hand_where_scores_are_equal() -> None:
    # of four pairs of one of each kind three are in order and one is a tie
    assert auc([(False, 0.1), (True, 0.4), (False, 0.4), (True, 0.8)]) == pytest.approx(0.875)
    assert auc([(False, 0.5), (True, 0.5)]) == 0.5


@given(scores)
def test_area_is_the_share_of_pairs_in_the_right_order(judged: list[tuple[bool, float]]) -> None:
    good = [score for positive, score in judged if positive]
    bad = [score for positive, score in judged if not positive]
    ways = [1.0 if a > b else 0.5 if a == b else 0.0 for a in good for b in bad]
    assert auc(judged) == (pytest.approx(sum(ways) / len(ways)) if ways else None)


def test_macro_f1_counts_true_classes_only() -> None:
    # supports: 1 right of 2 said and 1 true: 2/3; refutes: 1 of 1 and 3: 1/2; neutral is nowhere
    # true
    said = [
        ("supports", "supports"),
        ("refutes", "supports"),
        ("refutes", "refutes"),
        ("refutes", "neutral"),
    ]
    assert macro_f1(said) == pytest.approx((2 / 3 + 1 / 2) / 2)


def test_f1_of_classes() -> None:
    # a: 1 hit of 2 true, 1 said: 2/3; b: 1 hit, 1 true, 2 said: 2/3
    assert macro_f1([("a", "a"), ("a", "b"), ("b", "b")]) == pytest.approx(2 / 3)
    assert macro_f1([("a", "c")]) == 0.0


def test_brier_and_calibration_of_a_worked_example() -> None:
    told = [(0.8, True), (0.8, True), (0.8, False), (0.2, False), (1.0, True)]
    assert brier(told) == pytest.approx((0.04 + 0.04 + 0.64 + 0.04 + 0) / 5)
    bins = reliability(told)
    assert [each.count for each in bins] == [1, 3, 1]
    assert (bins[1].low, bins[1].high) == (0.8, 0.9)
    assert bins[2] == Bin(0.9, 1.0, 1, 1.0, 1.0)  # 1.0 belongs to the last
    assert ece(bins) == pytest.approx((1 * 0.2 + 3 * (0.8 - 2 / 3) + 0) / 5)


def test_calibration_by_hand() -> None:
    told = [(0.95, True), (0.95, False), (0.62, True), (0.68, True)]
    # bin 0.9: |1.9 - 1| = 0.9; bin 0.6: |1.3 - 2| = 0.7; of 4
    assert ece(reliability(told)) == pytest.approx(0.4)
    assert brier(told) == pytest.approx((0.05**2 + 0.95**2 + 0.38**2 + 0.32**2) / 4)
    assert ece(reliability([(1.0, True)])) == 0.0


def test_calibration_by_chance_by_hand() -> None:
    assert ece_by_chance([]) is None
    assert ece_by_chance(reliability([(1.0, True), (0.0, False)])) == 0.0, (
        "nothing is left to chance"
    )
    # one of 0.7: 0.3 off seven times in ten, 0.7 off three times in ten
    assert ece_by_chance(reliability([(0.7, True)])) == pytest.approx(0.7 * 0.3 + 0.3 * 0.7)
    # two of 0.5: none or both one time in four each, 1 off; of these two
    assert ece_by_chance(reliability([(0.5, True)] * 2)) == pytest.approx(2 * 0.25 * 1 / 2)


@given(
    st.lists(
        st.tuples(st.sampled_from([0.05, 0.25, 0.5, 0.72, 0.99]), st.booleans()),
        min_size=1,
        max_size=60,
    )
)
def test_calibration_by_chance_is_the_mean_of_all_outcomes(told: list[tuple[float, bool]]) -> None:
    bins = reliability(told)
    expected = math.fsum(
        math.comb(each.count, hits)
        * each.confidence**hits
        * (1 - each.confidence) ** (each.count - hits)
        * abs(hits - each.count * each.confidence)
        for each in bins
        for hits in range(each.count + 1)
    ) / len(told)
    assert ece_by_chance(bins) == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_calibration_by_chance_of_very_many_goes_to_nothing() -> None:
    assert ece_by_chance([Bin(0.5, 0.6, 1_000_000, 0.55, 0.55)]) == pytest.approx(0.0004, abs=5e-5)


@given(stated)
def test_calibration_stays_within_its_bounds(told: list[tuple[float, bool]]) -> None:
    bins = reliability(told)
    assert sum(each.count for each in bins) == len(told)
    error = ece(bins)
    assert error is not None
    assert 0.0 <= error <= 1.0
    assert all(each.low - 1e-9 <= each.confidence <= each.high + 1e-9 for each in bins)
    square = brier(told)
    assert square is not None
    apart = abs(
        math.fsum(sure for sure, _ in told) / len(told)
        - sum(truth for _, truth in told) / len(told)
    )
    assert apart <= error + 1e-9  # bins can only hide less than the mean does
    assert apart**2 <= square + 1e-9
