"""Messages other than answers are counted, and too many end the connection."""

from __future__ import annotations

import anyio
import pytest
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from deepdiver.errors import CallFault
from deepdiver.tools.mcp.monitor import LARGEST, UNASKED, AnswerStream, Monitor

NOTE = SessionMessage(JSONRPCNotification(jsonrpc="2.0", method="notifications/tools/list_changed"))
ANSWER = SessionMessage(JSONRPCResponse(jsonrpc="2.0", id=1, result={}))


class Endless:
    """A stream that repeats itself."""

    def __init__(self, *items: SessionMessage | Exception) -> None:
        self.items, self.given, self.closed = items, 0, False

    async def receive(self) -> SessionMessage | Exception:
        self.given += 1
        return self.items[(self.given - 1) % len(self.items)]

    async def aclose(self) -> None:
        self.closed = True


def answers_of(stream: Endless, monitor: Monitor) -> AnswerStream:
    return AnswerStream(stream, monitor)  # type: ignore[arg-type]


def test_the_first_reason_counts() -> None:
    monitor = Monitor("x")
    assert (monitor.error, monitor.over.is_set()) == (None, False)
    monitor.fail_too_long()
    monitor.fail("ended", CallFault.NETWORK)
    assert str(monitor.error) == f"MCP server x sent more than {LARGEST:,} bytes in one message"
    assert monitor.error is not None
    assert monitor.error.fault is CallFault.MALFORMED
    assert monitor.over.is_set()


@pytest.mark.parametrize("item", [NOTE, ValueError("no JSON-RPC")])
async def test_a_flood_of_notifications_ends_the_connection(
    item: SessionMessage | Exception,
) -> None:
    stream, monitor = Endless(item), Monitor("x")
    with pytest.raises(anyio.EndOfStream):
        await answers_of(stream, monitor).receive()
    assert stream.given == UNASKED
    assert f"more than {UNASKED:,} messages that nobody asked for" in str(monitor.error)


async def test_a_flood_of_answers_ends_the_connection() -> None:
    stream, monitor = Endless(ANSWER), Monitor("x")
    assert len([item async for item in answers_of(stream, monitor)]) == UNASKED
    assert monitor.over.is_set()


async def test_each_call_has_a_count_of_its_own() -> None:
    stream, monitor = Endless(*[NOTE] * (UNASKED - 1), ANSWER), Monitor("x")
    monitor.status = 404
    async with answers_of(stream, monitor) as stream_of:
        for _ in range(3):
            monitor.begin_call()
            assert await stream_of.receive() is ANSWER
    assert monitor.error is None
    assert monitor.status == 0
    assert stream.closed


async def test_nothing_passes_after_a_failure() -> None:
    monitor = Monitor("x")
    monitor.fail("ended", CallFault.NETWORK)
    assert [item async for item in answers_of(Endless(ANSWER), monitor)] == []


async def test_requests_pass() -> None:
    asked = SessionMessage(JSONRPCRequest(jsonrpc="2.0", id="s1", method="sampling/createMessage"))
    stream, monitor = Endless(NOTE, ValueError("junk"), asked, NOTE, ANSWER), Monitor("x")
    stream_of = answers_of(stream, monitor)
    assert [await stream_of.receive(), await stream_of.receive()] == [asked, ANSWER]
    assert stream.given == 5


async def test_a_new_call_does_not_revive_a_connection() -> None:
    monitor = Monitor("x")
    monitor.fail_too_long()
    monitor.begin_call()
    assert not monitor.count_message()
    assert monitor.error is not None


async def test_a_stream_ends_without_an_error() -> None:
    send, receive = anyio.create_memory_object_stream[SessionMessage | Exception](2)
    monitor = Monitor("x")
    async with send:
        await send.send(ANSWER)
        await send.send(NOTE)
    async with AnswerStream(receive, monitor) as stream_of:
        assert [item async for item in stream_of] == [ANSWER]
    assert monitor.error is None
