"""Measures a library of 400,000 invented passages: indexing, opening, searching, memory.

Another number may be given. Words are as unevenly common as those of a language. Random unit
vectors replace embeddings, which would take an hour to make: the cost of a search does not depend
on their meaning, and what it finds is not measured here (see bench/retrieval.py). Each figure that
misses its target is marked, and the status is then 1.
"""

from __future__ import annotations

import itertools
import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from deepdiver.core.text import Span
from deepdiver.encoders import DIMENSION, VectorTable
from deepdiver.tools.document import Document
from deepdiver.tools.library.files import FileStamp
from deepdiver.tools.library.local.catalogue import SqliteCatalogue
from deepdiver.tools.library.local.library import LocalLibrary
from deepdiver.tools.library.records import NewDocument

PASSAGES = 400_000
EACH = 4
"""Passages of a document."""
WORDS = (40, 110)
"""Words of a passage."""
QUERIES = 200
SEED = 2026
SYLLABLES = "ba de fi go hu ka le mi no pu ra se ti vo zu sta bren dor lind holm".split()
TARGETS = {
    "indexed a second": 10_000.0,
    "words p95 ms": 15.0,
    "hybrid p95 ms": 100.0,
    "resident MB": 1_500.0,
    "opening s": 0.5,
}
"""The first is a minimum, the others are maxima."""


def vocabulary(size: int = 60_000) -> list[str]:
    """Invent words of two to four syllables."""
    chance = random.Random(SEED)  # noqa: S311
    return ["".join(chance.choices(SYLLABLES, k=chance.randint(2, 4))) for _ in range(size)]


def invented(count: int) -> Iterator[NewDocument]:
    """Invent documents; the same whenever it is asked."""
    chance = random.Random(SEED)  # noqa: S311
    known = vocabulary()
    weights = list(itertools.accumulate(1 / rank for rank in range(1, len(known) + 1)))
    for number in range(count // EACH):
        spans, parts, at = [], [], 0
        for _ in range(EACH):
            part = " ".join(chance.choices(known, cum_weights=weights, k=chance.randint(*WORDS)))
            spans.append(Span(at, at + len(part)))
            parts.append(part)
            at += len(part) + 1
        title = " ".join(chance.choices(known, k=3)).title()
        said = Document(text=" ".join(parts), format="text", title=title)
        name = title.lower()
        yield NewDocument(
            f"/invented/{number}",
            number.to_bytes(32, "big"),
            FileStamp(0, 0, 0),
            said,
            True,
            name,
            tuple(spans),
        )


def queries() -> list[str]:
    """Invent queries of three to eight words, common and rare."""
    chance = random.Random(SEED + 1)  # noqa: S311
    known = vocabulary()
    weights = list(itertools.accumulate(1 / rank**0.7 for rank in range(1, len(known) + 1)))
    return [
        " ".join(chance.choices(known, cum_weights=weights, k=chance.randint(3, 8)))
        for _ in range(QUERIES)
    ]


def build(folder: Path, count: int) -> float:
    """Fill a library; returns how many passages a second its index of words took."""
    catalogue = SqliteCatalogue(folder / "catalogue.sqlite")
    documents = invented(count)
    began = time.monotonic()
    while batch := list(itertools.islice(documents, 1_000)):
        catalogue.put(batch)
    print(
        f"{count:,} passages added to the catalogue in {time.monotonic() - began:.0f} s, "
        "inventing included"
    )
    catalogue.close()
    began = time.monotonic()
    # Finds that the index lacks everything, as after a crash, and makes it.
    library = LocalLibrary(folder)
    took = time.monotonic() - began
    library.close()
    chance = np.random.default_rng(SEED)
    with VectorTable(folder / "vectors-0", DIMENSION) as table:
        for _ in range(0, count, 10_000):
            drawn = chance.standard_normal((min(10_000, count - len(table)), DIMENSION), np.float32)
            table.append(drawn / np.linalg.norm(drawn, axis=1, keepdims=True))
    return count / took


def timed(act: Callable[[str], object], asked: Sequence[str]) -> tuple[float, float]:
    """Return the median and the 95th percentile of the milliseconds that an act takes."""
    took = []
    for query in asked:
        began = time.perf_counter()
        act(query)
        took.append((time.perf_counter() - began) * 1e3)
    return statistics.median(took), statistics.quantiles(took, n=20)[-1]


def look(folder: Path) -> dict[str, float]:
    """Open a library in this fresh process and search it."""
    began = time.perf_counter()
    library = LocalLibrary(folder)
    opening = time.perf_counter() - began
    asked = queries()
    library.search(asked[0], 10)  # the model is loaded once in a process
    words = timed(lambda query: library._words.search(query, 10), asked)
    hybrid = timed(lambda query: library.search(query, 10), asked)
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    found = {"opening s": opening, "resident MB": resident}
    found |= {"words p50 ms": words[0], "words p95 ms": words[1]}
    return found | {"hybrid p50 ms": hybrid[0], "hybrid p95 ms": hybrid[1]}


def main(arguments: Sequence[str] = ()) -> int:
    """Measure, print, and return 1 if a target is missed."""
    if arguments[:1] == ["look"]:
        print(json.dumps(look(Path(arguments[1]))))
        return 0
    count = int(arguments[0]) if arguments else PASSAGES
    print(f"{count:,} invented passages; random unit vectors replace embeddings")
    with tempfile.TemporaryDirectory() as folder:
        found = {"indexed a second": build(Path(folder), count)}
        apart = [sys.executable, __file__, "look", folder]
        found |= json.loads(
            subprocess.run(apart, check=True, capture_output=True, text=True).stdout  # noqa: S603
        )
        size = sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file()) / 1e6
    missed = 0
    for name, figure in found.items():
        target = TARGETS.get(name)
        wrong = target is not None and (
            figure < target if name == "indexed a second" else figure > target
        )
        missed += wrong
        print(
            f"{name:<18} {figure:>10,.2f}"
            + (f"  target {target:g}{' MISSED' if wrong else ''}" if target else "")
        )
    print(f"{'on disk MB':<18} {size:>10,.1f}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
