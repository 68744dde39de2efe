"""Copies of bulk files, kept under the home.

Fetched once, updated where they changed, used where nobody answers.

    feeds/NAME.json     what is known of the copy: where it is from, when, and the service's own marks of its version
    feeds/NAME-DIGEST   the file, named by its content: a new version never changes one that somebody reads
    feeds/NAME.lock     who updates it, one at a time among all processes

A copy counts for `fresh_for` seconds without asking. After that it is asked for conditionally, and
304 makes the same file count again. Where there is no answer, or one that is not the file, the last
copy is used and its age is told.
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
from deepdiver.tools.library.locking import if_free

FOLDER = "feeds"
"""Where the copies are, within the home."""
ADVICE = "it refuses this machine for now"
PATIENCE = 0.5
"""Part of a feed's deadline that an update may take where there is an old copy: the rest is for
reading that."""
PAUSE = 0.2
"""Seconds between two looks at whether another process has done updating."""
KEPT = 2
"""Versions of a file that are kept: the newest, and the one before for those who are reading it."""
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")

Check = Callable[[Path], None]
"""Looks at a new file before it replaces the last copy. Raises ValueError if it is not what it
should be."""


@dataclass(frozen=True, slots=True)
class Copy:
    """A bulk file on this machine."""

    path: Path
    """Where it is. The name goes with the content: a file of the same name holds the same."""
    fetched: datetime
    """When the service last said that this is what it has."""
    note: str
    """How old it is and why it is used, where that was not now; empty: it is what the service has.
    """


class Held(BaseModel):
    """What is known of a copy."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    url: str
    """Where it is from; a copy from elsewhere is none."""
    file: Annotated[str, Field(pattern=r"^[a-z0-9_]+-[0-9a-f]{16}$")]
    """Its name in the folder."""
    size: int
    """Its bytes: a file of another length was damaged."""
    fetched: AwareDatetime
    """When the service last said that this is what it has."""
    etag: str = ""
    """What the service calls this version."""
    modified: str = ""
    """When the service says that it was last changed."""


async def copy_of(
    name: str,
    url: str,
    gateway: Gateway,
    *,
    fresh_for: float,
    largest: int,
    now: datetime | None = None,
    check: Check | None = None,
    within: float = 0.0,
) -> Copy:
    """Return a bulk file, as new as can be had.

    Only for use within a call of the gateway: a replay makes none.

    Args:
        name: What it is called here, the service's name: cisa_kev.
        url: Where it is, without any key.
        gateway: Whose settings say where the home is, and who is asking.
        fresh_for: Seconds for which a copy counts without asking.
        largest: Bytes that the file may have, unpacked.
        now: The time; the clock's by default.
        check: Looks at a new file before it replaces the last copy.
        within: Seconds that an update may take where there is an old copy; 0: half the deadline of
            a feed. Without an old copy, only the deadline of the call ends it.

    Raises:
        CallError: If there is neither an answer nor a copy.
        StoreError: If the home cannot be written.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(f"a copy cannot be called {name!r}")
    shelf = _Shelf(gateway.settings.home / FOLDER, name, url, now)
    if (held := shelf.held()) is not None and 0 <= shelf.age(held) < fresh_for:
        return shelf.copy(held)
    seconds = within or gateway.settings.deadlines.feed * PATIENCE or None
    try:
        async with asyncio.timeout(seconds if held else None):
            return await _updated(shelf, gateway, fresh_for, largest, check)
    except TimeoutError:
        why = f"the service gave nothing new within {seconds:g} s"
        failure = CallError(f"{name} gave no file within {seconds:g} s", CallFault.TIMEOUT)
    except CallError as error:
        why = (
            "the service could not be reached" if error.fault is CallFault.UNREACHED else str(error)
        )
        failure = error
    if (held := shelf.held()) is None:
        raise failure
    return shelf.copy(held, why)


async def _updated(
    shelf: _Shelf, gateway: Gateway, fresh_for: float, largest: int, check: Check | None
) -> Copy:
    """Bring the copy up to date, or take what another process brought meanwhile."""
    lock = shelf.lock()
    while True:
        with if_free(lock) as free:
            if free:
                held = shelf.held()
                if held is not None and 0 <= shelf.age(held) < fresh_for:
                    return shelf.copy(held)
                return await _fetched(shelf, held, gateway, largest, check)
        await asyncio.sleep(PAUSE)


async def _fetched(
    shelf: _Shelf, held: Held | None, gateway: Gateway, largest: int, check: Check | None
) -> Copy:
    headers = user_agent(gateway.settings)
    if held is not None:
        marks = {"If-None-Match": held.etag, "If-Modified-Since": held.modified}
        headers |= {header: mark for header, mark in marks.items() if mark}
    with shelf.draft() as draft:
        with advised(ADVICE):
            told = await download(shelf.name, shelf.url, draft, largest=largest, headers=headers)
        if told.changed:
            held = await asyncio.to_thread(shelf.settle, draft, told, check)
        elif held is None:
            raise CallError(
                f"{shelf.name} says that nothing has changed, and there is no copy",
                CallFault.MALFORMED,
            )
        else:
            marks = {"etag": told.etag or held.etag, "modified": told.modified or held.modified}
            held = held.model_copy(update={"fetched": shelf.now, **marks})
        return shelf.keep(held)


class _Shelf:
    """Where the copies of one file are kept."""

    def __init__(self, folder: Path, name: str, url: str, now: datetime | None) -> None:
        self.name, self.url, self.now = name, url, now or datetime.now(UTC)
        self._folder, self._known = folder, folder / f"{name}.json"

    def lock(self) -> Path:
        """Return the lock, in a folder that is there."""
        with self._written():
            self._folder.mkdir(parents=True, exist_ok=True)
        return self._folder / f"{self.name}.lock"

    def held(self) -> Held | None:
        """Return what is known of the last copy.

        None: there is none that is whole and from this address.
        """
        try:
            held = Held.model_validate_json(self._known.read_bytes())
            whole = (self._folder / held.file).stat().st_size == held.size
        except (OSError, ValidationError):
            return None
        return held if whole and held.url == self.url else None

    def age(self, held: Held) -> float:
        """Return how many seconds ago the service said that a copy is what it has."""
        return (self.now - held.fetched).total_seconds()

    def copy(self, held: Held, why: str = "") -> Copy:
        """Return a copy, with its age told and why it is used."""
        note = f"from a copy of {held.fetched:%Y-%m-%d %H:%M} UTC, {_told(self.age(held))} old"
        return Copy(self._folder / held.file, held.fetched, f"{note}; {why}" if why else note)

    @contextmanager
    def draft(self) -> Iterator[BinaryIO]:
        """Give a file to write into, which is gone afterwards unless it was settled.

        Only for who holds the lock.
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

    def settle(self, draft: BinaryIO, told: Downloaded, check: Check | None) -> Held:
        """Put a new file in its place, on disk, once it was looked at; it does not count yet."""
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
        return Held(
            url=self.url,
            file=name,
            size=size,
            fetched=self.now,
            etag=told.etag,
            modified=told.modified,
        )

    def keep(self, held: Held) -> Copy:
        """Make a file count from now on, and let go of those that nobody can be reading any more."""
        draft = self._folder / f"{self.name}-known.part"
        draft.write_bytes(held.model_dump_json().encode())
        os.replace(draft, self._known)
        path = self._folder / held.file
        path.touch()  # the newest by its time
        others = [other for other in self._folder.glob(f"{self.name}-{'?' * 16}") if other != path]
        for old in sorted(others, key=lambda other: other.stat().st_mtime, reverse=True)[
            KEPT - 1 :
        ]:
            with contextlib.suppress(
                PermissionError
            ):  # where a file that is open cannot go, it goes the next time
                old.unlink(missing_ok=True)
        return Copy(path, held.fetched, "")

    @contextmanager
    def _written(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise from_os(error, self._folder) from error


def _told(seconds: float) -> str:
    """Return an age in words: 26 hours; from three days on, in days."""
    units = (("day", 86_400, 3), ("hour", 3_600, 1), ("minute", 60, 0))
    unit, count = next(
        (unit, count)
        for unit, length, least in units
        if (count := int(max(0.0, seconds) // length)) >= least
    )
    return f"{count} {unit}{'s' if count != 1 else ''}"
