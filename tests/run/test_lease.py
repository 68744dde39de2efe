"""One process works on a run at a time."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from pathlib import Path

import pytest

from deepdiver.core.record import RunStatus
from deepdiver.errors import RunBusyError, StoreError
from deepdiver.run import lease as module
from deepdiver.run.lease import Lease, LeaseEnd, is_running, machine_name
from tests.strategies.rig import Rig


@pytest.fixture
def dead() -> int:
    """The number of a process that has ended."""
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    return gone.pid


@pytest.fixture(autouse=True)
def _quick_heart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "HEARTBEAT_SECONDS", 0.01)


@pytest.mark.parametrize(
    "holder",
    [f"{machine_name()}:{os.getpid()}:abc", "elsewhere:1:abc", f"{machine_name()}:x:abc", "odd"],
    ids=["this process", "another machine", "not a process", "not an owner"],
)
async def test_a_run_that_somebody_else_holds_is_refused(tmp_path: Path, holder: str) -> None:
    rig = Rig(tmp_path)
    rig.store.leases.take(rig.run.id, holder, time.time(), 3_600)
    with pytest.raises(RunBusyError, match="is being worked on by"):
        await rig.work()


async def test_a_dead_number_on_a_machine_of_the_same_name_says_nothing(
    tmp_path: Path, dead: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There, the number may be that of a process that works."""
    rig = Rig(tmp_path)
    monkeypatch.setattr(Path, "readlink", lambda path: Path("pid:[another container]"))
    there = machine_name.__wrapped__()
    monkeypatch.undo()
    assert there.rpartition("-")[0] == machine_name().rpartition("-")[0] == platform.node()
    rig.store.leases.take(rig.run.id, f"{there}:{dead}:abc", time.time(), 3_600)
    with pytest.raises(RunBusyError, match="is being worked on by"):
        await rig.work()


def test_a_machine_that_tells_nothing_of_itself_has_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, **given: object) -> str:
        raise FileNotFoundError(path)

    monkeypatch.setattr(Path, "read_text", refuse)
    assert machine_name.__wrapped__() == machine_name.__wrapped__() != machine_name()


async def test_a_run_held_by_a_dead_process_of_this_machine_is_taken_over(
    tmp_path: Path, dead: int
) -> None:
    rig = Rig(tmp_path)
    rig.store.leases.take(rig.run.id, f"{machine_name()}:{dead}:abc", time.time(), 3_600)
    assert (await rig.work()).run.status is RunStatus.ANSWERED


async def test_the_lease_is_given_back_however_the_run_ends(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    await rig.work()
    rig.store.leases.take(rig.run.id, "next", time.time(), 30)


async def test_a_lease_is_kept_until_somebody_asks_to_stop(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    lease = Lease(rig.run, rig.store)
    lease.take()
    rig.store.leases.ask_to_stop(rig.run.id)
    assert await lease.keep() is LeaseEnd.STOP


async def test_a_lease_is_kept_until_it_is_lost(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    lease = Lease(rig.run, rig.store)
    lease.take()
    lease.drop()
    rig.store.leases.take(rig.run.id, "elsewhere:1:abc", time.time(), 3_600)
    rig.store.leases.ask_to_stop(rig.run.id)  # that is meant for the other one
    assert await lease.keep() is LeaseEnd.LOST
    lost = lease.loss()
    assert isinstance(lost, RunBusyError)
    assert lost.holder == "elsewhere:1:abc"
    assert str(lost).startswith(f"run {rig.run.id} was taken over by elsewhere:1:abc, because this")
    rig.store.leases.drop(rig.run.id, "elsewhere:1:abc")
    assert "was taken over by another process, because" in str(lease.loss())


async def test_a_run_that_was_deleted_was_not_taken_over(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    lease = Lease(rig.run, rig.store)
    lease.take()
    rig.store.runs.delete(rig.run.id, time.time() + module.LEASE_SECONDS + 1)
    assert await lease.keep() is LeaseEnd.LOST
    assert str(lease.loss()).startswith(f"run {rig.run.id} was deleted: this process had been")


async def test_a_lease_is_kept_although_the_database_fails_for_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = Rig(tmp_path)
    lease = Lease(rig.run, rig.store)
    lease.take()
    rig.store.leases.ask_to_stop(rig.run.id)
    real, failures = rig.store.leases.renew, [StoreError("locked"), StoreError("locked")]

    def renew(run: str, owner: str, now: float, seconds: float) -> bool:
        if failures:
            raise failures.pop()
        return real(run, owner, now, seconds)

    monkeypatch.setattr(rig.store.leases, "renew", renew)
    assert await lease.keep() is LeaseEnd.STOP
    assert failures == []


def test_a_lease_that_cannot_be_given_back_frees_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = Rig(tmp_path)
    lease = Lease(rig.run, rig.store)
    lease.take()

    def refuse(run: str, owner: str) -> None:
        raise StoreError("the disk is gone")

    monkeypatch.setattr(rig.store.leases, "drop", refuse)
    lease.drop()
    later = time.time() + module.LEASE_SECONDS + 1
    rig.store.leases.take(rig.run.id, "next", later, 30)


def test_a_process_is_running_or_not(dead: int) -> None:
    assert is_running(os.getpid())
    assert not is_running(dead)
    assert is_running(1), "it belongs to somebody else, or to root"


def test_where_a_process_cannot_be_asked_after_it_counts_as_running(
    monkeypatch: pytest.MonkeyPatch, dead: int
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    assert is_running(dead)


def test_a_process_of_somebody_else_is_running(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(process: int, signal: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "kill", refuse)
    assert is_running(4_711)
