"""An append-only file of fixed-width rows that survives crashes and concurrent processes.

::

    header, 64 bytes    magic · width of a row · two slots, each with the committed number
                        of rows and its checksum
    rows

New rows are written and flushed first; then their number is committed to the older slot. So a
process that opens the file at any time, or after any crash, finds a whole number of whole rows;
everything after them is a torn tail. Rows are mapped into memory, not read: opening a large file
takes no time, and the system may reclaim the pages.
"""

from __future__ import annotations

import errno
import mmap
import os
import struct
import sys
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path

from deepdiver.errors import (
    DamagedStoreError,
    NewerSchemaError,
    StoreAccessError,
    StoreError,
    StoreFullError,
)

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

KIND = b"ddrow"
VERSION = b"001"

START = struct.Struct("<5s3sI")
"""The kind of file, the version of its format, and the bytes in a row."""

SLOT = struct.Struct("<QI4x")
"""The committed number of rows and its checksum."""

SLOTS = (16, 32)
"""Offsets of the slots. A commit overwrites the one with fewer rows, so if the write is torn, the
other slot still holds."""

HEADER = 64
"""Bytes before the first row."""

FAR = 1 << 62
"""The byte that Windows locks, beyond everything that is ever written, because a lock there also
keeps others from reading."""

LOCK_WAIT = 30.0
"""Seconds to wait for another process that is appending; that takes milliseconds."""

LOCK_PAUSE = 0.01
"""Seconds between two attempts: neither system has a lock call with a timeout."""


READ_ONLY = (errno.EACCES, errno.EPERM, errno.EROFS)
"""The system's errors for a file that may be read but not written."""


class RowFile:
    """Rows of one width in a file. Threads may share it, and processes may open the same file."""

    def __init__(self, path: Path, width: int) -> None:
        """Open a file, or create it if it does not exist.

        Args:
            path: The file. Its folder is created too.
            width: Bytes in a row.

        Raises:
            DamagedStoreError: If it is not a row file, has rows of another width, or has lost rows.
            NewerSchemaError: If a newer deepdiver wrote it.
            StoreAccessError: If the system does not let us open it.
        """
        self.path = path
        self.width = width
        self._turn = threading.RLock()
        self._mapped: mmap.mmap | None = None
        self._mapped_rows = 0
        self._file, self._writable = _open(path)
        try:
            self._begin()
            self._check_start()
            self._cut_tail()
        except BaseException:
            self._file.close()
            raise

    def __len__(self) -> int:
        """Count the rows that are committed now, by any process."""
        with self._turn:
            found = [count for count in map(self._committed, SLOTS) if count is not None]
            if not found:
                raise self._damaged("the number of its rows cannot be read")
            return max(found)

    def append(self, rows: bytes) -> range:
        """Add rows; when this returns, they are on disk and visible to every process.

        Args:
            rows: The bytes of a whole number of rows.

        Returns:
            The numbers of the new rows.

        Raises:
            StoreError: If the file cannot grow; the existing rows are untouched.
        """
        added, rest = divmod(len(rows), self.width)
        if rest:
            raise ValueError(f"{len(rows)} bytes are not a whole number of rows of {self.width}")
        if not self._writable:
            raise StoreAccessError(
                f"{self.path} cannot be written to: allow it, or choose another --home"
            )
        with self._turn, self._faults(), self._locked():
            before = len(self)
            if added:
                self._write(self._end(before), rows)
                self._commit(before + added)
        return range(before, before + added)

    def view(self) -> memoryview:
        """Return the bytes of all rows that are committed now.

        The view stays valid when rows are added.
        """
        with self._turn:
            count = len(self)
            if count > self._mapped_rows:
                if self._size() < self._end(count):
                    raise self._damaged(f"it should have {count} rows and is too short")
                self._mapped = mmap.mmap(
                    self._file.fileno(), self._end(count), access=mmap.ACCESS_READ
                )
                self._mapped_rows = count
            if self._mapped is None:
                return memoryview(b"")
            return memoryview(self._mapped)[HEADER:]

    def close(self) -> None:
        """Close the file; views that were returned stay valid."""
        with self._turn:
            self._mapped = None
            self._mapped_rows = 0
            self._file.close()

    def _begin(self) -> None:
        """Write the header of a new file, unless another process has just written it."""
        if self._size() or not self._writable:
            return
        with self._faults(), self._locked():
            if not self._size():
                start = START.pack(KIND, VERSION, self.width).ljust(SLOTS[0], b"\0")
                self._write(0, (start + _slot(0) + _slot(0)).ljust(HEADER, b"\0"))
                _save_name(self.path)

    def _check_start(self) -> None:
        start = self._read(0, START.size)
        if len(start) < START.size or not start.startswith(KIND):
            raise self._damaged("it is not a table of vectors")
        _, version, width = START.unpack(start)
        if version > VERSION:
            raise NewerSchemaError(
                f"{self.path} was written by a newer deepdiver: upgrade, or move it away"
            )
        if width != self.width:
            raise self._damaged(f"its rows have {width} bytes, not {self.width}")
        if self._size() < self._end(len(self)):
            raise self._damaged(f"it should have {len(self)} rows and is too short")

    def _cut_tail(self) -> None:
        """Cut off the torn tail that a crash left, unless another process may be writing there."""
        if not self._writable or self._size() == self._end(len(self)):
            return
        with self._faults():
            if _lock(self._file):
                try:
                    # Windows refuses while another process has the file mapped; the next rows
                    # overwrite the tail anyway.
                    with suppress(PermissionError):
                        self._file.truncate(self._end(len(self)))
                finally:
                    _unlock(self._file)

    def _commit(self, count: int) -> None:
        older = min(SLOTS, key=lambda place: self._committed(place) or 0)
        self._write(older, _slot(count))

    def _committed(self, place: int) -> int | None:
        """Return the number of rows in a slot; None if the slot is torn."""
        data = self._read(place, SLOT.size)
        if len(data) < SLOT.size or data != _slot(count := SLOT.unpack(data)[0]):
            return None
        return int(count)

    def _end(self, count: int) -> int:
        return HEADER + count * self.width

    def _size(self) -> int:
        return os.fstat(self._file.fileno()).st_size

    def _read(self, place: int, size: int) -> bytes:
        self._file.seek(place)
        return self._file.read(size) or b""

    def _write(self, place: int, data: bytes) -> None:
        """Write all of the data, and wait until it is on disk."""
        self._file.seek(place)
        left = memoryview(data)
        while left:
            left = left[self._file.write(left) :]
        os.fsync(self._file.fileno())

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Keep other processes from appending."""
        end = time.monotonic() + LOCK_WAIT
        while not _lock(self._file):
            if time.monotonic() > end:
                raise StoreError(
                    f"{self.path} was locked by another process for {LOCK_WAIT:g} s: end it, or "
                    "try again later"
                )
            time.sleep(LOCK_PAUSE)
        try:
            yield
        finally:
            _unlock(self._file)

    @contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                raise StoreFullError(
                    f"{self.path} cannot grow, the disk is full: free some space"
                ) from error
            raise StoreError(
                f"{self.path} could not be written ({error.strerror}): check the disk"
            ) from error

    def _damaged(self, what: str) -> DamagedStoreError:
        return DamagedStoreError(
            f"{self.path} is damaged ({what}): move it away, and deepdiver makes a new one"
        )


def _slot(count: int) -> bytes:
    return SLOT.pack(count, zlib.crc32(count.to_bytes(8, "little")))


def _open(path: Path) -> tuple[FileIO, bool]:
    """Return the file, created if it did not exist, and whether it may be written to."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            return FileIO(path, "x+"), True
        except FileExistsError:
            return FileIO(path, "r+"), True
    except (OSError, ValueError) as error:  # a path with a NUL raises ValueError
        if isinstance(error, OSError) and error.errno in READ_ONLY and os.access(path, os.R_OK):
            return FileIO(path, "r"), False
        why = (isinstance(error, OSError) and error.strerror) or str(error)
        raise StoreAccessError(
            f"{path} cannot be opened ({why}): allow it, or choose another --home"
        ) from error


def _lock(file: FileIO) -> bool:
    """Try to take the lock; the system releases it when the process that holds it dies."""
    try:
        if sys.platform == "win32":
            file.seek(FAR)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EAGAIN, errno.EDEADLK):
            return False
        raise
    return True


def _unlock(file: FileIO) -> None:
    if sys.platform == "win32":
        file.seek(FAR)
        msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)
    else:
        fcntl.flock(file, fcntl.LOCK_UN)


def _save_name(path: Path) -> None:
    """Wait until the name of a new file is on disk too.

    Windows does so by itself.
    """
    if sys.platform != "win32":
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
