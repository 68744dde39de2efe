"""Vectors that a search computed ahead of the table, so that no text is embedded twice.

The vector table of a library holds vectors in the order of its passages. A vector that a search
needs before its turn is kept here under the hash of the embedded text, so it is found whatever
number the passage has. Losing the file costs only time.
"""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from deepdiver.encoders import DIMENSION
from deepdiver.encoders.row_file import RowFile
from deepdiver.encoders.vector_table import SCALE, pack
from deepdiver.errors import DamagedStoreError, StoreAccessError, StoreError
from deepdiver.tools.library.embedding import embed_texts
from deepdiver.tools.library.sample_vectors import KEY_BYTES, key_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Bytes = npt.NDArray[np.uint8]

WIDTH = DIMENSION + SCALE
"""Bytes of a vector, packed as in the vector table."""
STEP = 64
"""Texts that are embedded at a time: a second's work, which is all that a killed process loses."""


class VectorCache:
    """Packed vectors, by the keys of their texts.

    Threads may share one, and processes may open the same file.
    """

    def __init__(self, file: Path) -> None:
        """Set the file. It is opened at the first use, and replaced if it is damaged."""
        self.file = file
        self._turn = threading.Lock()
        self._rows: RowFile | None = None
        self._read = 0
        self._known: dict[bytes, bytes] = {}

    def vectors(self, texts: Sequence[str | None], *, keep: bool = True) -> Bytes:
        """Return the packed vector of each text, and of zeros for each None.

        Args:
            texts: The texts to embed.
            keep: Whether to keep the vectors that are computed now. Those that go into the table at
                once need not be kept.
        """
        import numpy as np

        marks = [b"" if text is None else key_of(text) for text in texts]
        with self._turn:
            self._look(keep)
            wanted = {
                key: text for key, text in zip(marks, texts, strict=True) if key not in self._known
            }
            made: dict[bytes, bytes] = {}
            for at in range(0, len(wanted), STEP):
                made |= self._make(dict(itertools.islice(wanted.items(), at, at + STEP)), keep)
            rows = [made.get(key) or self._known[key] for key in marks]
        return np.frombuffer(b"".join(rows), np.uint8).reshape(-1, WIDTH)

    def clear(self) -> None:
        """Delete all vectors, once the table of the library has every one.

        Another process that has the file open keeps using it for the time being.
        """
        with self._turn:
            self._close()
            with contextlib.suppress(OSError):  # Windows keeps open files; it is deleted next time
                self.file.unlink(missing_ok=True)

    def close(self) -> None:
        """Close the file."""
        with self._turn:
            self._close()

    def _close(self) -> None:
        if self._rows is not None:
            self._rows.close()
        self._rows, self._read, self._known = None, 0, {}

    def _look(self, keep: bool) -> None:
        """Load the vectors that any process has added to the file."""
        if self._rows is None and (keep or self.file.exists()):
            self._rows = self._opened()
        if self._rows is None:
            return
        view, width = self._rows.view(), KEY_BYTES + WIDTH
        for at in range(self._read * width, len(view), width):
            self._known[bytes(view[at : at + KEY_BYTES])] = bytes(view[at + KEY_BYTES : at + width])
        self._read = len(view) // width

    def _opened(self) -> RowFile | None:
        """Open the file; None if that fails, and vectors are kept only in memory."""
        with contextlib.suppress(StoreAccessError):
            try:
                return RowFile(self.file, KEY_BYTES + WIDTH)
            except DamagedStoreError:
                self.file.unlink()
                return RowFile(self.file, KEY_BYTES + WIDTH)
        return None

    def _make(self, wanted: Mapping[bytes, str | None], keep: bool) -> dict[bytes, bytes]:
        packed = pack(embed_texts(list(wanted.values())))
        made = {key: row.tobytes() for key, row in zip(wanted, packed, strict=True)}
        if keep:
            self._known |= made
            if self._rows is not None:
                with contextlib.suppress(StoreError):  # the next process computes them again
                    self._rows.append(b"".join(key + row for key, row in made.items() if key))
        return made
