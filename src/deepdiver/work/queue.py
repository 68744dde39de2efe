"""What every queue promises. A restart loses nothing: all of it is in the database of the runs.

Methods are synchronous and thread-safe, as those of the store are. Time goes by the clock of the
database, where it has one.

Shares are fair by turns. An order gets the turn behind the last of its owner, but not before the
one that is being served: so the orders of several owners alternate, and one that comes alone is
next but one, however many another owner has. Turns count within a priority.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from deepdiver.store import Store
from deepdiver.work.order import Order


@dataclass(frozen=True, slots=True)
class Taken:
    """An order that a worker has taken."""

    run: str
    """The id of its run."""
    owner: str
    """Who asked."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Settings of its run that are not saved with it."""
    attempts: int = 1
    """How often it was taken, this time included."""
    waited: float = 0.0
    """Seconds since it could be taken first."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """An order that waits."""

    run: str
    """The id of its run."""
    owner: str
    """Who asked."""
    priority: int
    """Its priority."""
    position: int
    """Its place in the whole queue, from 1."""
    put: float
    """When it was put there, in seconds since 1970."""
    due: float
    """When it may be taken."""


@dataclass(frozen=True, slots=True)
class Load:
    """What an owner has in the queue."""

    waiting: int = 0
    """Orders that wait."""
    running: int = 0
    """Orders that workers have taken."""


class Queue(Protocol):
    """The orders that wait and those that workers have taken."""

    @property
    def store(self) -> Store:
        """The store of their runs."""

    def put(self, order: Order) -> str:
        """Enter an order and its run, which is *queued* from then on; return the run's id.

        Raises:
            SettingsError: If an option of the order cannot be used.
            UsageError: If the question cannot be asked, or its key was used for another one.
            ValueError: If there is a run of that id.
        """

    def put_again(self, run: str) -> None:
        """Put a run that was stopped, failed or waited for a person back into the queue.

        Nothing happens if it is there already. If its worker has yet to end the order, or has been
        asked to stop, it is put back as soon as that has happened.

        Raises:
            UsageError: If it is finished.
            UnknownNameError: If there is no such run.
        """

    def cancel(self, run: str) -> bool:
        """Take an order out of the queue, or ask the worker that has taken it to stop.

        Its run is *stopped* then, and can be put back. Returns whether it was waiting.

        Raises:
            UnknownNameError: If there is no such run.
        """

    def waiting(self, owner: str | None = None) -> list[Waiting]:
        """Return the orders that wait, in the order in which they are taken; None: all owners'."""

    def owners(self) -> dict[str, Load]:
        """Return what each owner has in the queue."""

    def owner_of(self, run: str) -> str | None:
        """Return who ordered a run; None if it was never in the queue."""

    def owners_of(self, runs: Sequence[str]) -> dict[str, str]:
        """Return who ordered each of some runs, of those that were ever in the queue."""

    def find(self, owner: str, key: str) -> str | None:
        """Return the run that an owner has ordered under a key."""

    def hire(self, name: str) -> Worker:
        """Enter a worker, who takes orders."""


class Worker(Protocol):
    """One process that works on orders."""

    def take(self) -> Taken | None:
        """Take the next order, if one is due.

        An order whose worker has died comes before the others.
        """

    def beat(self) -> list[str]:
        """Say that this worker is alive; return those of its runs that are to be stopped.

        One that is silent for `LEASE_SECONDS` loses its orders.
        """

    def to_stop(self) -> list[str]:
        """Return those of its runs that are to be stopped; as `beat` does, and costs less."""

    def finish(self, run: str) -> None:
        """End an order, if this worker still has it."""

    def give_back(self, run: str, seconds: float = 0.0) -> None:
        """Put an order back, if this worker still has it, to be taken after some seconds.

        Its run is *queued* again.
        """

    def leave(self) -> None:
        """Take the worker off the list; orders that it has not ended can be taken at once."""
