"""Vectors that come with deepdiver.

Those of the sample library, so that the demo answers at once on any machine.

A row is the hash of what was embedded and its vector, as a table of vectors holds it. `python -m
deepdiver.tools.library.ready` makes the file anew when the sample has changed; a test says when
that is due.
"""

from __future__ import annotations

import functools
import hashlib
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from deepdiver.encoders import DIMENSION

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vector = npt.NDArray[np.float32]

FILE = Path(__file__).parent / "sample.vectors"
HASH = 16
"""Bytes of a hash that are kept."""
STEPS = 127
"""Steps from 0 to the largest number of a vector, as in a table of vectors: what is read is entered
without loss."""


def mark(text: str) -> bytes:
    """Return by what a text is known."""
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()[:HASH]


@functools.cache
def vectors() -> dict[bytes, Vector]:
    """Return the vectors that come with deepdiver, by the mark of what was embedded."""
    import numpy as np

    rows = np.frombuffer(FILE.read_bytes(), np.uint8).reshape(-1, HASH + 4 + DIMENSION)
    steps = np.ascontiguousarray(rows[:, HASH : HASH + 4]).view("<f4")
    numbers = rows[:, HASH + 4 :].view(np.int8).astype(np.float32) * steps
    return {row[:HASH].tobytes(): vector for row, vector in zip(rows, numbers, strict=True)}


def write(texts: Iterable[str], file: Path = FILE) -> int:
    """Embed texts and keep their vectors; returns how many there are."""
    import numpy as np

    from deepdiver.encoders import load_embedder

    listed = sorted(set(texts))
    made = load_embedder().embed(listed).astype(np.float64)
    steps = (np.abs(made).max(axis=1) / STEPS).astype("<f4")
    numbers = np.rint(made / steps[:, None].astype(np.float64)).astype(np.int8)
    file.write_bytes(
        b"".join(
            mark(text) + steps[at].tobytes() + numbers[at].tobytes()
            for at, text in enumerate(listed)
        )
    )
    return len(listed)


def main() -> int:
    """Make the file anew."""
    import tempfile

    from deepdiver import sample
    from deepdiver.tools.library.local import LocalLibrary

    with tempfile.TemporaryDirectory() as folder:
        library = LocalLibrary(Path(folder))
        library.refresh([sample.LIBRARY])
        made = write(library.embeddable())
        library.close()
    sys.stdout.write(f"{made} vectors in {FILE}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
