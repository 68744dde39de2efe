"""What every store promises, as seven small protocols.

A `Store` has one of each, so that a single one can be replaced: a replay uses runs and records that
write nothing, and a call outside of any run keeps its journal in memory beside the cache and the
limits of the home. Another database is a second implementation of each.

Methods are synchronous and thread-safe. Times are seconds since 1970, given by the caller, so that
tests control the clock. Values are JSON texts, which a store never looks into. Each method is one
transaction: it happened, or it did not. Writing to a run that does not exist raises
UnknownNameError, and a failure of the disk raises a StoreError.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Protocol

from deepdiver.core.record import Run, RunStatus

EVERY_RUN = 2**31 - 1
"""More runs than a store can have."""


class CallState(StrEnum):
    """The state of a journalled call."""

    RESERVED = "reserved"
    """Money is reserved for it; nothing was sent."""
    SENT = "sent"
    """It was sent. If no process is working on it, nobody knows whether it was answered."""
    SETTLED = "settled"
    """It was answered, and the answer is saved."""
    FAILED = "failed"
    """It was answered with an error, or never reached the other side."""


@dataclass(frozen=True, slots=True)
class JournalRow:
    """One call of one run."""

    run: str
    """The run's id."""
    key: str
    """The hash of the request."""
    state: CallState
    """Its state."""
    kind: str
    """model, search, fetch, feed, mcp, tool, human or steer."""
    provider: str
    """The provider that was asked."""
    what: str
    """What it is for, in a few words."""
    request: str
    """The request as JSON, without secrets."""
    reply: str | None
    """The answer as JSON, if it is settled."""
    error: str | None
    """Why it failed, if it failed."""
    worst: Decimal
    """The amount that was reserved for it."""
    cost: Decimal
    """The cost of all attempts, including those that failed."""
    sends: int
    """How often it was sent."""
    uncertain: int
    """How often it was sent without anybody learning whether it was answered."""
    first: float
    """When it was reserved."""
    last: float
    """When its state last changed."""
    order: int
    """Its place in the journal, by its first reservation."""


@dataclass(frozen=True, slots=True)
class PastRun:
    """A finished run, with what a later run needs to see what it was about."""

    id: str
    """Its id."""
    created: str
    """When it began."""
    question: str
    """What was asked."""
    records: tuple[str, ...]
    """The records that were asked for, as JSON, in any order."""


@dataclass(frozen=True, slots=True)
class LimitGrant:
    """The answer to a request for a place among a provider's calls."""

    granted: bool
    """Whether the call may be sent now."""
    wait: float = 0.0
    """If not, the seconds after which to ask again."""


class Runs(Protocol):
    """The runs and their statuses.

    The cut: a run's own row, and nothing that the run has asked, found or written but the events
    that come with a status.
    """

    def create(self, run: Run) -> None:
        """Save a new run; ValueError if its id is taken."""

    def begin(self, run: Run) -> bool:
        """Save a queued run as it begins, and that it is running; False if it is not queued."""

    def get(self, run: str) -> Run:
        """Return a run by its id or by an unambiguous beginning of it.

        Raises:
            UnknownNameError: If no run, or more than one, fits.
        """

    def list_all(self, before: tuple[str, str] | None = None, most: int = EVERY_RUN) -> list[Run]:
        """Return runs, the newest first: all of them, or a page.

        Args:
            before: When the last run of the page before was created, and its id; None: the first
                page. If that run was deleted meanwhile, those that were created in the same second
                come again.
            most: How many runs a page has.
        """

    def list_past(self, run: str, beginning: str) -> list[PastRun]:
        """Return the finished runs that began before a run, the newest first.

        Each comes with its records whose ids have the given beginning. There are none if the run
        does not exist.
        """

    def set_status(self, run: str, status: RunStatus, events: Sequence[str] = ()) -> None:
        """Save the status of a run, and events as JSON that tell of it.

        Whoever sees the status finds the events.
        """

    def delete(self, run: str, now: float) -> None:
        """Delete a run and every text that no other run refers to.

        Raises:
            RunBusyError: While a process works on it.
        """


class Leases(Protocol):
    """Which process works on a run, one at a time.

    The cut: coordination between processes, which is worthless after a power cut.
    """

    def take(self, run: str, owner: str, now: float, seconds: float) -> None:
        """Take a run for one process.

        Raises:
            RunBusyError: If another process holds it; names the holder.
        """

    def renew(self, run: str, owner: str, now: float, seconds: float) -> bool:
        """Extend a lease, because its owner is alive; False if the lease was lost.

        A lease that ran out is not lost until another process takes it.
        """

    def holder(self, run: str) -> str:
        """Return the owner of a run's lease, even if it ran out; empty if nobody has one."""

    def drop(self, run: str, owner: str) -> None:
        """Give a run back."""

    def ask_to_stop(self, run: str) -> None:
        """Ask the process that works on a run to stop."""

    def asked_to_stop(self, run: str) -> bool:
        """Return whether the run was asked to stop since its lease was taken."""


class Journal(Protocol):
    """Every paid or remote call of a run, written before it is sent.

    The cut: requests to the outside, their answers and their costs. The other parts of a run can
    be computed from them again.
    """

    def get(self, run: str, key: str) -> JournalRow | None:
        """Return a call, or None if it is not known."""

    def rows(self, run: str, kind: str = "") -> list[JournalRow]:
        """Return the calls of a run in order, all or those of a kind."""

    def reserve(
        self,
        run: str,
        key: str,
        *,
        kind: str,
        provider: str,
        what: str,
        request: str,
        worst: Decimal,
        now: float,
    ) -> None:
        """Enter a call as reserved.

        A call that failed, or is reserved or sent, is entered again and keeps its counts, its cost
        and its place; one that was sent counts as uncertain once more. A settled call is never
        changed: ValueError.
        """

    def mark_sent(self, run: str, key: str, now: float) -> None:
        """Mark a reserved call as sent, or a sent one as sent again; else ValueError.

        It is on disk before this returns.
        """

    def mark_declined(self, run: str, key: str, now: float) -> None:
        """Return a sent call to reserved, because it certainly had no effect; else ValueError.

        It may be sent again, and still counts as sent.
        """

    def settle(self, run: str, key: str, reply: str, cost: Decimal, now: float) -> None:
        """Save the answer to a call that is sent, or reserved if it was cached; else ValueError.

        It is on disk before this returns. The cost is that of this attempt.
        """

    def fail(self, run: str, key: str, error: str, cost: Decimal, now: float) -> None:
        """Save why a sent or reserved call failed, and this attempt's cost; else ValueError."""


class Records(Protocol):
    """The ledger, the events and the report of a run.

    The cut: everything that a replay makes again, byte for byte.
    """

    def add(self, run: str, records: Iterable[tuple[str, str, str]]) -> None:
        """Add (kind, id, JSON) to a run's ledger.

        A known id is kept unless the new JSON comes first in order (see `core.ledger`).
        """

    def ledger(self, run: str) -> list[tuple[str, str, str]]:
        """Return a run's ledger, ordered by id."""

    def add_events(self, run: str, events: Iterable[str]) -> None:
        """Append events, as JSON."""

    def events(self, run: str, after: int = 0) -> list[tuple[int, str]]:
        """Return (number, JSON) of a run's events after a number."""

    def save_report(self, run: str, report: str) -> None:
        """Save a run's report, as JSON."""

    def report(self, run: str) -> str | None:
        """Return a run's report, if there is one."""


class Texts(Protocol):
    """The texts of sources, each kept once per store under its hash.

    The cut: bodies. Everything else refers to them by hash.
    """

    def put(self, run: str, text: str) -> str:
        """Save a text for a run and return its hash; replace lone surrogates as `digest` does."""

    def hold(self, run: str, digest: str) -> bool:
        """Have a run refer to a text that another run saved; False if it is not there any more."""

    def get(self, digest: str) -> str:
        """Return a text by its hash.

        Raises:
            LostTextError: If it is not there, or cannot be read; names the runs that saved it.
        """


class Cache(Protocol):
    """Answers shared between runs and processes for a while.

    The cut: what may be lost at any time, at the cost of asking again.
    """

    def get(self, key: str, now: float) -> str | None:
        """Return a cached answer that is still fresh."""

    def put(self, key: str, value: str, expires: float) -> None:
        """Share an answer until a time."""

    def claim(self, key: str, owner: str, now: float, until: float) -> bool:
        """Claim the right to fetch an answer; False while another owner's claim is alive.

        May delete expired rows.
        """

    def release(self, key: str, owner: str) -> None:
        """Give a claim back."""


class Limits(Protocol):
    """How often and how many at a time a provider may be called, across all processes.

    The cut: coordination, which is worthless after a power cut, like leases.
    """

    def take(
        self,
        provider: str,
        owner: str,
        now: float,
        until: float,
        *,
        rate: float,
        per: float,
        concurrent: int,
    ) -> LimitGrant:
        """Ask for a place among a provider's calls: a token bucket and a number of slots.

        The bucket holds max(1, rate) tokens and gains `rate` of them every `per` seconds. A slot
        that its owner never gives back is free again at `until`. An owner holds one slot at most:
        use a name for each call.
        """

    def give(self, provider: str, owner: str) -> None:
        """Give a place back."""

    def pause(self, provider: str, now: float, until: float) -> None:
        """Let no process call a provider before a time, because the provider asked for it."""


@dataclass(frozen=True)
class Store:
    """Everything that is saved, one protocol for each kind."""

    runs: Runs
    """Which runs there are."""
    leases: Leases
    """Which processes work on them."""
    journal: Journal
    """Their calls to the outside."""
    records: Records
    """What they found."""
    texts: Texts
    """The texts that they read."""
    cache: Cache
    """Answers shared between runs."""
    limits: Limits
    """Rates shared between processes."""
    close: Callable[[], None]
    """Closes the database; the store cannot be used afterwards."""
