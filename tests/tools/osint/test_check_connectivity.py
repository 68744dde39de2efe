"""The feed of connectivity: its arguments, its services, and its result if one of them fails."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from pydantic import SecretStr

from deepdiver.core.settings import Settings
from deepdiver.errors import CallError, CallFault
from deepdiver.gateway import Mode
from deepdiver.tools.osint.check_connectivity import FEED, ConnectivityArguments
from deepdiver.tools.osint.connectivity import ioda, radar
from deepdiver.tools.osint.connectivity.outages import CountryOrNetwork
from deepdiver.tools.osint.feed import FeedResult, arguments_of, shown_arguments
from tests.tools.conftest import Desk
from tests.tools.osint.connectivity.test_ioda import GOOD
from tests.tools.osint.connectivity.test_radar import annotation, body
from tests.tools.osint.faults import FAST, KEY
from tests.tools.search.conftest import Service, reply

SERVICES = ("ioda", "cloudflare_radar")
SAID = {piece: reply(text) for piece, text in GOOD.items()} | {"/radar": reply(body(annotation()))}
FAILED = reply(b"", "503 Service Unavailable")


async def ask(
    desk: Desk,
    service: Service,
    mode: Mode = Mode.LIVE,
    *,
    token: bool = True,
    as_of: date | None = None,
    **args: Any,
) -> FeedResult:
    keys = {"cloudflare_radar": SecretStr(KEY)} if token else {}
    options = {
        "urls": dict.fromkeys(SERVICES, service.url),
        "limits": dict.fromkeys(SERVICES, FAST),
        "keys": keys,
    }
    gateway = desk.gateway(mode, **options, as_of=as_of)
    found = arguments_of(FEED, {"country_code": "UA", **args})
    assert isinstance(found, ConnectivityArguments)
    return await FEED.ask(found, gateway)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"country_code": "XX"}, "its argument 'country_code': there is no country XX"),
        ({"country_code": "Narnia"}, "its argument 'country_code': there is no country Narnia"),
        ({"asn": 3255}, "give either country_code or asn"),
        ({"country_code": None}, "give either country_code or asn"),
        ({"country_code": None, "asn": 0}, "its argument 'asn'"),
        ({"country_code": None, "asn": -7}, "its argument 'asn'"),
        ({"country_code": None, "asn": "many"}, "its argument 'asn'"),
        ({"country_code": None, "asn": 1 << 32}, "its argument 'asn'"),
        ({"since": "2026-11-11", "until": "2026-11-05"}, "since is later than until"),
        ({"since": "2026-11-31"}, "its argument 'since'"),
        ({"days": 0}, "its argument 'days'"),
        ({"days": 400}, "its argument 'days'"),
        ({"days": 3, "since": "2026-11-05"}, "give since or days, not both"),
        ({"latitude": 50}, "it takes no argument 'latitude'"),
    ],
)
async def test_bad_arguments_are_refused_before_any_call(
    desk: Desk, service: Service, given: dict[str, Any], told: str
) -> None:
    with pytest.raises(ValueError, match=told):
        await ask(desk, service, **given)
    assert service.heard == []
    assert desk.store.journal.rows(desk.run) == []


async def test_if_all_services_fail_it_fails(desk: Desk, service: Service) -> None:
    service.always = FAILED
    with pytest.raises(CallError) as caught:
        await ask(desk, service)
    assert caught.value.fault is CallFault.SERVER
    told = "IODA failed: ioda answered 503; Cloudflare Radar failed: cloudflare_radar answered 503"
    assert str(caught.value) == told


@pytest.mark.parametrize(
    ("broken", "line", "left"),
    [
        (("/outages/events", "/signals"), "IODA failed: ioda answered 503", ["Cloudflare Radar"]),
        (("/radar",), "Cloudflare Radar failed: cloudflare_radar answered 503", ["IODA"]),
        (("/signals",), "IODA's signals failed: ioda answered 503", ["IODA", "Cloudflare Radar"]),
    ],
)
async def test_a_service_that_fails_costs_only_its_own_rows(
    desk: Desk, service: Service, broken: tuple[str, ...], line: str, left: list[str]
) -> None:
    service.always = dict.fromkeys(broken, FAILED) | {
        path: said for path, said in SAID.items() if path not in broken
    }
    told = await ask(desk, service, as_of=date(2026, 11, 11))
    assert told.failures == (line,)
    assert [answer.service for answer in told.answers] == left


async def test_a_refused_key_is_reported_and_not_repeated(desk: Desk, service: Service) -> None:
    service.always = SAID | {"/radar": reply(KEY.encode(), "403 Forbidden")}
    told = await ask(desk, service, as_of=date(2026, 11, 11))
    assert told.failures == (
        "Cloudflare Radar failed: cloudflare_radar answered 403: check the key and the account "
        "behind it",
    )
    assert KEY not in desk.everything() + told.model_dump_json()


async def test_without_a_token_ioda_is_asked(desk: Desk, service: Service) -> None:
    service.always = SAID
    told = await ask(desk, service, token=False, as_of=date(2026, 11, 11))
    assert ([answer.service for answer in told.answers], told.failures) == (["IODA"], ())
    assert not any("/radar" in request for request in service.heard)


@pytest.mark.parametrize("token", [True, False])
async def test_a_replay_years_later_needs_neither_key_nor_clock(
    desk: Desk, service: Service, monkeypatch: pytest.MonkeyPatch, token: bool
) -> None:
    service.always = SAID
    live = await ask(desk, service, token=token)
    asked = len(service.heard)
    for module in (ioda, radar):
        monkeypatch.setattr(module, "today", lambda settings: date(2031, 1, 1))
    for later in (True, False):
        assert await ask(desk, service, Mode.REPLAY, token=later) == live
    assert len(service.heard) == asked


@pytest.mark.parametrize(
    ("given", "subject"),
    [
        ({"country_code": "ua"}, CountryOrNetwork("country", "UA", "Ukraine")),
        ({"country_code": "Ukraine"}, CountryOrNetwork("country", "UA", "Ukraine")),
        ({"country_code": None, "asn": "AS3255"}, CountryOrNetwork("asn", "3255", "AS3255")),
    ],
)
def test_the_subject(given: dict[str, Any], subject: CountryOrNetwork) -> None:
    assert ConnectivityArguments.model_validate(given).subject == subject


def test_name_and_arguments() -> None:
    assert FEED.missing(Settings()) is None
    assert FEED.name == "check_connectivity"
    shown = shown_arguments(FEED)
    assert len(shown) == 5
    assert all(": " in line and line.split(": ", 1)[1] for line in shown)
