"""Make the file of vectors that comes with deepdiver, after a change to the sample library.

    python -m deepdiver.tools.library.make_sample_vectors

A test fails when the file no longer fits the sample library.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from deepdiver import sample
from deepdiver.encoders import load_embedder
from deepdiver.tools.library.local.library import LocalLibrary
from deepdiver.tools.library.sample_vectors import FILE, key_of

STEPS = 127
"""Steps from 0 to the largest number of a vector. A table of vectors uses as many, so the vectors
can be copied into one without loss."""


def write_sample_vectors(texts: Iterable[str], file: Path = FILE) -> int:
    """Embed texts, write their vectors to a file, and return how many there are."""
    listed = sorted(set(texts))
    made = load_embedder().embed(listed).astype(np.float64)
    steps = (np.abs(made).max(axis=1) / STEPS).astype("<f4")
    numbers = np.rint(made / steps[:, None].astype(np.float64)).astype(np.int8)
    file.write_bytes(
        b"".join(
            key_of(text) + steps[at].tobytes() + numbers[at].tobytes()
            for at, text in enumerate(listed)
        )
    )
    return len(listed)


def main() -> int:
    """Write the vectors of the sample library."""
    with tempfile.TemporaryDirectory() as folder:
        library = LocalLibrary(Path(folder))
        library.refresh([sample.LIBRARY])
        made = write_sample_vectors(library.embeddable())
        library.close()
    sys.stdout.write(f"{made} vectors in {FILE}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
