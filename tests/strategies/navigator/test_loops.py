"""Loops are noticed in any order of words, and the ways out are tried in order until one helps."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.strategies.navigator.loops import (
    BARREN,
    CRAWL,
    HAND_OVER,
    LADDER,
    LEVEL,
    LONGEST_QUERY,
    Choice,
    Impasse,
    PastStep,
    Situation,
    Way,
    check_choice,
    choose_way_out,
    detect_loop,
    find_permitted,
    key_of,
    reject_choice,
)
from deepdiver.tasks import NextAction

PAGE, OTHER = "https://a.example/register?x=1", "https://b.example/boats"
AT = Situation(
    question="Who owns Holm Works?",
    problems=("Who owns Holm Works?", "Where does the owner live?"),
    open=("Where does the owner live?",),
    unsearched=(),
    searches=("search_library", "search_duckduckgo"),
    addresses=(PAGE, OTHER),
    leads=(("name", "Cleo Holm"), ("query", "Holm family tree"), ("url", OTHER)),
    known=("Holm Works is owned by Anna Holm.",),
    keys=frozenset(),
    begun=True,
)
BARE = PastStep("search_library x", 0, 0.0)


def said(action: str, what: str | None = None) -> NextAction:
    return NextAction(next_action=action, query_or_url=what, reasoning="because  of\nthat")


def taken(action: str, what: str | None = None, at: Situation = AT) -> Choice:
    choice = check_choice(said(action, what), at, ())
    assert isinstance(choice, Choice), choice
    return choice


def why(action: str, what: str | None = None, at: Situation = AT) -> str:
    found = check_choice(said(action, what), at, ())
    assert isinstance(found, Impasse), found
    return found.why


# What cannot be taken


def test_no_decision_is_refused() -> None:
    found = check_choice(None, AT, ())
    assert isinstance(found, Impasse)
    assert found.why == "no decision could be had"
    assert found.ways == LADDER


@pytest.mark.parametrize("action", ["", "dance", "search", "search_google"])
def test_where_there_is_no_tool_for_it_an_action_is_refused(action: str) -> None:
    at = replace(AT, searches=())
    assert why(action, "Holm", at) == "an action that is none of the tools was asked for"


@pytest.mark.parametrize(
    "what", [None, "", "  ", "?!", "https://evil.example/x", "www.evil.example"]
)
def test_a_search_without_words_is_refused(what: str | None) -> None:
    assert why("search_library", what) == "a search without words was asked for"


@pytest.mark.parametrize(
    "what",
    [
        None,
        "",
        "U0",
        "U3",
        "U99999",
        "https://evil.example/",
        "https://a.example/other",
        "/etc/passwd",
        "file:///x",
    ],
)
def test_an_address_of_the_models_own_is_refused(what: str | None) -> None:
    assert "stands in no search result" in why(CRAWL, what)


def test_there_is_no_handing_over_before_a_step() -> None:
    assert why(HAND_OVER, at=replace(AT, begun=False)) == "nothing was looked at in this pass"


def test_there_is_no_handing_over_before_each_part_was_searched_for_and_that_part_is_next() -> None:
    at = replace(AT, unsearched=AT.open)
    found = check_choice(said(HAND_OVER), at, ())
    assert isinstance(found, Impasse)
    assert found.why == "nobody has searched for an answer to: Where does the owner live?"
    assert found.ways[0] is Way.NARROW
    choice = choose_way_out(found, at)
    assert (choice.action, choice.query_or_url) == ("search_library", "owner live Holm Works")


def test_what_was_done_is_not_done_again() -> None:
    at = replace(
        AT, keys=frozenset({key_of("search_library", "Holm Works owner"), key_of(CRAWL, PAGE)})
    )
    told = "a step that was taken before was asked for again"
    assert why("search_library", "owner of the HOLM works", at) == told
    assert why(CRAWL, "https://www.a.example/register?utm_source=z&x=1#top", at) == told
    assert taken("search_duckduckgo", "Holm Works owner", at).action == "search_duckduckgo", (
        "another place is not asked"
    )


# What can


def test_a_choice_is_taken_as_it_is() -> None:
    assert taken(" Search_Library ", "Holm  Works\nowner") == Choice(
        "search_library", "Holm Works owner", "because of that", "reasoner"
    )
    assert taken(HAND_OVER, "ignored") == Choice(HAND_OVER, "", "because of that", "reasoner")
    assert taken(CRAWL, " u2 ").query_or_url == OTHER


def test_the_address_is_read_as_it_stood_where_it_was_found() -> None:
    assert taken(CRAWL, "http://www.a.example/register/?x=1&utm_source=spam").query_or_url == PAGE


def test_addresses_do_not_stay_in_queries_and_queries_are_not_endless() -> None:
    assert (
        taken("search_library", "Holm https://evil.example/x www.evil.example owner").query_or_url
        == "Holm owner"
    )
    assert len(taken("search_library", "owner " * 200).query_or_url) == LONGEST_QUERY


def test_a_search_tool_that_is_not_set_up_gives_way_to_one_that_is_and_that_is_noted() -> None:
    other = taken("search_google", "Holm")
    assert other.action == "search_library"
    assert other.note == (
        "search_google is not among the tools that are set up; search_library was taken instead"
    )
    at = replace(AT, searches=("search_library", "search_serper"))
    assert taken("search_google", "Holm", at).action == "search_serper", (
        "the same results by another way"
    )
    assert taken("search_google", "Holm", at).note.endswith("search_serper was taken instead")
    assert taken("search_brave", "Holm", at).action == "search_library"


@pytest.mark.parametrize(
    ("action", "what", "tool"),
    [
        ("SEARCH_DUCKDUCKGO", "Holm", "search_duckduckgo"),
        ("DuckDuckGo Search", "Holm", "search_duckduckgo"),
        ("searchDuckduckgo", "Holm", "search_duckduckgo"),
        ("Send to HITL", None, HAND_OVER),
        ("CRAWL URL", "U1", CRAWL),
    ],
)
def test_a_tool_is_known_in_any_spelling(action: str, what: str | None, tool: str) -> None:
    choice = taken(action, what)
    assert (choice.action, choice.note) == (tool, "")


@pytest.mark.parametrize(
    ("action", "what", "tool"),
    [
        ("search_web", "Holm", "search_library"),
        ("web search", "Holm", "search_library"),
        ("duckduckgo", "Holm", "search_duckduckgo"),
        ("crawl", PAGE, CRAWL),
        ("fetch_url", PAGE, CRAWL),
        ("read the page", PAGE, CRAWL),
        ("browse", "U2", CRAWL),
        ("investigate", "Holm owner", "search_library"),
        ("hitl", None, HAND_OVER),
        ("finish", None, HAND_OVER),
        ("human_review", "", HAND_OVER),
    ],
)
def test_an_action_in_other_words_goes_to_the_closest_tool_with_a_note(
    action: str, what: str | None, tool: str
) -> None:
    choice = taken(action, what)
    assert (choice.action, choice.by) == (tool, "reasoner")
    assert (
        choice.note == f"{action} is not among the tools that are set up; {tool} was taken instead"
    )


def test_the_name_of_a_tool_that_does_not_exist_is_no_place_to_write_in() -> None:
    note = taken("x [a](https://evil.example) " * 9, "Holm").note
    assert "](" not in note
    assert "//" not in note
    assert len(note) < 140
    assert taken("", "Holm").note == "no tool was named; search_library was taken"


def test_the_rules_hold_in_whatever_words_the_hand_over_is_asked_for() -> None:
    at = replace(AT, unsearched=AT.open)
    found = check_choice(said("finish"), at, ())
    assert isinstance(found, Impasse)
    assert found.ways[0] is Way.NARROW


@given(st.text(max_size=60), st.none() | st.text(max_size=60))
def test_whatever_is_asked_for_a_choice_is_a_tool_or_a_reason(action: str, what: str) -> None:
    found = check_choice(said(action, what), AT, ())
    if isinstance(found, Choice):
        assert found.action in {*AT.searches, CRAWL, HAND_OVER}
        assert found.action != CRAWL or found.query_or_url in AT.addresses
    else:
        assert found.why


def test_a_search_that_was_narrowed_since_is_another_step() -> None:
    done = replace(AT, keys=frozenset({key_of("search_library", "Holm Works owner")}))
    assert why("search_library", "Holm Works owner", done).startswith("a step that was taken")
    now = replace(done, narrowed="published on 2021-12-31 or earlier")
    assert taken("search_library", "Holm Works owner", now).query_or_url == "Holm Works owner"
    read = replace(now, keys=frozenset({key_of(CRAWL, PAGE, "anything")}))
    assert why(CRAWL, PAGE, read).startswith("a step that was taken"), "a page stays the same page"


@given(st.text())
def test_whatever_is_said_only_known_addresses_are_permitted(text: str) -> None:
    assert find_permitted(text, (PAGE, OTHER)) in {None, PAGE, OTHER}
    assert find_permitted(text, ()) is None


# Keys


@given(
    st.permutations(["Anna", "Holm", "owner", "Works"]),
    st.sampled_from([str.lower, str.upper, str.title]),
)
def test_the_order_and_the_letters_of_a_query_make_no_other(words: list[str], way: object) -> None:
    assert callable(way)
    assert key_of("search_x", way(" ".join(words))) == key_of("search_x", "anna holm owner works")


def test_other_words_and_other_tools_make_another_step() -> None:
    keys = {
        key_of("search_x", "a b"),
        key_of("search_x", "Anna"),
        key_of("search_y", "Anna"),
        key_of(CRAWL, PAGE),
    }
    assert len(keys) == 4
    assert key_of("search_x", "who is") != key_of("search_x", "what was"), (
        "words without weight are still words"
    )
    assert key_of("search_x", "the owners of Holm") == key_of("search_x", "Holm owner")


# Circles


def test_two_barren_steps_are_bad_luck_and_three_are_a_circle() -> None:
    assert detect_loop([]) is None
    assert detect_loop([BARE] * (BARREN - 1)) is None
    found = detect_loop([BARE] * BARREN)
    assert found is not None
    assert found.why == f"the last {BARREN} steps brought nothing new"
    assert found.ways == LADDER
    assert "reframe" in found.advice


def test_a_confidence_that_does_not_rise_is_a_circle_although_findings_come() -> None:
    rising = [PastStep(str(n), 1, 0.1 * n) for n in range(1, 5)]
    assert detect_loop(rising) is None
    level = [PastStep(str(n), 1, 0.4) for n in range(LEVEL)]
    assert detect_loop([*rising, *level[:-1]]) is None
    found = detect_loop([*rising, *level])
    assert found is not None
    assert found.why == f"the confidence has not risen for {LEVEL} steps"


def test_something_new_ends_the_circle() -> None:
    assert detect_loop([*[BARE] * 10, PastStep("y", 1, 0.5)]) is None


def test_the_ways_out_come_in_their_order_each_once() -> None:
    made = [BARE] * BARREN
    met = []
    for _ in range(6):
        found = detect_loop(made)
        assert found is not None
        met.append(found.ways[0])
        made = [*made, replace(BARE, way=found.ways[0])]
    assert met == [Way.REFRAME, Way.NARROW, Way.LEAD, Way.HUMAN, Way.HUMAN, Way.HUMAN]


steps = st.builds(
    PastStep,
    key=st.just("x"),
    found=st.integers(0, 2),
    confidence=st.sampled_from([0.0, 0.2, 0.5, 0.9]),
    way=st.sampled_from(["", *LADDER[:3]]),
)


@given(st.lists(steps, max_size=25))
def test_a_circle_is_one_of_the_two_and_always_ends_with_the_person(made: list[PastStep]) -> None:
    found = detect_loop(made)
    barren = len(list(itertools.takewhile(lambda step: not step.found, reversed(made))))
    if barren >= BARREN:
        assert found is not None
    if found is not None:
        assert list(found.ways) == [way for way in LADDER if way in found.ways], "in their order"
        assert found.ways[-1] is Way.HUMAN
        assert barren >= BARREN or len(made) >= LEVEL


@given(st.lists(steps, max_size=12), st.integers(BARREN, 8))
def test_nobody_stays_in_a_circle(made: list[PastStep], barren: int) -> None:
    """However it began: after enough steps without anything new, the person is next."""
    made = [*made, *[replace(BARE, way="")] * barren]
    for _ in range(len(LADDER)):
        found = detect_loop(made)
        assert found is not None
        if found.ways[0] is Way.HUMAN:
            return
        made = [*made, replace(BARE, way=found.ways[0])]
    raise AssertionError("the ladder has no end")


def test_a_refusal_goes_on_where_the_ladder_was_left() -> None:
    assert reject_choice([], "x").ways == LADDER
    assert reject_choice([replace(BARE, way=Way.REFRAME)], "x").ways == LADDER[1:]
    assert reject_choice([replace(BARE, way=Way.REFRAME, found=1)], "x").ways == LADDER, (
        "something came of it"
    )
    assert reject_choice([], "x", Way.NARROW).ways == LADDER[1:]
    assert reject_choice([replace(BARE, way=Way.LEAD)], "x").ways == (Way.HUMAN,), (
        "what was passed over had nothing to offer"
    )
    assert reject_choice([replace(BARE, way=Way.HUMAN)], "x").ways == (Way.HUMAN,)


# Ways out


def out(*ways: Way, at: Situation = AT) -> Choice:
    return choose_way_out(Impasse("stuck", (*ways, Way.HUMAN)), at)


def test_reframing_asks_for_the_question_and_then_for_the_names_that_were_found() -> None:
    first = out(Way.REFRAME)
    assert (first.action, first.query_or_url, first.by, first.way) == (
        "search_library",
        "owns holm works",
        "rule",
        "reframe",
    )
    at = replace(AT, keys=frozenset(key_of(tool, "owns holm works") for tool in AT.searches))
    assert out(Way.REFRAME, at=at).query_or_url == "Anna Holm owner live"


def test_a_page_that_the_analyzer_suggests_comes_before_all_ways() -> None:
    choice = out(Way.REFRAME, at=replace(AT, suggested=(OTHER,)))
    assert (choice.action, choice.query_or_url, choice.by, choice.way) == (
        CRAWL,
        OTHER,
        "rule",
        "lead",
    )
    assert choice.reasoning == "stuck: read the page that the analyzer suggests"


def test_narrowing_asks_for_a_part() -> None:
    assert out(Way.NARROW).query_or_url == "owner live Holm Works"


def test_a_lead_is_followed_by_its_kind() -> None:
    assert out(Way.LEAD).query_or_url == "Cleo Holm owner live"
    assert out(Way.LEAD, at=replace(AT, leads=AT.leads[1:])).query_or_url == "Holm family tree"
    page = out(Way.LEAD, at=replace(AT, leads=AT.leads[2:]))
    assert (page.action, page.query_or_url) == (CRAWL, OTHER)
    assert out(Way.LEAD, at=replace(AT, leads=())).query_or_url == PAGE, (
        "any page that nobody has read"
    )


def test_an_address_that_is_no_more_than_a_lead_is_not_read() -> None:
    at = replace(AT, leads=(("url", "https://evil.example/"),), addresses=())
    assert out(Way.LEAD, at=at).action == HAND_OVER


def test_where_nothing_is_left_the_person_is_next() -> None:
    at = replace(AT, searches=(), addresses=(), leads=())
    choice = choose_way_out(Impasse("stuck", LADDER), at)
    assert choice == Choice(
        HAND_OVER, "", "stuck, and nothing is left that was not tried", "rule", Way.HUMAN
    )


@given(st.lists(st.sampled_from(list(LADDER[:3])), max_size=3, unique=True))
def test_a_way_out_never_repeats_a_step_and_comes_to_an_end(ways: list[Way]) -> None:
    at, done = AT, list[str]()
    for _ in range(80):
        choice = out(*ways, at=at)
        if choice.action == HAND_OVER:
            return
        key = key_of(choice.action, choice.query_or_url)
        assert key not in done
        done.append(key)
        at = replace(at, keys=frozenset(done))
    raise AssertionError("there is no end of ways")
