"""NASA FIRMS against a local server that speaks its CSV: what is asked for, and what is read."""

from __future__ import annotations

import re
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.errors import CallError, CallFault
from deepdiver.tools.osint.feed import MOST_ROWS
from deepdiver.tools.osint.thermal import firms
from deepdiver.tools.osint.thermal.firms import read_table
from deepdiver.tools.osint.thermal.sightings import Detection
from deepdiver.tools.osint.times import Span
from tests.tools.conftest import Desk
from tests.tools.osint.thermal.conftest import (
    GOOD,
    TODAY,
    VIIRS,
    ask,
    days_ago,
    heard,
    paths,
    services,
    table,
    viirs,
)
from tests.tools.search.conftest import Service, reply


async def test_a_key_that_is_refused_with_400_is_reported(desk: Desk, service: Service) -> None:
    service.always = reply(b"Invalid MAP_KEY.", "400 Bad Request")
    with pytest.raises(CallError, match="check the key") as caught:
        await ask(desk, service)
    assert caught.value.fault is CallFault.AUTH


@pytest.mark.parametrize(
    ("told", "fault"),
    [
        (b"Invalid MAP_KEY.", CallFault.AUTH),
        (b"Exceeding allowed transaction limit for last 10 minutes.", CallFault.RATE),
    ],
)
async def test_a_refusal_in_a_sentence_is_an_error(
    desk: Desk, service: Service, told: bytes, fault: CallFault
) -> None:
    service.always = reply(told)
    with pytest.raises(CallError) as caught:
        await ask(desk, service)
    assert caught.value.fault is fault


async def test_the_parameters_of_the_requests(desk: Desk, service: Service) -> None:
    await ask(desk, service, GOOD)
    asked = heard(service)
    area = "35.5305,49.5403,36.9295,50.4397"
    assert sorted(asked) == sorted(
        [f"{source}_NRT", area, days, str(first)]
        for source in ("VIIRS_SNPP", "VIIRS_NOAA20", "VIIRS_NOAA21", "MODIS")
        for days, first in (
            ("5", days_ago(6)),
            ("2", days_ago(1)),
            ("5", days_ago(13)),
            ("2", days_ago(8)),
        )
    )
    assert all(
        request.startswith("GET /api/area/csv/a-key%2Fthat%2Bnobody%20may%3Dsee/")
        for request in service.heard
    )


@pytest.mark.parametrize(
    ("days", "parts"), [(1, ["1"]), (5, ["5"]), (6, ["5", "1"]), (10, ["5", "5"])]
)
async def test_no_request_is_for_more_days_than_the_service_takes(
    desk: Desk, service: Service, days: int, parts: list[str]
) -> None:
    await ask(desk, service, services(), days=days)
    asked = [
        (int(part[2]), date.fromisoformat(part[3]))
        for part in heard(service)
        if part[0] == "MODIS_NRT"
    ]
    assert sorted(str(count) for count, _ in asked) == sorted(2 * parts)
    covered = sorted(first + timedelta(number) for count, first in asked for number in range(count))
    assert covered == [days_ago(number) for number in reversed(range(2 * days))]


async def test_old_days_are_in_the_standard_products_and_have_a_type(
    desk: Desk, service: Service
) -> None:
    old = "2026-03-04"
    standard = table(f"{VIIRS},type", [f"{viirs(old)},2", f"{viirs(old, lat=50.2)},0"])
    service.always = {
        "VIIRS_SNPP_SP/": reply(standard),
        "_SP/": reply(table(f"{VIIRS},type")),
    } | paths(services())
    told = await ask(desk, service, until=old, days=1)
    products = {part[0] for part in heard(service)}
    assert products == {
        "VIIRS_SNPP_SP",
        "VIIRS_SNPP_NRT",
        "VIIRS_NOAA20_SP",
        "VIIRS_NOAA20_NRT",
        "VIIRS_NOAA21_NRT",
        "MODIS_SP",
        "MODIS_NRT",
    }
    fire, plant = told.answers[0].rows
    assert fire.data["type"] == 0
    assert plant.sentence.endswith(
        "; probably a persistent industrial source, a static source by its type."
    )
    assert (plant.confidence, plant.data["persistent"]) == ("low", True)


async def test_an_absent_value_is_left_out(desk: Desk, service: Service) -> None:
    told = await ask(desk, service, services(VIIRS_SNPP=[viirs(TODAY, frp="", bright="")]))
    (row,) = told.answers[0].rows
    assert "MW" not in row.sentence
    assert " K," not in row.sentence
    assert {"frp", "bright_ti4"}.isdisjoint(row.data)


async def test_across_180_degrees_two_boxes_are_asked_for(desk: Desk, service: Service) -> None:
    lines = [viirs(TODAY, lat=-17.0, lon=179.95), viirs(TODAY, lat=-17.2, lon=-179.95)]
    told = await ask(desk, service, services(VIIRS_SNPP=lines), latitude=-17, longitude=180, days=1)
    assert told.answers[0].total == 2
    areas = {part[1] for part in heard(service)}
    assert len(areas) == 2
    assert sorted(area.split(",")[0] == "-180" for area in areas) == [False, True]


async def test_at_a_pole_every_longitude_is_asked_for(desk: Desk, service: Service) -> None:
    await ask(desk, service, services(), latitude=90, longitude=0, days=1)
    assert {part[1] for part in heard(service)} == {"-180,89.5503,180,90"}


async def test_the_strongest_of_very_many_are_kept_and_that_is_noted(
    desk: Desk, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(firms, "MOST_PIXELS", 30)
    lines = [
        viirs(TODAY, lat=round(49.7 + 0.01 * number, 2), frp=str(number)) for number in range(50)
    ]
    told = await ask(desk, service, services(VIIRS_SNPP=lines))
    (answer,) = told.answers
    assert (answer.total, len(answer.rows)) == (30, MOST_ROWS)
    assert answer.rows[0].data["frp"] == 49.0
    assert answer.note == "20 weak pixels of very many are left out of these counts"


async def test_days_ahead_are_not_asked_for(desk: Desk, service: Service) -> None:
    told = await ask(desk, service, GOOD, until="2026-12-24")
    assert told.answers[0].title.endswith("2026-11-05 to 2026-11-11")


WEEK = Span(days_ago(6), TODAY)


def read(text: str) -> list[Detection] | CallFault:
    """Return what stands in a table, or why it is none."""
    try:
        return read_table(text, WEEK)
    except CallError as error:
        return error.fault


@given(st.text(max_size=300))
def test_any_text_is_a_table_or_malformed(text: str) -> None:
    for body in (text, f"{VIIRS}\n{text}"):
        assert read(body) in ([], CallFault.MALFORMED)


@given(st.integers(0, 10_000), st.integers(0, 255))
def test_a_table_with_one_character_changed_is_read_or_malformed(place: int, code: int) -> None:
    whole = table(VIIRS, [viirs(TODAY), viirs(days_ago(1))]).decode()
    place %= len(whole)
    found = read(whole[:place] + chr(code) + whole[place + 1 :])
    assert found is CallFault.MALFORMED or len(found) <= 2


@given(st.integers(1, 10_000))
def test_a_table_that_was_cut_within_a_line_is_malformed(place: int) -> None:
    whole = table(VIIRS, [viirs(TODAY), viirs(days_ago(1))]).decode()
    place %= len(whole)
    cut = whole[:place]
    complete = [whole[: match.start()] for match in re.finditer("\n", whole)]
    if cut.rstrip("\n") in complete:
        assert len(read_table(cut, WEEK)) == cut.rstrip("\n").count("\n")
    else:
        with pytest.raises(CallError):
            read_table(cut, WEEK)
