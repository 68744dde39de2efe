"""The log of what users did: append-only, each line sealed by the one before.

The database refuses to change or delete a line. Whoever goes around the database breaks the chain:
each line carries a hash over itself and the hash of the line before, which `check` repeats.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from deepdiver.core.identity import canonical, digest
from deepdiver.store.sql import Database

LONGEST = 300
"""Characters of what a line says, so that nobody fills the disk by way of the log."""
_COLUMNS = 'number, at, "user", action, what, chain'


@dataclass(frozen=True, slots=True)
class LogLine:
    """Something that a user did."""

    number: int
    """Its place in the log, from 1."""
    at: str
    """When, ISO 8601 in UTC."""
    user: str
    """Who; empty: the person at this machine."""
    action: str
    """What was done: run.create, run.delete, signin.refused and so on."""
    what: str
    """To what: the id of a run, the name of a file; never a question, a text or a secret."""
    chain: str
    """Hash over this line and the hash of the one before."""


class AuditLog:
    """The log of one service."""

    def __init__(self, book: Database) -> None:
        """Write to a book (see `book.open_book`)."""
        self._book = book

    def add(self, user: str, action: str, what: str = "") -> None:
        """Append a line; it is on disk before this returns."""
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        what = " ".join(what.split())[:LONGEST]
        with self._book.write(alone="log") as db:
            query = "SELECT number, chain FROM log ORDER BY number DESC LIMIT 1"
            number, before = db.execute(query).fetchone() or (0, "")
            line = (at, user, action, what, _chain(before, at, user, action, what))
            db.execute("INSERT INTO log VALUES (?, ?, ?, ?, ?, ?)", (number + 1, *line))

    def lines(self, user: str | None = None, most: int = 1_000) -> list[LogLine]:
        """Return the newest lines, the newest first: of one user, or of all."""
        where, values = ("", ()) if user is None else ('WHERE "user" = ? ', (user,))
        query = f"SELECT {_COLUMNS} FROM log {where}ORDER BY number DESC LIMIT ?"  # noqa: S608 no input
        rows = self._book.rows(query, *values, most)
        return [LogLine(*row) for row in rows]

    def check(self) -> int:
        """Return the number of the first line that was altered or follows a missing one; 0: none.

        Lines that were cut off at the end leave no trace here.
        """
        before, expected = "", 1
        query = f"SELECT {_COLUMNS} FROM log ORDER BY number"  # noqa: S608 no input
        for number, at, user, action, what, chain in self._book.rows(query):
            if number != expected or chain != _chain(before, at, user, action, what):
                return int(number)
            before, expected = chain, expected + 1
        return 0


def _chain(before: str, at: str, user: str, action: str, what: str) -> str:
    return digest(canonical([before, at, user, action, what]))
