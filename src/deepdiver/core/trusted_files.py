"""The project files that the user has trusted, each by its path and the hash of its content.

A file that has changed since, or stands elsewhere, is not trusted.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from enum import StrEnum
from pathlib import Path
from typing import Any

from deepdiver.core.settings_file import SettingsFile, read_settings_file
from deepdiver.errors import SettingsError

FILE = "trusted.json"
"""The name of the list in the home, with mode 0600."""


class Trust(StrEnum):
    """Whether a file is trusted."""

    TRUSTED = "trusted"
    """With this content."""
    CHANGED = "changed"
    """With another content than it has now."""
    NEW = "not trusted"
    """It never was."""


class TrustedFiles:
    """The trusted files, in a list of the home folder."""

    def __init__(self, home: Path) -> None:
        """Read the list; without one, nothing is trusted.

        Raises:
            SettingsError: If it cannot be read, or others may have written it.
        """
        self._list = home / FILE
        self._held: dict[str, str] = {}
        held = read_settings_file(self._list)
        if held is None:
            return
        try:
            self._held = _hashes(json.loads(held.text))
        except (ValueError, RecursionError):
            raise SettingsError(
                f"{self._list} does not count, because {held.doubt or 'it is damaged'}: move it "
                "away, and trust your project files again"
            ) from None

    @property
    def paths(self) -> list[Path]:
        """The files that were ever trusted and not removed since."""
        return sorted(map(Path, self._held))

    def state(self, file: SettingsFile) -> Trust:
        """Return whether a file is trusted."""
        known = self._held.get(str(file.path))
        if known is None:
            return Trust.NEW
        return Trust.TRUSTED if known == file.sha256 else Trust.CHANGED

    def add(self, file: SettingsFile) -> None:
        """Trust a file with its present content.

        Raises:
            SettingsError: If the list cannot be written.
        """
        self._write({**self._held, str(file.path): file.sha256})

    def remove(self, path: Path) -> bool:
        """Trust a file no longer; return whether it was trusted.

        Raises:
            SettingsError: If the list cannot be written.
        """
        kept = {held: sha256 for held, sha256 in self._held.items() if held != str(path)}
        if kept == self._held:
            return False
        self._write(kept)
        return True

    def _write(self, files: dict[str, str]) -> None:
        # In ASCII: a path may hold bytes that are no text.
        text = json.dumps({"files": files}, indent=1, sort_keys=True)
        try:
            self._list.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Only its owner may read and write a temporary file.
            with tempfile.NamedTemporaryFile(
                "w", encoding="ascii", dir=self._list.parent, prefix=f".{FILE}.", delete=False
            ) as draft:
                try:
                    draft.write(text)
                    draft.flush()
                    os.fsync(draft.fileno())
                    os.replace(draft.name, self._list)
                except BaseException:
                    with contextlib.suppress(OSError):
                        os.unlink(draft.name)
                    raise
        except OSError as error:
            raise SettingsError(f"{self._list} cannot be written: {error.strerror}") from None
        self._held = files


def _hashes(listed: Any) -> dict[str, str]:
    """Return the hashes by path of what the list holds.

    Raises:
        ValueError: If it is not a list of ours.
    """
    files = listed.get("files") if isinstance(listed, dict) else None
    if not isinstance(files, dict) or not all(isinstance(each, str) for each in files.values()):
        raise ValueError("not a list of trusted files")
    return files
