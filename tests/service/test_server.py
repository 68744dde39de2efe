"""Serving on a port: who may listen where, and what a signal does."""

from __future__ import annotations

import gc
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from deepdiver.core.settings import Settings
from deepdiver.errors import UsageError
from deepdiver.service.server import keep_loaded, serve
from tests.service.rig import QUESTION, eventually, tokens_of
from tests.warm import Warm

EVERYWHERE = "0.0.0.0"  # noqa: S104  refused, not bound


def nobody(line: str) -> None:
    raise AssertionError(f"it listens: {line}")


def test_nobody_but_this_machine_may_reach_it_without_a_token(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="can be reached from other machines"):
        serve(Settings(home=tmp_path), EVERYWHERE, 0, nobody)


def test_with_a_user_somebody_must_say_by_which_name(tmp_path: Path) -> None:
    tokens_of(tmp_path, "ada")
    with pytest.raises(UsageError, match="--allow-host"):
        serve(Settings(home=tmp_path), EVERYWHERE, 0, nobody)


def test_a_port_that_is_taken(tmp_path: Path) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = str(taken.getsockname()[1])
        command = [sys.executable, "-m", "deepdiver", "serve", "--port", port]
        ended = subprocess.run(
            [*command, "--home", str(tmp_path)], capture_output=True, text=True, check=False
        )
    assert ended.returncode == 1
    assert "choose another --port" in ended.stderr


def test_garbage_is_not_looked_for_in_what_is_loaded() -> None:
    loaded = [object() for _ in range(3)]
    before, kept = len(gc.get_objects()), gc.get_freeze_count()
    keep_loaded()
    # And it stays so: through what the tests have loaded, each search takes most of a second.
    assert gc.get_freeze_count() - kept > before / 2
    assert not any(item is loaded for item in gc.get_objects())


def start(home: Path, program: Sequence[str]) -> tuple[subprocess.Popen[str], str]:
    command = [*program, "serve", "--port", "0", "--home", str(home)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ})
    assert process.stderr is not None
    line = process.stderr.readline()
    assert line.startswith("listening on http://127.0.0.1:"), line + process.stderr.read()
    return process, line.split()[-1].rstrip("/")


@pytest.mark.waits
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_run_goes_on_after_the_server_was_ended(
    tmp_path: Path, how: signal.Signals, warm: Warm
) -> None:
    first, url = start(tmp_path, warm.command)
    with first:
        asked = {"question": QUESTION}
        run = httpx.post(f"{url}/api/v1/runs", json=asked, timeout=60).json()["id"]
        eventually(lambda: httpx.get(f"{url}/api/v1/runs/{run}").json()["status"] != "queued")
        first.send_signal(how)
        first.wait(60)
    second, url = start(tmp_path, warm.command)
    with second:
        try:
            path = f"{url}/api/v1/runs/{run}"
            eventually(lambda: httpx.get(path, timeout=60).json()["finished"])
        finally:
            second.terminate()
            second.wait(60)
