"""Pack what a training changed in a reader: a quarter of their size, to come back from elsewhere.

::

    python training/reader/changes.py pack build/begin.npz build/reader/close-running.npz build/out
    python training/reader/changes.py apply build/begin.npz build/out/close-running build/close.npz

`pack` writes the differences from the weights that a training began with, in pieces of 15 MB.
They are rounded to a quarter of the steps that `quantise.py` rounds the weights to, which adds a
sixteenth to the error that it makes. What did not change, such as the embeddings, takes no room.
"""

from __future__ import annotations

import io
import lzma
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from weights import PIECE, Tensors

FINER = 4
"""Steps for each step of the int8 file."""
STEPS = 127
LEAST = 1e-8
"""The smallest step, so that nothing is divided by zero."""
XZ = {"id": lzma.FILTER_LZMA2, "preset": 1, "lc": 0, "lp": 0, "pb": 0}
"""Noise of small numbers: no context tells the next byte."""

Codes = npt.NDArray[np.int32]


def steps_of(before: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """Return how finely the change of each row is told; of a vector, of the whole."""
    rows = np.abs(before.astype(np.float32).reshape(len(before) if before.ndim > 1 else 1, -1))
    return np.maximum(rows.max(1, keepdims=True) / STEPS / FINER, LEAST)


def codes_of(before: npt.NDArray[Any], after: npt.NDArray[Any]) -> Codes:
    """Return the change of a weight in steps."""
    change = after.astype(np.float32) - before.astype(np.float32)
    step = steps_of(before)
    return np.rint(change.reshape(step.shape[0], -1) / step).astype(np.int32)


def changed(before: npt.NDArray[Any], codes: Codes) -> npt.NDArray[np.float32]:
    """Return a weight with its change."""
    return before.astype(np.float32) + (codes * steps_of(before)).reshape(before.shape)


def _packed(codes: Codes) -> bytes:
    """Return numbers as bytes: small ones of both signs in the first plane alone."""
    small = ((codes << 1) ^ (codes >> 31)).astype(np.uint32).reshape(-1)
    planes = [((small >> shift) & 0xFF).astype(np.uint8).tobytes() for shift in (0, 8, 16)]
    return lzma.compress(b"".join(planes), lzma.FORMAT_XZ, filters=[XZ])


def _unpacked(data: bytes) -> Codes:
    planes = np.frombuffer(lzma.decompress(data), np.uint8).reshape(3, -1).astype(np.int32)
    small = planes[0] | planes[1] << 8 | planes[2] << 16
    return (small >> 1) ^ -(small & 1)


def pack(before: Tensors, after: Tensors) -> bytes:
    """Return the changes of all weights."""
    names = [name for name in sorted(before) if (before[name] != after[name]).any()]
    with ThreadPoolExecutor(16) as pool:
        made = pool.map(lambda name: _packed(codes_of(before[name], after[name])), names)
        held = {name: np.frombuffer(data, np.uint8) for name, data in zip(names, made, strict=True)}
    file = io.BytesIO()
    np.savez(file, **held)
    return file.getvalue()


def unpack(before: Tensors, data: bytes) -> Tensors:
    """Return all weights with their changes."""
    held = np.load(io.BytesIO(data))
    made = {name: np.asarray(values) for name, values in before.items()}
    for name in held.files:
        codes = _unpacked(held[name].tobytes())
        made[name] = changed(before[name], codes.reshape(steps_of(before[name]).shape[0], -1))
    return made


def main(arguments: list[str]) -> int:
    """Pack or apply."""
    what, begin, source, target = arguments[0], *map(Path, arguments[1:])
    before = dict(np.load(begin))
    if what == "pack":
        target.mkdir(parents=True, exist_ok=True)
        data = pack(before, dict(np.load(source)))
        for number, start in enumerate(range(0, len(data), PIECE), 1):
            (target / f"{source.stem}.{number}").write_bytes(data[start : start + PIECE])
        return 0
    pieces = sorted(source.parent.glob(f"{source.name}.*"), key=lambda file: int(file.suffix[1:]))
    after = unpack(before, b"".join(piece.read_bytes() for piece in pieces))
    np.savez(target, **{name: values.astype(np.float16) for name, values in after.items()})
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
