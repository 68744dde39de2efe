"""One ranking out of two: bounded, monotone, the same whatever the order, and nothing is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.tools.library.score_fusion import (
    BY_WORDS,
    FAR,
    best_passages,
    follow_names,
    fuse_scores,
    spread_scores,
)

numbers = st.integers(0, 30)
words = st.dictionaries(numbers, st.floats(0.01, 50, allow_nan=False), max_size=20)
sense = st.dictionaries(numbers, st.floats(-1, 1, allow_nan=False), max_size=20)


def test_nothing_gives_nothing() -> None:
    assert spread_scores({}) == {}
    assert fuse_scores({}, {}) == {}
    assert best_passages({}) == []
    assert follow_names({}, {}, {}) == {}


def test_the_best_is_one_and_the_last_that_counts_is_nothing() -> None:
    assert spread_scores({1: 8.0, 2: 6.0, 3: 4.0}) == {1: 1.0, 2: 0.5, 3: 0.0}
    assert spread_scores({1: 8.0, 2: 6.0, 3: 4.0}, deep=2) == {1: 1.0, 2: 0.0, 3: FAR}
    assert spread_scores({1: 3.0, 2: 3.0}) == {1: 1.0, 2: 1.0}


def test_words_and_sense_are_weighed() -> None:
    found = fuse_scores({1: 10.0, 2: 5.0}, {1: 0.2, 2: 0.6, 3: 0.4})
    assert found == pytest.approx(
        {1: BY_WORDS, 2: BY_WORDS / 2 + (1 - BY_WORDS), 3: (1 - BY_WORDS) / 2}
    )


def test_the_place_whose_sense_counts_as_nothing_can_be_chosen() -> None:
    sense = {1: 0.9, 2: 0.7, 3: 0.5}
    assert fuse_scores({}, sense, by_words=0.0, deep=2) == pytest.approx({1: 1.0, 2: 0.0, 3: FAR})
    assert fuse_scores({}, sense, by_words=0.0) == pytest.approx({1: 1.0, 2: 0.5, 3: 0.0})


def test_a_passage_without_a_vector_is_taken_by_its_words() -> None:
    assert fuse_scores({1: 10.0, 2: 5.0, 3: 0.0}, {}) == {1: 1.0, 2: 0.5, 3: 0.0}
    found = fuse_scores({1: 10.0, 2: 10.0}, {1: 0.1, 3: 0.5})
    assert found[2] > found[1]  # which is known to be far in sense


@given(words, sense, st.floats(0, 1))
def test_every_passage_gets_a_score_within_bounds(
    said: dict[int, float], near: dict[int, float], weight: float
) -> None:
    found = fuse_scores(said, near, weight)
    assert found.keys() == said.keys() | near.keys()
    assert all(FAR <= score <= 1 + 1e-9 for score in found.values())


@given(words, sense)
def test_the_order_of_what_comes_in_does_not_matter(
    said: dict[int, float], near: dict[int, float]
) -> None:
    turned = fuse_scores(dict(reversed(said.items())), dict(reversed(near.items())))
    assert turned == fuse_scores(said, near)
    assert best_passages(turned, 100) == best_passages(fuse_scores(said, near), 100)


@given(words, sense, st.floats(0.1, 10), st.floats(0, 1))
def test_the_scale_of_a_measure_does_not_matter(
    said: dict[int, float], near: dict[int, float], scale: float, shift: float
) -> None:
    found = fuse_scores(said, near)
    other = fuse_scores({number: score * scale for number, score in said.items()}, near)
    assert other == pytest.approx(found, abs=1e-6)
    moved = spread_scores({number: score + shift for number, score in near.items()})
    if len(set(near.values())) == len({round(score, 6) for score in near.values()}):
        assert moved == pytest.approx(spread_scores(near), abs=1e-3)


@given(words, sense)
def test_who_is_better_in_both_is_better(said: dict[int, float], near: dict[int, float]) -> None:
    found = fuse_scores(said, near)
    for one in near:
        for other in near:
            if said.get(one, 0.0) >= said.get(other, 0.0) and near[one] >= near[other]:
                assert found[one] >= found[other] - 1e-9


def test_equal_scores_keep_their_order() -> None:
    assert best_passages({5: 0.5, 3: 0.5, 9: 0.7}, 2) == [9, 3]


def test_a_link_pulls_once_and_by_the_best() -> None:
    base = {1: 0.9, 2: 0.5, 3: 0.1}
    after = follow_names(base, base, {1: [3], 2: [3]}, pull=0.5)
    assert after == pytest.approx({1: 0.9, 2: 0.5, 3: 0.1 + 0.45})


def test_a_passage_that_is_far_pulls_nothing_down() -> None:
    base = {1: -0.4, 2: 0.5}
    assert follow_names(base, base, {1: [2]}) == base


def test_a_second_hop_builds_on_the_first() -> None:
    base = {1: 1.0, 2: 0.0, 3: 0.0}
    first = follow_names(base, base, {1: [2]}, pull=0.5)
    assert follow_names(base, first, {2: [3]}, pull=0.5) == {1: 1.0, 2: 0.5, 3: 0.25}


@given(words, st.dictionaries(numbers, st.lists(numbers, max_size=4), max_size=5))
def test_links_only_ever_raise(scores: dict[int, float], drawn: dict[int, list[int]]) -> None:
    named = {
        one: [other for other in others if other in scores]
        for one, others in drawn.items()
        if one in scores
    }
    after = follow_names(scores, scores, named)
    assert after.keys() == scores.keys()
    assert all(after[number] >= scores[number] for number in scores)
    reached = {other for others in named.values() for other in others}
    assert all(after[number] == scores[number] for number in scores.keys() - reached)
