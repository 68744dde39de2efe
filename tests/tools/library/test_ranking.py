"""Ranking.

What is far from the question stays out, and a good passage leads on to what it names.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.text import Span
from deepdiver.tools.library import document_names, score_fusion
from deepdiver.tools.library.interface import Entry, Match
from deepdiver.tools.library.ranking import (
    LEAST,
    NAMED,
    NEAR,
    REACH,
    WHOLE,
    numbers_to_look_up,
    order_matches,
    passages_behind_names,
    rank_passages,
)


@dataclass
class Known:
    """Measures that were taken beforehand."""

    words: dict[int, float] = field(default_factory=dict)
    sense: dict[int, float] | None = None
    links: dict[int, list[list[int]]] = field(default_factory=dict)
    asked: list[int] = field(default_factory=list)
    embedded: set[int] = field(default_factory=set)

    def by_words(self, k: int) -> dict[int, float]:
        self.asked.append(k)
        return dict(sorted(self.words.items(), key=lambda item: -item[1])[:k])

    def words_of(self, numbers: Collection[int]) -> dict[int, float]:
        return {number: self.words[number] for number in numbers if number in self.words}

    @property
    def has_vectors(self) -> bool:
        return self.sense is not None

    def numbers(self) -> Collection[int]:
        return list(self.sense or ())

    def sense_of(self, numbers: Collection[int]) -> dict[int, float]:
        assert self.sense is not None, "asked for sense where there is none"
        self.embedded |= set(numbers)
        return {number: self.sense[number] for number in numbers if number in self.sense}

    def named(self, numbers: Sequence[int]) -> dict[int, list[list[int]]]:
        return {number: self.links.get(number, []) for number in numbers}


def test_nothing_known_is_nothing_found() -> None:
    assert rank_passages(Known(), 3, 5, 1) == {}
    assert rank_passages(Known(sense={}), 3, 5, 1) == {}


def test_what_is_far_in_sense_and_has_no_word_is_left_out() -> None:
    found = rank_passages(Known({1: 3.0}, {1: 0.1, 2: LEAST - 0.01, 3: LEAST}), 3, 5, 0)
    assert found.keys() == {1, 3}


def test_without_vectors_the_words_decide() -> None:
    found = rank_passages(Known({1: 3.0, 2: 9.0}), 3, 5, 0)
    assert found[2] > found[1]


def test_a_passage_found_by_one_measure_is_weighed_by_both() -> None:
    deep = dict.fromkeys(range(10, 10 + score_fusion.DEEP), 5.0)
    one = Known({1: 9.0, **deep}, {1: 0.9, 2: 0.8, **dict.fromkeys(deep, 0.1)})
    found = rank_passages(one, WHOLE, 5, 0)
    assert found[1] == max(found.values()) == 1.0


def test_as_many_are_looked_at_as_are_asked_for() -> None:
    for k, deep in ((1, score_fusion.DEEP), (score_fusion.DEEP, 2 * score_fusion.DEEP)):
        known = Known({1: 1.0})
        rank_passages(known, 1, k, 0)
        assert known.asked == [deep]


def test_a_good_passage_lifts_what_it_names() -> None:
    known = Known({1: 9.0, 2: 1.0}, {1: 0.9, 2: 0.3, 3: 0.1, 4: 0.25}, {1: [[3, 4]]})
    without, with_hop = rank_passages(known, 4, 5, 0), rank_passages(known, 4, 5, 1)
    assert 3 not in without  # far, and without a word
    assert with_hop[4] > without[4]  # the best of those behind the name
    assert with_hop[4] > with_hop[3]
    assert with_hop[1] == without[1]


def test_hops_go_on_from_where_the_last_one_led() -> None:
    known = Known({1: 9.0, 2: 0.5}, None, {1: [[5]], 5: [[6]]})
    assert 6 not in rank_passages(known, 6, 5, 1)
    assert rank_passages(known, 6, 5, 2)[6] > 0


@given(
    st.dictionaries(st.integers(0, 20), st.floats(0.1, 9)),
    st.none() | st.dictionaries(st.integers(0, 20), st.floats(-1, 1)),
    st.dictionaries(
        st.integers(0, 20),
        st.lists(st.lists(st.integers(0, 20), min_size=1, max_size=3), max_size=2),
    ),
    st.integers(0, 3),
)
def test_any_measures_give_scores_twice_the_same(
    words: dict[int, float],
    sense: dict[int, float] | None,
    names: dict[int, list[list[int]]],
    hops: int,
) -> None:
    found = rank_passages(Known(words, sense, names), 20, 5, hops)
    assert found == rank_passages(Known(words, sense, names), 20, 5, hops)
    assert words.keys() <= found.keys()
    assert all(
        score <= 1 + hops * score_fusion.PULL * (1 + score_fusion.PULL) ** hops
        for score in found.values()
    )


# -- words first


def test_in_a_larger_library_the_sense_of_the_best_by_words_is_looked_at() -> None:
    many = {number: 1000.0 - number for number in range(2 * score_fusion.DEEP)}
    known = Known(dict(many), {**dict.fromkeys(many, 0.5), 9_999: 0.9})
    found = rank_passages(known, WHOLE + 1, 5, 0)
    assert known.embedded == found.keys() == set(range(NEAR))
    known = Known(dict(many), {**dict.fromkeys(many, 0.5), 9_999: 0.9})
    assert 9_999 in rank_passages(known, WHOLE, 5, 0)  # near, and without a word
    assert known.embedded > set(range(NEAR))


def test_as_many_are_looked_at_in_a_larger_library_as_are_asked_for() -> None:
    many = {number: 1000.0 - number for number in range(NEAR + 50)}
    known = Known(dict(many), dict.fromkeys(many, 0.5))
    assert len(rank_passages(known, WHOLE + 1, NEAR + 20, 0)) == NEAR + 20


def test_where_there_is_no_sense_a_larger_library_is_ranked_by_all_its_words() -> None:
    many = {number: 1000.0 - number for number in range(NEAR + 50)}
    found = rank_passages(Known(dict(many)), WHOLE + 1, 5, 1)
    assert found.keys() == many.keys()
    assert found == rank_passages(Known(dict(many)), WHOLE, 5, 1)


def test_sense_decides_among_what_words_found() -> None:
    known = Known({1: 9.0, 2: 8.9, 3: 1.0}, {1: 0.1, 2: 0.9, 3: 0.2})
    found = rank_passages(known, WHOLE + 1, 5, 0)
    assert max(found, key=lambda number: found[number]) == 2


def test_of_a_book_that_is_named_the_best_by_words_are_looked_at() -> None:
    book = list(range(100, 140))
    words = {1: 9.0, 130: 3.0, 131: 2.0, 105: 1.0}
    known = Known(words, {1: 0.9, **dict.fromkeys(book, 0.3), 130: 0.8}, {1: [book, [100]]})
    found = rank_passages(known, WHOLE + 1, 5, 1)
    assert NAMED == 4
    assert known.embedded == {1, 130, 131, 105, 100}  # of equal ones the first
    assert found[130] > rank_passages(known, WHOLE + 1, 5, 0)[130]
    # Nothing is embedded for it.
    assert rank_passages(Known(words, None, {1: [book]}), WHOLE + 1, 5, 1).keys() >= set(book)


@given(
    st.dictionaries(st.integers(0, 20), st.floats(0.1, 9)),
    st.lists(st.floats(-1, 1), min_size=21, max_size=21),
    st.dictionaries(
        st.integers(0, 20),
        st.lists(st.lists(st.integers(0, 20), min_size=1, max_size=8, unique=True), max_size=2),
    ),
    st.integers(0, 3),
)
def test_a_larger_library_tells_only_of_what_it_looked_at_both_ways(
    words: dict[int, float], sense: list[float], names: dict[int, list[list[int]]], hops: int
) -> None:
    known = Known(dict(words), dict(enumerate(sense)), names)
    found = rank_passages(known, WHOLE + 1, 5, hops)
    assert found == rank_passages(
        Known(dict(words), dict(enumerate(sense)), names), WHOLE + 1, 5, hops
    )
    assert words.keys() <= found.keys() == known.embedded
    assert all(
        score <= 1 + hops * score_fusion.PULL * (1 + score_fusion.PULL) ** hops
        for score in found.values()
    )


# -- links


def test_a_document_does_not_name_itself_nor_what_is_not_looked_at() -> None:
    known = {"holm works": [(1, 0, 2), (2, 2, 2)], "ejdervik": [(3, 4, 1)]}
    said = {0: (1, {"holm works", "ejdervik", "unknown"})}
    assert passages_behind_names(said, known, None) == {0: [[4], [2, 3]]}
    assert passages_behind_names(said, known, {1, 2}) == {0: [[2, 3]]}
    assert passages_behind_names(said, known, set()) == {0: []}


def test_a_name_that_many_have_is_no_name() -> None:
    many = [(id_, id_, 1) for id_ in range(2, document_names.SHARED + 3)]
    assert passages_behind_names({0: (1, {"introduction"})}, {"introduction": many}, None) == {
        0: []
    }
    assert (
        passages_behind_names({0: (1, {"introduction"})}, {"introduction": many[:-1]}, None)[0]
        != []
    )


def test_the_beginning_of_a_book_stands_for_it() -> None:
    assert passages_behind_names({0: (1, {"book"})}, {"book": [(2, 10, 500)]}, None) == {
        0: [list(range(10, 10 + REACH))]
    }


# -- order


def match(url: str, score: float, start: int = 0) -> Match:
    return Match(Entry(1, url, "t", "text"), Span(start, start + 1), score)


def test_equal_ones_come_in_the_order_of_their_urls() -> None:
    found = [match("b", 1.0), match("a", 1.0, 5), match("a", 1.0), match("z", 2.0)]
    assert [(m.entry.url, m.span.start) for m in order_matches(found, 3)] == [
        ("z", 0),
        ("a", 0),
        ("a", 5),
    ]


def test_a_further_passage_of_a_document_counts_for_less() -> None:
    found = [
        match("a", 1.0),
        match("a", 0.9, 5),
        replace(match("b", 0.5), entry=Entry(2, "b", "t", "text")),
    ]
    assert [(m.entry.url, m.span.start, m.score) for m in order_matches(found, 3)] == [
        ("a", 0, 1.0),
        ("b", 0, 0.5),
        ("a", 5, 0.45),
    ]
    assert [m.score for m in order_matches([match("a", -0.1), match("a", -0.2, 5)], 2)] == [
        -0.1,
        -0.2,
    ]


def test_four_times_as_many_are_looked_up() -> None:
    assert numbers_to_look_up({1: 0.5, 2: 0.9, 3: 0.5, 4: 0.1, 5: 0.7}, 1) == [2, 5, 1, 3]
    assert numbers_to_look_up({}, 2) == []
