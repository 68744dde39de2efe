"""The files that a user has dropped in: kept in a folder of their own, indexed, searched."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from deepdiver.core.settings import Settings
from deepdiver.errors import UnknownNameError, UsageError
from deepdiver.service.accounts import Account
from deepdiver.service.limits import check_bytes
from deepdiver.service.schemas import FoundPassage, LibraryFile, LibraryFiles
from deepdiver.service.state import ServiceState
from deepdiver.tools.library.interface import Entry, Library
from deepdiver.tools.search.library import shelf

PIECE = 1 << 20
"""Bytes that are copied at a time."""
LONGEST_NAME = 120
"""Bytes of a file's name; more than that, with what is added to it, some disks do not take."""
_UNSAFE = re.compile(r'[\x00-\x1f\x7f/\\:*?"<>|]')


def safe_name(given: str) -> str:
    """Return the name that a file is kept by: the last part of what the browser says.

    Raises:
        UsageError: If nothing is left of it.
    """
    encodable = given.encode("utf-8", "replace").decode("utf-8")
    last = re.split(r"[/\\]", unicodedata.normalize("NFC", encodable))[-1]
    name = _UNSAFE.sub("_", last).strip(" .")
    stem, dot, suffix = name.rpartition(".")
    while len(name.encode()) > LONGEST_NAME:
        stem, name = (stem[:-1], f"{stem[:-1]}{dot}{suffix}") if stem else ("", name[:-1])
    name = name.strip(" .")
    if not name:
        raise UsageError("a file needs a name")
    return name


def own_settings(state: ServiceState, account: Account) -> Settings:
    """Return the settings with which a user's files are searched, and nothing else."""
    folder = state.folder_of(account)
    return state.settings.model_copy(
        update={"documents": (folder,), "documents_within": (folder,), "search": ("library",)}
    )


def has_files(state: ServiceState, account: Account) -> bool:
    """Return whether a user has dropped any file in."""
    return any(True for _ in _files(state.folder_of(account)))


def _files(folder: Path) -> Iterable[os.DirEntry[str]]:
    """Yield the files of a folder, by name; what is being written is left out."""
    try:
        with os.scandir(folder) as found:
            yield from sorted(
                (item for item in found if item.is_file(follow_symlinks=False) and _kept(item)),
                key=lambda item: item.name,
            )
    except FileNotFoundError:
        return


def _kept(item: os.DirEntry[str]) -> bool:
    return not item.name.startswith(".")


def add_file(state: ServiceState, account: Account, given: str, body: BinaryIO) -> str:
    """Keep a file, complete or not at all, and return its name; one of the same name is replaced.

    Raises:
        UsageError: If it has no name, or is empty.
        LimitReachedError: If it does not fit into what the user may keep.
    """
    name, folder = safe_name(given), state.folder_of(account)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    used = sum(item.stat().st_size for item in _files(folder) if item.name != name)
    staged, size = folder / f".{name}.part", 0
    try:
        with staged.open("wb") as file:
            while piece := body.read(PIECE):
                size += len(piece)
                check_bytes(account, used, size)
                file.write(piece)
        if not size:
            raise UsageError(f"{name} is empty")
        os.replace(staged, folder / name)
    finally:
        staged.unlink(missing_ok=True)
    state.log.add(account.name, "library.add", name)
    return name


def remove_file(state: ServiceState, account: Account, name: str) -> None:
    """Remove a file; what runs have read of it stays with them.

    Raises:
        UnknownNameError: If there is no such file.
    """
    folder = state.folder_of(account)
    if name not in {item.name for item in _files(folder)}:
        raise UnknownNameError(f"there is no file {name[:80]!r}")
    (folder / name).unlink(missing_ok=True)
    state.log.add(account.name, "library.remove", name)


def list_files(state: ServiceState, account: Account) -> LibraryFiles:
    """Bring the index up to date, and return the files: what was read, and what was not and why."""
    files = [(item.name, item.stat().st_size) for item in _files(state.folder_of(account))]
    read: dict[str, Entry] = {}
    unread: dict[str, str] = {}
    if files:
        held = shelf(own_settings(state, account))
        unread = {Path(item.url).name: item.reason for item in held.look()}
        read = {Path(entry.url).name: entry for entry in held.library.documents()}
    return LibraryFiles(
        files=tuple(_shown(name, size, read.get(name), unread) for name, size in files),
        used=sum(size for _, size in files),
        allowed=account.bytes,
    )


def _shown(name: str, size: int, entry: Entry | None, unread: dict[str, str]) -> LibraryFile:
    if entry is None:
        why = unread.get(name, "it holds no text that can be searched")
        return LibraryFile(name=name, size=size, unread=why)
    return LibraryFile(
        name=name, size=size, title=entry.title, passages=entry.passages, notes=entry.notes
    )


def search_files(
    state: ServiceState, account: Account, query: str, most: int = 10
) -> tuple[FoundPassage, ...]:
    """Return the best passages of a user's files."""
    if not has_files(state, account):
        return ()
    held = shelf(own_settings(state, account))
    held.look()
    library = held.library
    return tuple(
        FoundPassage(
            name=Path(match.entry.url).name,
            title=match.entry.title,
            text=state.scrub(match.span.of(library.text(match.entry))),
            start=match.span.start,
            end=match.span.end,
        )
        for match in library.search(query, most)
    )


def read_file(state: ServiceState, account: Account, name: str) -> tuple[Entry, str]:
    """Return a document and its text, as it is searched.

    Raises:
        UnknownNameError: If there is no such file, or it could not be read.
    """
    if has_files(state, account):
        held = shelf(own_settings(state, account))
        held.look()
        if entry := _entry(held.library, name):
            return entry, state.scrub(held.library.text(entry))
    raise UnknownNameError(f"there is no document {name[:80]!r}")


def _entry(library: Library, name: str) -> Entry | None:
    return next((item for item in library.documents() if Path(item.url).name == name), None)
