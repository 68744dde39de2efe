"""Calls that belong to no run: a feed asked by itself, a question about a finished run.

They go through a gateway like all others, so that limits are obeyed, answers are shared and no
secret gets out. Their journal is in memory: there is no run to resume or replay, `deepdiver runs`
does not list them, and they leave nothing behind however the process ends. They share the cache and
the limits of the home with every run and process.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from deepdiver.core.events import Event
from deepdiver.core.record import Run
from deepdiver.core.settings import Settings
from deepdiver.core.version import VERSION
from deepdiver.gateway import Gateway
from deepdiver.store import Store, open_store
from deepdiver.store.sqlite import open_memory
from deepdiver.store.views import share_cache_and_limits


@dataclass(frozen=True, slots=True)
class Errand:
    """What calls that belong to no run need."""

    run: Run
    """A run that is not kept."""
    gateway: Gateway
    """The gateway."""
    store: Store
    """The texts and the journal, which are in memory."""


def ignore_event(event: Event) -> None:
    """Drop an event."""


@contextlib.asynccontextmanager
async def detached_gateway(
    settings: Settings, *, store: Store | None = None, emit: Callable[[Event], None] = ignore_event
) -> AsyncIterator[Gateway]:
    """Open a gateway for calls that belong to no run; see `open_errand`."""
    async with open_errand(settings, store=store, emit=emit) as errand:
        yield errand.gateway


@contextlib.asynccontextmanager
async def open_errand(
    settings: Settings, *, store: Store | None = None, emit: Callable[[Event], None] = ignore_event
) -> AsyncIterator[Errand]:
    """Open a gateway for calls that belong to no run, with the store of what they fetch.

    Use one for each errand: within it, no call is made twice.

    Args:
        settings: As for a run; the budget is for the errand.
        store: The home's store, if it is already open.
        emit: Receives the events.

    Raises:
        StoreError: If the database of the home cannot be used.
    """
    with contextlib.ExitStack() as held:
        shared = store or held.enter_context(contextlib.closing(open_store(settings)))
        own = held.enter_context(contextlib.closing(open_memory()))
        # The name must be unique: it holds places and claims among all processes of the home.
        run = Run(
            id=f"loose-{secrets.token_hex(8)}",
            question="",
            strategy="popper",
            settings={},
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            version=VERSION,
        )
        own.runs.create(run)
        joint = share_cache_and_limits(own, shared)
        yield Errand(run, Gateway(joint, run.id, settings, emit), joint)
