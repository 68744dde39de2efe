"""Open questions: which these are, what they name, and which figures are quoted for them."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deepdiver.core.text import sentences
from deepdiver.reason.embedded import open_question as module
from deepdiver.reason.embedded.extract import extract
from deepdiver.reason.embedded.open_question import (
    MOST_LEADS,
    ON_TOPIC,
    PARTS,
    PER_TEXT,
    aspects,
    choose_sentences,
    figures,
    is_open,
    leads,
    nearness_to,
    survey_parts,
    survey_queries,
    survey_texts,
)
from deepdiver.reason.embedded.plan import decompose
from deepdiver.reason.embedded.query import write_queries
from deepdiver.reason.embedded.reasoner import PERFORMS
from deepdiver.tasks import Decompose, ExtractFindings, NumberedText, WriteQueries
from tests.reason.embedded.shown import AS_OF
from tests.texts import parts_of, shown_text

OPEN = "How can Brink Ferries use shore power to lower fuel costs and noise in port?"
CLOSED = "Who runs Acme Ltd?"
POWER = (
    "Shore power at Brink Ferries.\n\nIn 2025 shore power cut the fuel costs of the ferries in "
    "port by 18%. "
    "Noise in port fell by 9 decibels once the ferries used shore power. The crews were glad of "
    "it. "
    "Connecting to shore power takes 12 minutes at every call."
)
CANTEEN = (
    "The canteen in 2025.\n\nThe kitchen served 41,000 lunches last year. A lunch costs $7 on "
    "average. "
    "The menu changes every 14 days."
)


def shown(*texts: str) -> tuple[NumberedText, ...]:
    return tuple(
        shown_text(id=f"T{n}", title=f"Text {n}", text=text) for n, text in enumerate(texts, 1)
    )


def reading(question: str, *texts: str, problem: str = "") -> ExtractFindings:
    return ExtractFindings(
        question=question, problems=parts_of(problem or question), texts=shown(*texts)
    )


# -- which questions are open


@pytest.mark.parametrize(
    "question",
    [
        "",
        " ",
        "?",
        CLOSED,
        "How many people died at the Tarn Bridge?",
        "How old are the children of the owner?",
        "Did an electric car cause the fire?",
        "Can penguins fly?",
        "When was the paper retracted?",
        "What is the capital of France?",
    ],
)
def test_a_question_for_a_name_a_value_or_a_yes_is_not_open(question: str) -> None:
    assert not is_open(question)


@pytest.mark.parametrize(
    "question",
    [
        OPEN,
        "How can we keep customers?",
        "how should the port\nplan for storms?",
        "What are the key factors in the decision to insure?",
        "What new trends are there in shipping, and what strategies can be used?",
        "What is the impact of the new quay on traffic?",
        "Should we charge for shore power?",
    ],
)
def test_a_question_for_ways_factors_or_trends_is_open(question: str) -> None:
    assert is_open(question)


# -- what it names


def test_aspects_are_the_runs_of_words_without_verbs_names_and_small_words() -> None:
    assert aspects(OPEN) == ["shore power", "fuel costs", "noise", "port"]


def test_a_vague_word_is_no_aspect() -> None:
    assert aspects("What are the key factors of port noise, and what trends are new?") == [
        "port noise"
    ]


@given(st.text(max_size=200))
def test_aspects_are_words_of_the_question_each_once(text: str) -> None:
    found = aspects(text)
    assert len(found) == len(set(found))
    assert all(word in text for aspect in found for word in aspect.split())


# -- parts and queries


def test_a_closed_question_is_left_to_the_rules() -> None:
    task = Decompose(question=CLOSED, as_of=AS_OF)
    assert survey_parts(task) == decompose(task)
    asked = WriteQueries(question=CLOSED, problem=CLOSED)
    assert survey_queries(asked) == write_queries(asked)
    read = reading(CLOSED, "Ann Berg runs Acme Ltd.")
    assert survey_texts(read) == extract(read)
    assert survey_texts(read).findings


def test_a_plan_that_was_rejected_is_not_proposed_again() -> None:
    task = Decompose(question=OPEN, as_of=AS_OF, objection="too many parts")
    assert survey_parts(task) == decompose(task)


def test_the_parts_are_the_question_and_what_it_names() -> None:
    problems = [
        item.question for item in survey_parts(Decompose(question=OPEN, as_of=AS_OF)).problems
    ]
    assert problems[:2] == [OPEN, "What is known about shore power?"]
    assert len(problems) == PARTS


def test_queries_for_a_part_are_its_words_alone_with_measures_and_with_the_rest() -> None:
    task = WriteQueries(question=OPEN, problem="What is known about shore power?", limit=3)
    alone, measured, whole = survey_queries(task).queries
    assert alone == "shore power"
    assert measured.startswith("shore power average")
    assert whole == "shore power fuel costs noise port"


def test_a_query_that_was_made_is_not_made_again() -> None:
    task = WriteQueries(
        question=OPEN, problem="What is known about shore power?", tried=("Shore Power",), limit=3
    )
    assert "shore power" not in survey_queries(task).queries


def test_the_whole_question_is_asked_as_the_rules_ask_it() -> None:
    task = WriteQueries(question=OPEN, problem=OPEN)
    assert survey_queries(task) == write_queries(task)


# -- figures


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The crews were glad of the new cable in the port.",
        "The quay was opened by the mayor in 2019 after years.",
        "The meeting is on 2025-08-18 at 11:24 in the large hall.",
        "Write to ann@example.org about the 12 open questions please.",
        "Costs: 12%.",
        "Ship A320-7 and berth Q3 were named in the letter.",
        "The total was 5 " + "and more " * 40 + "in the end.",
    ],
)
def test_what_gives_no_figure_is_not_quoted(text: str) -> None:
    assert list(figures(text)) == []


@pytest.mark.parametrize(
    "text",
    [
        "Fuel costs in port fell by 18% within a year.",
        "The new cable cost the port $1.2M in the end.",
        "There were 41,000 passengers on board last summer.",
        "It takes the crew 12 minutes to connect.",
        "Three ferries have been rebuilt for it so far.",
    ],
)
def test_an_amount_a_share_or_a_count_is_a_figure(text: str) -> None:
    (item,) = figures(text)
    assert item.span.of(text) == text == item.text


def test_a_figure_without_a_year_is_quoted_with_the_sentence_that_gives_it() -> None:
    text = (
        "Hello all. I looked at our numbers for 2024 again. We had 900 calls in port every month."
    )
    (item,) = figures(text)
    assert (
        item.span.of(text)
        == "I looked at our numbers for 2024 again. We had 900 calls in port every month."
    )
    assert item.text == "We had 900 calls in port every month."


def test_a_figure_that_points_back_is_quoted_with_what_it_points_at() -> None:
    text = "Noise is the main complaint of the neighbours. This fell by 9 decibels in the spring."
    (item,) = figures(text)
    assert item.span.of(text) == text


@given(
    st.lists(
        st.sampled_from([*POWER.split(". "), "Stop", "In 2024 this rose by 5% for all of us"]),
        max_size=8,
    )
)
def test_a_figure_is_whole_sentences_of_its_text(parts: list[str]) -> None:
    text = ". ".join(parts)
    edges = {edge for span in sentences(text) for edge in (span.start, span.end)}
    for item in figures(text):
        assert {item.span.start, item.span.end} <= edges
        assert " ".join(item.span.of(text).split()).endswith(item.text)


# -- nearness


def test_a_text_is_nearer_to_a_question_on_its_matter() -> None:
    power, canteen = nearness_to(OPEN, [POWER, CANTEEN])
    assert power > ON_TOPIC > canteen
    assert nearness_to(OPEN, [POWER]) == [power]
    assert nearness_to(OPEN, []) == []


def test_of_a_text_on_something_else_nothing_is_quoted() -> None:
    assert choose_sentences(OPEN, CANTEEN) == []
    assert choose_sentences(OPEN, "") == []


def test_the_nearest_figures_are_quoted_in_the_order_of_the_text() -> None:
    found = choose_sentences(OPEN, POWER)
    assert found == sorted(found)
    assert "fuel costs" in found[0].of(POWER)


def test_no_more_than_so_many_are_quoted_and_none_overlap(monkeypatch: pytest.MonkeyPatch) -> None:
    text = " ".join(
        f"In port, this shore power saved the ferries {n}% of fuel costs." for n in range(10, 22)
    )
    found = choose_sentences(OPEN, text)
    assert 0 < len(found) <= PER_TEXT
    assert all(one.end <= other.start for one, other in pairwise(found))
    monkeypatch.setattr(module, "PER_TEXT", 1)
    assert len(choose_sentences(OPEN, text)) == 1


def test_where_the_sentence_before_is_quoted_already_a_figure_is_quoted_alone() -> None:
    text = (
        "Shore power cut fuel costs in port by 18% in 2025. This saved the ferries $4,000 a day in "
        "port."
    )
    assert [span.of(text) for span in choose_sentences(OPEN, text)] == [
        "Shore power cut fuel costs in port by 18% in 2025.",
        "This saved the ferries $4,000 a day in port.",
    ]


# -- extraction


def test_what_is_extracted_stands_in_its_text_word_for_word() -> None:
    made = survey_texts(reading(OPEN, CANTEEN, POWER))
    assert made.findings
    assert {item.source for item in made.findings} == {"T2"}
    assert all(item.quote in POWER for item in made.findings)
    assert made == survey_texts(reading(OPEN, CANTEEN, POWER))


def test_without_texts_or_figures_nothing_is_found() -> None:
    assert survey_texts(reading(OPEN)).findings == ()
    assert (
        survey_texts(
            reading(OPEN, "Shore power is good for ferries in port. Everybody likes it.")
        ).findings
        == ()
    )


def test_one_reading_returns_no_more_than_its_answer_may_hold() -> None:
    assert (
        len(
            survey_texts(
                reading(OPEN, *(POWER.replace("18%", f"{n}%") for n in range(20)))
            ).findings
        )
        == 40
    )


def test_leads_are_pairs_of_words_that_statements_share_and_the_question_lacks() -> None:
    told = [
        "Battery capacity rose by 5%.",
        "The battery capacity of a ferry is 4 MWh.",
        "Shore power cost 5%.",
    ]
    assert leads(OPEN, told) == ["battery capacity"]
    assert leads(OPEN, told[:1]) == []


@settings(max_examples=30)
@given(st.lists(st.text(alphabet="ab c", max_size=20), max_size=8))
def test_leads_are_few_and_different(told: list[str]) -> None:
    found = leads(OPEN, told)
    assert len(found) == len(set(found)) <= MOST_LEADS


def test_the_table_names_the_tasks_that_open_questions_change() -> None:
    assert PERFORMS[Decompose] is survey_parts
    assert PERFORMS[WriteQueries] is survey_queries
    assert PERFORMS[ExtractFindings] is survey_texts
