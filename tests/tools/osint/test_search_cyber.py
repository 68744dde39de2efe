"""The feed of vulnerabilities: its arguments, its services, and its result if one of them fails."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from deepdiver.core.settings import Settings
from deepdiver.errors import CallError, CallFault
from deepdiver.gateway import Mode
from deepdiver.tools.osint.cyber import kev, nvd
from deepdiver.tools.osint.feed import FeedResult, arguments_of, shown_arguments
from deepdiver.tools.osint.search_cyber import FEED, CyberArguments
from tests.tools.conftest import Desk
from tests.tools.osint.cyber import test_kev, test_nvd
from tests.tools.osint.faults import FAST
from tests.tools.search.conftest import Service, reply

SERVICES = ("cisa_kev", "nvd")
KEV, NVD = "known_exploited_vulnerabilities.json", "/rest/json/cves/2.0"
SAID = {KEV: reply(test_kev.body(test_kev.entry())), NVD: reply(test_nvd.body(test_nvd.cve()))}


async def ask(desk: Desk, service: Service, mode: Mode = Mode.LIVE, **args: Any) -> FeedResult:
    options = {
        "urls": dict.fromkeys(SERVICES, service.url),
        "limits": dict.fromkeys(SERVICES, FAST),
    }
    found = arguments_of(FEED, args)
    assert isinstance(found, CyberArguments)
    return await FEED.ask(found, desk.gateway(mode, **options))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "give a vendor, a product, a keyword, a cve or a time"),
        ({"exploited": "no"}, "give a vendor, a product, a keyword, a cve or a time"),
        ({"exploited": "maybe", "vendor": "Holm"}, "its argument 'exploited'"),
        ({"cve": "2024-3094"}, "its argument 'cve': a vulnerability is written as CVE-2024-3094"),
        ({"cve": "CVE-2024-1"}, "its argument 'cve'"),
        ({"vendor": "x" * 81}, "its argument 'vendor'"),
        ({"vendor": "?!"}, "its argument 'vendor': it holds no word to search for"),
        ({"vendor": 7}, "its argument 'vendor'"),
        (
            {"vendor": "Holm", "since": "2026-11-11", "until": "2026-11-05"},
            "since is later than until",
        ),
        ({"vendor": "Holm", "since": "11/05/2026"}, "its argument 'since'"),
        ({"vendor": "Holm", "days": 367}, "its argument 'days'"),
        ({"vendor": "Holm", "severity": "high"}, "it takes no argument 'severity'"),
    ],
)
async def test_bad_arguments_are_refused_before_any_call(
    desk: Desk, service: Service, given: dict[str, Any], told: str
) -> None:
    with pytest.raises(ValueError, match=told):
        await ask(desk, service, **given)
    assert service.heard == []
    assert desk.store.journal.rows(desk.run) == []


@pytest.mark.parametrize(
    ("exploited", "services"),
    [
        ("any", ["CISA KEV", "NVD"]),
        ("yes", ["CISA KEV"]),
        ("no", ["NVD"]),
        ("", ["CISA KEV", "NVD"]),
        (True, ["CISA KEV"]),
    ],
)
async def test_which_services_are_asked(
    desk: Desk, service: Service, exploited: Any, services: list[str]
) -> None:
    service.always = SAID
    told = await ask(desk, service, vendor="Holm", exploited=exploited)
    assert [answer.service for answer in told.answers] == services
    assert all(answer.total == 1 for answer in told.answers)
    assert told.failures == ()
    assert len(service.heard) == len(services)


async def test_a_service_that_fails_costs_only_its_own_rows(desk: Desk, service: Service) -> None:
    service.always = SAID | {NVD: reply(b"", "403 Forbidden")}
    told = await ask(desk, service, vendor="Holm")
    assert [answer.service for answer in told.answers] == ["CISA KEV"]
    assert told.failures == (
        "NVD failed: nvd answered 403: it wants to know its callers: set NVD_API_KEY",
    )


async def test_if_both_services_fail_it_fails(desk: Desk, service: Service) -> None:
    service.always = reply(b"", "500 Internal Server Error")
    with pytest.raises(CallError) as caught:
        await ask(desk, service, vendor="Holm")
    assert caught.value.fault is CallFault.SERVER
    assert (
        str(caught.value) == "CISA KEV failed: cisa_kev answered 500; NVD failed: nvd answered 500"
    )


async def test_exploited_vulnerabilities_need_no_other_argument(
    desk: Desk, service: Service
) -> None:
    service.always = SAID
    told = await ask(desk, service, exploited="yes")
    assert told.answers[0].title == "Known exploited vulnerabilities of any kind"


async def test_a_replay_years_later_makes_no_request(
    desk: Desk, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.always = SAID
    live = await ask(desk, service, vendor="Holm", days="300")
    asked = len(service.heard)
    for module in (kev, nvd):
        monkeypatch.setattr(module, "today", lambda settings: date(2031, 1, 1))
    assert await ask(desk, service, Mode.REPLAY, vendor="Holm", days="300") == live
    assert len(service.heard) == asked


def test_arguments_as_reasoners_give_them() -> None:
    found = arguments_of(
        FEED,
        {"vendor": " Holm \n Works ", "cve": "cve-2024-3094", "exploited": "TRUE", "days": "7"},
    )
    assert isinstance(found, CyberArguments)
    assert (found.vendor, found.cve, found.exploited, found.days) == (
        "Holm Works",
        "CVE-2024-3094",
        "yes",
        7,
    )


def test_name_and_arguments() -> None:
    assert FEED.missing(Settings()) is None
    assert FEED.name == "search_cyber"
    shown = shown_arguments(FEED)
    assert len(shown) == 8
    assert all(line.split(": ", 1)[1] for line in shown)
