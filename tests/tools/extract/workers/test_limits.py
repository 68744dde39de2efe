"""Limits, tried for real: each in a process of its own, since they cannot be lifted again."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

import pytest

from deepdiver.tools.extract.workers import limits
from tests.patience import PATIENCE

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the limits are Linux's")

CONFINED = "import sys, os; from deepdiver.tools.extract.workers import limits; limits.confine()\n"
FILTERED = pytest.mark.skipif(
    platform.machine() not in limits._SYSCALLS, reason="no filter for this processor"
)


def run(
    code: str, timeout: float = PATIENCE, confined: str = CONFINED
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", confined + code],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def test_memory_is_limited_and_little_of_it_is_not() -> None:
    ended = run(
        "x = bytearray(60_000_000)\ntry:\n    bytearray(300_000_000)\nexcept MemoryError:\n    "
        "print('limited')"
    )
    assert ended.stdout == "limited\n"


def test_nothing_can_be_written(tmp_path: Path) -> None:
    file = tmp_path / "written"
    ended = run(
        "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        f"try:\n    with open({str(file)!r}, 'w') as file:\n        file.write('x' * 100)\n"
        "except OSError as error:\n    print(error.strerror)"
    )
    assert ended.stdout == "File too large\n"
    assert file.read_bytes() == b""


@FILTERED
@pytest.mark.parametrize(
    "code",
    [
        "import socket; socket.socket()",
        "import socket; socket.socketpair()",
        "import subprocess; subprocess.run(['/bin/true'])",
        "os.execv('/bin/true', ['true'])",
    ],
)
def test_no_socket_and_no_program(code: str) -> None:
    ended = run(f"try:\n    {code}\nexcept PermissionError as error:\n    print('refused')")
    assert (ended.stdout, ended.stderr) == ("refused\n", "")


@FILTERED
def test_no_socket_for_code_in_c_either() -> None:
    ended = run(
        "import ctypes; libc = ctypes.CDLL(None, use_errno=True); print(libc.socket(2, 1, 0), "
        "ctypes.get_errno())"
    )
    assert ended.stdout == "-1 1\n"


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [1, pytest.param(limits.CPU_SECONDS, marks=pytest.mark.proof)])
def test_time_is_limited(seconds: int) -> None:
    confined = CONFINED.replace(
        "limits.confine()", f"limits.CPU_SECONDS = {seconds}; limits.confine()"
    )
    ended = run("while True: pass", confined=confined)
    assert ended.returncode in (-24, -9)  # SIGXCPU, or SIGKILL where both limits are one


def test_the_filter_as_a_program() -> None:
    code = limits.syscall_filter(0xC000003E, (41, 59))
    assert len(code) == 8 * 8
    assert code[-8:] == bytes.fromhex("0600000001000500")  # the last step refuses with EPERM
    assert code[-16:-8] == bytes.fromhex("060000000000ff7f")  # the one before lets through


def test_what_is_held_already_counts() -> None:
    here = limits._data()
    assert limits._LEAST < here < 2**40
    assert limits.MEMORY < 256 * 2**20


def test_a_fork_dies_with_its_parent() -> None:
    code = (
        "import os, sys, time, signal\nfrom deepdiver.tools.extract.workers import limits\n"
        "ours, theirs = os.pipe()\n"
        "if not os.fork():\n"
        "    limits.die_with_parent(); os.write(theirs, b'x'); time.sleep(3600); os._exit(0)\n"
        "os.read(ours, 1)\nos.kill(os.getpid(), signal.SIGKILL)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, timeout=PATIENCE, check=False
    )
    # And the pipes of the fork are closed, or this would have waited for an hour.
    assert ended.returncode == -9
