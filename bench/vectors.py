"""Measures opening and searching a table of 400,000 vectors: milliseconds and resident memory.

Run it as it is, or with another number of vectors; the status is 1 if it misses a target. Searches
are in milliseconds of CPU time: two idle cores need little more than half of these in wall time.
The table is searched in its own process, so that the memory is the table's and not that of making
it.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import psutil

from deepdiver.encoders import DIMENSION, VectorTable

ROWS = 400_000
AT_ONCE = 20_000
SEARCHES = 60
K = 10
SEED = 2026
OPEN_TARGET = 0.5
"""Seconds to open."""
SEARCH_TARGET = 100.0
"""Milliseconds of CPU time for a search, at the 95th percentile; a hybrid search has no more for
everything."""


def units(chance: np.random.Generator, count: int) -> npt.NDArray[np.float32]:
    """Return random unit vectors."""
    drawn = chance.standard_normal((count, DIMENSION), np.float32)
    return np.asarray(drawn / np.linalg.norm(drawn, axis=1, keepdims=True), np.float32)


def resident() -> tuple[float, float]:
    """Return this process's resident memory in MB, in all and without the mapped file."""
    memory = psutil.Process().memory_info()
    return memory.rss / 1e6, (memory.rss - getattr(memory, "shared", 0)) / 1e6


def fill(path: Path, count: int) -> None:
    """Make the table."""
    chance = np.random.default_rng(SEED)
    began = time.perf_counter()
    with VectorTable(path) as table:
        for at in range(0, count, AT_ONCE):
            table.append(units(chance, min(AT_ONCE, count - at)))
    took = time.perf_counter() - began
    print(
        f"{count:,} vectors made and appended in {took:.1f} s; the file has "
        f"{path.stat().st_size / 1e6:.0f} MB"
    )


def timed(
    table: VectorTable, queries: npt.NDArray[np.float32], allowed: npt.NDArray[np.bool_] | None
) -> tuple[list[float], list[float]]:
    """Return the milliseconds of the searches in ascending order, in wall time and CPU time."""
    clock, processor = [], []
    for query in queries:
        began, began_cpu = time.perf_counter(), time.process_time()
        rows, _ = table.search(query, K, allowed)
        clock.append((time.perf_counter() - began) * 1e3)
        processor.append((time.process_time() - began_cpu) * 1e3)
        assert len(rows) == K
    return sorted(clock), sorted(processor)


def search(path: Path) -> int:
    """Open and search the table; return 1 if a target is missed."""
    chance = np.random.default_rng(SEED + 1)
    queries = units(chance, SEARCHES)
    with tempfile.TemporaryDirectory() as folder, VectorTable(Path(folder) / "small") as small:
        small.append(units(chance, 100))
        # So that onnxruntime is loaded, and its memory counted, before.
        small.search(queries[0], K)
    before, private_before = resident()
    began = time.perf_counter()
    table = VectorTable(path)
    count = len(table)
    opened = time.perf_counter() - began
    print(
        f"opened in {opened * 1e3:.1f} ms, {resident()[0] - before:+.1f} MB resident (target "
        f"{OPEN_TARGET} s)"
    )
    cases = {
        "all": None,
        "half of the rows allowed": chance.random(count) < 0.5,
        "1 in 50 allowed": chance.random(count) < 0.02,
    }
    worst = 0.0
    for name, allowed in cases.items():
        clock, processor = timed(table, queries, allowed)
        place = int(0.95 * len(clock))
        worst = max(worst, processor[place])
        print(
            f"{name:25} p50 {statistics.median(clock):5.1f} ms, p95 {clock[place]:5.1f} ms at "
            f"k={K}; CPU time "
            f"p50 {statistics.median(processor):5.1f} ms, p95 {processor[place]:5.1f} ms"
        )
    after, private_after = resident()
    print(
        f"resident memory grew by {after - before:.0f} MB, {private_after - private_before:.0f} MB "
        "besides the file's"
    )
    print(f"targets: {OPEN_TARGET} s to open, {SEARCH_TARGET:g} ms of CPU time for a search")
    return int(opened > OPEN_TARGET or worst > SEARCH_TARGET)


def main(arguments: Sequence[str] = ()) -> int:
    """Make a table and search it."""
    if len(arguments) == 2:
        return search(Path(arguments[1]))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vectors"
        fill(path, int(arguments[0]) if arguments else ROWS)
        sys.stdout.flush()
        return subprocess.run(  # noqa: S603
            [sys.executable, __file__, "search", str(path)], check=False
        ).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
