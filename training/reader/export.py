"""Write the student as an ONNX file in float32, the reference for the int8 file.

::

    python training/reader/export.py build/reader/student.npz build/reader/reader.float32.onnx
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import graph
import numpy as np


def main(arguments: list[str]) -> int:
    """Export."""
    source, target = map(Path, arguments)
    weights = graph.read_weights(source)
    size = graph.size_of(weights)
    none = {name: np.ones(size.hidden, np.float32) for name in graph.eased(size)}
    data = graph.build(graph.FloatGraph(size), weights, none)
    target.write_bytes(data)
    sys.stdout.write(f"{target.name} {len(data):,} {hashlib.sha256(data).hexdigest()}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
