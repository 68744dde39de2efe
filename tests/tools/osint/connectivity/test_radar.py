"""Cloudflare Radar, from a local server with its format, through the real gateway and store."""

from __future__ import annotations

import json
from datetime import date
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from deepdiver.core.settings import Settings
from deepdiver.gateway import Gateway, Mode
from deepdiver.tools.osint.arguments import Period
from deepdiver.tools.osint.connectivity import radar
from deepdiver.tools.osint.connectivity.outages import CountryOrNetwork
from deepdiver.tools.osint.feed import (
    MOST_ROWS,
    Arguments,
    FeedResult,
    IntelligenceType,
    ServiceAnswer,
)
from deepdiver.tools.osint.services import ask_services
from tests.tools.conftest import Desk
from tests.tools.osint.faults import KEY, FeedCase, FeedFaults, check_row
from tests.tools.search.conftest import Service, reply

UKRAINE = CountryOrNetwork("country", "UA", "Ukraine")


class Alone:
    """Asks this service alone, as a feed does."""

    name, about, kind = "radar", "outages", IntelligenceType.CONNECTIVITY
    arguments: type[Arguments] = Period

    def missing(self, settings: Settings) -> str | None:
        return None

    async def ask(self, args: Period, gateway: Gateway) -> FeedResult:
        return await ask_services({"Cloudflare Radar": radar.outages(args, UKRAINE, gateway)})


def annotation(
    start: str = "2026-11-11T14:00:00Z", end: str | None = "2026-11-11T16:30:00Z", **more: Any
) -> dict[str, Any]:
    """Return an outage as /radar/annotations/outages gives it."""
    return {
        "id": "551",
        "dataSource": "ALL",
        "description": 'Power cuts after strikes on "substations"\nin the east',
        "scope": "Kharkiv Oblast",
        "startDate": start,
        "endDate": end,
        "locations": ["UA"],
        "asns": [3255],
        "origins": [],
        "eventType": "OUTAGE",
        "linkedUrl": "https://example.org/post",
        "asnsDetails": [
            {"asn": "3255", "name": "UARNET", "location": {"code": "UA", "name": "Ukraine"}}
        ],
        "locationsDetails": [{"name": "Ukraine", "code": "UA"}],
        "originsDetails": [],
        "outage": {"outageCause": "POWER_OUTAGE", "outageType": "REGIONAL"},
        **more,
    }


def body(*annotations: Any, **more: Any) -> bytes:
    return json.dumps(
        {"success": True, "errors": [], "result": {"annotations": annotations}, **more}
    ).encode()


CASE = FeedCase(
    Alone(),
    service="cloudflare_radar",
    args={"days": 7},
    good=body(annotation(), annotation("2026-11-01T00:00:00Z", "2026-11-02T00:00:00Z")),
    empty=body(),
    wrong=(
        b"[]",
        b"{}",
        b'{"success": false, "errors": [{"message": "no"}], "result": {}}',
        body(success=False),
        b'{"success": true, "result": null}',
        b'{"success": true, "result": {"annotations": {}}}',
        body("text"),
        body({"id": "1"}),
        body(annotation("yesterday")),
        body(annotation("0001-01-01T00:00:00+14:00")),
        body({**annotation(), "startDate": 1_700_000_000}),
        body(annotation("2026-11-11T14:00:00")),  # no zone: nobody knows when that was
        body(annotation(outage="yes")),
    ),
    key="cloudflare_radar",
    settings={"as_of": date(2026, 11, 11)},
    vary=lambda number: {"days": number + 1},
)


class TestFaults(FeedFaults):
    case = CASE


async def ask(
    desk: Desk, service: Service, said: bytes, subject: CountryOrNetwork = UKRAINE, **args: Any
) -> ServiceAnswer:
    service.always = reply(said)
    gateway = desk.gateway(**CASE.options(service.url))
    (answer,) = (await radar.outages(Period(**args), subject, gateway)).answers
    return answer


async def test_the_documented_format(desk: Desk, service: Service) -> None:
    going_on = annotation("2026-11-03T00:00:00Z", None, description=None, scope=None, outage={})
    said = body(annotation(), going_on, annotation("2026-11-01T00:00:00Z", "2026-11-02T00:00:00Z"))
    answer = await ask(desk, service, said)
    assert (answer.service, answer.total) == ("Cloudflare Radar", 2)
    assert [row.sentence for row in answer.rows] == [
        "2026-11-11 14:00 UTC: Cloudflare Radar records an internet outage in Ukraine, affecting "
        '"Kharkiv Oblast", '
        'type regional, cause power outage, until 2026-11-11 16:30 UTC: "Power cuts after strikes '
        "on 'substations' in "
        'the east".',
        "2026-11-03 00:00 UTC: Cloudflare Radar records an internet outage in Ukraine, with no end "
        "recorded.",
    ]
    for row in answer.rows:
        check_row(row)
    assert (answer.rows[0].place, answer.rows[0].confidence) == ("Ukraine", "high")
    assert answer.rows[0].data["outage"] == {
        "outageCause": "POWER_OUTAGE",
        "outageType": "REGIONAL",
    }
    assert answer.summary == (
        "Cloudflare Radar shows 1 outage of Ukraine that began in 2026-11-05 to 2026-11-11 (by "
        "day: 2026-11-05: 0, "
        "2026-11-06: 0, 2026-11-07: 0, 2026-11-08: 0, 2026-11-09: 0, 2026-11-10: 0, 2026-11-11: "
        "1), against 2 in the "
        "7 days before (2026-10-29 to 2026-11-04); 1 more had begun before and reached into it."
    )


@pytest.mark.parametrize(
    ("subject", "name", "code"),
    [(UKRAINE, "location", "UA"), (CountryOrNetwork("asn", "3255", "AS3255"), "asn", "3255")],
)
async def test_the_parameters_of_the_request(
    desk: Desk, service: Service, subject: CountryOrNetwork, name: str, code: str
) -> None:
    answer = await ask(desk, service, body(annotation()), subject)
    (request,) = service.heard
    address = urlsplit(request.split(" ", 2)[1])
    assert address.path == "/radar/annotations/outages"
    assert parse_qs(address.query) == {
        name: [code],
        "dateStart": ["2026-10-29T00:00:00Z"],
        "dateEnd": ["2026-11-11T23:59:59Z"],
        "limit": ["100"],
        "format": ["json"],
    }
    assert f"authorization: bearer {KEY}" in request.lower()
    assert answer.url == f"{service.url}/radar/annotations/outages?{name}={code}"


async def test_of_many_the_newest_are_kept_and_all_are_counted(
    desk: Desk, service: Service
) -> None:
    many = [
        annotation(f"2026-11-1{number % 2}T{number % 24:02}:00:00+02:00") for number in range(100)
    ]
    answer = await ask(desk, service, body(*many))
    assert (answer.total, len(answer.rows)) == (100, MOST_ROWS)
    assert (
        answer.note == "Cloudflare Radar may have more than the 100 outages that it was asked for"
    )
    assert answer.rows[0].when == "2026-11-11T21:00:00Z"


async def test_without_a_token_it_is_not_asked(desk: Desk, service: Service) -> None:
    bare = {**CASE.options(service.url), "keys": {}}
    assert await radar.outages_if_set(Period(), UKRAINE, desk.gateway(**bare)) is None
    assert await radar.outages_if_set(Period(), UKRAINE, desk.gateway(Mode.REPLAY, **bare)) is None
    assert service.heard == []


async def test_a_replay_follows_the_journal_and_not_the_keys(desk: Desk, service: Service) -> None:
    service.always = reply(body(annotation()))
    live = await radar.outages_if_set(Period(), UKRAINE, desk.gateway(**CASE.options(service.url)))
    bare = {**CASE.options(service.url), "keys": {}}
    assert live is not None
    assert await radar.outages_if_set(Period(), UKRAINE, desk.gateway(Mode.REPLAY, **bare)) == live
    never_asked = desk.gateway(Mode.REPLAY, **CASE.options(service.url))
    assert await radar.outages_if_set(Period(days=2), UKRAINE, never_asked) is None
