"""HTTP against a real socket: all failures are told apart, and none shows a key."""

from __future__ import annotations

import functools
import gzip
import io
import json
import logging
import socket
import tracemalloc
import zlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import brotli  # type: ignore[import-untyped]
import httpx
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, SecretStr

from deepdiver.core.settings import Settings
from deepdiver.errors import CallError, CallFault
from deepdiver.tools import http
from deepdiver.tools.http import (
    USER_AGENT,
    Downloaded,
    advised,
    ask_json,
    ask_text,
    download,
    fault_of,
    key_advice,
    retry_after,
    shaped,
    user_agent,
)
from tests.servers.endless import IN_BUFFERS, endless
from tests.tools.conftest import Line

KEY = "tvly-a-key-that-nobody-may-see"
HEADERS = {"Authorization": f"Bearer {KEY}"}


async def failure(url: str, **asked: object) -> CallError:
    with pytest.raises(CallError) as caught:
        await ask_json("tavily", url, **asked)  # type: ignore[arg-type]
    assert KEY not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith("tavily ")
    return caught.value


@pytest.mark.parametrize(
    ("status", "fault", "again"),
    [
        ("301 Moved Permanently", CallFault.REQUEST, False),
        ("400 Bad Request", CallFault.REQUEST, False),
        ("401 Unauthorized", CallFault.AUTH, False),
        ("402 Payment Required", CallFault.AUTH, False),
        ("403 Forbidden", CallFault.AUTH, False),
        ("404 Not Found", CallFault.REQUEST, False),
        ("408 Request Timeout", CallFault.TIMEOUT, True),
        ("422 Unprocessable Entity", CallFault.REQUEST, False),
        ("429 Too Many Requests", CallFault.RATE, True),
        ("432 Plan Limit", CallFault.AUTH, False),
        ("500 Internal Server Error", CallFault.SERVER, True),
        ("503 Service Unavailable", CallFault.SERVER, True),
        ("204 No Content", CallFault.REQUEST, False),
    ],
)
async def test_a_status_says_who_acts_next(
    line: Line, status: str, fault: CallFault, again: bool
) -> None:
    body = (
        b""
        if status.startswith("204")
        else json.dumps({"detail": {"error": f"bad key {KEY}"}}).encode()
    )
    line.answers(status, body)
    error = await failure(line.url, headers=HEADERS)
    assert (error.fault, error.retryable) == (fault, again)
    assert status[:3] in str(error)
    assert len(line.heard) == 1


async def test_a_refused_key_is_named_as_such(line: Line) -> None:
    line.answers("401 Unauthorized")
    assert (
        str(await failure(line.url, headers=HEADERS))
        == "tavily answered 401: check the key and the account behind it"
    )


async def test_a_redirect_is_not_followed_so_the_key_stays_where_it_was_sent(line: Line) -> None:
    line.answers("302 Found", Location=f"{line.url}/elsewhere")
    error = await failure(f"{line.url}/here", headers=HEADERS)
    assert error.fault is CallFault.REQUEST
    assert "correct its address" in str(error)
    assert [request.split("\r\n")[0] for request in line.heard] == ["GET /here HTTP/1.1"]


async def test_retry_after_in_seconds(line: Line) -> None:
    line.answers("429 Too Many Requests", Retry_After="7")
    assert (await failure(line.url)).retry_after == 7.0


async def test_retry_after_as_a_date_counts_from_the_answers_own_date(line: Line) -> None:
    # Far from this machine's clock, which must not matter.
    sent = datetime(2031, 5, 1, 12, 0, 0, tzinfo=UTC)
    until = format_datetime(sent + timedelta(seconds=90), usegmt=True)
    line.answers(
        "503 Service Unavailable", Date=format_datetime(sent, usegmt=True), Retry_After=until
    )
    error = await failure(line.url)
    assert (error.fault, error.retry_after) == (CallFault.SERVER, 90.0)


async def test_without_the_header_there_is_no_time_to_wait(line: Line) -> None:
    line.answers("429 Too Many Requests")
    assert (await failure(line.url)).retry_after is None


async def test_a_service_that_is_too_slow(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "TIMEOUT", 0.1)
    line.after = 2.0
    assert (await failure(line.url, headers=HEADERS)).fault is CallFault.TIMEOUT


async def test_nobody_listens() -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # bound and not listening: a port that surely refuses
        error = await failure(f"http://127.0.0.1:{held.getsockname()[1]}/search", headers=HEADERS)
    assert error.fault is CallFault.UNREACHED
    assert "127.0.0.1" not in str(error)


@pytest.mark.parametrize(
    "says",
    [
        b"",
        b"this is not HTTP\r\n\r\n",
        b'HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n{"results": ',
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
    ids=["hangs up", "speaks another language", "hangs up half-way", "breaks its own framing"],
)
async def test_a_broken_connection(line: Line, says: bytes) -> None:
    line.says = says
    assert (await failure(line.url, headers=HEADERS)).fault is CallFault.NETWORK


@pytest.mark.parametrize(
    "url",
    [
        "",
        "no address at all",
        "http://",
        "http:///search",
        "http://[::1",
        "http://127.0.0.1:99999/search",
        "http://127.0.0.1:port/search",
        "ftp://127.0.0.1/search",
        "file:///etc/passwd",
        "http://xn--zz--/",
        "http://127.0.0.1/\x00",
        "http://\ud800/",
    ],
)
async def test_an_address_at_which_nothing_can_be(url: str) -> None:
    error = await failure(url, headers=HEADERS)
    assert error.fault is CallFault.REQUEST
    assert "correct its address" in str(error)


async def test_a_password_in_an_address_is_not_shown() -> None:
    for url in ("http://me:hunter2@127.0.0.1:1/search", "http://me:hunter2@[::1/search"):
        assert "hunter2" not in str(await failure(url))


@pytest.mark.parametrize("key", ["ключ", "two\nlines", "half a character \ud83d"])
async def test_a_key_that_no_header_can_hold(line: Line, key: str) -> None:
    error = await failure(line.url, headers={"Authorization": f"Bearer {key}"})
    assert error.fault is CallFault.REQUEST
    assert key not in str(error)
    assert error.__cause__ is None  # the cause would hold the header
    assert error.__suppress_context__
    assert line.heard == []


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<!doctype html><title>Please log in</title>",
        b'{"results": [',
        b"\xff\xfe\x00garbage",
        b"[" * 100_000,
        b'{"n": ' + b"9" * 5_000 + b"}",
    ],
    ids=["nothing", "a page", "cut off", "bytes", "too deep", "too long a number"],
)
async def test_what_is_not_json_is_malformed(line: Line, body: bytes) -> None:
    line.answers(body=body)
    error = await failure(line.url, headers=HEADERS)
    assert (error.fault, error.retryable) == (CallFault.MALFORMED, False)


async def test_what_cannot_be_unpacked_is_malformed(line: Line) -> None:
    line.answers(body=b"not gzip at all", Content_Encoding="gzip")
    assert (await failure(line.url)).fault is CallFault.MALFORMED


async def test_an_answer_without_end_is_cut_short(
    line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "LARGEST", 1_000_000)
    packed = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = b"".join([*(packed.compress(b" " * 1_000_000) for _ in range(50)), packed.flush()])
    assert len(bomb) < 100_000
    line.answers(body=bomb, Content_Encoding="gzip")
    error = await failure(line.url)
    assert error.fault is CallFault.MALFORMED
    assert "1,000,000 bytes" in str(error)


async def test_an_answer_that_never_ends_is_not_read_to_the_end() -> None:
    async with endless(b'{"results": [', b"1, ") as server:
        error = await failure(server.url)
    assert error.fault is CallFault.MALFORMED
    assert "20,000,000 bytes" in str(error)
    assert server.sent < http.LARGEST + IN_BUFFERS


@pytest.mark.parametrize("encoding", ["gzip", "br", "zstd"])
async def test_a_bomb_costs_no_more_than_the_limit(line: Line, encoding: str) -> None:
    pack: dict[str, Callable[[bytes], bytes]] = {
        "gzip": functools.partial(gzip.compress, compresslevel=1),
        "br": functools.partial(brotli.compress, quality=1),
        "zstd": zstandard.compress,
    }
    line.answers(body=pack[encoding](bytes(200_000_000)), Content_Encoding=encoding)
    tracemalloc.start()
    try:
        error = await failure(line.url)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert "20,000,000 bytes" in str(error)
    assert peak < 60_000_000


@pytest.mark.parametrize("encoding", ["gzip", "br", "zstd", "deflate", "identity", ""])
async def test_a_packed_answer_is_unpacked(line: Line, encoding: str) -> None:
    pack: dict[str, Callable[[bytes], bytes]] = {
        "gzip": gzip.compress,
        "br": brotli.compress,
        "zstd": zstandard.compress,
        "deflate": zlib.compress,
    }
    said = json.dumps({"results": list(range(10_000))}).encode()
    line.answers(body=pack.get(encoding, bytes)(said), Content_Encoding=encoding)
    assert await ask_json("tavily", line.url) == json.loads(said)
    assert "accept-encoding: gzip, deflate, br, zstd\r\n" in line.heard[0].lower()


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", gzip.compress(b"{}" * 1_000)[:-9]),
        ("compress", b"{}"),
        ("gzip, gzip", gzip.compress(gzip.compress(b"{}"))),
    ],
    ids=["breaks off", "unknown", "twice"],
)
async def test_nothing_else_is(line: Line, encoding: str, body: bytes) -> None:
    line.answers(body=body, Content_Encoding=encoding)
    error = await failure(line.url)
    assert error.fault is CallFault.MALFORMED
    assert "cannot be unpacked" in str(error)


async def test_get_with_parameters(line: Line) -> None:
    line.answers(body=b'{"results": []}')
    assert await ask_json(
        "searxng", f"{line.url}/search", params={"q": "Lövhamn & sjö", "format": "json"}
    ) == {"results": []}
    head = line.heard[0]
    assert head.startswith("GET /search?q=L%C3%B6vhamn+%26+sj%C3%B6&format=json HTTP/1.1")
    assert f"user-agent: {USER_AGENT}" in head.lower()
    assert "authorization" not in head.lower()


async def test_post_with_a_body_and_a_key(line: Line) -> None:
    line.answers(body=gzip.compress(b'{"answer": "\\u00e5"}'), Content_Encoding="gzip")
    assert await ask_json("tavily", line.url, body={"query": "å"}, headers=HEADERS) == {
        "answer": "å"
    }
    head, _, body = line.heard[0].partition("\r\n\r\n")
    assert head.startswith("POST / HTTP/1.1")
    assert f"authorization: bearer {KEY}" in head.lower()
    assert json.loads(body) == {"query": "å"}


async def test_half_a_character_does_not_come_through(line: Line) -> None:
    line.answers(body=rb'{"a": "cut \ud83d", "b": "whole \ud83d\ude00", "c": ["\uDC00"]}')
    value = await ask_json("searxng", line.url)
    assert value == {"a": "cut ?", "b": "whole \N{GRINNING FACE}", "c": ["?"]}


def test_every_status_has_a_meaning() -> None:
    assert {status: fault_of(status) for status in (401, 403, 408, 429)} == {
        401: CallFault.AUTH,
        403: CallFault.AUTH,
        408: CallFault.TIMEOUT,
        429: CallFault.RATE,
    }
    assert all(fault_of(status) is CallFault.SERVER for status in range(500, 600))


@pytest.mark.parametrize(
    ("value", "date", "seconds"),
    [
        (None, None, None),
        ("", None, None),
        ("0", None, 0.0),
        ("2.5", None, 2.5),
        ("-3", None, 0.0),
        ("nan", None, 0.0),
        ("soon", None, None),
        ("Wed, 21 Oct 2026 07:28:00 GMT", "Wed, 21 Oct 2026 07:27:30 GMT", 30.0),
        ("Wed, 21 Oct 2026 07:28:00 GMT", "Wed, 21 Oct 2026 07:29:00 GMT", 0.0),
        ("Wed, 21 Oct 2026 07:28:00 GMT", "yesterday", None),
        ("Wed, 21 Oct 2026 07:28:00 -0000", "Wed, 21 Oct 2026 07:27:30 GMT", None),
    ],
)
def test_retry_after(value: str | None, date: str | None, seconds: float | None) -> None:
    assert retry_after(value, date) == seconds


def test_a_date_without_the_answers_own_counts_from_now() -> None:
    wait = retry_after(
        format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True), None
    )
    assert wait is not None
    assert 50 < wait <= 60


@given(st.text(max_size=40), st.none() | st.text(max_size=40))
def test_no_header_is_read_as_a_negative_wait(value: str, date: str | None) -> None:
    wait = retry_after(value, date)
    assert wait is None or wait >= 0.0


@pytest.mark.parametrize(
    ("body", "kind", "text"),
    [
        ("<feed>å</feed>".encode(), "application/atom+xml; charset=UTF-8", "<feed>å</feed>"),
        ("<feed>å</feed>".encode(), "application/atom+xml", "<feed>å</feed>"),
        ("<feed>å</feed>".encode("latin-1"), "text/xml; charset=ISO-8859-1", "<feed>å</feed>"),
        ("<feed>å</feed>".encode(), "text/xml; charset=no-such-charset", "<feed>å</feed>"),
        ("<feed>å</feed>".encode(), "text/xml; charset=base64", "<feed>å</feed>"),
        (b"cut \xff", "text/plain", "cut \N{REPLACEMENT CHARACTER}"),
        (b"", "text/plain", ""),
    ],
)
async def test_text_in_the_charset_that_it_names(
    line: Line, body: bytes, kind: str, text: str
) -> None:
    line.answers(body=body, Content_Type=kind)
    assert (
        await ask_text("arxiv", f"{line.url}/api", params={"q": "å b"}, headers={"X-Own": "1"})
        == text
    )
    assert line.heard[0].startswith("GET /api?q=%C3%A5+b HTTP/1.1")
    assert "x-own: 1" in line.heard[0].lower()


async def test_text_fails_as_json_does(line: Line) -> None:
    line.answers("429 Too Many Requests", f"<error>{KEY}</error>".encode(), Retry_After="3")
    with pytest.raises(CallError) as caught:
        await ask_text("arxiv", line.url, headers=HEADERS)
    assert (caught.value.fault, caught.value.retry_after) == (CallFault.RATE, 3.0)
    assert str(caught.value) == "arxiv answered 429"


async def test_a_status_of_its_own_with_which_a_service_refuses_a_key(line: Line) -> None:
    line.answers("422 Unprocessable Entity", KEY.encode())
    assert (await failure(line.url)).fault is CallFault.REQUEST
    error = await failure(line.url, refused=(422,))
    assert error.fault is CallFault.AUTH
    assert str(error) == "tavily answered 422: check the key and the account behind it"


async def test_a_key_in_an_address_or_in_an_answers_headers_is_not_logged(
    line: Line, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    line.answers(body=b"{}", X_Echo=KEY)
    await ask_json("serpapi", f"{line.url}/search", params={"api_key": KEY})
    assert KEY in line.heard[0]
    assert KEY not in caplog.text
    assert [record.getMessage() for record in caplog.records if record.name.startswith("http")] == [
        f'HTTP Request: GET {line.url}/search "HTTP/1.1 200 OK"'
    ]


async def test_a_key_in_a_path_is_not_logged_where_it_is_named(
    line: Line, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    line.answers(body=b"latitude")
    assert await ask_text("firms", f"{line.url}/api/{KEY}/area", hidden=KEY) == "latitude"
    assert f"GET /api/{KEY}/area" in line.heard[0]
    assert KEY not in caplog.text
    assert f"{line.url}/api/[secret]/area" in caplog.text


async def test_a_status_with_which_a_service_refuses_a_key(line: Line) -> None:
    line.answers("400 Bad Request", b"Invalid MAP_KEY.")
    with pytest.raises(CallError, match="check the key") as caught:
        await ask_text("firms", line.url, refused=(400,))
    assert caught.value.fault is CallFault.AUTH


async def test_a_download_is_written_as_it_comes(line: Line) -> None:
    changed = "Sat, 14 Nov 2026 08:00:00 GMT"
    packed = gzip.compress(b"whole")
    line.answers(body=packed, Content_Encoding="gzip", ETag='"v1"', Last_Modified=changed)
    file = io.BytesIO()
    assert await download("kev", line.url, file, largest=5) == Downloaded(True, '"v1"', changed)
    assert file.getvalue() == b"whole"


async def test_a_download_that_has_not_changed_is_not_sent(line: Line) -> None:
    line.answers("304 Not Modified", b"", ETag='"v1"')
    file = io.BytesIO()
    told = await download("kev", line.url, file, largest=5, headers={"If-None-Match": '"v1"'})
    assert (told, file.getvalue()) == (Downloaded(False, '"v1"', ""), b"")
    assert 'if-none-match: "v1"' in line.heard[0].lower()


async def test_not_modified_is_not_an_answer_to_a_question(line: Line) -> None:
    line.answers("304 Not Modified", b"")
    assert (await failure(line.url)).fault is CallFault.REQUEST


@pytest.mark.parametrize(
    ("status", "body", "fault"),
    [
        ("200 OK", b"longer", CallFault.MALFORMED),
        ("302 Found", b"", CallFault.REQUEST),
        ("403 Forbidden", b"", CallFault.AUTH),
        ("500 Internal Server Error", b"", CallFault.SERVER),
    ],
)
async def test_a_download_fails_as_a_question_does(
    line: Line, status: str, body: bytes, fault: CallFault
) -> None:
    line.answers(status, body)
    with pytest.raises(CallError) as caught:
        await download("kev", line.url, io.BytesIO(), largest=5)
    assert caught.value.fault is fault


async def test_a_download_that_breaks_off(line: Line) -> None:
    line.says = b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nhalf"
    with pytest.raises(CallError) as caught:
        await download("kev", line.url, io.BytesIO(), largest=99)
    assert caught.value.fault is CallFault.NETWORK


async def test_the_logs_of_others_who_use_the_same_client_stay_whole(
    line: Line, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with httpx.AsyncClient() as client:
        await client.get(f"{line.url}/theirs?q=1")
    assert f"GET {line.url}/theirs?q=1" in caplog.text
    assert any(record.name.startswith("httpcore") for record in caplog.records)


class Form(BaseModel):
    results: list[str]


def test_an_answer_in_its_form() -> None:
    assert shaped("exa", Form, {"results": ["a"], "more": 1}).results == ["a"]


@pytest.mark.parametrize(
    "raw", [None, [], "text", {}, {"results": KEY}, {"results": [{"error": KEY}]}]
)
def test_an_answer_in_another_form_is_malformed_and_not_repeated(raw: object) -> None:
    with pytest.raises(CallError) as caught:
        shaped("exa", Form, raw)
    assert caught.value.fault is CallFault.MALFORMED
    assert str(caught.value) == "exa answered in a form that is not its own"
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


# -- who calls, and what helps against a refusal


def test_without_a_contact_there_is_no_header() -> None:
    assert user_agent(Settings()) == {}


def test_a_contact_is_sent_to_services_that_ask() -> None:
    (told,) = user_agent(Settings(contact="ada@example.org")).values()
    assert told == "deepdiver (ada@example.org; cites what it reads)"


@pytest.mark.parametrize("fault", [fault for fault in CallFault if fault is not CallFault.AUTH])
def test_other_failures_pass_as_they_are(fault: CallFault) -> None:
    error = CallError("arxiv failed: so it did", fault, retry_after=2.0)
    with pytest.raises(CallError) as caught, advised("wait"):
        raise error
    assert caught.value is error


def test_a_refusal_says_what_helps() -> None:
    with pytest.raises(CallError) as caught, advised("set contact"):
        raise CallError(
            "wikipedia answered 403: check the key and the account behind it",
            CallFault.AUTH,
            retry_after=9.0,
        )
    assert str(caught.value) == "wikipedia answered 403: set contact"
    assert (caught.value.fault, caught.value.retry_after) == (CallFault.AUTH, 9.0)


def test_nothing_happens_where_nothing_fails() -> None:
    with advised("wait"):
        held = 1
    assert held


def test_what_helps_where_a_key_is_optional() -> None:
    assert (
        key_advice(Settings(), "openalex", "OPENALEX_API_KEY")
        == "it wants to know its callers: set OPENALEX_API_KEY"
    )
    held = Settings(keys={"openalex": SecretStr("a-key-that-nobody-may-see")})
    assert key_advice(held, "openalex", "OPENALEX_API_KEY") == "check OPENALEX_API_KEY"
