"""A table of int8 vectors in one file, searched exactly.

400,000 vectors of 384 numbers take 155 MB, and a search takes 65 ms of CPU time, divided among the
cores.

A row holds the vector's numbers as bytes, with 128 for zero, and then a float32, the value of one
step of a byte.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from deepdiver.encoders import onnx_model
from deepdiver.encoders.row_file import RowFile

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Bytes = npt.NDArray[np.uint8]
    Floats = npt.NDArray[np.float32]
    Rows = npt.NDArray[np.int64]
    Allowed = npt.NDArray[np.bool_] | npt.NDArray[np.integer[Any]]
    Multiply = Callable[[Bytes, Bytes], npt.NDArray[np.int32]]

ZERO = 128
"""The byte that stands for 0. Multiplying unsigned by unsigned bytes is the only form that
overflows on no processor."""

SCALE = 4
"""Bytes of a row's float32. It is part of the row and is multiplied with it, by zeros in the query,
so that nothing needs to be copied."""

STEPS = 127
"""Steps from 0 to the largest number of a row."""

FINE = 127 * 256 + 127
"""Steps from 0 to the largest number of a query, which has two bytes for each number: the second
byte costs no time at all."""

BLOCK = 16_384
"""Rows in one multiplication, 6 MB of them: the results stay in the cache."""

SPARSE = 3
"""If fewer than a third of the rows are allowed, picking them out (0.46 µs each) is faster than
multiplying all of them (0.16 µs each)."""

DOT = Path(__file__).parent / "dot.onnx"
"""The multiplication as an ONNX graph; training/embeddings/build.py makes it."""

DOT_HASH = "95d523a5c8f2ca17c2f5a52cd9e2d4bb741db245b670643cdc9f93e31728938c"
"""SHA-256 of that file."""


class VectorTable:
    """Vectors with row numbers 0, 1, 2 and so on.

    Threads may share a table, and processes may open the same file.
    """

    def __init__(self, path: Path, dimension: int = 384, *, intra_op: int = 0) -> None:
        """Open a table, or create it if it does not exist.

        Args:
            path: The file.
            dimension: Numbers in a vector.
            intra_op: Threads that one search may use; 0 means one for each core.

        Raises:
            StoreError: If the file cannot be opened, or is not a table of this dimension.
        """
        self.dimension = dimension
        self._intra_op = intra_op
        self._rows = RowFile(path, dimension + SCALE)

    def __len__(self) -> int:
        """Count the rows, including those that other processes have added."""
        return len(self._rows)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def append(self, vectors: Floats) -> range:
        """Add vectors; when this returns, they are on disk.

        Args:
            vectors: One vector in each row; all numbers must be finite.

        Returns:
            Their row numbers.

        Raises:
            StoreError: If the file cannot grow; the existing rows are untouched.
        """
        import numpy as np

        if vectors.ndim != 2 or vectors.shape[1] != self.dimension:
            raise ValueError(
                f"vectors of shape {vectors.shape} do not fit a table of (n, {self.dimension})"
            )
        if not np.isfinite(vectors).all():
            raise ValueError("a vector holds numbers that are not finite")
        return self.append_packed(pack(vectors))

    def append_packed(self, rows: Bytes) -> range:
        """Add vectors that `pack` has already packed; otherwise the same as `append`."""
        if rows.ndim != 2 or rows.shape[1] != self.dimension + SCALE:
            raise ValueError(
                f"rows of shape {rows.shape} do not fit a table of (n, {self.dimension + SCALE})"
            )
        return self._rows.append(rows.tobytes())

    def search(self, query: Floats, k: int, allowed: Allowed | None = None) -> tuple[Rows, Floats]:
        """Find the rows with the largest dot products.

        Args:
            query: A vector of finite numbers.
            k: The most rows to return.
            allowed: The rows to search: a boolean for each (rows after its end are skipped),
                or row numbers in any order. None means all rows.

        Returns:
            Row numbers and scores, best first, equal scores by row number; fewer than k if fewer
            rows exist or are allowed.
        """
        import numpy as np

        _check(query, self.dimension)
        if k < 1:
            raise ValueError(f"k is {k}: ask for at least one row")
        table = np.frombuffer(self._rows.view(), np.uint8).reshape(-1, self.dimension + SCALE)
        chosen = None if allowed is None else _numbers(allowed, len(table))
        scores = _scores(table, chosen, query, _multiply(self._intra_op))
        best = _best(scores, k)
        return (best if chosen is None else chosen[best]), scores[best]

    def close(self) -> None:
        """Close the file."""
        self._rows.close()


def nearness(rows: Bytes, query: Floats, *, intra_op: int = 0) -> Floats:
    """Return the dot products of packed vectors with a query, exactly as a table would."""
    _check(query, rows.shape[1] - SCALE)
    return _scores(rows, None, query, _multiply(intra_op))


def pack(vectors: Floats) -> Bytes:
    """Return vectors as the bytes of rows."""
    import numpy as np

    exact = vectors.astype(np.float64)
    steps = (np.abs(exact).max(axis=1, initial=0.0) / STEPS).astype("<f4")
    # A vector of zeros, or too small for a float32, has steps of 0.
    divisors = np.where(steps > 0, steps, np.inf).astype(np.float64)
    codes = np.clip(np.rint(exact / divisors[:, None]), -STEPS, STEPS) + ZERO
    return np.hstack([codes.astype(np.uint8), steps.view(np.uint8).reshape(-1, SCALE)])


def _check(query: Floats, dimension: int) -> None:
    import numpy as np

    if query.shape != (dimension,):
        raise ValueError(f"a query of shape {query.shape} does not fit a table of ({dimension},)")
    if not np.isfinite(query).all():
        raise ValueError("the query holds numbers that are not finite")


def _columns(query: Floats) -> tuple[Bytes, float]:
    """Return a query as two columns of bytes, coarse and fine, and the value of one fine step."""
    import numpy as np

    exact = query.astype(np.float64)
    step = float(np.abs(exact).max(initial=0.0)) / FINE
    fine = np.rint(exact / step).astype(np.int64) if step else np.zeros(len(exact), np.int64)
    coarse = (fine + 128) // 256  # the rest lies in -128..127
    columns = np.stack([coarse, fine - 256 * coarse], axis=1) + ZERO
    return np.pad(columns, ((0, SCALE), (0, 0)), constant_values=ZERO).astype(np.uint8), step


def _numbers(allowed: Allowed, count: int) -> Rows:
    """Return allowed rows as their numbers, in ascending order, without repeats."""
    import numpy as np

    if allowed.ndim != 1:
        raise ValueError(f"allowed has the shape {allowed.shape}; it must have one dimension")
    if allowed.dtype == np.bool_:
        if len(allowed) > count:
            raise ValueError(f"allowed has {len(allowed)} rows, the table has {count}")
        return np.flatnonzero(allowed).astype(np.int64)
    numbers = np.unique(allowed).astype(np.int64)
    if len(numbers) and not 0 <= numbers[0] <= numbers[-1] < count:
        raise ValueError(f"allowed names rows {numbers[0]} to {numbers[-1]}, the table has {count}")
    return numbers


def _scores(table: Bytes, chosen: Rows | None, query: Floats, multiply: Multiply) -> Floats:
    """Return the dot products of a query with the chosen rows, or with all rows."""
    import numpy as np

    columns, step = _columns(query)
    pick = chosen if chosen is not None and len(chosen) < len(table) / SPARSE else None
    scores = np.empty(len(table) if pick is None else len(pick), np.float32)
    for at in range(0, len(scores), BLOCK):
        rows = table[at : at + BLOCK] if pick is None else table[pick[at : at + BLOCK]]
        dots = multiply(rows, columns)
        worth = rows[:, -SCALE:].view("<f4")[:, 0].astype(np.float64) * step
        scores[at : at + BLOCK] = (dots[:, 0] * 256.0 + dots[:, 1]) * worth
    return scores if chosen is None or pick is not None else scores[chosen]


def _best(scores: Floats, k: int) -> Rows:
    """Return the positions of the k largest scores, best first, equal ones in order."""
    import numpy as np

    places = np.arange(len(scores), dtype=np.int64)
    if k < len(scores):
        least = np.partition(scores, len(scores) - k)[len(scores) - k]
        places = np.flatnonzero(scores >= least).astype(np.int64)
    return places[np.argsort(-scores[places], kind="stable")[:k]]


@cache
def _multiply(intra_op: int) -> Multiply:
    """Return a function that multiplies rows by a query's columns, exactly, in integers."""
    session = onnx_model.open_session(onnx_model.checked(DOT, DOT_HASH), intra_op)

    def multiply(rows: Bytes, columns: Bytes) -> npt.NDArray[np.int32]:
        (dots,) = session.run(None, {"rows": rows, "columns": columns})
        return dots  # type: ignore[no-any-return]

    return multiply
