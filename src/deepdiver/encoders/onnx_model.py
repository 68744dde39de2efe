"""The files that the encoders come with.

Reading them, checked, once, and running them over texts of any length.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from deepdiver.errors import DamagedStoreError, StoreAccessError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from tokenizers import Tokenizer

    Floats = npt.NDArray[np.float32]

T = TypeVar("T")

MOST_THREADS = 8
"""A batch of 1,024 tokens takes some 25 MB while it is run, and a container with a share of two
cores may show 64."""
ERRORS = 3
"""The least severe of onnxruntime's own messages that may reach the terminal; warnings are 2."""


class Once(Generic[T]):
    """Something that is made at the first call and kept; threads may share it.

    What fails is tried anew.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        """Say how it is made."""
        self._make = make
        self._making = threading.Lock()
        self._made: list[T] = []

    def __call__(self) -> T:
        """Return it."""
        with self._making:
            if not self._made:
                self._made.append(self._make())
            return self._made[0]


def read_checked(file: Path, sha256: str) -> bytes:
    """Return what a file holds, if it is the one that we shipped: 20 ms for 23 MB.

    Raises:
        StoreAccessError: If it is not there, or may not be read.
        DamagedStoreError: If it holds something else, which might still run and give wrong results
            in silence.
    """
    try:
        data = file.read_bytes()
    except OSError as error:
        why = error.strerror or str(error)
        raise StoreAccessError(
            f"{file} cannot be read ({why}): install deepdiver again, it comes with it"
        ) from error
    if hashlib.sha256(data).hexdigest() != sha256:
        raise DamagedStoreError(
            f"{file} is damaged (it is not what deepdiver comes with): install deepdiver again"
        )
    return data


def load_tokenizer(file: Path, sha256: str) -> Tokenizer:
    """Return the tokenizer that a file holds; raises as `read` does."""
    from tokenizers import Tokenizer

    return Tokenizer.from_buffer(read_checked(file, sha256))


def open_session(model: bytes, intra_op: int = 1) -> Any:
    """Return an onnxruntime session on the processor.

    Args:
        model: An ONNX file.
        intra_op: Threads that one run may use; 0 is one for each core.
    """
    import onnxruntime  # type: ignore[import-untyped]

    # On Windows it would tell the system about every session.
    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = intra_op
    options.log_severity_level = ERRORS
    # Threads that wait by spinning took a third of the processor's time; on a busy machine they
    # were no faster.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(model, options, ["CPUExecutionProvider"])


def run_batches(
    session: Any,
    output: str,
    given: Mapping[str, Sequence[list[int]]],
    tokens: int,
    threads: int = 0,
    **fixed: int,
) -> Iterator[tuple[int, Floats]]:
    """Yield the number of each text and one output of a model for it, in no order that matters.

    Args:
        session: Of the model; one thread for each run, since the batches are spread over threads
            here. Batches are small: 200 pairs of sentences took 1.3 times as long where two cores
            shared each of them.
        output: Which of its outputs.
        given: For each of its inputs a list of whole numbers for each text, as long as the text's
            other lists.
        tokens: The most that are run at once; a text that has more is run by itself.
        threads: How many batches are run at once; 0 is one for each core, within MOST_THREADS.
        fixed: The inputs that are the same for all texts.
    """
    import numpy as np

    same = {name: np.array([value], np.int64) for name, value in fixed.items()}

    def rows(batch: list[int]) -> Any:
        part = {
            name: np.array([held[number] for number in batch], np.int64)
            for name, held in given.items()
        }
        return session.run([output], part | same)[0]

    lengths = [len(row) for row in next(iter(given.values()))]
    threads = threads or cores()
    found = list(batches(lengths, min(tokens, -(-sum(lengths) // threads))))
    if threads == 1 or len(found) < 2:
        made: Iterable[Any] = map(rows, found)
    else:
        with ThreadPoolExecutor(
            min(threads, len(found)), thread_name_prefix="deepdiver-encoder"
        ) as pool:
            made = list(pool.map(rows, found))
    for batch, each in zip(found, made, strict=True):
        yield from zip(batch, each, strict=True)


def cores() -> int:
    """Return how many cores this process may use, or MOST_THREADS."""
    allowed = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    return min(allowed, MOST_THREADS)


def batches(lengths: Sequence[int], tokens: int) -> Iterator[list[int]]:
    """Group the numbers of texts.

    Those of a group have one length, so nothing is padded, and together few tokens.
    """
    groups: dict[int, list[int]] = {}
    for number, length in enumerate(lengths):
        groups.setdefault(length, []).append(number)
    for length, numbers in groups.items():
        size = max(1, tokens // length)
        for at in range(0, len(numbers), size):
            yield numbers[at : at + size]


def encodable(text: str, characters: int) -> str:
    """Return the start of a text without lone surrogates, which the tokenizer cannot take.

    No offset moves.
    """
    return text[:characters].encode("utf-8", "replace").decode("utf-8")
