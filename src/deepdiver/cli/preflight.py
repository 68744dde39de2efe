"""What is checked before a run starts, so that mistakes cost nothing."""

from __future__ import annotations

import tempfile
from pathlib import Path

from deepdiver.core.settings import EMBEDDED, Settings
from deepdiver.errors import UsageError


def language_note(question: str, settings: Settings) -> str:
    """Return a warning if the documents are in another language than the question, else "".

    The embedded reasoner and the library search compare words: across languages they find only
    names and numbers.
    """
    searched = not settings.search or "library" in settings.search
    if not settings.documents or not searched or settings.model != EMBEDDED:
        return ""
    from deepdiver.tools.library.languages import differing_language
    from deepdiver.tools.search.library import shelf

    if not (tongue := differing_language(question, shelf(settings).library)):
        return ""
    return (
        f"most of your documents are in {tongue}, and the question is not: the embedded reasoner "
        "compares words, so it will find little more than names and numbers; ask in the language "
        "of the documents, or choose a chat model with --model"
    )


def check_out(folder: Path | None) -> None:
    """Check that the folder for the files of a run can be written to; create it if needed.

    Raises:
        UsageError: If it cannot be written to.
    """
    if folder is None:
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise UsageError(
            f"cannot write to {folder} ({error.strerror}): give another --out"
        ) from None
