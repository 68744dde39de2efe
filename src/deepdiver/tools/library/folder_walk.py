"""Finding the files of a library in the folders that the user gave, without leaving these folders.

A link that leads out of them is not followed: whoever can write to a folder of documents must not
be able to have other files read. A file or folder that cannot be read is listed with the reason.
Only hidden ones are skipped silently.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterator, Sequence, Set
from pathlib import Path
from typing import NamedTuple

from deepdiver.errors import UsageError
from deepdiver.tools.library.files import FileStamp, LibraryFile, url_of
from deepdiver.tools.library.interface import UnreadFile
from deepdiver.tools.plain_file import NOT_PLAIN, FilePlace, opened_folder, reason_of

DATABASE, HOME_FOLDERS = "deepdiver.db", frozenset({"runs", "library", "evals"})
"""The contents of a home: the database, and the folders beside it."""
RUN_FILES = frozenset({"report.md", "report.html", "report.json", "reasoning.log", "sources.jsonl"})
"""The files that every run writes to its folder, which is known by having all of them."""
LATER_FILES = frozenset({"evidence.md"})
"""Those that runs of earlier versions did not write."""
NO_EVIDENCE = "what deepdiver itself wrote there is no evidence"
OUTSIDE = "it is a link out of the folders that were given; give what it leads to instead"
SAME_NAME = "once what is not text in its name is replaced, another file has the same name"
LONGEST_PATH = 2_500
"""Bytes. PostgreSQL does not index more than 2,704, and systems differ in what they allow."""
TOO_LONG = f"its path is longer than {LONGEST_PATH:,} bytes"
DEEPEST = 100
"""Folders in folders. Each is opened name by name from the root, so that no link is followed."""
TOO_DEEP = f"more than {DEEPEST} folders lead to it"
SHOWN_PATH = 400
"""Characters of a path that is too long which are shown."""


class Spot(NamedTuple):
    """A file, folder or link on the walk. A tuple, because there may be a million of them."""

    root: int
    """The number of the root that it was found under."""
    path: str
    """Its path, as the user would write it."""
    base: str
    """A folder without links, from which it is opened name by name."""
    real: str
    """Its path without links."""

    def place(self) -> FilePlace:
        """Return where it really is."""
        return FilePlace(self.base, self.real)

    def below(self, name: str) -> Spot:
        """Return the spot of something in this folder."""
        real = os.path.join(self.real, name)
        path = real if self.path == self.real else os.path.join(self.path, name)
        return Spot(self.root, path, self.base, real)


class FolderWalk:
    """Yields every file under some roots once, with its state, in no particular order.

    A link within the roots leads to nothing new, unless it leads to something hidden: then that is
    read under the name of the link.
    """

    def __init__(self, roots: Sequence[Path], within: Sequence[Path] = ()) -> None:
        """Find the roots.

        Args:
            roots: Files and folders.
            within: Folders that the roots must lie in once links are followed; none: anywhere.

        Raises:
            UsageError: If a root does not exist, cannot be opened or lies elsewhere.
        """
        self.unread: list[UnreadFile] = []
        """The files and folders that cannot be read, and why; complete after the walk."""
        self._roots = roots
        self._tops = _find_tops(roots, within)
        self._entered: set[str] = set()
        """The folders whose entries were listed."""
        self._single: set[str] = set()
        """The files that were found by themselves: as roots, or by links."""
        self._own: set[str] = set()
        """What deepdiver itself wrote."""
        self._links: list[Spot] = []

    def __iter__(self) -> Iterator[tuple[Spot, os.stat_result]]:
        """Yield the files.

        Raises:
            UsageError: If a root cannot be opened.
        """
        for number, (root, top) in enumerate(zip(self._roots, self._tops, strict=True)):
            path = top.path if str(root) == top.path else str(root)
            yield from self._visit(Spot(number, path, top.base, top.path))
        # Links come last: by then it is known what is found under its own name.
        while self._links:
            links, self._links = sorted(self._links), []
            for link in links:
                yield from self._follow(link)

    def _visit(self, spot: Spot) -> Iterator[tuple[Spot, os.stat_result]]:
        """Yield a single file, or the files below a folder."""
        try:
            status = os.stat(spot.real, follow_symlinks=False)
        except OSError as error:
            self._miss(spot, reason_of(error))
            return
        if stat.S_ISDIR(status.st_mode):
            yield from self._below(spot)
        elif not self._is_found(spot.real):
            self._single.add(spot.real)
            yield from self._file(spot, status)

    def _is_found(self, file: str) -> bool:
        folder, name = os.path.split(file)
        listed = folder in self._entered and _is_visible(name) and file not in self._own
        return listed or file in self._single

    def _file(self, spot: Spot, status: os.stat_result) -> Iterator[tuple[Spot, os.stat_result]]:
        if stat.S_ISREG(status.st_mode):
            yield spot, status
        else:  # a pipe would keep its reader waiting
            self._miss(spot, NOT_PLAIN)

    def _below(self, top: Spot) -> Iterator[tuple[Spot, os.stat_result]]:
        folders = [top]
        while folders:
            folder = folders.pop()
            if folder.real in self._entered:
                continue
            self._entered.add(folder.real)
            if len(folder.place().names()) > DEEPEST:
                self._miss(folder, TOO_DEEP)
                continue
            try:
                for spot, status in self._entries(folder):
                    if stat.S_ISLNK(status.st_mode):
                        self._links.append(spot)
                    elif stat.S_ISDIR(status.st_mode):
                        folders.append(spot)
                    elif spot.real not in self._single:
                        yield from self._file(spot, status)
            except OSError as error:
                self._give_up(folder, error)

    def _give_up(self, folder: Spot, error: OSError) -> None:
        """Note a folder that cannot be opened; a root that cannot be is an error."""
        root = self._roots[folder.root]
        if folder.path == str(root):
            raise _unreadable(root, reason_of(error)) from None
        self._miss(folder, f"the folder cannot be opened: {reason_of(error)}")

    def _entries(self, folder: Spot) -> Iterator[tuple[Spot, os.stat_result]]:
        """Yield the visible entries of a folder, except those that deepdiver itself wrote."""
        with opened_folder(folder.place()) as opened:
            with os.scandir(opened) as listed:
                entries = [entry for entry in listed if _is_visible(entry.name)]
            if own := _written_by_deepdiver({entry.name for entry in entries}):
                self._miss(folder, NO_EVIDENCE)
                self._own.update(folder.below(name).real for name in own)
            while entries:  # an entry keeps its status, so it is let go
                entry = entries.pop()
                spot = folder.below(entry.name)
                if entry.name in own or self._is_too_long(spot):
                    continue
                try:
                    yield spot, entry.stat(follow_symlinks=False)
                except OSError as error:
                    self._miss(spot, reason_of(error))

    def _is_too_long(self, spot: Spot) -> bool:
        characters = max(len(spot.path), len(spot.real))
        if characters * 4 <= LONGEST_PATH:  # a character has four bytes at most
            return False
        longest = max(len(os.fsencode(path)) for path in (spot.path, spot.real))
        if longest > LONGEST_PATH:
            self._miss(spot, TOO_LONG)
        return longest > LONGEST_PATH

    def _follow(self, link: Spot) -> Iterator[tuple[Spot, os.stat_result]]:
        try:
            real = os.path.realpath(link.real, strict=True)
        except OSError as error:  # it leads nowhere, or to itself
            self._miss(link, str(error.strerror))
            return
        top = next((top for top in self._tops if _lies_below(real, top.path)), None)
        if top is None:
            self._miss(link, OUTSIDE)
        elif not self._is_own(real):
            yield from self._visit(Spot(link.root, link.path, top.base, real))

    def _is_own(self, real: str) -> bool:
        above = os.path.dirname(real)
        return real in self._own or (above != real and self._is_own(above))

    def _miss(self, spot: Spot, reason: str) -> None:
        url = url_of(self._roots[spot.root], Path(spot.path))
        if len(url) > SHOWN_PATH:
            url = f"{url[: SHOWN_PATH // 2]}…{url[-SHOWN_PATH // 2 :]}"
        self.unread.append(UnreadFile(url, reason))


def find_files(
    roots: Sequence[Path], within: Sequence[Path] = ()
) -> tuple[list[LibraryFile], list[UnreadFile]]:
    """Find every file under some roots; see `FolderWalk`.

    Returns:
        The files, each once, in the order of the roots and then of their names; and the files and
        folders that cannot be read, sorted by name.
    """
    walk = FolderWalk(roots, within)
    states = ((spot, FileStamp.of(status)) for spot, status in walk)
    found = sorted(states, key=lambda each: (each[0].root, each[0].path.split(os.sep)))
    files: dict[str, LibraryFile] = {}
    unread = walk.unread
    for spot, stamp in found:
        path = Path(spot.path)
        url = url_of(roots[spot.root], path)
        if url in files:
            unread.append(UnreadFile(url, SAME_NAME))
        else:
            files[url] = LibraryFile(path, url, stamp, spot.place())
    return list(files.values()), sorted(unread, key=lambda item: item.url)


def fingerprint_of(roots: Sequence[Path], within: Sequence[Path] = ()) -> str:
    """Return a hash of the names, times and sizes of all files under some roots.

    See `FolderWalk`. It is computed before every search of documents given with --in, so it must be
    quick: 5,000 files take 50 ms.
    """
    walk = FolderWalk(roots, within)
    found = [
        f"{spot.path}\0{status.st_mtime_ns} {status.st_size} {status.st_ctime_ns}\0{spot.real}"
        for spot, status in walk
    ]
    found += [f"{item.url}\0{item.reason}" for item in walk.unread]
    return hashlib.blake2b(os.fsencode("\0\0".join(sorted(found)))).hexdigest()


def check_root(root: Path) -> None:
    """Check that a root can be opened.

    Raises:
        UsageError: If it does not exist or cannot be opened.
    """
    base = _real_path(root)
    if os.path.isdir(base):
        try:
            with opened_folder(FilePlace(base, base)) as opened:
                os.scandir(opened).close()
        except OSError as error:
            raise _unreadable(root, reason_of(error)) from None


def _find_tops(roots: Sequence[Path], within: Sequence[Path]) -> list[FilePlace]:
    """Return where the roots are, each with the folder from which it is opened."""
    limits = [_real_path(folder) for folder in within]
    tops = []
    for root in roots:
        real = _real_path(root)
        base = next((limit for limit in limits if _lies_below(real, limit)), None)
        if limits and base is None:
            raise UsageError(f"{root} does not lie within the folders of the server any more.")
        tops.append(FilePlace(base or real, real))
    return tops


def _real_path(root: Path) -> str:
    """Return the path of a root without links. The user named it, so links in it are followed."""
    try:
        root.stat()
        if len(str(root).encode()) > LONGEST_PATH:
            raise OSError(errno.ENAMETOOLONG, TOO_LONG)
        return os.path.realpath(root, strict=True)
    except UnicodeEncodeError:
        raise UsageError(
            f"the name of {str(root)!a} is not text: rename it, or give the folder above it"
        ) from None
    except (FileNotFoundError, NotADirectoryError, ValueError):
        # ValueError: a name that no file can have
        raise UsageError(f"{root} does not exist. Give a folder or file of documents.") from None
    except OSError as error:
        raise _unreadable(root, str(error.strerror)) from None


def _unreadable(root: Path, why: str) -> UsageError:
    return UsageError(f"{root} cannot be read: {why}. Give a folder or file that you may read.")


def _is_visible(name: str) -> bool:
    return not name.startswith(".")


def _lies_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _written_by_deepdiver(names: Set[str]) -> Set[str]:
    """Return the names in a folder that deepdiver itself wrote: its home, or the files of a run.

    If a report could cite an earlier one, it would count its own word as a second source.
    """
    own = {name for name in names if name.startswith(DATABASE)}
    if DATABASE in names:
        own |= names & HOME_FOLDERS
    return own | RUN_FILES | LATER_FILES if names >= RUN_FILES else own
