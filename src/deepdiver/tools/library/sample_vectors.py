"""Vectors that come with deepdiver.

Those of the sample library, so that the demo answers at once on any machine.

A row is the hash of what was embedded and its vector, as a table of vectors holds it. `python -m
deepdiver.tools.library.ready` makes the file anew when the sample has changed; a test says when
that is due.
"""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from deepdiver.encoders import DIMENSION

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vector = npt.NDArray[np.float32]

FILE = Path(__file__).parent / "sample.vectors"
KEY_BYTES = 16
"""Bytes of a hash that are kept."""


def key_of(text: str) -> bytes:
    """Return by what a text is known."""
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()[:KEY_BYTES]


@functools.cache
def load_sample_vectors() -> dict[bytes, Vector]:
    """Return the vectors that come with deepdiver, by the mark of what was embedded."""
    import numpy as np

    rows = np.frombuffer(FILE.read_bytes(), np.uint8).reshape(-1, KEY_BYTES + 4 + DIMENSION)
    steps = np.ascontiguousarray(rows[:, KEY_BYTES : KEY_BYTES + 4]).view("<f4")
    numbers = rows[:, KEY_BYTES + 4 :].view(np.int8).astype(np.float32) * steps
    return {row[:KEY_BYTES].tobytes(): vector for row, vector in zip(rows, numbers, strict=True)}
