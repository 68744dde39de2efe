"""A library in a PostgreSQL that many machines share: the same interface, and the same rankings, as on one machine.

Documents, texts and passages are rows; words are found by posting lists (`postgres_words`), sense by pgvector. One
process at a time changes a library; all may search, and all may help to give it vectors.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from deepdiver.core.record import Mark
from deepdiver.core.text import Span
from deepdiver.encoders import embedder
from deepdiver.errors import UnknownNameError
from deepdiver.store.blobs import unpack
from deepdiver.store.faults import damaged
from deepdiver.tools.library import links, postgres_schema, ranking, refreshing
from deepdiver.tools.library import postgres_words as words
from deepdiver.tools.library.base import EVERYWHERE, Entry, Match, Progress, Refreshed, Told, Unread, Where
from deepdiver.tools.library.embedding import embedded, texts_of
from deepdiver.tools.library.postgres_connect import Connections
from deepdiver.tools.library.postgres_register import SOURCE, Register, clean, held, turn
from deepdiver.tools.library.tables import FIELDS
from deepdiver.tools.library.words import terms

if TYPE_CHECKING:
    from deepdiver.tools.library.postgres_connect import Connection

EMBED = 64
"""Passages that are given vectors at a time: a second's work, so that stopping takes no longer."""
EXACT = 20_000
"""Passages up to which all vectors are looked at, some 20 ms; beyond that an index of them is made and asked."""
EACH_MEMORY, MOST_MEMORY = 3, 2_000
"""Kilobytes that making the index takes for each passage, and megabytes that it may take in all. With PostgreSQL's own
64 MB, 50,000 passages took five minutes."""
LOOK = 400
"""Vectors that an index of them looks at for each search, as every connection is told when it is made."""

_TOLD = ", ".join(f"d.{field}" for field in FIELDS)


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
            self.note = postgres_schema.prepare(db)
            """Why passages are found by their words only, in one line; empty if by their sense, too."""
            db.execute("INSERT INTO libraries (name) VALUES (%s) ON CONFLICT DO NOTHING", (clean(name),))
            (self._id,) = db.execute("SELECT id FROM libraries WHERE name = %s", (clean(name),)).fetchall()[0]

    def close(self) -> None:
        """Let go of the connections."""
        self._connections.close()

    # What there is

    def documents(self) -> list[Entry]:
        """Return all documents, in the order of their urls; without their marks."""
        with self._connections.use() as db:
            sql = f"SELECT {_TOLD}, d.notes FROM documents d WHERE library = %s ORDER BY url"  # noqa: S608
            return [_entry(row[:-1], row[-1]) for row in db.execute(sql, (self._id,)).fetchall()]

    def unread(self) -> list[Unread]:
        """Return what could not be read at the last refresh, in the order of their urls."""
        with self._connections.use() as db:
            return [item for item, _, _ in Register(db, self._id).missed().values()]

    def roots(self) -> list[Path]:
        """Return the files and folders that it was made from."""
        with self._connections.use() as db:
            return Register(db, self._id).roots()

    def text(self, entry: Entry) -> str:
        """Return the text of a document.

        Raises:
            UnknownNameError: If it is gone.
        """
        with self._connections.use() as db:
            row = db.execute("SELECT text FROM texts WHERE document = %s", (entry.id,), binary=True).fetchone()
        if row is None:
            raise UnknownNameError(f"{entry.url} is not in the library any more")
        return unpack(row[0], SOURCE)

    def passages(self) -> int:
        """Return how many passages there are."""
        return self._number("SELECT passages FROM libraries WHERE id = %s")

    def pending(self) -> int:
        """Return how many of them have no vector yet; none where there can be no vectors."""
        return 0 if self.note else self._number("SELECT count(*) FROM passages WHERE library = %s AND vector IS NULL")

    def _number(self, statement: str) -> int:
        with self._connections.use() as db:
            return int(db.execute(statement, (self._id,)).fetchall()[0][0])

    # Changing

    def refresh(self, roots: Sequence[Path], progress: Told | None = None, *, again: bool = False) -> Refreshed:
        """Bring the library up to date with the files under some roots."""
        with self._changing() as register:
            return refreshing.refresh(register, roots, progress or (lambda _: None), again)

    def forget(self, paths: Sequence[Path]) -> list[str]:
        """Remove what lies at or below some paths, and do not take it up again until it is added; returns the urls."""
        with self._changing() as register:
            return refreshing.forget(register, paths)

    @contextmanager
    def _changing(self) -> Iterator[Register]:
        with self._connections.use() as db, turn(db, self._id) as register:
            yield register

    def embed(self, progress: Told | None = None, stop: Callable[[], bool] = lambda: False) -> int:
        """Give vectors to passages that have none; returns to how many. May be stopped or killed at any time.

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
        if self.passages() > EXACT and not self.pending():
            told(Progress("indexing", done, done))
            with self._connections.use() as db:
                index_vectors(db, self._id)
        return done

    def _embed_some(self, db: Connection) -> int:
        """Take some passages that nobody else has taken, and give them vectors."""
        rows = db.execute(
            "SELECT number, document FROM passages WHERE library = %s AND vector IS NULL ORDER BY number LIMIT %s "
            "FOR UPDATE SKIP LOCKED",
            (self._id, EMBED),
        ).fetchall()
        if not rows:
            return 0
        texts: dict[int, str] = {}
        for one in held(db, sorted({document for _, document in rows})):
            texts |= dict(enumerate(texts_of(one), one.first))
        numbers = [number for number, _ in rows if number in texts]
        vectors = embedded([texts[number] for number in numbers]) if numbers else ()
        db.execute(
            "UPDATE passages SET vector = given.vector::vector FROM unnest(%s::int[], %s::text[]) "
            "AS given (place, vector) WHERE library = %s AND number = place",
            (numbers, [_written(vector) for vector in vectors], self._id),
        )
        db.execute("UPDATE libraries SET embedded = true WHERE id = %s AND NOT embedded", (self._id,))
        return len(numbers)

    # Searching

    def search(self, query: str, k: int, where: Where = EVERYWHERE, hops: int = 1) -> list[Match]:
        """Return the best passages: by their words, by their sense, and by being what good ones name."""
        if k < 1 or not terms(query):
            return []
        with self._connections.reading() as db:
            only = _narrowed(db, self._id, where)
            if only == []:
                return []
            passages, said, embedded_ = db.execute(
                "SELECT passages, words, embedded FROM libraries WHERE id = %s", (self._id,)
            ).fetchall()[0]
            vector = _written(embedder().embed([query])[0]) if embedded_ and not self.note else ""
            fit = words.scores(db, self._id, query, passages, said)
            measures = _Measures(db, self._id, fit, vector, only)
            return self._matches(db, ranking.ranked(measures, k, hops), k)

    def _matches(self, db: Connection, scores: dict[int, float], k: int) -> list[Match]:
        sql = (
            f"SELECT p.number, p.start, p.stop, t.marks, {_TOLD}, d.notes FROM passages p "  # noqa: S608
            "JOIN documents d ON d.id = p.document JOIN texts t ON t.document = d.id "
            "WHERE p.library = %s AND p.number = ANY(%s)"
        )
        rows = db.execute(sql, (self._id, ranking.foremost(scores, k)), binary=True).fetchall()
        found = [
            Match(_entry(told, notes, unpack(marks, SOURCE)), Span(start, stop), scores[number])
            for number, start, stop, marks, *told, notes in rows
        ]
        return ranking.in_order(found, k)


@dataclass(frozen=True, slots=True)
class _Measures:
    """What is known of the passages in view of one query; a `ranking.Measures`."""

    db: Connection
    library: int
    scores: words.Scores
    vector: str
    only: list[ranking.Place] | None

    def by_words(self, k: int) -> dict[int, float]:
        return self.scores.best(k, self.only)

    def words_of(self, numbers: Collection[int]) -> dict[int, float]:
        return self.scores.of(numbers)

    def by_sense(self, k: int) -> dict[int, float] | None:
        if not self.vector:
            return None
        if k > LOOK:
            self.db.execute(f"SET LOCAL hnsw.ef_search = {min(k, 1_000)}")  # its most
        among = f"passages WHERE library = {self.library:d} AND vector IS NOT NULL"  # as the index says it
        ids = None if self.only is None else [id_ for id_, _, _ in self.only]
        if ids is None:
            sql = f"SELECT number, vector <#> %(q)s::vector FROM {among} ORDER BY 2 LIMIT %(k)s"  # noqa: S608
        elif sum(size for _, _, size in self.only or ()) > EXACT:
            among += " AND document = ANY(%(ids)s)"
            sql = f"SELECT number, vector <#> %(q)s::vector FROM {among} ORDER BY 2 LIMIT %(k)s"  # noqa: S608
        else:  # look at all of them, past the index
            few = f"SELECT number, vector FROM {among} AND document = ANY(%(ids)s)"  # noqa: S608
            sql = f"WITH few AS MATERIALIZED ({few}) SELECT number, vector <#> %(q)s::vector FROM few "  # noqa: S608
            sql += "ORDER BY 2 LIMIT %(k)s"
        rows = self.db.execute(sql, {"q": self.vector, "k": k, "ids": ids}).fetchall()
        return {number: -away for number, away in rows} or None

    def sense_of(self, numbers: Collection[int]) -> dict[int, float]:
        rows = self.db.execute(
            "SELECT number, vector <#> %s::vector FROM passages "
            "WHERE library = %s AND number = ANY(%s) AND vector IS NOT NULL",
            (self.vector, self.library, sorted(numbers)),
        )
        return {number: -away for number, away in rows.fetchall()}

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
            names = links.names_in(Span(start, stop).of(unpack(text, SOURCE))) - {links.name_of(title)}
            said[number] = (document, names)
        wanted = sorted(clean(name) for name in set().union(*(names for _, names in said.values())))
        known: dict[str, list[ranking.Place]] = {}
        there = self.db.execute(
            "SELECT name, id, first, passages FROM documents WHERE library = %s AND name = ANY(%s) ORDER BY first",
            (self.library, wanted),
        )
        for name, id_, first, size in there.fetchall():
            known.setdefault(name, []).append((id_, first, size))
        only = None if self.only is None else {id_ for id_, _, _ in self.only}
        return ranking.linked(said, known, only)


def index_vectors(db: Connection, library: int) -> bool:
    """Make an index of a library's vectors, if there is none and nobody else is at it; returns whether it was made.

    Searches and changes go on meanwhile. What a killed one left behind cannot be used, and is made anew.
    """
    name = f"passages_vector_{library:d}"
    row = db.execute("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)", (name,)).fetchone()
    if row is not None and row[0]:
        return False
    if not db.execute("SELECT pg_try_advisory_lock(%s, %s)", (postgres_schema.LOCK + 1, library)).fetchall()[0][0]:
        return False
    try:
        (passages,) = db.execute("SELECT passages FROM libraries WHERE id = %s", (library,)).fetchall()[0]
        memory = min(MOST_MEMORY, max(64, passages * EACH_MEMORY // 1_000))
        db.execute(f"SET maintenance_work_mem = '{memory}MB'")
        db.execute(f"DROP INDEX IF EXISTS {name}")
        db.execute(
            f"CREATE INDEX CONCURRENTLY {name} ON passages USING hnsw (vector vector_ip_ops) "
            f"WHERE library = {library:d}"
        )
    finally:
        if not db.closed:
            db.execute("RESET maintenance_work_mem")
            db.execute("SELECT pg_advisory_unlock(%s, %s)", (postgres_schema.LOCK + 1, library))
    return True


def has_any(address: SecretStr, name: str) -> bool:
    """Whether a library holds any document; nothing is made there.

    Raises:
        DeepdiverError: If the database cannot be used.
    """
    connections = Connections(address)
    try:
        with connections.use() as db:
            if not postgres_schema.version(db):
                return False
            found = db.execute(
                "SELECT 1 FROM documents d JOIN libraries l ON l.id = d.library WHERE l.name = %s LIMIT 1", (name,)
            )
            return found.fetchone() is not None
    finally:
        connections.close()


def described(address: SecretStr) -> str:
    """Return what is found at an address, in one line; nothing is made there.

    Raises:
        DeepdiverError: If it cannot be used; says what to do.
    """
    connections = Connections(address)
    try:
        with connections.use() as db:
            (server,) = db.execute("SELECT split_part(current_setting('server_version'), ' ', 1)").fetchall()[0]
            has, could = postgres_schema.pgvector(db)
            sense = (
                f"pgvector {has}"
                if has
                else f"pgvector {could} to be set up"
                if could
                else ("no pgvector: passages are found by their words only")
            )
            if not postgres_schema.version(db):
                return f"PostgreSQL {server}, {sense}, no library yet"
            postgres_schema.check(db)
            libraries, documents = db.execute(
                "SELECT (SELECT count(*) FROM libraries), (SELECT count(*) FROM documents)"
            ).fetchall()[0]
            return f"PostgreSQL {server}, {sense}, libraries: {libraries:,}, documents: {documents:,}"
    finally:
        connections.close()


def _narrowed(db: Connection, library: int, where: Where) -> list[ranking.Place] | None:
    """Return the documents that a search is narrowed to; None: all."""
    tests: list[str] = []
    values: list[Any] = [library]
    if where.folders:
        folders = [clean(folder) for folder in where.folders]
        tests.append(
            "url = ANY(%s) OR EXISTS (SELECT FROM unnest(%s::text[]) AS b (below) WHERE starts_with(url, below))"
        )
        values += [folders, [folder if folder.endswith(("/", ":")) else f"{folder}/" for folder in folders]]
    if where.formats:
        tests.append("format = ANY(%s)")
        values.append([clean(format_) for format_ in where.formats])
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


def _written(vector: Any) -> str:
    """Return a vector as PostgreSQL reads it."""
    return json.dumps([round(float(number), 6) for number in vector])


def _entry(fields: Sequence[Any], notes: str, marks: str = "[]") -> Entry:
    try:
        told = tuple(Mark(start=start, kind=kind, label=label) for start, kind, label in json.loads(marks))
        return Entry(**dict(zip(FIELDS, fields, strict=True)), marks=told, notes=tuple(json.loads(notes)))
    except ValueError as error:  # no JSON, or not what we put there
        raise damaged(SOURCE, "what is told of a document cannot be read") from error
