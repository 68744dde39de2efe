"""A warm Python is a Python.

Its words, place, environment, streams and terminal, its end, and no thread in it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import PATIENCE
from tests.processes import gone, lives
from tests.terminal import Terminal, run, started, wait_for_line
from tests.warm import Warm

ABOUT = """
import json, os, sys
print(json.dumps([sys.argv, os.getcwd(), sys.path[0], sorted(os.environ), sys.stdin.read()]))
"""


def test_what_does_not_start_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(RuntimeError, match="did not start"), Warm():
        pass


def test_where_none_listens_nothing_is_started(warm: Warm, tmp_path: Path) -> None:
    done = run("--version", program=(*warm.python[:-1], str(tmp_path / "door")))
    assert done.returncode == 1
    assert "FileNotFoundError" in done.stderr


def test_what_it_says_is_what_a_cold_one_says(warm: Warm) -> None:
    for words in (["--version"], ["--frob"], ["show", "nothing"]):
        cold, other = run(*words), run(*words, program=warm.command)
        assert (other.returncode, other.stdout, other.stderr) == (
            cold.returncode,
            cold.stdout,
            cold.stderr,
        )


@pytest.mark.parametrize("way", ["-c", "file", "-m"])
def test_it_is_where_it_was_started(warm: Warm, tmp_path: Path, way: str) -> None:
    (tmp_path / "about.py").write_text(ABOUT)
    words = {"-c": ["-c", ABOUT], "file": [str(tmp_path / "about.py")], "-m": ["-m", "about"]}[way]
    both = [
        subprocess.run(
            [*program, *words, "one", "--two"],
            cwd=tmp_path,
            env={"ONE": "ä", "LC_ALL": "C.UTF-8"},
            input="given",
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for program in ([sys.executable], warm.python)
    ]
    cold, other = both
    # "" is the folder.
    assert other == (cold if way != "-c" else cold.replace('"", [', f'"{tmp_path}", ['))


def test_a_module_on_its_own_path_is_found(warm: Warm, tmp_path: Path) -> None:
    (tmp_path / "elsewhere.py").write_text("print('found')")
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [*warm.python, "-m", "elsewhere"], env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout == "found\n"


@pytest.mark.parametrize(
    ("code", "ended"),
    [
        ("import sys; sys.exit(7)", 7),
        ("raise ValueError('so')", 1),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL),
        ("import atexit, os; atexit.register(os._exit, 9)", 9),
    ],
)
def test_it_ends_as_its_command_ends(warm: Warm, code: str, ended: int) -> None:
    done = subprocess.run([*warm.python, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == ended
    assert ("ValueError: so" in done.stderr) == (ended == 1)


WAITS = "import os, sys, time; print(os.getpid(), file=sys.stderr); time.sleep(3600)"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_reach_the_command(warm: Warm, number: signal.Signals) -> None:
    with started("-c", WAITS, program=warm.python) as process:
        wait_for_line(process, "\n")
        process.send_signal(number)
        assert process.wait(PATIENCE) == -number


def test_a_command_whose_caller_is_killed_is_killed(warm: Warm) -> None:
    with started("-c", WAITS, program=warm.python) as process:
        command = int(wait_for_line(process, "\n"))
        assert lives(command)
        process.kill()
        assert gone([command])


def test_a_terminal_is_its_own_and_ctrl_c_reaches_it(warm: Warm) -> None:
    code = (
        "import os, time; print(os.isatty(0), os.getsid(0) == os.getpid(), flush=True); "
        "time.sleep(3600)"
    )
    with Terminal("-c", code, program=warm.python) as terminal:
        terminal.wait_for("True True")
        terminal.type("\x03")
        assert terminal.leave() == -signal.SIGINT
    assert "KeyboardInterrupt" in terminal.text


def test_no_thread_runs_in_what_is_forked(warm: Warm) -> None:
    tasks = Path("/proc/self/task")
    if not tasks.exists():
        pytest.skip("this system does not list threads")
    done = run("-c", f"import os; print(len(os.listdir({str(tasks)!r})))", program=warm.python)
    assert done.stdout == "1\n"


def test_commands_run_side_by_side(warm: Warm) -> None:
    with (
        started("-c", WAITS, program=warm.python) as one,
        started("-c", WAITS, program=warm.python) as other,
    ):
        assert wait_for_line(one, "\n") != wait_for_line(other, "\n")
        assert run("--version", program=warm.command).returncode == 0
