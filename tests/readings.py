"""What the trained reader and the embeddings say, kept for all the tests of a session.

No text is run through a model twice.

Many tests research the questions of the sample, each for something else, and the workers of a
session share no memory. What was said lies in a folder that they share. The tests of the models
themselves, and those of how good they are, do without.
"""

from __future__ import annotations

import hashlib
import io
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from deepdiver.encoders import embed, onnx_model, reader

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float32]


@contextmanager
def kept_in(folder: Path) -> Iterator[None]:
    """Have the models say again what they have said, for as long as the `with` block lasts."""
    folder.mkdir(exist_ok=True)
    run, embed_all = reader.Reader._run, embed.Embedder.embed

    def run_once(
        self: reader.Reader, session: Any, found: Sequence[Any], what: str
    ) -> list[Floats]:
        model = self._model.sha256
        names = [_name(what, model, pair.ids, pair.type_ids) for pair in found]
        return _once(folder, names, lambda new: run(self, session, [found[n] for n in new], what))

    def embed_once(self: embed.Embedder, texts: Sequence[str]) -> Floats:
        import numpy as np

        names = [_name(embed.MODEL, text) for text in texts]
        rows = _once(folder, names, lambda new: list(embed_all(self, [texts[n] for n in new])))
        return np.array(rows, np.float32).reshape(len(texts), embed.DIMENSION)

    with (
        patch.object(reader.Reader, "_run", run_once),
        patch.object(embed.Embedder, "embed", embed_once),
        patch.object(onnx_model, "open_session", _Late),
    ):
        yield


class _Late:
    """A model that is loaded when it is run first: a process that asks nothing new needs none."""

    def __init__(self, model: Path, intra_op: int = 1, *, packed: bool = True) -> None:
        self._loaded = onnx_model.Once(lambda: _open_session(model, intra_op, packed=packed))

    def run(self, outputs: Sequence[str], given: Any) -> Any:
        return self._loaded().run(outputs, given)


_open_session = onnx_model.open_session


def _once(
    folder: Path, names: Sequence[str], make: Callable[[list[int]], list[Floats]]
) -> list[Floats]:
    """Return what lies under these names; make what does not, given its numbers."""
    import numpy as np  # it starts threads, and a process that is forked later must have none

    files = [folder / name for name in names]
    if new := [number for number, file in enumerate(files) if not file.exists()]:
        for number, row in zip(new, make(new), strict=True):
            _write(files[number], row)
    return [np.load(file) for file in files]


def _name(what: str, *given: Any) -> str:
    return hashlib.sha256(repr((what, given)).encode()).hexdigest() + ".npy"


def _write(file: Path, row: Floats) -> None:
    """Write whole or not at all: another worker or thread may look for it, or write the same."""
    import numpy as np

    raw = io.BytesIO()
    np.save(raw, row)
    part = file.with_suffix(f".{os.getpid()}.{threading.get_ident()}")
    part.write_bytes(raw.getvalue())
    part.replace(file)
