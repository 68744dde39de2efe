"""Disputed findings stay out of the answer until a further independent source settles it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from deepdiver.core.identity import content_id, digest
from deepdiver.core.origins import sketch
from deepdiver.core.record import (
    Credibility,
    Finding,
    Passage,
    Quote,
    SentenceKind,
    Source,
    SourceKind,
)
from deepdiver.strategies.navigator.disputes import (
    HEADING,
    OPEN,
    SETTLED,
    describe_unsettled,
    find_disputes,
    find_excluded,
    list_excluded,
    make_contradiction,
    make_sections,
)
from deepdiver.strategies.shared.base import Deps
from tests.strategies.rig import Rig

ANNA, BERTIL = "Holm Works is owned by Anna Holm.", "Holm Works is owned by Bertil Ask."


@pytest.fixture
def deps(tmp_path: Path) -> Deps:
    return Rig(tmp_path, strategy="navigator").session().deps


def finding(
    deps: Deps,
    statement: str,
    place: str,
    *,
    publisher: str = "",
    credibility: float = 0.8,
    **more: Any,
) -> str:
    """Enter a statement of a source of its own; returns its id."""
    own = f"What {place} has to say besides is its own, and nobody else prints it."
    text = f"{statement} {more.get('rest', own)}"
    source = Source(
        id=content_id("s", place),
        kind=SourceKind.DOCUMENT,
        url=place,
        title=place,
        snapshot=digest(text),
        sketch=sketch(text),
        publisher=publisher or place,
        published=more.get("published", ""),
        credibility=Credibility(score=credibility),
    )
    deps.store.texts.put(deps.run.id, text)
    passage = Passage(snapshot=source.snapshot, start=0, end=len(statement))
    quote = Quote(source=source.id, passage=passage, text=statement)
    made = Finding(id=content_id("f", statement, place), statement=statement, quotes=(quote,))
    deps.add(source, made)
    return made.id


def test_a_contradiction_that_code_does_not_see_is_not_taken(deps: Deps) -> None:
    one, other = finding(deps, ANNA, "a"), finding(deps, "The lake has 3 islands.", "b")
    assert make_contradiction(deps, one, other, "the model says so") is None
    assert make_contradiction(deps, one, one, "with itself") is None


def test_a_contradiction_is_one_record_whoever_comes_first(deps: Deps) -> None:
    one, other = finding(deps, ANNA, "a"), finding(deps, BERTIL, "b")
    made = make_contradiction(deps, one, other, "owners")
    assert made is not None
    assert made == make_contradiction(deps, other, one, "owners")
    assert (made.kind, set(made.findings)) == ("contradicts", {one, other})


def test_one_against_one_is_not_settled_and_both_stay_out(deps: Deps) -> None:
    one, other = finding(deps, ANNA, "a"), finding(deps, BERTIL, "b")
    (found,) = find_disputes(deps, [[one, other], [other, one]], [])
    assert not found.settled
    assert list_excluded([found]) == {one, other}
    assert find_excluded(deps, {"conflicts": [[one, other]], "same": []}) == {one, other}
    assert describe_unsettled(deps, [found])[0].startswith("Not settled: ")


def test_a_further_independent_source_settles_it_on_either_side(deps: Deps) -> None:
    one, other, third = (
        finding(deps, ANNA, "a"),
        finding(deps, BERTIL, "b"),
        finding(deps, ANNA, "c", rest="Yes!"),
    )
    (found,) = find_disputes(deps, [[one, other]], [[third, one]])
    assert found.settled
    assert set(found.one) == {one, third}
    assert list_excluded([found]) == {other}
    assert describe_unsettled(deps, [found]) == []
    (turned,) = find_disputes(deps, [[other, one]], [[third, one]])
    assert (turned.settled, turned.other) == (True, (other,))


def test_a_copy_and_a_second_page_of_one_publisher_are_no_further_source(deps: Deps) -> None:
    story = (
        "The register of the whole county was opened today in the presence of the clerk and of "
        "many citizens."
    )
    one = finding(deps, ANNA, "a", rest=story)
    copy = finding(deps, ANNA, "copy", rest=story)
    other = finding(deps, BERTIL, "b")
    assert not find_disputes(deps, [[one, other]], [[copy, one]])[0].settled
    house = finding(
        deps, ANNA, "a2", publisher="a", rest="The same house says it again in words of its own."
    )
    assert not find_disputes(deps, [[one, other]], [[house, one]])[0].settled


def test_two_against_two_and_two_weak_ones_against_a_strong_one_settle_nothing(deps: Deps) -> None:
    one, two = finding(deps, ANNA, "a"), finding(deps, ANNA, "c", rest="So it is.")
    other, fourth = finding(deps, BERTIL, "b"), finding(deps, BERTIL, "d", rest="So it is not.")
    assert not find_disputes(deps, [[one, other]], [[one, two], [other, fourth]])[0].settled
    weak = [finding(deps, ANNA, f"w{n}", credibility=0.3, rest=f"Rumour {n}.") for n in range(2)]
    strong = finding(deps, BERTIL, "register", credibility=0.95)
    assert not find_disputes(deps, [[weak[0], strong]], [weak])[0].settled


def test_sides_are_chains_and_who_confirms_both_is_not_heard(deps: Deps) -> None:
    keys = [finding(deps, ANNA, f"a{n}", rest=f"Voice {n}.") for n in range(3)]
    other = finding(deps, BERTIL, "b")
    (found,) = find_disputes(deps, [[keys[0], other]], [[keys[0], keys[1]], [keys[1], keys[2]]])
    assert set(found.one) == set(keys)
    assert find_disputes(deps, [[keys[0], other]], [[keys[0], other]]) == []


def test_the_report_shows_both_sides_in_the_words_of_the_sources(deps: Deps) -> None:
    one, other = finding(deps, ANNA, "a"), finding(deps, BERTIL, "b")
    (made,) = make_sections(deps, find_disputes(deps, [[one, other]], []))
    assert made.heading == HEADING
    assert [line.text for line in made.sentences] == [OPEN, ANNA, BERTIL]
    assert made.sentences[0].kind is SentenceKind.FRAME
    assert {key for line in made.sentences for key in line.findings} == {one, other}
    third = finding(deps, ANNA, "c", rest="Yes!")
    (settled,) = make_sections(deps, find_disputes(deps, [[one, other]], [[one, third]]))
    assert settled.sentences[0].text == SETTLED
    assert settled.sentences[2].text == BERTIL
    assert make_sections(deps, []) == []
