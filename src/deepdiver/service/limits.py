"""The limits of each user: runs at a time, money, bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from deepdiver.core.settings import Settings
from deepdiver.errors import LimitReachedError
from deepdiver.service.accounts import Account
from deepdiver.store.sql import Database
from deepdiver.work import Load


def check_runs(account: Account, load: Load) -> None:
    """Refuse another run if too many are queued or running.

    Raises:
        LimitReachedError: If there are.
    """
    if load.waiting + load.running >= account.runs:
        raise LimitReachedError(
            f"{account.runs} of your runs are queued or running, which is the maximum: wait until "
            "one ends, or stop one"
        )


def settle_budget(
    account: Account, settings: Settings, asked: Decimal | None, spent: Decimal, promised: Decimal
) -> Decimal | None:
    """Return what a run may cost; None: no limit.

    Args:
        account: Who asks.
        settings: Those of the service, whose budget is the most for any run.
        asked: What the user allows, if anything.
        spent: What the user's runs have cost so far.
        promised: What those that are queued or running may yet cost.

    Raises:
        LimitReachedError: If nothing is left of the user's money.
    """
    bounds = [bound for bound in (asked, settings.budget) if bound is not None]
    if account.money is not None:
        left = account.money - spent - promised
        if left <= 0:
            raise LimitReachedError(
                f"your runs have spent or reserved all of your ${account.money}: ask whoever runs "
                "the service for more"
            )
        bounds.append(left)
    return min(bounds) if bounds else None


def check_bytes(account: Account, used: int, more: int) -> None:
    """Refuse files that do not fit.

    Raises:
        LimitReachedError: If they do not.
    """
    if used + more > account.bytes:
        raise LimitReachedError(
            f"your files would have {used + more:,} bytes, and {account.bytes:,} are the maximum: "
            "remove some first"
        )


@dataclass(frozen=True, slots=True)
class Purse:
    """What was set aside for a run."""

    run: str
    """The run's id."""
    reserved: Decimal | None
    """What it may cost; None: no limit."""
    spent: Decimal | None
    """What it has cost, once it was deleted; until then its journal says."""


class Purses:
    """What was set aside for each run, for as long as its user exists.

    Deleting a run does not give back what it has cost.
    """

    def __init__(self, book: Database) -> None:
        """Write to a book (see `book.open_book`)."""
        self._book = book

    def reserve(self, owner: str, run: str, money: Decimal | None) -> None:
        """Set money aside for a run."""
        with self._book.write() as db:
            db.execute(
                "INSERT INTO purses VALUES (?, ?, ?, NULL) ON CONFLICT (run) DO NOTHING",
                (run, owner, None if money is None else str(money)),
            )

    def settle(self, run: str, spent: Decimal) -> None:
        """Save what a run has cost, because its journal is about to be deleted."""
        with self._book.write() as db:
            db.execute("UPDATE purses SET spent = ? WHERE run = ?", (str(spent), run))

    def owner_of(self, run: str) -> str:
        """Return for whom money was set aside for a run; empty: nobody in particular."""
        rows = self._book.rows("SELECT owner FROM purses WHERE run = ?", run)
        return str(rows[0][0]) if rows else ""

    def owners_of(self, runs: Sequence[str]) -> dict[str, str]:
        """Return for whom money was set aside, for each of some runs that has any."""
        if not runs:
            return {}
        places = ", ".join("?" for _ in runs)
        query = f"SELECT run, owner FROM purses WHERE run IN ({places})"  # noqa: S608
        return dict(self._book.rows(query, *runs))

    def of(self, owner: str) -> list[Purse]:
        """Return what was set aside for the runs of a user."""
        rows = self._book.rows("SELECT run, reserved, spent FROM purses WHERE owner = ?", owner)
        return [
            Purse(run, *(None if text is None else Decimal(text) for text in money))
            for run, *money in rows
        ]
