"""Reading a settings file, which counts only if nobody but the user can have written it.

A settings file says where keys are sent and which programs are started. In a folder that others
may write to, such as that for temporary files, anybody can put one.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from deepdiver.core.identity import digest
from deepdiver.errors import SettingsError

LARGEST = 1_000_000
"""Bytes of a settings file. One with every setting has some thousand."""


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """A settings file as it was read, once: what is judged is what is used."""

    path: Path
    """Its path, with every link resolved."""
    text: str = ""
    """Its content; empty if it does not count."""
    doubt: str = ""
    """Why it does not count; empty if it does."""

    @property
    def sha256(self) -> str:
        """The hash of its content."""
        return digest(self.text)


def read_settings_file(path: Path) -> SettingsFile | None:
    """Read a settings file; None if there is none.

    Raises:
        SettingsError: If it is the user's own and cannot be read.
    """
    try:
        return _read(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:  # text that is not UTF-8 is a ValueError
        raise unreadable(path, error) from None


def unreadable(path: Path, error: Exception) -> SettingsError:
    """Return the error for a settings file that cannot be read."""
    return SettingsError(f"{path} cannot be read: {error}. Correct the file, or move it away.")


def _read(path: Path) -> SettingsFile:
    # Looked at before it is opened: another user's file may be one that we cannot open.
    doubt, place = _doubt_about_link(path) or _doubt_about(path.stat()), path.resolve()
    if doubt:
        return SettingsFile(place, doubt=doubt)
    # Without waiting: a pipe may have taken its place meanwhile.
    opened = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with open(opened, "rb") as file:
        if doubt := _doubt_about(os.fstat(file.fileno())):
            return SettingsFile(place, doubt=doubt)
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise ValueError(f"it has more than {LARGEST:,} bytes")
    return SettingsFile(place, data.decode("utf-8"))


def _doubt_about_link(path: Path) -> str:
    """Return why a link does not count: another user's may lead to any file of ours."""
    held = path.lstat()
    if stat.S_ISLNK(held.st_mode) and _foreign(held):
        return "it is a link that belongs to another user"
    return ""


def _doubt_about(held: os.stat_result) -> str:
    if stat.S_ISDIR(held.st_mode):
        raise IsADirectoryError("it is a folder")
    if not stat.S_ISREG(held.st_mode):
        return "it is not a regular file"
    if _foreign(held):
        return "it belongs to another user"
    if hasattr(os, "geteuid"):  # elsewhere, modes do not say who may write
        if held.st_mode & stat.S_IWOTH:
            return "everybody may write to it (chmod go-w)"
        if held.st_mode & stat.S_IWGRP and not _private_group(held):
            return "its group may write to it (chmod g-w)"
    return ""


def _foreign(held: os.stat_result) -> bool:
    """Whether a file belongs to somebody else; root may write to all files anyway."""
    return hasattr(os, "geteuid") and held.st_uid not in {0, os.geteuid()}


def _private_group(held: os.stat_result) -> bool:
    """Whether the group of a file is its owner alone.

    Many systems give each user a group, and new files its right to write.
    """
    import grp
    import pwd

    try:
        owner = pwd.getpwuid(held.st_uid)
        members = set(grp.getgrgid(held.st_gid).gr_mem)
    except KeyError:  # nobody knows who is in it
        return False
    first = {user.pw_name for user in pwd.getpwall() if user.pw_gid == held.st_gid}
    return owner.pw_gid == held.st_gid and (members | first) == {owner.pw_name}
