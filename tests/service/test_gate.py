"""The gate: what another site, another name or nobody in particular sends does not pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from deepdiver.service.access import check_access
from deepdiver.service.accounts import Accounts
from deepdiver.service.book import open_book
from deepdiver.service.gate import COOKIE, HEADERS, LARGEST_BODY, Gate

Client = Callable[..., httpx.AsyncClient]
BROWSER = {"accept": "text/html"}


async def _who(request: Request) -> PlainTextResponse:
    body = await request.body()
    account = request.state.account
    return PlainTextResponse(f"{account.name if account else None}:{len(body)}")


@pytest.fixture
def accounts(tmp_path: Path) -> Iterator[Accounts]:
    with closing(open_book(tmp_path)) as book:
        yield Accounts(book)


@pytest.fixture
def client(accounts: Accounts) -> httpx.AsyncClient:
    methods = ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"]
    inner = Starlette(routes=[Route("/{path:path}", _who, methods=methods)])
    access = check_access("127.0.0.1", [], guarded=False, token=None)
    over = httpx.ASGITransport(Gate(inner, access, accounts))
    return httpx.AsyncClient(transport=over, base_url="http://127.0.0.1:8080")


async def test_a_laptop_needs_no_token_and_every_answer_has_its_headers(
    client: httpx.AsyncClient,
) -> None:
    answer = await client.get("/")
    assert answer.text == ":0"
    for name, value in HEADERS.items():
        assert answer.headers[name] == value
    policy = answer.headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "http" not in policy
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8080", "127.0.0.1.evil.example"])
async def test_a_page_that_took_over_a_name_reaches_nothing(
    client: httpx.AsyncClient, host: str
) -> None:
    answer = await client.get("/", headers={"host": host})
    assert answer.status_code == 421
    assert answer.headers["content-security-policy"] == HEADERS["Content-Security-Policy"]


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
@pytest.mark.parametrize(
    "said",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": "http://["},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"},
    ],
)
async def test_a_page_elsewhere_changes_nothing_here(
    client: httpx.AsyncClient, method: str, said: dict[str, str]
) -> None:
    assert (await client.request(method, "/", headers=said)).status_code == 403


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"origin": "http://127.0.0.1:8080", "sec-fetch-site": "same-origin"},
        {"sec-fetch-site": "none"},
    ],
)
async def test_our_own_pages_and_programs_may(
    client: httpx.AsyncClient, said: dict[str, str]
) -> None:
    assert (await client.post("/", headers=said, content=b"abc")).text == ":3"


async def test_a_page_elsewhere_may_link_to_us_and_not_embed_or_read_us(
    client: httpx.AsyncClient,
) -> None:
    link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert (await client.get("/", headers=link)).status_code == 200
    read = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "cors"}
    assert (await client.get("/", headers=read)).status_code == 403
    asked = {"origin": "http://evil.example", "access-control-request-method": "POST"}
    preflight = await client.options("/", headers=asked)
    assert preflight.status_code == 403
    assert not [name for name in preflight.headers if name.startswith("access-control")]


async def test_a_person_who_is_refused_gets_a_page_and_a_program_data(
    client: httpx.AsyncClient,
) -> None:
    away = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "cors"}
    shown = await client.get("/", headers={**away, **BROWSER})
    assert shown.status_code == 403
    assert shown.headers["content-type"].startswith("text/html")
    assert "Requests from other sites are refused." in shown.text
    assert shown.headers["content-security-policy"] == HEADERS["Content-Security-Policy"]
    for path, headers in (("/", away), ("/api/v1/runs", {**away, **BROWSER})):
        told = await client.get(path, headers=headers)
        assert told.json() == {"detail": "requests from other sites are refused"}
    model = await client.get("/v1/models", headers={**away, **BROWSER})
    assert model.json()["error"]["type"] == "invalid_request_error"


async def test_with_a_user_nobody_else_passes(
    client: httpx.AsyncClient, accounts: Accounts
) -> None:
    token = accounts.add("ada")
    assert (await client.get("/", headers=BROWSER)).headers["location"] == "/signin"
    for path in ("/", "/api/v1/runs", "/v1/models"):
        refused = await client.get(path)
        assert refused.status_code == 401
        assert refused.headers["www-authenticate"] == "Bearer"
        for wrong in (f"Bearer {token}x", f"Basic {token}", "Bearer", token):
            answer = await client.get(path, headers={"authorization": wrong})
            assert answer.status_code == 401, wrong
    own = {"authorization": f"bearer {token}"}
    assert (await client.get("/api/v1/runs", headers=own)).text == "ada:0"
    assert (await client.get("/signin")).text == "None:0"


async def test_a_signed_in_browser_passes_until_it_signs_out(
    client: httpx.AsyncClient, accounts: Accounts
) -> None:
    session = accounts.sign_in(accounts.add("ada"))
    kept = {"cookie": f"{COOKIE}={session}"}
    assert (await client.get("/", headers=kept)).text == "ada:0"
    stolen = {"cookie": f"{COOKIE}={session[:-1]}"}
    assert (await client.get("/", headers=stolen)).status_code == 401
    accounts.sign_out(session)
    assert (await client.get("/", headers=kept)).status_code == 401


async def test_a_wrong_token_is_not_helped_by_a_cookie(
    client: httpx.AsyncClient, accounts: Accounts
) -> None:
    session = accounts.sign_in(accounts.add("ada"))
    both = {"cookie": f"{COOKIE}={session}", "authorization": "Bearer wrong"}
    assert (await client.get("/", headers=both)).status_code == 401


async def test_errors_of_the_openai_api_have_its_shape(
    client: httpx.AsyncClient, accounts: Accounts
) -> None:
    accounts.add("ada")
    told = (await client.get("/v1/models")).json()["error"]
    assert told == {"message": "a bearer token is required", "type": "authentication_error"}


@pytest.mark.parametrize("told", [True, False])
async def test_a_request_that_is_too_large_is_not_read(
    client: httpx.AsyncClient, told: bool
) -> None:
    async def pieces() -> Any:
        for _ in range(11):
            yield b"x" * (LARGEST_BODY // 10)

    content = b"x" * (LARGEST_BODY + 1) if told else pieces()
    assert (await client.post("/", content=content)).status_code == 413
    assert (await client.post("/", content=b"x" * LARGEST_BODY)).status_code == 200
    bad = {"content-length": "-1"}
    assert (await client.get("/", headers=bad)).status_code == 413


async def test_web_sockets_are_refused(accounts: Accounts) -> None:
    access = check_access("127.0.0.1", [], guarded=False, token=None)
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def never(scope: Any, receive: Any, send: Any) -> None:
        raise AssertionError("it passed")

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    scope = {"type": "websocket", "path": "/", "headers": []}
    await Gate(never, access, accounts)(scope, receive, send)
    assert sent[0]["type"].endswith("http.response.start") or sent[0]["type"] == "websocket.close"
