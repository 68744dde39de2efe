"""Copies of one story count once, and different stories each for themselves."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver import sample
from deepdiver.core.identity import content_id
from deepdiver.core.origins import (
    COPY,
    COPY_ON_HOST,
    PIECE,
    SKETCH,
    TELLING,
    _at_least,
    _place,
    _Shelf,
    _Text,
    containment,
    origins,
    resemblance,
    sketch,
)
from deepdiver.core.record import Source, SourceKind
from deepdiver.core.text import shingles

SYNDICATED = {
    "harbour/kustbladet.txt",
    "harbour/nordkusten-nyheter.md",
    "harbour/vantskar-posten.md",
}
"""The one story that three outlets of the sample printed, each a little edited."""


ONE_STORY = 0.5
"""Where the shingles shared are half of all, two texts are one story, whichever of them is longer.
"""


def source(url: str, text: str, kind: SourceKind = SourceKind.PAGE) -> Source:
    return Source(
        id=content_id("s", url, text),
        kind=kind,
        url=url,
        title=url,
        snapshot=url,
        sketch=sketch(text),
    )


def prose(chance: Random, count: int) -> list[str]:
    """Return sentences of words as they are spread in a language: two fifths of them from sixty."""
    return [
        " ".join(
            f"w{chance.randrange(60 if chance.random() < 0.4 else 5_000)}"
            for _ in range(chance.randint(8, 28))
        )
        for _ in range(count)
    ]


def edited(chance: Random, story: list[str], rate: float, drop: float, added: int) -> str:
    """Return a copy with another headline, some words changed, and sentences dropped and added."""
    kept = [sentence for sentence in story if chance.random() >= drop]
    changed = [
        " ".join(
            f"x{chance.randrange(5_000)}" if chance.random() < rate else word
            for word in sentence.split()
        )
        for sentence in kept
    ]
    return ". ".join([*prose(chance, 1), *changed, *prose(chance, added)])


def groups(listed: Iterable[Source]) -> list[set[str]]:
    """Return the addresses that share an origin, the largest group first."""
    held = list(listed)
    found: dict[str, set[str]] = {}
    for item, origin in ((item, origins(held)[item.id]) for item in held):
        found.setdefault(origin, set()).add(item.url)
    return sorted(found.values(), key=lambda group: (-len(group), sorted(group)))


@pytest.fixture(scope="module")
def library() -> dict[str, str]:
    found = {}
    for path in sorted(sample.LIBRARY.rglob("*.*")):
        found[path.relative_to(sample.LIBRARY).as_posix()] = path.read_text(encoding="utf-8").split(
            "---\n", 2
        )[2]
    return found


WORDS = st.lists(st.sampled_from("a b c d e f".split()), max_size=40).map(" ".join)
SKETCHES = WORDS.map(sketch) | st.just(())


# -- the sample


def test_the_syndicated_story_is_one_origin_and_all_others_are_their_own(
    library: dict[str, str],
) -> None:
    found = origins(source(url, text) for url, text in library.items())
    clusters: dict[str, set[str]] = {}
    for url, text in library.items():
        clusters.setdefault(found[source(url, text).id], set()).add(url)
    assert [cluster for cluster in clusters.values() if len(cluster) > 1] == [SYNDICATED]
    assert len(clusters) == len(library) - len(SYNDICATED) + 1


def test_the_threshold_lies_well_between_copies_and_the_rest(library: dict[str, str]) -> None:
    made = {url: sketch(text) for url, text in library.items()}
    shares = {
        frozenset(pair): resemblance(made[pair[0]], made[pair[1]])
        for pair in combinations(library, 2)
    }
    copies = [share for pair, share in shares.items() if pair <= SYNDICATED]
    others = [share for pair, share in shares.items() if not pair <= SYNDICATED]
    assert min(copies) >= ONE_STORY + 0.05
    assert max(others) <= ONE_STORY - 0.2


def test_the_correction_of_the_story_is_not_the_story(library: dict[str, str]) -> None:
    correction = sketch(library["harbour/wire-correction.txt"])
    assert all(resemblance(correction, sketch(library[url])) < ONE_STORY for url in SYNDICATED)


# -- shared


def test_nothing_shares_nothing() -> None:
    assert resemblance((), ()) == resemblance((), (1, 2)) == resemblance((1, 2), ()) == 0.0


def test_short_texts_are_compared_exactly() -> None:
    one = " ".join(f"w{n}" for n in range(24))
    two = " ".join(f"w{n}" for n in range(12, 36))
    exact = len(shingles(one) & shingles(two)) / len(shingles(one) | shingles(two))
    assert resemblance(sketch(one), sketch(two)) == exact == 8 / 32


def test_a_text_and_its_copy_in_capitals_with_other_marks_are_one() -> None:
    text = "Nine people were hurt in a fire on the ferry, rescue workers said on Sunday."
    assert resemblance(sketch(text), sketch(text.upper().replace(",", " –"))) == 1.0


def test_long_texts_are_estimated_well() -> None:
    words = [f"w{n}" for n in range(1_000)]
    for overlap in (0.25, 0.5, 0.75):
        start = round(1_000 * (1 - overlap) / (1 + overlap))
        one, two = " ".join(words), " ".join(words[start:] + [f"x{n}" for n in range(start)])
        exact = len(shingles(one) & shingles(two)) / len(shingles(one) | shingles(two))
        # Three standard errors of 64 hashes.
        assert abs(resemblance(sketch(one), sketch(two)) - exact) < 0.19


@given(SKETCHES, SKETCHES)
def test_sharing_is_mutual_and_bounded(one: tuple[int, ...], two: tuple[int, ...]) -> None:
    assert resemblance(one, two) == resemblance(two, one)
    assert 0.0 <= resemblance(one, two) <= 1.0
    assert resemblance(one, one) == (1.0 if one else 0.0)


@given(WORDS, WORDS)
def test_a_sketch_that_is_not_full_makes_no_error(one: str, two: str) -> None:
    both, either = shingles(one) & shingles(two), shingles(one) | shingles(two)
    assert resemblance(sketch(one), sketch(two)) == len(both) / len(either)


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
    bare = [
        Source(id=f"s{n}", kind=SourceKind.PAGE, url="u", title="t", snapshot="h") for n in range(3)
    ]
    assert origins(bare) == {"s0": "s0", "s1": "s1", "s2": "s2"}


def test_a_chain_of_copies_is_one_story() -> None:
    words = [f"w{n}" for n in range(60)]
    texts = [" ".join(words[start : start + 40]) for start in (0, 10, 20)]
    ends = resemblance(sketch(texts[0]), sketch(texts[2]))
    assert ends < ONE_STORY <= resemblance(sketch(texts[0]), sketch(texts[1]))
    assert len(set(origins(source(f"u{n}", text) for n, text in enumerate(texts)).values())) == 1


def test_a_shared_quote_does_not_make_one_story() -> None:
    quote = "We walked through the smoke with scarves over our mouths and the crew were calm"
    one = quote + " " + " ".join(f"a{n}" for n in range(60))
    two = quote + " " + " ".join(f"b{n}" for n in range(60))
    assert len(set(origins([source("u", one), source("v", two)]).values())) == 2


STORIES = st.lists(st.tuples(st.sampled_from("uvwxyz"), WORDS), max_size=8)


@given(STORIES, st.randoms(use_true_random=False))
def test_the_order_in_which_sources_were_read_does_not_matter(
    stories: list[tuple[str, str]], chance: Random
) -> None:
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
        # Among others, one of them may turn out to be a digest.
        if resemblance(one.sketch, two.sketch) >= ONE_STORY:
            assert len(set(origins([one, two]).values())) == 1
        if resemblance(one.sketch, two.sketch) >= 2 / 3:
            assert found[one.id] == found[two.id]


# -- forty copies


@pytest.mark.parametrize(
    ("rate", "drop", "added"),
    [(0.0, 0.0, 6), (0.0, 0.2, 3), (0.02, 0.0, 6), (0.05, 0.0, 3), (0.02, 0.1, 3)],
)
def test_forty_edited_copies_are_one_origin_and_forty_other_pages_are_not(
    rate: float, drop: float, added: int
) -> None:
    chance = Random(7)  # noqa: S311  not a secret
    story = prose(chance, 25)
    copies = [
        source(f"https://h{n}.org/a", edited(chance, story, rate, drop, added)) for n in range(40)
    ]
    others = [source(f"https://h{n}.org/b", ". ".join(prose(chance, 25))) for n in range(40)]
    found = groups([*copies, *others])
    assert found[0] == {item.url for item in copies}
    assert len(found) == 41


@pytest.mark.parametrize("part", [0.1, 0.2, 0.5, 0.9])
def test_a_truncated_copy_is_a_piece_of_the_story(part: float) -> None:
    chance = Random(11)  # noqa: S311
    for number in range(20):
        words = ". ".join(prose(chance, 110)).split()
        short = " ".join(words[: int(len(words) * part)]) + " …"
        listed = [
            source("https://a.org/1", " ".join(words)),
            source(f"https://b.org/{number}", short),
        ]
        assert len(groups(listed)) == 1
        if part <= 0.5:
            # Resemblance alone would not have seen it.
            assert resemblance(listed[0].sketch, listed[1].sketch) < part + 0.15


def test_truncations_of_any_length_are_one_story() -> None:
    chance = Random(13)  # noqa: S311
    story = prose(chance, 60)
    listed = [source(f"https://h{n}.org/", ". ".join(story[:n])) for n in (6, 12, 20, 35, 60)]
    assert len(groups(listed)) == 1


# -- pages of one host


@pytest.mark.parametrize("share", [0.3, 0.5, 0.7])
@pytest.mark.parametrize("pages", [2, 3, 10])
def test_a_shared_footer_does_not_make_pages_of_a_host_one_story(share: float, pages: int) -> None:
    chance = Random(17)  # noqa: S311
    footer = prose(chance, round(20 * share / (1 - share)))
    listed = [
        source(f"https://a.org/{n}", ". ".join([*prose(chance, 20), *footer])) for n in range(pages)
    ]
    assert len(groups(listed)) == pages
    assert COPY_ON_HOST > COPY


def test_a_shared_footer_of_a_third_does_not_either_where_the_hosts_differ() -> None:
    chance = Random(19)  # noqa: S311
    footer = prose(chance, 10)
    listed = [
        source(f"https://h{n}.org/", ". ".join([*prose(chance, 25), *footer])) for n in range(10)
    ]
    assert len(groups(listed)) == 10


def test_a_copy_on_the_same_host_is_a_copy() -> None:
    chance = Random(23)  # noqa: S311
    story = prose(chance, 20)
    listed = [
        source(f"https://www.a.org/{n}", edited(chance, story, 0.0, 0.0, 0)) for n in range(3)
    ]
    assert len(groups(listed)) == 1


def test_two_readings_of_one_page_are_one() -> None:
    chance = Random(29)  # noqa: S311
    one, two = ". ".join(prose(chance, 2)), ". ".join(prose(chance, 40))
    assert len(groups([source("http://www.a.org/x/", one), source("https://a.org/x", two)])) == 1
    assert (
        len(groups([source("https://a.org/x?id=1", one), source("https://a.org/x?id=2", two)])) == 2
    )
    tools = origins(
        [source("tool:search", one, SourceKind.TOOL), source("tool:search", two, SourceKind.TOOL)]
    )
    assert len(set(tools.values())) == 2
    assert len(set(origins([source("https://[", one), source("https://[", two)]).values())) == 2


# -- digests


def test_two_stories_do_not_become_one_because_somebody_printed_both() -> None:
    chance = Random(31)  # noqa: S311
    one, two = prose(chance, 24), prose(chance, 20)
    listed = [
        source("https://a.org/", ". ".join(one)),
        source("https://b.org/", ". ".join(two)),
        source("https://c.org/", ". ".join(one + two)),
        source("https://d.org/", ". ".join([*two, *one, *prose(chance, 2)])),
    ]
    assert groups(listed) == [
        {"https://a.org/", "https://c.org/", "https://d.org/"},
        {"https://b.org/"},
    ]


def test_a_long_report_that_holds_many_stories_joins_none_of_them() -> None:
    chance = Random(37)  # noqa: S311
    stories = [prose(chance, 12) for _ in range(8)]
    listed = [source(f"https://h{n}.org/", ". ".join(story)) for n, story in enumerate(stories)]
    listed.append(
        source(
            "https://digest.org/", ". ".join(sentence for story in stories for sentence in story)
        )
    )
    assert [len(group) for group in groups(listed)] == [2, *[1] * 7]


# -- containment


def test_too_little_says_nothing_about_containment() -> None:
    part, whole = " ".join("abcdefg"), " ".join("abcdefghijklmnop")
    assert len(sketch(part)) < TELLING
    assert containment(sketch(part), sketch(whole)) == 0.0
    assert containment((), sketch(whole)) == containment(sketch(whole), ()) == 0.0


def test_containment_has_a_direction() -> None:
    whole = " ".join(f"w{n}" for n in range(100))
    part = " ".join(f"w{n}" for n in range(30))
    assert containment(sketch(part), sketch(whole)) == 1.0
    assert containment(sketch(whole), sketch(part)) == pytest.approx(26 / 96)
    assert containment(sketch(part), sketch(whole)) >= PIECE


@given(WORDS, WORDS)
def test_containment_is_exact_where_the_sketches_are_whole(one: str, two: str) -> None:
    made = sketch(one)
    share = len(shingles(one) & shingles(two)) / len(shingles(one))
    assert containment(made, sketch(two)) == (share if len(made) >= TELLING else 0.0)


# -- scripts without spaces


def test_an_edited_copy_in_chinese_is_one_story_and_another_text_is_not() -> None:
    story = "星期日清晨停泊在港口四号泊位的渡轮车辆甲板起火据救援人员称火灾造成九人受伤均因吸入烟雾消防队在一小时内将火扑灭"  # noqa: E501
    copy = story.replace("清晨", "早上")
    other = (
        "气象局表示本周北部沿海地区将出现大风和降雪天气建议"
        "居民减少外出并注意道路结冰情况交通部门已经做好准备"
    )
    listed = [
        source("https://a.cn/", story),
        source("https://b.cn/", copy),
        source("https://c.cn/", other),
    ]
    assert [len(group) for group in groups(listed)] == [2, 1]


def test_a_thousand_different_sources_are_told_apart_quickly() -> None:
    listed = [source(f"u{n}", " ".join(f"w{n * 31 + k}" for k in range(20))) for n in range(1_000)]
    assert len(set(origins(listed).values())) == 1_000


@given(st.lists(WORDS, max_size=12), st.integers(1, 40))
def test_holding_one_text_against_all_counts_as_holding_it_against_each(
    texts: list[str], count: int
) -> None:
    listed = [_Text.of(sketch(text)) for text in texts]
    shelf = _Shelf(listed)
    for place, text in enumerate(listed):
        enough = _at_least(shelf.overlaps(place), count)
        for other, theirs in enumerate(listed):
            if other != place:
                assert bool(enough >> other & 1) == (len(text.hashes & theirs.hashes) >= count)


@given(STORIES)
def test_every_copy_is_found(stories: list[tuple[str, str]]) -> None:
    listed = [source(f"https://{url}.org/{n}", text) for n, (url, text) in enumerate(stories)]
    found = origins(listed)
    texts = {item.id: _Text.of(item.sketch, *_place(item)) for item in listed}
    for one, two in combinations(texts, 2):
        if texts[one].copy_of(texts[two]):
            assert texts[two].copy_of(texts[one])
            assert found[one] == found[two]
