"""Documents as a library reads them, for tests that need their texts and no library."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from deepdiver.tools.document import Document
from deepdiver.tools.extract.pool import shared
from deepdiver.tools.library.documents import find, load, read


def read_all(roots: Sequence[Path]) -> dict[str, Document]:
    """Read every document under some roots, by url."""
    return {file.url: read(load(file), file.path.name, shared()) for file in find(roots)[0]}
