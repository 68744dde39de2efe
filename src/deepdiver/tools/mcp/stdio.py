"""The transport to a server that is started as a program, over its stdin and stdout.

The `mcp` package's own transport reads lines of any length, passes on more of the environment, and
cannot end the program if we are killed. This one limits the length of a message and starts the
server under a supervisor (see `supervisor.py`).
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
from deepdiver.tools.mcp.monitor import LARGEST, AnswerStream, Monitor

if TYPE_CHECKING:
    from anyio.abc import ObjectReceiveStream, ObjectSendStream
    from mcp.client._transport import TransportStreams
    from mcp.shared.message import SessionMessage

SUPERVISOR = Path(__file__).with_name("supervisor.py")
CHUNK = 65_536
TAIL = 2_000
"""Bytes of stderr that are kept."""
LAST_WORDS = 0.5
"""Seconds for which the last of them are waited for, once a server has ended."""
WAITING = 64
"""Messages that may be queued for a server that does not read its stdin."""
LEAVE = 1.0
"""Seconds for a server to end by itself when its stdin is closed."""
ENDED = 4.0
"""Seconds for the supervisor to end everything: its own limits and some more."""
STEP = 0.01
NOT_PASSED = frozenset({"LOGNAME", "SHELL", "TERM", "USER"})
"""Variables that the `mcp` package would pass on, and that no server needs."""


def environment(server: McpServer) -> dict[str, str]:
    """Return the environment of a server: PATH, HOME, LANG, TMPDIR, and what the settings add."""
    from mcp.client.stdio import get_default_environment

    base = {
        name: value for name, value in get_default_environment().items() if name not in NOT_PASSED
    }
    base |= {"TMPDIR": tempfile.gettempdir(), "LANG": locale.setlocale(locale.LC_CTYPE)}
    return base | {name: secret.get_secret_value() for name, secret in server.env.items()}


@asynccontextmanager
async def stdio_transport(server: McpServer, monitor: Monitor) -> AsyncIterator[TransportStreams]:
    """Start a server and connect to it; when the block ends, none of its processes is left.

    Raises:
        CallError: If there is no such program.
    """
    given = environment(server)
    program = shutil.which(server.command[0], path=given.get("PATH"))
    if program is None:
        raise CallError(
            f"MCP server {monitor.server} cannot be started: there is no program "
            f"{server.command[0]!r}",
            CallFault.REQUEST,
        )
    if sys.platform == "win32":
        from mcp.client.stdio import StdioServerParameters, stdio_client

        parameters = StdioServerParameters(
            command=program, args=list(server.command[1:]), env=given
        )
        with open(os.devnull, "w", encoding="utf-8") as nowhere:  # noqa: ASYNC230 - opening nothing takes no time
            async with stdio_client(parameters, nowhere) as (read, write):
                yield AnswerStream(read, monitor), write
    else:
        async with _supervised([program, *server.command[1:]], given, monitor) as streams:
            yield streams


@asynccontextmanager
async def _supervised(
    command: list[str], given: dict[str, str], monitor: Monitor
) -> AsyncIterator[TransportStreams]:
    lifeline, cut = os.pipe()
    try:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", str(SUPERVISOR), str(lifeline), *command),
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
        tasks.start_soon(_listen, cast("asyncio.StreamReader", process.stdout), heard, monitor)
        tasks.start_soon(_speak, cast("asyncio.StreamWriter", process.stdin), said, monitor)
        last = anyio.Event()
        tasks.start_soon(_keep_errors, cast("asyncio.StreamReader", process.stderr), monitor, last)
        try:
            yield AnswerStream(incoming, monitor), outgoing
        finally:
            with anyio.CancelScope(shield=True):
                await _end(process, cut, last, patient=monitor.error is None)
            for stream in (heard, incoming, outgoing, said):
                stream.close()
            tasks.cancel_scope.cancel()


async def _listen(
    stdout: asyncio.StreamReader,
    heard: ObjectSendStream[SessionMessage | Exception],
    monitor: Monitor,
) -> None:
    """Pass on what a server says, line by line, as long as there is no monitor."""
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
                    monitor.fail_too_long()
                    return
        monitor.fail("ended before it answered", CallFault.NETWORK)


def _message(line: bytes) -> SessionMessage | Exception:
    from mcp.shared.message import SessionMessage
    from mcp.types import jsonrpc_message_adapter

    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as error:  # not JSON-RPC: a log line on the wrong pipe, mostly
        return error


async def _speak(
    stdin: asyncio.StreamWriter, said: ObjectReceiveStream[SessionMessage], monitor: Monitor
) -> None:
    try:
        async for item in said:
            stdin.write(
                item.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
            )
            await stdin.drain()
    except (OSError, anyio.ClosedResourceError):
        # Whether it ends before or after it is asked is chance, and nothing to the user.
        monitor.fail("ended before it answered", CallFault.NETWORK)


async def _keep_errors(stderr: asyncio.StreamReader, monitor: Monitor, last: anyio.Event) -> None:
    """Keep the end of what a server complains about, and say when it will not complain any more."""
    with contextlib.suppress(OSError):
        while chunk := await stderr.read(CHUNK):
            monitor.stderr = (monitor.stderr + chunk)[-TAIL:]
    last.set()


async def _end(
    process: asyncio.subprocess.Process, cut: int, last: anyio.Event, *, patient: bool
) -> None:
    """End a server, and wait until its supervisor has ended all of its processes."""
    cast("asyncio.StreamWriter", process.stdin).close()
    if patient:
        await _gone(process, LEAVE)
    os.close(cut)
    if not await _gone(process, ENDED):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        await _gone(process, ENDED)
    # What it said last says why it ended, and may still be in the pipe.
    with anyio.move_on_after(LAST_WORDS):
        await last.wait()
    # A process that escaped may hold the pipes, so our side of them is closed in any case. There is
    # no public method for that.
    process._transport.close()  # type: ignore[attr-defined]
    await asyncio.sleep(0)


async def _gone(process: asyncio.subprocess.Process, seconds: float) -> bool:
    """Whether the supervisor ends in time.

    Not `process.wait()`, which also waits for the pipes, and other processes may hold these.
    """
    for _ in range(round(seconds / STEP)):
        if process.returncode is not None:
            return True
        await asyncio.sleep(STEP)
    return process.returncode is not None
