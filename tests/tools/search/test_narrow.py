"""Queries that a service takes, and days as services write them."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.settings import Filters
from deepdiver.tools.search import narrow
from deepdiver.tools.search.narrow import asked_days, clipped, iso, span, today, with_sites

DOMAINS = st.lists(st.from_regex(r"[a-z]{1,12}\.(org|com)", fullmatch=True), max_size=12).map(tuple)


@pytest.mark.parametrize(
    ("query", "characters", "words", "short"),
    [
        ("", 10, 0, ""),
        ("one two", 10, 0, "one two"),
        ("one two three", 10, 0, "one two"),
        ("one two three", 7, 0, "one two"),
        ("one two three", 100, 2, "one two"),
        ("  one \n two ", 100, 0, "one two"),
        ("abcdefghij", 4, 0, "abcd"),
    ],
)
def test_a_long_query_is_cut_between_words(
    query: str, characters: int, words: int, short: str
) -> None:
    assert clipped(query, characters, words) == short


@given(st.text(), st.integers(1, 50), st.integers(0, 8))
def test_a_query_always_fits(query: str, characters: int, words: int) -> None:
    short = clipped(query, characters, words)
    assert len(short) <= characters
    assert not words or len(short.split()) <= words
    assert " ".join(query.split()).startswith(short)
    assert bool(short) == bool(query.split())


@pytest.mark.parametrize(
    ("include", "exclude", "asked"),
    [
        ((), (), "holm"),
        (("a.org",), (), "holm site:a.org"),
        (("a.org", "b.org"), (), "holm (site:a.org OR site:b.org)"),
        ((), ("a.org", "b.org"), "holm -site:a.org -site:b.org"),
        (("a.org",), ("x.a.org",), "holm site:a.org -site:x.a.org"),
    ],
)
def test_domains_in_the_query(
    include: tuple[str, ...], exclude: tuple[str, ...], asked: str
) -> None:
    assert (
        with_sites("holm", Filters(include_domains=include, exclude_domains=exclude), 400) == asked
    )


def test_an_engine_that_does_not_know_the_minus_sign() -> None:
    filters = Filters(include_domains=("a.org",), exclude_domains=("b.org",))
    assert with_sites("holm", filters, 400, exclude=False) == "holm site:a.org"


def test_what_does_not_fit_is_left_out_from_the_end() -> None:
    filters = Filters(include_domains=("a.org", "b.org", "c.org"), exclude_domains=("d.org",))
    assert with_sites("holm", filters, 34) == "holm (site:a.org OR site:b.org)"
    assert with_sites("holm", filters, 400, words=4) == "holm (site:a.org OR site:b.org)"
    assert with_sites("holm", filters, 8) == "holm"
    assert with_sites("a long query", filters, 6) == "a long"


@given(st.text(min_size=1), DOMAINS, DOMAINS, st.integers(1, 200), st.integers(0, 20))
def test_domains_never_make_a_query_too_long(
    query: str, include: tuple[str, ...], exclude: tuple[str, ...], characters: int, words: int
) -> None:
    filters = Filters(include_domains=include, exclude_domains=exclude)
    asked = with_sites(query, filters, characters, words)
    assert len(asked) <= characters
    assert not words or len(asked.split()) <= words
    assert asked.startswith(clipped(query, characters, words))


def test_a_range_has_both_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(narrow, "today", lambda: date(2026, 11, 15))
    first, last, later = date(2026, 1, 2), date(2026, 3, 4), date(2027, 1, 1)
    assert span(Filters()) is None
    assert span(Filters(since=first, until=last)) == (first, last)
    assert span(Filters(since=first)) == (first, date(2026, 11, 15))
    assert span(Filters(since=later)) == (later, later)  # never an end before the beginning
    assert span(Filters(until=last)) == (date(1970, 1, 1), last)


def test_what_belongs_into_a_payload_is_what_the_user_said() -> None:
    assert asked_days(Filters()) == {}
    assert asked_days(Filters(since=date(2026, 1, 2))) == {"since": "2026-01-02"}
    assert asked_days(Filters(until=date(2026, 1, 2))) == {"until": "2026-01-02"}


def test_today_is_a_day() -> None:
    assert date(2025, 1, 1) < today() < date(2100, 1, 1)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        (None, ""),
        ("", ""),
        ("2026-02-08", "2026-02-08"),
        (" 2026-02-08T10:00:00Z ", "2026-02-08T10:00:00Z"),
        ("2026-02-31", ""),
        ("2026-02-080", ""),
        ("2026-02-08 10:00:00", "2026-02-08 10:00:00"),
        ("2026-02-08, updated", "2026-02-08"),
        ("Jan 5, 2026", "2026-01-05"),
        ("January 5, 2026", "2026-01-05"),
        ("5 Jan 2026", "2026-01-05"),
        ("2026/01/05", "2026-01-05"),
        ("Sat, 08 Feb 2025 12:00:00 GMT", "2025-02-08T12:00:00+00:00"),
        ("3 days ago", ""),
        ("yesterday", ""),
        ("08.02.2026", ""),
    ],
)
def test_days_as_services_write_them(text: str | None, day: str) -> None:
    assert iso(text) == day


@given(st.text(max_size=40))
def test_no_text_is_read_as_something_that_is_no_day(text: str) -> None:
    found = iso(text)
    assert not found or date.fromisoformat(found[:10]) <= date.max


@given(st.dates(date(1900, 1, 1), date(2099, 12, 31)))
def test_every_day_is_read_however_it_is_written(day: date) -> None:
    for form in narrow.DAY_FORMS:
        assert iso(day.strftime(form)) == day.isoformat()
    assert iso(day.isoformat()) == day.isoformat()
