"""Sentences as vectors: all-MiniLM-L6-v2 in int8 through onnxruntime.

One text has one vector, bit for bit, whatever it is embedded beside: the graph quantises each token by itself, and
texts share a batch only with texts of exactly their length, so nothing is ever padded.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deepdiver.errors import DamagedStoreError, StoreAccessError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from tokenizers import Tokenizer

DIMENSION = 384
"""The length of every vector."""

MAX_TOKENS = 256
"""What the model was made for, the two marks at the ends included; the rest of a longer text is not looked at."""

MAX_CHARACTERS = 64 * MAX_TOKENS
"""What is given to the tokenizer: 256 tokens of English are some 1,200 characters, and a page may have millions."""

BATCH_TOKENS = 1_024
"""Tokens in one run of the graph: fewer leave the cores idle, more fall out of their caches."""

FOLDER = Path(__file__).parent / "minilm"
"""The model file, its tokenizer, and a README that says where both come from."""


class Embedder:
    """Turns texts into unit vectors; safe to share between threads. The files are read at the first call."""

    def __init__(self, folder: Path = FOLDER, *, intra_op: int = 0) -> None:
        """Say what to use.

        Args:
            folder: Where model.onnx and tokenizer.json are.
            intra_op: Threads that one call may use; 0 is one for each core.
        """
        self._folder = folder
        self._intra_op = intra_op
        self._loading = threading.Lock()
        self._loaded: tuple[Tokenizer, Any] | None = None

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return one unit vector for each text, in their order."""
        import numpy as np

        tokenizer, session = self._load()
        found = tokenizer.encode_batch([_readable(text) for text in texts])
        vectors = np.empty((len(texts), DIMENSION), np.float32)
        for rows in _batches([len(one.ids) for one in found]):
            ids = np.array([found[row].ids for row in rows], np.int64)
            (vectors[rows],) = session.run(None, {"ids": ids})
        return vectors

    def _load(self) -> tuple[Tokenizer, Any]:
        with self._loading:
            if self._loaded is None:
                self._loaded = (_tokenizer(self._folder / "tokenizer.json"), self._session())
            return self._loaded

    def _session(self) -> Any:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self._intra_op
        return onnxruntime.InferenceSession(_read(self._folder / "model.onnx"), options, ["CPUExecutionProvider"])


@cache
def embedder() -> Embedder:
    """Return the process's one embedder."""
    return Embedder()


def _readable(text: str) -> str:
    """Return as much of a text as can matter, without lone surrogates, which the tokenizer cannot take."""
    return text[:MAX_CHARACTERS].encode("utf-8", "replace").decode("utf-8")


def _batches(lengths: Sequence[int]) -> list[list[int]]:
    """Group the numbers of texts so that a group has one length and at most BATCH_TOKENS tokens, or one text."""
    groups: dict[int, list[int]] = {}
    for row, length in enumerate(lengths):
        groups.setdefault(length, []).append(row)
    made = []
    for length, rows in groups.items():
        size = max(1, BATCH_TOKENS // length)
        made += [rows[at : at + size] for at in range(0, len(rows), size)]
    return made


def _tokenizer(file: Path) -> Tokenizer:
    from tokenizers import Tokenizer

    made = Tokenizer.from_str(_read(file).decode("utf-8"))
    made.no_padding()
    made.enable_truncation(MAX_TOKENS)
    return made


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        why = error.strerror or str(error)
        raise StoreAccessError(f"{file} cannot be read ({why}): install deepdiver again, it comes with it") from error
