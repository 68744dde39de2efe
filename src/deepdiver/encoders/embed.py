"""Sentences as vectors: all-MiniLM-L6-v2 in int8 through onnxruntime.

A text always gets the same vector, bit for bit, whatever other texts it is embedded with: the graph
quantises each token separately, and only texts of exactly the same length share a batch, so nothing
is ever padded.
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
"""The length that the model was trained for, with a mark at each end; tokenizer.json cuts there."""

MAX_CHARACTERS = 64 * MAX_TOKENS
"""Characters of a text that the tokenizer sees: 256 tokens of English are about 1,200 characters,
and a page may have millions."""

CHUNK = 1_024
"""Texts that are tokenised at a time, before they are embedded: their tokens take up to 20 kB each.
"""

BATCH_TOKENS, ALONE = 1_024, 1
"""Tokens in one run of the graph: beyond 240 the multiplications get no faster, and memory use
grows. With one, each text runs alone."""

FOLDER = Path(__file__).parent / "minilm"
"""The model file, its tokenizer, and a README that says where both come from."""

HASHES = {
    "model.onnx": "437d4392e75f39a9653a9f551d9cd03b821979ced2a665b5092e5738d464f627",
    "tokenizer.json": "d995085220f25d2df59bd08c938e3da696738f41b9b550aa913dcdf954d85871",
}
"""SHA-256 of the files; training/embeddings/build.py makes them and prints it."""

MODEL = f"all-MiniLM-L6-v2-int8-{HASHES['model.onnx'][:12]}"
"""Names the model that made a vector: vectors of different models must never be compared."""


class Embedder:
    """Turns texts into unit vectors. Threads may share it. It reads its files at the first call."""

    def __init__(self, folder: Path = FOLDER, *, threads: int = 0) -> None:
        """Choose the model's files and the number of threads.

        Args:
            folder: Where the model's files are.
            threads: How many threads one call may use; 0 means one for each core.
        """
        self._folder = folder
        self._threads = threads
        self._loaded = onnx_model.Once(self._load)

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return one unit vector for each text, in the order of the texts.

        Raises:
            StoreAccessError: If a file of the model is missing.
            DamagedStoreError: If a file is not the one that deepdiver ships.
        """
        import numpy as np

        tokenizer, session, most = self._loaded()
        vectors = np.empty((len(texts), DIMENSION), np.float32)
        for start in range(0, len(texts), CHUNK):
            part = [
                onnx_model.encodable(text, MAX_CHARACTERS) for text in texts[start : start + CHUNK]
            ]
            tokens = [text.ids for text in tokenizer.encode_batch_fast(part)]
            for number, vector in onnx_model.run_batches(
                session, "vectors", {"ids": tokens}, most, self._threads
            ):
                vectors[start + number] = vector
        return vectors

    def _load(self) -> tuple[Tokenizer, Any, int]:
        model = onnx_model.checked(self._folder / "model.onnx", HASHES["model.onnx"])
        tokenizer = onnx_model.load_tokenizer(
            self._folder / "tokenizer.json", HASHES["tokenizer.json"]
        )
        session = onnx_model.open_session(model)
        return tokenizer, session, ALONE if _sums_differ(session) else BATCH_TOKENS


def _sums_differ(session: Any) -> bool:
    """Return whether this machine adds up a text that is alone in another order than several.

    With AVX-512 it does, and vectors differ by 3e-8. A text must have one vector wherever it
    stands, so each then runs alone: there, that takes a fifth longer for texts of a dozen tokens
    and no longer for passages.
    """
    import numpy as np

    ids = np.arange(2_000, 2_064)
    alone, both = (session.run(["vectors"], {"ids": np.array([ids] * n)})[0][0] for n in (1, 2))
    return not bool((alone == both).all())


@cache
def load_embedder() -> Embedder:
    """Return the embedder that the whole process shares."""
    return Embedder()
