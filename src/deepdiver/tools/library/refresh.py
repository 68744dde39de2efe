"""Bringing a catalogue up to date with the files that it is made from, by their content."""

from __future__ import annotations

import hashlib
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Protocol

from deepdiver.core.text import Span, passages
from deepdiver.errors import UnreadableError, UsageError
from deepdiver.tools.daemon_threads import DaemonThreads
from deepdiver.tools.document import Document
from deepdiver.tools.extract.workers.pool import WORKERS, shared_extractor
from deepdiver.tools.library.document_names import name_of_title
from deepdiver.tools.library.files import (
    FileStamp,
    LibraryFile,
    document_of,
    lies_within_any,
    load_file,
    title_from_name,
    url_of,
)
from deepdiver.tools.library.folder_walk import check_root, find_files
from deepdiver.tools.library.interface import OnProgress, Progress, RefreshSummary, UnreadFile
from deepdiver.tools.library.records import KnownDocument, NewDocument

AHEAD = 8
"""Files that are read ahead. They are entered in their order, whichever is read first."""
BATCH = 200
"""Documents that are entered at a time. Those that are entered survive a crash."""
BATCH_CHARS = 4_000_000
"""Characters of such documents: a batch is held in memory."""
RETRY = 86_400.0
"""Seconds after which an unchanged file that could not be read is tried again: reading it may have
taken too long at the time."""
BEAT = 1.0
"""Seconds of waiting for a file after which the progress is told again, so that whoever is told can
end the work."""
ABSENT = "it is not there now; its documents stay until you remove it"

Missed = Mapping[str, tuple[UnreadFile, FileStamp, float]]
"""Files that could not be read, by URL: the reason, the state of the file, and the time."""


@dataclass(frozen=True, slots=True)
class FileReading:
    """The result of reading one file."""

    file: LibraryFile
    """The file."""
    hash: bytes = b""
    """The hash of its bytes, if they could be read."""
    document: Document | None = None
    """Its content; None if its bytes are known already, or if it could not be read."""
    reason: str = ""
    """Why it could not be read."""


@dataclass(slots=True)
class RefreshTally:
    """What a refresh has found until now."""

    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    moved: list[tuple[str, str]] = field(default_factory=list)
    unread: list[tuple[UnreadFile, FileStamp | None]] = field(default_factory=list)
    batch: list[NewDocument] = field(default_factory=list)
    gone: dict[str, KnownDocument] = field(default_factory=dict)
    """Documents whose files are missing. A file with the same content may turn up under another
    name."""


class Catalogue(Protocol):
    """The documents of a library, as a refresh compares them with files and changes them.

    See `SqliteCatalogue` for each method.
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
    def move(  # noqa: D102
        self, old: str, new: str, stamp: FileStamp, title: str, name: str
    ) -> None: ...
    def drop(self, urls: Iterable[str]) -> None: ...  # noqa: D102
    def miss(  # noqa: D102
        self, unread: Iterable[tuple[UnreadFile, FileStamp | None]], gone: Iterable[str]
    ) -> None: ...


def forget_paths(catalogue: Catalogue, paths: Sequence[Path]) -> list[str]:
    """Remove the documents at or below some paths; see `Library.forget`."""
    places = [url_of(path, path) for path in paths]

    def covered(url: str) -> bool:
        return lies_within_any(url, places)

    gone = sorted(filter(covered, catalogue.known()))
    missed = list(filter(covered, catalogue.missed()))
    roots = {root: url_of(root, root) for root in catalogue.roots()}
    given_up = [str(root) for root, url in roots.items() if covered(url)]
    kept = [url for url in roots.values() if not covered(url)]
    left_out = [place for place in places if lies_within_any(place, kept)]
    catalogue.settle((), without=given_up, left_out=left_out)
    catalogue.miss((), missed)
    catalogue.drop(gone)
    return gone


def refresh_catalogue(
    catalogue: Catalogue,
    roots: Sequence[Path],
    progress: OnProgress,
    again: bool,
    within: Sequence[Path] = (),
) -> RefreshSummary:
    """Compare the files under some roots with the catalogue, and bring it up to date.

    See `Library.refresh`.
    """
    files, lost, absent = _look(catalogue, roots, within)
    known, missed = catalogue.known(), catalogue.missed()
    catalogue.settle([str(root) for root in roots])
    left_out = catalogue.left_out()
    files = [file for file in files if not lies_within_any(file.url, left_out)]
    seen = {file.url for file in files}
    places = [url_of(root, root) for root in roots if root not in absent]
    tally = RefreshTally(
        unread=[(item, None) for item in lost],
        gone={
            url: document
            for url, document in known.items()
            if url not in seen and lies_within_any(url, places)
        },
    )
    wanted = _files_to_read(files, known, {} if again else missed, tally)
    _read_and_enter(catalogue, wanted, known, tally, progress)
    spoilt = [item.url for item, _ in tally.unread if item.url in known and item.url in seen]
    removed = [*tally.gone, *spoilt]
    catalogue.drop(removed)
    _note_unread(catalogue, tally, missed, places)
    return RefreshSummary(
        added=tuple(sorted(tally.added)),
        changed=tuple(sorted(tally.changed)),
        moved=tuple(tally.moved),
        removed=tuple(sorted(removed)),
        unread=tuple(sorted((item for item, _ in tally.unread), key=lambda item: item.url)),
    )


def _look(
    catalogue: Catalogue, roots: Sequence[Path], within: Sequence[Path]
) -> tuple[list[LibraryFile], list[UnreadFile], set[Path]]:
    """Return the files under the roots, those that cannot be accessed, and the absent roots.

    A file that was a root and no longer exists is gone for good. A known folder that does not exist
    is absent: it may be on a disk that is not plugged in.
    """
    before = set(catalogue.roots())
    here: list[Path] = []
    lost: list[UnreadFile] = []
    absent: set[Path] = set()
    for root in roots:
        try:
            check_root(root)
        except UsageError:
            if root not in before:
                raise
            url = url_of(root, root)
            if url not in catalogue.known():
                absent.add(root)
                lost.append(UnreadFile(url, ABSENT))
        else:
            here.append(root)
    files, closed = find_files(here, within)
    return files, list(dict.fromkeys([*lost, *closed])), absent


def _files_to_read(
    files: Iterable[LibraryFile],
    known: Mapping[str, KnownDocument],
    missed: Missed,
    tally: RefreshTally,
) -> list[LibraryFile]:
    """Return the files that are new or have changed.

    An unchanged file that could not be read not long ago is counted as unread at once.
    """
    wanted = []
    for file in files:
        if file.url in known and known[file.url].stamp == file.stamp:
            continue
        reason, stamp, tried = missed.get(file.url, (None, None, 0.0))
        if reason and stamp == file.stamp and time.time() - tried < RETRY:
            tally.unread.append((reason, None))
        else:
            wanted.append(file)
    return wanted


def _read_and_enter(
    catalogue: Catalogue,
    files: Sequence[LibraryFile],
    known: Mapping[str, KnownDocument],
    tally: RefreshTally,
    progress: OnProgress,
) -> None:
    gone = {document.hash for document in tally.gone.values()}
    done = 0

    def tell() -> None:
        progress(Progress("reading", done, len(files), files[done].url))

    with closing(_read_files(files, known, gone, tell)) as readings:
        for reading in readings:
            tell()
            _take(catalogue, reading, known, tally)
            done += 1
    if files:
        progress(Progress("reading", len(files), len(files)))
    _enter(catalogue, tally)


def _read_files(
    files: Sequence[LibraryFile],
    known: Mapping[str, KnownDocument],
    gone: set[bytes],
    still_waiting: Callable[[], None],
) -> Generator[FileReading, None, None]:
    """Read files side by side, and yield the results in the order of the files.

    Whatever ends it, it does not wait for files that are being read: a disk may never answer.
    """

    def read(file: LibraryFile) -> FileReading:
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
    threads = DaemonThreads(WORKERS, "library")
    try:
        while waiting or running:
            while waiting and len(running) < AHEAD:
                running.append(threads.submit(partial(read, waiting.popleft())))
            while not wait([running[0]], BEAT).done:
                still_waiting()
            yield running.popleft().result()
    finally:
        threads.close()
        for left in running:
            left.cancel()


def _take(
    catalogue: Catalogue,
    reading: FileReading,
    known: Mapping[str, KnownDocument],
    tally: RefreshTally,
) -> None:
    """Count the result of reading one file, and enter the document if there is one."""
    file, before = reading.file, known.get(reading.file.url)
    if reading.document is None and not reading.reason:
        if before and before.hash == reading.hash:
            catalogue.touch(file.url, file.stamp)
            return
        old = next((url for url, gone in tally.gone.items() if gone.hash == reading.hash), None)
        if old is not None and before is None:
            del tally.gone[old]
            title = title_from_name(file.path.name)
            catalogue.move(old, file.url, file.stamp, title, name_of_title(title))
            tally.moved.append((old, file.url))
            return
        # Two files have the content that one had, or a file now has the content of another.
        reading = _read_again(reading)
    if reading.document is None:
        tally.unread.append((UnreadFile(file.url, reading.reason), file.stamp))
        return
    (tally.changed if before else tally.added).append(file.url)
    tally.batch.append(_new_document(file, reading.hash, reading.document))
    chars = sum(len(new.document.text) for new in tally.batch)
    if len(tally.batch) >= BATCH or chars > BATCH_CHARS:
        _enter(catalogue, tally)


def _read_again(reading: FileReading) -> FileReading:
    file = reading.file
    try:
        document = document_of(load_file(file), file.path.name, shared_extractor())
    except UnreadableError as error:
        return FileReading(file, reading.hash, reason=str(error))
    return FileReading(file, reading.hash, document)


def _new_document(file: LibraryFile, hash_: bytes, document: Document) -> NewDocument:
    title = document.title or title_from_name(file.path.name)
    return NewDocument(
        url=file.url,
        hash=hash_,
        stamp=file.stamp,
        document=document.model_copy(update={"title": title}),
        own_title=title != title_from_name(file.path.name),
        name=name_of_title(title),
        spans=_passages_of(document) or (Span(0, len(document.text)),),
    )


def _passages_of(document: Document) -> tuple[Span, ...]:
    headings = frozenset(mark.start for mark in document.marks if mark.kind == "heading")
    return tuple(passages(document.text, headings=headings))


def _enter(catalogue: Catalogue, tally: RefreshTally) -> None:
    if tally.batch:
        catalogue.put(tally.batch)
        tally.batch = []


def _note_unread(
    catalogue: Catalogue, tally: RefreshTally, missed: Missed, places: Sequence[str]
) -> None:
    """Record the files that could not be read, and delete records that no longer apply."""
    now = {item.url for item, _ in tally.unread}
    gone = [url for url in missed if url not in now and lies_within_any(url, places)]
    fresh = [
        (item, stamp)
        for item, stamp in tally.unread
        if stamp or item not in (missed.get(item.url) or ())
    ]
    catalogue.miss(fresh, gone)
