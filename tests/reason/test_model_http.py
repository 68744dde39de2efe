"""No vendor's client follows a redirect, and none reads an answer without end.

The real clients talk to real servers.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
from pydantic import SecretStr

from deepdiver.core.settings import Settings
from deepdiver.errors import CURABLE, CallError, CallFault
from deepdiver.reason import model_http as module
from deepdiver.reason.model_errors import call_error
from deepdiver.reason.model_http import LARGEST, check_response
from deepdiver.reason.models import PROVIDERS, close_model, open_model
from tests.reason.desk import KEY, TASK, desk, in_form
from tests.reason.test_models import need
from tests.servers.endless import IN_BUFFERS, endless
from tests.servers.scripted import Answer, ScriptedServer

BEGINNINGS = {
    "openai": b'{"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": '
    b'[{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "',
    "anthropic": b'{"id": "1", "type": "message", "role": "assistant", "model": "m", "content": '
    b'[{"type": "text", "text": "',
    "google": b'{"candidates": [{"content": {"role": "model", "parts": [{"text": "',
    "ollama": b'{"model": "m", "created_at": "2026-11-15T09:00:00Z", "done": false, "message": '
    b'{"role": "assistant", "content": "',
}
"""How an answer begins, so that a client has a reason to read on."""


def settings_for(provider: str, url: str) -> Settings:
    keys = dict.fromkeys(("openai", "anthropic", "google"), SecretStr(KEY))
    return Settings(urls={provider: url}, keys=keys)


def address(provider: str, server: ScriptedServer) -> str:
    return server.openai if provider == "openai" else server.url


async def failure(provider: str, url: str) -> CallError:
    """Ask a model that cannot answer, and return our error for the vendor's."""
    model = open_model(f"{provider}:m", settings_for(provider, url))
    try:
        answer = await model.ainvoke("a question that must not leave")
    except Exception as error:  # noqa: BLE001  whatever a vendor raises
        return call_error(error, f"{provider}:m", model)
    finally:
        await close_model(model)
    pytest.fail(f"it answered {answer!r:.200}")


@pytest.fixture
def target() -> Iterator[ScriptedServer]:
    """A server that nobody has set, and that counts what it gets."""
    with ScriptedServer(lambda body, n: in_form(body)) as server:
        yield server


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("status", [302, 307])
async def test_a_redirect_is_not_followed(
    provider: str, status: int, target: ScriptedServer
) -> None:
    need(provider)
    moved = Answer(status=status, raw=b"", headers={"Location": f"{target.openai}/chat?key={KEY}"})
    with ScriptedServer(lambda body, n: moved) as server:
        error = await failure(provider, address(provider, server))
        assert len(server.log) == 1
    assert target.log == [], "neither the prompt nor the key went on"
    assert error.fault is CallFault.MOVED
    assert str(error) == (
        f"{provider}:m: the server redirected to {target.url}, and was not followed: correct its "
        "address in the settings (urls)"
    )


async def test_the_run_ends_after_one_call_and_asks_again_when_resumed(
    tmp_path: Path, target: ScriptedServer
) -> None:
    moved = Answer(status=307, raw=b"", headers={"Location": target.openai})
    with ScriptedServer(lambda body, n: in_form(body) if n else moved) as server:
        async with desk(server, tmp_path / "store") as at:
            with pytest.raises(CallError, match="redirected") as caught:
                await at.reasoner.perform(TASK)
            assert len(server.log) == 1, "neither another rung nor another attempt was tried"
            assert caught.value.fault in CURABLE
            assert at.gateway.budget.spent == 0
        async with desk(server, tmp_path / "store") as at:
            assert (await at.reasoner.perform(TASK)).queries
    assert target.log == []


@pytest.mark.parametrize(
    ("location", "shown"),
    [
        ("https://other.example/v1?key=secret", "https://other.example"),
        ("//other.example:8443/x", "http://other.example:8443"),
        ("/elsewhere", "http://here.example"),
        ("https://user:secret@other.example/", "https://other.example"),
        ("https://[", "another address"),
        ("", "another address"),
    ],
)
@pytest.mark.parametrize("library", [httpx, httpx2], ids=lambda each: each.__name__)
@pytest.mark.parametrize("status", [300, 301, 302, 303, 304, 307, 308])
async def test_only_the_host_of_a_redirect_is_shown(
    library: Any, status: int, location: str, shown: str
) -> None:
    response = library.Response(
        status,
        headers={"Location": location} if location else {},
        request=library.Request("POST", "http://here.example/v1/chat"),
    )
    with pytest.raises(CallError) as caught:
        await check_response(response)
    assert f"redirected to {shown}, and" in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_an_answer_without_end_is_read_up_to_the_limit(provider: str) -> None:
    need(provider)
    async with endless(BEGINNINGS[provider], b"word ") as server:
        error = await failure(provider, server.url)
    assert error.fault is CallFault.MALFORMED, "it may have been charged, and is not asked again"
    assert (
        str(error)
        == f"{provider}:m: the server sent more than 32,000,000 bytes; the rest was not read"
    )
    assert LARGEST / 2 < server.sent < LARGEST + IN_BUFFERS
    assert server.asked == 1


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_so_is_an_error_without_end(provider: str) -> None:
    need(provider)
    async with endless(b'{"error": "', b"no ", status="500 Internal Server Error") as server:
        error = await failure(provider, server.url)
    assert "more than 32,000,000 bytes" in str(error)
    assert server.sent < LARGEST + IN_BUFFERS


async def test_so_is_a_stream_of_many_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGEST", 300_000)  # the client takes its time with each line
    line = json.dumps({"model": "m", "message": {"role": "assistant", "content": "x"}}) + "\n"
    async with endless(line.encode(), line.encode()) as server:
        error = await failure("ollama", server.url)
    assert "more than 300,000 bytes" in str(error)
    assert server.sent < IN_BUFFERS


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_an_answer_that_says_that_it_is_too_long_is_not_read(provider: str) -> None:
    need(provider)
    async with endless(BEGINNINGS[provider], b" ", f"Content-Length: {LARGEST + 1}") as server:
        error = await failure(provider, server.url)
    assert "more than 32,000,000 bytes" in str(error)
    assert server.sent < IN_BUFFERS


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_packed_answer_is_not_unpacked(provider: str) -> None:
    need(provider)
    bomb = gzip.compress(b"[" * 100_000_000)
    packed = Answer(raw=bomb, headers={"Content-Encoding": "gzip"})
    with ScriptedServer(lambda body, n: packed) as server:
        error = await failure(provider, address(provider, server))
    assert error.fault is CallFault.MALFORMED
    assert "packed its answer" in str(error)


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_none_is_asked_for(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    need(provider)
    asked: list[str] = []

    async def look(response: httpx.Response) -> None:
        asked.append(response.request.headers["accept-encoding"])
        await check_response(response)

    options = {**module.client_options(), "event_hooks": {"response": [look]}}
    monkeypatch.setattr("deepdiver.reason.models.client_options", lambda: options)
    with ScriptedServer(lambda body, n: Answer(text="hello")) as server:
        model = open_model(f"{provider}:m", settings_for(provider, address(provider, server)))
        assert (await model.ainvoke("hi")).text == "hello"
        await close_model(model)
    assert asked == ["identity"]
