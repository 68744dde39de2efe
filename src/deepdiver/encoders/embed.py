"""Sentences as vectors: all-MiniLM-L6-v2 in int8 through onnxruntime.

One text has one vector, bit for bit, whatever it is embedded beside: the graph quantises each token
by itself, and texts share a batch only with texts of exactly their length, so nothing is ever
padded.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deepdiver.encoders import onnx_model

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from tokenizers import Tokenizer

DIMENSION = 384
"""The length of every vector."""

MAX_TOKENS = 256
"""What the model was made for, a mark at each end included: here tokenizer.json cuts a text."""

MAX_CHARACTERS = 64 * MAX_TOKENS
"""What is given to the tokenizer: 256 tokens of English are some 1,200 characters, and a page may
have millions."""

CHUNK = 1_024
"""Texts that are tokenised before they are embedded: their tokens take up to 20 kB each."""

BATCH_TOKENS = 1_024
"""Tokens in one run of the graph: from 240 on the multiplications are no faster, and memory grows
with them."""

FOLDER = Path(__file__).parent / "minilm"
"""The model file, its tokenizer, and a README that says where both come from."""

HASHES = {
    "model.onnx": "437d4392e75f39a9653a9f551d9cd03b821979ced2a665b5092e5738d464f627",
    "tokenizer.json": "d995085220f25d2df59bd08c938e3da696738f41b9b550aa913dcdf954d85871",
}
"""SHA-256 of the files; training/embeddings/build.py makes them and prints it."""

MODEL = f"all-MiniLM-L6-v2-int8-{HASHES['model.onnx'][:12]}"
"""A name for what made a vector: vectors of different models must never be compared."""


class Embedder:
    """Turns texts into unit vectors; threads may share it. The files are read at the first call."""

    def __init__(self, folder: Path = FOLDER, *, threads: int = 0) -> None:
        """Say what to use.

        Args:
            folder: Where the model's files are.
            threads: How many one call may use; 0 is one for each core.
        """
        self._folder = folder
        self._threads = threads
        self._loaded = onnx_model.Once(self._load)

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return one unit vector for each text, in their order.

        Raises:
            StoreAccessError: If a file of the model is not there.
            DamagedStoreError: If it is another than we shipped.
        """
        import numpy as np

        tokenizer, session = self._loaded()
        vectors = np.empty((len(texts), DIMENSION), np.float32)
        for start in range(0, len(texts), CHUNK):
            part = [
                onnx_model.encodable(text, MAX_CHARACTERS) for text in texts[start : start + CHUNK]
            ]
            tokens = [text.ids for text in tokenizer.encode_batch_fast(part)]
            for number, vector in onnx_model.run_batches(
                session, "vectors", {"ids": tokens}, BATCH_TOKENS, self._threads
            ):
                vectors[start + number] = vector
        return vectors

    def _load(self) -> tuple[Tokenizer, Any]:
        model = onnx_model.read_checked(self._folder / "model.onnx", HASHES["model.onnx"])
        tokenizer = onnx_model.load_tokenizer(
            self._folder / "tokenizer.json", HASHES["tokenizer.json"]
        )
        return tokenizer, onnx_model.open_session(model)


@cache
def load_embedder() -> Embedder:
    """Return the process's one embedder."""
    return Embedder()
