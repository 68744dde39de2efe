"""The lease of a run: one process works on it at a time, and renews the lease every few seconds."""

from __future__ import annotations

import asyncio
import contextlib
import os
import platform
import secrets
import sys
import time

from deepdiver.core.record import Run
from deepdiver.errors import DeepdiverError, RunBusyError
from deepdiver.store import Store

LEASE_SECONDS = 30.0
"""A process that has been silent for this long has lost its run."""
HEARTBEAT_SECONDS = 3.0
"""Seconds between renewals; also how soon a run notices that it was asked to stop."""


class Lease:
    """This process's hold on a run."""

    def __init__(self, run: Run, store: Store) -> None:
        """Prepare a lease; `take` takes it."""
        self._run, self._leases = run.id, store.leases
        self._owner = f"{platform.node()}:{os.getpid()}:{secrets.token_hex(3)}"

    def take(self) -> None:
        """Take the run, even from a dead process of this machine.

        Raises:
            RunBusyError: If another process works on it.
        """
        try:
            self._leases.take(self._run, self._owner, time.time(), LEASE_SECONDS)
        except RunBusyError as busy:
            host, _, process = busy.holder.rpartition(":")[0].rpartition(":")
            if host != platform.node() or not process.isdigit() or is_running(int(process)):
                raise
            self._leases.drop(self._run, busy.holder)
            self._leases.take(self._run, self._owner, time.time(), LEASE_SECONDS)

    async def keep(self) -> None:
        """Renew the lease until the run is asked to stop or the lease is lost."""
        while True:
            await asyncio.sleep(HEARTBEAT_SECONDS)
            kept = await asyncio.to_thread(
                self._leases.renew, self._run, self._owner, time.time(), LEASE_SECONDS
            )
            if not kept or await asyncio.to_thread(self._leases.asked_to_stop, self._run):
                return

    def drop(self) -> None:
        """Give the run back; if that fails, the lease runs out by itself."""
        with contextlib.suppress(DeepdiverError):
            self._leases.drop(self._run, self._owner)


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
