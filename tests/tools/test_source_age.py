"""How old the sources of a question may be, by its words and times, and never by guessing."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.tools.source_age import AHEAD, CLOCKS, YEARLY, AgeNeed, age_need_of, days_of

AS_OF = "2026-11-15"
TODAY = date(2026, 11, 15)


@pytest.mark.parametrize("as_of", ["", "today", "2026", "2026-02-30"])
def test_a_text_that_is_not_a_day(as_of: str) -> None:
    with pytest.raises(ValueError, match=r"isoformat|day|Invalid"):
        age_need_of("Who is it?", as_of)


@pytest.mark.parametrize(
    ("published", "days"),
    [
        ("", None),
        ("yesterday", None),
        ("2026-13", None),
        ("2026-02-30", None),
        ("0000", None),
        ("20261115", None),
        ("2026", (date(2026, 1, 1), date(2026, 12, 31))),
        ("2024-02", (date(2024, 2, 1), date(2024, 2, 29))),
        ("2026-02-08", (date(2026, 2, 8), date(2026, 2, 8))),
        (" 2026-02-08T12:00:00+01:00 ", (date(2026, 2, 8), date(2026, 2, 8))),
        ("2026-02-08 12:00", (date(2026, 2, 8), date(2026, 2, 8))),
    ],
)
def test_the_days_that_a_date_may_mean(published: str, days: tuple[date, date] | None) -> None:
    assert days_of(published) == days


@pytest.mark.parametrize(
    ("question", "half_life", "told_by"),
    [
        ("What is the current population of Malmö?", 365, "current"),
        ("Who is the chief executive of Voltnäs Celler?", 365, "Who is"),
        ("Who's the mayor?", 365, "Who's"),
        ("What is the latest version of SQLite?", 365, "latest"),
        ("Is the bridge still closed?", 365, "still"),
        ("What does the 2026 budget say?", YEARLY, "2026"),
        ("Where will the World Cup of 2030 be played?", YEARLY, "2030"),
        ("How many members did it have from 2019 to 2026?", YEARLY, "2026"),
        ("How has it grown since 2019?", YEARLY, "2019"),
        ("Has the law of 1998 been changed to this day?", YEARLY, "1998"),
        ("What is the price of copper?", 90, "price"),
        ("How much does a litre of milk cost?", 90, "How much does a litre of milk cost"),
        ("What is the latest price of copper?", 90, "price"),
        ("What happened in parliament today?", 30, "today"),
        ("What was decided this week?", 7, "this week"),
        ("What is the weather in Kiruna?", 7, "weather"),
        ("Wer ist der Bürgermeister?", 365, "Wer ist"),
        ("Was kostet es aktuell?", 365, "aktuell"),
        ("Qui est le maire aujourd'hui ?", 30, "aujourd'hui"),
        ("¿Quién es el presidente?", 365, "Quién es"),
        ("Vem är landshövding?", 365, "Vem är"),
        ("现在谁是市长", 365, "现在"),
        ("今日の天気", 30, "今日"),
    ],
)
def test_about_now(question: str, half_life: int, told_by: str) -> None:
    assert age_need_of(question, AS_OF) == AgeNeed("now", TODAY, half_life, told_by=told_by)


@pytest.mark.parametrize(
    ("question", "start", "end"),
    [
        ("Who was president in 1990?", date(1990, 1, 1), date(1990, 12, 31)),
        ("What was the price of copper in 2019?", date(2019, 1, 1), date(2019, 12, 31)),
        ("What was the weather in Paris on 3 May 2019?", date(2019, 5, 3), date(2019, 5, 3)),
        ("What happened on 8 February 2026?", date(2026, 2, 8), date(2026, 2, 8)),
        ("What happened in March 2026?", date(2026, 3, 1), date(2026, 3, 31)),
        ("Who fought between 1914 and 1918?", date(1914, 1, 1), date(1918, 12, 31)),
        ("What was built in the 1990s?", date(1990, 1, 1), date(1999, 12, 31)),
        ("How did people travel in the 19th century?", date(1801, 1, 1), date(1900, 12, 31)),
        ("How much cheese was made last year?", date(2025, 1, 1), date(2025, 12, 31)),
        ("Who is in the photograph of 1905?", date(1905, 1, 1), date(1905, 12, 31)),
    ],
)
def test_about_then(question: str, start: date, end: date) -> None:
    found = age_need_of(question, AS_OF)
    assert (found.when, found.start, found.end, found.half_life) == ("then", start, end, 0)
    assert all(part in question for part in found.told_by.split(", "))


@pytest.mark.parametrize(
    "question",
    [
        "What causes rain?",
        "What is the current in a wire of two ohms?",
        "How much does a blue whale weigh?",
        "Is RSA with 2048 bits safe?",
        "How many people live at 1,990 metres?",
        "What costs $2000?",
        "What happened on 8 February?",
        "Who invented the telephone?",
        "",
    ],
)
def test_timeless(question: str) -> None:
    assert age_need_of(question, AS_OF) == AgeNeed("any", TODAY)


def test_the_same_year_is_now_then_or_to_come_by_the_day_that_counts_as_today() -> None:
    asked = "What did the council decide about 2026?"
    assert [
        age_need_of(asked, f"{year}-06-01").when for year in (2010, 2026 - AHEAD, 2026, 2027)
    ] == [
        "any",
        "now",
        "now",
        "then",
    ]


def test_a_time_may_be_given_with_the_day() -> None:
    assert age_need_of("Who is it?", "2026-11-15T09:00:00+00:00").as_of == TODAY


def test_the_clocks_go_from_the_shortest_to_the_longest() -> None:
    assert [days for days, _ in CLOCKS] == sorted(days for days, _ in CLOCKS)


@given(st.text(max_size=80), st.dates(date(1990, 1, 1), date(2099, 12, 31)))
def test_any_question_has_one_need(question: str, today: date) -> None:
    found = age_need_of(question, today.isoformat())
    assert found == age_need_of(question, today.isoformat())
    assert found.as_of == today
    assert (found.when == "now") == (found.half_life > 0)
    if found.when == "then":
        assert found.start is not None
        assert found.end is not None
        assert found.start <= found.end < today


@given(st.integers(1500, 2025))
def test_every_year_that_is_over_is_then(year: int) -> None:
    assert age_need_of(f"What happened in {year}?", AS_OF).when == "then"
