"""Whether a question and the documents of a library are in different languages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from deepdiver.core.languages import SCRIPTS, language_of
from deepdiver.tools.library.interface import Library

SAMPLED = 20
"""How many documents of a library are examined."""
MOST = 50_000
"""The largest number of passages of a library that is examined: listing the documents of a larger
one would take longer than it is worth."""


def majority_language(texts: Iterable[str]) -> str:
    """Return the language of more than half of some texts; empty if there is none."""
    told = Counter(map(language_of, texts))
    if not told:
        return ""
    name, count = told.most_common(1)[0]
    return name if 2 * count > told.total() else ""


def library_language(library: Library) -> str:
    """Return the language of most documents of a library, judged by an even sample of them."""
    if library.passages() > MOST:
        return ""
    entries = library.documents()
    step = max(1, len(entries) // SAMPLED)
    return majority_language(library.text(entry) for entry in entries[::step][:SAMPLED])


def differing_language(question: str, library: Library) -> str:
    """Return the language of a library if a question is in another one; empty otherwise."""
    theirs, ours = library_language(library), language_of(question)
    if theirs == ours or (not ours and theirs not in SCRIPTS.values()):
        return ""  # a short question in Latin letters may be in any of their languages
    return theirs
