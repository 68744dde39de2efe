"""Serving the app on a port until the process is stopped."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import sys
from collections.abc import Callable, Sequence

from deepdiver.core.settings import Settings
from deepdiver.http_listener import listen
from deepdiver.service.access import check_access
from deepdiver.service.app import build
from deepdiver.service.book import open_book
from deepdiver.service.state import CONCURRENCY, KEY, accounts_of

Say = Callable[[str], None]


def serve(
    settings: Settings,
    host: str,
    port: int,
    say: Say,
    *,
    names: Sequence[str] = (),
    concurrency: int = CONCURRENCY,
) -> None:
    """Serve until the process is stopped; runs in progress are saved, and go on at the next start.

    Args:
        settings: The settings of the service; the key `service` is the token of the person at this
            machine, if they want one.
        host: The address to listen on. Unless only this machine can reach it, there must be a token
            or a user.
        port: The port; 0: any free port.
        say: Called with the address, once the service listens.
        names: Further names that it may be reached by, such as that of a proxy in front.
        concurrency: How many runs it works on at a time; 0: none, other workers do.

    Raises:
        UsageError: If anybody could use it, or nobody could reach it.
        DeepdiverError: If the port, the settings or the database cannot be used.
    """
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(name)s: %(message)s")
    with contextlib.closing(open_book(settings.home, settings.database)) as book:
        accounts = accounts_of(book, settings)
        guarded, token = accounts.any(), settings.key(KEY)
        access = check_access(host, names, guarded=guarded, token=token)
        app, _ = build(settings, access, accounts, concurrency=concurrency)
        keep_loaded()
        asyncio.run(listen(app, host, port, say, "/"))


def keep_loaded() -> None:
    """Have no search for garbage look through what is loaded by now, which is never garbage.

    Nobody is served meanwhile: it took 0.26 s among the 350,000 objects of a service with fifty
    runs, of which half are there before the first request.
    """
    gc.collect()
    gc.freeze()
