"""Cases and sets: what is asked, what the right answer is, and which documents are searched."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from deepdiver.errors import UsageError
from deepdiver.evals.documents import Document, write_document


class Kind(StrEnum):
    """What is done with a case, and how it is scored."""

    ANSWERS = "answers"
    """Research; the answer is compared with the right ones."""
    CONFLICT = "conflict"
    """Research; all right answers are wanted, and no wrong one."""
    INSIGHTS = "insights"
    """Research; the report is searched for insights and distractors."""
    SUPPORT = "support"
    """A claim and its evidence: does the evidence support the claim in full?"""
    STANCE = "stance"
    """A claim and its evidence: does the evidence support or refute the claim?"""
    RETRIEVAL = "retrieval"
    """A query: which documents are found, and in which order?"""


class Part(StrEnum):
    """The cases of a set that are evaluated."""

    REPORT = "report"
    """Those with even numbers: figures are reported of these."""
    CHOOSE = "choose"
    """Those with odd numbers: constants may be chosen on these."""
    ALL = "all"
    """All of them."""


RESEARCHED = frozenset({Kind.ANSWERS, Kind.CONFLICT, Kind.INSIGHTS})
"""The kinds whose cases are runs."""


@dataclass(frozen=True, slots=True)
class Gold:
    """Something that a report should say, or should leave out."""

    id: str
    """Its id."""
    text: str
    """The statement."""
    file: str
    """Name of the file that states it."""
    distractor: bool = False
    """Whether it does not bear on the question, and should be left out."""


@dataclass(frozen=True, slots=True)
class Case:
    """One case, and what is right."""

    id: str
    """Its id, unique in its set."""
    question: str
    """The question, claim or query."""
    answers: tuple[str, ...] = ()
    """The right answers: any one of them, or in a set of conflicts all of them. If there are none,
    abstaining is right."""
    wrong: tuple[str, ...] = ()
    """Wrong answers that the documents state."""
    support: tuple[str, ...] = ()
    """Ids of the documents that support the answer."""
    gains: Mapping[str, float] = field(default_factory=dict)
    """For retrieval: the value of finding each document."""
    shelf: str = ""
    """Name of the shelf that is searched; empty: what the settings say."""
    as_of: str = ""
    """The day that counts as today, YYYY-MM-DD; empty: today."""
    golds: tuple[Gold, ...] = ()
    """Insights and distractors."""
    evidence: tuple[str, ...] = ()
    """The evidence for or against a claim."""
    one_origin: bool = False
    """Whether all evidence is from one document, so that it counts as one witness."""
    label: str = ""
    """The right verdict on a claim: full or not; supports, refutes or neutral."""


@dataclass(frozen=True, slots=True)
class Shelf:
    """Documents that are searched together."""

    items: tuple[Document, ...] = ()
    """Documents that are written as files."""
    folder: Path | None = None
    """A folder that is searched as it is, instead."""

    @property
    def digest(self) -> str:
        """Fingerprint of the documents; it names the folder that they are written to."""
        return hashlib.sha256(repr(self.items).encode("utf-8", "surrogateescape")).hexdigest()[:24]


@dataclass(frozen=True, slots=True)
class EvalSet:
    """A set of cases."""

    name: str
    """Its name."""
    kind: Kind
    """What is done with its cases."""
    cases: tuple[Case, ...]
    """The cases, in the order of the results."""
    shelves: Mapping[str, Shelf] = field(default_factory=dict)
    """The documents, by the name of the shelf."""
    part: Part = Part.ALL
    """Which part of the set the cases are."""

    @property
    def digest(self) -> str:
        """Fingerprint of the cases and of the documents that they search."""
        texts = [
            (name, self.shelves[name].digest)
            for name in sorted({c.shelf for c in self.cases} & set(self.shelves))
        ]
        return hashlib.sha256(
            repr((self.kind, self.cases, texts)).encode("utf-8", "surrogateescape")
        ).hexdigest()[:16]


def write_shelf(shelf: Shelf, above: Path) -> Path:
    """Write the documents of a shelf as files, and return their folder.

    Args:
        shelf: The documents.
        above: The folder in which to create theirs.
    """
    if shelf.folder is not None:
        return shelf.folder.absolute()
    folder = above / shelf.digest
    folder.mkdir(parents=True, exist_ok=True)
    for item in shelf.items:
        write_document(item, folder)
    return folder.absolute()


def read_json_lines(file: Path) -> list[dict[str, Any]]:
    """Return the objects in a file of JSON lines; empty lines are skipped.

    Raises:
        UsageError: If the file cannot be read, or a line is not an object; the message says which.
    """
    try:
        lines = file.read_text(encoding="utf-8").split("\n")  # some texts hold other line ends
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", "") or "it is not UTF-8"
        raise UsageError(f"cannot read {file}: {reason}") from None
    return [
        _object(line, f"{file}, line {number}")
        for number, line in enumerate(lines, 1)
        if line.strip()
    ]


def _object(line: str, where: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        raise UsageError(f"{where} is not JSON") from None
    if not isinstance(value, dict):
        raise UsageError(f"{where} is not a JSON object")
    return value


def check_unique(cases: Sequence[Case], where: str) -> tuple[Case, ...]:
    """Return the cases after checking that their ids differ.

    Raises:
        UsageError: If two cases have the same id.
    """
    seen: set[str] = set()
    for case in cases:
        if case.id in seen:
            raise UsageError(f"{where}: two cases have the id {case.id[:80]!r}")
        seen.add(case.id)
    return tuple(cases)
