"""The bundled sample library.

Invented documents about four affairs, and questions with known answers.

The affairs are a cheese dairy (``svedjan``), a ferry fire (``harbour``), nickel in a lake
(``lake``) and a disputed study (``seabird``). ``harbour`` and ``lake`` share an owner, so that some
questions cross from one to the other. Planted on purpose are sources that disagree, one story
printed by three outlets, corrections, and rumours that a primary source refutes.

Each document opens with front matter between two ``---`` lines, one ``key: value`` a line: title,
publisher, kind, author (may be missing), published (ISO date) and url.
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
    """What a question puts to the test."""

    SINGLE = "single"
    """One document states the answer."""
    MULTIHOP = "multihop"
    """Facts from several documents must be chained."""
    CONFLICT = "conflict"
    """Sources disagree, and the answer must show or settle that."""
    CORRECTION = "correction"
    """What was first reported has been corrected."""
    RUMOUR = "rumour"
    """A weak source claims what a primary one refutes."""
    CORRELATION = "correlation"
    """Events in different documents lie close together in time and place."""
    UNANSWERABLE = "unanswerable"
    """The library does not hold the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question to the library and how to tell a right answer."""

    id: str
    """A short name, unique among the questions."""
    text: str
    """The question as a user would ask it."""
    kind: QuestionKind
    """What the question puts to the test."""
    hops: int
    """How many documents, one leading to the next, it takes to get from the question to the answer.
    """
    answers: tuple[str, ...]
    """Strings that a right answer holds, all of them, as whole words, letter case aside: "8" does
    not stand in "38"."""
    must_not: tuple[str, ...] = ()
    """Strings that only a wrong answer states as true; a right one may still quote them as refuted.
    """
    support: tuple[str, ...] = ()
    """The documents that carry the answer, as paths relative to `LIBRARY`."""
    as_of: date | None = None
    """The day on which the answer holds, where it changes with time."""
    absent: str | None = None
    """For an unanswerable question: the word stem that no document holds."""
    demo: bool = False
    """Whether the demonstration asks this question; one does."""


def questions() -> list[Question]:
    """Read the questions that come with the library, in the order of the file."""
    tables = tomllib.loads(_QUESTIONS.read_text(encoding="utf-8"))["question"]
    return [_question(table) for table in tables]


def _question(table: dict[str, Any]) -> Question:
    """Turn one table into a question; an unknown or missing key is a TypeError that names it."""
    fields: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in table.items()
    }
    return Question(**fields | {"kind": QuestionKind(table["kind"])})
