"""DuckDuckGo through the real package, against a local server with pages like DuckDuckGo's."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from datetime import date
from typing import Any
from urllib.parse import parse_qs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.settings import Filters, Limit, Settings
from deepdiver.errors import CallError, CallFault
from deepdiver.tools.http import LARGEST
from deepdiver.tools.search import dates
from deepdiver.tools.search.duckduckgo import (
    ANYWHERE,
    PROVIDER,
    REGIONS,
    checked,
    failure,
    page_text,
    region_for,
    unwrapped,
)
from tests.patience import PATIENCE
from tests.servers.endless import IN_BUFFERS, endless
from tests.tools.conftest import Desk
from tests.tools.search.conftest import Service, reply
from tests.tools.search.faults import Case, Faults

pytest.importorskip("ddgs", reason="the extra `search` is not installed")

FAST = {"duckduckgo": Limit(rate=1_000.0)}


def item(url: str, title: str, text: str) -> str:
    """Return a result as it stands in the page without scripts (html.duckduckgo.com)."""
    return f"""
    <div class="result results_links results_links_deep web-result ">
      <div class="links_main links_deep result__body">
        <h2 class="result__title"><a rel="nofollow" class="result__a" href="{url}">{title}</a></h2>
        <div class="result__extras"><div class="result__extras__url">
          <a class="result__url" href="{url}">example.org/holm</a></div></div>
        <a class="result__snippet" href="{url}">{text}</a>
        <div class="clear"></div>
      </div>
    </div>"""


def page(*items: str) -> bytes:
    """Return a page of results."""
    return f"""<!DOCTYPE html><html><head><title>holm at DuckDuckGo</title></head>
    <body class="body--html">
    <form id="header_form" action="/html/" method="post"><input name="q" value="holm"></form>
    <div class="serp__results"><div id="links" class="results">{"".join(items)}</div></div>
    </body></html>""".encode()


GOOD = page(
    item("https://example.org/holm", "Holm Works", "<b>Holm</b> Works is owned by Anna Holm."),
    item(
        "//duckduckgo.com/l/?uddg=https%3A%2F%2Fexample.org%2Fb%3Fa%3D1&amp;rut=abc",
        "Through the counter",
        "A page.",
    ),
    item("https://duckduckgo.com/y.js?ad_domain=shop.example", "Buy Holm", "An advertisement."),
)
EMPTY = page('<div class="no-results">No results.</div>')
CHALLENGE = b"""<!DOCTYPE html><html><body>
<form id="challenge-form" action="//duckduckgo.com/anomaly.js">
<div class="anomaly-modal__title">Unfortunately, bots use DuckDuckGo too.</div></form>
</body></html>"""


class TestFaults(Faults):
    case = Case(
        PROVIDER,
        good=GOOD,
        empty=EMPTY,
        wrong=(b"{}", b"[]", b"<html><body><p>Welcome</p></body></html>"),
        broken=(b"", b"<!doctype html><title>Log in</title>", b"\xff\xfe\x00"),
    )


def form(service: Service) -> dict[str, str]:
    body = service.heard[-1].partition("\r\n\r\n")[2]
    return {name: values[0] for name, values in parse_qs(body, keep_blank_values=True).items()}


async def test_a_page_of_results(desk: Desk, service: Service) -> None:
    service.always = reply(GOOD, Content_Type="text/html; charset=UTF-8")
    hits = await PROVIDER.search(
        "holm works", 6, desk.gateway(urls={"duckduckgo": f"{service.url}/"})
    )
    assert [hit.model_dump(exclude_defaults=True) for hit in hits] == [
        {
            "url": "https://example.org/holm",
            "title": "Holm Works",
            "text": "Holm Works is owned by Anna Holm.",
            "provider": "duckduckgo",
        },
        {
            "url": "https://example.org/b?a=1",
            "title": "Through the counter",
            "text": "A page.",
            "provider": "duckduckgo",
        },
    ]
    assert service.heard[0].startswith("POST /html/ HTTP/1.1")
    assert form(service) == {"q": "holm works", "b": "", "l": "wt-wt", "kp": "-1"}
    assert desk.store.journal.rows(desk.run)[0].cost == 0
    assert len(service.heard) == 1  # one page of one engine, nobody else


@pytest.mark.parametrize(
    ("status", "body"), [("202 Accepted", b""), ("200 OK", CHALLENGE), ("418 Teapot", b"")]
)
async def test_being_taken_for_a_machine_is_not_nothing_found(
    desk: Desk, service: Service, status: str, body: bytes
) -> None:
    service.always = reply(body, status, Retry_After="17")
    with pytest.raises(CallError, match="asked too often") as caught:
        await PROVIDER.search("holm", 6, desk.gateway(urls={"duckduckgo": service.url}))
    assert (caught.value.fault, caught.value.retry_after) == (CallFault.RATE, 17.0)


@pytest.mark.parametrize(
    ("filters", "added"),
    [
        ({}, {}),
        ({"region": "SE"}, {"l": "se-sv"}),
        ({"region": "CH", "language": "fr"}, {"l": "ch-fr"}),
        ({"safe": "off"}, {"kp": "-2"}),
        ({"safe": "strict"}, {"kp": "1"}),
        ({"since": date(2026, 1, 2), "until": date(2026, 2, 3)}, {"df": "2026-01-02..2026-02-03"}),
        ({"include_domains": ("a.org", "b.org")}, {"q": "holm (site:a.org OR site:b.org)"}),
        ({"exclude_domains": ("a.org",)}, {"q": "holm -site:a.org"}),
    ],
)
async def test_filters(
    desk: Desk, service: Service, filters: dict[str, Any], added: dict[str, str]
) -> None:
    service.always = reply(EMPTY)
    settings: dict[str, Any] = {"urls": {"duckduckgo": service.url}, "limits": FAST}
    await PROVIDER.search("holm", 6, desk.gateway(**settings))
    plain = form(service)
    await PROVIDER.search("holm", 6, desk.gateway(**settings, filters=Filters(**filters)))
    assert form(service) == {**plain, **added}
    assert len(service.heard) == (2 if added else 1)


async def test_an_open_end_is_today_and_not_part_of_the_call(
    desk: Desk, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.always = reply(EMPTY)
    settings: dict[str, Any] = {
        "urls": {"duckduckgo": service.url},
        "filters": Filters(since=date(2026, 1, 2)),
    }
    for day in (date(2026, 11, 15), date(2026, 11, 16)):
        monkeypatch.setattr(dates, "today", lambda day=day: day)
        await PROVIDER.search("holm", 6, desk.gateway(**settings))
    assert len(service.heard) == 1
    assert form(service)["df"] == "2026-01-02..2026-11-15"


@pytest.mark.parametrize(
    ("language", "country", "known"),
    [
        ("", "", "wt-wt"),
        ("en", "GB", "uk-en"),
        ("", "GB", "uk-en"),
        ("fr", "CA", "ca-fr"),
        ("", "CA", "ca-en"),
        ("de", "CA", "ca-en"),
        ("de", "", "de-de"),
        ("en", "", "us-en"),
        ("ja", "", "jp-jp"),
        ("sv", "", "se-sv"),
        ("sl", "SI", "sl-sl"),
        ("sw", "", "wt-wt"),
        ("", "AQ", "wt-wt"),
        ("en", "AQ", "wt-wt"),
    ],
)
def test_regions(language: str, country: str, known: str) -> None:
    assert region_for(language, country) == known


@given(st.from_regex(r"^([a-z]{2})?\Z"), st.from_regex(r"^([A-Z]{2})?\Z"))
def test_a_region_is_always_one_that_duckduckgo_knows(language: str, country: str) -> None:
    found = region_for(language, country)
    assert found in {*REGIONS, ANYWHERE}
    if country and found != ANYWHERE:
        assert found[:2] == {"GB": "uk", "SI": "sl"}.get(country, country.lower())


@pytest.mark.parametrize(
    ("status", "fault"),
    [
        (403, CallFault.AUTH),
        (404, CallFault.REQUEST),
        (429, CallFault.RATE),
        (500, CallFault.SERVER),
    ],
)
def test_a_status_is_a_failure_whatever_the_page_says(status: int, fault: CallFault) -> None:
    with pytest.raises(CallError) as caught:
        checked(status, {"retry-after": "3"}, GOOD.decode())
    assert (caught.value.fault, caught.value.retry_after) == (fault, 3.0)
    assert checked(200, {}, GOOD.decode()) == GOOD.decode()


def test_the_errors_of_the_package() -> None:
    from ddgs.exceptions import DDGSException, RatelimitException, TimeoutException
    from lxml.etree import ParserError  # type: ignore[import-untyped]
    from primp import ConnectError, DNSError, DNSTimeoutError, RequestError
    from primp import TimeoutError as LateError

    expected = {
        RatelimitException: CallFault.RATE,
        TimeoutException: CallFault.TIMEOUT,
        LateError: CallFault.TIMEOUT,
        ConnectError: CallFault.UNREACHED,
        DNSError: CallFault.UNREACHED,
        DNSTimeoutError: CallFault.UNREACHED,
        RequestError: CallFault.NETWORK,
        DDGSException: CallFault.NETWORK,
        ParserError: CallFault.MALFORMED,
        ValueError: CallFault.MALFORMED,
    }
    for kind, fault in expected.items():
        error = failure(kind("https://html.duckduckgo.com: what it says is not repeated"))
        assert error.fault is fault, kind
        assert str(error) == f"duckduckgo could not be asked: {kind.__name__}"


async def test_a_page_that_the_parser_refuses(desk: Desk, service: Service) -> None:
    service.always = reply(b'<?xml version="1.0" encoding="utf-8"?><div id="links"></div>')
    with pytest.raises(CallError) as caught:
        await PROVIDER.search("holm", 6, desk.gateway(urls={"duckduckgo": service.url}))
    assert caught.value.fault is CallFault.MALFORMED


async def test_a_package_that_has_changed_costs_this_provider_alone(
    desk: Desk, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ddgs.engines.duckduckgo", None)
    with pytest.raises(CallError, match="pip install -U") as caught:
        await PROVIDER.search("holm", 6, desk.gateway(urls={"duckduckgo": service.url}))
    assert caught.value.fault is CallFault.REQUEST


def test_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert PROVIDER.missing(Settings()) is None
    assert PROVIDER.keyless
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert PROVIDER.missing(Settings()) == "pip install 'deepdiver-research[search]'"


@pytest.mark.parametrize(
    ("link", "leads"),
    [
        ("https://example.org/a", "https://example.org/a"),
        ("//duckduckgo.com/l/?uddg=https%3A%2F%2Fexample.org%2Fa&rut=x", "https://example.org/a"),
        ("https://duckduckgo.com/l/?uddg=https%3A%2F%2Fexample.org%2Fa", "https://example.org/a"),
        ("https://duckduckgo.com/l/?rut=x", "https://duckduckgo.com/l/?rut=x"),
        (
            "https://example.org/l/?uddg=https%3A%2F%2Fexample.com",
            "https://example.org/l/?uddg=https%3A%2F%2Fexample.com",
        ),
        ("", ""),
        ("https://[example.org/a", ""),
        ("//[", ""),
    ],
)
def test_links_through_the_counter(link: str, leads: str) -> None:
    assert unwrapped(link) == leads


@given(st.text(max_size=60))
def test_any_link_can_be_looked_at(link: str) -> None:
    assert isinstance(unwrapped(link), str)


def test_nothing_is_loaded_before_it_is_asked() -> None:
    loaded = "print([name for name in ('ddgs', 'primp', 'lxml') if name in sys.modules])"
    script = f"import sys, deepdiver.tools.search.duckduckgo; {loaded}"
    told = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=PATIENCE
    )
    assert told.stdout.strip() == "[]"


async def test_a_redirect_is_not_followed(desk: Desk, service: Service) -> None:
    service.always = reply(b"", "307 Temporary Redirect", Location=f"{service.url}/elsewhere")
    with pytest.raises(CallError, match="duckduckgo answered 307") as caught:
        await PROVIDER.search("holm", 6, desk.gateway(urls={"duckduckgo": service.url}))
    assert caught.value.fault is CallFault.REQUEST
    assert len(service.heard) == 1


async def test_a_page_without_end_is_not_read_to_the_end(desk: Desk) -> None:
    async with endless(b"<html>", b"<p>word</p>") as server:
        with pytest.raises(CallError, match="more than 20,000,000 bytes") as caught:
            await PROVIDER.search("holm", 6, desk.gateway(urls={"duckduckgo": server.url}))
        assert caught.value.fault is CallFault.MALFORMED
        assert server.sent < LARGEST + IN_BUFFERS


def test_a_page_in_its_charset() -> None:
    assert page_text([b"caf", b"\xe9"], "latin-1") == "café"
    assert page_text(["café".encode()], "no-such-charset") == "café"
    assert page_text([b"\xff"], "utf-8") == "\ufffd"
