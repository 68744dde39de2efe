"""A library in a PostgreSQL database, with the same rankings as a library in a folder.

Documents, texts and passages are rows. Words are found by posting lists (`word_index`), and sense
is measured by pgvector. One process at a time changes a library; all may search, and all may
compute vectors.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from deepdiver.core.text import Span
from deepdiver.errors import StoreError, UnknownNameError
from deepdiver.store.blobs import unpack
from deepdiver.store.connections import Connections
from deepdiver.store.migrate import check_version, schema_version
from deepdiver.tools.library import ranking, refresh
from deepdiver.tools.library.document_names import names_of_others
from deepdiver.tools.library.embedding import embed_query, embed_texts, texts_to_embed
from deepdiver.tools.library.interface import (
    NO_FILTER,
    Entry,
    Match,
    OnProgress,
    Progress,
    RefreshSummary,
    SearchFilter,
    UnreadFile,
)
from deepdiver.tools.library.postgres import schema, word_index
from deepdiver.tools.library.postgres.catalogue import (
    SOURCE,
    PostgresCatalogue,
    clean_text,
    hold_library,
    load_stored,
)
from deepdiver.tools.library.records import ENTRY_FIELDS, entry_of
from deepdiver.tools.library.terms import terms_of

if TYPE_CHECKING:
    from deepdiver.store.connections import Connection

EMBED = 64
"""Passages that are embedded at a time: a second's work, so that stopping takes no longer."""

_ENTRY_COLUMNS = ", ".join(f"d.{field}" for field in ENTRY_FIELDS)


class PostgresLibrary:
    """A `Library` in a PostgreSQL database; see there for the contracts of the methods."""

    def __init__(self, address: SecretStr, name: str) -> None:
        """Open a library, or create it.

        Args:
            address: The address of the database, postgresql://…
            name: The name of the library there.

        Raises:
            SettingsError: If the address is malformed.
            StoreError: If it cannot be opened; the message says what to do, never the address.
            UsageError: If the package for PostgreSQL is not installed.
        """
        self.name = name
        self._connections = Connections(address, schema.SCHEMA)
        with self._connections.use() as db:
            self.note = schema.prepare_schema(db)
            """Why passages are found only by their words, in one line; empty if they are not."""
            db.execute(
                "INSERT INTO libraries (name) VALUES (%s) ON CONFLICT DO NOTHING",
                (clean_text(name),),
            )
            (self._id,) = db.execute(
                "SELECT id FROM libraries WHERE name = %s", (clean_text(name),)
            ).fetchall()[0]

    def close(self) -> None:
        """Close the connections."""
        self._connections.close()

    # Contents

    def documents(self) -> list[Entry]:
        """Return all documents, sorted by URL, without their marks."""
        with self._connections.use() as db:
            sql = (
                f"SELECT {_ENTRY_COLUMNS}, d.notes FROM documents d WHERE library = %s ORDER BY url"  # noqa: S608
            )
            rows = db.execute(sql, (self._id,)).fetchall()
        return [entry_of(fields, notes, "[]", SOURCE) for *fields, notes in rows]

    def unread(self) -> list[UnreadFile]:
        """Return the files that the last refresh could not read, sorted by URL."""
        with self._connections.use() as db:
            return [item for item, _, _ in PostgresCatalogue(db, self._id).missed().values()]

    def roots(self) -> list[Path]:
        """Return the files and folders that the library is made from."""
        with self._connections.use() as db:
            return PostgresCatalogue(db, self._id).roots()

    def whole(self, most: int) -> list[tuple[Entry, str]]:
        """Return all documents with their texts, if these have at most so many characters."""
        sql = (
            f"SELECT t.text, t.marks, {_ENTRY_COLUMNS}, d.notes FROM documents d "  # noqa: S608
            "JOIN texts t ON t.document = d.id WHERE library = %s ORDER BY url"
        )
        found: list[tuple[Entry, str]] = []
        with self._connections.use() as db, db.cursor(binary=True) as cursor:
            for packed, marks, *fields, notes in cursor.stream(sql, (self._id,)):
                text = unpack(packed, SOURCE)
                most -= len(text)
                if most < 0:
                    return []
                found.append((entry_of(fields, notes, unpack(marks, SOURCE), SOURCE), text))
        return found

    def text(self, entry: Entry) -> str:
        """Return the text of a document.

        Raises:
            UnknownNameError: If it no longer exists.
        """
        with self._connections.use() as db:
            row = db.execute(
                "SELECT text FROM texts WHERE document = %s", (entry.id,), binary=True
            ).fetchone()
        if row is None:
            raise UnknownNameError(f"{entry.url} is not in the library any more")
        return unpack(row[0], SOURCE)

    def passages(self) -> int:
        """Return the number of passages."""
        return self._number("SELECT passages FROM libraries WHERE id = %s")

    def pending(self) -> int:
        """Return the number of passages without a vector; 0 if there can be no vectors."""
        if self.note:
            return 0
        return self._number("SELECT count(*) FROM passages WHERE library = %s AND vector IS NULL")

    def _number(self, statement: str) -> int:
        with self._connections.use() as db:
            return int(db.execute(statement, (self._id,)).fetchall()[0][0])

    # Changing

    def refresh(
        self,
        roots: Sequence[Path],
        progress: OnProgress | None = None,
        *,
        again: bool = False,
        within: Sequence[Path] = (),
    ) -> RefreshSummary:
        """Bring the library up to date with the files under some roots."""
        with self._changing() as catalogue:
            report = progress or (lambda _: None)
            return refresh.refresh_catalogue(catalogue, roots, report, again, within)

    def forget(self, paths: Sequence[Path]) -> list[str]:
        """Remove the documents at or below some paths, and return their URLs."""
        with self._changing() as catalogue:
            return refresh.forget_paths(catalogue, paths)

    @contextmanager
    def _changing(self) -> Iterator[PostgresCatalogue]:
        with self._connections.use() as db, hold_library(db, self._id) as catalogue:
            yield catalogue

    def embed(
        self, progress: OnProgress | None = None, stop: Callable[[], bool] = lambda: False
    ) -> int:
        """Compute the missing vectors of passages, and return how many were computed.

        Several processes may do so at once: each takes passages that no other has taken.
        """
        done, report = 0, progress or (lambda _: None)
        if stop() or not (total := self.pending()):
            return 0
        while not stop():
            report(Progress("embedding", min(done, total), total))
            with self._connections.writing() as db:
                given = self._embed_some(db)
            if not given:
                break
            done += given
        report(Progress("embedding", done, max(done, total)))
        return done

    def _embed_some(self, db: Connection) -> int:
        """Embed some passages that no other process has taken, and return how many."""
        rows = db.execute(
            "SELECT number, document FROM passages WHERE library = %s AND vector IS NULL "
            "ORDER BY number LIMIT %s FOR UPDATE SKIP LOCKED",
            (self._id, EMBED),
        ).fetchall()
        made = _make_vectors(db, rows)
        self._give(db, made)
        return len(made)

    def _give(self, db: Connection, made: dict[int, str]) -> None:
        """Store the vectors of passages, except of those that have one already."""
        db.execute(
            "UPDATE passages p SET vector = given.vector::vector "
            "FROM unnest(%s::int[], %s::text[]) AS given (place, vector) WHERE library = %s "
            "AND number = place AND p.vector IS NULL",
            (list(made), list(made.values()), self._id),
        )

    def _keep(self, made: dict[int, str]) -> None:
        """Store the vectors that a search computed, except of passages that others have locked."""
        # If it fails, the search has the same answer, and the next one computes them again.
        with contextlib.suppress(StoreError), self._connections.writing() as db:
            free = db.execute(
                "SELECT number FROM passages WHERE library = %s AND number = ANY(%s) "
                "AND vector IS NULL ORDER BY number FOR UPDATE SKIP LOCKED",
                (self._id, list(made)),
            ).fetchall()
            self._give(db, {number: made[number] for (number,) in free})

    # Searching

    def search(
        self, query: str, k: int, where: SearchFilter = NO_FILTER, hops: int = 1
    ) -> list[Match]:
        """Return the best passages, best first."""
        if k < 1 or not terms_of(query):
            return []
        with self._connections.reading() as db:
            only = _filter_documents(db, self._id, where)
            if only == []:
                return []
            counts = db.execute("SELECT passages, words FROM libraries WHERE id = %s", (self._id,))
            passages, said = counts.fetchall()[0]
            vector = "" if self.note or not passages else _vector_literal(embed_query(query))
            fit = word_index.word_scores(db, self._id, query, passages, said)
            measures = _PostgresMeasures(db, self._id, fit, vector, only)
            matches = self._matches(db, ranking.rank_passages(measures, passages, k, hops), k)
        if measures.made:
            self._keep(measures.made)
        return matches

    def _matches(self, db: Connection, scores: dict[int, float], k: int) -> list[Match]:
        sql = (
            f"SELECT p.number, p.start, p.stop, t.marks, {_ENTRY_COLUMNS}, d.notes FROM passages p "  # noqa: S608
            "JOIN documents d ON d.id = p.document JOIN texts t ON t.document = d.id "
            "WHERE p.library = %s AND p.number = ANY(%s)"
        )
        rows = db.execute(
            sql, (self._id, ranking.numbers_to_look_up(scores, k)), binary=True
        ).fetchall()
        found = [
            Match(
                entry_of(fields, notes, unpack(marks, SOURCE), SOURCE),
                Span(start, stop),
                scores[number],
            )
            for number, start, stop, marks, *fields, notes in rows
        ]
        return ranking.order_matches(found, k)


@dataclass(frozen=True, slots=True)
class _PostgresMeasures:
    """The `QueryMeasures` of a library in PostgreSQL."""

    db: Connection
    library: int
    scores: word_index.WordScores
    vector: str
    """The vector of the query, as a literal; empty if there is no pgvector."""
    only: list[ranking.DocumentRange] | None
    made: dict[int, str] = field(default_factory=dict)
    """Vectors that were missing and computed now, to be stored later: this transaction only
    reads."""

    @property
    def has_vectors(self) -> bool:
        return bool(self.vector)

    def numbers(self) -> list[int]:
        sql = (
            "SELECT number FROM passages WHERE library = %s AND (%s::bigint[] IS NULL "
            "OR document = ANY(%s))"
        )
        ids = None if self.only is None else [id_ for id_, _, _ in self.only]
        return [number for (number,) in self.db.execute(sql, (self.library, ids, ids)).fetchall()]

    def by_words(self, k: int) -> dict[int, float]:
        return self.scores.best(k, self.only)

    def words_of(self, numbers: Collection[int]) -> dict[int, float]:
        return self.scores.of(numbers)

    def sense_of(self, numbers: Collection[int]) -> dict[int, float]:
        rows = self.db.execute(
            "SELECT number, document, vector <#> %s::vector FROM passages WHERE library = %s "
            "AND number = ANY(%s)",
            (self.vector, self.library, sorted(numbers)),
        ).fetchall()
        near = {number: -away for number, _, away in rows if away is not None}
        lacking = [(number, document) for number, document, away in rows if away is None]
        self.made.update(
            _make_vectors(self.db, [one for one in lacking if one[0] not in self.made])
        )
        if made := {number: self.made[number] for number, _ in lacking if number in self.made}:
            # measured by the database, like stored ones, so the result is the same to the last bit
            given = self.db.execute(
                "SELECT number, vector::vector <#> %s::vector "
                "FROM unnest(%s::int[], %s::text[]) AS g (number, vector)",
                (self.vector, list(made), list(made.values())),
            )
            near |= {number: -away for number, away in given.fetchall()}
        return near

    def named(self, numbers: Sequence[int]) -> dict[int, list[list[int]]]:
        rows = self.db.execute(
            "SELECT p.number, p.start, p.stop, d.id, d.title, t.text FROM passages p "
            "JOIN documents d ON d.id = p.document JOIN texts t ON t.document = d.id "
            "WHERE p.library = %s AND p.number = ANY(%s)",
            (self.library, list(numbers)),
            binary=True,
        ).fetchall()
        said: dict[int, tuple[int, frozenset[str]]] = {}
        for number, start, stop, document, title, text in rows:
            passage = Span(start, stop).of(unpack(text, SOURCE))
            said[number] = (document, names_of_others(passage, title))
        names = set().union(*(names for _, names in said.values()))
        wanted = sorted(map(clean_text, names))
        known: dict[str, list[ranking.DocumentRange]] = {}
        there = self.db.execute(
            "SELECT name, id, first, passages FROM documents WHERE library = %s "
            "AND name = ANY(%s) ORDER BY first",
            (self.library, wanted),
        )
        for name, id_, first, size in there.fetchall():
            known.setdefault(name, []).append((id_, first, size))
        only = None if self.only is None else {id_ for id_, _, _ in self.only}
        return ranking.passages_behind_names(said, known, only)


def _make_vectors(db: Connection, wanted: Sequence[tuple[int, int]]) -> dict[int, str]:
    """Return the vectors of passages as literals, without those that no longer exist.

    Args:
        db: The connection.
        wanted: The passages, as (number, document).
    """
    texts: dict[int, str] = {}
    for one in load_stored(db, sorted({document for _, document in wanted})) if wanted else ():
        texts |= dict(enumerate(texts_to_embed(one), one.first))
    numbers = [number for number, _ in wanted if number in texts]
    vectors = embed_texts([texts[number] for number in numbers]) if numbers else ()
    return {
        number: _vector_literal(vector) for number, vector in zip(numbers, vectors, strict=True)
    }


def has_any_document(address: SecretStr, name: str) -> bool:
    """Whether a library has any document. Nothing is created.

    Raises:
        DeepdiverError: If the database cannot be used.
    """
    connections = Connections(address, schema.SCHEMA)
    try:
        with connections.use() as db:
            if not schema_version(db, schema.SCHEMA):
                return False
            found = db.execute(
                "SELECT 1 FROM documents d JOIN libraries l ON l.id = d.library "
                "WHERE l.name = %s LIMIT 1",
                (name,),
            )
            return found.fetchone() is not None
    finally:
        connections.close()


def describe_database(address: SecretStr) -> str:
    """Describe the database at an address in one line. Nothing is created.

    Raises:
        DeepdiverError: If it cannot be used; the message says what to do.
    """
    connections = Connections(address, schema.SCHEMA)
    try:
        with connections.use() as db:
            (server,) = db.execute(
                "SELECT split_part(current_setting('server_version'), ' ', 1)"
            ).fetchall()[0]
            has, could = schema.pgvector_versions(db)
            if has:
                sense = f"pgvector {has}"
            elif could:
                sense = f"pgvector {could} to be set up"
            else:
                sense = "no pgvector: passages are found by their words only"
            if not schema_version(db, schema.SCHEMA):
                return f"PostgreSQL {server}, {sense}, no library yet"
            check_version(db, schema.SCHEMA, schema.MIGRATIONS)
            libraries, documents = db.execute(
                "SELECT (SELECT count(*) FROM libraries), (SELECT count(*) FROM documents)"
            ).fetchall()[0]
            return (
                f"PostgreSQL {server}, {sense}, libraries: {libraries:,}, documents: {documents:,}"
            )
    finally:
        connections.close()


def _filter_documents(
    db: Connection, library: int, where: SearchFilter
) -> list[ranking.DocumentRange] | None:
    """Return the documents that pass a filter; None means that all pass."""
    tests: list[str] = []
    values: list[Any] = [library]
    if where.folders:
        tests.append(
            "url = ANY(%s) OR EXISTS (SELECT FROM unnest(%s::text[]) AS b (below) "
            "WHERE starts_with(url, below))"
        )
        values += [list(map(clean_text, where.folders)), list(map(clean_text, where.prefixes()))]
    if where.formats:
        tests.append("format = ANY(%s)")
        values.append(list(map(clean_text, where.formats)))
    for day, sign in ((where.since, ">="), (where.until, "<=")):
        if day:  # as precise as known: 2026 is neither before nor after May 2026
            known = f"left(published, 10) {sign} left(%s, length(published))"
            tests.append(f"published !~ '^[0-9]{{4}}' OR {known}")
            values.append(day.isoformat())
    if not tests:
        return None
    wanted = " AND ".join(f"({test})" for test in tests)
    sql = f"SELECT id, first, passages FROM documents WHERE library = %s AND {wanted}"  # noqa: S608
    return [(id_, first, size) for id_, first, size in db.execute(sql, values).fetchall()]


def _vector_literal(vector: Any) -> str:
    """Return a vector as a literal of pgvector."""
    return json.dumps([round(float(number), 6) for number in vector])
