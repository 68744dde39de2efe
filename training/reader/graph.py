"""The reader as an ONNX graph, in float32 or in int8, built with the parts of `training/embeddings/build.py`."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

sys.path.insert(0, str(Path(__file__).parents[1] / "embeddings"))
from build import HEADS, HIDDEN, IR, LAYERS, OPSET, TOKENS, Eases, Floats, Graph, Weights, ease, quantise

__all__ = ["HIDDEN", "FloatGraph", "ReaderGraph", "build", "ease", "eased", "read_weights"]


class ReaderGraph(Graph):
    """An int8 graph of the reader."""

    def embeddings(self, weights: Weights) -> str:
        """Look tokens, places and types up; returns one row for each token of the batch."""
        codes, scales = quantise(weights["embeddings.word_embeddings.weight"])
        words = self.add("Cast", self.add("Gather", self.constant("words", codes), "ids"), to=1)
        words = self.add("Sub", words, self.constant("zero_float", np.float32(128)))
        words = self.add("Mul", words, self.add("Gather", self.constant("word_scales", scales[:, None]), "ids"))
        return self.placed(words, weights)

    def placed(self, words: str, weights: Weights) -> str:
        """Add places and types to words, and normalise."""
        length = self.add("Shape", "ids", start=1, end=2)
        places = weights["embeddings.position_embeddings.weight"][:TOKENS]
        place = self.add("Slice", self.constant("places", places), self.shape(0), length, self.shape(0))
        kinds = self.constant("kinds", weights["embeddings.token_type_embeddings.weight"])
        rows = self.add("Add", self.add("Add", words, place), self.add("Gather", kinds, "types"))
        return self.norm(self.add("Reshape", rows, self.shape(-1, HIDDEN)), weights, "embeddings.LayerNorm")

    def exact(self, given: str, name: str, weights: Weights) -> str:
        """Multiply with a matrix in float32."""
        product = self.add("MatMul", given, self.constant(f"{name}_matrix", weights[f"{name}.weight"].T))
        return self.add("Add", product, self.constant(f"{name}_bias", weights[f"{name}.bias"]))


class FloatGraph(ReaderGraph):
    """The same in float32; it also tells how large the channels grow in front of the matrices that are eased."""

    def __init__(self) -> None:
        """Start empty."""
        super().__init__()
        self.watched: dict[str, str] = {}

    def embeddings(self, weights: Weights) -> str:
        """Look the tokens up."""
        table = self.constant("words", weights["embeddings.word_embeddings.weight"])
        return self.placed(self.add("Gather", table, "ids"), weights)

    def linear(self, given: str, name: str, matrix: tuple[Floats, Floats], ease: Floats | None = None) -> str:
        """Multiply rows with a matrix."""
        weight, bias = matrix
        if ease is not None:
            self.watched[name] = self.add("ReduceMax", self.add("Abs", given), self.shape(0), keepdims=0)
        product = self.add("MatMul", given, self.constant(f"{name}_matrix", np.ascontiguousarray(weight.T)))
        return self.add("Add", product, self.constant(f"{name}_bias", bias))


def build(graph: ReaderGraph, weights: Weights, eases: Eases) -> bytes:
    """Return a model: ids and types of pairs of one length in; verdict, relevance and spans out."""
    encoder = {name.removeprefix("encoder."): values for name, values in weights.items()}
    rows = graph.embeddings(encoder)
    batch = graph.add("Shape", "ids", start=0, end=2)
    split = graph.add("Concat", batch, graph.shape(3, HEADS, HIDDEN // HEADS), axis=0)
    for layer in range(LAYERS):
        rows = graph.attention(rows, encoder, f"encoder.layer.{layer}", eases, split)
        rows = graph.forward(rows, encoder, f"encoder.layer.{layer}", eases)
    pairs = graph.add("Reshape", rows, graph.add("Concat", batch, graph.shape(HIDDEN), axis=0))
    first = graph.add("Gather", pairs, graph.constant("at_0", np.int64(0)), axis=1)
    pooled = graph.add("Tanh", graph.linear(first, "pool", (weights["pool.weight"], weights["pool.bias"])))
    made = {
        "verdict": graph.exact(pooled, "verify", weights),
        "relevance": graph.exact(pooled, "relevance", weights),
        "spans": graph.exact(pairs, "span", weights),
    }
    shapes = {"verdict": ["pairs", 3], "relevance": ["pairs", 1], "spans": ["pairs", "tokens", 2]}
    outputs = []
    for name, held in made.items():
        graph.nodes.append(helper.make_node("Identity", [held], [name]))
        outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shapes[name]))
    for name, held in getattr(graph, "watched", {}).items():
        graph.nodes.append(helper.make_node("Identity", [held], [f"largest:{name}"]))
        outputs.append(helper.make_tensor_value_info(f"largest:{name}", TensorProto.FLOAT, [HIDDEN]))
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["pairs", "tokens"]) for name in ("ids", "types")]
    whole = helper.make_graph(graph.nodes, "reader", inputs, outputs, list(graph.constants.values()))
    model = helper.make_model(whole, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR)
    model.producer_name = "deepdiver"
    onnx.checker.check_model(model, full_check=True)
    return bytes(model.SerializeToString(deterministic=True))


def eased() -> list[str]:
    """Return the names of the matrices that are eased."""
    return [f"encoder.layer.{layer}.{part}" for layer in range(LAYERS) for part in ("attention.self", "intermediate")]


def read_weights(file: Path) -> Weights:
    """Return the student's weights as `train.py` saves them."""
    held = np.load(file)
    return {name: held[name].astype(np.float32) for name in held.files}
