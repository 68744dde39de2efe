"""The ONNX models that ship with deepdiver: checking, loading and running them in batches."""

from __future__ import annotations

import functools
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
"""A batch of 1,024 tokens takes about 25 MB while it runs, and a container that may use two cores
can report 64."""
_AS_REQUESTED = {
    "max_mem": 0,
    "arena_extend_strategy": 1,
    "initial_chunk_size_bytes": -1,
    "max_dead_bytes_per_chunk": -1,
}
"""An arena without a limit that grows by what is asked for, and not to the next power of two."""
ERRORS = 3
"""The lowest severity of onnxruntime's own messages that may reach the terminal; warnings are 2."""


class Once(Generic[T]):
    """Makes a value at the first call and keeps it; threads may share it.

    If making the value fails, the next call tries again.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        """Take the function that makes the value."""
        self._make = make
        self._making = threading.Lock()
        self._made: list[T] = []

    def __call__(self) -> T:
        """Return the value."""
        with self._making:
            if not self._made:
                self._made.append(self._make())
            return self._made[0]


def checked(file: Path, sha256: str) -> Path:
    """Return a file that deepdiver ships, if its contents are unchanged: 20 ms for 23 MB.

    Raises:
        StoreAccessError: If the file is missing or may not be read.
        DamagedStoreError: If its contents differ: another model might run and silently give wrong
            results.
    """
    try:
        with file.open("rb") as data:
            found = hashlib.file_digest(data, "sha256").hexdigest()
    except OSError as error:
        why = error.strerror or str(error)
        raise StoreAccessError(
            f"{file} cannot be read ({why}): install deepdiver again, which includes it"
        ) from error
    if found != sha256:
        raise DamagedStoreError(
            f"{file} is damaged (it differs from the file in deepdiver): install deepdiver again"
        )
    return file


def load_tokenizer(file: Path, sha256: str) -> Tokenizer:
    """Return the tokenizer in a file; raises what `checked` raises."""
    from tokenizers import Tokenizer

    return Tokenizer.from_file(str(checked(file, sha256)))


def open_session(model: Path, intra_op: int = 1, *, packed: bool = True) -> Any:
    """Return an onnxruntime session that runs on the CPU.

    All sessions share their working memory, since few run at once.

    Args:
        model: An ONNX file; given its bytes, the runtime would keep two copies for a while, 80 MB
            more for the close reader.
        intra_op: Threads that one run may use; 0 means one for each core.
        packed: Whether to hold the weights in a second layout, which saves small models up to a
            third of their time, and costs the close reader 25 MB for none.
    """
    import onnxruntime  # type: ignore[import-untyped]

    # On Windows it would report every session to the system.
    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = intra_op
    options.log_severity_level = ERRORS
    # The graphs are already fused. Further layouts take 25 MB more for the close reader, and give
    # the same results no sooner.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    _share_memory()
    options.add_session_config_entry("session.use_env_allocators", "1")
    if not packed:
        options.add_session_config_entry("session.disable_prepacking", "1")
    # Threads that wait by spinning took a third of the CPU time and were no faster on a busy
    # machine.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(str(model), options, ["CPUExecutionProvider"])


@functools.cache
def _share_memory() -> None:
    """Give all sessions one arena; three of their own held 20 MB more between runs."""
    import onnxruntime

    kinds, memory = onnxruntime.OrtAllocatorType, onnxruntime.OrtMemType
    place = onnxruntime.OrtMemoryInfo("Cpu", kinds.ORT_ARENA_ALLOCATOR, 0, memory.DEFAULT)
    onnxruntime.create_and_register_allocator(place, onnxruntime.OrtArenaCfg(_AS_REQUESTED))


def run_batches(
    session: Any,
    output: str,
    given: Mapping[str, Sequence[list[int]]],
    tokens: int,
    threads: int = 0,
    **fixed: int,
) -> Iterator[tuple[int, Floats]]:
    """Yield the number of each text and one output of a model for it, in any order.

    Args:
        session: The model's session, with one thread for each run, since batches are spread over
            threads here. Batches are small: 200 pairs of sentences took 1.3 times as long when two
            cores shared each batch.
        output: Which of the model's outputs to return.
        given: For each input of the model, one list of integers for each text; all lists of a text
            have the same length.
        tokens: The most tokens in one batch; a longer text runs in a batch of its own.
        threads: How many batches run at once; 0 means one for each core, up to MOST_THREADS.
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
    """Return how many cores this process may use, at most MOST_THREADS."""
    allowed = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    return min(allowed, MOST_THREADS)


def batches(lengths: Sequence[int], tokens: int) -> Iterator[list[int]]:
    """Group the numbers of texts by length and limit the tokens of each group.

    Texts of one length need no padding.
    """
    groups: dict[int, list[int]] = {}
    for number, length in enumerate(lengths):
        groups.setdefault(length, []).append(number)
    for length, numbers in groups.items():
        size = max(1, tokens // length)
        for at in range(0, len(numbers), size):
            yield numbers[at : at + size]


def encodable(text: str, characters: int) -> str:
    """Return the start of a text, its lone surrogates replaced, since the tokenizer refuses them.

    Offsets stay the same.
    """
    return text[:characters].encode("utf-8", "replace").decode("utf-8")
