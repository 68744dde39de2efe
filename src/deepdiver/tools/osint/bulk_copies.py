"""Copies of bulk files under the home: fetched once, updated when they change, used when offline.

    feeds/NAME.json     the record of the copy: its address, when it was fetched, and its version
    feeds/NAME-DIGEST   the file, named by its content: a new version never changes an open file
    feeds/NAME.lock     record by the one process that updates the copy

A copy counts as new for `fresh_for` seconds. After that it is requested conditionally, and status
304 makes it count again. If there is no answer, or one that is not the file, the last copy is used
with a note on its age.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, BinaryIO

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from deepdiver.errors import CallError, CallFault
from deepdiver.gateway import Gateway
from deepdiver.store.faults import from_os
from deepdiver.tools.http import Downloaded, advised, download, user_agent
from deepdiver.tools.process_lock import try_lock

FOLDER = "feeds"
"""The folder of the copies within the home."""
ADVICE = "it refuses this machine for now"
PATIENCE = 0.5
"""The part of a feed's deadline that an update may take if there is an old copy: the rest is for
reading that copy."""
PAUSE = 0.2
"""Seconds between two checks whether another process has finished its update."""
KEPT = 2
"""Versions of a file that are kept: the newest, and the one before, which may still be read."""
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")

Check = Callable[[Path], None]
"""Checks a new file before it replaces the last copy. Raises ValueError if it is not as it should
be."""


@dataclass(frozen=True, slots=True)
class BulkCopy:
    """A copy of a bulk file on this machine."""

    path: Path
    """Its path. The name follows the content: a file of the same name holds the same."""
    fetched: datetime
    """When the service last confirmed it."""
    note: str
    """How old it is and why it is used; empty if the service has just confirmed it."""


class CopyRecord(BaseModel):
    """The record of a copy, in feeds/NAME.json."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    url: str
    """Its address; a copy from another address does not count."""
    file: Annotated[str, Field(pattern=r"^[a-z0-9_]+-[0-9a-f]{16}$")]
    """Its name in the folder."""
    size: int
    """Its bytes: a file of another length is damaged."""
    fetched: AwareDatetime
    """When the service last confirmed it."""
    etag: str = ""
    """The ETag of this version."""
    modified: str = ""
    """The Last-Modified of this version."""


async def fetch_copy(
    name: str,
    url: str,
    gateway: Gateway,
    *,
    fresh_for: float,
    largest: int,
    now: datetime | None = None,
    check: Check | None = None,
    within: float = 0.0,
) -> BulkCopy:
    """Return a copy of a bulk file, as new as possible.

    Only for use within a call of the gateway: a replay makes none.

    Args:
        name: Name of the copy, after the service: cisa_kev.
        url: Address of the file, without any key.
        gateway: Its settings name the home, and the user agent.
        fresh_for: Seconds for which a copy counts as new.
        largest: Bytes that the file may have, unpacked.
        now: The time; by default the clock's.
        check: Checks a new file before it replaces the last copy.
        within: Seconds that an update may take if there is an old copy; 0: half the deadline of a
            feed. Without an old copy, only the deadline of the call ends it.

    Raises:
        CallError: If there is neither an answer nor a copy.
        StoreError: If the home cannot be written.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(f"a copy cannot be called {name!r}")
    shelf = _Shelf(gateway.settings.home / FOLDER, name, url, now)
    if (record := shelf.record()) is not None and 0 <= shelf.age(record) < fresh_for:
        return shelf.copy(record)
    seconds = within or gateway.settings.deadlines.feed * PATIENCE or None
    try:
        async with asyncio.timeout(seconds if record else None):
            return await _update(shelf, gateway, fresh_for, largest, check)
    except TimeoutError:
        why = f"the service gave nothing new within {seconds:g} s"
        failure = CallError(f"{name} gave no file within {seconds:g} s", CallFault.TIMEOUT)
    except CallError as error:
        why = (
            "the service could not be reached" if error.fault is CallFault.UNREACHED else str(error)
        )
        failure = error
    if (record := shelf.record()) is None:
        raise failure
    return shelf.copy(record, why)


async def _update(
    shelf: _Shelf, gateway: Gateway, fresh_for: float, largest: int, check: Check | None
) -> BulkCopy:
    """Update the copy, or take the one that another process has fetched meanwhile."""
    lock = shelf.lock()
    while True:
        with try_lock(lock) as free:
            if free:
                record = shelf.record()
                if record is not None and 0 <= shelf.age(record) < fresh_for:
                    return shelf.copy(record)
                return await _fetch(shelf, record, gateway, largest, check)
        await asyncio.sleep(PAUSE)


async def _fetch(
    shelf: _Shelf, record: CopyRecord | None, gateway: Gateway, largest: int, check: Check | None
) -> BulkCopy:
    headers = user_agent(gateway.settings)
    if record is not None:
        marks = {"If-None-Match": record.etag, "If-Modified-Since": record.modified}
        headers |= {header: mark for header, mark in marks.items() if mark}
    with shelf.draft() as draft:
        with advised(ADVICE):
            downloaded = await download(
                shelf.name, shelf.url, draft, largest=largest, headers=headers
            )
        if downloaded.changed:
            record = await asyncio.to_thread(shelf.settle, draft, downloaded, check)
        elif record is None:
            raise CallError(
                f"{shelf.name} says that nothing has changed, and there is no copy",
                CallFault.MALFORMED,
            )
        else:
            marks = {
                "etag": downloaded.etag or record.etag,
                "modified": downloaded.modified or record.modified,
            }
            record = record.model_copy(update={"fetched": shelf.now, **marks})
        return shelf.keep(record)


class _Shelf:
    """The copies of one file on disk."""

    def __init__(self, folder: Path, name: str, url: str, now: datetime | None) -> None:
        self.name, self.url, self.now = name, url, now or datetime.now(UTC)
        self._folder, self._known = folder, folder / f"{name}.json"

    def lock(self) -> Path:
        """Return the path of the lock, in a folder that exists."""
        with self._written():
            self._folder.mkdir(parents=True, exist_ok=True)
        return self._folder / f"{self.name}.lock"

    def record(self) -> CopyRecord | None:
        """Return the record of the last copy; None if it is damaged or from another address."""
        try:
            record = CopyRecord.model_validate_json(self._known.read_bytes())
            whole = (self._folder / record.file).stat().st_size == record.size
        except (OSError, ValidationError):
            return None
        return record if whole and record.url == self.url else None

    def age(self, record: CopyRecord) -> float:
        """Return how many seconds ago the service confirmed a copy."""
        return (self.now - record.fetched).total_seconds()

    def copy(self, record: CopyRecord, why: str = "") -> BulkCopy:
        """Return a copy, with a note on its age and on why it is used."""
        note = f"from a copy of {record.fetched:%Y-%m-%d %H:%M} UTC, {_age(self.age(record))} old"
        return BulkCopy(
            self._folder / record.file, record.fetched, f"{note}; {why}" if why else note
        )

    @contextmanager
    def draft(self) -> Iterator[BinaryIO]:
        """Open a new file for writing, and delete it afterwards unless it was settled.

        Only for the process that holds the lock.
        """
        with self._written():
            for left in self._folder.glob(f"{self.name}-*.part"):  # of a process that was killed
                left.unlink(missing_ok=True)
            handle, name = tempfile.mkstemp(".part", f"{self.name}-", self._folder)
            os.close(handle)
            try:
                with open(name, "wb") as file:
                    yield file
            finally:
                Path(name).unlink(missing_ok=True)

    def settle(self, draft: BinaryIO, downloaded: Downloaded, check: Check | None) -> CopyRecord:
        """Check a new file and put it in its place; it does not count until it is kept."""
        draft.flush()
        os.fsync(draft.fileno())
        draft.close()
        path = Path(draft.name)
        if check is not None:
            try:
                check(path)
            except ValueError as error:
                raise CallError(
                    f"{self.name} sent a file that is not its own: {error}", CallFault.MALFORMED
                ) from None
        with path.open("rb") as file:
            name = f"{self.name}-{hashlib.file_digest(file, 'sha256').hexdigest()[:16]}"
        size = path.stat().st_size
        os.replace(path, self._folder / name)
        return CopyRecord(
            url=self.url,
            file=name,
            size=size,
            fetched=self.now,
            etag=downloaded.etag,
            modified=downloaded.modified,
        )

    def keep(self, record: CopyRecord) -> BulkCopy:
        """Make a file count from now on, and delete those that are too old to be still read."""
        draft = self._folder / f"{self.name}-known.part"
        draft.write_bytes(record.model_dump_json().encode())
        os.replace(draft, self._known)
        path = self._folder / record.file
        path.touch()  # the newest by its time
        others = [other for other in self._folder.glob(f"{self.name}-{'?' * 16}") if other != path]
        newest_first = sorted(others, key=lambda other: other.stat().st_mtime, reverse=True)
        for old in newest_first[KEPT - 1 :]:
            # Where an open file cannot be deleted, it is deleted the next time.
            with contextlib.suppress(PermissionError):
                old.unlink(missing_ok=True)
        return BulkCopy(path, record.fetched, "")

    @contextmanager
    def _written(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise from_os(error, self._folder) from error


def _age(seconds: float) -> str:
    """Return an age in words: 26 hours; from three days on, in days."""
    units = (("day", 86_400, 3), ("hour", 3_600, 1), ("minute", 60, 0))
    unit, count = next(
        (unit, count)
        for unit, length, least in units
        if (count := int(max(0.0, seconds) // length)) >= least
    )
    return f"{count} {unit}{'s' if count != 1 else ''}"
