"""The bundled sample library: invented documents about four affairs, and questions about them.

The affairs are a cheese dairy (``svedjan``), a ferry fire (``harbour``), nickel in a lake
(``lake``) and a disputed study (``seabird``). ``harbour`` and ``lake`` share an owner, so that some
questions cross from one to the other. On purpose, some sources disagree, three outlets print the
same story, and there are corrections, and rumours that a primary source refutes.

Each document begins with front matter between two ``---`` lines, one ``key: value`` a line: title,
publisher, kind, author (optional), published (ISO date) and url.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import Any

__all__ = ["LIBRARY", "Question", "QuestionKind", "questions"]

LIBRARY: Path = Path(__file__).parent / "library"
"""The folder of documents, one sub-folder per affair."""

_QUESTIONS = Path(__file__).parent / "questions.toml"


class QuestionKind(StrEnum):
    """What a question tests."""

    SINGLE = "single"
    """One document states the answer."""
    MULTIHOP = "multihop"
    """Facts from several documents must be combined."""
    CONFLICT = "conflict"
    """Sources disagree, and the answer must show or resolve that."""
    CORRECTION = "correction"
    """What was first reported has been corrected."""
    RUMOUR = "rumour"
    """A weak source claims what a primary one refutes."""
    CORRELATION = "correlation"
    """Events in different documents are close in time and place."""
    UNANSWERABLE = "unanswerable"
    """The answer is not in the library."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question about the library, and how to recognise a right answer."""

    id: str
    """A short name, unique among the questions."""
    text: str
    """The question as a user would ask it."""
    kind: QuestionKind
    """What the question tests."""
    hops: int
    """How many documents, one leading to the next, the way to the answer takes."""
    answers: tuple[str, ...]
    """Strings that a right answer contains, all of them, as whole words in upper or lower case: "8"
    is not in "38"."""
    must_not: tuple[str, ...] = ()
    """Strings that only a wrong answer states as true; a right one may quote them as refuted."""
    support: tuple[str, ...] = ()
    """The documents that support the answer, as paths relative to `LIBRARY`."""
    as_of: date | None = None
    """The day for which the answer is right, if it changes with time."""
    absent: str | None = None
    """For an unanswerable question: the word stem that is in no document."""
    demo: bool = False
    """Whether this is the question of the demonstration; one is."""


def questions() -> list[Question]:
    """Return the questions that come with the library, in the order of the file."""
    tables = tomllib.loads(_QUESTIONS.read_text(encoding="utf-8"))["question"]
    return [_question(table) for table in tables]


def _question(table: dict[str, Any]) -> Question:
    """Return the question of a table; an unknown or missing key is a TypeError that names it."""
    fields: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in table.items()
    }
    return Question(**fields | {"kind": QuestionKind(table["kind"])})
