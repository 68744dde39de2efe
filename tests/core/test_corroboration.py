"""Who else says it: copies and one publisher are one voice, and no number changes for it."""

from __future__ import annotations

from itertools import permutations
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.corroboration import count_agreeing, count_copies, publisher_of
from deepdiver.core.ledger import Ledger
from deepdiver.core.origins import origins, sketch
from deepdiver.core.record import (
    Assessment,
    Contradiction,
    Finding,
    Hypothesis,
    HypothesisStatus,
    Passage,
    Quote,
    Source,
    SourceKind,
)

STORY = " ".join(f"w{n}" for n in range(60))


def source(key: str, publisher: str = "", text: str = "", url: str = "") -> Source:
    return Source(
        id=key,
        kind=SourceKind.PAGE,
        url=url or f"https://{key}.example/1",
        title=key,
        snapshot=f"h{key}",
        sketch=sketch(text or " ".join(f"{key}{n}" for n in range(60))),
        publisher=publisher,
    )


def finding(key: str, *sources: str) -> Finding:
    quotes = tuple(
        Quote(source=s, passage=Passage(snapshot=f"h{s}", start=0, end=1), text="x")
        for s in sources
    )
    return Finding(id=key, statement=key, quotes=quotes)


def assessment(
    *supporting: str, status: HypothesisStatus = HypothesisStatus.SUPPORTED, **more: Any
) -> Assessment:
    hypothesis = Hypothesis(id="h", statement="It burnt.", supports_if="a log", refutes_if="no log")
    return Assessment(
        hypothesis=hypothesis, posterior=0.8, status=status, trials=1, supporting=supporting, **more
    )


def agreeing(sources: list[Source], *assessments: Assessment) -> dict[str, int]:
    held = Ledger([*sources, *(finding(f"f_{item.id}", item.id) for item in sources)])
    return count_agreeing(assessments, held, origins(sources))


def test_a_finding_that_is_not_in_the_ledger_is_a_fault() -> None:
    with pytest.raises(KeyError):
        count_agreeing([assessment("f_9")], Ledger(), {})


def test_nothing_is_corroborated_by_nothing() -> None:
    assert count_agreeing([], Ledger(), {}) == {}
    assert count_agreeing([assessment()], Ledger(), {}) == {}
    assert agreeing([source("a")], assessment("f_a")) == {"a": 0}


def test_independent_sources_corroborate_each_other() -> None:
    found = agreeing([source("a"), source("b"), source("c")], assessment("f_a", "f_b", "f_c"))
    assert found == {"a": 2, "b": 2, "c": 2}


@pytest.mark.parametrize(
    "status", [status for status in HypothesisStatus if status is not HypothesisStatus.SUPPORTED]
)
def test_only_what_was_accepted_counts(status: HypothesisStatus) -> None:
    assert agreeing([source("a"), source("b")], assessment("f_a", "f_b", status=status)) == {}


@pytest.mark.parametrize(("kind", "others"), [("contradicts", 0), ("qualifies", 2)])
def test_sources_that_contradict_each_other_do_not_agree(kind: Any, others: int) -> None:
    sources = [source("a"), source("b"), source("c")]
    keys = [f"f_{item.id}" for item in sources]
    clash = Contradiction(id="c_1", findings=("f_a", "f_b"), kind=kind, description="x")
    held = Ledger([*sources, *(finding(f"f_{item.id}", item.id) for item in sources), clash])
    found = count_agreeing([assessment(*keys)], held, origins(sources))
    assert found.get("a", 0) == found.get("b", 0) == found["c"] == others


def test_who_refutes_does_not_agree() -> None:
    assert agreeing([source("a"), source("b")], assessment("f_a", refuting=("f_b",))) == {"a": 0}


def test_who_speaks_for_it_and_against_it_does_not_agree() -> None:
    sources = [source(key) for key in "abc"]
    torn = assessment("f_a", "f_b", "f_c", refuting=("f_c",))
    assert agreeing(sources, torn) == {"a": 1, "b": 1}


def test_documents_of_the_persons_own_are_one_voice_unless_they_name_a_publisher() -> None:
    def document(key: str, publisher: str = "") -> Source:
        held = source(key, publisher, url=f"/docs/{key}.pdf")
        return held.model_copy(update={"kind": SourceKind.DOCUMENT})

    own = [document("a"), document("b"), document("c")]
    supported = assessment("f_a", "f_b", "f_c")
    assert agreeing(own, supported) == {"a": 0, "b": 0, "c": 0}
    named = [document("a"), document("b", "Harbour Board"), source("c")]
    assert agreeing(named, supported) == {"a": 2, "b": 2, "c": 2}


def test_forty_copies_are_one_voice() -> None:
    listed = [source(f"s{n:02}", text=f"{STORY} {n}") for n in range(40)]
    assert set(agreeing(listed, assessment(*(f"f_{item.id}" for item in listed))).values()) == {0}
    other = source("z")
    found = agreeing([*listed, other], assessment(*(f"f_{item.id}" for item in [*listed, other])))
    assert set(found.values()) == {1}


def test_one_publisher_is_one_voice_however_it_is_spelt() -> None:
    listed = [source("a", "Kustbladet"), source("b", " kustbladet "), source("c", "Norrposten")]
    assert agreeing(listed, assessment("f_a", "f_b", "f_c")) == {"a": 1, "b": 1, "c": 1}


def test_copies_and_publishers_chain() -> None:
    listed = [
        source("a", "One", STORY),
        source("b", "Two", f"{STORY} x"),
        source("c", "Two"),
        source("d", "Three"),
    ]
    assert set(agreeing(listed, assessment("f_a", "f_b", "f_c", "f_d")).values()) == {1}


def test_two_findings_of_one_source_are_one_voice() -> None:
    held = Ledger([source("a"), finding("f_1", "a"), finding("f_2", "a", "a")])
    assert count_agreeing([assessment("f_1", "f_2")], held, {"a": "a"}) == {"a": 0}


def test_of_several_answers_the_best_supported_counts() -> None:
    listed = [source("a"), source("b"), source("c")]
    assert agreeing(listed, assessment("f_a", "f_b", "f_c"), assessment("f_a"))["a"] == 2


@given(
    st.lists(st.tuples(st.sampled_from(["", "One", "Two"]), st.booleans()), min_size=1, max_size=5),
    st.randoms(),
)
def test_the_order_does_not_matter_and_no_more_agree_than_there_are(
    made: list[tuple[str, bool]], chance: Random
) -> None:
    listed = [
        source(f"s{n}", name, f"{STORY} {n}" if copied else "")
        for n, (name, copied) in enumerate(made)
    ]
    keys = [f"f_{item.id}" for item in listed]
    before = agreeing(listed, assessment(*keys))
    chance.shuffle(listed)
    assert agreeing(listed, assessment(*reversed(keys))) == before
    assert len(set(before.values())) == 1
    assert 0 <= next(iter(before.values())) < len(listed)


def test_voices_do_not_depend_on_which_source_comes_first() -> None:
    marks = [("One", True), ("Two", False), ("Two", True), ("Three", False)]
    for order in permutations(range(4)):
        listed = [
            source(f"s{place}", marks[n][0], STORY if marks[n][1] else "")
            for place, n in enumerate(order)
        ]
        assert set(agreeing(listed, assessment(*(f"f_{item.id}" for item in listed))).values()) == {
            1
        }


@pytest.mark.parametrize(
    ("publisher", "url", "told"),
    [
        ("  The  Coast\nGazette ", "https://x.org", "the coast gazette"),
        ("", "https://www.x.org/a", "x.org"),
        ("", "/home/me/a.md", ""),
        ("", "tool:search", ""),
        ("", "https://[", ""),
    ],
)
def test_who_speaks(publisher: str, url: str, told: str) -> None:
    assert publisher_of(source("a", publisher, url=url)) == told


def test_copies_are_counted_by_place() -> None:
    listed = [
        source("a", text=STORY),
        source("b", text=f"{STORY} b"),
        source("c", text=f"{STORY} c", url="https://b.example/1"),
        source("d"),
    ]
    one_story, places = count_copies(Ledger(listed))
    assert one_story == {"a": "a", "b": "a", "c": "a", "d": "d"}
    assert places == {"a": 2, "b": 2, "c": 2, "d": 1}
    assert count_copies(Ledger()) == ({}, {})
