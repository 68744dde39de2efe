"""Take the student's weights out of the int8 file, to train on where the last training ended.

::

    python training/reader/restore.py src/deepdiver/encoders/reader_model/model.onnx student.npz

The weights are rounded as the file has them. Training from there undoes it.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

sys.path.insert(0, str(Path(__file__).parents[1] / "embeddings"))
from build import HEADS, HIDDEN, LAYERS, ZERO, Floats, Weights

PLACES = 512
"""Places of the student's table; those that the reader never uses are not in the file."""


class Held:
    """The constants of a model."""

    def __init__(self, file: Path) -> None:
        """Read a file."""
        graph = onnx.load(str(file)).graph
        self.held = {each.name: numpy_helper.to_array(each) for each in graph.initializer}

    def __getitem__(self, name: str) -> Floats:
        return np.asarray(self.held[name], np.float32)

    def matrix(self, name: str) -> Floats:
        """Return a quantised matrix as it was, without what eases its input channels."""
        rows = ((self[f"{name}_codes"] - ZERO) * self[f"{name}_scales"]).T
        return rows * self[f"{name}_ease"] if f"{name}_ease" in self.held else rows


def looking(held: Held, name: str, last: bool) -> Weights:
    """Return query, key and value of a layer; the last one has its query apart."""
    if last:
        weight = np.concatenate([held.matrix(f"{name}.query"), held.matrix(name)])
        bias = np.concatenate([held[f"{name}.query_bias"], held[f"{name}_bias"]])
    else:
        weight, bias = held.matrix(name), held[f"{name}_bias"]
    made: Weights = {}
    for place, part in enumerate(("query", "key", "value")):
        rows = slice(place * HIDDEN, (place + 1) * HIDDEN)
        factor = math.sqrt(HIDDEN // HEADS) if part == "query" else 1.0
        made[f"{name}.{part}.weight"] = weight[rows] * np.float32(factor)
        made[f"{name}.{part}.bias"] = bias[rows] * np.float32(factor)
    return made


def restored(held: Held) -> Weights:
    """Return the weights under the names that `train.py` saves them with."""
    norms = ["embeddings.LayerNorm"]
    places = np.zeros((PLACES, HIDDEN), np.float32)
    places[: len(held["places"])] = held["places"]
    inner: Weights = {
        "embeddings.word_embeddings.weight": (held["words"] - ZERO) * held["word_scales"],
        "embeddings.position_embeddings.weight": places,
        "embeddings.token_type_embeddings.weight": held["kinds"],
    }
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        inner |= looking(held, f"{name}.attention.self", layer == LAYERS - 1)
        for part in ("attention.output", "intermediate", "output"):
            inner[f"{name}.{part}.dense.weight"] = held.matrix(f"{name}.{part}")
            inner[f"{name}.{part}.dense.bias"] = held[f"{name}.{part}_bias"]
        norms += [f"{name}.attention.output.LayerNorm", f"{name}.output.LayerNorm"]
    for name in norms:
        inner |= {f"{name}.{part}": held[f"{name}_{part}"] for part in ("weight", "bias")}
    made = {f"encoder.{name}": values for name, values in inner.items()}
    made |= {"pool.weight": held.matrix("pool"), "pool.bias": held["pool_bias"]}
    for head in ("verify", "relevance", "span"):
        made |= {f"{head}.weight": held[f"{head}_matrix"].T, f"{head}.bias": held[f"{head}_bias"]}
    return made


def main(arguments: list[str]) -> int:
    """Restore."""
    source, target = map(Path, arguments)
    made = restored(Held(source))
    np.savez(target, **{name: values.astype(np.float16) for name, values in made.items()})
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
