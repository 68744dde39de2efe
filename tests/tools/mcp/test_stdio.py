"""The transport over stdio: the program's environment, limits on its messages, and its end."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCRequest

from deepdiver.core.settings import McpServer
from deepdiver.errors import CallError, CallFault
from deepdiver.tools.mcp.monitor import LARGEST, Monitor
from deepdiver.tools.mcp.stdio import TAIL, WAITING, environment, stdio_transport
from tests.patience import PATIENCE
from tests.processes import gone, started_by_us

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="the package's own transport is used there"
)


def program(code: str, **env: str) -> McpServer:
    return McpServer(command=(sys.executable, "-c", code), env=env)  # type: ignore[arg-type]


async def heard(server: McpServer, monitor: Monitor) -> list[object]:
    """Return all that a program says until it ends or is trouble."""
    async with stdio_transport(server, monitor) as (read, _write):
        return [item async for item in read]


async def test_a_missing_program_is_an_error() -> None:
    with pytest.raises(
        CallError, match=r"MCP server x cannot be started: there is no program 'no-such-program'"
    ) as caught:
        await heard(McpServer(command=("no-such-program",)), Monitor("x"))
    assert caught.value.fault is CallFault.REQUEST


async def test_a_program_that_ends_is_an_error() -> None:
    monitor = Monitor("x")
    assert await heard(program("pass"), monitor) == []
    assert monitor.error is not None
    assert (str(monitor.error), monitor.error.fault) == (
        "MCP server x ended before it answered",
        CallFault.NETWORK,
    )


async def test_answers_pass_and_all_else_is_dropped() -> None:
    lines = [
        "no JSON",
        "",
        '{"jsonrpc": "2.0", "method": "notifications/message", "params": {}}',
        '{"jsonrpc": "2.0", "id": 1, "result": {"a": 1}}',
        '{"jsonrpc": "2.0", "id": 2, "error": {"code": 1, "message": "m"}}',
        '{"jsonrpc": "2.0", "id": 3, "method": "roots/list"}',
        '{"id": 4, "result": {}}',
    ]
    got = await heard(program(f"print({chr(10).join(lines)!r})"), Monitor("x"))
    assert [item.message.id for item in got] == [1, 2, 3]  # type: ignore[attr-defined]


async def test_a_line_without_an_end_is_cut_off() -> None:
    monitor = Monitor("x")
    before = started_by_us()
    code = "import sys\nwhile True: sys.stdout.write('x' * 100_000)"
    assert await heard(program(code), monitor) == []
    assert monitor.error is not None
    assert monitor.error.fault is CallFault.MALFORMED
    assert f"more than {LARGEST:,} bytes" in str(monitor.error)
    assert gone(started_by_us() - before)


async def test_a_message_in_pieces_is_put_together() -> None:
    code = """
import sys, time
pieces = ('{"jsonrpc": "2.0", ', '"id": 1, "result": {"a": "', 'ü' * 70_000, '"}}' + chr(10))
for piece in (*pieces, '{"jsonrpc":"2.0"'):
    sys.stdout.buffer.write(piece.encode()); sys.stdout.flush(); time.sleep(0.05)
"""
    (got,) = await heard(program(code), Monitor("x"))
    assert got.message.result["a"] == "ü" * 70_000  # type: ignore[attr-defined]


async def test_the_end_of_stderr_is_kept_and_never_blocks() -> None:
    monitor = Monitor("x")
    await heard(
        program("import sys; sys.stderr.write('e' * 1_000_000 + chr(10) + 'the end')"), monitor
    )
    assert len(monitor.stderr) == TAIL
    assert monitor.stderr.endswith(b"e\nthe end")


async def test_the_environment_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLM_SECRET", "do-not-pass-this-on")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-do-not-pass-this-on")
    server = program(
        "import json, os, sys; sys.stderr.write(json.dumps(dict(os.environ)))",
        HOLM_TOKEN="given-by-settings",
    )
    monitor = Monitor("x")
    await heard(server, monitor)
    seen = json.loads(monitor.stderr)
    allowed = {"PATH", "HOME", "LANG", "TMPDIR", "HOLM_TOKEN"}
    # Which the system itself may add.
    assert seen.keys() - {"LC_CTYPE", "__CF_USER_TEXT_ENCODING"} == allowed
    assert seen["HOLM_TOKEN"] == "given-by-settings"
    assert "do-not-pass-this-on" not in json.dumps(seen)


def test_the_settings_win_over_what_is_passed_on(tmp_path: Path) -> None:
    given = environment(program("pass", PATH="/opt/holm/bin"))
    assert given["PATH"] == "/opt/holm/bin"
    assert given["HOME"] == str(Path.home())


async def test_no_shell_reads_the_command(tmp_path: Path) -> None:
    there = tmp_path / "there"
    monitor = Monitor("x")
    code = "import sys; sys.stderr.write(sys.argv[1])"
    await heard(
        McpServer(command=(sys.executable, "-c", code, f"$(touch {there}); touch {there} | cat")),
        monitor,
    )
    assert monitor.stderr.decode() == f"$(touch {there}); touch {there} | cat"
    assert not there.exists()


async def test_no_process_is_left_after_an_error() -> None:
    before = started_by_us()
    with pytest.raises(ExceptionGroup) as caught:
        async with stdio_transport(program("import time; time.sleep(3600)"), Monitor("x")):
            raise RuntimeError("of ours")
    assert caught.group_contains(RuntimeError, match="of ours")
    assert gone(started_by_us() - before)


ECHO = """
import sys
for line in sys.stdin:
    answer = '{"jsonrpc": "2.0", "id": 1, "result": {"heard": ' + line.strip() + '}}'
    sys.stdout.write(answer + chr(10))
    sys.stdout.flush()
"""


def asking(**params: Any) -> SessionMessage:
    return SessionMessage(JSONRPCRequest(jsonrpc="2.0", id=1, method="tools/call", params=params))


async def test_a_message_arrives_and_is_answered() -> None:
    async with stdio_transport(program(ECHO), Monitor("x")) as (read, write):
        for word in ("one", "zwölf\nlines"):
            await write.send(asking(word=word))
            got = await read.receive()
            assert not isinstance(got, Exception)
            assert got.message.result["heard"]["params"] == {"word": word}  # type: ignore[union-attr]


async def test_a_server_may_take_its_leave(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deepdiver.tools.mcp.stdio.LEAVE", PATIENCE)
    there = tmp_path / "there"
    code = f"import sys; sys.stdin.read(); open({str(there)!r}, 'w').write('saved')"
    async with stdio_transport(program(code), Monitor("x")):
        pass
    assert there.read_text(encoding="utf-8") == "saved"


async def test_one_that_does_not_leave_is_ended() -> None:
    before = started_by_us()
    code = (
        "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: "
        "time.sleep(1)"
    )
    async with stdio_transport(program(code), Monitor("x")):
        pass
    assert gone(started_by_us() - before, within=0.0)


async def test_trouble_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deepdiver.tools.mcp.stdio.LEAVE", PATIENCE)
    there = tmp_path / "there"
    code = f"import sys, time; sys.stdin.read(); time.sleep(30); open({str(there)!r}, 'w')"
    monitor = Monitor("x")
    async with stdio_transport(program(code), monitor):
        monitor.fail("did not answer in time", CallFault.NETWORK)
    assert not there.exists()


async def test_nobody_waits_for_a_server_that_does_not_read() -> None:
    async with stdio_transport(program("import time; time.sleep(3600)"), Monitor("x")) as (
        _,
        write,
    ):
        async with asyncio.timeout(PATIENCE):
            for _ in range(WAITING // 2):
                await write.send(asking(word="x" * 100_000))  # 3 MB, and a pipe holds 64 KB


async def test_writing_to_a_dead_server_is_an_error() -> None:
    monitor = Monitor("x")
    async with stdio_transport(program("pass"), monitor) as (read, write):
        assert [item async for item in read] == []
        # It may have been noticed already that nobody listens.
        with suppress(anyio.BrokenResourceError):
            for _ in range(3):
                await write.send(asking())
    assert monitor.error is not None
    assert monitor.error.fault is CallFault.NETWORK


async def test_a_cancelled_task_leaves_no_process() -> None:
    before, begun = started_by_us(), asyncio.Event()

    async def wait() -> None:
        async with stdio_transport(program("import time; time.sleep(3600)"), Monitor("x")) as (
            read,
            _,
        ):
            begun.set()
            await read.receive()

    task = asyncio.create_task(wait())
    await begun.wait()
    ours = started_by_us() - before
    assert ours
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert gone(ours, within=0.0)
