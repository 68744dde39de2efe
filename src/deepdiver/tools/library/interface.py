"""What a library of documents does, whatever keeps it.

SQLite and files on this machine, or a PostgreSQL.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Protocol

from deepdiver.core.record import Mark
from deepdiver.core.text import Span


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a library is with what it was asked to do."""

    stage: str
    """What it is doing: reading, indexing or embedding."""
    done: int
    """How many are done."""
    total: int
    """Of how many: files when reading, passages otherwise."""
    what: str = ""
    """The one it is at."""


OnProgress = Callable[[Progress], None]
"""Is told how far a library is."""


@dataclass(frozen=True, slots=True)
class UnreadFile:
    """A file or folder that was not read."""

    url: str
    """Its path."""
    reason: str
    """Why not."""


@dataclass(frozen=True, slots=True)
class RefreshSummary:
    """What came of comparing a library with the files it is made of.

    All in the order of their names.
    """

    added: tuple[str, ...] = ()
    """Files that were not in it."""
    changed: tuple[str, ...] = ()
    """Files whose content is another."""
    moved: tuple[tuple[str, str], ...] = ()
    """Files found under a new name, with the old one first; their passages and vectors were kept.
    """
    removed: tuple[str, ...] = ()
    """Files that are gone."""
    unread: tuple[UnreadFile, ...] = ()
    """Files that could not be read, and why."""

    @property
    def same(self) -> bool:
        """Whether the library is as it was."""
        return not (self.added or self.changed or self.moved or self.removed)


@dataclass(frozen=True, slots=True)
class SearchFilter:
    """What a search is narrowed to. Empty: everything."""

    folders: tuple[str, ...] = ()
    """Only documents in or below one of these folders, or these files themselves; as their urls
    begin."""
    formats: tuple[str, ...] = ()
    """Only documents of these formats (pdf, docx, markdown …)."""
    since: date | None = None
    """Published on this day or later; what has no date passes, as in every search."""
    until: date | None = None
    """Published on this day or earlier."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A document of a library."""

    id: int
    """Its number in this library; a file whose content changes gets a new one."""
    url: str
    """Its path as the user gave it, or sample:PATH."""
    title: str
    """What it calls itself, or else its file's name."""
    format: str
    """What it was read from."""
    author: str = ""
    """Who wrote it."""
    publisher: str = ""
    """Who published it."""
    publisher_kind: str = ""
    """What kind of publisher that is, if it says so."""
    published: str = ""
    """When, ISO 8601, as precise as known."""
    language: str = ""
    """In which language, where it says so."""
    size: int = 0
    """Bytes of the file."""
    passages: int = 0
    """How many passages it has."""
    marks: tuple[Mark, ...] = ()
    """Where its pages, slides, sheets and headings begin."""
    notes: tuple[str, ...] = ()
    """What of it could not be read."""


@dataclass(frozen=True, slots=True)
class Match:
    """A passage that was found."""

    entry: Entry
    """The document that it stands in."""
    span: Span
    """Where in the document's text."""
    score: float
    """How well it fits, for this query alone: 1 would be the best both by its words and by its
    sense."""


NO_FILTER = SearchFilter()


class Library(Protocol):
    """Documents that can be searched.

    Safe to use from several threads; several processes may open the same one.
    """

    note: str
    """What keeps it from finding all that it could, in one line that says what to do; empty:
    nothing."""

    def refresh(
        self, roots: Sequence[Path], progress: OnProgress | None = None, *, again: bool = False
    ) -> RefreshSummary:
        """Bring the library up to date with the files under some roots, which it remembers.

        By content: a file that is as it was is not read again, one that was moved keeps its
        passages and vectors, one that is gone is removed. Documents under other roots stay as they
        are.

        Args:
            roots: Files and folders.
            progress: Is told how far it is.
            again: Whether to try anew the files that could not be read before and have not changed
                since.

        Raises:
            UsageError: If a root does not exist or cannot be opened and the library did not know it
                before.
            StoreError: If the library cannot be written.
        """

    def embed(
        self, progress: OnProgress | None = None, stop: Callable[[], bool] = lambda: False
    ) -> int:
        """Give vectors to passages that have none; returns to how many.

        May be stopped or killed at any time.
        """

    def search(
        self, query: str, k: int, where: SearchFilter = NO_FILTER, hops: int = 1
    ) -> list[Match]:
        """Return the best passages.

        By their words, by their sense, and by being what good ones name.

        What is found depends on the documents and the query alone: vectors that it needs and that
        are not there are made and kept; see `ranking`.

        Args:
            query: A question, or words.
            k: How many at most.
            where: What to look at.
            hops: How often to go on from good passages to the documents that they name.
        """

    def documents(self) -> list[Entry]:
        """Return all documents, in the order of their urls; without their marks."""

    def unread(self) -> list[UnreadFile]:
        """Return what could not be read at the last refresh, in the order of their urls."""

    def roots(self) -> list[Path]:
        """Return the files and folders that it was made from."""

    def forget(self, paths: Sequence[Path]) -> list[str]:
        """Remove what lies at or below some paths, and do not take it up again until it is added.

        Returns the urls.
        """

    def text(self, entry: Entry) -> str:
        """Return the text of a document."""

    def passages(self) -> int:
        """Return how many passages there are."""

    def pending(self) -> int:
        """Return how many of them `embed` would give a vector.

        A search makes those that it needs itself.
        """

    def close(self) -> None:
        """Let go of its files."""
