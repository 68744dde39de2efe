"""Other views of a store: without writing, with the cache of another one, with a memory."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from typing_extensions import override

from deepdiver.core.identity import digest as digest_of
from deepdiver.core.record import Run, RunStatus
from deepdiver.errors import LostTextError
from deepdiver.store.base import EVERY_RUN, PastRun, Records, Runs, Store, Texts

REMEMBERED = 4_000_000
"""Characters of texts that a run remembers: some forty long articles."""


def read_only(store: Store) -> Store:
    """Return a store whose runs, records and texts can be read and whose writes do nothing.

    A replay uses it, because the run has already saved everything. Journal, leases, cache and
    limits are those of the store itself.
    """
    return replace(
        store,
        runs=_ReadOnlyRuns(store.runs),
        records=_ReadOnlyRecords(store.records),
        texts=_ReadOnlyTexts(store.texts),
    )


def remember_texts(store: Store, most: int = REMEMBERED) -> Store:
    """Return a store that reads a text once, as long as it is among those that were read last.

    A run uses it. It refers to its texts, so that nobody deletes them meanwhile, and looks at each
    of them time and again, in the loop in which it also learns that it is to stop. Fifty runs that
    asked PostgreSQL each time kept all connections of their process busy, and heard of a stop up to
    3 s later.

    Args:
        store: The store.
        most: The most characters that are remembered.
    """
    return replace(store, texts=_RememberedTexts(store.texts, most))


def share_cache_and_limits(own: Store, shared: Store) -> Store:
    """Return a store with the cache and the limits of another.

    A cached answer may refer to a text in the other store, which is copied when a run refers to it.
    """
    texts = _CopyingTexts(own.texts, shared.texts)
    return replace(own, cache=shared.cache, limits=shared.limits, texts=texts)


class _ReadOnlyRuns(Runs):
    def __init__(self, runs: Runs) -> None:
        self._runs = runs

    @override
    def create(self, run: Run) -> None:
        pass

    @override
    def begin(self, run: Run) -> bool:
        return False

    @override
    def get(self, run: str) -> Run:
        return self._runs.get(run)

    @override
    def list_all(self, before: tuple[str, str] | None = None, most: int = EVERY_RUN) -> list[Run]:
        return self._runs.list_all(before, most)

    @override
    def list_past(self, run: str, beginning: str) -> list[PastRun]:
        return self._runs.list_past(run, beginning)

    @override
    def set_status(self, run: str, status: RunStatus, events: Sequence[str] = ()) -> None:
        pass

    @override
    def delete(self, run: str, now: float) -> None:
        pass


class _ReadOnlyRecords(Records):
    def __init__(self, records: Records) -> None:
        self._records = records

    @override
    def add(self, run: str, records: Iterable[tuple[str, str, str]]) -> None:
        pass

    @override
    def ledger(self, run: str) -> list[tuple[str, str, str]]:
        return self._records.ledger(run)

    @override
    def add_events(self, run: str, events: Iterable[str]) -> None:
        pass

    @override
    def events(self, run: str, after: int = 0) -> list[tuple[int, str]]:
        return self._records.events(run, after)

    @override
    def save_report(self, run: str, report: str) -> None:
        pass

    @override
    def report(self, run: str) -> str | None:
        return self._records.report(run)


class _ReadOnlyTexts(Texts):
    def __init__(self, texts: Texts) -> None:
        self._texts = texts

    @override
    def put(self, run: str, text: str) -> str:
        return digest_of(text)

    @override
    def hold(self, run: str, digest: str) -> bool:
        try:
            self._texts.get(digest)
        except LostTextError:
            return False
        return True

    @override
    def get(self, digest: str) -> str:
        return self._texts.get(digest)


class _CopyingTexts(Texts):
    def __init__(self, own: Texts, shared: Texts) -> None:
        self._own, self._shared = own, shared

    @override
    def put(self, run: str, text: str) -> str:
        return self._own.put(run, text)

    @override
    def hold(self, run: str, digest: str) -> bool:
        if self._own.hold(run, digest):
            return True
        try:
            text = self._shared.get(digest)
        except LostTextError:
            return False
        self._own.put(run, text)
        return True

    @override
    def get(self, digest: str) -> str:
        return self._own.get(digest)


class _RememberedTexts(Texts):
    def __init__(self, texts: Texts, most: int) -> None:
        self._texts, self._most = texts, most
        self._held: OrderedDict[str, str] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    @override
    def put(self, run: str, text: str) -> str:
        # Not remembered: the store may have it already, and damaged. Who reads it first sees that.
        return self._texts.put(run, text)

    @override
    def hold(self, run: str, digest: str) -> bool:
        return self._texts.hold(run, digest)

    @override
    def get(self, digest: str) -> str:
        with self._lock:
            if (known := self._held.get(digest)) is not None:
                self._held.move_to_end(digest)
                return known
        text = self._texts.get(digest)
        with self._lock:
            if digest not in self._held:
                self._held[digest] = text
                self._size += len(text)
            while self._size > self._most:
                self._size -= len(self._held.popitem(last=False)[1])
        return text
