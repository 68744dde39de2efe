"""NASA FIRMS against a local server that speaks its CSV, through the real gateway and store."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from deepdiver.core.settings import Settings
from deepdiver.errors import CallError, CallFault
from deepdiver.gateway import Mode
from deepdiver.tools.osint import detect_thermal_anomalies
from deepdiver.tools.osint.arguments import Span
from deepdiver.tools.osint.detect_thermal_anomalies import FEED, Asked, _read
from deepdiver.tools.osint.feed import MOST_ROWS, Told, arguments_of
from deepdiver.tools.osint.thermal import Detection
from tests.tools.conftest import Desk
from tests.tools.osint.faults import FeedCase, FeedFaults
from tests.tools.search.conftest import Service, reply

# The columns of the area API in near real time, and of its standard products, which have a type
# besides.
VIIRS = (
    "latitude,longitude,bright_ti4,scan,track,acq_date,acq_time,satellite,instrument,confidence,version,"
    "bright_ti5,frp,daynight"
)
MODIS = (
    "latitude,longitude,brightness,scan,track,acq_date,acq_time,satellite,instrument,confidence,version,"
    "bright_t31,frp,daynight"
)
TODAY = date(2026, 11, 11)
ARGS = {"latitude": "49.99", "longitude": "36.23", "radius_km": "50", "days": "7"}


def viirs(
    day: date | str, time: str = "1105", lat: float = 49.9935, lon: float = 36.2304, **more: Any
) -> str:
    field = {
        "satellite": "N",
        "confidence": "n",
        "frp": "12.3",
        "bright": "341.2",
        "daynight": "D",
        **more,
    }
    return (
        f"{lat},{lon},{field['bright']},0.43,0.38,{day},{time},{field['satellite']},VIIRS,{field['confidence']},"
        f"2.0NRT,295.76,{field['frp']},{field['daynight']}"
    )


def modis(
    day: date | str,
    time: str = "0812",
    lat: float = 49.95,
    lon: float = 36.3,
    confidence: str = "85",
) -> str:
    return f"{lat},{lon},330.1,1.0,1.0,{day},{time},Terra,MODIS,{confidence},6.1NRT,290.4,18.4,D"


def table(header: str, lines: Iterable[str] = ()) -> bytes:
    return "\n".join([header, *lines]).encode()


def days_ago(days: int) -> date:
    return TODAY - timedelta(days)


def services(**lines: Iterable[str]) -> dict[str, bytes]:
    """Return what each source says; one that is not named has nothing."""
    said = {
        f"{name}_NRT/": table(VIIRS, lines.get(name, ()))
        for name in ("VIIRS_SNPP", "VIIRS_NOAA20", "VIIRS_NOAA21")
    }
    return said | {"MODIS_NRT/": table(MODIS, lines.get("MODIS", ()))}


def paths(said: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return an answer of 200 for each piece of a path."""
    return {piece: reply(body) for piece, body in said.items()}


GOOD = services(
    VIIRS_SNPP=[viirs(day) for day in (days_ago(0), days_ago(8), "2026-10-10")],
    VIIRS_NOAA20=[
        viirs(days_ago(1), "47", -12.5, 36.2, satellite="N20"),
        viirs(days_ago(1), "47", satellite="N20"),
    ],
    VIIRS_NOAA21=[viirs(days_ago(2), satellite="N21", confidence="h", daynight="N")],
    MODIS=[modis(days_ago(0)), modis(days_ago(3), confidence="20")],
)


def heard(service: Service) -> list[list[str]]:
    """Return source, area, days and first day of each request."""
    return [request.split(" ", 2)[1].split("/")[5:] for request in service.heard]


def _asked(**args: Any) -> Asked:
    found = arguments_of(FEED, {**ARGS, **args})
    assert isinstance(found, Asked)
    return found


async def ask(
    desk: Desk,
    service: Service,
    said: dict[str, bytes] | None = None,
    mode: Mode = Mode.LIVE,
    as_of: date | None = TODAY,
    keys: dict[str, SecretStr] | None = None,
    **args: Any,
) -> Told:
    """Ask as a reasoner does."""
    if said is not None:
        service.always = paths(said)
    options = CASE.options(service.url, as_of=as_of) | ({} if keys is None else {"keys": keys})
    return await FEED.ask(_asked(**args), desk.gateway(mode, **options))


WRONG = (
    table(VIIRS, [viirs("yesterday")]),
    table(VIIRS, [viirs("0")]),  # no seconds since 1970
    table(VIIRS, [viirs(days_ago(0), "2560")]),
    table(VIIRS, [viirs(days_ago(0), lat=91.0)]),
    table(VIIRS, [viirs(days_ago(0), frp="nan")]),
    table(VIIRS, [viirs(days_ago(0), confidence="sure")]),
    table(VIIRS, [viirs(days_ago(0)), "49.9,36.2,300"]),
    table(VIIRS, [viirs(days_ago(0)) + ",more"]),
    table(VIIRS.replace("frp", "power"), [viirs(days_ago(0))]),
    b'latitude,"longitude\n',
    b"Invalid API call.",
    b"[]",
)
CASE = FeedCase(
    FEED,
    service="firms",
    args=ARGS,
    good=GOOD,
    empty=services(),
    wrong=WRONG,
    key="firms",
    settings={"as_of": TODAY},
    vary=lambda number: {"longitude": str(36 + number / 1_000)} if number else {},
)


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


@pytest.mark.parametrize("name", ["latitude", "longitude"])
def test_what_it_cannot_do_without(name: str) -> None:
    with pytest.raises(ValueError, match=f"it needs the argument '{name}'"):
        arguments_of(FEED, {key: value for key, value in ARGS.items() if key != name})


async def test_a_replay_on_another_day_asks_nobody(desk: Desk, service: Service) -> None:
    service.always = paths(GOOD)
    live = await ask(desk, service, as_of=None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(detect_thermal_anomalies, "today", lambda settings: date(2031, 1, 1))
        assert await ask(desk, service, mode=Mode.REPLAY, as_of=None, keys={}) == live
    assert len(service.heard) == 16


async def test_a_key_that_is_refused_with_400_is_told_so(desk: Desk, service: Service) -> None:
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
async def test_a_refusal_in_a_sentence_is_not_nothing_found(
    desk: Desk, service: Service, told: bytes, fault: CallFault
) -> None:
    service.always = reply(told)
    with pytest.raises(CallError) as caught:
        await ask(desk, service)
    assert caught.value.fault is fault


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


async def test_the_days_before_alone_are_no_answer(desk: Desk, service: Service) -> None:
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


async def test_what_is_asked(desk: Desk, service: Service) -> None:
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
        "VIIRS_SNPP_SP", "VIIRS_SNPP_NRT", "VIIRS_NOAA20_SP", "VIIRS_NOAA20_NRT", "VIIRS_NOAA21_NRT", "MODIS_SP",
        "MODIS_NRT",
    }  # fmt: skip
    fire, plant = told.answers[0].rows
    assert fire.data["type"] == 0
    assert plant.sentence.endswith(
        "; probably a persistent industrial source, a static source by its type."
    )
    assert (plant.confidence, plant.data["persistent"]) == ("low", True)


async def test_what_stays_hot_is_flagged_and_comes_last(desk: Desk, service: Service) -> None:
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


async def test_what_the_service_is_less_sure_of_can_be_left_out(
    desk: Desk, service: Service
) -> None:
    for wanted, total in (("low", 5), ("medium", 4), ("HIGH", 2)):
        assert (await ask(desk, service, GOOD, min_confidence=wanted)).answers[0].total == total
    assert len(service.heard) == 16  # it is chosen from what was brought, and not asked for anew


async def test_an_absent_value_is_not_told(desk: Desk, service: Service) -> None:
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


async def test_of_very_many_the_strongest_are_kept_and_that_is_told(
    desk: Desk, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(detect_thermal_anomalies, "MOST_PIXELS", 30)
    lines = [
        viirs(TODAY, lat=round(49.7 + 0.01 * number, 2), frp=str(number)) for number in range(50)
    ]
    told = await ask(desk, service, services(VIIRS_SNPP=lines))
    (answer,) = told.answers
    assert (answer.total, len(answer.rows)) == (30, MOST_ROWS)
    assert answer.rows[0].data["frp"] == 49.0
    assert answer.note == "20 weak pixels of very many are left out of these counts"


async def test_what_lies_ahead_is_not_asked_for(desk: Desk, service: Service) -> None:
    told = await ask(desk, service, GOOD, until="2026-12-24")
    assert told.answers[0].title.endswith("2026-11-05 to 2026-11-11")


async def test_a_resumed_run_that_asked_on_two_days_says_so(
    desk: Desk, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A satellite was not asked before the run stopped.

    What the others said stands in the journal.
    """
    service.always = paths(GOOD)
    others = {
        name: title for name, title in detect_thermal_anomalies.SOURCES.items() if name != "MODIS"
    }
    with monkeypatch.context() as patch:
        patch.setattr(detect_thermal_anomalies, "SOURCES", others)
        patch.setattr(detect_thermal_anomalies, "today", lambda settings: days_ago(1))
        assert (await ask(desk, service, as_of=None)).answers[0].note == ""
    monkeypatch.setattr(detect_thermal_anomalies, "today", lambda settings: TODAY)
    told = await ask(desk, service, as_of=None)
    assert told.answers[0].note == "parts of it were asked for on different days"


def test_the_address_holds_no_key() -> None:
    assert (
        FEED.missing(Settings())
        == "set FIRMS_MAP_KEY (free: firms.modaps.eosdis.nasa.gov/api/map_key)"
    )


def test_arguments_as_reasoners_give_them() -> None:
    args = arguments_of(FEED, {"latitude": "49.99", "longitude": "36.23"})
    assert args.model_dump() == {
        "latitude": 49.99, "longitude": 36.23, "radius_km": 50.0, "days": 7, "until": None, "min_confidence": "low",
    }  # fmt: skip


WEEK = Span(days_ago(6), TODAY)


def read(text: str) -> list[Detection] | CallFault:
    """Return what stands in a table, or why it is none."""
    try:
        return _read(text, WEEK)
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
        assert len(_read(cut, WEEK)) == cut.rstrip("\n").count("\n")
    else:
        with pytest.raises(CallError):
            _read(cut, WEEK)
