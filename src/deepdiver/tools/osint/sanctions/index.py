"""An index of the names in a bulk file, built once for each version of it, in SQLite.

A look-up reads a few rows.

    names      each name, whose it is and what that is
    entities   each entity, as JSON
    words      each folded word and which names have it
    keys       consonants of words, whole and with one left out: words that share a key may be one word misspelt

A look-up goes from the words of a name to words like them (by their keys), from these to the names
that have them, and takes the names that share most, counted by how rare the shared words are. How
alike they are is for `matching` to say.

The index counts for a file as long as size and time of the file are those it was built from, or its
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
from deepdiver.tools.osint.sanctions.bulk import targets
from deepdiver.tools.osint.sanctions.entity import PERSON, Entity
from deepdiver.tools.osint.sanctions.names import GENERIC, Name, fold, name_of, skeleton
from deepdiver.tools.process_lock import hold_lock

FORMAT = "2"
"""Changes with the tables and with how words are folded; an index of another format is built anew.
"""
WAIT = 600.0
"""Seconds to wait for another process that builds the same index."""
MOST_NAMES = 200
"""Names that are compared closely."""
MOST_LIKE, MOST_LIKE_VOWELLESS = 30, 500
"""Words that stand for one word of the name asked, the likest; without vowels, many are equally
like."""
CUTOFF = 0.7
"""Words below this likeness are not looked at; laying words side by side is stricter."""
BY_CONSONANTS = 0.9
"""Likeness of words with the same consonants where the vowels are not known."""
SHORT = 3
"""Letters of a word that is also indexed with its neighbour: abd allah, de hua, al assad."""
FEW = 3
"""Words of an organisation's or a ship's name whose neighbours are all indexed together (star
light), unless one is a word that many have."""
BATCH = 5_000
_TABLES = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
CREATE TABLE meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE entities (id INTEGER PRIMARY KEY, data TEXT NOT NULL);
CREATE TABLE names (id INTEGER PRIMARY KEY, entity INTEGER NOT NULL, schema TEXT NOT NULL, text TEXT NOT NULL);
CREATE TABLE words (word TEXT PRIMARY KEY, names BLOB NOT NULL);
CREATE TABLE keys (key TEXT PRIMARY KEY, words TEXT NOT NULL);
"""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entity that may be who is looked for."""

    number: int
    """Its number in the index."""
    schema_name: str
    """What it is: Person, Company."""
    names: tuple[str, ...]
    """Those of its names that come into question."""


def words_of(name: Name) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the folded words of a name, and short ones joined with their neighbours."""
    plain = [word for word in name.words if len(word) > 1] or list(name.words)
    whole = name.syllabic or (not name.person and len(plain) <= FEW and GENERIC.isdisjoint(plain))
    pairs = [(a, b) for a, b in itertools.pairwise(plain) if whole or min(len(a), len(b)) <= SHORT]
    return tuple(dict.fromkeys(map(fold, plain))), tuple(
        dict.fromkeys(fold(a + b) for a, b in pairs)
    )


def keys_of(word: str) -> list[str]:
    """Return the keys of a folded word.

    Its consonants (marked by =), and these with each one left out (by ~).
    """
    bones = skeleton(word)
    return [f"={bones}", *(f"~{left}" for left in _left(bones))]


def _left(bones: str) -> list[str]:
    """Return some consonants with each one left out; of two, what is left says nothing."""
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
        """The last day on which the file saw any of them; empty: it does not say."""
        return str(self._meta["dated"])

    def candidates(self, readings: Sequence[Name]) -> list[Candidate]:
        """Return the entities with the names that share most with one.

        Args:
            readings: The name, as a person's or an organisation's.
        """
        with translated(self._path, WAIT):
            wanted = dict.fromkeys(
                word for name in readings for words in words_of(name) for word in words
            )
            vowelless = any(name.vowelless for name in readings)
            return self._fetched(self._nearest(wanted, vowelless)) if wanted else []

    def _nearest(self, wanted: Iterable[str], vowelless: bool) -> list[int]:
        lengths = np.frombuffer(self._meta["lengths"], dtype=np.uint8)
        total = np.zeros(len(lengths), dtype=np.float32)
        for word in wanted:
            shared = np.zeros_like(total)
            for likeness, names in self._having(word, vowelless):
                rarity = math.log1p(len(lengths) / len(names))
                shared[names] = np.maximum(shared[names], likeness * likeness * rarity)
            total += shared
        found = np.flatnonzero(total)
        # Shared words count against all words of a name: of two that share as much, the shorter is
        # nearer.
        nearness = total[found] / np.sqrt(lengths[found] + 1.0)
        if len(found) > MOST_NAMES:
            found = found[np.argpartition(-nearness, MOST_NAMES)[:MOST_NAMES]]
        return [int(name) for name in found]

    def _having(self, word: str, vowelless: bool) -> Iterator[tuple[float, NDArray[np.uint32]]]:
        """Give the names that have a word or one like it, and how like it is."""
        like = self._like(word, vowelless)
        marks = ",".join("?" * len(like))
        rows = self._db.execute(
            f"SELECT word, names FROM words WHERE word IN ({marks})",  # noqa: S608
            list(like),
        )
        for found, names in rows:
            yield like[found], np.frombuffer(names, dtype=np.uint32)

    def _like(self, word: str, vowelless: bool) -> dict[str, float]:
        """Return the words of the index that are like one, with their likeness."""
        bones = skeleton(word)
        shorter = _left(bones)
        # The same; one too many on either side; one for another, or two that changed places.
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

    def _fetched(self, names: Sequence[int]) -> list[Candidate]:
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
    """Return the words of which at least a part needs no correcting, and that part."""
    alike = process.extract(
        word, list(others), scorer=OSA.normalized_similarity, score_cutoff=cutoff, limit=None
    )
    return [(other, likeness) for other, likeness, _ in alike]


@contextlib.contextmanager
def opened(file: Path, index: Path) -> Iterator[Index]:
    """Open the index of a bulk file, building it where there is none that counts.

    Args:
        file: The bulk file.
        index: Where its index is kept.

    Raises:
        ValueError: If the file is not what it should be.
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
    told = file.stat()
    return told.st_size, told.st_mtime_ns


def _meta_of(index: Path) -> dict[str, Any]:
    """Return what is known of an index, less what is large.

    Nothing where there is none that can be read.
    """
    if not index.is_file():
        return {}
    try:
        with contextlib.closing(sqlite3.connect(f"{index.as_uri()}?mode=ro", uri=True)) as db:
            return dict(db.execute("SELECT name, value FROM meta WHERE name != 'lengths'"))
    except sqlite3.DatabaseError:
        return {}  # no database, or a damaged one: it is built anew


def _counts(index: Path, size: int, changed: int) -> bool:
    meta = _meta_of(index)
    return (meta.get("format"), meta.get("size"), meta.get("changed")) == (FORMAT, size, changed)


def _same_content(file: Path, index: Path, size: int, changed: int) -> bool:
    """Return whether a file of another time holds what the index was built from.

    Then it counts for that time too.
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
    with file.open("rb") as raw:
        return hashlib.file_digest(raw, "sha256").hexdigest()


def build(file: Path, index: Path) -> None:
    """Build the index of a bulk file; it replaces the last one when it is whole.

    Raises:
        ValueError: If the file is not what it should be.
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
            meta = _filled(db, file) | {
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


def _filled(db: sqlite3.Connection, file: Path) -> dict[str, Any]:
    """Put all targets of a file into the tables, and return what is to be known of them."""
    postings: dict[str, array.array[int]] = {}
    spelt: set[str] = set()
    lengths = array.array("B")
    entities: list[tuple[int, str]] = []
    names: list[tuple[int, int, str, str]] = []
    encode = json.JSONEncoder(ensure_ascii=False).encode
    count, dated = 0, ""
    for count, (schema, fields, texts) in enumerate(targets(file), start=1):
        dated = max(dated, fields["last_seen"][:10])
        entities.append((count, encode(fields)))
        person = schema == PERSON
        for text in texts:
            number = len(lengths)
            plain, joined = words_of(
                name_of.__wrapped__(text, person)
            )  # none comes twice, so none is remembered
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

    Those that only joining made are found by all their consonants.
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
