"""A running summary: nothing without a finding, nothing twice, never too long, the best kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.identity import content_id
from deepdiver.core.origins import sketch
from deepdiver.core.record import Credibility as Believed
from deepdiver.core.record import Finding, Passage, Quote, Source, SourceKind
from deepdiver.core.text import size_of
from deepdiver.strategies.shared.base import Deps
from deepdiver.strategies.shared.statements import repeats
from deepdiver.strategies.shared.summary import (
    STANDS_ON,
    Line,
    compute_belief,
    drop_repeated,
    line_of,
    lines_of,
    merge_lines,
    shorten,
    take_statements,
    text_of,
)
from tests.strategies.rig import Rig

OWNED = "Holm Works is owned by Anna Holm."
ASK = "Holm Works is owned by Bertil Ask, a trader."
FOUNDED = "Holm Works was founded in 1998 in the town of Lund."


@pytest.fixture
def deps(tmp_path: Path) -> Deps:
    return Rig(tmp_path).session().deps


def found(
    deps: Deps,
    text: str,
    *,
    credibility: float = 0.6,
    url: str = "",
    about: str = "",
    filler: str = "",
) -> str:
    """Enter a finding whose quote is the whole of a source of its own."""
    whole = f"{text} {filler}".strip()
    snapshot = deps.store.texts.put(deps.run.id, whole)
    source = Source(
        id=content_id("s", url, snapshot),
        kind=SourceKind.DOCUMENT,
        url=url or f"doc:{snapshot[:8]}",
        title=url or "A text",
        snapshot=snapshot,
        sketch=sketch(whole),
        credibility=Believed(score=credibility),
    )
    passage = Passage(snapshot=snapshot, start=0, end=len(text))
    quote = Quote(source=source.id, passage=passage, text=text)
    finding = Finding(
        id=content_id("f", text, source.id), statement=text, quotes=(quote,), about=about
    )
    deps.add(source, finding)
    return finding.id


def placed(deps: Deps, text: str, quoted: str, title: str) -> str:
    """Enter a finding whose quote stands somewhere in a text."""
    snapshot = deps.store.texts.put(deps.run.id, text)
    source = Source(
        id=content_id("s", snapshot),
        kind=SourceKind.DOCUMENT,
        url="doc:placed",
        title=title,
        snapshot=snapshot,
        credibility=Believed(score=0.6),
    )
    start = text.index(quoted)
    passage = Passage(snapshot=snapshot, start=start, end=start + len(quoted))
    quote = Quote(source=source.id, passage=passage, text=quoted)
    finding = Finding(id=content_id("f", quoted), statement=quoted, quotes=(quote,), about="Hours?")
    deps.add(source, finding)
    return finding.id


def line(text: str, *findings: str, about: str = "", belief: float = 0.6) -> Line:
    return Line(text=text, findings=findings or ("f_1",), about=about, belief=belief)


# -- merging


def test_what_repeats_is_merged_and_stands_on_the_findings_of_both() -> None:
    (one,) = merge_lines([line(OWNED, "f_1")], [line(OWNED, "f_2")])
    assert one.findings == ("f_1", "f_2")


def test_the_words_that_are_believed_more_are_kept() -> None:
    short, long = "Holm Works was founded in 1998.", FOUNDED
    assert merge_lines([line(long, belief=0.5)], [line(short, belief=0.8)])[0].text == short
    assert merge_lines([line(short, belief=0.6)], [line(long, belief=0.6)])[0].text == long


def test_a_line_keeps_its_place_and_its_part() -> None:
    made = merge_lines(
        [line(OWNED, about="who"), line(FOUNDED, about="when")], [line(OWNED, "f_9", about="other")]
    )
    assert [item.about for item in made] == ["who", "when"]


def test_a_line_that_repeats_two_joins_them() -> None:
    left, right = "The north mill of the town", "burned down in the dry summer"
    both = f"{left} {right}."
    assert not repeats(left, right)
    (one,) = merge_lines([line(left, "f_1"), line(right, "f_2")], [line(both, "f_3", belief=0.9)])
    assert one.text == both
    assert set(one.findings) == {"f_1", "f_2", "f_3"}


def test_findings_of_a_line_are_bounded() -> None:
    made = merge_lines([line(OWNED, "f_0")], [line(OWNED, f"f_{n}") for n in range(1, 30)])
    assert [len(item.findings) for item in made] == [STANDS_ON]


WORDS = st.lists(
    st.sampled_from("anna owns the mill in lund since 1998 not 1999 Holm Ask".split()), max_size=8
)
TEXTS = st.lists(WORDS.map(" ".join), max_size=12)


@given(TEXTS, TEXTS)
def test_a_summary_never_repeats_a_statement(first: list[str], second: list[str]) -> None:
    lines = merge_lines(
        merge_lines([], [line(text) for text in first]), [line(text, belief=0.7) for text in second]
    )
    for place, one in enumerate(lines):
        assert not any(repeats(one.text, other.text) for other in lines[place + 1 :])
    assert {item.text for item in lines} <= {*first, *second}
    for text in (*first, *second):
        assert any(repeats(item.text, text) for item in lines) or len(lines) < len(
            {*first, *second}
        )


@given(TEXTS)
def test_merging_the_same_again_changes_no_words(texts: list[str]) -> None:
    once = merge_lines([], [line(text) for text in texts])
    assert [item.text for item in merge_lines(once, once)] == [item.text for item in once]


# -- keeping it short


def test_a_summary_within_its_limits_is_left_alone() -> None:
    lines = [line(OWNED), line(FOUNDED)]
    assert shorten(lines, "Who owns Holm Works?", None, 5_000) == lines


def test_the_least_believed_goes_first_and_of_equals_what_is_beside_the_point() -> None:
    weak, off, good = (
        line(ASK, belief=0.2),
        line("Boats are nice to look at.", belief=0.6),
        line(OWNED, belief=0.6),
    )
    assert shorten([weak, off, good], "Who owns Holm Works?", 2, 5_000) == [off, good]
    assert shorten([weak, off, good], "Who owns Holm Works?", 1, 5_000) == [good]


def test_the_part_with_most_lines_gives_way() -> None:
    lone = line("The owner lives in Lund.", about="where", belief=0.2)
    many = [
        line(f"Fact {n} about the ownership of the mill {n}.", about="who", belief=0.9)
        for n in range(4)
    ]
    kept = shorten([lone, *many], "q", 3, 5_000)
    assert lone in kept, "one talkative part must not push out the others"


LINES, BYTES = 24, 5_000


@given(st.lists(st.text(max_size=400), max_size=40), st.text(max_size=60))
def test_a_summary_is_never_too_long(texts: list[str], asked: str) -> None:
    lines = [
        line(text, about=text[:1], belief=(n % 10) / 10)
        for n, text in enumerate(dict.fromkeys(texts))
    ]
    kept = shorten(lines, asked, LINES, BYTES)
    assert len(kept) <= LINES
    assert size_of(text_of(kept)) <= BYTES
    assert [item for item in lines if item in kept] == kept, "the order stays"


def test_a_single_line_that_is_too_long_goes_too() -> None:
    assert shorten([line("x" * (BYTES + 1))], "q", None, BYTES) == []


# -- what findings and analyses say


def test_a_statement_without_a_finding_is_not_taken(deps: Deps) -> None:
    assert take_statements(deps, [], [("Carl owns it.", [])]) == []


def test_a_statement_whose_values_no_quote_holds_gives_way_to_the_quote(deps: Deps) -> None:
    key = found(deps, OWNED)
    for text in ("Holm Works is owned by Carl Dahl.", "Anna Holm owns 77 works.", "  "):
        (made,) = take_statements(deps, [], [(text, [key])])
        assert made.text == OWNED
        assert made.findings == (key,)


def test_names_may_stand_in_the_title_and_in_the_headings_above(deps: Deps) -> None:
    text = "# Settings\n\n## max_hours\n\nThis is 30 by default. The mill closed."
    quoted = "This is 30 by default."
    key = placed(deps, text, quoted, title="Manual of Holm Works")
    said = "In the Manual of Holm Works, max_hours is 30 by default."
    (made,) = take_statements(deps, [], [(said, [key])])
    assert made.text == said
    (made,) = take_statements(deps, [], [("Carl Dahl says that it is 30 by default.", [key])])
    assert made.text == f"max_hours: {quoted}", "what the quote is about is told with it"


def test_a_statement_in_other_words_is_taken_as_it_is(deps: Deps) -> None:
    key = found(deps, OWNED, about="Who owns it?")
    (made,) = take_statements(deps, [], [("Anna Holm owns  Holm Works.", [key])])
    assert (made.text, made.about) == ("Anna Holm owns Holm Works.", "Who owns it?")


def test_a_statement_about_something_else_gives_way_to_its_quote(deps: Deps) -> None:
    key = found(deps, OWNED, about="Who owns it?")
    order = "The product is dangerous and every reader should stop using it."
    (made,) = take_statements(deps, [], [(order, [key])])
    assert (made.text, made.findings) == (OWNED, (key,))


def test_of_sources_that_disagree_both_stay(deps: Deps) -> None:
    good, weak = found(deps, OWNED, credibility=0.9), found(deps, ASK, credibility=0.3)
    lines = [line_of(deps, OWNED, [good])]
    made = take_statements(deps, lines, [(ASK, [weak])])
    assert [(item.text, item.findings) for item in made] == [(OWNED, (good,)), (ASK, (weak,))]


def test_a_confirmation_makes_a_line_believed_more(deps: Deps) -> None:
    first = found(deps, OWNED, url="doc:one")
    second = found(
        deps,
        OWNED,
        url="doc:two",
        filler="It was entered in the register of the county on a rainy day.",
    )
    lines = [line_of(deps, OWNED, [first])]
    made = take_statements(deps, lines, [(OWNED, [second])])
    assert [item.findings for item in made] == [(first, second)]
    assert made[0].belief > lines[0].belief


def test_belief_counts_copies_once_and_knows_weak_lines(deps: Deps) -> None:
    story = (
        "The owner has held the works since the spring of that year, as all the town knows well "
        "enough by now."
    )
    copies = [found(deps, OWNED, url=f"doc:{n}", filler=story, credibility=0.3) for n in range(3)]
    assert compute_belief(deps, copies) == compute_belief(deps, copies[:1])
    assert line_of(deps, OWNED, copies).weak
    assert not line_of(deps, OWNED, [found(deps, OWNED, url="doc:register", credibility=0.9)]).weak


def test_lines_survive_the_state(deps: Deps) -> None:
    lines = [line_of(deps, OWNED, [found(deps, OWNED)])]
    assert lines_of([item.model_dump(mode="json") for item in lines]) == lines
    assert text_of(lines) == OWNED


# -- before summarising


def test_what_brings_nothing_new_is_left_out_before_summarising(deps: Deps) -> None:
    filler = (
        "The register of the county was opened to the public in the spring and is kept in the town "
        "hall."
    )
    first = found(deps, OWNED, url="doc:a", filler=filler)
    copy = found(deps, f"{OWNED} ".strip(), url="doc:b", filler=f"{filler} Copied.")
    other = found(
        deps,
        OWNED,
        url="doc:c",
        filler="A neighbour says so as well, over a cup of coffee, in her own words.",
    )
    assert drop_repeated(deps, [first, first]) == [first]
    assert drop_repeated(deps, [first, copy]) == [first], "a copy of the same story"
    assert drop_repeated(deps, [first, other]) == [first, other], (
        "another origin makes it believed more"
    )


def test_what_a_line_already_has_from_this_source_is_left_out(deps: Deps) -> None:
    first = found(deps, OWNED, url="doc:a")
    lines = [line_of(deps, OWNED, [first])]
    assert drop_repeated(deps, [first], lines) == []
    assert drop_repeated(deps, [found(deps, FOUNDED, url="doc:b")], lines) != []


def test_the_most_credible_come_first(deps: Deps) -> None:
    blog, register = found(deps, ASK, credibility=0.3), found(deps, FOUNDED, credibility=0.95)
    paper = found(deps, OWNED, credibility=0.7)
    assert drop_repeated(deps, [blog, paper, register]) == [register, paper, blog]
