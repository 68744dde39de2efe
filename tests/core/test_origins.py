"""Copies of one story count once, and different stories each for themselves."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver import sample
from deepdiver.core.origins import ONE_STORY, SKETCH, origins, shared, sketch
from deepdiver.core.record import Source, SourceKind, content_id
from deepdiver.core.text import shingles

SYNDICATED = {"harbour/kustbladet.txt", "harbour/nordkusten-nyheter.md", "harbour/vantskar-posten.md"}
"""The one story that three outlets of the sample printed, each a little edited."""


def source(url: str, text: str) -> Source:
    return Source(
        id=content_id("s", url, text), kind=SourceKind.PAGE, url=url, title=url, snapshot=url, sketch=sketch(text)
    )


@pytest.fixture(scope="module")
def library() -> dict[str, str]:
    found = {}
    for path in sorted(sample.LIBRARY.rglob("*.*")):
        found[path.relative_to(sample.LIBRARY).as_posix()] = path.read_text(encoding="utf-8").split("---\n", 2)[2]
    return found


WORDS = st.lists(st.sampled_from("a b c d e f".split()), max_size=40).map(" ".join)
SKETCHES = WORDS.map(sketch) | st.just(())


# -- the sample


def test_the_syndicated_story_is_one_origin_and_all_others_are_their_own(library: dict[str, str]) -> None:
    found = origins(source(url, text) for url, text in library.items())
    clusters: dict[str, set[str]] = {}
    for url, text in library.items():
        clusters.setdefault(found[source(url, text).id], set()).add(url)
    assert [cluster for cluster in clusters.values() if len(cluster) > 1] == [SYNDICATED]
    assert len(clusters) == len(library) - len(SYNDICATED) + 1


def test_the_threshold_lies_well_between_copies_and_the_rest(library: dict[str, str]) -> None:
    made = {url: sketch(text) for url, text in library.items()}
    shares = {frozenset(pair): shared(made[pair[0]], made[pair[1]]) for pair in combinations(library, 2)}
    copies = [share for pair, share in shares.items() if pair <= SYNDICATED]
    others = [share for pair, share in shares.items() if not pair <= SYNDICATED]
    assert min(copies) >= ONE_STORY + 0.05
    assert max(others) <= ONE_STORY - 0.2


def test_the_correction_of_the_story_is_not_the_story(library: dict[str, str]) -> None:
    correction = sketch(library["harbour/wire-correction.txt"])
    assert all(shared(correction, sketch(library[url])) < ONE_STORY for url in SYNDICATED)


# -- shared


def test_nothing_shares_nothing() -> None:
    assert shared((), ()) == shared((), (1, 2)) == shared((1, 2), ()) == 0.0


def test_short_texts_are_compared_exactly() -> None:
    one = " ".join(f"w{n}" for n in range(24))
    two = " ".join(f"w{n}" for n in range(12, 36))
    exact = len(shingles(one) & shingles(two)) / len(shingles(one) | shingles(two))
    assert shared(sketch(one), sketch(two)) == exact == 8 / 32


def test_a_text_and_its_copy_in_capitals_with_other_marks_are_one() -> None:
    text = "Nine people were hurt in a fire on the ferry, rescue workers said on Sunday."
    assert shared(sketch(text), sketch(text.upper().replace(",", " –"))) == 1.0


def test_long_texts_are_estimated_well() -> None:
    words = [f"w{n}" for n in range(1_000)]
    for overlap in (0.25, 0.5, 0.75):
        start = round(1_000 * (1 - overlap) / (1 + overlap))
        one, two = " ".join(words), " ".join(words[start:] + [f"x{n}" for n in range(start)])
        exact = len(shingles(one) & shingles(two)) / len(shingles(one) | shingles(two))
        assert abs(shared(sketch(one), sketch(two)) - exact) < 0.19  # three standard errors of 64 hashes


@given(SKETCHES, SKETCHES)
def test_sharing_is_mutual_and_bounded(one: tuple[int, ...], two: tuple[int, ...]) -> None:
    assert shared(one, two) == shared(two, one)
    assert 0.0 <= shared(one, two) <= 1.0
    assert shared(one, one) == (1.0 if one else 0.0)


@given(WORDS, WORDS)
def test_a_sketch_that_is_not_full_makes_no_error(one: str, two: str) -> None:
    both, either = shingles(one) & shingles(two), shingles(one) | shingles(two)
    assert shared(sketch(one), sketch(two)) == len(both) / len(either)


# -- sketch


@given(st.text(st.characters(codec=None), max_size=200))
def test_a_sketch_is_small_sorted_and_always_the_same(text: str) -> None:
    made = sketch(text)
    assert made == sketch(text) == tuple(sorted(set(made)))
    assert 1 <= len(made) <= SKETCH
    assert all(0 <= item < 2**48 for item in made)


def test_a_long_text_has_a_full_sketch() -> None:
    assert len(sketch(" ".join(f"w{n}" for n in range(5_000)))) == SKETCH


# -- origins


def test_nothing_has_no_origin() -> None:
    assert origins([]) == {}


def test_a_source_without_a_sketch_stands_alone() -> None:
    bare = [Source(id=f"s{n}", kind=SourceKind.PAGE, url="u", title="t", snapshot="h") for n in range(3)]
    assert origins(bare) == {"s0": "s0", "s1": "s1", "s2": "s2"}


def test_a_chain_of_copies_is_one_story() -> None:
    words = [f"w{n}" for n in range(60)]
    texts = [" ".join(words[start : start + 40]) for start in (0, 10, 20)]
    ends = shared(sketch(texts[0]), sketch(texts[2]))
    assert ends < ONE_STORY <= shared(sketch(texts[0]), sketch(texts[1]))
    assert len(set(origins(source(f"u{n}", text) for n, text in enumerate(texts)).values())) == 1


def test_a_shared_quote_does_not_make_one_story() -> None:
    quote = "We walked through the smoke with scarves over our mouths and the crew were calm"
    one = quote + " " + " ".join(f"a{n}" for n in range(60))
    two = quote + " " + " ".join(f"b{n}" for n in range(60))
    assert len(set(origins([source("u", one), source("v", two)]).values())) == 2


STORIES = st.lists(st.tuples(st.sampled_from("uvwxyz"), WORDS), max_size=8)


@given(STORIES, st.randoms(use_true_random=False))
def test_the_order_in_which_sources_were_read_does_not_matter(stories: list[tuple[str, str]], chance: Random) -> None:
    listed = [source(url, text) for url, text in stories]
    before = origins(listed)
    chance.shuffle(listed)
    assert origins(listed) == origins([*listed, *listed]) == before


@given(STORIES)
def test_every_source_has_one_origin_which_is_its_own(stories: list[tuple[str, str]]) -> None:
    listed = [source(url, text) for url, text in stories]
    found = origins(listed)
    assert found.keys() == {item.id for item in listed}
    for key, origin in found.items():
        assert origin <= key
        assert found[origin] == origin
    for one, two in combinations(listed, 2):
        if shared(one.sketch, two.sketch) >= ONE_STORY:
            assert found[one.id] == found[two.id]


def test_a_thousand_different_sources_are_told_apart_quickly() -> None:
    listed = [source(f"u{n}", " ".join(f"w{n * 31 + k}" for k in range(20))) for n in range(1_000)]
    assert len(set(origins(listed).values())) == 1_000
