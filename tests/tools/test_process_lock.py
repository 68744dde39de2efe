"""One at a time, also among processes; a holder that dies lets go."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from deepdiver.errors import StoreError
from deepdiver.tools.process_lock import hold_lock, try_lock
from tests.patience import PATIENCE

HOLD = """
import sys, time
from pathlib import Path
from deepdiver.tools.process_lock import hold_lock
with hold_lock(Path(sys.argv[1]), 1.0):
    print("held", flush=True)
    time.sleep(3600)
"""


def test_a_lock_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    with pytest.raises(StoreError), hold_lock(tmp_path / "absent" / "lock", 0.0):
        pass
    (tmp_path / "text").write_text(
        "this is no lock, and longer than a header of one hundred bytes" * 10
    )
    with pytest.raises(StoreError), hold_lock(tmp_path / "text", 0.0):
        pass


def test_a_second_holder_is_told_to_wait(tmp_path: Path) -> None:
    with hold_lock(tmp_path / "lock", 0.0):
        with (
            pytest.raises(StoreError, match="try again when it is done"),
            hold_lock(tmp_path / "lock", 0.1),
        ):
            pass
        with try_lock(tmp_path / "lock") as free:
            assert not free
    with try_lock(tmp_path / "lock") as free:
        assert free


def test_what_fails_lets_go(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="halfway"), hold_lock(tmp_path / "lock", 0.0):
        raise RuntimeError("halfway")
    with hold_lock(tmp_path / "lock", 0.0):
        pass


def test_who_waits_gets_it(tmp_path: Path) -> None:
    order = []

    def first() -> None:
        with hold_lock(tmp_path / "lock", 0.0):
            order.append("first")
            held.set()
            time.sleep(0.3)
            order.append("first ends")

    held = threading.Event()
    thread = threading.Thread(target=first)
    thread.start()
    held.wait(PATIENCE)
    with hold_lock(tmp_path / "lock", PATIENCE):
        order.append("second")
    thread.join()
    assert order == ["first", "first ends", "second"]


def test_a_holder_that_is_killed_lets_go(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path / "lock")], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    with try_lock(tmp_path / "lock") as free:
        assert not free
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    with hold_lock(tmp_path / "lock", PATIENCE):
        pass
