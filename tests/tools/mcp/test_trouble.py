"""What is heard besides answers is counted, and comes to an end."""

from __future__ import annotations

import anyio
import pytest
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from deepdiver.errors import CallFault
from deepdiver.tools.mcp.trouble import LARGEST, UNASKED, Sieve, Trouble

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


def sieve(stream: Endless, trouble: Trouble) -> Sieve:
    return Sieve(stream, trouble)  # type: ignore[arg-type]


def test_the_first_reason_counts() -> None:
    trouble = Trouble("x")
    assert (trouble.error, trouble.over.is_set()) == (None, False)
    trouble.too_long()
    trouble.tell("ended", CallFault.NETWORK)
    assert str(trouble.error) == f"MCP server x sent more than {LARGEST:,} bytes in one message"
    assert trouble.error is not None
    assert trouble.error.fault is CallFault.MALFORMED
    assert trouble.over.is_set()


@pytest.mark.parametrize("item", [NOTE, ValueError("no JSON-RPC")])
async def test_a_flood_comes_to_an_end(item: SessionMessage | Exception) -> None:
    stream, trouble = Endless(item), Trouble("x")
    with pytest.raises(anyio.EndOfStream):
        await sieve(stream, trouble).receive()
    assert stream.given == UNASKED
    assert f"more than {UNASKED:,} messages that nobody asked for" in str(trouble.error)


async def test_so_does_a_flood_of_answers() -> None:
    stream, trouble = Endless(ANSWER), Trouble("x")
    assert len([item async for item in sieve(stream, trouble)]) == UNASKED
    assert trouble.over.is_set()


async def test_each_call_counts_anew() -> None:
    stream, trouble = Endless(*[NOTE] * (UNASKED - 1), ANSWER), Trouble("x")
    trouble.status = 404
    async with sieve(stream, trouble) as sieved:
        for _ in range(3):
            trouble.begin()
            assert await sieved.receive() is ANSWER
    assert trouble.error is None
    assert trouble.status == 0
    assert stream.closed


async def test_nothing_passes_after_trouble() -> None:
    trouble = Trouble("x")
    trouble.tell("ended", CallFault.NETWORK)
    assert [item async for item in sieve(Endless(ANSWER), trouble)] == []


async def test_requests_pass_because_they_are_refused_further_up() -> None:
    asked = SessionMessage(JSONRPCRequest(jsonrpc="2.0", id="s1", method="sampling/createMessage"))
    stream, trouble = Endless(NOTE, ValueError("junk"), asked, NOTE, ANSWER), Trouble("x")
    sieved = sieve(stream, trouble)
    assert [await sieved.receive(), await sieved.receive()] == [asked, ANSWER]
    assert stream.given == 5


async def test_a_new_call_does_not_heal_what_is_over() -> None:
    trouble = Trouble("x")
    trouble.too_long()
    trouble.begin()
    assert not trouble.hear()
    assert trouble.error is not None


async def test_a_stream_that_ends_ends() -> None:
    send, receive = anyio.create_memory_object_stream[SessionMessage | Exception](2)
    trouble = Trouble("x")
    async with send:
        await send.send(ANSWER)
        await send.send(NOTE)
    async with Sieve(receive, trouble) as sieved:
        assert [item async for item in sieved] == [ANSWER]
    assert trouble.error is None
