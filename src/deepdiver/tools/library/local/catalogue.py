"""The catalogue of a library in a folder: its documents, texts and passages, in one SQLite file.

The catalogue is authoritative; the index and the vectors are derived from it.

Each passage has a number that is never used again, so a vector belongs to the passage whose number
is its position in the vector table. The passages of a document are numbered consecutively: the
document stores the first number and the spans. Each document has an id, by which the index of words
knows it.
"""

from __future__ import annotations

import json
import os
import sqlite3
import struct
import threading
import time
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from deepdiver.core.text import Span
from deepdiver.errors import DamagedStoreError, NewerSchemaError
from deepdiver.store.blobs import pack, unpack
from deepdiver.store.faults import from_os, translated
from deepdiver.tools.library.files import FileStamp
from deepdiver.tools.library.interface import Entry, SearchFilter, UnreadFile
from deepdiver.tools.library.records import (
    ENTRY_FIELDS,
    KnownDocument,
    NewDocument,
    StoredDocument,
    entry_of,
    marks_of,
)

APPLICATION_ID = 0x44444C42
"""Written to the header of every catalogue ("DDLB")."""
SCHEMA = 1
"""The version of the tables below."""
TABLES = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE roots (path TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE left_out (url TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE documents (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    url TEXT NOT NULL UNIQUE,
    hash BLOB NOT NULL,
    mtime INTEGER NOT NULL, size INTEGER NOT NULL, ctime INTEGER NOT NULL,
    format TEXT NOT NULL, title TEXT NOT NULL, own_title INTEGER NOT NULL, name TEXT NOT NULL,
    author TEXT NOT NULL, publisher TEXT NOT NULL, publisher_kind TEXT NOT NULL, \
published TEXT NOT NULL,
    language TEXT NOT NULL, notes TEXT NOT NULL,
    first INTEGER NOT NULL, passages INTEGER NOT NULL,
    indexed INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX documents_first ON documents (first);
CREATE INDEX documents_name ON documents (name);
CREATE INDEX documents_pending ON documents (id) WHERE NOT indexed;
CREATE TABLE texts (
    document INTEGER PRIMARY KEY REFERENCES documents (id) ON UPDATE CASCADE ON DELETE CASCADE,
    text BLOB NOT NULL, spans BLOB NOT NULL, marks BLOB NOT NULL
);
CREATE TABLE dropped (document INTEGER PRIMARY KEY, passages INTEGER NOT NULL);
CREATE TABLE unread (url TEXT PRIMARY KEY, reason TEXT NOT NULL, mtime INTEGER NOT NULL, \
size INTEGER NOT NULL,
    ctime INTEGER NOT NULL, tried REAL NOT NULL) WITHOUT ROWID;
"""
"""SQLite stores the text of these statements: not even their white space changes."""
BUSY_SECONDS = 30.0
"""Seconds to wait while another process writes."""
COLUMNS = ", ".join(ENTRY_FIELDS)
_CHUNK = 500
"""Values in one statement: SQLite allows 32,766, older versions 999."""


class SqliteCatalogue:
    """The documents of a library. Threads may share one, and processes may open the same file."""

    def __init__(self, file: Path) -> None:
        """Open a catalogue, or create it with access for the user only.

        Raises:
            StoreError: If it cannot be opened, or is not a catalogue.
        """
        self.file = file
        self._lock = threading.RLock()
        self._counted = ((-1, -1), (0, 0, 0))
        try:
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            os.close(os.open(file, os.O_CREAT | os.O_RDWR, 0o600))
            file.chmod(0o600)
        except OSError as error:
            raise from_os(error, file) from error
        with translated(file, BUSY_SECONDS):
            self._db = sqlite3.connect(
                file, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            try:
                self._prepare()
            except BaseException:
                self._db.close()
                raise
        # A provider keeps its library for as long as it lives, and closes nothing.
        weakref.finalize(self, self._db.close)

    def _prepare(self) -> None:
        application, version = self._db.execute(
            "SELECT application_id, user_version FROM pragma_application_id, pragma_user_version"
        ).fetchone()
        if (application, version) == (0, 0):
            self._make()
        elif application != APPLICATION_ID:
            raise DamagedStoreError(f"{self.file} is not a library of deepdiver: move it away")
        elif version > SCHEMA:
            raise NewerSchemaError(
                f"{self.file} was written by a newer deepdiver: upgrade, or choose another --home"
            )
        self._db.execute("PRAGMA foreign_keys = ON")
        # A number must not be given twice, not even after a power cut.
        self._db.execute("PRAGMA synchronous = FULL")

    def _make(self) -> None:
        self._db.execute("PRAGMA journal_mode = WAL")
        with self._writing() as db:
            (tables,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
            if not tables:  # no other process was faster
                for statement in TABLES.split(";"):
                    db.execute(statement)
            db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            db.execute(f"PRAGMA user_version = {SCHEMA}")

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._lock, translated(self.file, BUSY_SECONDS):
            yield self._db

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Run a transaction: all changes in the block, or none."""
        with self._lock, translated(self.file, BUSY_SECONDS):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    # Facts

    def version(self) -> int:
        """Return a number that changes whenever another connection changes anything."""
        with self._reading() as db:
            return int(db.execute("PRAGMA data_version").fetchone()[0])

    def fact(self, name: str) -> int:
        """Return a stored number; 0 if there is none of that name."""
        with self._reading() as db:
            row = db.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return int(row[0]) if row else 0

    def keep(self, **facts: int) -> None:
        """Store numbers by name."""
        with self._writing() as db:
            _keep(db, facts)

    def roots(self) -> list[Path]:
        """Return the files and folders that the documents come from."""
        with self._reading() as db:
            return [Path(row[0]) for row in db.execute("SELECT path FROM roots ORDER BY path")]

    def left_out(self) -> set[str]:
        """Return the URLs below a root that the user removed."""
        with self._reading() as db:
            return {row[0] for row in db.execute("SELECT url FROM left_out")}

    def settle(
        self, roots: Iterable[str], *, without: Iterable[str] = (), left_out: Iterable[str] = ()
    ) -> None:
        """Add roots, remove others, and record the URLs to leave out.

        A root that is added is no longer left out.
        """
        taken = [(path,) for path in roots]
        with self._writing() as db:
            db.executemany("INSERT OR IGNORE INTO roots VALUES (?)", taken)
            db.executemany("DELETE FROM left_out WHERE url = ?", taken)
            db.executemany("DELETE FROM roots WHERE path = ?", [(path,) for path in without])
            db.executemany(
                "INSERT OR IGNORE INTO left_out VALUES (?)", [(url,) for url in left_out]
            )

    # Refreshing

    def known(self) -> dict[str, KnownDocument]:
        """Return all documents by URL, for comparison with their files."""
        with self._reading() as db:
            rows = db.execute("SELECT url, id, hash, mtime, size, ctime FROM documents").fetchall()
        return {
            url: KnownDocument(id_, hash_, FileStamp(*stamp)) for url, id_, hash_, *stamp in rows
        }

    def put(self, documents: Sequence[NewDocument]) -> None:
        """Add documents. Each replaces the one with the same URL."""
        with self._writing() as db:
            number = _fact(db, "next")
            for new in documents:
                _drop(db, [new.url])
                said = new.document
                kept = db.execute(
                    "INSERT INTO documents (url, hash, mtime, size, ctime, format, title, "
                    "own_title, name, author, publisher, publisher_kind, published, language, "
                    "notes, first, passages) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
                    "?, ?, ?)",
                    (
                        new.url, new.hash, new.stamp.mtime, new.stamp.size, new.stamp.ctime,
                        said.format, said.title, new.own_title, new.name, said.author,
                        said.publisher, said.publisher_kind, said.published, said.language,
                        json.dumps(said.notes, ensure_ascii=False), number, len(new.spans),
                    ),
                )  # fmt: skip
                marks = json.dumps(
                    [[mark.start, mark.kind, mark.label] for mark in said.marks], ensure_ascii=False
                )
                row = (kept.lastrowid, pack(said.text), pack_spans(new.spans), pack(marks))
                db.execute("INSERT INTO texts VALUES (?, ?, ?, ?)", row)
                db.execute("DELETE FROM unread WHERE url = ?", (new.url,))
                number += len(new.spans)
            _keep(db, {"next": number})

    def touch(self, url: str, stamp: FileStamp) -> None:
        """Record the new stamp of a file that was written again with the same content."""
        with self._writing() as db:
            row = (stamp.mtime, stamp.size, stamp.ctime, url)
            db.execute("UPDATE documents SET mtime = ?, size = ?, ctime = ? WHERE url = ?", row)

    def move(self, old: str, new: str, stamp: FileStamp, title: str, name: str) -> None:
        """Record the new name of a file.

        A title that was made from the old name is replaced by `title`. The document then gets a new
        id, so that the index treats it as new; its passages keep their numbers and vectors.
        """
        with self._writing() as db:
            row = (new, stamp.mtime, stamp.size, stamp.ctime, old)
            db.execute(
                "UPDATE documents SET url = ?, mtime = ?, size = ?, ctime = ? WHERE url = ?", row
            )
            db.execute("DELETE FROM unread WHERE url = ?", (new,))
            id_, passages, own, was = db.execute(
                "SELECT id, passages, own_title, title FROM documents WHERE url = ?", (new,)
            ).fetchone()
            if not own and was != title:
                (last,) = db.execute(
                    "SELECT seq FROM sqlite_sequence WHERE name = 'documents'"
                ).fetchone()
                db.execute("INSERT INTO dropped VALUES (?, ?)", (id_, passages))
                db.execute(
                    "UPDATE documents SET id = ?, title = ?, name = ?, indexed = 0 WHERE id = ?",
                    (last + 1, title, name, id_),
                )
                db.execute(
                    "UPDATE sqlite_sequence SET seq = ? WHERE name = 'documents'", (last + 1,)
                )

    def drop(self, urls: Iterable[str]) -> None:
        """Remove documents."""
        with self._writing() as db:
            _drop(db, urls)

    def missed(self) -> dict[str, tuple[UnreadFile, FileStamp, float]]:
        """Return the files that could not be read, by URL.

        Each comes with the reason, the state of the file, and the time of the attempt.
        """
        with self._reading() as db:
            rows = db.execute(
                "SELECT url, reason, mtime, size, ctime, tried FROM unread ORDER BY url"
            ).fetchall()
        return {row[0]: (UnreadFile(row[0], row[1]), FileStamp(*row[2:5]), row[5]) for row in rows}

    def miss(
        self, unread: Iterable[tuple[UnreadFile, FileStamp | None]], gone: Iterable[str]
    ) -> None:
        """Record files that could not be read, and delete the records of some URLs."""
        with self._writing() as db:
            db.executemany("DELETE FROM unread WHERE url = ?", [(url,) for url in gone])
            for item, stamp in unread:
                at = stamp or FileStamp(0, 0, 0)
                row = (item.url, item.reason, at.mtime, at.size, at.ctime, time.time())
                db.execute("INSERT OR REPLACE INTO unread VALUES (?, ?, ?, ?, ?, ?)", row)

    # For the index and the vectors

    def unindexed(self) -> list[int]:
        """Return the ids of documents that are not in the index, in order."""
        with self._reading() as db:
            return [
                row[0]
                for row in db.execute("SELECT id FROM documents WHERE NOT indexed ORDER BY id")
            ]

    def all_ids(self) -> list[int]:
        """Return the ids of all documents, in order."""
        with self._reading() as db:
            return [row[0] for row in db.execute("SELECT id FROM documents ORDER BY id")]

    def dropped(self) -> dict[int, int]:
        """Return the ids of documents to remove from the index, with their numbers of passages."""
        with self._reading() as db:
            return dict(db.execute("SELECT document, passages FROM dropped").fetchall())

    def indexed(self, added: Iterable[int], dropped: Iterable[int], **facts: int) -> None:
        """Record that the index has been brought up to date."""
        with self._writing() as db:
            db.executemany(
                "UPDATE documents SET indexed = 1 WHERE id = ?", [(id_,) for id_ in added]
            )
            db.executemany("DELETE FROM dropped WHERE document = ?", [(id_,) for id_ in dropped])
            _keep(db, facts)

    def unindex(self) -> None:
        """Record that the index is lost and contains no documents."""
        with self._writing() as db:
            db.execute("UPDATE documents SET indexed = 0")
            db.execute("DELETE FROM dropped")

    def stored(self, id_: int) -> StoredDocument | None:
        """Return a document with its text; None if it no longer exists."""
        with self._reading() as db:
            row = db.execute(
                "SELECT id, first, title, own_title, text, spans, marks FROM documents "
                "JOIN texts ON document = id WHERE id = ?",
                (id_,),
            ).fetchone()
        return self._stored(row) if row else None

    def stored_at(self, number: int) -> StoredDocument | None:
        """Return the document of a passage, or else the next one; None after the last."""
        with self._reading() as db:
            row = db.execute(
                "SELECT id, first, title, own_title, text, spans, marks FROM documents "
                "JOIN texts ON document = id WHERE first >= coalesce((SELECT max(first) "
                "FROM documents WHERE first <= ?1), 0) AND first + passages > ?1 "
                "ORDER BY first LIMIT 1",
                (number,),
            ).fetchone()
        return self._stored(row) if row else None

    def _stored(self, row: tuple[int, int, str, int, bytes, bytes, bytes]) -> StoredDocument:
        id_, first, title, own, text, spans, marks = row
        return StoredDocument(
            id_,
            first,
            title,
            bool(own),
            unpack(text, self.file),
            unpack_spans(spans),
            marks_of(unpack(marks, self.file)),
        )

    def ranges(self) -> list[tuple[int, int]]:
        """Return the numbers of all passages as (first, count) of each document, in order."""
        with self._reading() as db:
            return db.execute("SELECT first, passages FROM documents ORDER BY first").fetchall()

    def renumber(self, **facts: int) -> None:
        """Number the passages again without gaps, in their present order."""
        with self._writing() as db:
            rows = db.execute("SELECT id, passages FROM documents ORDER BY first").fetchall()
            number = 0
            for id_, passages in rows:
                db.execute(
                    "UPDATE documents SET first = ?, indexed = 1 WHERE id = ?", (number, id_)
                )
                number += passages
            db.execute("DELETE FROM dropped")
            _keep(db, {**facts, "next": number})

    # Searching

    def counts(self) -> tuple[int, int, int]:
        """Return the numbers of documents, of passages, and of passage numbers ever given."""
        with self._reading() as db:
            state = (self.version(), db.total_changes)
            if state != self._counted[0]:  # counting reads every document; every search asks
                documents, passages = db.execute(
                    "SELECT count(*), coalesce(sum(passages), 0) FROM documents"
                ).fetchone()
                self._counted = (state, (documents, passages, _fact(db, "next")))
            return self._counted[1]

    def passages_from(self, number: int) -> int:
        """Return how many passages have this number or a higher one."""
        with self._reading() as db:
            row = db.execute(
                "SELECT coalesce(sum(min(passages, first + passages - ?1)), 0) "
                "FROM documents WHERE first + passages > ?1",
                (number,),
            ).fetchone()
        return int(row[0])

    def entries(self) -> list[Entry]:
        """Return all documents, sorted by URL, without their marks."""
        with self._reading() as db:
            rows = db.execute(f"SELECT {COLUMNS}, notes FROM documents ORDER BY url").fetchall()  # noqa: S608
        return [entry_of(row[:-1], row[-1], "[]", self.file) for row in rows]

    def filtered(self, where: SearchFilter) -> list[tuple[int, int, int]] | None:
        """Return the documents that pass a filter, as (id, first number, passages).

        None means that all pass.
        """
        tests: list[str] = []
        values: list[str | int] = []
        if where.folders:
            tests.append(" OR ".join("url = ? OR substr(url, 1, ?) = ?" for _ in where.folders))
            for folder, prefix in zip(where.folders, where.prefixes(), strict=True):
                values += [folder, len(prefix), prefix]
        if where.formats:
            tests.append(f"format IN ({', '.join('?' * len(where.formats))})")
            values += where.formats
        for day, sign in ((where.since, ">="), (where.until, "<=")):
            if day:  # as precise as known: 2026 is neither before nor after May 2026
                known = f"substr(published, 1, 10) {sign} substr(?, 1, length(published))"
                tests.append(f"published NOT GLOB '[0-9][0-9][0-9][0-9]*' OR {known}")
                values.append(day.isoformat())
        if not tests:
            return None
        wanted = " AND ".join(f"({test})" for test in tests)
        with self._reading() as db:
            return db.execute(
                f"SELECT id, first, passages FROM documents WHERE {wanted}",  # noqa: S608
                values,
            ).fetchall()

    def named(self, names: Iterable[str]) -> dict[str, list[tuple[int, int, int]]]:
        """Return the documents of some names, as (id, first number, passages)."""
        found: dict[str, list[tuple[int, int, int]]] = {}
        listed = list(names)
        with self._reading() as db:
            for at in range(0, len(listed), _CHUNK):
                chunk = listed[at : at + _CHUNK]
                marks = ", ".join("?" * len(chunk))
                sql = (
                    f"SELECT name, id, first, passages FROM documents WHERE name IN ({marks}) "  # noqa: S608
                    "ORDER BY first"
                )
                for name, *document in db.execute(sql, chunk):
                    found.setdefault(name, []).append(tuple(document))
        return found

    def located(self, numbers: Iterable[int]) -> dict[int, tuple[int, int]]:
        """Return (id, first number) of the documents of some passages, by passage.

        Passages that no longer exist are left out.
        """
        found = {}
        with self._reading() as db:
            for number in numbers:
                row = db.execute(
                    "SELECT id, first, passages FROM documents WHERE first <= ? "
                    "ORDER BY first DESC LIMIT 1",
                    (number,),
                ).fetchone()
                if row and number < row[1] + row[2]:
                    found[number] = (row[0], row[1])
        return found

    def entry(self, id_: int) -> tuple[Entry, tuple[Span, ...]] | None:
        """Return a document with its marks, and its spans; None if it no longer exists."""
        with self._reading() as db:
            row = db.execute(
                f"SELECT {COLUMNS}, notes, spans, marks FROM documents JOIN texts ON document = id "  # noqa: S608
                "WHERE id = ?",
                (id_,),
            ).fetchone()
        if row is None:
            return None
        *fields, notes, spans, marks = row
        return entry_of(fields, notes, unpack(marks, self.file), self.file), unpack_spans(spans)

    def text(self, id_: int) -> str | None:
        """Return the text of a document; None if it no longer exists."""
        with self._reading() as db:
            row = db.execute("SELECT text FROM texts WHERE document = ?", (id_,)).fetchone()
        return unpack(row[0], self.file) if row else None


def _fact(db: sqlite3.Connection, name: str) -> int:
    row = db.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
    return int(row[0]) if row else 0


def _keep(db: sqlite3.Connection, facts: dict[str, int]) -> None:
    db.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?)", facts.items())


def _drop(db: sqlite3.Connection, urls: Iterable[str]) -> None:
    for url in urls:
        db.execute("INSERT INTO dropped SELECT id, passages FROM documents WHERE url = ?", (url,))
        db.execute("DELETE FROM documents WHERE url = ?", (url,))


def pack_spans(spans: Iterable[Span]) -> bytes:
    """Return spans as bytes, four for each offset."""
    offsets = [offset for span in spans for offset in (span.start, span.end)]
    return struct.pack(f"<{len(offsets)}I", *offsets)


def unpack_spans(data: bytes) -> tuple[Span, ...]:
    """Return the spans that `pack_spans` packed."""
    return tuple(Span(start, end) for start, end in struct.iter_unpack("<2I", data))
