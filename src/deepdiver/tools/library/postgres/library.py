"""A library in a PostgreSQL that many machines share.

The same interface, and the same rankings, as on one machine.

Documents, texts and passages are rows; words are found by posting lists (`postgres_words`), sense
is measured by pgvector. One process at a time changes a library; all may search, and all may help
to give it vectors.
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

from deepdiver.core.record import Mark
from deepdiver.core.text import Span
from deepdiver.errors import StoreError, UnknownNameError
from deepdiver.store.blobs import unpack
from deepdiver.store.faults import damaged
from deepdiver.tools.library import document_names, ranking, refresh
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
from deepdiver.tools.library.postgres.connections import Connections
from deepdiver.tools.library.records import ENTRY_FIELDS
from deepdiver.tools.library.terms import terms_of

if TYPE_CHECKING:
    from deepdiver.tools.library.postgres.connections import Connection

EMBED = 64
"""Passages that are given vectors at a time: a second's work, so that stopping takes no longer."""

_ENTRY_COLUMNS = ", ".join(f"d.{field}" for field in ENTRY_FIELDS)


class PostgresLibrary:
    """A `Library` in a PostgreSQL; see there for what the methods promise."""

    def __init__(self, address: SecretStr, name: str) -> None:
        """Open a library; make it where there is none.

        Args:
            address: Of the database, postgresql://…
            name: Which of the libraries there.

        Raises:
            SettingsError: If the address is none.
            StoreError: If it cannot be opened; says what to do, never the address.
            UsageError: If the package for PostgreSQL is not installed.
        """
        self.name = name
        self._connections = Connections(address)
        with self._connections.use() as db:
            self.note = schema.prepare_schema(db)
            """Why passages are found by their words only, in one line; empty if by their sense,
            too."""
            db.execute(
                "INSERT INTO libraries (name) VALUES (%s) ON CONFLICT DO NOTHING",
                (clean_text(name),),
            )
            (self._id,) = db.execute(
                "SELECT id FROM libraries WHERE name = %s", (clean_text(name),)
            ).fetchall()[0]

    def close(self) -> None:
        """Let go of the connections."""
        self._connections.close()

    # What there is

    def documents(self) -> list[Entry]:
        """Return all documents, in the order of their urls; without their marks."""
        with self._connections.use() as db:
            sql = (
                f"SELECT {_ENTRY_COLUMNS}, d.notes FROM documents d WHERE library = %s ORDER BY url"  # noqa: S608
            )
            return [_entry(row[:-1], row[-1]) for row in db.execute(sql, (self._id,)).fetchall()]

    def unread(self) -> list[UnreadFile]:
        """Return what could not be read at the last refresh, in the order of their urls."""
        with self._connections.use() as db:
            return [item for item, _, _ in PostgresCatalogue(db, self._id).missed().values()]

    def roots(self) -> list[Path]:
        """Return the files and folders that it was made from."""
        with self._connections.use() as db:
            return PostgresCatalogue(db, self._id).roots()

    def text(self, entry: Entry) -> str:
        """Return the text of a document.

        Raises:
            UnknownNameError: If it is gone.
        """
        with self._connections.use() as db:
            row = db.execute(
                "SELECT text FROM texts WHERE document = %s", (entry.id,), binary=True
            ).fetchone()
        if row is None:
            raise UnknownNameError(f"{entry.url} is not in the library any more")
        return unpack(row[0], SOURCE)

    def passages(self) -> int:
        """Return how many passages there are."""
        return self._number("SELECT passages FROM libraries WHERE id = %s")

    def pending(self) -> int:
        """Return how many of them have no vector yet; none where there can be no vectors."""
        return (
            0
            if self.note
            else self._number("SELECT count(*) FROM passages WHERE library = %s AND vector IS NULL")
        )

    def _number(self, statement: str) -> int:
        with self._connections.use() as db:
            return int(db.execute(statement, (self._id,)).fetchall()[0][0])

    # Changing

    def refresh(
        self, roots: Sequence[Path], progress: OnProgress | None = None, *, again: bool = False
    ) -> RefreshSummary:
        """Bring the library up to date with the files under some roots."""
        with self._changing() as register:
            return refresh.refresh_catalogue(register, roots, progress or (lambda _: None), again)

    def forget(self, paths: Sequence[Path]) -> list[str]:
        """Remove what lies at or below some paths, and do not take it up again until it is added.

        Returns the urls.
        """
        with self._changing() as register:
            return refresh.forget_paths(register, paths)

    @contextmanager
    def _changing(self) -> Iterator[PostgresCatalogue]:
        with self._connections.use() as db, hold_library(db, self._id) as register:
            yield register

    def embed(
        self, progress: OnProgress | None = None, stop: Callable[[], bool] = lambda: False
    ) -> int:
        """Give vectors to passages that have none; returns to how many.

        May be stopped or killed at any time.

        Others may do the same at the same time: each takes passages that nobody else has taken.
        """
        done, told = 0, progress or (lambda _: None)
        if stop() or not (total := self.pending()):
            return 0
        while not stop():
            told(Progress("embedding", min(done, total), total))
            with self._connections.writing() as db:
                given = self._embed_some(db)
            if not given:
                break
            done += given
        told(Progress("embedding", done, max(done, total)))
        return done

    def _embed_some(self, db: Connection) -> int:
        """Take some passages that nobody else has taken, and give them vectors."""
        rows = db.execute(
            "SELECT number, document FROM passages WHERE library = %s AND vector IS NULL ORDER BY "
            "number LIMIT %s "
            "FOR UPDATE SKIP LOCKED",
            (self._id, EMBED),
        ).fetchall()
        made = _make_vectors(db, rows)
        self._give(db, made)
        return len(made)

    def _give(self, db: Connection, made: dict[int, str]) -> None:
        """Give passages their vectors; who has one keeps it."""
        db.execute(
            "UPDATE passages p SET vector = given.vector::vector FROM unnest(%s::int[], "
            "%s::text[]) "
            "AS given (place, vector) WHERE library = %s AND number = place AND p.vector IS NULL",
            (list(made), list(made.values()), self._id),
        )

    def _keep(self, made: dict[int, str]) -> None:
        """Keep the vectors that a search made, but those of passages that somebody is just at."""
        with (
            contextlib.suppress(StoreError),
            self._connections.writing() as db,
        ):  # the answer is the same without it
            free = db.execute(
                "SELECT number FROM passages WHERE library = %s AND number = ANY(%s) AND vector IS "
                "NULL "
                "ORDER BY number FOR UPDATE SKIP LOCKED",
                (self._id, list(made)),
            ).fetchall()
            self._give(db, {number: made[number] for (number,) in free})

    # Searching

    def search(
        self, query: str, k: int, where: SearchFilter = NO_FILTER, hops: int = 1
    ) -> list[Match]:
        """Return the best passages.

        By their words, by their sense, and by being what good ones name.
        """
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
            Match(_entry(told, notes, unpack(marks, SOURCE)), Span(start, stop), scores[number])
            for number, start, stop, marks, *told, notes in rows
        ]
        return ranking.order_matches(found, k)


@dataclass(frozen=True, slots=True)
class _PostgresMeasures:
    """What is known of the passages in view of one query; a `ranking.Measures`."""

    db: Connection
    library: int
    scores: word_index.WordScores
    vector: str
    """Of the query, as PostgreSQL reads it; empty where there is no pgvector."""
    only: list[ranking.DocumentRange] | None
    made: dict[int, str] = field(default_factory=dict)
    """The vectors that passages lacked and that were made now; this transaction only reads."""

    @property
    def sensible(self) -> bool:
        return bool(self.vector)

    def numbers(self) -> list[int]:
        sql = (
            "SELECT number FROM passages WHERE library = %s AND (%s::bigint[] IS NULL OR document "
            "= ANY(%s))"
        )
        ids = None if self.only is None else [id_ for id_, _, _ in self.only]
        return [number for (number,) in self.db.execute(sql, (self.library, ids, ids)).fetchall()]

    def by_words(self, k: int) -> dict[int, float]:
        return self.scores.best(k, self.only)

    def words_of(self, numbers: Collection[int]) -> dict[int, float]:
        return self.scores.of(numbers)

    def sense_of(self, numbers: Collection[int]) -> dict[int, float]:
        rows = self.db.execute(
            "SELECT number, document, vector <#> %s::vector FROM passages WHERE library = %s AND "
            "number = ANY(%s)",
            (self.vector, self.library, sorted(numbers)),
        ).fetchall()
        near = {number: -away for number, _, away in rows if away is not None}
        lacking = [(number, document) for number, document, away in rows if away is None]
        self.made.update(
            _make_vectors(self.db, [one for one in lacking if one[0] not in self.made])
        )
        if made := {number: self.made[number] for number, _ in lacking if number in self.made}:
            # measured by the database, as those that it keeps are: the same to the last bit
            given = self.db.execute(
                "SELECT number, vector::vector <#> %s::vector FROM unnest(%s::int[], %s::text[]) "
                "AS g (number, vector)",
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
            names = document_names.names_in(Span(start, stop).of(unpack(text, SOURCE))) - {
                document_names.name_of_title(title)
            }
            said[number] = (document, names)
        wanted = sorted(
            clean_text(name) for name in set().union(*(names for _, names in said.values()))
        )
        known: dict[str, list[ranking.DocumentRange]] = {}
        there = self.db.execute(
            "SELECT name, id, first, passages FROM documents WHERE library = %s AND name = ANY(%s) "
            "ORDER BY first",
            (self.library, wanted),
        )
        for name, id_, first, size in there.fetchall():
            known.setdefault(name, []).append((id_, first, size))
        only = None if self.only is None else {id_ for id_, _, _ in self.only}
        return ranking.passages_behind_names(said, known, only)


def _make_vectors(db: Connection, wanted: Sequence[tuple[int, int]]) -> dict[int, str]:
    """Return vectors for passages, each given with its document, as PostgreSQL reads them.

    Not of what is gone.
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
    """Whether a library holds any document; nothing is made there.

    Raises:
        DeepdiverError: If the database cannot be used.
    """
    connections = Connections(address)
    try:
        with connections.use() as db:
            if not schema.schema_version(db):
                return False
            found = db.execute(
                "SELECT 1 FROM documents d JOIN libraries l ON l.id = d.library WHERE l.name = %s "
                "LIMIT 1",
                (name,),
            )
            return found.fetchone() is not None
    finally:
        connections.close()


def describe_database(address: SecretStr) -> str:
    """Return what is found at an address, in one line; nothing is made there.

    Raises:
        DeepdiverError: If it cannot be used; says what to do.
    """
    connections = Connections(address)
    try:
        with connections.use() as db:
            (server,) = db.execute(
                "SELECT split_part(current_setting('server_version'), ' ', 1)"
            ).fetchall()[0]
            has, could = schema.pgvector_versions(db)
            sense = (
                f"pgvector {has}"
                if has
                else f"pgvector {could} to be set up"
                if could
                else ("no pgvector: passages are found by their words only")
            )
            if not schema.schema_version(db):
                return f"PostgreSQL {server}, {sense}, no library yet"
            schema.check_version(db)
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
    """Return the documents that a search is narrowed to; None: all."""
    tests: list[str] = []
    values: list[Any] = [library]
    if where.folders:
        folders = [clean_text(folder) for folder in where.folders]
        tests.append(
            "url = ANY(%s) OR EXISTS (SELECT FROM unnest(%s::text[]) AS b (below) WHERE "
            "starts_with(url, below))"
        )
        values += [
            folders,
            [folder if folder.endswith(("/", ":")) else f"{folder}/" for folder in folders],
        ]
    if where.formats:
        tests.append("format = ANY(%s)")
        values.append([clean_text(format_) for format_ in where.formats])
    for day, sign in ((where.since, ">="), (where.until, "<=")):
        if day:  # as precise as known: 2026 is not before May 2026, and not behind it
            known = f"left(published, 10) {sign} left(%s, length(published))"
            tests.append(f"published !~ '^[0-9]{{4}}' OR {known}")
            values.append(day.isoformat())
    if not tests:
        return None
    wanted = " AND ".join(f"({test})" for test in tests)
    sql = f"SELECT id, first, passages FROM documents WHERE library = %s AND {wanted}"  # noqa: S608
    return [(id_, first, size) for id_, first, size in db.execute(sql, values).fetchall()]


def _vector_literal(vector: Any) -> str:
    """Return a vector as PostgreSQL reads it."""
    return json.dumps([round(float(number), 6) for number in vector])


def _entry(fields: Sequence[Any], notes: str, marks: str = "[]") -> Entry:
    try:
        told = tuple(
            Mark(start=start, kind=kind, label=label) for start, kind, label in json.loads(marks)
        )
        return Entry(
            **dict(zip(ENTRY_FIELDS, fields, strict=True)),
            marks=told,
            notes=tuple(json.loads(notes)),
        )
    except ValueError as error:  # no JSON, or not what we put there
        raise damaged(SOURCE, "what is told of a document cannot be read") from error
