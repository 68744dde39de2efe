"""An index of the names in a bulk file, in SQLite, built once for each version of the file.

    names      each name, with its entity and the schema of that
    entities   each entity, as JSON
    words      each folded word, and the names that have it
    keys       consonants of words, whole and with one left out: words that share a key may be
               spellings of one word

A look-up goes from the words of a name to similar words (by their keys), from these to the names
that have them, and takes the names that share most, where rare words count more. It reads a few
rows. How alike the names are is for `matching` to say.

The index counts for a file as long as the file's size and time are those it was built from, or its
content is.
"""

from __future__ import annotations

import array
import contextlib
import hashlib
import itertools
import json
import math
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import process
from rapidfuzz.distance import OSA

from deepdiver.store.faults import from_os, translated
from deepdiver.tools.osint.sanctions.entity import PERSON, Entity
from deepdiver.tools.osint.sanctions.names import GENERIC, Name, fold, name_of, skeleton
from deepdiver.tools.osint.sanctions.targets_csv import read_targets
from deepdiver.tools.plain_file import open_stream
from deepdiver.tools.process_lock import hold_lock

FORMAT = "2"
"""Changes with the tables and with the folding of words; an index of another format is rebuilt."""
WAIT = 600.0
"""Seconds to wait for another process that builds the same index."""
MOST_NAMES = 200
"""Names that are compared closely."""
MOST_LIKE, MOST_LIKE_VOWELLESS = 30, 500
"""Words of the index that are tried for one word of a name, the most similar; without vowels, many
are equally similar."""
CUTOFF = 0.7
"""Words below this likeness are left out; comparing names is stricter."""
BY_CONSONANTS = 0.9
"""Likeness of words with the same consonants if the vowels are not known."""
SHORT = 3
"""Letters of a word that is also indexed with its neighbour: abd allah, de hua, al assad."""
FEW = 3
"""Words that the name of an organisation or a ship may have so that all neighbours are indexed
joined too (star light), unless one of them is a word that many names have."""
BATCH = 5_000
_TABLES = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
CREATE TABLE meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE entities (id INTEGER PRIMARY KEY, data TEXT NOT NULL);
CREATE TABLE names (
    id INTEGER PRIMARY KEY, entity INTEGER NOT NULL, schema TEXT NOT NULL, text TEXT NOT NULL
);
CREATE TABLE words (word TEXT PRIMARY KEY, names BLOB NOT NULL);
CREATE TABLE keys (key TEXT PRIMARY KEY, words TEXT NOT NULL);
"""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entity whose names share words with the name that is looked up."""

    number: int
    """Its number in the index."""
    schema_name: str
    """Its schema: Person, Company."""
    names: tuple[str, ...]
    """Its names that share words."""


def words_of(name: Name) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the folded words of a name, and short words joined with their neighbours."""
    plain = [word for word in name.words if len(word) > 1] or list(name.words)
    whole = name.syllabic or (not name.person and len(plain) <= FEW and GENERIC.isdisjoint(plain))
    pairs = [(a, b) for a, b in itertools.pairwise(plain) if whole or min(len(a), len(b)) <= SHORT]
    return tuple(dict.fromkeys(map(fold, plain))), tuple(
        dict.fromkeys(fold(a + b) for a, b in pairs)
    )


def keys_of(word: str) -> list[str]:
    """Return the keys of a folded word: its consonants (=), and with each one left out (~)."""
    bones = skeleton(word)
    return [f"={bones}", *(f"~{left}" for left in _one_left_out(bones))]


def _one_left_out(bones: str) -> list[str]:
    """Return consonants with each one left out; empty for two, because one says nothing."""
    if len(bones) < 3:
        return []
    return list({bones[:at] + bones[at + 1 :] for at in range(len(bones))})


class Index:
    """An index that is open for reading."""

    def __init__(self, path: Path) -> None:
        """Open an index."""
        self._path = path
        with translated(path, WAIT):
            self._db = sqlite3.connect(
                f"{path.as_uri()}?mode=ro", uri=True, check_same_thread=False
            )
            self._meta: dict[str, Any] = dict(self._db.execute("SELECT name, value FROM meta"))

    def close(self) -> None:
        """Close it."""
        self._db.close()

    @property
    def entities(self) -> int:
        """How many entities it holds."""
        return int(self._meta["entities"])

    @property
    def dated(self) -> str:
        """The last day on which any entity was seen; empty if the file does not say."""
        return str(self._meta["dated"])

    def candidates(self, readings: Sequence[Name]) -> list[Candidate]:
        """Return the entities whose names share most with a name.

        Args:
            readings: The name, as that of a person and as that of an organisation.
        """
        with translated(self._path, WAIT):
            wanted = dict.fromkeys(
                word for name in readings for words in words_of(name) for word in words
            )
            vowelless = any(name.vowelless for name in readings)
            return self._fetch(self._nearest(wanted, vowelless)) if wanted else []

    def _nearest(self, wanted: Iterable[str], vowelless: bool) -> list[int]:
        lengths = np.frombuffer(self._meta["lengths"], dtype=np.uint8)
        total = np.zeros(len(lengths), dtype=np.float32)
        for word in wanted:
            shared = np.zeros_like(total)
            for likeness, names in self._names_having(word, vowelless):
                rarity = math.log1p(len(lengths) / len(names))
                shared[names] = np.maximum(shared[names], likeness * likeness * rarity)
            total += shared
        found = np.flatnonzero(total)
        # Of two names that share as much, the shorter is nearer.
        nearness = total[found] / np.sqrt(lengths[found] + 1.0)
        if len(found) > MOST_NAMES:
            found = found[np.argpartition(-nearness, MOST_NAMES)[:MOST_NAMES]]
        return [int(name) for name in found]

    def _names_having(
        self, word: str, vowelless: bool
    ) -> Iterator[tuple[float, NDArray[np.uint32]]]:
        """Yield the likeness of each similar word, and the names that have it."""
        like = self._similar_words(word, vowelless)
        marks = ",".join("?" * len(like))
        rows = self._db.execute(
            f"SELECT word, names FROM words WHERE word IN ({marks})",  # noqa: S608
            list(like),
        )
        for found, names in rows:
            yield like[found], np.frombuffer(names, dtype=np.uint32)

    def _similar_words(self, word: str, vowelless: bool) -> dict[str, float]:
        """Return the words of the index that are similar to a word, with their likeness."""
        bones = skeleton(word)
        shorter = _one_left_out(bones)
        # The same; one consonant too many on either side; one replaced, or two in another order.
        keys = [
            f"={bones}",
            f"~{bones}",
            *(f"={left}" for left in shorter),
            *(f"~{left}" for left in shorter),
        ]
        marks = ",".join("?" * len(keys))
        rows = dict(self._db.execute(f"SELECT key, words FROM keys WHERE key IN ({marks})", keys))  # noqa: S608
        same = set(rows.pop(keys[0], "").split())
        others = set(" ".join(rows.values()).split()) - same
        scored = {
            other: (likeness + 1.0) / 2
            for other, likeness in _scored(word, same, 0.0 if vowelless else 0.5)
        }
        scored |= _scored(word, others, CUTOFF)
        most = MOST_LIKE_VOWELLESS if vowelless else MOST_LIKE
        best = sorted(scored, key=lambda other: (-scored[other], other))[:most]
        return {
            other: max(scored[other], BY_CONSONANTS if vowelless and other in same else 0.0)
            for other in best
        }

    def _fetch(self, names: Sequence[int]) -> list[Candidate]:
        marks = ",".join("?" * len(names))
        rows = self._db.execute(
            f"SELECT entity, schema, text FROM names WHERE id IN ({marks}) ORDER BY id",  # noqa: S608
            list(names),
        )
        held: dict[tuple[int, str], list[str]] = {}
        for entity, schema, text in rows:
            held.setdefault((entity, schema), []).append(text)
        return [Candidate(number, schema, tuple(texts)) for (number, schema), texts in held.items()]

    def entity(self, number: int) -> Entity:
        """Return an entity by its number."""
        with translated(self._path, WAIT):
            (data,) = self._db.execute(
                "SELECT data FROM entities WHERE id = ?", (number,)
            ).fetchone()
            return Entity.model_validate_json(data)


def _scored(word: str, others: Iterable[str], cutoff: float) -> list[tuple[str, float]]:
    """Return the words whose part that needs no correction is at least `cutoff`, and that part."""
    alike = process.extract(
        word, list(others), scorer=OSA.normalized_similarity, score_cutoff=cutoff, limit=None
    )
    return [(other, likeness) for other, likeness, _ in alike]


@contextlib.contextmanager
def opened(file: Path, index: Path) -> Iterator[Index]:
    """Open the index of a bulk file, and build it first if there is none that counts.

    Args:
        file: The bulk file.
        index: Path of its index.

    Raises:
        ValueError: If the file is not a whole bulk file.
        OSError: If it cannot be read.
        StoreError: If the index cannot be written or read.
    """
    size, changed = _identity(file)
    if not _counts(index, size, changed):
        try:
            index.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise from_os(error, index.parent) from error
        with hold_lock(index.with_suffix(".lock"), WAIT):
            if not _counts(index, size, changed) and not _same_content(file, index, size, changed):
                build(file, index)
    with contextlib.closing(Index(index)) as found:
        yield found


def _identity(file: Path) -> tuple[int, int]:
    """Return size and time of a file."""
    status = file.stat()
    return status.st_size, status.st_mtime_ns


def _meta_of(index: Path) -> dict[str, Any]:
    """Return the small values of an index's table `meta`; empty if it cannot be read."""
    if not index.is_file():
        return {}
    try:
        with contextlib.closing(sqlite3.connect(f"{index.as_uri()}?mode=ro", uri=True)) as db:
            return dict(db.execute("SELECT name, value FROM meta WHERE name != 'lengths'"))
    except sqlite3.DatabaseError:
        return {}  # it is not a database, or it is damaged: it is rebuilt


def _counts(index: Path, size: int, changed: int) -> bool:
    meta = _meta_of(index)
    return (meta.get("format"), meta.get("size"), meta.get("changed")) == (FORMAT, size, changed)


def _same_content(file: Path, index: Path, size: int, changed: int) -> bool:
    """Whether a file with another time has the content that the index was built from.

    If it has, the index is marked as valid for that time too.
    """
    meta = _meta_of(index)
    if (meta.get("format"), meta.get("size")) != (FORMAT, size) or meta.get("digest") != _digest(
        file
    ):
        return False
    with translated(index, WAIT), contextlib.closing(sqlite3.connect(index)) as db, db:
        db.execute("UPDATE meta SET value = ? WHERE name = 'changed'", (changed,))
    return True


def _digest(file: Path) -> str:
    with open_stream(file) as raw:
        return hashlib.file_digest(raw, "sha256").hexdigest()


def build(file: Path, index: Path) -> None:
    """Build the index of a bulk file, which replaces the last one when it is complete.

    Raises:
        ValueError: If the file is not a whole bulk file.
        OSError: If it cannot be read.
        StoreError: If the index cannot be written.
    """
    draft = index.with_suffix(".part")
    draft.unlink(missing_ok=True)
    size, changed = _identity(file)
    try:
        with (
            translated(draft, WAIT),
            contextlib.closing(sqlite3.connect(draft, isolation_level=None)) as db,
        ):
            db.executescript(_TABLES)
            db.execute("BEGIN")
            meta = _fill(db, file) | {
                "format": FORMAT,
                "size": size,
                "changed": changed,
                "digest": _digest(file),
            }
            db.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
            db.execute("COMMIT")
        if _identity(file) != (size, changed):
            raise ValueError("it changed while it was read")
        _replace(draft, index)
    finally:
        draft.unlink(missing_ok=True)


def _replace(draft: Path, index: Path) -> None:
    try:
        os.replace(draft, index)
    except OSError as error:
        raise from_os(error, index) from error


def _fill(db: sqlite3.Connection, file: Path) -> dict[str, Any]:
    """Put all targets of a file into the tables, and return values for the table `meta`."""
    postings: dict[str, array.array[int]] = {}
    spelt: set[str] = set()
    lengths = array.array("B")
    entities: list[tuple[int, str]] = []
    names: list[tuple[int, int, str, str]] = []
    encode = json.JSONEncoder(ensure_ascii=False).encode
    count, dated = 0, ""
    for count, (schema, fields, texts) in enumerate(read_targets(file), start=1):
        dated = max(dated, fields["last_seen"][:10])
        entities.append((count, encode(fields)))
        for text in texts:
            number = len(lengths)
            # Past the cache of name_of: no name comes twice.
            plain, joined = words_of(name_of.__wrapped__(text, schema == PERSON))
            spelt.update(plain)
            for word in plain + joined:
                if (held := postings.get(word)) is None:
                    held = postings[word] = array.array("I")
                held.append(number)
            names.append((number, count, schema, text))
            lengths.append(len(plain))
        if len(names) >= BATCH:
            _insert(db, entities, names)
    _insert(db, entities, names)
    _insert_words(db, postings, spelt)
    return {"entities": count, "dated": dated, "lengths": lengths.tobytes()}


def _insert(db: sqlite3.Connection, entities: list[Any], names: list[Any]) -> None:
    db.executemany("INSERT INTO entities VALUES (?, ?)", entities)
    db.executemany("INSERT INTO names VALUES (?, ?, ?, ?)", names)
    entities.clear()
    names.clear()


def _insert_words(
    db: sqlite3.Connection, postings: Mapping[str, array.array[int]], spelt: Set[str]
) -> None:
    """Put words and their keys into the tables.

    Words that exist only by joining get one key, with all their consonants.
    """
    vocabulary = sorted(postings)
    db.executemany(
        "INSERT INTO words VALUES (?, ?)", ((word, postings[word].tobytes()) for word in vocabulary)
    )
    keys: dict[str, list[str]] = {}
    for word in vocabulary:
        for key in keys_of(word)[: None if word in spelt else 1]:
            keys.setdefault(key, []).append(word)
    rows: Iterable[tuple[str, str]] = ((key, " ".join(keys[key])) for key in sorted(keys))
    db.executemany("INSERT INTO keys VALUES (?, ?)", rows)
