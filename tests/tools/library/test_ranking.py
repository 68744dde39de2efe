"""Ranking: what is far from the question stays out, and a good passage leads on to what it names."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.text import Span
from deepdiver.tools.library import fusion, links
from deepdiver.tools.library.base import Entry, Match
from deepdiver.tools.library.ranking import LEAST, REACH, foremost, in_order, linked, ranked


@dataclass
class Known:
    """Measures that were taken beforehand."""

    words: dict[int, float] = field(default_factory=dict)
    sense: dict[int, float] | None = None
    links: dict[int, list[list[int]]] = field(default_factory=dict)
    asked: list[int] = field(default_factory=list)

    def by_words(self, k: int) -> dict[int, float]:
        self.asked.append(k)
        return dict(sorted(self.words.items(), key=lambda item: -item[1])[:k])

    def words_of(self, numbers: Collection[int]) -> dict[int, float]:
        return {number: self.words[number] for number in numbers if number in self.words}

    def by_sense(self, k: int) -> dict[int, float] | None:
        return None if self.sense is None else dict(sorted(self.sense.items(), key=lambda item: -item[1])[:k])

    def sense_of(self, numbers: Collection[int]) -> dict[int, float]:
        assert self.sense is not None, "asked for sense where there is none"
        return {number: self.sense[number] for number in numbers if number in self.sense}

    def named(self, numbers: Sequence[int]) -> dict[int, list[list[int]]]:
        return {number: self.links.get(number, []) for number in numbers}


def test_nothing_known_is_nothing_found() -> None:
    assert ranked(Known(), 5, 1) == {}
    assert ranked(Known(sense={}), 5, 1) == {}


def test_what_is_far_in_sense_and_has_no_word_is_left_out() -> None:
    found = ranked(Known({1: 3.0}, {1: 0.1, 2: LEAST - 0.01, 3: LEAST}), 5, 0)
    assert found.keys() == {1, 3}


def test_without_vectors_the_words_decide() -> None:
    found = ranked(Known({1: 3.0, 2: 9.0}), 5, 0)
    assert found[2] > found[1]


def test_a_passage_found_by_one_measure_is_weighed_by_both() -> None:
    deep = dict.fromkeys(range(10, 10 + fusion.DEEP), 5.0)
    one = Known({1: 9.0, **deep}, {1: 0.9, 2: 0.8, **dict.fromkeys(deep, 0.1)})
    found = ranked(one, 5, 0)
    assert found[1] == max(found.values()) == 1.0


def test_as_many_are_looked_at_as_are_asked_for() -> None:
    for k, deep in ((1, fusion.DEEP), (fusion.DEEP, 2 * fusion.DEEP)):
        known = Known({1: 1.0})
        ranked(known, k, 0)
        assert known.asked == [deep]


def test_a_good_passage_lifts_what_it_names() -> None:
    known = Known({1: 9.0, 2: 1.0}, {1: 0.9, 2: 0.3, 3: 0.1, 4: 0.25}, {1: [[3, 4]]})
    without, with_hop = ranked(known, 5, 0), ranked(known, 5, 1)
    assert 3 not in without  # far, and without a word
    assert with_hop[4] > without[4]  # the best of those behind the name
    assert with_hop[4] > with_hop[3]
    assert with_hop[1] == without[1]


def test_hops_go_on_from_where_the_last_one_led() -> None:
    known = Known({1: 9.0, 2: 0.5}, None, {1: [[5]], 5: [[6]]})
    assert 6 not in ranked(known, 5, 1)
    assert ranked(known, 5, 2)[6] > 0


@given(
    st.dictionaries(st.integers(0, 20), st.floats(0.1, 9)),
    st.none() | st.dictionaries(st.integers(0, 20), st.floats(-1, 1)),
    st.dictionaries(st.integers(0, 20), st.lists(st.lists(st.integers(0, 20), min_size=1, max_size=3), max_size=2)),
    st.integers(0, 3),
)
def test_any_measures_give_scores_twice_the_same(
    words: dict[int, float], sense: dict[int, float] | None, names: dict[int, list[list[int]]], hops: int
) -> None:
    found = ranked(Known(words, sense, names), 5, hops)
    assert found == ranked(Known(words, sense, names), 5, hops)
    assert words.keys() <= found.keys()
    assert all(score <= 1 + hops * fusion.PULL * (1 + fusion.PULL) ** hops for score in found.values())


# -- links


def test_a_document_does_not_name_itself_nor_what_is_not_looked_at() -> None:
    known = {"holm works": [(1, 0, 2), (2, 2, 2)], "ejdervik": [(3, 4, 1)]}
    said = {0: (1, {"holm works", "ejdervik", "unknown"})}
    assert linked(said, known, None) == {0: [[4], [2, 3]]}
    assert linked(said, known, {1, 2}) == {0: [[2, 3]]}
    assert linked(said, known, set()) == {0: []}


def test_a_name_that_many_have_is_no_name() -> None:
    many = [(id_, id_, 1) for id_ in range(2, links.SHARED + 3)]
    assert linked({0: (1, {"introduction"})}, {"introduction": many}, None) == {0: []}
    assert linked({0: (1, {"introduction"})}, {"introduction": many[:-1]}, None)[0] != []


def test_the_beginning_of_a_book_stands_for_it() -> None:
    assert linked({0: (1, {"book"})}, {"book": [(2, 10, 500)]}, None) == {0: [list(range(10, 10 + REACH))]}


# -- order


def match(url: str, score: float, start: int = 0) -> Match:
    return Match(Entry(1, url, "t", "text"), Span(start, start + 1), score)


def test_equal_ones_come_in_the_order_of_their_urls() -> None:
    found = [match("b", 1.0), match("a", 1.0, 5), match("a", 1.0), match("z", 2.0)]
    assert [(m.entry.url, m.span.start) for m in in_order(found, 3)] == [("z", 0), ("a", 0), ("a", 5)]


def test_a_further_passage_of_a_document_counts_for_less() -> None:
    found = [match("a", 1.0), match("a", 0.9, 5), replace(match("b", 0.5), entry=Entry(2, "b", "t", "text"))]
    assert [(m.entry.url, m.span.start, m.score) for m in in_order(found, 3)] == [
        ("a", 0, 1.0),
        ("b", 0, 0.5),
        ("a", 5, 0.45),
    ]
    assert [m.score for m in in_order([match("a", -0.1), match("a", -0.2, 5)], 2)] == [-0.1, -0.2]


def test_four_times_as_many_are_looked_up() -> None:
    assert foremost({1: 0.5, 2: 0.9, 3: 0.5, 4: 0.1, 5: 0.7}, 1) == [2, 5, 1, 3]
    assert foremost({}, 2) == []
