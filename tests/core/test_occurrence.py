"""When and where that was of which a finding tells."""

from __future__ import annotations

import pytest

from deepdiver.core.occurrence import Occurrence, occurrence_of, towns_named_in
from deepdiver.core.record import Finding, Passage, Quote, Source, SourceKind
from deepdiver.core.time_and_place import Position

TEXT = (
    "The log of Vantskär. 2026-02-08 04:47 UTC: smoke at 63.214 N, 19.082 E. The harbour was "
    "closed."
)


def made(quote: str, text: str = TEXT, published: str = "") -> Occurrence:
    start = text.index(quote)
    passage = Passage(snapshot="h", start=start, end=start + len(quote))
    finding = Finding(
        id="f", statement=quote, quotes=(Quote(source="s", passage=passage, text=quote),)
    )
    source = Source(
        id="s", kind=SourceKind.PAGE, url="u", title="t", snapshot="h", published=published
    )
    return occurrence_of(finding, source, text)


def test_its_own_words_go_first() -> None:
    seen = made(
        "2026-02-08 04:47 UTC: smoke at 63.214 N, 19.082 E.", published="2026-03-01T10:00:00Z"
    )
    assert seen.timestamp == "2026-02-08T04:47Z"
    assert seen.position == Position(63.214, 19.082)


@pytest.mark.parametrize(
    ("published", "wanted"),
    [
        ("2026-02-08T14:00:00Z", "2026-02-08T14:00Z"),
        ("2026-02-08T14:00:00+01:00", "2026-02-08T13:00Z"),
        ("2026-02-08", ""),
        ("2026-02", ""),
        ("", ""),
        ("yesterday, at Ten", ""),
    ],
)
def test_else_the_minute_of_publication_counts_and_a_bare_day_does_not(
    published: str, wanted: str
) -> None:
    assert made("The harbour was closed.", "The harbour was closed.", published).timestamp == wanted


def test_a_finding_that_tells_neither_when_nor_where_says_so() -> None:
    assert made("Nothing happened.", "Nothing happened.") == Occurrence("f")


# -- towns that are only named


def told(quote: str, title: str = "t") -> Occurrence:
    passage = Passage(snapshot="h", start=0, end=len(quote))
    finding = Finding(
        id="f", statement=quote, quotes=(Quote(source="s", passage=passage, text=quote),)
    )
    return occurrence_of(
        finding, Source(id="s", kind=SourceKind.PAGE, url="u", title=title, snapshot="h"), quote
    )


def test_the_only_town_that_is_named_is_where_it_was_give_or_take_its_size() -> None:
    small, large = (
        told("An explosion shook Merefa.").position,
        told("An explosion shook Kharkiv.").position,
    )
    assert small is not None
    assert large is not None
    assert (small.lat, small.lon) == pytest.approx((49.82, 36.05), abs=0.02)
    assert 2.0 <= small.within_km < large.within_km <= 20.0


def test_two_towns_are_no_place_and_a_country_is_none() -> None:
    assert told("A train was late in Kharkiv and in Odesa.").position is None
    assert told("Ukraine reported strikes.").position is None


@pytest.mark.parametrize(
    "text",
    [
        "Alma is 17, and Siri is 9.",
        "Victoria likes boats.",
        "On Sunday Paris Hilton sang.",
        "He lives at Rose Cottage.",
        "",
        "in",
    ],
)
def test_a_mere_name_is_no_place(text: str) -> None:
    assert towns_named_in(text) == []


@pytest.mark.parametrize(
    ("text", "town"),
    [
        ("Smoke was seen near Merefa.", "Merefa"),
        ("Russian strike on Kharkiv kills two", "Kharkiv"),
        ("A blast rocked the city of Odesa.", "Odesa"),
        ("In Kharkov a depot burned.", "Kharkiv"),
        ("An earthquake shook Izmir.", "İzmir"),
        ("It happened south of Kharkiv, in Merefa.", "Merefa"),
        ("Shelling in central Kharkiv.", "Kharkiv"),
    ],
)
def test_what_is_placed_somewhere_is_there(text: str, town: str) -> None:
    assert town in [place.name for place in towns_named_in(text)]


def test_failing_the_words_the_title_says_where() -> None:
    assert told("Two were hurt.", "Blast in Merefa").position == told("Blast in Merefa.").position
    assert told("Two were hurt in Odesa.", "Blast in Merefa").position == told("In Odesa.").position
