"""The vectors of the sample library, which come with deepdiver so that the demo answers at once.

A row of the file is the key of the embedded text, then its vector as a table of vectors stores it.
`make_sample_vectors` writes the file.
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
"""The length of a key: the first bytes of a SHA-256 hash."""


def key_of(text: str) -> bytes:
    """Return the key under which the vector of a text is kept."""
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()[:KEY_BYTES]


@functools.cache
def load_sample_vectors() -> dict[bytes, Vector]:
    """Return the vectors that come with deepdiver, by the keys of their texts."""
    import numpy as np

    rows = np.frombuffer(FILE.read_bytes(), np.uint8).reshape(-1, KEY_BYTES + 4 + DIMENSION)
    steps = np.ascontiguousarray(rows[:, KEY_BYTES : KEY_BYTES + 4]).view("<f4")
    numbers = rows[:, KEY_BYTES + 4 :].view(np.int8).astype(np.float32) * steps
    return {row[:KEY_BYTES].tobytes(): vector for row, vector in zip(rows, numbers, strict=True)}
