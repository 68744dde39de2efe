"""Arguments that feeds share: what is refused, and what strings are read as."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from deepdiver.core.settings import Settings
from deepdiver.tools.osint.arguments import (
    MOST_DAYS,
    Asn,
    CountryCode,
    Days,
    Keywords,
    Latitude,
    Longitude,
    ManyDays,
    Period,
    RadiusKm,
    split_list,
)
from deepdiver.tools.osint.times import FIRST_DAY, LAST_DAY, Span
from tests.tools.osint.faults import refusal as refused

TODAY = date(2026, 11, 11)


def refusal(kind: Any, given: Any) -> str:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(kind).validate_python(given)
    return str(caught.value.errors()[0]["msg"])


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        (Latitude, "90.0001"),
        (Latitude, -91),
        (Latitude, "north"),
        (Latitude, "49,99"),
        (Latitude, "nan"),
        (Longitude, 180.5),
        (Longitude, "-181"),
        (RadiusKm, 0),
        (RadiusKm, "-1"),
        (RadiusKm, 500.1),
        (Days, 0),
        (Days, 11),
        (Days, "7.5"),
        (Days, "a week"),
        (ManyDays, 367),
        (Asn, 0),
        (Asn, "AS0"),
        (Asn, "4294967295"),
        (Asn, "ASX"),
        (Asn, "-3"),
        (Keywords, []),
        (Keywords, ""),
        (Keywords, [7]),
        (Keywords, {"a": 1}),
        (Keywords, "x" * 81),
        (Keywords, ["a"] * 13),
    ],
)
def test_bad_values_are_refused(kind: Any, given: Any) -> None:
    assert refusal(kind, given)


@pytest.mark.parametrize(
    "given", ["XX", "xx", "ZZ", "Narnia", "", " ", "U", "UKRAINIA", 7, None, "XK"]
)
def test_unknown_countries_are_refused(given: Any) -> None:
    assert "there is no country" in refusal(CountryCode, given)


def test_the_refusal_of_a_country_is_short() -> None:
    assert refusal(CountryCode, "xx") == "Value error, there is no country XX"
    assert len(refusal(CountryCode, "x" * 1_000)) < 120


@pytest.mark.parametrize(
    ("kind", "given", "means"),
    [
        (Latitude, "49.99", 49.99),
        (Latitude, -90, -90.0),
        (Longitude, "180", 180.0),
        (RadiusKm, "500", 500.0),
        (Days, "7", 7),
        (Days, 10, 10),
        (ManyDays, "366", 366),
        (Asn, "AS3255", 3255),
        (Asn, "as 3255", 3255),
        (Asn, " 3255 ", 3255),
        (Asn, 4_294_967_294, 4_294_967_294),
        (CountryCode, "ua", "UA"),
        (CountryCode, " UA ", "UA"),
        (CountryCode, "UKR", "UA"),
        (CountryCode, "Ukraine", "UA"),
        (CountryCode, "UK", "GB"),
        (Keywords, "Kharkiv, strikes", ("Kharkiv", "strikes")),
        (Keywords, "Kharkiv; missile  strike\n", ("Kharkiv", "missile strike")),
        (Keywords, ["Kharkiv", " "], ("Kharkiv",)),
        (Keywords, ("the strike",), ("the strike",)),
    ],
)
def test_strings_are_read_as_what_they_mean(kind: Any, given: Any, means: Any) -> None:
    assert TypeAdapter(kind).validate_python(given) == means


def test_lists_are_split_and_other_things_left_alone() -> None:
    assert split_list("a,b") == ("a", "b")
    assert split_list(7) == 7
    assert split_list([1, "a"]) == [1, "a"]


def test_keywords_of_a_script_without_small_letters() -> None:
    assert TypeAdapter(Keywords).validate_python("北京") == ("北京",)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"since": "2026-11-11", "until": "2026-11-10"}, "since is later than until"),
        ({"since": "2026-11-11", "days": 3}, "give since or days, not both"),
        ({"since": "2024-01-01", "until": "2026-01-01"}, f"more than {MOST_DAYS} days apart"),
        ({"days": 0}, "greater than or equal to 1"),
    ],
)
def test_periods_that_are_refused(given: dict[str, Any], why: str) -> None:
    with pytest.raises(ValidationError, match=why):
        Period.model_validate(given)


@pytest.mark.parametrize(
    ("given", "first", "last"),
    [
        ({}, "2026-11-05", "2026-11-11"),
        ({"days": "1"}, "2026-11-11", "2026-11-11"),
        ({"days": 30}, "2026-10-13", "2026-11-11"),
        ({"until": "2026-11-01"}, "2026-10-26", "2026-11-01"),
        ({"until": "2026-11-01", "days": 2}, "2026-10-31", "2026-11-01"),
        ({"since": "2026-11-01"}, "2026-11-01", "2026-11-11"),
        ({"since": "2026-11-01", "until": "2026-11-01"}, "2026-11-01", "2026-11-01"),
        ({"since": "2026-12-01"}, "2026-12-01", "2026-12-01"),
        ({"since": "2020-01-01"}, "2020-01-01", "2020-12-31"),
    ],
)
def test_the_days_that_are_meant(given: dict[str, Any], first: str, last: str) -> None:
    period = Period.model_validate(given)
    assert period.span(TODAY, 7) == Span(date.fromisoformat(first), date.fromisoformat(last))
    assert period.timed is bool(given)


def test_a_payload_has_the_days_as_they_were_given() -> None:
    assert Period().asked_days(Settings()) == {}
    period = Period.model_validate({"until": "2026-11-11", "days": "7"})
    assert period.asked_days(Settings()) == {"until": "2026-11-11", "days": 7}
    assert Period().asked_days(Settings(as_of=TODAY)) == {"as_of": "2026-11-11"}


@given(st.dates(FIRST_DAY, LAST_DAY), st.integers(min_value=1, max_value=MOST_DAYS))
def test_the_days_before_are_as_many_and_adjoin(last: date, days: int) -> None:
    span = Period(until=last, days=days).span(TODAY, 7)
    assert span.days == days == len(span.every()) == span.before.days
    assert span.before.last + timedelta(1) == span.first
    assert span.every()[0] == span.first
    assert span.every()[-1] == span.last
    assert not set(span.every()) & set(span.before.every())


@given(
    st.dates(FIRST_DAY, LAST_DAY),
    st.none() | st.dates(FIRST_DAY, LAST_DAY),
    st.dates(FIRST_DAY, LAST_DAY),
)
def test_any_period_is_refused_or_in_order(since: date, until: date | None, now: date) -> None:
    try:
        span = Period(since=since, until=until).span(now, 7)
    except ValidationError:
        assert until is not None
        assert until < since or (until - since).days >= MOST_DAYS
        return
    assert span.first == since
    assert 1 <= span.days <= MOST_DAYS


@given(
    st.one_of(
        st.text(max_size=30),
        st.integers(),
        st.floats(),
        st.none(),
        st.lists(st.text(max_size=3), max_size=3),
    )
)
@pytest.mark.parametrize("kind", [Latitude, RadiusKm, Days, Asn, CountryCode, Keywords])
def test_anything_is_taken_or_refused(kind: Any, given: Any) -> None:
    adapter = TypeAdapter[Any](kind)
    if not refused(ValidationError, lambda: adapter.validate_python(given)):
        made = adapter.validate_python(given)
        assert adapter.validate_python(made) == made
