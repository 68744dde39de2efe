"""What an evaluation is made of.

Cases with what is right, the documents they are about, and what is done with them.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from deepdiver.errors import UsageError
from deepdiver.evals.retrieval import Item

_PLAIN = re.compile(r"[A-Za-z0-9][\w.\-]{0,79}")


class Kind(StrEnum):
    """What is done with a case, and how it is scored."""

    ANSWERS = "answers"
    """Researched; the answer is compared with the right ones."""
    CONFLICT = "conflict"
    """Researched; all right answers are wanted, and no wrong one."""
    INSIGHTS = "insights"
    """Researched; the report is searched for insights and distractors."""
    SUPPORT = "support"
    """A claim and its evidence: does it carry the claim in full?"""
    STANCE = "stance"
    """A claim and its evidence: does it speak for the claim or against it?"""
    RETRIEVAL = "retrieval"
    """A query: which documents are found, in which order?"""


RESEARCHED = frozenset({Kind.ANSWERS, Kind.CONFLICT, Kind.INSIGHTS})
"""Kinds whose cases are runs."""


@dataclass(frozen=True, slots=True)
class Gold:
    """Something that a report should say, or should leave out."""

    id: str
    """Its name."""
    text: str
    """What it says."""
    file: str
    """Name of the file that it stands in."""
    distractor: bool = False
    """Whether it is beside the question, and should be left out."""


@dataclass(frozen=True, slots=True)
class Case:
    """One thing to do, and what is right."""

    id: str
    """Its name, unique in its set."""
    question: str
    """What is asked, claimed or looked for."""
    answers: tuple[str, ...] = ()
    """Right answers: any of them, or in a set of conflicts all. None: to abstain is right."""
    wrong: tuple[str, ...] = ()
    """Answers that stand in the documents and are wrong."""
    support: tuple[str, ...] = ()
    """Ids of the documents that the answer stands on."""
    gains: Mapping[str, float] = field(default_factory=dict)
    """For retrieval: how much finding each document is worth."""
    shelf: str = ""
    """Name of the documents that are searched; empty: what the settings say."""
    as_of: str = ""
    """The day that counts as today, YYYY-MM-DD; empty: today."""
    golds: tuple[Gold, ...] = ()
    """Insights and distractors."""
    evidence: tuple[str, ...] = ()
    """What stands for or against a claim."""
    one_origin: bool = False
    """Whether all evidence is from one document, so that it counts as one witness."""
    label: str = ""
    """What is right about a claim: full or not; supports, refutes or neutral."""


@dataclass(frozen=True, slots=True)
class Shelf:
    """Documents that are searched together."""

    items: tuple[Item, ...] = ()
    """Texts that are written out as files."""
    folder: Path | None = None
    """A folder that is read where it lies, instead."""

    @property
    def digest(self) -> str:
        """Fingerprint of the texts.

        Other texts are laid out elsewhere, and the same ones are found again.
        """
        return hashlib.sha256(repr(self.items).encode("utf-8", "surrogateescape")).hexdigest()[:24]


@dataclass(frozen=True, slots=True)
class EvalSet:
    """A set to be evaluated."""

    name: str
    """What it is called."""
    kind: Kind
    """What is done with its cases."""
    cases: tuple[Case, ...]
    """In the order in which they are told."""
    shelves: Mapping[str, Shelf] = field(default_factory=dict)
    """Documents by name."""

    @property
    def digest(self) -> str:
        """Fingerprint of what is asked, what is right, and the texts that are searched."""
        texts = [
            (name, self.shelves[name].digest)
            for name in sorted({c.shelf for c in self.cases} & set(self.shelves))
        ]
        return hashlib.sha256(
            repr((self.kind, self.cases, texts)).encode("utf-8", "surrogateescape")
        ).hexdigest()[:16]


def file_name(key: str) -> str:
    """Return the name, without an ending, of the file that a document of this id is written to."""
    if _PLAIN.fullmatch(key):
        return key
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()[:24]


def lay_out(shelf: Shelf, above: Path) -> Path:
    """Write the documents of a shelf as files, as a library reads them, and return their folder.

    What stands there already is left alone, so that a library that has read it need not look again.

    Args:
        shelf: The documents.
        above: Where the folder is made.
    """
    if shelf.folder is not None:
        return shelf.folder.absolute()
    folder = above / shelf.digest
    folder.mkdir(parents=True, exist_ok=True)
    for item in shelf.items:
        title = " ".join(item.title.split())
        text = f"---\ntitle: {title}\n---\n{item.text}" if title else item.text
        file = folder / f"{file_name(item.id)}.md"
        data = text.encode("utf-8", "replace")
        if not file.is_file() or file.read_bytes() != data:
            file.write_bytes(data)
    return folder.absolute()


def rows(file: Path) -> list[dict[str, Any]]:
    """Return the objects of a file of JSON lines; empty lines are skipped.

    Raises:
        UsageError: If it cannot be read, or a line is no object; says which.
    """
    try:
        lines = file.read_text(encoding="utf-8").split("\n")  # some texts hold other line ends
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", "") or "it is not UTF-8"
        raise UsageError(f"{file} cannot be read: {reason}") from None
    found = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            found.append(_object(line, f"{file}, line {number}"))
    return found


def _object(line: str, where: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        raise UsageError(f"{where} is not JSON") from None
    if not isinstance(value, dict):
        raise UsageError(f"{where} is not an object")
    return value


def unique(cases: Sequence[Case], where: str) -> tuple[Case, ...]:
    """Return the cases, which must have different ids.

    Raises:
        UsageError: If two have the same.
    """
    seen: set[str] = set()
    for case in cases:
        if case.id in seen:
            raise UsageError(f"{where}: two cases have the id {case.id[:80]!r}")
        seen.add(case.id)
    return tuple(cases)
