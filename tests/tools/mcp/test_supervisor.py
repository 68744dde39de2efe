"""The supervisor: whatever a server does and however the run ends, no process is left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from deepdiver.tools.mcp import supervisor
from tests.patience import PATIENCE
from tests.processes import gone, lives
from tests.tools.mcp.conftest import SCRIPTED, read_pids

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no process groups")
SUPERVISOR = Path(supervisor.__file__)


class Held:
    """A program under a supervisor, and the lifeline."""

    def __init__(self, *command: str) -> None:
        lifeline, self.cut = os.pipe()
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(SUPERVISOR), str(lifeline), *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=(lifeline,),
            start_new_session=True,
        )
        os.close(lifeline)

    def ends(self, *, cut: bool = True) -> int:
        if cut:
            os.close(self.cut)
        self.process.communicate(timeout=PATIENCE)
        if not cut:
            os.close(self.cut)
        return self.process.returncode


def test_a_missing_program_has_a_status_of_its_own() -> None:
    held = Held("/nowhere/at/all")
    assert held.ends(cut=False) == supervisor.NOT_STARTED


@pytest.mark.parametrize(("code", "status"), [("pass", 0), ("raise SystemExit(7)", 7)])
def test_it_ends_with_the_status_of_its_server(code: str, status: int) -> None:
    assert Held(sys.executable, "-c", code).ends(cut=False) == status


def test_a_server_that_was_killed_ends_it_too() -> None:
    assert (
        Held(sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)").ends(
            cut=False
        )
        == 1
    )


def test_its_server_has_the_pipes_for_itself() -> None:
    held = Held(sys.executable, "-c", "print(input()); import sys; sys.stderr.write('e')")
    assert held.process.communicate(b"hello\n", timeout=PATIENCE) == (b"hello\n", b"e")
    os.close(held.cut)
    assert held.process.returncode == 0


def test_the_server_obeys_signals_as_usual() -> None:
    code = (
        "import signal; print(*(signal.getsignal(n).name for n in (signal.SIGTERM, "
        "signal.SIGCHLD)))"
    )
    held = Held(sys.executable, "-c", code)
    told, _ = held.process.communicate(timeout=PATIENCE)
    os.close(held.cut)
    assert told.decode().split() == ["SIG_DFL", "SIG_DFL"]


def test_a_cut_lifeline_ends_all_processes(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    held = Held(sys.executable, str(SCRIPTED), "--start", "mute", "--pids", str(pids))
    family = read_pids(pids)
    assert all(lives(number) for number in family)
    assert {os.getpgid(number) for number in family[:3]} == {held.process.pid}
    assert os.getpgid(family[3]) != held.process.pid  # this one went its own way
    held.ends()
    in_group = family if sys.platform == "linux" else family[:3]
    assert gone(in_group)


def test_processes_that_a_server_leaves_behind_are_ended(tmp_path: Path) -> None:
    code = (
        "import subprocess, sys; print(subprocess.Popen(['sleep', '3600'], "
        "stdout=subprocess.DEVNULL).pid)"
    )
    held = Held(sys.executable, "-c", code)
    told, _ = held.process.communicate(timeout=PATIENCE)
    os.close(held.cut)
    assert gone([int(told)])


def test_the_lifeline_is_cut_when_its_holder_is_killed(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    program = f"""
import os, subprocess, sys, time
lifeline, cut = os.pipe()
held = subprocess.Popen(
    [sys.executable, "-I", "-S", {str(SUPERVISOR)!r}, str(lifeline),
     sys.executable, {str(SCRIPTED)!r}, "--start", "mute", "--pids", {str(pids)!r}],
    stdin=subprocess.PIPE, pass_fds=(lifeline,), start_new_session=True,
)
os.close(lifeline)
print(held.pid, flush=True)
time.sleep(3600)
"""
    holder = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    keeper = int(holder.stdout.readline())
    family = read_pids(pids)
    holder.send_signal(signal.SIGKILL)
    holder.wait(PATIENCE)
    holder.stdout.close()
    assert gone([keeper, *(family if sys.platform == "linux" else family[:3])])


def test_it_needs_nothing_but_the_standard_library() -> None:
    code = (
        f"import sys, json, runpy; runpy.run_path({str(SUPERVISOR)!r}); "
        "print(json.dumps(sorted(sys.modules)))"
    )
    told = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, check=True, text=True
    )
    names = {name.partition(".")[0] for name in json.loads(told.stdout)}
    assert not names & {"deepdiver", "mcp", "pydantic", "anyio"}


def test_these_tests_can_see_a_living_process() -> None:
    assert lives(psutil.Process().pid)
    assert not gone([os.getpid()], within=0.0)
