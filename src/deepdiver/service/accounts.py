"""Who may use the service: users with tokens, their limits, and signed-in browsers.

A token is 256 bits of chance, shown once when it is made. The book has its hash alone, and looking
it up by its hash tells nothing about how near a guess was.
"""

from __future__ import annotations

import re
import secrets
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal

from deepdiver.core.identity import digest
from deepdiver.errors import UnknownNameError, UsageError
from deepdiver.store.sql import Database

PREFIX = "dd_"
"""How a token begins, so that tools that look for leaked secrets can tell one."""
SESSION_SECONDS = 30 * 86_400.0
"""How long a browser stays signed in."""
NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")
"""A user's name, which is also that of a folder."""
MOST_RUNS = 20
"""Runs of a user that may be queued or running at a time, unless the user has another limit."""
MOST_BYTES = 1_000_000_000
"""Bytes of the files that a user may keep, unless the user has another limit."""


@dataclass(frozen=True, slots=True)
class Account:
    """Somebody who may use the service."""

    name: str = ""
    """Their name; empty: the person at this machine, whose runs are those of the command line."""
    runs: int = MOST_RUNS
    """How many of their runs may be queued or running at a time."""
    money: Decimal | None = None
    """What all their runs together may cost, in US dollars; None: no limit of their own."""
    bytes: int = MOST_BYTES
    """How many bytes of files they may keep."""


class Accounts:
    """The users of one service."""

    def __init__(self, book: Database, token: str | None = None) -> None:
        """Read users from a book (see `book.open_book`).

        Args:
            book: The book.
            token: The token of the person at this machine, if the settings have one.
        """
        self._book, self._own = book, digest(token) if token else ""

    def any(self) -> bool:
        """Return whether a token is needed: there are users, or a token of the settings."""
        return bool(self._own or self._book.rows("SELECT 1 FROM users LIMIT 1"))

    def all(self) -> list[Account]:
        """Return all users, by name."""
        query = "SELECT name, runs, money, bytes FROM users ORDER BY name"
        return [_account(row) for row in self._book.rows(query)]

    def add(
        self,
        name: str,
        *,
        runs: int = MOST_RUNS,
        money: Decimal | None = None,
        bytes_: int = MOST_BYTES,
    ) -> str:
        """Add a user and return their token, which is saved nowhere.

        Raises:
            UsageError: If the name is taken, or is not one.
        """
        if not NAME.fullmatch(name):
            raise UsageError(
                f"{name[:60]!r} is not a name: use up to 40 small letters, digits, dots, dashes "
                "and underscores, a letter or digit first"
            )
        token = f"{PREFIX}{secrets.token_urlsafe(32)}"
        created = datetime.now(UTC).isoformat(timespec="seconds")
        with self._book.write() as db:
            added = db.execute(
                "INSERT INTO users VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO NOTHING",
                (name, digest(token), runs, None if money is None else str(money), bytes_, created),
            ).rowcount
        if not added:
            raise UsageError(
                f"there is a user {name} already: remove it first, or choose another name"
            )
        return token

    def remove(self, name: str) -> None:
        """Remove a user: their token and their sessions end now, their runs stay.

        Raises:
            UnknownNameError: If there is no such user.
        """
        with self._book.write() as db:
            gone = db.execute("DELETE FROM users WHERE name = ?", (name,)).rowcount
            db.execute('DELETE FROM sessions WHERE "user" = ?', (name,))
        if not gone:
            raise UnknownNameError(f"there is no user {name[:60]!r}")

    def by_token(self, token: str) -> Account | None:
        """Return whose token this is; None: nobody's."""
        hashed = digest(token)
        if self._own and secrets.compare_digest(hashed, self._own):
            return Account()
        query = "SELECT name, runs, money, bytes FROM users WHERE token = ?"
        rows = self._book.rows(query, hashed)
        return _account(rows[0]) if rows else None

    def sign_in(self, token: str, now: float | None = None) -> str:
        """Return a session for a browser; empty if the token is nobody's."""
        account = self.by_token(token)
        if account is None:
            return ""
        session, now = secrets.token_urlsafe(32), time.time() if now is None else now
        with self._book.write() as db:
            db.execute("DELETE FROM sessions WHERE until <= ?", (now,))
            db.execute(
                "INSERT INTO sessions VALUES (?, ?, ?)",
                (digest(session), account.name, now + SESSION_SECONDS),
            )
        return session

    def by_session(self, session: str, now: float | None = None) -> Account | None:
        """Return who is signed in; None: nobody, or no longer."""
        query = 'SELECT "user" FROM sessions WHERE token = ? AND until > ?'
        rows = self._book.rows(query, digest(session), time.time() if now is None else now)
        if not rows:
            return None
        if not rows[0][0]:  # the person at this machine, as long as there is a token for them
            return Account() if self._own else None
        query = "SELECT name, runs, money, bytes FROM users WHERE name = ?"
        users = self._book.rows(query, rows[0][0])
        return _account(users[0]) if users else None

    def sign_out(self, session: str) -> None:
        """End a session."""
        with self._book.write() as db:
            db.execute("DELETE FROM sessions WHERE token = ?", (digest(session),))


def _account(row: tuple[str, int, str | None, int]) -> Account:
    name, runs, money, bytes_ = row
    return Account(name, runs, None if money is None else Decimal(money), bytes_)
