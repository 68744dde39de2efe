"""The file of SQLite, and what may go wrong with it; what is kept in it is the test of `sql`."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from deepdiver.core.identity import digest
from deepdiver.core.record import RunStatus
from deepdiver.errors import (
    DamagedStoreError,
    LostTextError,
    StoreAccessError,
    StoreError,
    StoreFullError,
    UnknownNameError,
)
from deepdiver.store import CallState
from deepdiver.store.sqlite import SqliteStore, open_sqlite
from tests.patience import PATIENCE
from tests.store.acts import NOW, make_run, one_line, reserve


@pytest.fixture
def store(home: Path) -> Iterator[SqliteStore]:
    with closing(open_sqlite(home)) as opened:
        opened.runs.create(make_run())
        yield opened


def filled(home: Path) -> list[str]:
    """Fill a home with a bit of everything, close it, and return the hashes of its texts."""
    with closing(open_sqlite(home)) as store:
        store.runs.create(make_run())
        hashes = [store.texts.put("r1", f"text {n} " * 300) for n in range(30)]
        for n in range(30):
            reserve(store, f"k{n}")
            store.journal.mark_sent("r1", f"k{n}", NOW)
            store.journal.settle("r1", f"k{n}", f'{{"n":{n}}}' * 50, Decimal("0.1"), NOW)
            store.records.add("r1", [("finding", f"f{n}", '{"statement":"blå"}' * 20)])
            store.cache.put(f"c{n}", "value" * 50, NOW + 10)
        store.records.add_events("r1", ["{}"] * 100)
        store.records.save_report("r1", "{}")
        store.limits.take("web", "me", NOW, NOW + 1, rate=1, per=1, concurrent=1)
    return hashes


# The file


def test_a_file_of_random_bytes_is_damage(home: Path) -> None:
    home.mkdir()
    file = home / "deepdiver.db"
    file.write_bytes(random.Random(1).randbytes(10_000))  # noqa: S311
    before = file.read_bytes()
    with pytest.raises(DamagedStoreError) as error:
        open_sqlite(home)
    assert str(file) in one_line(error)
    assert "move it away to start again" in str(error.value)
    assert file.read_bytes() == before


@pytest.mark.parametrize("left", [2, 99, 100, 5_000, 0.5, 0.9])
def test_a_truncated_database_is_damage(home: Path, left: float) -> None:
    filled(home)
    file = home / "deepdiver.db"
    whole = file.stat().st_size
    os.truncate(file, left if isinstance(left, int) else int(whole * left))
    with pytest.raises(DamagedStoreError) as error:
        open_sqlite(home)
    assert str(file) in one_line(error)


READS: dict[str, Callable[[SqliteStore], object]] = {
    "runs.list_all": lambda store: store.runs.list_all(),
    "runs.get": lambda store: store.runs.get("r1"),
    "journal.rows": lambda store: store.journal.rows("r1"),
    "records.ledger": lambda store: store.records.ledger("r1"),
    "records.events": lambda store: store.records.events("r1"),
    "records.report": lambda store: store.records.report("r1"),
    "cache.get": lambda store: [store.cache.get(f"c{n}", NOW) for n in range(30)],
    "limits.take": lambda store: store.limits.take(
        "web", "you", NOW, NOW + 1, rate=1, per=1, concurrent=1
    ),
    "texts.put": lambda store: store.texts.put("r1", "new"),
    "reserve": lambda store: reserve(store, "new"),
    "cache.claim": lambda store: store.cache.claim("c1", "me", NOW + 100, NOW + 200),
    "runs.delete": lambda store: store.runs.delete("r1", NOW),
}


@pytest.mark.slow
def test_whatever_is_damaged_nothing_but_our_errors_comes_out(home: Path, tmp_path: Path) -> None:
    """300 files, each with a page, a byte or 50 bytes of noise.

    A clear refusal, or the right answer, and no crash.
    """
    filled(home)
    whole = (home / "deepdiver.db").read_bytes()
    chance = random.Random(7)  # noqa: S311
    refused = 0
    for number in range(300):
        noisy = bytearray(whole)
        if number % 3 == 0:
            page = chance.randrange(len(noisy) // 4096) * 4096
            noisy[page : page + 4096] = chance.randbytes(4096)
        else:
            for _ in range(1 if number % 3 == 1 else 50):
                noisy[chance.randrange(len(noisy))] = chance.randrange(256)
        other = tmp_path / "noisy"
        shutil.rmtree(other, ignore_errors=True)
        other.mkdir()
        (other / "deepdiver.db").write_bytes(noisy)
        try:
            store = open_sqlite(other, timeout=0.1)
        except DamagedStoreError as error:
            refused += 1
            assert str(error).isprintable()  # noqa: PT017
            continue
        with closing(store):
            for read in READS.values():
                try:
                    read(store)
                except (
                    DamagedStoreError,
                    UnknownNameError,
                ) as error:
                    # A name may be what was damaged.
                    refused += 1
                    assert str(error).isprintable()  # noqa: PT017
    assert refused > 100


@pytest.mark.parametrize(
    ("statement", "read"),
    [
        ("UPDATE runs SET json = x'00'", "runs.list_all"),
        ("UPDATE runs SET json = 5", "runs.get"),
        ("UPDATE runs SET status = 'dancing'", "runs.list_all"),
        ("UPDATE journal SET state = 'dancing'", "journal.rows"),
        ("UPDATE journal SET cost = 'dear'", "journal.rows"),
        ("UPDATE journal SET worst = 'dear'", "journal.rows"),
        ("UPDATE journal SET reply = x'28b52ffd'", "journal.rows"),
        ("UPDATE journal SET what = CAST(x'ff' AS TEXT)", "journal.rows"),
        ("UPDATE records SET json = x'ff'", "records.ledger"),
        ("UPDATE events SET json = NULL", "records.events"),
        ("UPDATE reports SET json = ''", "records.report"),
        ("UPDATE cache SET value = x'00'", "cache.get"),
        ("DROP TABLE events", "records.events"),
        ("ALTER TABLE runs RENAME COLUMN json TO jason", "runs.list_all"),
    ],
)
def test_a_row_that_makes_no_sense_is_damage(home: Path, statement: str, read: str) -> None:
    filled(home)
    with closing(sqlite3.connect(home / "deepdiver.db", isolation_level=None)) as db:
        db.execute("PRAGMA writable_schema = ON")
        db.execute("UPDATE sqlite_master SET sql = replace(sql, ' NOT NULL', '')")
    with closing(sqlite3.connect(home / "deepdiver.db", isolation_level=None)) as db:
        db.execute(statement)
    with closing(open_sqlite(home)) as store:
        with pytest.raises(DamagedStoreError) as error:
            READS[read](store)
        assert str(home / "deepdiver.db") in one_line(error)


def test_a_text_that_is_not_what_its_hash_says_is_damage(home: Path) -> None:
    one, other, *_ = filled(home)
    with closing(sqlite3.connect(home / "deepdiver.db", isolation_level=None)) as db:
        db.execute(
            "UPDATE blobs SET bytes = (SELECT bytes FROM blobs WHERE hash = ?) WHERE hash = ?",
            (other, one),
        )
    with closing(open_sqlite(home)) as store:
        with pytest.raises(LostTextError, match=one[:12]):
            store.texts.get(one)
        assert store.texts.get(other)


def under_a_file(tmp_path: Path) -> Path:
    (tmp_path / "file").write_text("in the way")
    return tmp_path / "file" / "home"


def in_place_of_home(tmp_path: Path) -> Path:
    (tmp_path / "home_file").write_text("in the way")
    return tmp_path / "home_file"


def folder_in_place_of_file(tmp_path: Path) -> Path:
    (tmp_path / "x" / "deepdiver.db").mkdir(parents=True, mode=0o755)
    return tmp_path / "x"


def pipe_in_place_of_file(tmp_path: Path) -> Path:
    (tmp_path / "x").mkdir()
    os.mkfifo(tmp_path / "x" / "deepdiver.db")
    return tmp_path / "x"


def dangling_link(tmp_path: Path) -> Path:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "deepdiver.db").symlink_to(tmp_path / "nowhere")
    return tmp_path / "x"


def where_nobody_writes(tmp_path: Path) -> Path:
    if not Path("/proc/self").exists():
        pytest.skip("no /proc here: no folder in which even root may not write")
    return Path("/proc/deepdiver")


def with_a_nul(tmp_path: Path) -> Path:
    return tmp_path / "a\0b"


@pytest.mark.parametrize(
    "place",
    [
        under_a_file,
        in_place_of_home,
        folder_in_place_of_file,
        pipe_in_place_of_file,
        dangling_link,
        where_nobody_writes,
        with_a_nul,
    ],
)
def test_a_home_that_cannot_be_used_is_refused(
    tmp_path: Path, place: Callable[[Path], Path]
) -> None:
    home = place(tmp_path)
    with pytest.raises(StoreAccessError, match="choose another --home") as error:
        open_sqlite(home)
    assert "deepdiver.db" in str(error.value)
    if place is folder_in_place_of_file:
        assert stat.S_IMODE((home / "deepdiver.db").stat().st_mode) == 0o755  # Not ours to change.


def forbid(path: Path, mode: int) -> None:
    path.chmod(mode)
    if os.access(path, os.W_OK):
        pytest.skip("permission bits do not stop this user: root")


def test_a_folder_without_permission_is_refused(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir()
    forbid(tmp_path / "closed", 0o500)
    with pytest.raises(StoreAccessError, match="Permission denied"):
        open_sqlite(tmp_path / "closed" / "home")


def test_a_home_that_may_only_be_read_is_refused(home: Path) -> None:
    open_sqlite(home).close()
    forbid(home, 0o500)
    with pytest.raises(StoreAccessError, match="choose another --home") as error:
        open_sqlite(home)
    assert str(home) in one_line(error)


def test_a_file_that_may_only_be_read_is_opened_for_its_owner_again(home: Path) -> None:
    open_sqlite(home).close()
    forbid(home / "deepdiver.db", 0o400)
    with closing(open_sqlite(home)) as store:
        store.runs.create(make_run())


def test_a_file_that_becomes_read_only_is_refused_and_nothing_is_lost(store: SqliteStore) -> None:
    store.database.connection.execute("PRAGMA query_only = ON")
    with pytest.raises(StoreAccessError) as error:
        store.runs.set_status("r1", RunStatus.FAILED)
    assert str(store.database.file) in one_line(error)
    assert store.runs.get("r1").status is RunStatus.RUNNING
    store.database.connection.execute("PRAGMA query_only = OFF")
    store.runs.set_status("r1", RunStatus.FAILED)


def fill(store: SqliteStore, kept: list[str]) -> None:
    """Keep texts that do not compress well, until something happens."""
    for n in range(1000):
        kept.append(store.texts.put("r1", random.Random(n).randbytes(5_000).hex()))  # noqa: S311


def test_a_full_disk_loses_nothing_and_the_store_goes_on(store: SqliteStore) -> None:
    pages = store.database.connection.execute("PRAGMA page_count").fetchone()[0]
    store.database.connection.execute(f"PRAGMA max_page_count = {pages + 30}")
    kept: list[str] = []
    with pytest.raises(StoreFullError) as error:
        fill(store, kept)
    assert str(store.database.file) in one_line(error)
    assert "free some space, then resume" in str(error.value)
    assert len(kept) >= 5
    assert [digest(store.texts.get(hash_)) for hash_ in kept] == kept
    store.database.connection.execute("PRAGMA max_page_count = 1000000")
    reserve(store)
    store.journal.mark_sent("r1", "k", NOW)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 1 MB."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = shutil.which("mount")
    command = [mount or "mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)]
    if mount is None or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("no right to mount a small disk here")
    yield place
    subprocess.run(["umount", str(place)], check=True)  # noqa: S607


def remount(place: Path, options: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{options}", str(place)], check=True)  # noqa: S607


def test_a_disk_that_is_really_full(small_disk: Path) -> None:
    store = open_sqlite(small_disk / "home")
    store.runs.create(make_run())
    kept: list[str] = []
    with pytest.raises(StoreFullError) as error:
        fill(store, kept)
    one_line(error)
    assert len(kept) > 20
    for _ in range(3):  # Still full, still clear.
        with pytest.raises(StoreFullError):
            store.texts.put("r1", random.Random(0).randbytes(50_000).hex())  # noqa: S311
    assert [digest(store.texts.get(hash_)) for hash_ in kept] == kept
    remount(small_disk, "size=8m")
    reserve(store)
    store.journal.mark_sent("r1", "k", NOW)
    store.close()
    with closing(open_sqlite(small_disk / "home")) as again:
        assert [digest(again.texts.get(hash_)) for hash_ in kept] == kept
        (row,) = again.journal.rows("r1")
        assert row.state is CallState.SENT


@pytest.mark.parametrize("left", [0, 4_096, 40_000])
def test_no_room_for_a_new_store(small_disk: Path, left: int) -> None:
    size = shutil.disk_usage(small_disk).free - left
    (small_disk / "ballast").write_bytes(b"x" * size)
    with pytest.raises(StoreFullError) as error:
        open_sqlite(small_disk / "home")
    one_line(error)
    (small_disk / "ballast").unlink()
    with closing(open_sqlite(small_disk / "home")) as store:
        assert store.runs.list_all() == []


def test_a_disk_that_may_only_be_read(small_disk: Path) -> None:
    open_sqlite(small_disk / "home").close()
    remount(small_disk, "ro")
    with pytest.raises(StoreAccessError) as error:
        open_sqlite(small_disk / "home")
    assert str(small_disk) in one_line(error)
    with pytest.raises(StoreAccessError, match=r"[Rr]ead-only"):
        open_sqlite(small_disk / "another")


def test_a_locked_database_says_which(home: Path) -> None:
    open_sqlite(home).close()
    with closing(sqlite3.connect(home / "deepdiver.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with closing(open_sqlite(home, timeout=0.1)) as store:
            assert store.runs.list_all() == []  # Reading does not wait.
            with pytest.raises(StoreError) as error:
                store.runs.create(make_run())
            assert one_line(error).startswith(
                f"{home / 'deepdiver.db'} was locked by another process for 0.1 s"
            )
            other.execute("ROLLBACK")
            store.runs.create(make_run())


def test_a_new_file_that_another_holds_is_locked_too(home: Path) -> None:
    home.mkdir()
    with closing(sqlite3.connect(home / "deepdiver.db", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreError, match="was locked by another process"):
            open_sqlite(home, timeout=0.1)


def without_log(home: Path) -> sqlite3.Connection:
    """Make a store that cannot switch to the write-ahead log yet, because of a reader."""
    open_sqlite(home).close()
    reader = sqlite3.connect(home / "deepdiver.db", isolation_level=None, check_same_thread=False)
    reader.execute("PRAGMA journal_mode = DELETE")
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM runs").fetchall()
    return reader


def test_the_switch_to_the_log_waits_for_others(home: Path) -> None:
    with closing(without_log(home)) as reader:
        release = threading.Timer(0.3, reader.execute, ["COMMIT"])
        release.start()
        with closing(open_sqlite(home, timeout=PATIENCE)) as store:
            assert store.database.connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        release.join()


def test_the_switch_to_the_log_does_not_wait_for_ever(home: Path) -> None:
    with (
        closing(without_log(home)),
        pytest.raises(StoreError, match=r"was locked by another process for 0\.1 s"),
    ):
        open_sqlite(home, timeout=0.1)


def test_a_switch_that_meets_another_switch_is_tried_again(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = sqlite3.connect
    monkeypatch.setattr(
        sqlite3, "connect", lambda *args, **options: connect(*args, **options, factory=BusyTwice)
    )
    with closing(open_sqlite(home)) as store:
        assert store.database.connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert store.database.connection.left == 0  # type: ignore[attr-defined]


class BusyTwice(sqlite3.Connection):
    """A connection that meets another at the switch.

    SQLite refuses one of the two at once, without any wait.
    """

    left = 2

    def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
        if sql == "PRAGMA journal_mode = WAL" and self.left:
            self.left -= 1
            error = sqlite3.OperationalError("database is locked")
            error.sqlite_errorcode = sqlite3.SQLITE_BUSY
            raise error
        return super().execute(sql, *values)


def test_a_disk_that_cannot_share_memory_is_refused(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = sqlite3.connect
    monkeypatch.setattr(
        sqlite3, "connect", lambda *args, **options: connect(*args, **options, factory=RefusesWal)
    )
    with pytest.raises(
        StoreAccessError, match="cannot share memory between processes: choose another --home"
    ) as error:
        open_sqlite(home)
    assert str(home) in one_line(error)


class RefusesWal(sqlite3.Connection):
    """A connection to a file on a network disk: SQLite answers with the mode that it stays in."""

    def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
        return super().execute(
            "PRAGMA journal_mode" if sql == "PRAGMA journal_mode = WAL" else sql, *values
        )


def test_no_thread_opens_a_file_that_another_is_still_making(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or closing the descriptor that made it would drop the locks that SQLite holds by then."""
    order: list[str] = []
    close, connect = os.close, sqlite3.connect

    def slow_close(descriptor: int) -> None:
        time.sleep(0.2)
        close(descriptor)
        order.append("made")

    def noted_connect(*args: Any, **options: Any) -> Any:
        order.append("opened")
        return connect(*args, **options)

    monkeypatch.setattr(os, "close", slow_close)
    monkeypatch.setattr(sqlite3, "connect", noted_connect)
    threads = [threading.Thread(target=lambda: open_sqlite(home).close()) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert order == ["made", "opened", "opened", "opened"]


def test_a_store_that_was_closed_says_so_to_the_programmer(store: SqliteStore) -> None:
    store.close()
    store.close()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        store.runs.list_all()


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o037, 0o077])
def test_nobody_else_may_read(home: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        store = open_sqlite(home)
    finally:
        os.umask(before)
    with closing(store):
        store.runs.create(make_run())
        modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in home.iterdir()}
    assert modes == {"deepdiver.db": 0o600, "deepdiver.db-wal": 0o600, "deepdiver.db-shm": 0o600}
    assert stat.S_IMODE(home.stat().st_mode) & 0o077 == 0


def test_a_file_that_others_could_read_is_closed_to_them(home: Path) -> None:
    open_sqlite(home).close()
    (home / "deepdiver.db").chmod(0o644)
    with closing(open_sqlite(home)) as store:
        store.runs.create(make_run())
        assert {stat.S_IMODE(file.stat().st_mode) for file in home.iterdir()} == {0o600}


def test_a_home_that_exists_keeps_its_mode(home: Path) -> None:
    home.mkdir(mode=0o750)
    open_sqlite(home).close()
    assert stat.S_IMODE(home.stat().st_mode) == 0o750


@pytest.mark.parametrize("name", ["with space", "?mode=ro", "#x", "%41", "ö", "'"])
def test_a_home_may_have_any_name(tmp_path: Path, name: str) -> None:
    with closing(open_sqlite(tmp_path / "deep" / name)) as store:
        store.runs.create(make_run())
    assert (tmp_path / "deep" / name / "deepdiver.db").stat().st_size > 0


@pytest.mark.parametrize(
    ("name", "value"),
    [("journal_mode", "wal"), ("foreign_keys", 1), ("busy_timeout", 30_000), ("fullfsync", 1)],
)
def test_the_connection_is_set_up(store: SqliteStore, name: str, value: object) -> None:
    assert store.database.connection.execute(f"PRAGMA {name}").fetchone() == (value,)


FULL, NORMAL = 2, 1


@pytest.mark.parametrize(
    ("write", "level"),
    [
        (lambda store: reserve(store, "new"), NORMAL),
        (lambda store: store.journal.mark_sent("r1", "k", NOW), FULL),
        (lambda store: store.journal.mark_declined("r1", "sent", NOW), NORMAL),
        (lambda store: store.journal.settle("r1", "k", "{}", Decimal(0), NOW), FULL),
        (lambda store: store.journal.fail("r1", "k", "e", Decimal(0), NOW), FULL),
        (lambda store: store.texts.put("r1", "text"), FULL),
        (lambda store: store.records.add("r1", [("finding", "f", "{}")]), FULL),
        (lambda store: store.records.save_report("r1", "{}"), FULL),
        (lambda store: store.runs.set_status("r1", RunStatus.FAILED), FULL),
        (lambda store: store.runs.create(make_run("r2")), FULL),
        (lambda store: store.runs.delete("r1", NOW), FULL),
        (lambda store: store.leases.take("r1", "me", NOW, 9), NORMAL),
        (
            lambda store: store.limits.take("web", "me", NOW, NOW, rate=1, per=1, concurrent=1),
            NORMAL,
        ),
    ],
)
def test_what_must_survive_a_power_cut_waits_for_the_disk(
    store: SqliteStore, write: Callable[[SqliteStore], object], level: int
) -> None:
    """SQLite keeps FULL in WAL mode by an fsync at each commit.

    The level at the COMMIT is what counts.
    """
    reserve(store)
    reserve(store, "sent")
    store.journal.mark_sent("r1", "sent", NOW)
    levels: list[int] = []

    def on_statement(statement: str) -> None:
        if statement == "PRAGMA synchronous = FULL":
            levels.append(FULL)
        elif statement == "PRAGMA synchronous = NORMAL":
            levels.append(NORMAL)
        elif statement == "COMMIT":
            levels.append(0)

    store.database.connection.set_trace_callback(on_statement)
    write(store)
    store.database.connection.set_trace_callback(None)
    assert levels == [level, 0]
    assert store.database.connection.execute("PRAGMA synchronous").fetchone() == (level,)


@pytest.mark.slow
def test_opening_twice_in_one_process_keeps_the_locks(home: Path) -> None:
    """Closing any descriptor of a file drops all POSIX locks on it.

    Another process then takes the log away.
    """
    script = (
        "import sys; from pathlib import Path; from deepdiver.store.sqlite import open_sqlite; "
        "from deepdiver.core.record import RunStatus; "
        "s = open_sqlite(Path(sys.argv[1])); s.runs.set_status('r1', RunStatus.WAITING); s.close()"
    )
    with closing(open_sqlite(home)) as store:
        store.runs.create(make_run())
        open_sqlite(home).close()
        subprocess.run([sys.executable, "-c", script, str(home)], check=True)
        # The last to close removes it; we are still here.
        assert (home / "deepdiver.db-wal").exists()
        store.runs.create(make_run("r2"))
        assert store.runs.get("r1").status is RunStatus.WAITING
    with closing(open_sqlite(home)) as store:
        assert {run.id for run in store.runs.list_all()} == {"r1", "r2"}
