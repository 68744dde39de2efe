"""Queries contain the names found so far; queries to refute never contain the claimed value."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.record import RunStatus
from deepdiver.reason.embedded.query import LONGEST_QUERY, keywords, refute_queries, write_queries
from deepdiver.tasks import REMEMBERED, RecalledRun, RefuteQueries, WriteQueries

CHILDREN = "How old are the children of the parents who run Acme Ltd?"
KNOWN = (
    "Ada and Bo Berg run the company Acme Ltd together.",
    "Ada and Bo Berg have two children: Eve and Finn.",
)


def queries(
    problem: str, known: tuple[str, ...] = (), tried: tuple[str, ...] = (), limit: int = 3
) -> tuple[str, ...]:
    return write_queries(
        WriteQueries(question=CHILDREN, problem=problem, known=known, tried=tried, limit=limit)
    ).queries


def test_a_query_is_the_words_of_the_problem_without_question_words() -> None:
    assert queries("Which parents run Acme Ltd?")[0] == "parents run Acme Ltd"


def test_a_query_also_puts_it_in_other_words() -> None:
    assert any(
        "director" in query or "manage" in query for query in queries("Which parents run Acme Ltd?")
    )


def test_what_is_known_fills_the_hole() -> None:
    found = queries("Who are the children of the parents?", KNOWN[:1])
    assert found[0] == "Ada Berg Bo"  # those who belong together are often named together
    assert found[1] == "Ada Berg children"
    assert not any("parents" in query for query in found)


def test_an_age_is_looked_for_by_the_birth() -> None:
    found = queries("How old are the children?", KNOWN)
    assert found[0] == "Eve Finn"
    assert found[1] == "Eve born age"


def test_without_the_name_the_words_of_the_problem_must_do() -> None:
    assert queries("Who are the children of the parents?")[0] == "children parents"


def test_a_query_that_was_tried_is_not_repeated() -> None:
    first = queries("Which parents run Acme Ltd?")
    again = queries("Which parents run Acme Ltd?", tried=tuple(query.upper() for query in first))
    assert not {query.lower() for query in first} & {query.lower() for query in again}


@pytest.mark.parametrize("limit", [1, 2, 3, 8])
def test_at_most_so_many_queries_as_wanted(limit: int) -> None:
    assert 1 <= len(queries("How old are the children?", KNOWN, limit=limit)) <= limit


def test_a_problem_in_other_words_than_the_question_is_taken_as_it_stands() -> None:
    assert queries("Does Acme Ltd pay its taxes?")[0] == "Acme Ltd pay taxes"


# -- refuting


def refuting(
    question: str, hypothesis: str, rivals: tuple[str, ...] = (), tried: tuple[str, ...] = ()
) -> tuple[str, ...]:
    return refute_queries(
        RefuteQueries(
            question=question, hypothesis=hypothesis, refutes_if="x", rivals=rivals, tried=tried
        )
    ).queries


def test_a_query_that_refutes_asks_for_corrections_and_denials() -> None:
    found = refuting(
        "How many people died at the Tarn Bridge?", "Three people died at the Tarn Bridge."
    )
    assert found[0].startswith("Tarn Bridge")
    assert "correction" in found[0]
    assert "denied" in found[0]


def test_a_query_that_refutes_asks_for_primary_sources() -> None:
    assert any(
        "register" in query for query in refuting("Who runs Acme Ltd?", "Ada Berg runs Acme Ltd.")
    )


def test_the_claimed_value_is_not_searched_for() -> None:
    for question, claim, value in (
        (
            "How many people died at the Tarn Bridge?",
            "Three people died at the Tarn Bridge.",
            "three",
        ),
        ("When did the ship Meridian sink?", "The ship Meridian sank on 12 March 1932.", "1932"),
        (
            "How old is Ada Berg?",
            "Ada Berg is 15 years old on 2026-11-15 (born on 14 March 2011).",
            "2011",
        ),
    ):
        assert not any(value in query.lower() for query in refuting(question, claim))


def test_a_rival_value_is_searched_for() -> None:
    found = refuting(
        "How many people died at the Tarn Bridge?",
        "Three people died at the Tarn Bridge.",
        rivals=("Two people died at the Tarn Bridge.",),
    )
    assert any("Two" in query.split() for query in found)


def test_those_whose_ages_are_asked_are_searched_for_together() -> None:
    found = refuting(
        "How old are the children?",
        "Eve Berg is 15 years old on 2026-11-15 (born on 14 March 2011).",
        rivals=("Finn Berg is 12 years old on 2026-11-15 (born on 2 December 2013).",),
    )
    assert any("Eve" in query.split() and "Finn" in query.split() for query in found)


def test_a_refutation_that_was_tried_is_not_repeated() -> None:
    first = refuting("Who runs Acme Ltd?", "Ada Berg runs Acme Ltd.")
    again = refuting("Who runs Acme Ltd?", "Ada Berg runs Acme Ltd.", tried=first)
    assert again
    assert not set(first) & set(again)


# -- any input


def test_keywords_are_the_telling_words_as_they_stand() -> None:
    assert keywords("What was the cost of the Ister dam?") == ["cost", "Ister", "dam"]
    assert keywords("") == []


@given(st.text(max_size=200), st.text(max_size=200), st.lists(st.text(max_size=80), max_size=3))
def test_any_problem_has_short_queries_each_once(
    question: str, problem: str, known: list[str]
) -> None:
    made = write_queries(
        WriteQueries(question=question, problem=problem, known=tuple(known))
    ).queries
    assert len(made) <= 3
    assert len({query.lower() for query in made}) == len(made)
    assert all(0 < len(query) <= LONGEST_QUERY for query in made)


@given(st.text(max_size=200), st.text(max_size=200), st.lists(st.text(max_size=80), max_size=3))
def test_any_hypothesis_has_refuting_queries(
    question: str, hypothesis: str, rivals: list[str]
) -> None:
    task = RefuteQueries(
        question=question, hypothesis=hypothesis, refutes_if="", rivals=tuple(rivals)
    )
    made = refute_queries(task).queries
    assert 1 <= len(made) <= 2
    assert all(len(query) <= LONGEST_QUERY for query in made)


def test_a_megabyte_is_no_obstacle() -> None:
    huge = "words without end " * 60_000
    assert write_queries(WriteQueries(question=huge, problem=huge, known=(huge,))).queries
    assert refute_queries(
        RefuteQueries(question=huge, hypothesis=huge, refutes_if=huge, rivals=(huge,))
    ).queries


# -- what past runs teach

PAST = RecalledRun(
    id="P1",
    question="Who runs Acme Ltd?",
    date="2026-03-01",
    days=30,
    status=RunStatus.ANSWERED,
    fruitful=(
        "Acme Ltd register extract",
        "Tarn Bridge depth",
        "run parents Acme Ltd",
        "Acme Ltd board",
    ),
    fruitless=("parents run Acme Ltd",),
)


def with_past(
    problem: str, *past: RecalledRun, tried: tuple[str, ...] = (), limit: int = 3
) -> tuple[str, ...]:
    return write_queries(
        WriteQueries(question=CHILDREN, problem=problem, past=past, tried=tried, limit=limit)
    ).queries


def test_without_a_past_nothing_changes() -> None:
    assert with_past("Which parents run Acme Ltd?") == queries("Which parents run Acme Ltd?")


def test_what_was_fruitful_and_fits_is_asked_again_besides_our_own() -> None:
    found = with_past("Which parents run Acme Ltd?", PAST.model_copy(update={"fruitless": ()}))
    assert found[:3] == queries("Which parents run Acme Ltd?")
    assert len(found) == 3 + REMEMBERED
    assert set(found[3:]) == {"Acme Ltd register extract", "Acme Ltd board"}


def test_what_does_not_fit_the_problem_is_not_asked_again() -> None:
    assert not any("Tarn" in query for query in with_past("Which parents run Acme Ltd?", PAST))
    stranger = PAST.model_copy(update={"fruitful": ("Tarn Bridge depth",), "fruitless": ()})
    assert with_past("Which parents run Acme Ltd?", stranger) == queries(
        "Which parents run Acme Ltd?"
    )


def test_the_same_words_in_another_order_are_the_same_query() -> None:
    hopeful = PAST.model_copy(update={"fruitless": ()})
    found = with_past("Which parents run Acme Ltd?", hopeful)
    assert found[0] == "parents run Acme Ltd"
    assert "run parents Acme Ltd" not in found


def test_what_brought_nothing_then_comes_after_the_rest() -> None:
    own = queries("Which parents run Acme Ltd?", limit=8)
    found = with_past(
        "Which parents run Acme Ltd?", PAST.model_copy(update={"fruitful": ()}), limit=8
    )
    assert own[0] == "parents run Acme Ltd" == found[-1]
    assert set(own) == set(found), "it is not given up: the sources may have changed"


def test_what_was_tried_in_this_run_is_not_repeated_for_a_past_one() -> None:
    assert "Acme Ltd board" not in with_past(
        "Which parents run Acme Ltd?", PAST, tried=("ACME LTD board",)
    )


@given(
    st.lists(st.text(max_size=30), max_size=6),
    st.lists(st.text(max_size=30), max_size=6),
    st.integers(1, 8),
)
def test_whatever_is_remembered_the_answer_keeps_its_bounds(
    fruitful: list[str], fruitless: list[str], limit: int
) -> None:
    past = PAST.model_copy(update={"fruitful": tuple(fruitful), "fruitless": tuple(fruitless)})
    found = with_past("Which parents run Acme Ltd?", past, limit=limit)
    assert 1 <= len(found) <= min(8, limit + REMEMBERED)
    assert len({query.lower() for query in found}) == len(found)
