"""Make the int8 file of the reader, and measure how far it agrees with float32.

::

    python training/reader/quantise.py build/reader [--fused] [--close]

It reads `student.npz`, `reader.float32.onnx` and `held.jsonl.xz`, and writes
`src/deepdiver/encoders/reader_model/model.onnx`; `--close` reads `close.npz` and
`close.float32.onnx` and writes `close_reader_model/model.onnx`. Weights are quantised by output
channel and activations by token, as in the embeddings. How large the channels grow (see `Eases`
there) is measured on 300 held-out pairs; agreement and temperature are computed on 800 others.
`--fused` takes the faster graph (see `graph.py`), whose results differ a little: measure its
figures again.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import random
import sys
from pathlib import Path
from typing import Any

import graph
import numpy as np
import numpy.typing as npt
import onnxruntime
from tokenizers import Tokenizer

ENCODERS = Path(__file__).parents[2] / "src" / "deepdiver" / "encoders"
SEED = 7
SEEN, COUNTED = 300, 800


def pairs(file: Path) -> list[list[Any]]:
    """Return held-out pairs whose label has three ways or two, shuffled."""
    lines = lzma.decompress(file.read_bytes()).decode().rstrip("\n").split("\n")
    found = [row for row in map(json.loads, lines) if row[0] == "v" and not row[4]]
    random.Random(SEED).shuffle(found)  # noqa: S311
    return found[: SEEN + COUNTED]


class Runner:
    """Runs a model over pairs, one at a time."""

    def __init__(self, model: bytes) -> None:
        """Load it."""
        self.session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
        self.names = [output.name for output in self.session.get_outputs()]
        self.tokenizer = Tokenizer.from_file(str(ENCODERS / "minilm" / "tokenizer.json"))

    def run(self, row: list[Any]) -> dict[str, npt.NDArray[np.float32]]:
        """Return all outputs for a pair."""
        found = self.tokenizer.encode(row[1], row[2])
        given = {
            "ids": np.array([found.ids]),
            "types": np.array([found.type_ids]),
            "kept": np.array([len(found.ids)]),
        }
        return dict(zip(self.names, self.session.run(None, given), strict=True))


def temperature(logits: npt.NDArray[np.float32], labels: npt.NDArray[np.int64]) -> float:
    """Return the divisor of the logits that makes the labels most likely."""

    def cost(by: float) -> float:
        scaled = logits / by
        likely = (
            scaled
            - np.log(np.exp(scaled - scaled.max(1, keepdims=True)).sum(1, keepdims=True))
            - scaled.max(1, keepdims=True)
        )
        return -float(likely[np.arange(len(labels)), labels].mean())

    return min(np.arange(0.5, 3.0, 0.02), key=cost)


def main(arguments: list[str]) -> int:
    """Quantise."""
    folder = Path(arguments[0])
    rows = pairs(folder / "held.jsonl.xz")
    close = "--close" in arguments[1:]
    name = "close" if close else "reader"
    exact = Runner((folder / f"{name}.float32.onnx").read_bytes())
    largest: dict[str, npt.NDArray[np.float32]] = {}
    for row in rows[:SEEN]:
        for name, values in exact.run(row).items():
            if name.startswith("largest:"):
                key = name.removeprefix("largest:")
                largest[key] = np.maximum(largest.get(key, values), values)
    weights = graph.read_weights(folder / ("close.npz" if close else "student.npz"))
    size = graph.size_of(weights)
    encoder = {name.removeprefix("encoder."): values for name, values in weights.items()}
    eases = {name: graph.ease(encoder, name, values, size) for name, values in largest.items()}
    kind = graph.FusedGraph if "--fused" in arguments[1:] else graph.ReaderGraph
    data = graph.build(kind(size), weights, eases)
    target = ENCODERS / ("close_reader_model" if close else "reader_model") / "model.onnx"
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(data)
    small = Runner(data)
    said = np.array([[run.run(row)["verdict"][0] for run in (exact, small)] for row in rows[SEEN:]])
    labels = np.array([row[3] for row in rows[SEEN:]])
    found = {
        "bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
        "agreement": float((said[:, 0].argmax(1) == said[:, 1].argmax(1)).mean()),
        "right float32": float((said[:, 0].argmax(1) == labels).mean()),
        "right int8": float((said[:, 1].argmax(1) == labels).mean()),
        "temperature": float(temperature(said[:, 1], labels)),
    }
    sys.stdout.write(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
