"""The index of words in PostgreSQL: exact BM25 over posting lists in a table.

PostgreSQL's own text search ignores how rare a word is and how long a text is, and reads every row
with one of the words in order to rank it: 400,000 passages took it seconds (bench/postgres.py shows
both). Here a row is a word of a segment with all its passages in 7 bytes each. A search reads one
row for each word and segment, and adds up.

A segment consists of documents that were entered together. Small segments are joined, by
concatenating their rows, so that there are few. Removed documents are taken out of the rows at
once.
"""

from __future__ import annotations

import functools
import math
import struct
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deepdiver.tools.library.records import StoredDocument
from deepdiver.tools.library.terms import MOST_TERMS, TITLE_WEIGHT, terms_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from deepdiver.store.connections import Connection

    Numbers = npt.NDArray[np.int64]
    Floats = npt.NDArray[np.float64]

K1, B = 1.2, 0.75
"""The constants of BM25, the same as in the local index."""
POSTING = struct.Struct("<iBH")
"""A passage that contains a word: its number, how often, and its total number of words."""
FEW = 8
"""How many segments of about the same size are joined."""
LARGEST = 64_000
"""The most passages of a segment. Removing one of them rewrites its rows, at most 36 MB."""
SPREAD = 16
"""If the numbers are this many times higher than the number of passages, sums are made by sorting
instead of by position."""


# Adding and removing


@dataclass(frozen=True, slots=True)
class Postings:
    """The postings of some documents."""

    rows: dict[str, bytearray]
    """The packed postings of each word."""
    words: dict[int, int]
    """The number of words of each document, counting its title with every passage."""


def postings_of(documents: Iterable[StoredDocument]) -> Postings:
    """Return the postings of documents.

    A word of the title counts TITLE_WEIGHT times in each passage, as in the local index.
    """
    rows: dict[str, bytearray] = {}
    words: dict[int, int] = {}
    for stored in documents:
        head = terms_of(stored.title) * TITLE_WEIGHT
        words[stored.id] = 0
        for number, passage in enumerate(stored.passages(), stored.first):
            found = head + terms_of(passage)
            words[stored.id] += len(found)
            length = min(len(found), 0xFFFF)
            for term, count in Counter(found).items():
                rows.setdefault(term, bytearray()).extend(
                    POSTING.pack(number, min(count, 0xFF), length)
                )
    return Postings(rows, words)


def new_segment(db: Connection, library: int, passages: int) -> int:
    """Create a segment for a number of passages, and return its id."""
    made = db.execute(
        "INSERT INTO segments (library, passages) VALUES (%s, %s) RETURNING id", (library, passages)
    )
    return int(made.fetchall()[0][0])


def add_postings(db: Connection, segment: int, rows: dict[str, bytearray]) -> None:
    """Add the postings of a segment."""
    with db.cursor().copy("COPY postings (segment, term, data) FROM STDIN (FORMAT BINARY)") as copy:
        copy.set_types(["int8", "text", "bytea"])
        for term in sorted(rows):
            copy.write_row((segment, term, bytes(rows[term])))


def remove_documents(db: Connection, segment: int, documents: Sequence[StoredDocument]) -> None:
    """Remove the postings of documents from a segment. The caller updates its count."""
    import numpy as np

    said = {
        term
        for stored in documents
        for span in stored.spans
        for term in terms_of(span.of(stored.text))
    }
    said |= {term for stored in documents for term in terms_of(stored.title)}
    rows = db.execute(
        "SELECT term, data FROM postings WHERE segment = %s AND term = ANY(%s)",
        (segment, sorted(said)),
        binary=True,
    ).fetchall()
    gone = [(stored.id, stored.first, len(stored.spans)) for stored in documents]
    kept: list[tuple[str, bytes]] = []
    for term, data in rows:
        listed = np.frombuffer(data, _record())
        kept.append((term, listed[~_within(listed["number"].astype(np.int64), gone)].tobytes()))
    empty = [term for term, data in kept if not data]
    changed = [(term, data) for term, data in kept if data]
    db.execute("DELETE FROM postings WHERE segment = %s AND term = ANY(%s)", (segment, empty))
    db.execute(
        "UPDATE postings SET data = given.data FROM unnest(%s::text[], %s::bytea[]) "
        "AS given (word, data) WHERE segment = %s AND term = word",
        ([term for term, _ in changed], [data for _, data in changed], segment),
    )


def join_segments(db: Connection, library: int) -> None:
    """Join small segments of about the same size, once there are FEW of them."""
    listed = db.execute(
        "SELECT id, passages FROM segments WHERE library = %s ORDER BY passages, id", (library,)
    )
    sizes: dict[int, list[tuple[int, int]]] = {}
    for id_, passages in listed.fetchall():
        sizes.setdefault(passages.bit_length() // 3, []).append((id_, passages))
    for group in sizes.values():
        chosen: list[int] = []
        total = 0
        for id_, passages in group if len(group) >= FEW else ():
            if total + passages <= LARGEST:
                chosen.append(id_)
                total += passages
        if len(chosen) > 1:
            segment = new_segment(db, library, total)
            db.execute(
                "INSERT INTO postings SELECT %s, term, string_agg(data, ''::bytea "
                "ORDER BY segment) FROM postings WHERE segment = ANY(%s) GROUP BY term",
                (segment, chosen),
            )
            db.execute(
                "UPDATE documents SET segment = %s WHERE segment = ANY(%s)", (segment, chosen)
            )
            db.execute("DELETE FROM segments WHERE id = ANY(%s)", (chosen,))


# Searching


class WordScores:
    """The scores of passages for a query by words."""

    def __init__(self, numbers: Numbers, values: Floats) -> None:
        """Set the passages that contain a word of the query, ascending, and their scores."""
        self._numbers, self._values = numbers, values

    def best(
        self, k: int, ranges: Sequence[tuple[int, int, int]] | None = None
    ) -> dict[int, float]:
        """Return the scores of the best passages, ties in order of their numbers.

        Args:
            k: The largest number of passages to return.
            ranges: Consider only the passages of these documents; None means all.
        """
        import numpy as np

        numbers, values = self._numbers, self._values
        if ranges is not None:
            allowed = _within(numbers, ranges)
            numbers, values = numbers[allowed], values[allowed]
        if 0 < k < len(values):
            reached = values >= np.partition(values, -k)[-k]
            numbers, values = numbers[reached], values[reached]
        order = np.lexsort((numbers, -values))[: max(0, k)]
        return dict(zip(numbers[order].tolist(), values[order].tolist(), strict=True))

    def of(self, numbers: Collection[int]) -> dict[int, float]:
        """Return the scores of some passages, without those that have no word of the query."""
        import numpy as np

        if not numbers or not len(self._numbers):
            return {}
        asked = np.array(sorted(numbers), np.int64)
        places = np.minimum(np.searchsorted(self._numbers, asked), len(self._numbers) - 1)
        there = self._numbers[places] == asked
        return dict(zip(asked[there].tolist(), self._values[places[there]].tolist(), strict=True))


def word_scores(db: Connection, library: int, query: str, passages: int, words: int) -> WordScores:
    """Return the scores of the passages of a library for a query.

    Args:
        db: The connection.
        library: The id of the library.
        query: The text to search for.
        passages: The number of passages of the library.
        words: Their total number of words.
    """
    wanted = list(dict.fromkeys(terms_of(query)))[:MOST_TERMS]
    rows = db.execute(
        "SELECT term, data FROM segments JOIN postings ON segment = id WHERE library = %s "
        "AND term = ANY(%s) ORDER BY term, id",
        (library, wanted),
        binary=True,
    ).fetchall()
    return bm25_scores(rows, passages, words)


def bm25_scores(rows: Sequence[tuple[str, bytes]], passages: int, words: int) -> WordScores:
    """Return the BM25 scores for some words, given as (word, postings) in order."""
    import numpy as np

    if not rows:
        return WordScores(np.empty(0, np.int64), np.empty(0, np.float64))
    listed = np.frombuffer(b"".join(data for _, data in rows), _record())
    sizes = [len(data) // POSTING.size for _, data in rows]
    frequent: Counter[str] = Counter()
    for (term, _), size in zip(rows, sizes, strict=True):
        frequent[term] += size
    worth = np.repeat([_rarity(frequent[term], passages) for term, _ in rows], sizes)
    counts = listed["count"].astype(np.float64)
    lengths = K1 * (1 - B) + K1 * B * listed["length"] * (passages / max(1, words))
    each = worth * counts * (K1 + 1) / (counts + lengths)
    return _summed(listed["number"].astype(np.int64), each, passages)


def _rarity(frequent: int, passages: int) -> float:
    """Return the weight of a word that `frequent` of all passages contain."""
    return math.log1p((max(passages, frequent) - frequent + 0.5) / (frequent + 0.5))


def _summed(numbers: Numbers, values: Floats, passages: int) -> WordScores:
    """Return the sum of the values for each number."""
    import numpy as np

    if int(numbers.max()) > SPREAD * max(passages, 1_000):
        found, places = np.unique(numbers, return_inverse=True)
        return WordScores(found, np.bincount(places, values).astype(np.float64))
    sums = np.bincount(numbers, values).astype(np.float64)
    found = np.flatnonzero(sums)
    return WordScores(found, sums[found])


def _within(numbers: Numbers, ranges: Iterable[tuple[int, int, int]]) -> npt.NDArray[np.bool_]:
    """Return which numbers lie in one of some disjoint ranges, given as (id, first, size)."""
    import numpy as np

    ordered = sorted((first, first + size) for _, first, size in ranges if size)
    if not ordered:
        return np.zeros(len(numbers), np.bool_)
    first, end = np.array(ordered, np.int64).T
    place = np.searchsorted(first, numbers, side="right") - 1
    return np.asarray((place >= 0) & (numbers < end[np.maximum(place, 0)]), np.bool_)


@functools.cache
def _record() -> np.dtype[np.void]:
    import numpy as np

    return np.dtype([("number", "<i4"), ("count", "u1"), ("length", "<u2")])
