"""Bringing a catalogue up to date with the files it is made from, by their content."""

from __future__ import annotations

import hashlib
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from deepdiver.core.text import Span, passages
from deepdiver.errors import UnreadableError, UsageError
from deepdiver.tools.document import Document
from deepdiver.tools.extract.workers.pool import WORKERS, shared_extractor
from deepdiver.tools.library.document_names import name_of_title
from deepdiver.tools.library.files import (
    FileStamp,
    LibraryFile,
    document_of,
    find_files,
    lies_within,
    load_file,
    title_from_name,
    url_of,
)
from deepdiver.tools.library.interface import OnProgress, Progress, RefreshSummary, UnreadFile
from deepdiver.tools.library.records import KnownDocument, NewDocument

AHEAD = 8
"""Files that are read before their turn: they are taken up in their order, whichever is done first.
"""
BATCH = 200
"""Documents that are entered at a time: what is entered survives a crash."""
BATCH_CHARS = 4_000_000
"""Characters of such documents: a batch is held in memory."""
RETRY = 86_400.0
"""Seconds after which a file that could not be read is tried again unchanged: its reader may have
been out of time."""
ABSENT = "it is not there now; its documents stay until you remove it"


@dataclass(frozen=True, slots=True)
class FileReading:
    """What came of reading one file."""

    file: LibraryFile
    """The file."""
    hash: bytes = b""
    """Of its bytes, if it could be read at all."""
    document: Document | None = None
    """What is in it; None where its bytes are known, or it could not be read."""
    reason: str = ""
    """Why it could not be read."""


@dataclass(slots=True)
class RefreshTally:
    """What a refresh has found so far."""

    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    moved: list[tuple[str, str]] = field(default_factory=list)
    unread: list[tuple[UnreadFile, FileStamp | None]] = field(default_factory=list)
    batch: list[NewDocument] = field(default_factory=list)
    gone: dict[str, KnownDocument] = field(default_factory=dict)
    """Documents whose files are not there under their names; one of them may be found under
    another."""


class Catalogue(Protocol):
    """What a library holds, as a refresh compares it with files and changes it.

    See `Catalogue` for each method.
    """

    def roots(self) -> list[Path]: ...  # noqa: D102
    def left_out(self) -> set[str]: ...  # noqa: D102
    def known(self) -> dict[str, KnownDocument]: ...  # noqa: D102
    def missed(self) -> dict[str, tuple[UnreadFile, FileStamp, float]]: ...  # noqa: D102
    def settle(  # noqa: D102
        self, roots: Iterable[str], *, without: Iterable[str] = (), left_out: Iterable[str] = ()
    ) -> None: ...
    def put(self, documents: Sequence[NewDocument]) -> None: ...  # noqa: D102
    def touch(self, url: str, stamp: FileStamp) -> None: ...  # noqa: D102
    def move(self, old: str, new: str, stamp: FileStamp, title: str, name: str) -> None: ...  # noqa: D102
    def drop(self, urls: Iterable[str]) -> None: ...  # noqa: D102
    def miss(  # noqa: D102
        self, unread: Iterable[tuple[UnreadFile, FileStamp | None]], gone: Iterable[str]
    ) -> None: ...


def forget_paths(catalogue: Catalogue, paths: Sequence[Path]) -> list[str]:
    """Remove what lies at or below some paths; see `Library.forget`."""
    places = [url_of(path, path) for path in paths]
    gone = sorted(
        url for url in catalogue.known() if any(lies_within(url, place) for place in places)
    )
    roots = catalogue.roots()
    given_up = [
        root for root in roots if any(lies_within(url_of(root, root), place) for place in places)
    ]
    kept = [url_of(root, root) for root in roots if root not in given_up]
    omitted = [place for place in places if any(lies_within(place, root) for root in kept)]
    missed = [url for url in catalogue.missed() if any(lies_within(url, place) for place in places)]
    catalogue.settle((), without=map(str, given_up), left_out=omitted)
    catalogue.miss((), missed)
    catalogue.drop(gone)
    return gone


def refresh_catalogue(
    catalogue: Catalogue, roots: Sequence[Path], progress: OnProgress, again: bool
) -> RefreshSummary:
    """Compare the files under some roots with the catalogue, and bring it up to date.

    See `Library.refresh`.
    """
    files, lost, absent = _look(catalogue, roots)
    known, missed = catalogue.known(), catalogue.missed()
    catalogue.settle([str(root) for root in roots])
    omitted = catalogue.left_out()
    files = [file for file in files if not any(lies_within(file.url, place) for place in omitted)]
    tally, seen, wanted = (
        RefreshTally(unread=[(item, None) for item in lost]),
        {file.url for file in files},
        [],
    )
    places = [url_of(root, root) for root in roots if root not in absent]
    tally.gone = {
        url: entry
        for url, entry in known.items()
        if url not in seen and any(lies_within(url, place) for place in places)
    }
    for file in files:
        before = missed.get(file.url)
        if file.url in known and known[file.url].stamp == file.stamp:
            continue
        if before and before[1] == file.stamp and not again and time.time() - before[2] < RETRY:
            tally.unread.append((before[0], None))
        else:
            wanted.append(file)
    hashes = {entry.hash for entry in tally.gone.values()}
    for done, got in enumerate(_read(wanted, known, hashes)):
        progress(Progress("reading", done, len(wanted), got.file.url))
        _take(catalogue, got, known, tally)
    if wanted:
        progress(Progress("reading", len(wanted), len(wanted)))
    _enter(catalogue, tally)
    catalogue.drop(
        [
            *tally.gone,
            *(item.url for item, _ in tally.unread if item.url in known and item.url in seen),
        ]
    )
    _note(catalogue, tally, missed, places)
    told = sorted((item for item, _ in tally.unread), key=lambda item: item.url)
    removed = sorted(
        [*tally.gone, *(item.url for item in told if item.url in known and item.url in seen)]
    )
    return RefreshSummary(
        tuple(sorted(tally.added)),
        tuple(sorted(tally.changed)),
        tuple(tally.moved),
        tuple(removed),
        tuple(told),
    )


def _look(
    catalogue: Catalogue, roots: Sequence[Path]
) -> tuple[list[LibraryFile], list[UnreadFile], set[Path]]:
    """Return the files under the roots, what cannot be looked at, and known roots that are not there now.

    A file that was a root and is gone is gone. A folder that is gone may be on a disk that is not
    plugged in.
    """
    before = set(catalogue.roots())
    files: dict[str, LibraryFile] = {}
    lost: list[UnreadFile] = []
    absent: set[Path] = set()
    for root in roots:
        try:
            found, closed = find_files([root])
        except UsageError:
            if root not in before:
                raise
            url = url_of(root, root)
            if url not in catalogue.known():
                absent.add(root)
                lost.append(UnreadFile(url, ABSENT))
            continue
        files.update({file.url: file for file in found if file.url not in files})
        lost += closed
    return list(files.values()), list(dict.fromkeys(lost)), absent


def _read(
    files: Sequence[LibraryFile], known: dict[str, KnownDocument], gone: set[bytes]
) -> Iterator[FileReading]:
    """Read files side by side, and return what came of it in their order."""

    def one(file: LibraryFile) -> FileReading:
        hash_ = b""
        try:
            data = load_file(file)
            hash_ = hashlib.sha256(data).digest()
            if hash_ in gone or (file.url in known and known[file.url].hash == hash_):
                return FileReading(file, hash_)
            return FileReading(file, hash_, document_of(data, file.path.name, shared_extractor()))
        except UnreadableError as error:
            return FileReading(file, hash_, reason=str(error))

    waiting = deque(files)
    running: deque[Future[FileReading]] = deque()
    with ThreadPoolExecutor(WORKERS, thread_name_prefix="library") as threads:
        try:
            while waiting or running:
                while waiting and len(running) < AHEAD:
                    running.append(threads.submit(one, waiting.popleft()))
                yield running.popleft().result()
        finally:
            for left in running:
                left.cancel()


def _take(
    catalogue: Catalogue, got: FileReading, known: dict[str, KnownDocument], tally: RefreshTally
) -> None:
    """Take up what came of reading one file."""
    file, before, document = got.file, known.get(got.file.url), got.document
    if document is None and not got.reason:
        if before and before.hash == got.hash:
            catalogue.touch(file.url, file.stamp)
            return
        old = next((url for url, entry in tally.gone.items() if entry.hash == got.hash), None)
        if old is not None and before is None:
            del tally.gone[old]
            title = title_from_name(file.path.name)
            catalogue.move(old, file.url, file.stamp, title, name_of_title(title))
            tally.moved.append((old, file.url))
            return
        got = _anew(got)  # two files of one content where one was, or a file that became another
        document = got.document
    if document is None:
        tally.unread.append((UnreadFile(file.url, got.reason), file.stamp))
        return
    (tally.changed if before else tally.added).append(file.url)
    tally.batch.append(_new(file, got.hash, document))
    if (
        len(tally.batch) >= BATCH
        or sum(len(new.document.text) for new in tally.batch) > BATCH_CHARS
    ):
        _enter(catalogue, tally)


def _anew(got: FileReading) -> FileReading:
    try:
        return FileReading(
            got.file,
            got.hash,
            document_of(load_file(got.file), got.file.path.name, shared_extractor()),
        )
    except UnreadableError as error:
        return FileReading(got.file, got.hash, reason=str(error))


def _new(file: LibraryFile, hash_: bytes, document: Document) -> NewDocument:
    title = document.title or title_from_name(file.path.name)
    own = title != title_from_name(file.path.name)
    spans = tuple(passages(document.text)) or (Span(0, len(document.text)),)
    return NewDocument(
        file.url,
        hash_,
        file.stamp,
        document.model_copy(update={"title": title}),
        own,
        name_of_title(title),
        spans,
    )


def _enter(catalogue: Catalogue, tally: RefreshTally) -> None:
    if tally.batch:
        catalogue.put(tally.batch)
        tally.batch = []


def _note(
    catalogue: Catalogue,
    tally: RefreshTally,
    missed: dict[str, tuple[UnreadFile, FileStamp, float]],
    places: Sequence[str],
) -> None:
    """Keep what could not be read, and forget what was kept of what has been read since or is gone."""
    now = {item.url for item, _ in tally.unread}
    gone = [
        url for url in missed if url not in now and any(lies_within(url, place) for place in places)
    ]
    fresh = [
        (item, stamp)
        for item, stamp in tally.unread
        if stamp or item not in (missed.get(item.url) or ())
    ]
    catalogue.miss(fresh, gone)
