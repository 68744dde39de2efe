"""The lease of a run: one process works on it at a time, and renews the lease every few seconds."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import platform
import secrets
import sqlite3
import sys
import threading
import time
import uuid
from enum import Enum, auto
from pathlib import Path

from deepdiver.core.identity import digest
from deepdiver.core.record import Run
from deepdiver.errors import (
    DeepdiverError,
    RunBusyError,
    StoppedError,
    StoreError,
    UnknownNameError,
)
from deepdiver.store import Store

LEASE_SECONDS = 20.0
"""A process that has been silent for this long has lost its run. A worker looks for such runs every
few seconds, so another one goes on within 30 s."""
HEARTBEAT_SECONDS = 3.0
"""Seconds between renewals; also how soon a run notices that it was asked to stop."""


class LeaseEnd(Enum):
    """Why a lease is not kept any longer."""

    STOP = auto()
    """The run was asked to stop."""
    LOST = auto()
    """Another process has taken the run, which it can once this one was silent for too long."""


class Lease:
    """This process's hold on a run."""

    def __init__(self, run: Run, store: Store) -> None:
        """Prepare a lease; `take` takes it."""
        self._run, self._runs, self._leases = run.id, store.runs, store.leases
        self._owner = f"{machine_name()}:{os.getpid()}:{secrets.token_hex(3)}"

    def take(self) -> None:
        """Take the run, even from a dead process of this machine.

        Raises:
            RunBusyError: If another process works on it.
        """
        try:
            self._leases.take(self._run, self._owner, time.time(), LEASE_SECONDS)
        except RunBusyError as busy:
            host, _, process = busy.holder.rpartition(":")[0].rpartition(":")
            if host != machine_name() or not process.isdigit() or is_running(int(process)):
                raise
            self._leases.drop(self._run, busy.holder)
            self._leases.take(self._run, self._owner, time.time(), LEASE_SECONDS)

    async def keep(self) -> LeaseEnd:
        """Renew the lease until the run is asked to stop or the lease is lost; return which.

        If the database fails, it is tried again: the lease may still be ours. The heart has a
        thread of its own: a run may compute for longer than the lease lasts.
        """
        loop, left = asyncio.get_running_loop(), threading.Event()
        ended: asyncio.Future[LeaseEnd] = loop.create_future()
        threading.Thread(target=self._beat, args=(loop, ended, left), daemon=True).start()
        try:
            return await ended
        finally:
            left.set()

    def _beat(
        self,
        loop: asyncio.AbstractEventLoop,
        ended: asyncio.Future[LeaseEnd],
        left: threading.Event,
    ) -> None:
        while not left.wait(HEARTBEAT_SECONDS):
            # The others: the run has ended just now, and its store is closed, or being closed.
            with contextlib.suppress(StoreError, ValueError, sqlite3.ProgrammingError):
                if (end := self._renew()) is not None:
                    with contextlib.suppress(RuntimeError):  # so has its loop
                        loop.call_soon_threadsafe(_settle, ended, end)
                    return

    def _renew(self) -> LeaseEnd | None:
        if not self._leases.renew(self._run, self._owner, time.time(), LEASE_SECONDS):
            return LeaseEnd.LOST
        return LeaseEnd.STOP if self._leases.asked_to_stop(self._run) else None

    def loss(self) -> DeepdiverError:
        """Return the error that says what became of the run, now that this lease is lost."""
        silent = f"this process had been silent for more than {LEASE_SECONDS:g} s"
        try:
            self._runs.get(self._run)
        except UnknownNameError:
            return StoppedError(f"run {self._run} was deleted: {silent}")
        holder = self._leases.holder(self._run)
        return RunBusyError(
            f"run {self._run} was taken over by {holder or 'another process'}, because {silent}; "
            f"it has stopped working on the run: wait for the other process, or stop that one with "
            f"`deepdiver stop {self._run}`",
            holder=holder,
        )

    def drop(self) -> None:
        """Give the run back; if that fails, the lease runs out by itself."""
        with contextlib.suppress(DeepdiverError):
            self._leases.drop(self._run, self._owner)


def _settle(ended: asyncio.Future[LeaseEnd], end: LeaseEnd) -> None:
    if not ended.done():
        ended.set_result(end)


@functools.cache
def machine_name() -> str:
    """Return a name of this machine, within which a number names one process.

    Machines that share a database may have the same host name, and so may containers, each of which
    numbers its own processes. So it ends in a mark of this boot and this numbering, or of the
    network card where the system tells neither.
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")
        mark = f"{boot}{Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        mark = str(uuid.getnode())
    return f"{platform.node()}-{digest(mark)[:8]}"


def is_running(process: int) -> bool:
    """Return whether a process runs on this machine; True if there is no safe way to ask."""
    if sys.platform == "win32":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        # It runs, and belongs to another user.
        return True
    return True
