"""Average the weights of two students that began as the same model: better than either of them.

::

    python training/reader/average.py build/reader/student.npz build/{first,second}/student.npz 0.3

The last number is the share of the first of the two. The README has the results.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import numpy as np
from weights import whole


def main(arguments: list[str]) -> int:
    """Average."""
    target, first, second = map(Path, arguments[:3])
    share = float(arguments[3])
    one, other = np.load(whole(first)), np.load(whole(second))
    if set(one.files) != set(other.files):
        raise SystemExit(f"{first} and {second} are not of the same kind")
    mixed = {
        name: (
            share * one[name].astype(np.float32) + (1 - share) * other[name].astype(np.float32)
        ).astype(np.float16)
        for name in other.files
    }
    np.savez(target, **mixed)
    sys.stdout.write(f"{target.name} {hashlib.sha256(target.read_bytes()).hexdigest()}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
