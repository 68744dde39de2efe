from __future__ import annotations

import errno
import os
import signal
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import closing
from io import FileIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.encoders import row_file
from deepdiver.encoders.row_file import HEADER, SLOT, SLOTS, RowFile
from deepdiver.errors import (
    DamagedStoreError,
    NewerSchemaError,
    StoreAccessError,
    StoreError,
    StoreFullError,
)
from tests.patience import PATIENCE

WIDTH = 8


def row(number: int) -> bytes:
    return struct.pack("<Q", number)


def some(*numbers: int) -> bytes:
    return b"".join(map(row, numbers))


def numbers(file: RowFile) -> list[int]:
    return [number for (number,) in struct.iter_unpack("<Q", file.view())]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "new" / "rows"


@pytest.fixture
def file(path: Path) -> Iterator[RowFile]:
    with closing(RowFile(path, WIDTH)) as made:
        yield made


# What cannot be opened


@pytest.mark.parametrize(
    "content", [b"x", b"something else that is long enough to hold a header" * 9, b"\0" * 200]
)
def test_another_file_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "rows"
    path.write_bytes(content)
    with pytest.raises(DamagedStoreError, match=r"rows is damaged .*not a table"):
        RowFile(path, WIDTH)
    assert path.read_bytes() == content


def test_another_width_is_refused(path: Path, file: RowFile) -> None:
    file.append(some(1))
    with pytest.raises(DamagedStoreError, match="rows have 8 bytes, not 12"):
        RowFile(path, 12)
    assert numbers(file) == [1]


def test_a_newer_format_is_refused(path: Path, file: RowFile) -> None:
    file.close()
    data = bytearray(path.read_bytes())
    data[5:8] = b"002"
    path.write_bytes(data)
    with pytest.raises(NewerSchemaError, match="upgrade"):
        RowFile(path, WIDTH)


@pytest.mark.parametrize("size", [1, HEADER - 1, HEADER, HEADER + 1, HEADER + 3 * WIDTH - 1])
def test_lost_rows_are_noticed(path: Path, file: RowFile, size: int) -> None:
    file.append(some(1, 2, 3))
    file.close()
    os.truncate(path, size)
    with pytest.raises(DamagedStoreError):
        RowFile(path, WIDTH)
    assert path.stat().st_size == size


def test_rows_lost_while_it_is_open_are_noticed(path: Path, file: RowFile) -> None:
    file.append(some(1, 2, 3))
    os.truncate(path, HEADER + WIDTH)
    with pytest.raises(DamagedStoreError, match="should have 3 rows"):
        file.view()


def test_two_damaged_slots_are_noticed(path: Path, file: RowFile) -> None:
    file.append(some(1))
    data = bytearray(path.read_bytes())
    for slot in SLOTS:
        data[slot] ^= 1
    path.write_bytes(data)
    with pytest.raises(DamagedStoreError, match="number of its rows"):
        len(file)
    with pytest.raises(DamagedStoreError, match="number of its rows"):
        RowFile(path, WIDTH)


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(StoreAccessError, match="cannot be opened"):
        RowFile(tmp_path, WIDTH)


def test_a_path_that_cannot_be_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "file" / "rows", tmp_path / "a\0b"):
        with pytest.raises(StoreAccessError, match="cannot be opened"):
            RowFile(path, WIDTH)


def test_a_file_that_may_only_be_read(
    path: Path, file: RowFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.append(some(1, 2))

    def refuse(path: Path, mode: str) -> FileIO:
        if mode != "r":
            raise PermissionError(errno.EROFS, "Read-only file system")
        return FileIO(path, mode)

    monkeypatch.setattr(row_file, "FileIO", refuse)
    path.write_bytes(path.read_bytes() + b"torn")
    with closing(RowFile(path, WIDTH)) as reader:
        assert numbers(reader) == [1, 2]
        with pytest.raises(StoreAccessError, match="cannot be written"):
            reader.append(some(3))
    assert path.read_bytes().endswith(b"torn")
    with pytest.raises(StoreAccessError, match="Read-only"):
        RowFile(path.with_name("absent"), WIDTH)


# What cannot be added


def test_part_of_a_row_is_refused(file: RowFile) -> None:
    with pytest.raises(ValueError, match="not a whole number of rows"):
        file.append(b"1234567")
    assert len(file) == 0


@pytest.mark.parametrize(
    ("code", "kind", "words"),
    [
        (errno.ENOSPC, StoreFullError, "disk is full"),
        (errno.EDQUOT, StoreFullError, "disk is full"),
        (errno.EIO, StoreError, "check the disk"),
    ],
)
def test_a_disk_that_fails_costs_nothing(
    path: Path,
    file: RowFile,
    monkeypatch: pytest.MonkeyPatch,
    code: int,
    kind: type[StoreError],
    words: str,
) -> None:
    file.append(some(1, 2))

    def fail(_: int) -> None:
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(kind, match=words):
            file.append(some(8, 9))
    assert numbers(file) == [1, 2]
    assert file.append(some(3)) == range(2, 3)
    with closing(RowFile(path, WIDTH)) as again:
        assert numbers(again) == [1, 2, 3]
    assert path.stat().st_size == HEADER + 3 * WIDTH


def test_another_process_that_never_ends_is_named(
    path: Path, file: RowFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_file, "LOCK_WAIT", 0.05)
    with closing(RowFile(path, WIDTH)) as other, other._locked():
        with pytest.raises(StoreError, match="locked by another process"):
            file.append(some(1))
        path.write_bytes(path.read_bytes() + b"being written")
        with closing(RowFile(path, WIDTH)) as third:
            assert len(third) == 0
        assert path.read_bytes().endswith(b"being written")
    assert file.append(some(1)) == range(1)


def test_a_closed_file_is_closed(file: RowFile) -> None:
    file.append(some(1))
    view = file.view()
    file.close()
    file.close()
    for use in (lambda: len(file), lambda: file.append(some(1)), file.view):
        with pytest.raises(ValueError, match="closed"):
            use()
    assert bytes(view) == some(1)


# Crashes


def crashed(path: Path, before: list[int], tail: bytes, slot: bytes | None) -> None:
    """Leave a file as after a crash: committed rows, a part of others, and a part of a slot."""
    with closing(RowFile(path, WIDTH)) as file:
        for number in before:
            file.append(row(number))
    data = bytearray(path.read_bytes() + tail)
    if slot is not None:
        older = min(SLOTS, key=lambda place: SLOT.unpack_from(data, place)[0])
        data[older : older + len(slot)] = slot
    path.write_bytes(data)


@given(
    before=st.lists(st.integers(0, 2**64 - 1), max_size=4),
    added=st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=3),
    cut=st.integers(0, 24),
    slot_cut=st.integers(0, SLOT.size),
)
def test_a_crash_at_any_byte_leaves_whole_appends(
    before: list[int], added: list[int], cut: int, slot_cut: int
) -> None:
    tail = some(*added)
    whole = cut >= len(tail)
    slot = row_file._slot(len(before) + len(added))[:slot_cut] if whole else None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows"
        crashed(path, before, tail[:cut], slot)
        with closing(RowFile(path, WIDTH)) as file:
            found = numbers(file)
            assert found in ((before, before + added) if whole else (before,))
            assert path.stat().st_size == HEADER + WIDTH * len(found)
            assert file.append(some(5)) == range(len(found), len(found) + 1)
            assert numbers(file) == [*found, 5]


def test_a_crash_before_the_header_leaves_a_new_file(path: Path) -> None:
    path.parent.mkdir()
    path.touch()
    with closing(RowFile(path, WIDTH)) as file:
        assert len(file) == 0
        assert file.append(some(1)) == range(1)


APPENDER = """
import struct, sys
from pathlib import Path
from deepdiver.encoders.row_file import RowFile
file, mark, times = RowFile(Path(sys.argv[1]), 8), int(sys.argv[2]), int(sys.argv[3])
for turn in range(times):
    print(file.append(struct.pack("<Q", mark + turn) * 3).start, flush=True)
"""


def appender(path: Path, mark: int, times: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", APPENDER, str(path), str(mark), str(times)],
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
def test_a_killed_process_loses_nothing_it_was_told_is_saved(path: Path) -> None:
    said: list[tuple[int, int]] = []
    for life in range(4):
        with appender(path, life * 1_000_000, 1_000_000) as process:
            assert process.stdout
            for turn in range(20):
                said.append((int(process.stdout.readline()), life * 1_000_000 + turn))
            process.send_signal(signal.SIGKILL)
        with closing(RowFile(path, WIDTH)) as file:
            found = numbers(file)
        assert len(found) % 3 == 0
        assert all(found[start : start + 3] == [value] * 3 for start, value in said)


@pytest.mark.slow
def test_processes_that_append_at_once_take_turns(path: Path) -> None:
    with appender(path, 0, 40) as one, appender(path, 1_000, 40) as other:
        starts = [
            int(line)
            for process in (one, other)
            for line in process.communicate(timeout=PATIENCE)[0].splitlines()
        ]
    assert sorted(starts) == list(range(0, 240, 3))
    with closing(RowFile(path, WIDTH)) as file:
        assert sorted(numbers(file)) == sorted([*range(40), *range(1_000, 1_040)] * 3)


@pytest.mark.slow
def test_a_reader_sees_whole_appends_only(path: Path) -> None:
    with closing(RowFile(path, WIDTH)) as reader, appender(path, 0, 60) as writer:
        seen = [0]
        while writer.poll() is None:
            found = numbers(reader)
            assert found == sorted([*range(len(found) // 3)] * 3)
            assert len(found) >= seen[-1]
            seen.append(len(found))
        assert writer.returncode == 0
        assert len(reader) == 180
    assert len(set(seen)) > 2, "the reader never saw the file grow"


# The rest


def test_rows_come_back_in_order_and_after_reopening(path: Path, file: RowFile) -> None:
    assert file.append(b"") == range(0)
    assert numbers(file) == []
    assert file.append(some(5, 6)) == range(2)
    early = file.view()
    assert file.append(some(7)) == range(2, 3)
    assert numbers(file) == [5, 6, 7]
    assert bytes(early) == some(5, 6)
    with closing(RowFile(path, WIDTH)) as again:
        assert numbers(again) == [5, 6, 7]
        file.append(some(8))
        assert len(again) == 4
        assert numbers(again) == [5, 6, 7, 8]


def test_a_view_cannot_be_written_to(file: RowFile) -> None:
    file.append(some(1))
    assert file.view().readonly


def test_threads_may_share_it(file: RowFile) -> None:
    def add(mark: int) -> None:
        for _ in range(10):
            taken = file.append(some(mark, mark))
            assert numbers(file)[taken.start : taken.stop] == [mark, mark]

    threads = [threading.Thread(target=add, args=(mark,)) for mark in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(numbers(file)) == sorted([mark for mark in range(4) for _ in range(20)])
