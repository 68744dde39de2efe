"""Small texts beside the runs: which runs are watched, and what is forgotten.

On one machine each is a file of the home. Machines that share a database share these texts too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

from typing_extensions import override

from deepdiver.store.base import Store
from deepdiver.store.faults import from_os
from deepdiver.store.home_file import read_home_file, write_home_file
from deepdiver.store.postgres import PostgresDatabase, PostgresStore, patient

Lock = Callable[[Path], AbstractContextManager[bool]]
"""Tries to lock a file against other processes, and says whether it is locked."""


class Notes(Protocol):
    """Texts by their names, which are paths such as `watches/RUN.json`."""

    def get(self, name: str) -> str | None:
        """Return a text; None if there is none."""

    def put(self, name: str, text: str) -> None:
        """Save a text; it is on disk when this returns."""

    def drop(self, name: str) -> bool:
        """Delete a text; return whether there was one."""

    def names(self, folder: str) -> list[str]:
        """Return the names of a folder's texts, in order."""

    def hold(self, name: str) -> AbstractContextManager[bool]:
        """Hold a text, so that one process works on it at a time; gives whether it is held."""

    def place(self, name: str) -> str:
        """Return where a text is, for a message."""


def notes_of(store: Store | None, home: Path, lock: Lock) -> Notes:
    """Return the notes of a store: in its database where machines share it, else in the home."""
    if isinstance(store, PostgresStore):
        return patient(PostgresNotes)(store.database)
    return HomeNotes(home, lock)


class HomeNotes(Notes):
    """Notes as files of a home."""

    def __init__(self, home: Path, lock: Lock) -> None:
        """Use the files of a home; there need not be any yet."""
        self._home, self._lock = home, lock

    @override
    def get(self, name: str) -> str | None:
        return read_home_file(self._home / name)

    @override
    def put(self, name: str, text: str) -> None:
        write_home_file(self._home / name, text)

    @override
    def drop(self, name: str) -> bool:
        file = self._home / name
        try:
            file.unlink()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise from_os(error, file) from error
        file.with_suffix(".lock").unlink(missing_ok=True)
        return True

    @override
    def names(self, folder: str) -> list[str]:
        return sorted(f"{folder}/{file.name}" for file in (self._home / folder).glob("*.json"))

    @override
    def hold(self, name: str) -> AbstractContextManager[bool]:
        return self._lock((self._home / name).with_suffix(".lock"))

    @override
    def place(self, name: str) -> str:
        return str(self._home / name)


class PostgresNotes(Notes):
    """Notes as rows of a PostgreSQL database."""

    def __init__(self, database: PostgresDatabase) -> None:
        """Use the rows of a database."""
        self._database = database

    @override
    def get(self, name: str) -> str | None:
        rows = self._database.rows("SELECT text FROM notes WHERE name = ?", name)
        return self._database.read_text(rows[0][0]) if rows else None

    @override
    def put(self, name: str, text: str) -> None:
        with self._database.write() as db:
            db.execute(
                "INSERT INTO notes VALUES (?, ?) ON CONFLICT (name) DO UPDATE "
                "SET text = excluded.text",
                (name, self._database.write_text(text)),
            )

    @override
    def drop(self, name: str) -> bool:
        with self._database.write() as db:
            return bool(db.execute("DELETE FROM notes WHERE name = ?", (name,)).rowcount)

    @override
    def names(self, folder: str) -> list[str]:
        query = "SELECT name FROM notes WHERE name > ? AND name < ? ORDER BY name"
        return [str(row[0]) for row in self._database.rows(query, f"{folder}/", f"{folder}0")]

    @override
    @contextmanager
    def hold(self, name: str) -> Iterator[bool]:
        with self._database.locked(name) as held:
            yield held

    @override
    def place(self, name: str) -> str:
        return f"{name} in {self._database.file}"


@contextmanager
def no_lock(file: Path) -> Iterator[bool]:
    """Lock nothing: for a text that nobody works on for long."""
    yield True
