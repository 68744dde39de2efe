"""`deepdiver mcp` as a process, with the client of the package and with raw requests."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import anyio
import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from deepdiver import sample
from deepdiver.core.record import RunStatus
from deepdiver.errors import UsageError
from deepdiver.mcp_server.resources import RUNS
from deepdiver.mcp_server.tools import TOOLS
from deepdiver.mcp_server.transports import (
    LARGEST_BODY,
    TokenGate,
    check_access,
    is_loopback,
    transport_security,
)
from tests import dead_disk
from tests.mcp_server.process import Place
from tests.mcp_server.tides import FEED, KEY, install
from tests.patience import PATIENCE
from tests.processes import until
from tests.terminal import wait_for_line
from tests.warm import Warm

QUESTION = "How many tonnes of cheese did Svedjan Ost AB make in 2025?"
SMALL = ("--in", str(sample.LIBRARY / "svedjan" / "annual-report-2025.md"))
"""A library that answers the question, for tests of something else: the whole sample takes four
times as long."""
TOKEN = "a-token-of-24-characters"
ERAS = ["legacy", "auto"]
JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
HELLO: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    },
}


@pytest.fixture
def cold(tmp_path: Path) -> Place:
    """Servers that are started as clients start them."""
    (tmp_path / "elsewhere").mkdir()
    return Place(tmp_path / "store", install(tmp_path / "elsewhere"))


@pytest.fixture
def place(cold: Place, warm: Warm) -> Place:
    """Servers that need not import anything first."""
    return replace(cold, program=warm.command)


def endless(silent: str) -> dict[str, str]:
    """Return the environment of a server whose runs go on until they are stopped."""
    return {"DEEPDIVER_SEARCH": "searxng", "SEARXNG_URL": silent}


async def is_served(client: Client) -> None:
    """See that everything is there, and that a question comes to its report."""
    assert [tool.name for tool in (await client.list_tools()).tools] == [*TOOLS, FEED.name]
    assert len((await client.list_prompts()).prompts) == 5
    told = await client.call_tool(FEED.name, {"harbour": "Vantskär"})
    assert cast("dict[str, Any]", told.structured_content)["answers"][0]["total"] == 2
    failed = await client.call_tool(FEED.name, {"harbour": "Broken"})
    assert failed.is_error
    assert KEY not in str(failed)
    with pytest.raises(MCPError):
        await client.call_tool("nope", {})
    lines: list[str | None] = []

    async def heard(progress: float, total: float | None, message: str | None) -> None:
        lines.append(message)

    done = await client.call_tool(
        "research", {"question": QUESTION, "wait": True}, progress_callback=heard
    )
    assert not done.is_error, done
    run = cast("dict[str, Any]", done.structured_content)["run"]
    assert lines[-1] == "ended: answered"
    read = await client.call_tool("report", {"run": run})
    assert cast("dict[str, Any]", read.structured_content)["citations"]
    assert (await client.read_resource(f"{RUNS}/{run}/report.json")).contents


async def began(client: Client) -> str:
    """Begin a run in the background, and return its id."""
    result = await client.call_tool("research", {"question": QUESTION})
    assert not result.is_error, result
    return str(cast("dict[str, Any]", result.structured_content)["run"])


# Standard input and output


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--in", "/no/such/folder"], "/no/such/folder does not exist"),
        (["--sample", "--search", "tavly"], "did you mean tavily"),
    ],
)
def test_what_cannot_be_served_is_said_and_not_on_the_wire(
    place: Place, words: list[str], why: str
) -> None:
    with place.started(*words) as process:
        assert process.stdin is not None
        with suppress(BrokenPipeError):
            process.stdin.write(json.dumps(HELLO) + "\n")
            process.stdin.flush()
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2
    assert out == ""
    assert why in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("words", [[], ["--http", "--port", "0"]])
def test_a_feed_that_cannot_be_used_is_said_before_serving(place: Place, words: list[str]) -> None:
    with place.started("--sample", *words, DEEPDIVER_FEEDS="watch_tide") as process:
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2
    assert out == ""
    assert err == "deepdiver: unknown feed 'watch_tide'; did you mean watch_tides?\n"


@pytest.mark.slow
@pytest.mark.parametrize("era", ERAS)
async def test_a_client_over_standard_input_and_output(place: Place, era: str) -> None:
    async with Client(place.stdio(*SMALL), mode=era) as client:
        await is_served(client)


@pytest.mark.slow
def test_nothing_but_the_protocol_is_on_the_wire(cold: Place) -> None:
    lines: Sequence[str] = [
        "this is not JSON",
        json.dumps(HELLO),
        json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json.dumps({"jsonrpc": "2.0", "id": 2, "method": "no/such/method"}),
        json.dumps({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": 7}}),
        json.dumps(
            {
                "jsonrpc": "2.0",
                "id": 4,
                "method": "tools/call",
                "params": {"name": "research", "arguments": {"question": QUESTION, "wait": True}},
            }
        ),
    ]
    with cold.started("--sample", DEEPDIVER_VERBOSE="true") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("\n".join(lines) + "\n")
        process.stdin.flush()
        answers: dict[Any, Any] = {}
        for line in process.stdout:
            said = json.loads(line)
            assert said["jsonrpc"] == "2.0"
            answers[said.get("id")] = said
            if said.get("id") == 4:
                break
        process.stdin.close()
        assert process.stdout.read() == ""
        assert process.wait(PATIENCE) == 0
    assert answers[1]["result"]["serverInfo"]["name"] == "deepdiver"
    assert "error" in answers[2]
    assert "error" in answers[3]
    assert answers[4]["result"]["structuredContent"]["status"] == "answered"


@pytest.mark.slow
@pytest.mark.parametrize("era", ERAS)
async def test_a_call_that_is_cancelled_stops_its_run(place: Place, silent: str, era: str) -> None:
    async with Client(place.stdio(**endless(silent)), mode=era) as client:
        with anyio.move_on_after(PATIENCE) as scope:
            async with anyio.create_task_group() as group:
                group.start_soon(client.call_tool, "research", {"question": QUESTION, "wait": True})
                await asyncio.to_thread(until, place.working)
                group.cancel_scope.cancel()
        assert not scope.cancelled_caught
        await asyncio.to_thread(until, lambda: place.runs()[0].status is RunStatus.STOPPED)
        assert (await client.list_tools()).tools, "the server goes on"


@pytest.mark.slow
async def test_a_client_that_leaves_takes_its_server_along_and_the_run_is_saved(
    place: Place, silent: str
) -> None:
    async with Client(place.stdio(**endless(silent))) as client:
        run = await began(client)
    (left,) = place.runs()
    assert (left.id, left.status) == (run, RunStatus.STOPPED)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_server_that_is_asked_to_end_saves_its_runs(
    place: Place, silent: str, number: signal.Signals
) -> None:
    call = {"name": "research", "arguments": {"question": QUESTION}}
    with place.started(**endless(silent)) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for message in (
            HELLO,
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call},
        ):
            process.stdin.write(json.dumps(message) + "\n")
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in range(2)]
        assert not answers[1]["result"].get("isError"), answers
        process.send_signal(number)
        assert process.wait(PATIENCE) == 130  # although standard input is open
    assert [run.status for run in place.runs()] == [RunStatus.STOPPED]


# HTTP


@pytest.mark.parametrize(
    ("host", "token", "why"),
    [
        ("0.0.0.0", None, "--token-file"),  # noqa: S104
        ("192.0.2.7", None, "listen on 127.0.0.1"),
        ("example.org", None, "can be reached from other machines"),
        ("0.0.0.0", "short", "5 characters; use at least 16"),  # noqa: S104
        ("127.0.0.1", "short", "5 characters"),
    ],
)
def test_strangers_are_not_let_in(host: str, token: str | None, why: str) -> None:
    with pytest.raises(UsageError, match=why) as caught:
        check_access(host, token)
    assert token is None or token not in str(caught.value).split()


def test_where_a_token_is_needed_and_where_not() -> None:
    for host in ("127.0.0.1", "127.8.8.8", "localhost", "::1"):
        assert is_loopback(host)
        check_access(host, None)
    assert not is_loopback("localhost.example.org")
    check_access("192.0.2.7", TOKEN)


def test_which_hosts_and_origins_are_served() -> None:
    here = transport_security("127.0.0.1")
    assert here.enable_dns_rebinding_protection
    assert "localhost:*" in here.allowed_hosts
    assert not any("example" in item for item in [*here.allowed_hosts, *here.allowed_origins])
    there = transport_security("mcp.example.org")
    assert there.enable_dns_rebinding_protection
    assert there.allowed_hosts == ["mcp.example.org", "mcp.example.org:*"]
    assert transport_security("fd00::1").allowed_hosts == ["[fd00::1]", "[fd00::1]:*"]
    assert not transport_security("0.0.0.0").enable_dns_rebinding_protection  # noqa: S104  the token keeps browsers out


@pytest.mark.parametrize(
    ("shown", "passes"),
    [
        (f"Bearer {TOKEN}", True),
        (f"bearer {TOKEN}", False),
        (f"Bearer {TOKEN} ", False),
        (f"Bearer {TOKEN[:-1]}", False),
        (TOKEN, False),
        ("Bearer", False),
        ("Bearer \xff", False),
        (None, False),
    ],
)
async def test_the_door_opens_for_the_token_alone(shown: str | None, passes: bool) -> None:
    sent: list[dict[str, Any]] = []
    passed: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        passed.append(scope["type"])

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        raise AssertionError("nothing is read before the token was seen")

    headers = [] if shown is None else [(b"authorization", shown.encode("latin-1"))]
    scope: Any = {"type": "http", "method": "POST", "path": "/mcp", "headers": headers}
    await TokenGate(app, TOKEN)(scope, receive, send)
    await TokenGate(app, TOKEN)({"type": "lifespan"}, receive, send)
    assert passed == (["http", "lifespan"] if passes else ["lifespan"])
    assert [message.get("status") for message in sent[:1]] == ([] if passes else [401])
    assert not any(TOKEN in str(message) for message in sent)


@pytest.mark.slow
@pytest.mark.parametrize("era", ERAS)
async def test_a_client_over_http(place: Place, era: str) -> None:
    with place.http(*SMALL) as (url, process):
        async with Client(url, mode=era) as client:
            await is_served(client)
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) in (0, -signal.SIGTERM)
        assert process.stdout is not None
        assert process.stdout.read() == ""


@pytest.mark.slow
async def test_what_does_not_belong_is_turned_away(place: Place) -> None:
    with place.http("--sample") as (url, _):
        async with httpx.AsyncClient(headers=JSON, timeout=PATIENCE) as web:
            answers = {
                "plain": await web.post(url, json=HELLO),
                "rebound": await web.post(url, json=HELLO, headers={"Host": "evil.example"}),
                "suffix": await web.post(
                    url, json=HELLO, headers={"Host": "127.0.0.1.evil.example:80"}
                ),
                "page": await web.post(url, json=HELLO, headers={"Origin": "https://evil.example"}),
                "local page": await web.post(
                    url, json=HELLO, headers={"Origin": url.removesuffix("/mcp")}
                ),
                "form": await web.post(url, content=b"{}", headers={"Content-Type": "text/plain"}),
                "large": await web.post(url, content=b"x" * (LARGEST_BODY + 1)),
                "junk": await web.post(url, content=b"{" * 1_000),
                "deep": await web.post(url, content=b"[" * 100_000),
                "elsewhere": await web.get(url.removesuffix("/mcp")),
            }
            assert {name: answer.status_code for name, answer in answers.items()} == {
                "plain": 200,
                "rebound": 421,
                "suffix": 421,
                "page": 403,
                "local page": 200,
                "form": 400,
                "large": 413,
                "junk": 400,
                "deep": 400,
                "elsewhere": 404,
            }

            async def chunks() -> Any:
                for _ in range(LARGEST_BODY // 100_000 + 2):
                    yield b"x" * 100_000

            assert (await web.post(url, content=chunks())).status_code == 413, (
                "without a length too"
            )
        async with Client(url) as client:
            assert (await client.list_tools()).tools, "the server goes on"


@pytest.mark.slow
async def test_the_token_is_asked_for_and_never_told(cold: Place, tmp_path: Path) -> None:
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    with cold.http("--sample", "--token-file", str(tmp_path / "token")) as (url, process):
        async with httpx.AsyncClient(headers=JSON, timeout=PATIENCE) as web:
            for headers in (
                {},
                {"Authorization": "Bearer wrong"},
                {"Authorization": f"Basic {TOKEN}"},
            ):
                answer = await web.post(url, json=HELLO, headers=headers)
                assert answer.status_code == 401
                assert answer.headers["www-authenticate"] == "Bearer"
        async with (
            httpx2.AsyncClient(
                headers={"Authorization": f"Bearer {TOKEN}"}, timeout=PATIENCE
            ) as web2,
            Client(streamable_http_client(url, http_client=web2)) as client,
        ):
            told = await client.call_tool("library_search", {"query": "ferry"})
            assert not told.is_error
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE)
        assert process.stderr is not None
        assert TOKEN not in process.stderr.read()
    assert TOKEN.encode() not in b"".join(
        file.read_bytes() for file in cold.home.rglob("*") if file.is_file()
    )


@pytest.mark.slow
async def test_two_clients_at_once(place: Place) -> None:
    with place.http(*SMALL) as (url, _):

        async def one(era: str) -> str:
            async with Client(url, mode=era) as client:
                done = await client.call_tool("research", {"question": QUESTION, "wait": True})
                return str(cast("dict[str, Any]", done.structured_content)["run"])

        names = await asyncio.gather(*map(one, ERAS))
    assert {run.id for run in place.runs()} == set(names)
    assert {run.status for run in place.runs()} == {RunStatus.ANSWERED}


@pytest.mark.slow
async def test_a_client_that_vanishes_while_it_waits_stops_its_run(
    place: Place, silent: str
) -> None:
    with place.http(**endless(silent)) as (url, _):

        async def wait() -> None:
            async with Client(url) as client:
                await client.call_tool("research", {"question": QUESTION, "wait": True})

        waiting = asyncio.create_task(wait())
        await asyncio.to_thread(until, place.working)
        waiting.cancel()
        with suppress(asyncio.CancelledError):
            await waiting
        await asyncio.to_thread(until, lambda: place.runs()[0].status is RunStatus.STOPPED)
        async with Client(url) as client:
            assert (await client.list_tools()).tools, "the server goes on"


@pytest.mark.slow
async def test_a_run_in_the_background_outlives_its_client_and_not_its_server(
    place: Place, silent: str
) -> None:
    with place.http(**endless(silent)) as (url, process):
        async with Client(url) as client:
            run = await began(client)
        async with Client(url, mode="legacy") as other:
            summary = await other.call_tool("status", {"run": run})
            assert cast("dict[str, Any]", summary.structured_content)["status"] == "running"
            process.send_signal(signal.SIGTERM)
            await asyncio.to_thread(process.wait, PATIENCE)
    assert [found.status for found in place.runs()] == [RunStatus.STOPPED]


@pytest.mark.slow
async def test_a_server_ends_although_a_disk_does_not_answer(
    cold: Place, warm: Warm, tmp_path: Path
) -> None:
    (tmp_path / "a.md").write_text("The ferry burnt.")
    place = replace(cold, program=(*warm.python, "-c", dead_disk.PROGRAM))
    with place.http("--in", str(tmp_path / "a.md")) as (url, process):

        async def search() -> None:
            async with Client(url) as client:
                await client.call_tool("library_search", {"query": "ferry"})

        searching = asyncio.create_task(search())
        await asyncio.to_thread(wait_for_line, process, dead_disk.READING)
        process.send_signal(signal.SIGINT)
        await asyncio.to_thread(process.wait, PATIENCE)
        await asyncio.wait([searching], timeout=PATIENCE)
        assert searching.exception() is not None, "its server has left"


def test_a_port_that_is_taken_is_told_in_a_line(place: Place) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with place.started("--http", "--port", str(port), "--sample") as process:
            out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert out == ""
    assert f"cannot listen on 127.0.0.1 port {port}" in err
