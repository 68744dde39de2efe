"""Navigation uses the sources' words, never repeats a step, and ends when nothing is left."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.reason.embedded.navigate import (
    AGE,
    DONE,
    FOLLOWS,
    IN_VAIN,
    NAMED_IT,
    OPENS,
    PROMISING,
    SAID_IT,
    analyse_output,
    decide_action,
)
from deepdiver.reason.embedded.plan import decompose
from deepdiver.tasks import (
    AnalyseOutput,
    Analysis,
    DecideAction,
    Decompose,
    NavigatorTool,
    NextAction,
    PageAddress,
    QuestionPart,
    RememberedFinding,
    StepTaken,
)
from tests.reason.embedded.shown import AS_OF
from tests.texts import shown_text

QUESTION = "How old are the children of the parents who run Acme Ltd?"
PARTS = (
    "Which parents run Acme Ltd?",
    "Who are the children of the parents?",
    "How old are the children?",
)
RUN = "Ada and Bo Berg run Acme Ltd."
CHILDREN = "Ada and Bo Berg have two children, Cleo Berg and Dan Berg."
CLEO, DAN = "Cleo Berg was born on 3 May 2011.", "Dan Berg was born on 2 June 2014."
ALL = (RUN, CHILDREN, CLEO, DAN)
TOOLS = tuple(
    NavigatorTool(name=name, about="x")
    for name in ("search_library", "search_brave", "crawl_url", "send_to_hitl")
)


def decided(**more: Any) -> NextAction:
    told = {
        "initial_query": QUESTION,
        "as_of": AS_OF,
        "problems": PARTS,
        "tools": TOOLS,
        "max_iterations": 20,
    }
    return decide_action(DecideAction.model_validate({**told, **more}))


def taken(what: str, action: str = "search_library", brought: int = 1) -> StepTaken:
    return StepTaken(action=action, query_or_url=what, brought=brought, confidence=0.5)


def analysed(
    *texts: str, known: tuple[str, ...] = (), question: str = QUESTION, **more: Any
) -> Analysis:
    parts = [p.question for p in decompose(Decompose(question=question, as_of=AS_OF)).problems]
    return analyse_output(
        AnalyseOutput(
            initial_query=question,
            as_of=AS_OF,
            problems=tuple(
                QuestionPart(id=f"P{n}", question=part) for n, part in enumerate(parts, 1)
            ),
            action="search_library",
            query_or_url="Acme Ltd",
            texts=tuple(
                shown_text(id=f"T{n}", title="A text", text=text) for n, text in enumerate(texts, 1)
            ),
            shared_memory=tuple(
                RememberedFinding(id=f"F{n}", statement=text) for n, text in enumerate(known, 1)
            ),
            **more,
        )
    )


# Analysis


def test_where_nothing_is_to_the_point_everything_is_missing() -> None:
    made = analysed("The lake has three islands.")
    assert made.extracted_info == ()
    assert made.suggestions_for_next_step[:3] == PARTS
    assert made.confidence_score == 0.0
    assert made.assessment == "0 of 3 parts of the question are answered by what is known."
    assert analysed().extracted_info == ()


def test_each_sentence_is_quoted_and_knows_which_part_it_answers() -> None:
    made = analysed(RUN, CHILDREN, f"It rained. {CLEO}")
    assert {info.quote: info.answers for info in made.extracted_info} == {
        RUN: "P1",
        CHILDREN: "P2",
        CLEO: "P3",
    }
    assert {info.source for info in made.extracted_info} == {"T1", "T2", "T3"}
    assert AGE.format("Dan Berg") in made.suggestions_for_next_step
    assert 0.0 < made.confidence_score < 1.0


def test_what_is_known_counts() -> None:
    made = analysed(DAN, known=(RUN, CHILDREN, CLEO))
    assert [info.answers for info in made.extracted_info] == ["P3"]
    assert made.suggestions_for_next_step == ()
    assert made.confidence_score == 1.0


def test_an_age_of_another_day_is_not_enough() -> None:
    made = analysed(
        "Ada and Bo Berg have two children: Cleo, who is 13, and Dan, who is 10.", known=(RUN,)
    )
    assert any(line.startswith("How old is") for line in made.suggestions_for_next_step)


TONNES = "How many tonnes of cheese did Acme Ltd make in 2025?"
ONE, OTHER = (
    "Acme Ltd made 38 tonnes of cheese in 2025.",
    "Acme Ltd made 52 tonnes of cheese in 2025.",
)


def test_another_value_for_the_same_thing_contradicts_and_the_same_confirms() -> None:
    made = analysed(OTHER, f"{ONE} So says the register.", known=(ONE,), question=TONNES)
    by = {info.quote: info for info in made.extracted_info}
    assert by[OTHER].contradicts == ("F1",)
    assert by[ONE].confirms == ("F1",)
    assert by[ONE].contradicts == ("E1",)
    assert made.inconsistencies_found is not None
    assert OTHER in made.inconsistencies_found


def test_hearsay_puts_nothing_in_doubt() -> None:
    rumour = "According to people in the queue, Acme Ltd made 52 tonnes of cheese in 2025."
    made = analysed(rumour, known=(ONE,), question=TONNES)
    assert all(info.contradicts == () for info in made.extracted_info)
    assert made.inconsistencies_found is None


def test_links_that_speak_of_what_is_missing_are_promising() -> None:
    links = (
        PageAddress(id="U1", url="https://a.example/weather"),
        PageAddress(id="U2", url="https://a.example/x", title="The parents of Acme"),
        PageAddress(id="U3", url="https://a.example/acme-ltd-parents-children"),
    )
    assert analysed("Nothing.", links=links).new_potential_urls == ("U3", "U2")


# Decision


def test_the_words_of_the_question_come_first() -> None:
    made = decided()
    assert (made.next_action, made.reasoning) == ("search_library", OPENS)
    assert made.query_or_url == "children parents run Acme Ltd"


def test_an_address_of_the_person_comes_before_everything() -> None:
    urls = (
        PageAddress(id="U1", url="https://a.example"),
        PageAddress(id="U2", url="https://b.example", found="person"),
    )
    made = decided(urls=urls)
    assert (made.next_action, made.query_or_url, made.reasoning) == ("crawl_url", "U2", NAMED_IT)


def test_what_the_person_asked_for_comes_first_in_a_new_pass() -> None:
    more = {
        "research_history": (taken("x"),),
        "shared_memory": ALL,
        "feedback": ("You forgot the dog!",),
    }
    made = decided(**more)
    assert (made.reasoning, made.query_or_url) == (SAID_IT, "forgot dog Acme Ltd")
    later = decided(**more, iteration=1, tried=("forgot dog Acme Ltd",))
    assert (later.next_action, later.reasoning) == ("send_to_hitl", DONE)


def test_what_narrows_the_searches_is_not_searched_for_and_the_question_comes_again() -> None:
    more = {
        "research_history": (taken("children parents run Acme Ltd"),),
        "feedback": ("Only before 2022",),
        "narrowed": "published on 2021-12-31 or earlier",
    }
    made = decided(**more)
    assert (made.reasoning, made.query_or_url) == (SAID_IT, "children parents run Acme Ltd")
    later = decided(**more, tried=("children parents run Acme Ltd",))
    assert later.query_or_url != made.query_or_url


def test_then_the_names_that_were_found_and_the_parts_without_an_answer() -> None:
    first = "children parents run Acme Ltd"
    made = decided(research_history=(taken(first),), tried=(first,), shared_memory=(RUN,))
    assert made.next_action == "search_library"
    assert "Berg" in (made.query_or_url or "")
    assert "Who are the children of the parents?" in made.reasoning


def test_when_each_part_is_answered_the_person_is_next() -> None:
    made = decided(research_history=(taken("x"),), tried=("x",), shared_memory=ALL)
    assert (made.next_action, made.query_or_url, made.reasoning) == ("send_to_hitl", None, DONE)


def test_what_code_holds_for_unanswered_is_looked_for_although_something_says_it() -> None:
    made = decided(
        research_history=(taken("x"),), tried=("x",), shared_memory=ALL, unanswered=PARTS[2:]
    )
    assert made.next_action == "search_library"


def test_a_page_that_speaks_of_what_is_missing_is_read_after_a_search() -> None:
    urls = (
        PageAddress(id="U1", url="https://a.example/rain"),
        PageAddress(id="U2", url="https://a.example/berg-children"),
    )
    more: dict[str, Any] = {"tried": ("x",), "shared_memory": (RUN,), "urls": urls}
    made = decided(research_history=(taken("x"),), **more)
    assert (made.next_action, made.query_or_url, made.reasoning) == ("crawl_url", "U2", PROMISING)
    after = decided(research_history=(taken("https://a.example/z", "crawl_url"),), **more)
    assert after.next_action == "search_library"


def test_a_tool_that_brought_nothing_gives_way_to_the_next() -> None:
    more: dict[str, Any] = {"tried": ("x",), "shared_memory": (RUN,)}
    assert decided(research_history=(taken("x", brought=0),), **more).next_action == "search_brave"
    assert (
        decided(research_history=(taken("x", "search_brave", 0),), **more).next_action
        == "search_library"
    )


def test_a_lead_is_followed_when_that_is_what_is_left() -> None:
    told = (
        "the last 3 steps brought nothing new; try a stored lead or an address that nobody has read"
    )
    made = decided(
        research_history=(taken("x"),), tried=("x",), leads=("cellar books",), detected=told
    )
    assert (made.query_or_url, made.reasoning) == ("cellar books", FOLLOWS)


def test_where_everything_was_tried_the_person_is_next() -> None:
    tools = tuple(tool for tool in TOOLS if not tool.name.startswith("search_"))
    made = decided(tools=tools, research_history=(taken("x", "crawl_url"),))
    assert (made.next_action, made.reasoning) == ("send_to_hitl", IN_VAIN)


@pytest.mark.parametrize("known", [(), (RUN,), (RUN, CHILDREN), (RUN, CHILDREN, CLEO)])
def test_no_query_comes_twice_and_there_is_an_end(known: tuple[str, ...]) -> None:
    tried: tuple[str, ...] = ()
    for _ in range(60):
        history = tuple(taken(query, brought=0) for query in tried[-4:])
        made = decided(research_history=history, tried=tried, shared_memory=known)
        if made.next_action == "send_to_hitl":
            return
        assert made.query_or_url is not None
        assert made.query_or_url not in tried
        tried = (*tried, made.query_or_url)
    raise AssertionError("there is no end of queries")


@given(st.text(max_size=80), st.lists(st.text(max_size=60), max_size=3))
def test_whatever_is_asked_and_read_it_quotes_and_decides(question: str, texts: list[str]) -> None:
    made = analysed(*texts, question=question)
    for info in made.extracted_info:
        assert info.quote in texts[int(info.source[1:]) - 1]
    assert 0.0 <= made.confidence_score <= 1.0
    names = {tool.name for tool in TOOLS}
    assert (
        decided(
            initial_query=question, problems=(question,), shared_memory=tuple(texts)
        ).next_action
        in names
    )
