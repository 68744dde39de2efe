"""What the trained reader says, kept for all the tests of a session.

No text is run through the model twice.

Many tests research the questions of the sample, each for something else, and the workers of a
session share no memory. What was said lies in a folder that they share. The tests of the reader
itself, and those of how good it is, do without.
"""

from __future__ import annotations

import hashlib
import io
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from deepdiver.encoders import reader

Floats = npt.NDArray[np.float32]


@contextmanager
def kept_in(folder: Path) -> Iterator[None]:
    """Have the reader say again what it has said, for as long as the `with` block lasts."""
    folder.mkdir(exist_ok=True)
    run = reader._run

    def run_once(session: Any, found: Sequence[Any], what: str, threads: int) -> list[Floats]:
        files = [folder / _name(what, pair.ids, pair.type_ids) for pair in found]
        new = [number for number, file in enumerate(files) if not file.exists()]
        for number, row in zip(
            new, run(session, [found[number] for number in new], what, threads), strict=True
        ):
            _write(files[number], row)
        return [np.load(file) for file in files]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "_run", run_once)
        yield


def _name(what: str, *numbers: list[int]) -> str:
    return hashlib.sha256(repr((what, numbers)).encode()).hexdigest() + ".npy"


def _write(file: Path, row: Floats) -> None:
    """Write whole or not at all: another worker or thread may look for it, or write the same."""
    raw = io.BytesIO()
    np.save(raw, row)
    part = file.with_suffix(f".{os.getpid()}.{threading.get_ident()}")
    part.write_bytes(raw.getvalue())
    part.replace(file)
