"""The state of the service, which every request works with."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path

from deepdiver.core.scrub import Scrubber
from deepdiver.core.settings import IN_HOME, Settings
from deepdiver.run.watch import Watcher
from deepdiver.service.accounts import Account, Accounts
from deepdiver.service.audit_log import AuditLog
from deepdiver.service.book import Book, open_book, part_of
from deepdiver.service.feed import Feed
from deepdiver.service.joined import Joined
from deepdiver.service.limits import Purses
from deepdiver.service.shares import Shares
from deepdiver.store import Store, open_store
from deepdiver.work import Crew, Queue, open_queue
from deepdiver.work.rounds import attending

KEY = "service"
"""Name of the bearer token among the keys of the settings."""
CONCURRENCY = 2
"""Runs at a time, where nobody says: the embedded reasoner computes, and a laptop has few cores."""
LOOKS = 2
"""Threads for looks that many requests take at once."""
OWN_FOLDER = "_"
"""The folder of the person at this machine; no user can have this name."""


def _stop_nothing(run: str) -> None:
    """Leave a run to the process that works on it, which looks for cancelled ones."""


def named_folder(account: Account) -> Path:
    """Return the folder of a user's own files as runs name it, wherever the home is."""
    return Path(IN_HOME, "files", account.name or OWN_FOLDER)


@dataclass(frozen=True, slots=True)
class ServiceState:
    """The settings, the store, the queue and the users of a service."""

    settings: Settings
    """The settings that the service was started with; requests change what `NewRun` has."""
    store: Store
    """The runs."""
    queue: Queue
    """The orders that wait and that are worked on."""
    accounts: Accounts
    """The users."""
    log: AuditLog
    """What they did."""
    purses: Purses
    """What was set aside for their runs."""
    shares: Shares
    """The links by which others may read a report."""
    feed: Feed
    """The events of runs."""
    clean: Scrubber
    """Takes the secrets of the settings out of texts; making one takes longer than using it."""
    looks: Joined
    """Looks into the store that many requests take at once."""
    stop_here: Callable[[str], None] = _stop_nothing
    """Has a run stop that was cancelled, if this process works on it."""
    ordering: threading.Lock = field(default_factory=threading.Lock)
    """Held while an order is checked against limits and put, so that two do not fit where one
    does."""

    def folder_of(self, account: Account) -> Path:
        """Return the folder of a user's own files."""
        (folder,) = self.settings.places([named_folder(account)])
        return folder

    def scrub(self, text: str) -> str:
        """Return a text with every secret of the settings replaced by [secret]."""
        return self.clean(text)


def accounts_of(book: Book, settings: Settings) -> Accounts:
    """Return the users of a book, with the token of the person at this machine if there is one."""
    return part_of(book, Accounts)(book, settings.key(KEY))


@contextlib.asynccontextmanager
async def open_state(
    settings: Settings,
    *,
    concurrency: int = CONCURRENCY,
    accounts: Accounts | None = None,
    watcher: Callable[[ServiceState], Watcher] | None = None,
) -> AsyncIterator[ServiceState]:
    """Open the store, the queue and the book, and work on runs until the end.

    Runs in progress are saved at the end, and go on when a crew is there again.

    Args:
        settings: The settings of the service.
        concurrency: How many runs this process works on at a time; 0: none, other workers do.
        accounts: The users, if they are open already.
        watcher: Makes what the rounds of watched runs are made with, unless other workers do them.

    Raises:
        StoreError: If a database cannot be used.
    """
    with contextlib.ExitStack() as stack:
        store = stack.enter_context(contextlib.closing(open_store(settings)))
        book = stack.enter_context(contextlib.closing(open_book(settings.home, settings.database)))
        clean = Scrubber(settings.secrets())
        queue, feed = open_queue(store), Feed(store, clean)
        users = accounts or accounts_of(book, settings)
        log, purses = part_of(book, AuditLog)(book), part_of(book, Purses)(book)
        shares = part_of(book, Shares)(book)
        parts = (users, log, purses, shares, feed, clean, Joined(LOOKS, "looks"))
        # On PostgreSQL the runs have connections of their own, for which no request waits. With
        # fifty runs on the same ten, each step of a request waited 80 ms for one, and some 0.4 s.
        # A file has one writer at a time, whoever it is.
        apart = settings.database is not None and concurrency > 0
        work = stack.enter_context(contextlib.closing(open_store(settings))) if apart else store
        crew = Crew(open_queue(work), settings, concurrency=concurrency)
        state = ServiceState(settings, store, queue, *parts, stop_here=crew.stop)
        try:
            if concurrency:
                attended = attending(watcher(state)) if watcher else contextlib.nullcontext()
                async with crew:
                    with attended:
                        yield state
            else:
                yield state
        finally:
            await feed.close()
