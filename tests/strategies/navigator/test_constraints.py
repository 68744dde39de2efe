"""What the person restricts the sources to narrows the filters.

What merely names a time does not.
"""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.settings import Filters
from deepdiver.strategies.navigator.constraints import describe, narrow

TODAY = "2026-11-15"
QUESTION = "Who owned Holm Works before 2022?"


def after(*feedback: str, question: str = QUESTION, filters: Filters | None = None) -> Filters:
    return narrow(filters or Filters(), question, feedback, TODAY)


def days(filters: Filters) -> tuple[str, str]:
    return str(filters.since or ""), str(filters.until or "")


# What restricts nothing


@pytest.mark.parametrize(
    "said",
    [
        "",
        "Wrong child.",
        "And Bertil?",
        "What about the time before 2022?",
        "I want the owner before 2022",
        "I know that it was founded in 1998",
        "The answer is from 2019, which is too old",
        "the Swedish company",
        "No Swedish sources",
        "Look at https://a.example/x",
        "Only report.pdf",
        "write to me@a.example only",
        "only on 31 February 2022",
    ],
)
def test_what_does_not_speak_of_sources_restricts_nothing(said: str) -> None:
    assert after(said) == Filters()


@pytest.mark.parametrize(
    "question",
    [
        QUESTION,
        "What happened only in 2022?",
        "Was there nothing before 2022?",
        "Which articles were published before 2022?",
        "What is the only firm founded before 1990?",
        "Only three ships arrived before 2022. Which?",
        "Which Swedish sources mention Holm Works?",
        "Who wrote on example.org about Holm Works?",
    ],
)
def test_a_question_about_a_time_or_a_place_is_not_a_restriction(question: str) -> None:
    assert after(question=question) == Filters()


# Times


@pytest.mark.parametrize(
    ("said", "since", "until"),
    [
        ("Only before 2022", "", "2021-12-31"),
        ("Before 2022, please", "", "2021-12-31"),
        ("before 2022 only", "", "2021-12-31"),
        ("Use only sources published before March 2021.", "", "2021-02-28"),
        ("Only sources until 2021", "", "2021-12-31"),
        ("nothing after 2020", "", "2020-12-31"),
        ("no sources newer than 2020", "", "2020-12-31"),
        ("only after 2020", "2021-01-01", ""),
        ("only since 3 May 2019", "2019-05-03", ""),
        ("from 2019 onwards only", "2019-01-01", ""),
        ("published in 2024 or later", "2024-01-01", ""),
        ("only 2015 or earlier", "", "2015-12-31"),
        ("no sources before 2019", "2019-01-01", ""),
        ("nothing older than 2015", "2015-01-01", ""),
        ("not older than 2 years", "2024-11-15", ""),
        ("only the last five years", "2021-11-16", "2026-11-15"),
        ("only sources from last year", "2025-01-01", "2025-12-31"),
        ("only sources from 2026", "2026-01-01", "2026-12-31"),
        ("between 2015 and 2020 only", "2015-01-01", "2020-12-31"),
        ("only 2015-2020", "2015-01-01", "2020-12-31"),
        ("Sources of the 1990s only", "1990-01-01", "1999-12-31"),
        ("Only before the 1st century", "", "0001-01-01"),
    ],
)
def test_a_time_that_the_person_sets_narrows_the_days(said: str, since: str, until: str) -> None:
    assert days(after(said)) == (since, until)


@pytest.mark.parametrize(
    "question",
    [
        "Who owns it? Only before 2022.",
        "Find the owner, only sources before 2022?",
        "Who owns it? Use no sources newer than 2021.",
    ],
)
def test_a_question_may_restrict_its_sources_plainly(question: str) -> None:
    assert days(after(question=question)) == ("", "2021-12-31")


def test_what_was_said_later_adds_to_it_and_wins_where_both_cannot_hold() -> None:
    assert days(after("only before 2022", "only after 2015")) == ("2016-01-01", "2021-12-31")
    assert days(after("only before 2022", "only before 2019")) == ("", "2018-12-31")
    assert days(after("only before 2022", "only after 2023")) == ("2024-01-01", "")


@pytest.mark.parametrize(
    "said",
    [
        "Sources of any date again",
        "Now use all sources.",
        "in any language, regardless of the date",
        "No restrictions any more",
    ],
)
def test_what_was_restricted_can_be_lifted_up_to_the_settings(said: str) -> None:
    set_up = Filters(language="sv")
    assert after("only before 2022", said, filters=set_up) == set_up
    assert days(after("only before 2022", said, "only after 2020")) == ("2021-01-01", "")
    assert days(after("only before 2022", "Are all children named?")) == ("", "2021-12-31")


def test_the_filters_of_the_settings_stay_and_are_never_widened() -> None:
    set_up = Filters(
        since=date(2018, 1, 1), until=date(2020, 6, 30), exclude_domains=("spam.example",)
    )
    made = after("Only before 2022. Not from blog.example", filters=set_up)
    assert days(made) == ("2018-01-01", "2020-06-30")
    assert made.exclude_domains == ("spam.example", "blog.example")
    assert made.results == set_up.results


@pytest.mark.parametrize(
    "said",
    [
        "only after 2023",
        "only in German",
        "only from evil.example",
        "site:evil.example",
        "any date",
    ],
)
def test_nothing_that_is_said_leads_outside_of_the_settings(said: str) -> None:
    set_up = Filters(
        until=date(2020, 6, 30), language="sv", include_domains=("a.example", "b.example")
    )
    assert after(said, filters=set_up) == set_up
    assert after("only from www.a.example", filters=set_up).include_domains == ("a.example",)
    assert after("only from news.a.example", filters=set_up).include_domains == ("news.a.example",)


# Languages and domains


@pytest.mark.parametrize(
    "said",
    ["Only in Swedish", "Only Swedish sources", "Swedish sources only", "sources in Swedish"],
)
def test_a_language(said: str) -> None:
    assert after(said) == Filters(language="sv")


@pytest.mark.parametrize(
    ("said", "filters"),
    [
        ("only from bbc.co.uk and B.example", {"include_domains": ["bbc.co.uk", "b.example"]}),
        ("site:example.org", {"include_domains": ["example.org"]}),
        ("not from wikipedia.org", {"exclude_domains": ["wikipedia.org"]}),
        (
            "Please ignore everything from a.example or b.example, it is wrong",
            {"exclude_domains": ["a.example", "b.example"]},
        ),
    ],
)
def test_domains(said: str, filters: dict[str, Any]) -> None:
    assert after(said) == Filters.model_validate(filters)


# In words


def test_it_is_told_in_words_as_far_as_it_differs() -> None:
    usual = Filters(language="sv", since=date(2000, 1, 1))
    assert describe(usual, usual) == ""
    made = after("only before 2022", "not from blog.example", filters=usual)
    assert describe(made, usual) == "published on 2021-12-31 or earlier, without blog.example"
    only = after("only from a.example", "only in German", "only after 2020")
    assert describe(only, Filters()) == (
        "published on 2021-01-01 or later, language de, only a.example"
    )


WORDS = st.sampled_from(
    "only not no before after since until between and 2022 1998 9999 99th century the last 999 "
    "years sources in Swedish a.example site: from ? . older than or later".split()
)


SET_UP = Filters(since=date(2010, 1, 1), until=date(2024, 6, 30), include_domains=("example",))


@given(
    st.lists(st.lists(WORDS, max_size=12).map(" ".join), max_size=3),
    st.text(),
    st.sampled_from([Filters(), SET_UP]),
)
def test_whatever_is_said_the_filters_are_valid_and_not_wider(
    feedback: list[str], question: str, filters: Filters
) -> None:
    made = after(*feedback, question=question, filters=filters)
    assert Filters.model_validate(made.model_dump()) == made
    if filters == SET_UP:
        assert made.since is not None
        assert made.until is not None
        assert date(2010, 1, 1) <= made.since <= made.until <= date(2024, 6, 30)
        assert all(domain.endswith("example") for domain in made.include_domains)
