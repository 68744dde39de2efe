"""The catalogue of a library in PostgreSQL, as a refresh compares it with files and updates it.

A process holds the lock of a library while it changes it, on the connection that makes the changes:
if the connection breaks, the lock is released and no further change is made. Each change is a
transaction that includes the index of words.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deepdiver.core.text import Span
from deepdiver.errors import StoreError
from deepdiver.store.blobs import pack, unpack
from deepdiver.store.connections import SERVER_NAME, transaction
from deepdiver.tools.hit import whole
from deepdiver.tools.library.files import FileStamp
from deepdiver.tools.library.interface import UnreadFile
from deepdiver.tools.library.postgres import word_index
from deepdiver.tools.library.postgres.schema import LOCK
from deepdiver.tools.library.records import (
    KnownDocument,
    NewDocument,
    StoredDocument,
    marks_of,
)

if TYPE_CHECKING:
    from deepdiver.store.connections import Connection

WAIT = 3_600.0
"""Seconds to wait for another process that is updating the same library: the files that it reads
need not be read again."""
PAUSE = 0.2
"""Seconds between two attempts; short, so that Ctrl-C takes effect."""
AT_ONCE = 200
"""The most documents whose texts are in memory at once."""
SOURCE = Path(SERVER_NAME)
"""The name of the database in messages about damage."""

COLUMNS = {
    "id": "int8", "library": "int4", "url": "text", "hash": "bytea",
    "mtime": "int8", "size": "int8", "ctime": "int8",
    "format": "text", "title": "text", "own_title": "bool", "name": "text",
    "author": "text", "publisher": "text", "publisher_kind": "text",
    "published": "text", "language": "text", "notes": "text",
    "first": "int4", "passages": "int4", "words": "int8", "segment": "int8",
}  # fmt: skip
"""The columns of a document, and their types."""


@dataclass(frozen=True, slots=True)
class _IndexedDocument:
    """The place of a document in the index of words."""

    id: int
    first: int
    passages: int
    words: int
    segment: int


@contextmanager
def hold_library(
    db: Connection, library: int, seconds: float = WAIT
) -> Iterator[PostgresCatalogue]:
    """Hold the lock of a library, and yield its catalogue.

    Raises:
        StoreError: If another process holds the lock for longer.
    """
    ends = time.monotonic() + seconds
    while not db.execute("SELECT pg_try_advisory_lock(%s, %s)", (LOCK, library)).fetchall()[0][0]:
        if time.monotonic() >= ends:
            raise StoreError(
                f"the library in {SERVER_NAME} is being changed by another process: try again when "
                "it is done"
            )
        time.sleep(PAUSE)
    try:
        yield PostgresCatalogue(db, library)
    finally:
        if not db.closed:
            db.execute("SELECT pg_advisory_unlock(%s, %s)", (LOCK, library))


class PostgresCatalogue:
    """The documents of a library; a `refresh.Catalogue`."""

    def __init__(self, db: Connection, library: int) -> None:
        """Use a connection, which must hold the lock of the library for any change."""
        self._db, self._library = db, library

    def _rows(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Return the rows of a statement whose first parameter is the library."""
        return self._db.execute(statement, (self._library, *values)).fetchall()

    def _do(self, statement: str, *values: object) -> None:
        self._db.execute(statement, (self._library, *values))

    # Contents

    def roots(self) -> list[Path]:
        """Return the files and folders that the documents come from."""
        return [
            Path(row[0])
            for row in self._rows("SELECT path FROM roots WHERE library = %s ORDER BY path")
        ]

    def left_out(self) -> set[str]:
        """Return the URLs below a root that the user removed."""
        return {row[0] for row in self._rows("SELECT url FROM left_out WHERE library = %s")}

    def known(self) -> dict[str, KnownDocument]:
        """Return all documents by URL, for comparison with their files."""
        rows = self._rows(
            "SELECT url, id, hash, mtime, size, ctime FROM documents WHERE library = %s"
        )
        return {
            url: KnownDocument(id_, bytes(hash_), FileStamp(*stamp))
            for url, id_, hash_, *stamp in rows
        }

    def missed(self) -> dict[str, tuple[UnreadFile, FileStamp, float]]:
        """Return the files that could not be read, by URL.

        Each comes with the reason, the state of the file, and the time of the attempt.
        """
        rows = self._rows(
            "SELECT url, reason, mtime, size, ctime, tried FROM unread WHERE library = %s "
            "ORDER BY url"
        )
        return {row[0]: (UnreadFile(row[0], row[1]), FileStamp(*row[2:5]), row[5]) for row in rows}

    # Changing

    def settle(
        self, roots: Iterable[str], *, without: Iterable[str] = (), left_out: Iterable[str] = ()
    ) -> None:
        """Add roots, remove others, and record the URLs to leave out.

        A root that is added is no longer left out.
        """
        taken = [clean_text(path) for path in roots]
        with transaction(self._db):
            self._do(
                "INSERT INTO roots SELECT %s, unnest(%s::text[]) ON CONFLICT DO NOTHING", taken
            )
            self._do("DELETE FROM left_out WHERE library = %s AND url = ANY(%s)", taken)
            self._do(
                "DELETE FROM roots WHERE library = %s AND path = ANY(%s)",
                [clean_text(path) for path in without],
            )
            omitted = [clean_text(url) for url in left_out]
            self._do(
                "INSERT INTO left_out SELECT %s, unnest(%s::text[]) ON CONFLICT DO NOTHING", omitted
            )

    def put(self, documents: Sequence[NewDocument]) -> None:
        """Add documents. Each replaces the one with the same URL."""
        if not documents:
            return
        with transaction(self._db):
            self._drop([new.url for new in documents])
            self._do(
                "DELETE FROM unread WHERE library = %s AND url = ANY(%s)",
                [clean_text(new.url) for new in documents],
            )
            total = sum(len(new.spans) for new in documents)
            (next_,) = self._db.execute(
                "UPDATE libraries SET next = next + %s WHERE id = %s RETURNING next",
                (total, self._library),
            ).fetchall()[0]
            ids = self._db.execute(
                "SELECT nextval(pg_get_serial_sequence('deepdiver_library.documents', 'id')) "
                "FROM generate_series(1, %s)",
                (len(documents),),
            ).fetchall()
            stored, first = [], next_ - total
            for (id_,), new in zip(ids, documents, strict=True):
                said = new.document
                stored.append(
                    StoredDocument(
                        id_,
                        first,
                        clean_text(said.title),
                        new.own_title,
                        said.text,
                        new.spans,
                        said.marks,
                    )
                )
                first += len(new.spans)
            self._enter(documents, stored)
            word_index.join_segments(self._db, self._library)

    def _enter(self, documents: Sequence[NewDocument], stored: Sequence[StoredDocument]) -> None:
        found = word_index.postings_of(stored)
        segment = word_index.new_segment(
            self._db, self._library, sum(len(one.spans) for one in stored)
        )
        with self._copy("documents", COLUMNS) as copy:
            for new, one in zip(documents, stored, strict=True):
                said = new.document
                told = (
                    said.author,
                    said.publisher,
                    said.publisher_kind,
                    said.published,
                    said.language,
                )
                # in ASCII: PostgreSQL rejects NUL and lone surrogates
                notes = json.dumps(said.notes)
                copy.write_row(
                    (
                        one.id, self._library, clean_text(new.url), new.hash,
                        new.stamp.mtime, new.stamp.size, new.stamp.ctime,
                        clean_text(said.format), one.title, new.own_title, clean_text(new.name),
                        *map(clean_text, told), notes,
                        one.first, len(one.spans), found.words[one.id], segment,
                    )
                )  # fmt: skip
        with self._copy("texts", {"document": "int8", "text": "bytea", "marks": "bytea"}) as copy:
            for new, one in zip(documents, stored, strict=True):
                marks = json.dumps(
                    [[mark.start, mark.kind, mark.label] for mark in new.document.marks]
                )
                copy.write_row((one.id, pack(one.text), pack(marks)))
        types = {
            "library": "int4",
            "number": "int4",
            "document": "int8",
            "start": "int4",
            "stop": "int4",
        }
        with self._copy("passages", types) as copy:
            for one in stored:
                for number, span in enumerate(one.spans, one.first):
                    copy.write_row((self._library, number, one.id, span.start, span.end))
        word_index.add_postings(self._db, segment, found.rows)
        self._count(sum(len(one.spans) for one in stored), sum(found.words.values()))

    @contextmanager
    def _copy(self, table: str, types: dict[str, str]) -> Iterator[Any]:
        statement = f"COPY {table} ({', '.join(types)}) FROM STDIN (FORMAT BINARY)"
        with self._db.cursor().copy(statement) as copy:
            copy.set_types(list(types.values()))
            yield copy

    def _count(self, passages: int, said: int) -> None:
        self._db.execute(
            "UPDATE libraries SET passages = passages + %s, words = words + %s WHERE id = %s",
            (passages, said, self._library),
        )

    def touch(self, url: str, stamp: FileStamp) -> None:
        """Record the new stamp of a file that was written again with the same content."""
        self._db.execute(
            "UPDATE documents SET mtime = %s, size = %s, ctime = %s WHERE library = %s "
            "AND url = %s",
            (stamp.mtime, stamp.size, stamp.ctime, self._library, clean_text(url)),
        )

    def move(self, old: str, new: str, stamp: FileStamp, title: str, name: str) -> None:
        """Record the new name of a file.

        A title that was made from the old name is replaced by `title`, also in the index. The
        passages keep their numbers and vectors.
        """
        with transaction(self._db):
            self._db.execute(
                "UPDATE documents SET url = %s, mtime = %s, size = %s, ctime = %s "
                "WHERE library = %s AND url = %s",
                (
                    clean_text(new),
                    stamp.mtime,
                    stamp.size,
                    stamp.ctime,
                    self._library,
                    clean_text(old),
                ),
            )
            self._do("DELETE FROM unread WHERE library = %s AND url = %s", clean_text(new))
            for place in self._places([new]):
                (stored,) = self._stored([place.id])
                if not stored.own_title and stored.title != clean_text(title):
                    self._retitle(place, replace(stored, title=clean_text(title)), name)

    def _retitle(self, place: _IndexedDocument, stored: StoredDocument, name: str) -> None:
        self._unindex([place])
        found = word_index.postings_of([stored])
        segment = word_index.new_segment(self._db, self._library, place.passages)
        word_index.add_postings(self._db, segment, found.rows)
        self._count(0, found.words[stored.id] - place.words)
        self._db.execute(
            "UPDATE documents SET title = %s, name = %s, words = %s, segment = %s WHERE id = %s",
            (stored.title, clean_text(name), found.words[stored.id], segment, stored.id),
        )
        self._db.execute("DELETE FROM segments WHERE id = %s AND passages = 0", (place.segment,))
        word_index.join_segments(self._db, self._library)

    def drop(self, urls: Iterable[str]) -> None:
        """Remove documents."""
        with transaction(self._db):
            self._drop(urls)

    def _drop(self, urls: Iterable[str]) -> None:
        places = self._places(urls)
        if not places:
            return
        self._unindex(places)
        self._db.execute(
            "DELETE FROM documents WHERE id = ANY(%s)", ([place.id for place in places],)
        )
        self._db.execute(
            "DELETE FROM segments WHERE library = %s AND passages = 0", (self._library,)
        )
        self._count(-sum(place.passages for place in places), -sum(place.words for place in places))

    def _unindex(self, places: Sequence[_IndexedDocument]) -> None:
        """Remove documents from the index of words.

        A segment that becomes empty loses all of its rows at once.
        """
        by_segment: dict[int, list[_IndexedDocument]] = {}
        for place in places:
            by_segment.setdefault(place.segment, []).append(place)
        for segment, those in by_segment.items():
            (left,) = self._db.execute(
                "UPDATE segments SET passages = passages - %s WHERE id = %s RETURNING passages",
                (sum(place.passages for place in those), segment),
            ).fetchall()[0]
            if not left:
                self._db.execute("DELETE FROM postings WHERE segment = %s", (segment,))
                continue
            for at in range(0, len(those), AT_ONCE):
                word_index.remove_documents(
                    self._db,
                    segment,
                    self._stored([place.id for place in those[at : at + AT_ONCE]]),
                )

    def _places(self, urls: Iterable[str]) -> list[_IndexedDocument]:
        rows = self._rows(
            "SELECT id, first, passages, words, segment FROM documents WHERE library = %s "
            "AND url = ANY(%s) ORDER BY first",
            [clean_text(url) for url in urls],
        )
        return [_IndexedDocument(*row) for row in rows]

    def _stored(self, ids: Sequence[int]) -> list[StoredDocument]:
        return load_stored(self._db, ids)

    def miss(
        self, unread: Iterable[tuple[UnreadFile, FileStamp | None]], gone: Iterable[str]
    ) -> None:
        """Record files that could not be read, and delete the records of some URLs."""
        with transaction(self._db):
            self._do(
                "DELETE FROM unread WHERE library = %s AND url = ANY(%s)",
                [clean_text(url) for url in gone],
            )
            for item, stamp in unread:
                at = stamp or FileStamp(0, 0, 0)
                self._do(
                    "INSERT INTO unread VALUES (%s, %s, %s, %s, %s, %s, %s) "
                    "ON CONFLICT (library, url) DO UPDATE "
                    "SET (reason, mtime, size, ctime, tried) = ROW (EXCLUDED.reason, "
                    "EXCLUDED.mtime, EXCLUDED.size, EXCLUDED.ctime, EXCLUDED.tried)",
                    clean_text(item.url),
                    clean_text(item.reason),
                    at.mtime,
                    at.size,
                    at.ctime,
                    time.time(),
                )


def load_stored(db: Connection, ids: Sequence[int]) -> list[StoredDocument]:
    """Return documents with their texts, in the order of their passages, without missing ones."""
    spans: dict[int, list[Span]] = {}
    rows = db.execute(
        "SELECT document, start, stop FROM passages WHERE document = ANY(%s) ORDER BY number",
        (list(ids),),
    )
    for document, start, stop in rows.fetchall():
        spans.setdefault(document, []).append(Span(start, stop))
    found = db.execute(
        "SELECT id, first, title, own_title, text, marks FROM documents "
        "JOIN texts ON document = id WHERE id = ANY(%s) ORDER BY first",
        (list(ids),),
        binary=True,
    ).fetchall()
    return [
        StoredDocument(
            id_,
            first,
            title,
            own,
            unpack(text, SOURCE),
            tuple(spans.get(id_, ())),
            marks_of(unpack(marks, SOURCE)),
        )
        for id_, first, title, own, text, marks in found
    ]


def clean_text(text: str) -> str:
    """Return a text without the characters that PostgreSQL rejects: lone surrogates and NUL."""
    return whole(text).replace("\0", "\ufffd")
