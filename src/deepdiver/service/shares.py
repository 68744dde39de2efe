"""Links by which anybody may read one report, and nothing else.

There is none until somebody makes it. A link is 256 bits of chance, shown once; the book has its
hash alone. It ends when it is revoked, when another is made for the same run, when the run is
deleted, and when its owner is no longer a user.
"""

from __future__ import annotations

import secrets
from datetime import UTC, datetime

from deepdiver.core.identity import digest
from deepdiver.store.sql import Database


class Shares:
    """The links of one service."""

    def __init__(self, book: Database) -> None:
        """Write to a book (see `book.open_book`)."""
        self._book = book

    def make(self, run: str, owner: str) -> str:
        """Return a new link's token for a run; one that was made before ends."""
        token, now = secrets.token_urlsafe(32), datetime.now(UTC).isoformat(timespec="seconds")
        with self._book.write() as db:
            db.execute(
                "INSERT INTO shares VALUES (?, ?, ?, ?) ON CONFLICT (run) DO UPDATE "
                "SET owner = excluded.owner, token = excluded.token, created = excluded.created",
                (run, owner, digest(token), now),
            )
        return token

    def revoke(self, run: str) -> bool:
        """End the link of a run; return whether there was one."""
        with self._book.write() as db:
            return bool(db.execute("DELETE FROM shares WHERE run = ?", (run,)).rowcount)

    def since(self, run: str) -> str:
        """Return when the link of a run was made, ISO 8601 in UTC; empty: there is none."""
        rows = self._book.rows("SELECT created FROM shares WHERE run = ?", run)
        return str(rows[0][0]) if rows else ""

    def run_of(self, token: str) -> str:
        """Return the run that a link is for; empty: none, or its owner is no longer a user."""
        query = (
            "SELECT run FROM shares WHERE token = ? AND "
            "(owner = '' OR owner IN (SELECT name FROM users))"
        )
        rows = self._book.rows(query, digest(token))
        return str(rows[0][0]) if rows else ""
