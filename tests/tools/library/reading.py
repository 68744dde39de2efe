"""Documents as a library reads them, for tests that need their texts and no library."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from deepdiver.tools.document import Document
from deepdiver.tools.extract.workers.pool import shared_extractor
from deepdiver.tools.library.files import document_of, load_file
from deepdiver.tools.library.folder_walk import find_files


def read_all(roots: Sequence[Path]) -> dict[str, Document]:
    """Read every document under some roots, by url."""
    return {
        file.url: document_of(load_file(file), file.path.name, shared_extractor())
        for file in find_files(roots)[0]
    }
