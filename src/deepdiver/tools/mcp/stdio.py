"""A server that is started as a program.

Messages over its stdin and stdout, each of bounded length.

The `mcp` package's own transport reads lines of any length, passes on more of the environment, and
does not outlive us to end what it started. This one starts the server under a warden (see
`warden.py`).
"""

from __future__ import annotations

import asyncio
import contextlib
import locale
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, cast

import anyio

from deepdiver.core.settings import McpServer
from deepdiver.errors import CallError, CallFault
from deepdiver.tools.mcp.trouble import LARGEST, Sieve, Trouble

if TYPE_CHECKING:
    from anyio.abc import ObjectReceiveStream, ObjectSendStream
    from mcp.client._transport import TransportStreams
    from mcp.shared.message import SessionMessage

WARDEN = Path(__file__).with_name("warden.py")
CHUNK = 65_536
TAIL = 2_000
"""Bytes of stderr that are kept."""
WAITING = 64
"""Messages that may wait for a server that does not read: none of ours waits for it then."""
LEAVE = 1.0
"""Seconds for a server to end by itself when its stdin is closed."""
ENDED = 4.0
"""Seconds for the warden to end all, its own limits and some more."""
STEP = 0.01
NOT_PASSED = frozenset({"LOGNAME", "SHELL", "TERM", "USER"})
"""What the `mcp` package would pass on besides, and no server needs."""


def environment(server: McpServer) -> dict[str, str]:
    """Return what a server finds in its environment.

    PATH, HOME, LANG, TMPDIR, and what the settings say.
    """
    from mcp.client.stdio import get_default_environment

    base = {
        name: value for name, value in get_default_environment().items() if name not in NOT_PASSED
    }
    base |= {"TMPDIR": tempfile.gettempdir(), "LANG": locale.setlocale(locale.LC_CTYPE)}
    return base | {name: secret.get_secret_value() for name, secret in server.env.items()}


@asynccontextmanager
async def stdio(server: McpServer, trouble: Trouble) -> AsyncIterator[TransportStreams]:
    """Start a server and speak with it; when the block ends, nothing of it is left.

    Raises:
        CallError: If there is no such program.
    """
    given = environment(server)
    program = shutil.which(server.command[0], path=given.get("PATH"))
    if program is None:
        told = (
            f"MCP server {trouble.server} cannot be started: there is no program "
            f"{server.command[0]!r}"
        )
        raise CallError(told, CallFault.REQUEST)
    if sys.platform == "win32":
        from mcp.client.stdio import StdioServerParameters, stdio_client

        parameters = StdioServerParameters(
            command=program, args=list(server.command[1:]), env=given
        )
        with open(os.devnull, "w", encoding="utf-8") as nowhere:  # noqa: ASYNC230 - opening nothing takes no time
            async with stdio_client(parameters, nowhere) as (read, write):
                yield Sieve(read, trouble), write
    else:
        async with _held([program, *server.command[1:]], given, trouble) as streams:
            yield streams


@asynccontextmanager
async def _held(
    command: list[str], given: dict[str, str], trouble: Trouble
) -> AsyncIterator[TransportStreams]:
    lifeline, cut = os.pipe()
    try:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", str(WARDEN), str(lifeline), *command),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=given,
            pass_fds=(lifeline,),
            start_new_session=True,
        )
    except BaseException:
        os.close(cut)
        raise
    finally:
        os.close(lifeline)
    heard, incoming = anyio.create_memory_object_stream["SessionMessage | Exception"](0)
    outgoing, said = anyio.create_memory_object_stream["SessionMessage"](WAITING)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_listen, cast("asyncio.StreamReader", process.stdout), heard, trouble)
        tasks.start_soon(_speak, cast("asyncio.StreamWriter", process.stdin), said, trouble)
        tasks.start_soon(_keep_errors, cast("asyncio.StreamReader", process.stderr), trouble)
        try:
            yield Sieve(incoming, trouble), outgoing
        finally:
            with anyio.CancelScope(shield=True):
                await _end(process, cut, patient=trouble.error is None)
            for stream in (heard, incoming, outgoing, said):
                stream.close()
            tasks.cancel_scope.cancel()


async def _listen(
    stdout: asyncio.StreamReader,
    heard: ObjectSendStream[SessionMessage | Exception],
    trouble: Trouble,
) -> None:
    """Pass on what a server says, line by line, as long as there is no trouble."""
    line = bytearray()
    async with heard:
        with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            while chunk := await stdout.read(CHUNK):
                *ends, rest = chunk.split(b"\n")
                for end in ends:
                    line += end
                    if line.strip():
                        await heard.send(_message(bytes(line)))
                    line.clear()
                line += rest
                if len(line) > LARGEST:
                    trouble.too_long()
                    return
        trouble.tell("ended before it answered", CallFault.NETWORK)


def _message(line: bytes) -> SessionMessage | Exception:
    from mcp.shared.message import SessionMessage
    from mcp.types import jsonrpc_message_adapter

    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as error:  # not JSON-RPC: a log line on the wrong pipe, mostly
        return error


async def _speak(
    stdin: asyncio.StreamWriter, said: ObjectReceiveStream[SessionMessage], trouble: Trouble
) -> None:
    try:
        async for item in said:
            stdin.write(
                item.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
            )
            await stdin.drain()
    except (OSError, anyio.ClosedResourceError):
        trouble.tell("ended before it was asked", CallFault.NETWORK)


async def _keep_errors(stderr: asyncio.StreamReader, trouble: Trouble) -> None:
    with contextlib.suppress(OSError):
        while chunk := await stderr.read(CHUNK):
            trouble.said = (trouble.said + chunk)[-TAIL:]


async def _end(process: asyncio.subprocess.Process, cut: int, *, patient: bool) -> None:
    """Let a server go, or end it, and wait until its warden says that nothing is left."""
    cast("asyncio.StreamWriter", process.stdin).close()
    if patient:
        await _gone(process, LEAVE)
    os.close(cut)
    if not await _gone(process, ENDED):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        await _gone(process, ENDED)
    # Somebody who escaped may hold the pipes: they are closed on our side in any case. Nothing
    # public does that.
    process._transport.close()  # type: ignore[attr-defined]
    await asyncio.sleep(0)


async def _gone(process: asyncio.subprocess.Process, seconds: float) -> bool:
    """Whether the warden ends in time.

    Not `process.wait()`: that waits for the pipes too, which others may hold.
    """
    for _ in range(round(seconds / STEP)):
        if process.returncode is not None:
            return True
        await asyncio.sleep(STEP)
    return process.returncode is not None
