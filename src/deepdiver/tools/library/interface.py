"""The interface of a library of documents, and the types that it works with.

`local` implements it with SQLite and files on this machine, `postgres` with a PostgreSQL database.
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
    """How far a refresh or an embedding has got."""

    stage: str
    """The current step: reading, indexing or embedding."""
    done: int
    """How many items are done."""
    total: int
    """How many items there are: files when reading, passages otherwise."""
    what: str = ""
    """The item in progress."""


OnProgress = Callable[[Progress], None]
"""A callback that receives the progress of a library."""


@dataclass(frozen=True, slots=True)
class UnreadFile:
    """A file or folder that was not read."""

    url: str
    """Its path."""
    reason: str
    """Why it was not read."""

    @property
    def line(self) -> str:
        """Both as one line for a person."""
        return f"{self.url} was not read: {self.reason}"


@dataclass(frozen=True, slots=True)
class RefreshSummary:
    """The changes that a refresh made to a library, each list sorted by name."""

    added: tuple[str, ...] = ()
    """Files that were not in the library before."""
    changed: tuple[str, ...] = ()
    """Files whose content has changed."""
    moved: tuple[tuple[str, str], ...] = ()
    """Files found under a new name, as (old, new); their passages and vectors were kept."""
    removed: tuple[str, ...] = ()
    """Files that no longer exist."""
    unread: tuple[UnreadFile, ...] = ()
    """Files that could not be read, with the reasons."""

    @property
    def same(self) -> bool:
        """Whether nothing has changed."""
        return not (self.added or self.changed or self.moved or self.removed)


@dataclass(frozen=True, slots=True)
class SearchFilter:
    """Restricts a search to some documents. An empty filter lets all of them pass."""

    folders: tuple[str, ...] = ()
    """Only documents at or below one of these paths, compared with the beginning of their URLs."""
    formats: tuple[str, ...] = ()
    """Only documents of these formats (pdf, docx, markdown …)."""
    since: date | None = None
    """Published on this day or later. A document without a date passes, as in every search."""
    until: date | None = None
    """Published on this day or earlier."""

    def prefixes(self) -> list[str]:
        """Return the prefixes of the URLs below each of the folders."""
        return [folder if folder.endswith(("/", ":")) else f"{folder}/" for folder in self.folders]


@dataclass(frozen=True, slots=True)
class Entry:
    """A document of a library."""

    id: int
    """Its number in this library. A file whose content changes gets a new one."""
    url: str
    """Its path as the user gave it, or `sample:PATH`."""
    title: str
    """Its own title, or else the name of its file."""
    format: str
    """The format of its file, one of `extract.FORMATS`."""
    author: str = ""
    """Who wrote it."""
    publisher: str = ""
    """Who published it."""
    publisher_kind: str = ""
    """The kind of publisher, if the document says so."""
    published: str = ""
    """When it was published, in ISO 8601, as precisely as known."""
    language: str = ""
    """Its language, if the document says so."""
    size: int = 0
    """The size of the file in bytes."""
    passages: int = 0
    """How many passages it has."""
    marks: tuple[Mark, ...] = ()
    """Where its pages, slides, sheets and headings begin."""
    notes: tuple[str, ...] = ()
    """Notes on the parts that could not be read."""


@dataclass(frozen=True, slots=True)
class Match:
    """A passage that a search found."""

    entry: Entry
    """The document that contains it."""
    span: Span
    """Where it is in the text of the document."""
    score: float
    """How well it fits this query; not comparable between queries. 1 means the best passage both by
    its words and by its sense."""


NO_FILTER = SearchFilter()


class Library(Protocol):
    """A searchable collection of documents.

    Threads may share one, and several processes may open the same one.
    """

    note: str
    """What limits its searches and how to fix that, in one line; empty if nothing does."""

    def refresh(
        self,
        roots: Sequence[Path],
        progress: OnProgress | None = None,
        *,
        again: bool = False,
        within: Sequence[Path] = (),
    ) -> RefreshSummary:
        """Bring the library up to date with the files under some roots, and remember the roots.

        Files are compared by content: an unchanged file is not read again, a file that was moved
        keeps its passages and vectors, and a file that no longer exists is removed. Documents under
        other roots are not touched.

        Args:
            roots: Files and folders.
            progress: Receives the progress.
            again: Whether to retry files that could not be read before and have not changed since.
            within: Folders that the roots must lie in once links are followed; none: anywhere.

        Raises:
            UsageError: If a root does not exist or cannot be opened, and the library did not know
                it before; or if it lies elsewhere.
            StoreError: If the library cannot be written.
        """

    def embed(
        self, progress: OnProgress | None = None, stop: Callable[[], bool] = lambda: False
    ) -> int:
        """Compute the missing vectors of passages, and return how many were computed.

        It may be stopped or killed at any time.
        """

    def search(
        self, query: str, k: int, where: SearchFilter = NO_FILTER, hops: int = 1
    ) -> list[Match]:
        """Return the best passages, best first.

        Passages are ranked by their words, by their sense, and by whether good passages name them;
        see `ranking`. The result depends only on the documents and the query: missing vectors that
        the search needs are computed and kept.

        Args:
            query: A question, or words.
            k: The largest number of passages to return.
            where: Restricts the search to some documents.
            hops: How many times to go on from good passages to the documents that they name.
        """

    def documents(self) -> list[Entry]:
        """Return all documents, sorted by URL, without their marks."""

    def unread(self) -> list[UnreadFile]:
        """Return the files that the last refresh could not read, sorted by URL."""

    def roots(self) -> list[Path]:
        """Return the files and folders that the library is made from."""

    def forget(self, paths: Sequence[Path]) -> list[str]:
        """Remove the documents at or below some paths, and return their URLs.

        A refresh does not add them again; adding their path does.
        """

    def text(self, entry: Entry) -> str:
        """Return the text of a document."""

    def whole(self, most: int) -> list[tuple[Entry, str]]:
        """Return all documents with their marks and texts, sorted by URL.

        Args:
            most: Characters. If the texts have more together, nothing is returned.
        """

    def passages(self) -> int:
        """Return the number of passages."""

    def pending(self) -> int:
        """Return the number of passages for which `embed` would compute a vector.

        A search computes those that it needs itself.
        """

    def close(self) -> None:
        """Close its files or connections."""
