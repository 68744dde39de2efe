"""Thermal anomalies, from a local server that speaks FIRMS's CSV, through the gateway and store."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from deepdiver.core.settings import Settings
from deepdiver.errors import CallError, CallFault
from deepdiver.gateway import Mode
from deepdiver.tools.osint import detect_thermal_anomalies
from deepdiver.tools.osint.detect_thermal_anomalies import FEED
from deepdiver.tools.osint.thermal import firms
from tests.tools.conftest import Desk
from tests.tools.osint.faults import FeedFaults
from tests.tools.osint.thermal.conftest import (
    CASE,
    GOOD,
    TODAY,
    ask,
    days_ago,
    paths,
    services,
    viirs,
)
from tests.tools.search.conftest import Service, reply


class TestFaults(FeedFaults):
    case = CASE

    @pytest.mark.parametrize(
        ("status", "fault"),
        [
            (302, CallFault.REQUEST),
            (400, CallFault.AUTH),  # how it refuses a key
            (401, CallFault.AUTH),
            (403, CallFault.AUTH),
            (404, CallFault.REQUEST),
            (429, CallFault.RATE),
            (500, CallFault.SERVER),
        ],
    )
    async def test_a_refusal_is_told_apart_and_does_not_repeat_the_key(
        self,
        desk: Desk,
        service: Service,
        caplog: pytest.LogCaptureFixture,
        status: int,
        fault: CallFault,
    ) -> None:
        await super().test_a_refusal_is_told_apart_and_does_not_repeat_the_key(
            desk, service, caplog, status, fault
        )


@pytest.mark.parametrize(
    "given",
    [
        {"latitude": 91},
        {"latitude": "north"},
        {"longitude": -180.5},
        {"longitude": "nan"},
        {"radius_km": -1},
        {"radius_km": 0},
        {"radius_km": 501},
        {"days": 0},
        {"days": 11},
        {"days": "many"},
        {"until": "2026-02-30"},
        {"until": "tomorrow"},
        {"min_confidence": "sure"},
        {"country_code": "UA"},
    ],
)
async def test_bad_arguments_are_refused_before_any_call(
    desk: Desk, service: Service, given: dict[str, Any]
) -> None:
    with pytest.raises(ValueError, match=f"'{next(iter(given))}'"):
        await ask(desk, service, **given)
    assert service.heard == []
    assert desk.store.journal.rows(desk.run) == []


async def test_a_replay_on_another_day_makes_no_request(desk: Desk, service: Service) -> None:
    service.always = paths(GOOD)
    live = await ask(desk, service, as_of=None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(firms, "today", lambda settings: date(2031, 1, 1))
        assert await ask(desk, service, mode=Mode.REPLAY, as_of=None, keys={}) == live
    assert len(service.heard) == 16


async def test_a_satellite_that_fails_costs_its_own_rows(desk: Desk, service: Service) -> None:
    said = paths(GOOD)
    service.always = {**said, "VIIRS_NOAA20_NRT/": reply(b"", "500 Internal Server Error")}
    told = await ask(desk, service)
    assert told.failures == (
        "NASA FIRMS (VIIRS on NOAA-20) failed: firms answered 500",
        "NASA FIRMS (VIIRS on NOAA-20, the days before) failed: firms answered 500",
    )
    (answer,) = told.answers
    assert answer.total == 4
    assert "NOAA-20" not in "".join(row.sentence for row in answer.rows)
    assert "against 1 in the 7 days before" in answer.summary


async def test_without_the_days_before_nothing_is_compared(desk: Desk, service: Service) -> None:
    said = paths(GOOD)
    service.always = {f"/{days_ago(13)}": reply(b"", "500 Internal Server Error"), **said}
    told = await ask(desk, service)
    assert len(told.failures) == 4
    assert "5 sightings" in told.answers[0].summary
    assert told.answers[0].summary.endswith(", and the days before are not comparable.")


async def test_the_days_before_alone_are_not_an_answer(desk: Desk, service: Service) -> None:
    said = paths(GOOD)
    service.always = {f"/{days_ago(6)}": reply(b"", "500 Internal Server Error"), **said}
    with pytest.raises(CallError, match="NASA FIRMS \\(MODIS on Terra and Aqua\\) failed"):
        await ask(desk, service)


async def test_the_documented_format(desk: Desk, service: Service) -> None:
    told = await ask(desk, service, GOOD)
    (answer,) = told.answers
    assert (answer.service, answer.kind, answer.total) == ("NASA FIRMS", "satellite", 5)
    assert (
        answer.title
        == "Thermal anomalies within 50 km of 49.99 N, 36.23 E, 2026-11-05 to 2026-11-11"
    )
    assert answer.summary == (
        "NASA FIRMS shows 5 sightings of thermal anomalies within 50 km of 49.99 N, 36.23 E in "
        "2026-11-05 to "
        "2026-11-11 (by day: 2026-11-05: 0, 2026-11-06: 0, 2026-11-07: 0, 2026-11-08: 1, "
        "2026-11-09: 1, 2026-11-10: 1, "
        "2026-11-11: 2), against 1 in the 7 days before (2026-10-29 to 2026-11-04); without "
        "probably persistent "
        "industrial sources 5 against 1."
    )
    assert answer.note == ""
    first = answer.rows[0]  # the strongest of the newest day
    assert first.sentence == (
        "2026-11-11 08:12 UTC: MODIS on Terra saw a thermal anomaly at 49.95 N, 36.3 E, 6.7 km "
        "from the centre of the "
        "search, fire radiative power 18.4 MW, brightness temperature 330.1 K, confidence 85 of "
        "100, by day."
    )
    assert (first.when, first.lat, first.lon, first.confidence) == (
        "2026-11-11T08:12:00Z",
        49.95,
        36.3,
        "high",
    )
    assert first.data == {
        "latitude": 49.95,
        "longitude": 36.3,
        "acq_date": "2026-11-11",
        "acq_time": "0812",
        "satellite": "Terra",
        "instrument": "MODIS",
        "confidence": "85",
        "brightness": 330.1,
        "bright_t31": 290.4,
        "frp": 18.4,
        "daynight": "D",
        "distance_km": 6.7,
        "pixels": 1,
        "hot_days": 2,
        "persistent": False,
    }
    sentences = [row.sentence for row in answer.rows]
    assert [sentence[:16] for sentence in sentences] == [
        "2026-11-11 08:12",
        "2026-11-10 00:47",
        "2026-11-09 11:05",
        "2026-11-08 08:12",
        "2026-11-11 11:05",
    ]
    assert "VIIRS on NOAA-20 saw" in sentences[1]
    assert sentences[2].endswith("confidence high, at night.")
    assert {"bright_ti4": 341.2, "bright_ti5": 295.76}.items() <= answer.rows[1].data.items()
    assert [row.confidence for row in answer.rows] == ["high", "medium", "high", "low", "medium"]


async def test_persistent_sources_are_flagged_and_come_last(desk: Desk, service: Service) -> None:
    plant = [viirs(days_ago(day), lat=49.8, lon=36.1, frp="80.0") for day in range(0, 14, 2)]
    fire = [viirs(days_ago(1), frp="3.0")]
    told = await ask(desk, service, services(VIIRS_SNPP=plant + fire))
    (answer,) = told.answers
    assert answer.total == 5
    assert [row.data["persistent"] for row in answer.rows] == [False, True, True, True, True]
    assert answer.rows[1].sentence.endswith(
        "; probably a persistent industrial source, hot on 7 of 14 days."
    )
    assert {row.confidence for row in answer.rows[1:]} == {"low"}
    assert answer.summary.endswith(
        "against 3 in the 7 days before (2026-10-29 to 2026-11-04); without probably persistent "
        "industrial sources 1 "
        "against 0."
    )


async def test_adjoining_pixels_are_listed_once(desk: Desk, service: Service) -> None:
    pixels = [
        viirs(TODAY, lat=round(49.99 + 0.004 * number, 4), frp=str(10 + number))
        for number in range(3)
    ]
    told = await ask(desk, service, services(VIIRS_SNPP=pixels))
    (row,) = told.answers[0].rows
    assert row.sentence.endswith(", the strongest of 3 adjoining pixels.")
    assert (row.data["frp"], row.data["pixels"], told.answers[0].total) == (12.0, 3, 1)


async def test_uncertain_sightings_can_be_left_out(desk: Desk, service: Service) -> None:
    for wanted, total in (("low", 5), ("medium", 4), ("HIGH", 2)):
        assert (await ask(desk, service, GOOD, min_confidence=wanted)).answers[0].total == total
    assert len(service.heard) == 16  # it is chosen from what was brought, and not asked for anew


async def test_a_resumed_run_that_asked_on_two_days_has_a_note(
    desk: Desk, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A satellite was not asked before the run stopped.

    What the others said stands in the journal.
    """
    service.always = paths(GOOD)
    others = {name: title for name, title in firms.INSTRUMENTS.items() if name != "MODIS"}
    with monkeypatch.context() as patch:
        patch.setattr(detect_thermal_anomalies, "INSTRUMENTS", others)
        patch.setattr(firms, "today", lambda settings: days_ago(1))
        assert (await ask(desk, service, as_of=None)).answers[0].note == ""
    monkeypatch.setattr(firms, "today", lambda settings: TODAY)
    told = await ask(desk, service, as_of=None)
    assert told.answers[0].note == "parts of it were asked for on different days"


def test_it_says_which_key_is_missing() -> None:
    assert (
        FEED.missing(Settings())
        == "set FIRMS_MAP_KEY (free: firms.modaps.eosdis.nasa.gov/api/map_key)"
    )
