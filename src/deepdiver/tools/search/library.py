"""Your own documents: those of `deepdiver library`, those given with --in, or the sample."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar

from pydantic import SecretStr

from deepdiver.core.record import SourceKind
from deepdiver.core.settings import Settings
from deepdiver.core.text import Span
from deepdiver.errors import NoEvidenceError
from deepdiver.gateway import Gateway, Reply, Request
from deepdiver.tools.daemon_threads import in_daemon_thread
from deepdiver.tools.hit import Hit
from deepdiver.tools.library import ranking
from deepdiver.tools.library.files import name_within
from deepdiver.tools.library.folder_walk import fingerprint_of
from deepdiver.tools.library.interface import (
    Entry,
    Library,
    Match,
    OnProgress,
    Progress,
    SearchFilter,
    UnreadFile,
)
from deepdiver.tools.library.open_library import folder_of, has_documents, open_library

T = TypeVar("T")

READING = 3_600.0
"""The most seconds for reading all documents: long, because nobody else waits for it."""
SEARCHING = 600.0
"""The least seconds for a search: the documents are here, and a busy machine is slow, not gone."""
LONG, REST = 0.5, 10.0
"""LONG is the most seconds that a check for changed files may take before every search. After a
longer one there is no other check for REST times as long."""
TOLD_EVERY = 2.0
"""Seconds between two messages of progress, and before the first."""
NAMED = 10
"""The most unreadable files that are named one by one: a folder of pictures must not fill the
report."""


class Shelf:
    """A library that is open in this process, and how its files looked at the last check."""

    def __init__(self, settings: Settings, paths: tuple[Path, ...]) -> None:
        """Open it."""
        self.library: Library = open_library(settings, paths)
        self._paths, self._within = paths, settings.places(settings.documents_within)
        self._turn = threading.Lock()
        self._stamp = ""
        self._again = 0.0
        self._unread: tuple[UnreadFile, ...] = ()

    def look(self, told: OnProgress = lambda _: None) -> tuple[UnreadFile, ...]:
        """Bring it up to date, if any of its files changed since; returns what could not be read.

        Searches run side by side: one of them brings it up to date, and the others wait. After a
        check that took long, there is no other check for REST times as long: a million files take
        ten seconds, before every search.

        Args:
            told: Is called with the progress. An error that it raises ends the work, and what was
                done until then is kept.

        Raises:
            UsageError: If a path does not exist or cannot be opened.
        """
        with self._turn:
            if not self._paths:  # `deepdiver library refresh` is for that
                self._unread = tuple(self.library.unread())
            elif time.monotonic() >= self._again:
                began = time.monotonic()
                seen = fingerprint_of(self._paths, self._within)
                took = time.monotonic() - began
                if seen != self._stamp:
                    found = self.library.refresh(self._paths, told, within=self._within)
                    self._unread = found.unread
                    self._stamp = seen
                self._again = time.monotonic() + (REST * took if took > LONG else 0.0)
            # In a larger library each search embeds what it needs.
            if self.library.passages() <= ranking.WHOLE:
                self.library.embed(told)
            return self._unread


class _Abandoned(Exception):
    """Nobody waits for the work any more."""


async def in_library_thread(
    look: Callable[[OnProgress], T], tell: OnProgress = lambda _: None
) -> T:
    """Look at a library in a thread, and return what was found.

    If the caller is cancelled, the thread ends at the next file or batch. If the disk does not
    answer, it is left behind, and does not keep the process from ending.

    Args:
        look: Is called with the function that it tells its progress.
        tell: Receives the progress, in that thread, every TOLD_EVERY seconds.
    """

    def work(left: threading.Event) -> T:
        last = time.monotonic()

        def told(now: Progress) -> None:
            nonlocal last
            if left.is_set():
                raise _Abandoned
            if time.monotonic() - last >= TOLD_EVERY:
                last = time.monotonic()
                tell(now)

        return look(told)

    return await in_daemon_thread(work, "library")


async def _in_thread(look: Callable[[OnProgress], T], gateway: Gateway, request: Request) -> T:
    """Look at a library in a thread, and report the progress as that of a call."""
    loop = asyncio.get_running_loop()

    def tell(now: Progress) -> None:
        loop.call_soon_threadsafe(gateway.report_progress, request, now.stage, now.done, now.total)

    return await in_library_thread(look, tell)


SHELVES = 4
"""The most libraries that are kept open."""
_OPENING = threading.Lock()
_OPEN: dict[tuple[Path, tuple[Path, ...], SecretStr | None], Shelf] = {}


def shelf(settings: Settings) -> Shelf:
    """Return the library of the settings; it is opened once and stays open."""
    paths, within = settings.places(settings.documents), settings.places(settings.documents_within)
    key = (folder_of(settings.home, paths), within, settings.database)
    with _OPENING:
        if key not in _OPEN:
            _OPEN[key] = Shelf(settings, paths)
            for old in list(_OPEN)[:-SHELVES]:
                del _OPEN[old]
        return _OPEN[key]


class LibraryProvider:
    """Searches the documents of the settings, or else those of the main library."""

    name = "library"
    about = "your own documents (deepdiver library add, --in PATH, or --sample)"
    group = "own"
    list_price = Decimal(0)

    def missing(self, settings: Settings) -> str | None:
        """Return that documents are needed, unless there are any."""
        if settings.documents or has_documents(settings):
            return None
        return (
            "no documents were given: add --in PATH, or --sample, or fill your library with "
            "deepdiver library add"
        )

    async def prepare(self, gateway: Gateway) -> list[str]:
        """Bring the library up to date, and return what cannot be searched, or not in full.

        Raises:
            NoEvidenceError: If there is nothing in it.
            UsageError: If a path does not exist or cannot be opened.
        """
        paths = gateway.settings.documents

        def look(told: OnProgress) -> dict[str, Any]:
            held = shelf(gateway.settings)
            unread = held.look(told)
            lines = [_named(item, gateway).line for item in unread[:NAMED]]
            if more := unread[NAMED:]:
                lines.append(f"{len(more)} more files were not read")
            return {
                "passages": held.library.passages(),
                "unread": lines,
                "behind": held.library.note,
            }

        async def do() -> Reply:
            return Reply(await _in_thread(look, gateway, request))

        payload = {"open": [str(path) for path in paths]}
        request = Request(
            "search", self.name, "open the library", payload, fresh=True, seconds=READING
        )
        found = (await gateway.call(request, do)).value
        if not found["passages"]:
            listed = "; ".join(found["unread"][:3]) or "there is no file"
            shown = paths and not gateway.settings.documents_within
            where = (
                f"under {', '.join(str(path) for path in paths)}" if shown else "of your library"
            )
            raise NoEvidenceError(f"no document {where} can be searched: {listed}")
        return [*found["unread"], *filter(None, [found["behind"]])]

    async def everything(self, most: int, gateway: Gateway) -> list[Hit]:
        """Return all documents, if their texts have at most so many characters; else nothing.

        A restriction to some dates is for searches, so then nothing is returned either.
        """
        settings = gateway.settings
        if settings.filters.since or settings.filters.until:
            return []

        def look(told: OnProgress) -> list[tuple[Entry, str]]:
            held = shelf(settings)
            held.look(told)
            return held.library.whole(most)

        async def do() -> Reply:
            found = await _in_thread(look, gateway, request)
            matches = [(Match(entry, Span(0, len(text)), 1.0), text) for entry, text in found]
            hits = [
                _hit(match, text, await gateway.save_text(text), gateway) for match, text in matches
            ]
            snapshots = tuple(dict.fromkeys(hit.snapshot for hit in hits))
            return Reply([hit.model_dump(mode="json") for hit in hits], texts=snapshots)

        payload = {"whole": most, "paths": [str(path) for path in settings.documents]}
        request = Request(
            "search",
            self.name,
            "the whole library",
            payload,
            fresh=True,
            seconds=_patience(gateway),
        )
        reply = await gateway.call(request, do)
        return [Hit.model_validate(item) for item in reply.value]

    async def search(self, query: str, limit: int, gateway: Gateway) -> list[Hit]:
        """Search the documents; the answer is journalled, so that a replay reads the same texts."""
        settings = gateway.settings
        where = SearchFilter(since=settings.filters.since, until=settings.filters.until)

        def look(told: OnProgress) -> list[tuple[Match, str]]:
            held = shelf(settings)
            held.look(told)
            library, texts = held.library, dict[int, str]()
            found = []
            for match in library.search(query, limit, where):
                if match.entry.id not in texts:
                    texts[match.entry.id] = library.text(match.entry)
                found.append((match, texts[match.entry.id]))
            return found

        async def do() -> Reply:
            found = await _in_thread(look, gateway, request)
            hits = [
                _hit(match, text, await gateway.save_text(text), gateway) for match, text in found
            ]
            snapshots = tuple(dict.fromkeys(hit.snapshot for hit in hits))
            return Reply([hit.model_dump(mode="json") for hit in hits], texts=snapshots)

        payload: dict[str, Any] = {
            "query": query,
            "limit": limit,
            "paths": [str(path) for path in settings.documents],
        }
        payload |= {
            name: str(day) for name, day in (("since", where.since), ("until", where.until)) if day
        }
        wait = _patience(gateway)
        request = Request("search", self.name, query, payload, fresh=True, seconds=wait)
        reply = await gateway.call(request, do)
        return [Hit.model_validate(item) for item in reply.value]


def _patience(gateway: Gateway) -> float:
    """Return the most seconds for a search; the setting may ask for more, and 0 is a day."""
    asked = gateway.settings.deadlines.search
    return max(asked, SEARCHING) if asked else asked


def _named(item: UnreadFile, gateway: Gateway) -> UnreadFile:
    return replace(item, url=_name(item.url, gateway.settings))


def _name(url: str, settings: Settings) -> str:
    return name_within(url, settings.places(settings.documents_within))


def _hit(match: Match, text: str, snapshot: str, gateway: Gateway) -> Hit:
    """Return a match as a hit.

    If a secret was removed from the saved text, offsets count the characters that are left.
    """
    entry, start, end = match.entry, match.span.start, match.span.end
    if gateway.scrub(text) != text:
        start, end = len(gateway.scrub(text[:start])), len(gateway.scrub(text[:end]))
    return Hit(
        url=_name(entry.url, gateway.settings),
        title=entry.title,
        kind=SourceKind.DOCUMENT,
        publisher=entry.publisher,
        publisher_kind=entry.publisher_kind,
        author=entry.author,
        published=entry.published,
        language=entry.language,
        marks=entry.marks if start == match.span.start else (),
        complete=True,
        snapshot=snapshot,
        start=start,
        end=end,
        provider=LibraryProvider.name,
    )


PROVIDER = LibraryProvider()
