"""A few documents about a ferry, and questions to a library of them."""

from __future__ import annotations

from pathlib import Path

from deepdiver.tools.library.interface import Library, Match

QUERIES = (
    "ferry fire",
    "Who owns Holm Works?",
    "nickel in the lake",
    "something about boats that burn",
)

Answers = list[list[tuple[str, int, int, float]]]


def put(path: Path, text: str | bytes = "Some words.") -> Path:
    """Write a file, and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def write_documents(docs: Path) -> Path:
    """Write the documents to a folder."""
    put(
        docs / "ferry.md",
        "---\ntitle: The fire\npublished: 2026-02-08\n---\n"
        "The ferry Ejdervik burnt. Nine were hurt.",
    )
    put(docs / "owner.txt", "Holm Works owns the ferry Ejdervik since 1998.")
    put(
        docs / "works.md",
        "---\ntitle: Holm Works\n---\nThe company was founded by a smith. Anna Holm runs it.",
    )
    put(docs / "sub" / "lake.md", "---\npublished: 2024\n---\nThere is nickel in the water.")
    return docs


def names(matches: list[Match]) -> list[str]:
    """Return the names of the files of some matches."""
    return [Path(match.entry.url).name for match in matches]


def placed(matches: list[Match]) -> list[tuple[str, int, int, float]]:
    """Return where some matches are, and their scores, in a form that can be compared."""
    return [(m.entry.url, m.span.start, m.span.end, round(m.score, 6)) for m in matches]


def answers(library: Library) -> Answers:
    """Return what a library finds for each of the questions."""
    return [placed(library.search(query, 5)) for query in QUERIES]
