"""Finding passages by their words in PostgreSQL.

BM25, exactly, over posting lists that are kept in a table.

PostgreSQL's own text search knows neither how rare a word is nor how long a text, and reads every
row that has one of the words in order to rank it: 400,000 passages took it seconds
(bench/postgres.py shows both). So a row here is a word of a segment with all its passages in 7
bytes each; a search reads one row for each word and segment, and adds up.

A segment is what was entered together. Small ones are joined, so that there are few, and rows of
one are joined to rows of another by writing them one behind the other. What is removed is taken out
of its rows at once.
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

    from deepdiver.tools.library.postgres.connections import Connection

    Numbers = npt.NDArray[np.int64]
    Floats = npt.NDArray[np.float64]

K1, B = 1.2, 0.75
"""The constants of BM25, those of the local index."""
POSTING = struct.Struct("<iBH")
"""A passage that has a word: its number, how often, and how many words it has in all."""
FEW = 8
"""Segments of about one size, from which on they are joined."""
LARGEST = 64_000
"""Passages of a segment: what is removed from one makes its rows written anew, 36 MB at most."""
SPREAD = 16
"""Where numbers run so much higher than there are passages, sums are made by sorting and not by
place."""


# Entering


@dataclass(frozen=True, slots=True)
class Postings:
    """The words of some documents, as they are kept."""

    rows: dict[str, bytearray]
    """The postings of each word."""
    words: dict[int, int]
    """How many words each document has, its title counted with every passage."""


def postings_of(documents: Iterable[StoredDocument]) -> Postings:
    """Return the words of documents.

    A word of the title counts as so many of each passage, as in the local index.
    """
    rows: dict[str, bytearray] = {}
    words: dict[int, int] = {}
    for held in documents:
        head = terms_of(held.title) * TITLE_WEIGHT
        words[held.id] = 0
        for number, span in enumerate(held.spans, held.first):
            found = head + terms_of(span.of(held.text))
            words[held.id] += len(found)
            length = min(len(found), 0xFFFF)
            for term, count in Counter(found).items():
                rows.setdefault(term, bytearray()).extend(
                    POSTING.pack(number, min(count, 0xFF), length)
                )
    return Postings(rows, words)


def new_segment(db: Connection, library: int, passages: int) -> int:
    """Make a segment for so many passages; returns its id."""
    made = db.execute(
        "INSERT INTO segments (library, passages) VALUES (%s, %s) RETURNING id", (library, passages)
    )
    return int(made.fetchall()[0][0])


def add_postings(db: Connection, segment: int, rows: dict[str, bytearray]) -> None:
    """Enter the words of a segment."""
    with db.cursor().copy("COPY postings (segment, term, data) FROM STDIN (FORMAT BINARY)") as copy:
        copy.set_types(["int8", "text", "bytea"])
        for term in sorted(rows):
            copy.write_row((segment, term, bytes(rows[term])))


def remove_documents(db: Connection, segment: int, documents: Sequence[StoredDocument]) -> None:
    """Take documents out of a segment; the caller counts its passages."""
    import numpy as np

    said = {
        term for held in documents for span in held.spans for term in terms_of(span.of(held.text))
    }
    said |= {term for held in documents for term in terms_of(held.title)}
    rows = db.execute(
        "SELECT term, data FROM postings WHERE segment = %s AND term = ANY(%s)",
        (segment, sorted(said)),
        binary=True,
    ).fetchall()
    gone = [(held.id, held.first, len(held.spans)) for held in documents]
    kept: list[tuple[str, bytes]] = []
    for term, data in rows:
        listed = np.frombuffer(data, _record())
        kept.append((term, listed[~_within(listed["number"].astype(np.int64), gone)].tobytes()))
    empty = [term for term, data in kept if not data]
    changed = [(term, data) for term, data in kept if data]
    db.execute("DELETE FROM postings WHERE segment = %s AND term = ANY(%s)", (segment, empty))
    db.execute(
        "UPDATE postings SET data = given.data FROM unnest(%s::text[], %s::bytea[]) AS given "
        "(word, data) "
        "WHERE segment = %s AND term = word",
        ([term for term, _ in changed], [data for _, data in changed], segment),
    )


def join_segments(db: Connection, library: int) -> None:
    """Join small segments of about one size, once there are a few."""
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
                "INSERT INTO postings SELECT %s, term, string_agg(data, ''::bytea ORDER BY "
                "segment) FROM postings "
                "WHERE segment = ANY(%s) GROUP BY term",
                (segment, chosen),
            )
            db.execute(
                "UPDATE documents SET segment = %s WHERE segment = ANY(%s)", (segment, chosen)
            )
            db.execute("DELETE FROM segments WHERE id = ANY(%s)", (chosen,))


# Searching


class WordScores:
    """How well passages fit a query by their words."""

    def __init__(self, numbers: Numbers, values: Floats) -> None:
        """Take the passages that have a word of the query, in the order of their numbers, and their scores."""
        self._numbers, self._values = numbers, values

    def best(
        self, k: int, ranges: Sequence[tuple[int, int, int]] | None = None
    ) -> dict[int, float]:
        """Return the best passages, equal ones in their order.

        Args:
            k: How many at most.
            ranges: Look at the passages of these documents only; None is all.
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
        """Return how well some passages fit; one without a word of the query is left out."""
        import numpy as np

        if not numbers or not len(self._numbers):
            return {}
        asked = np.array(sorted(numbers), np.int64)
        places = np.minimum(np.searchsorted(self._numbers, asked), len(self._numbers) - 1)
        there = self._numbers[places] == asked
        return dict(zip(asked[there].tolist(), self._values[places[there]].tolist(), strict=True))


def word_scores(db: Connection, library: int, query: str, passages: int, words: int) -> WordScores:
    """Return how well the passages of a library fit a query.

    Args:
        db: Where it is.
        library: Its id.
        query: What is looked for.
        passages: How many it has.
        words: How many words these have together.
    """
    wanted = list(dict.fromkeys(terms_of(query)))[:MOST_TERMS]
    rows = db.execute(
        "SELECT term, data FROM segments JOIN postings ON segment = id WHERE library = %s AND term "
        "= ANY(%s) "
        "ORDER BY term, id",
        (library, wanted),
        binary=True,
    ).fetchall()
    return bm25_scores(rows, passages, words)


def bm25_scores(rows: Sequence[tuple[str, bytes]], passages: int, words: int) -> WordScores:
    """Return the sum of BM25 over some words, each with its postings, in the order of the words."""
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
    """Return what a word is worth that so many of all passages have."""
    return math.log1p((max(passages, frequent) - frequent + 0.5) / (frequent + 0.5))


def _summed(numbers: Numbers, values: Floats, passages: int) -> WordScores:
    """Return the sum of the values of each number."""
    import numpy as np

    if int(numbers.max()) > SPREAD * max(passages, 1_000):
        found, places = np.unique(numbers, return_inverse=True)
        return WordScores(found, np.bincount(places, values).astype(np.float64))
    sums = np.bincount(numbers, values).astype(np.float64)
    found = np.flatnonzero(sums)
    return WordScores(found, sums[found])


def _within(numbers: Numbers, ranges: Iterable[tuple[int, int, int]]) -> npt.NDArray[np.bool_]:
    """Return which numbers lie in one of some ranges, of which none meet: id, first, how many."""
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
