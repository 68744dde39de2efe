"""The reader as an ONNX graph, in float32 or int8, from parts of `training/embeddings/build.py`.

Verdict and relevance are read off the first token, so the last layer is computed only for as many
tokens as are `kept`: one for these two, all for spans. The others are still attended to. This saves
a seventh of the work.

The largest costs (8 pairs of 128 tokens, one core of Neoverse N1) are multiplications of bytes 43
%, Gelu 13 %, attention's own multiplications 10 %, layer norms 9 %. `FusedGraph` computes the same
with onnxruntime's own nodes, 1.2 times as fast; but its different rounding changes 3 of 800
held-out verdicts (int8 and float32 differ in 4). So a model can use it once its figures are
measured again.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper
from weights import whole

sys.path.insert(0, str(Path(__file__).parents[1] / "embeddings"))
from build import (
    IR,
    LEAST,
    MINILM,
    OPSET,
    STEPS,
    TOKENS,
    ZERO,
    Eases,
    Floats,
    Graph,
    Size,
    Weights,
    dense,
    ease,
    looking,
    quantise,
)

__all__ = [
    "FloatGraph",
    "FusedGraph",
    "ReaderGraph",
    "build",
    "ease",
    "eased",
    "read_weights",
    "size_of",
]

OWN = "com.microsoft"
"""The domain of onnxruntime's own nodes."""
MPNET = Size(12, 12, 768, 1e-5)
"""The size of all-mpnet-base-v2; the close reader has fewer layers."""
ON_MPNET = "encoder.encoder.relative_attention_bias.weight"
TYPES = "embeddings.token_type_embeddings.weight"
DISTANCES = "distances"
"""The name under which `as_bert` leaves what a head adds by distance."""
BUCKETS, FARTHEST = 32, 128
"""How many distances MPNet tells apart, and from which on all are the same."""
RENAMED = (
    ("attention.attn.q.", "attention.self.query."),
    ("attention.attn.k.", "attention.self.key."),
    ("attention.attn.v.", "attention.self.value."),
    ("attention.attn.o.", "attention.output.dense."),
    ("attention.LayerNorm.", "attention.output.LayerNorm."),
)
"""MPNet's names, and BERT's for the same."""


class ReaderGraph(Graph):
    """An int8 graph of the reader."""

    def __init__(self, size: Size = MINILM) -> None:
        """Start empty."""
        super().__init__(size)
        self.pairs = ""
        self.near = ""

    def embeddings(self, weights: Weights) -> str:
        """Look up tokens, positions and types; return one row for each token of the batch."""
        codes, scales = quantise(weights["embeddings.word_embeddings.weight"])
        words = self.add("Cast", self.add("Gather", self.constant("words", codes), "ids"), to=1)
        words = self.add("Sub", words, self.constant("zero_float", np.float32(128)))
        words = self.add(
            "Mul", words, self.add("Gather", self.constant("word_scales", scales[:, None]), "ids")
        )
        return self.placed(words, weights)

    def placed(self, words: str, weights: Weights) -> str:
        """Add positions and types to words, and normalise."""
        length = self.add("Shape", "ids", start=1, end=2)
        places = weights["embeddings.position_embeddings.weight"][:TOKENS]
        place = self.add(
            "Slice", self.constant("places", places), self.shape(0), length, self.shape(0)
        )
        rows = self.add("Add", words, place)
        if TYPES in weights:
            rows = self.add(
                "Add", rows, self.add("Gather", self.constant("kinds", weights[TYPES]), "types")
            )
        if DISTANCES in weights:
            self.near = self.by_distance(weights[DISTANCES], length)
        return self.norm(
            self.add("Reshape", rows, self.shape(-1, self.size.hidden)),
            weights,
            "embeddings.LayerNorm",
        )

    def by_distance(self, table: Floats, length: str) -> str:
        """Return what each head adds to the attention between two places, for all pairs of places.

        Args:
            table: The addition of each head for each distance, from the farthest before a token to
                the farthest behind it.
            length: The number of places.
        """
        places = np.arange(TOKENS)
        apart = (places[None] - places[:, None] + TOKENS - 1).astype(np.int32)
        both = self.add("Concat", length, length, axis=0)
        apart = self.add("Slice", self.constant("apart", apart), self.shape(0, 0), both)
        found = self.add("Gather", self.constant("distances", table), apart, axis=1)
        return self.add("Unsqueeze", found, self.shape(0))

    def near_of(self, asking: bool) -> str:
        """Return `by_distance` for the tokens that attend; empty if the model has none."""
        if not asking or not self.near:
            return self.near
        return self.add("Slice", self.near, self.shape(0), "kept", self.shape(2))

    def attention(
        self, given: str, weights: Weights, name: str, eases: Eases, asking: str = ""
    ) -> str:
        """Let tokens attend to each other: all of them, or only those that are given."""
        inner, outer = f"{name}.attention.self", f"{name}.attention.output"
        (weight, bias), shrunk = looking(weights, inner, self.size), eases[inner]
        wide = self.size.hidden
        if asking:
            query = self.linear(asking, f"{inner}.query", (weight[:wide], bias[:wide]), shrunk)
            key, value = self.split(
                self.linear(given, inner, (weight[wide:], bias[wide:]), shrunk), 2
            )
        else:
            query, key, value = self.split(self.linear(given, inner, (weight, bias), shrunk), 3)
        seen = self.look(query, key, value, self.near_of(bool(asking)))
        rows = self.add("Reshape", seen, self.shape(-1, wide))
        rows = self.linear(rows, outer, dense(weights, outer))
        return self.norm(self.add("Add", rows, asking or given), weights, f"{outer}.LayerNorm")

    def look(self, query: str, key: str, value: str, near: str) -> str:
        """Return the result of attention, by pair, token and head."""
        heads = self.size.heads
        query, key, value = (
            self.add("Transpose", self.by_pair(rows, heads, self.size.hidden // heads), perm=order)
            for rows, order in ((query, [0, 2, 1, 3]), (key, [0, 2, 3, 1]), (value, [0, 2, 1, 3]))
        )
        looks = self.add("MatMul", query, key)
        looks = self.add("Add", looks, near) if near else looks
        seen = self.add("MatMul", self.add("Softmax", looks, axis=-1), value)
        return self.add("Transpose", seen, perm=[0, 2, 1, 3])

    def split(self, rows: str, parts: int) -> list[str]:
        """Cut rows into parts of the same width."""
        names = [f"part_{part}_{len(self.nodes)}" for part in range(parts)]
        self.nodes.append(helper.make_node("Split", [rows], names, axis=1, num_outputs=parts))
        return names

    def by_pair(self, rows: str, *sizes: int) -> str:
        """Return rows of tokens by pair, as many of each pair as there are."""
        self.pairs = self.pairs or self.add("Shape", "ids", start=0, end=1)
        return self.add(
            "Reshape", rows, self.add("Concat", self.pairs, self.shape(-1, *sizes), axis=0)
        )

    def first(self, rows: str) -> str:
        """Return the rows of each pair's first tokens, as many as are kept."""
        kept = self.add(
            "Slice", self.by_pair(rows, self.size.hidden), self.shape(0), "kept", self.shape(1)
        )
        return self.add("Reshape", kept, self.shape(-1, self.size.hidden))

    def exact(self, given: str, name: str, weights: Weights) -> str:
        """Multiply by a matrix in float32."""
        product = self.add(
            "MatMul", given, self.constant(f"{name}_matrix", weights[f"{name}.weight"].T)
        )
        return self.add("Add", product, self.constant(f"{name}_bias", weights[f"{name}.bias"]))


class FloatGraph(ReaderGraph):
    """The same in float32; it also returns how large the channels grow before eased matrices."""

    def __init__(self, size: Size = MINILM) -> None:
        """Start empty."""
        super().__init__(size)
        self.watched: dict[str, str] = {}

    def shape(self, *sizes: int) -> str:
        """Add a shape as a constant; here a node is already called shape_1."""
        return self.constant("sizes_" + "_".join(map(str, sizes)), np.array(sizes, np.int64))

    def embeddings(self, weights: Weights) -> str:
        """Look up the tokens."""
        table = self.constant("words", weights["embeddings.word_embeddings.weight"])
        return self.placed(self.add("Gather", table, "ids"), weights)

    def linear(
        self, given: str, name: str, matrix: tuple[Floats, Floats], ease: Floats | None = None
    ) -> str:
        """Multiply rows by a matrix."""
        weight, bias = matrix
        if name in eased(self.size):
            self.watched[name] = self.add(
                "ReduceMax", self.add("Abs", given), self.shape(0), keepdims=0
            )
        product = self.add(
            "MatMul", given, self.constant(f"{name}_matrix", np.ascontiguousarray(weight.T))
        )
        return self.add("Add", product, self.constant(f"{name}_bias", bias))


class FusedGraph(ReaderGraph):
    """The int8 graph with nodes that do several steps at once."""

    def product(self, given: str, name: str, weight: Floats, ease: Floats | None) -> str:
        """Multiply rows by an int8 matrix; integers become floats while they are added up."""
        if ease is not None:
            given, weight = (
                self.add("Mul", given, self.constant(f"{name}_ease", 1 / ease)),
                weight * ease,
            )
        codes, scales = quantise(weight)
        largest = self.add("ReduceMax", self.add("Abs", given), self.shape(1), keepdims=0)
        largest = self.add("Max", largest, self.constant("least", np.float32(LEAST)))
        step = self.add("Div", largest, self.constant("steps", np.float32(STEPS)))
        zeros = self.add(
            "ConstantOfShape", self.add("Shape", step), value=helper.make_tensor("", 2, [1], [ZERO])
        )
        bytes_ = self.add("QuantizeLinear", given, step, zeros, axis=0)
        zero, one = self.constant("zero", np.uint8(ZERO)), self.constant("one", np.float32(1))
        matrix, scale = (
            self.constant(f"{name}_codes", codes.T),
            self.constant(f"{name}_scales", scales),
        )
        rows = self.add("MatMulIntegerToFloat", bytes_, matrix, one, scale, zero, zero, domain=OWN)
        return self.add("Mul", rows, self.add("Unsqueeze", step, self.shape(1)))

    def linear(
        self, given: str, name: str, matrix: tuple[Floats, Floats], ease: Floats | None = None
    ) -> str:
        """Multiply rows by a matrix."""
        weight, bias = matrix
        return self.add(
            "Add", self.product(given, name, weight, ease), self.constant(f"{name}_bias", bias)
        )

    def norm(self, given: str, weights: Weights, name: str) -> str:
        """Normalise rows as if each were an image of one colour.

        That node is vectorised; a layer norm's is not.
        """
        one, zero = (
            self.constant("ones", np.ones(1, np.float32)),
            self.constant("zeros", np.zeros(1, np.float32)),
        )
        even = self.add(
            "InstanceNormalization",
            self.add("Unsqueeze", given, self.shape(1)),
            one,
            zero,
            epsilon=self.size.epsilon,
        )
        scale, bias = (
            self.constant(f"{name}_{part}", weights[f"{name}.{part}"])
            for part in ("weight", "bias")
        )
        return self.add(
            "Add", self.add("Mul", self.add("Squeeze", even, self.shape(1)), scale), bias
        )

    def look(self, query: str, key: str, value: str, near: str) -> str:
        """Return the result of attention."""
        rows = [self.by_pair(part, self.size.hidden) for part in (query, key, value)]
        if near:
            # Between them are a bias and a mask that there are not.
            rows += ["", "", near]
        return self.add(
            "MultiHeadAttention", *rows, domain=OWN, num_heads=self.size.heads, scale=1.0
        )

    def forward(self, given: str, weights: Weights, name: str, eases: Eases) -> str:
        """Apply the feed-forward layer, with Gelu by tanh.

        It is at most 5e-4 from the exact one, at half its cost.
        """
        inner, outer = f"{name}.intermediate", f"{name}.output"
        weight, bias = dense(weights, inner)
        rows = self.product(given, inner, weight, eases[inner])
        wide = self.add("FastGelu", rows, self.constant(f"{inner}_bias", bias), domain=OWN)
        return self.norm(
            self.add("Add", self.linear(wide, outer, dense(weights, outer)), given),
            weights,
            f"{outer}.LayerNorm",
        )


def build(graph: ReaderGraph, weights: Weights, eases: Eases) -> bytes:
    """Return a model: ids and types of pairs of one length in, results for the kept tokens out."""
    encoder = {name.removeprefix("encoder."): values for name, values in weights.items()}
    rows = graph.embeddings(encoder)
    last = graph.size.layers - 1
    for layer in range(graph.size.layers):
        asking = graph.first(rows) if layer == last else ""
        rows = graph.attention(rows, encoder, f"encoder.layer.{layer}", eases, asking)
        rows = graph.forward(rows, encoder, f"encoder.layer.{layer}", eases)
    pairs = graph.by_pair(rows, graph.size.hidden)
    first = graph.add("Gather", pairs, graph.constant("at_0", np.int64(0)), axis=1)
    pooled = graph.add(
        "Tanh", graph.linear(first, "pool", (weights["pool.weight"], weights["pool.bias"]))
    )
    made = {
        "verdict": graph.exact(pooled, "verify", weights),
        "relevance": graph.exact(pooled, "relevance", weights),
        "spans": graph.exact(pairs, "span", weights),
    }
    shapes = {"verdict": ["pairs", 3], "relevance": ["pairs", 1], "spans": ["pairs", "kept", 2]}
    outputs = []
    for name, held in made.items():
        graph.nodes.append(helper.make_node("Identity", [held], [name]))
        outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shapes[name]))
    for name, held in getattr(graph, "watched", {}).items():
        graph.nodes.append(helper.make_node("Identity", [held], [f"largest:{name}"]))
        outputs.append(
            helper.make_tensor_value_info(f"largest:{name}", TensorProto.FLOAT, [graph.size.hidden])
        )
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["pairs", "tokens"])
        for name in ("ids", "types")
    ]
    inputs.append(helper.make_tensor_value_info("kept", TensorProto.INT64, [1]))
    nodes = helper.make_graph(
        graph.nodes, "reader", inputs, outputs, list(graph.constants.values())
    )
    domains = [
        helper.make_opsetid("", OPSET),
        *([helper.make_opsetid(OWN, 1)] if isinstance(graph, FusedGraph) else []),
    ]
    model = helper.make_model(nodes, opset_imports=domains, ir_version=IR)
    model.producer_name = "deepdiver"
    onnx.checker.check_model(model, full_check=True)
    return bytes(model.SerializeToString(deterministic=True))


def eased(size: Size) -> list[str]:
    """Return the names of the matrices that are eased."""
    return [
        f"encoder.layer.{layer}.{part}"
        for layer in range(size.layers)
        for part in ("attention.self", "intermediate")
    ]


def as_bert(weights: Weights) -> Weights:
    """Return the weights of a reader on MPNet under the names and token numbers of BERT's."""
    made: Weights = {}
    for name, values in weights.items():
        for own, other in RENAMED:
            name = name.replace(own, other)
        made[name] = values
    words = made["encoder.embeddings.word_embeddings.weight"]
    made["encoder.embeddings.word_embeddings.weight"] = words[renumbered(len(words))]
    places = made["encoder.embeddings.position_embeddings.weight"]
    # The first two places are for padding.
    made["encoder.embeddings.position_embeddings.weight"] = places[2:]
    table = made.pop(ON_MPNET)
    made[f"encoder.{DISTANCES}"] = np.ascontiguousarray(table[buckets()].T)
    return made


def renumbered(words: int) -> npt.NDArray[np.int64]:
    """Return MPNet's number for each of BERT's tokens.

    Args:
        words: How many tokens MPNet has; five are its own.
    """
    numbers = np.arange(words - 5, dtype=np.int64) + 4
    numbers[[0, 100, 101, 102]] = 1, 3, 0, 2
    return numbers


def buckets() -> npt.NDArray[np.int64]:
    """Return MPNet's number for each distance, from the farthest before a token on."""
    apart = np.arange(-TOKENS + 1, TOKENS)
    half = BUCKETS // 2
    size, exact = np.abs(apart), half // 2
    far = exact + np.log(np.maximum(size, 1) / exact) / np.log(FARTHEST / exact) * (half - exact)
    near = np.where(size < exact, size, np.minimum(far.astype(np.int64), half - 1))
    return np.asarray(near + half * (apart > 0), np.int64)


def read_weights(file: Path) -> Weights:
    """Return a student's weights as `train.py` saves them, whole or in pieces; names are BERT's."""
    held = np.load(whole(file))
    made = {name: held[name].astype(np.float32) for name in held.files}
    return as_bert(made) if ON_MPNET in made else made


def size_of(weights: Weights) -> Size:
    """Return how large a student is."""
    layers = {name.split(".")[3] for name in weights if name.startswith("encoder.encoder.layer.")}
    known = MPNET if f"encoder.{DISTANCES}" in weights else MINILM
    return known._replace(layers=len(layers))
