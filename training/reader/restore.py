"""Take a reader's weights out of its int8 file, to train on where the last training ended.

::

    python training/reader/restore.py src/deepdiver/encoders/reader_model/model.onnx student.npz

The weights are rounded as the file has them. Training from there undoes it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
from graph import BUCKETS, DISTANCES, MPNET, ON_MPNET, RENAMED, TYPES, buckets, renumbered
from onnx import numpy_helper

sys.path.insert(0, str(Path(__file__).parents[1] / "embeddings"))
from build import MINILM, ZERO, Floats, Size, Weights

PLACES = {MINILM.hidden: 512, MPNET.hidden: 514}
"""Places of the tables by the width of the model; those that no reader uses are not in a file."""
PADDED = 2
"""Places before the first one that MPNet has for padding."""
WORDS = 30_527
"""Words of MPNet: BERT's, and marks of its own."""


class Held:
    """The constants of a model."""

    def __init__(self, file: Path) -> None:
        """Read a file."""
        graph = onnx.load(str(file)).graph
        self.held = {each.name: numpy_helper.to_array(each) for each in graph.initializer}

    def __getitem__(self, name: str) -> Floats:
        return np.asarray(self.held[name], np.float32)

    def __contains__(self, name: str) -> bool:
        return name in self.held

    def matrix(self, name: str) -> Floats:
        """Return a quantised matrix as it was, without what eases its input channels."""
        rows = ((self[f"{name}_codes"] - ZERO) * self[f"{name}_scales"]).T
        return rows * self[f"{name}_ease"] if f"{name}_ease" in self.held else rows

    @property
    def size(self) -> Size:
        """How large the model is."""
        known = MPNET if DISTANCES in self else MINILM
        layers = {name.split(".")[2] for name in self.held if name.startswith("encoder.layer.")}
        return known._replace(layers=len(layers))


def looking(held: Held, name: str, size: Size, last: bool) -> Weights:
    """Return query, key and value of a layer; the last one has its query apart."""
    if last:
        weight = np.concatenate([held.matrix(f"{name}.query"), held.matrix(name)])
        bias = np.concatenate([held[f"{name}.query_bias"], held[f"{name}_bias"]])
    else:
        weight, bias = held.matrix(name), held[f"{name}_bias"]
    made: Weights = {}
    for place, part in enumerate(("query", "key", "value")):
        rows = slice(place * size.hidden, (place + 1) * size.hidden)
        factor = np.float32(1 / size.shrink if part == "query" else 1.0)
        made[f"{name}.{part}.weight"] = weight[rows] * factor
        made[f"{name}.{part}.bias"] = bias[rows] * factor
    return made


def restored(held: Held) -> Weights:
    """Return the weights under the names that `train.py` saves them with."""
    size = held.size
    norms = ["embeddings.LayerNorm"]
    inner: Weights = {
        "embeddings.word_embeddings.weight": (held["words"] - ZERO) * held["word_scales"],
        "embeddings.position_embeddings.weight": held["places"],
    }
    for layer in range(size.layers):
        name = f"encoder.layer.{layer}"
        inner |= looking(held, f"{name}.attention.self", size, layer == size.layers - 1)
        for part in ("attention.output", "intermediate", "output"):
            inner[f"{name}.{part}.dense.weight"] = held.matrix(f"{name}.{part}")
            inner[f"{name}.{part}.dense.bias"] = held[f"{name}.{part}_bias"]
        norms += [f"{name}.attention.output.LayerNorm", f"{name}.output.LayerNorm"]
    for name in norms:
        inner |= {f"{name}.{part}": held[f"{name}_{part}"] for part in ("weight", "bias")}
    inner |= _on_mpnet(held, inner) if size.hidden == MPNET.hidden else {TYPES: held["kinds"]}
    places = inner["embeddings.position_embeddings.weight"]
    padding = np.zeros((PLACES[size.hidden] - len(places), size.hidden), np.float32)
    inner["embeddings.position_embeddings.weight"] = np.concatenate([places, padding])
    made = {f"encoder.{_named(name, size)}": values for name, values in inner.items()}
    made |= {"pool.weight": held.matrix("pool"), "pool.bias": held["pool_bias"]}
    for head in ("verify", "relevance", "span"):
        made |= {f"{head}.weight": held[f"{head}_matrix"].T, f"{head}.bias": held[f"{head}_bias"]}
    return made


def _on_mpnet(held: Held, inner: Weights) -> Weights:
    """Return the tables that MPNet orders in its own way: words, places, distances."""
    words = np.zeros((WORDS, MPNET.hidden), np.float32)
    words[renumbered(WORDS)] = inner["embeddings.word_embeddings.weight"]
    places = inner["embeddings.position_embeddings.weight"]
    near = np.zeros((BUCKETS, MPNET.heads), np.float32)
    near[buckets()] = held[DISTANCES].T
    return {
        "embeddings.word_embeddings.weight": words,
        "embeddings.position_embeddings.weight": np.pad(places, ((PADDED, 0), (0, 0))),
        ON_MPNET.removeprefix("encoder."): near,
    }


def _named(name: str, size: Size) -> str:
    """Return a weight's name in its own model."""
    if size.hidden == MPNET.hidden:
        for own, other in RENAMED:
            name = name.replace(other, own)
    return name


def main(arguments: list[str]) -> int:
    """Restore."""
    source, target = map(Path, arguments)
    made = restored(Held(source))
    np.savez(target, **{name: values.astype(np.float16) for name, values in made.items()})
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
