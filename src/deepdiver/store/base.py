"""What every store promises, as seven small protocols.

A `Store` is those seven side by side, so that one of them can be replaced: a replay takes the runs
and records of a store that writes nothing, and a call outside of any run keeps its journal in
memory beside the cache and the limits of the home. Another database is a second implementation of
each.

Methods are synchronous and safe to call from several threads. Times are seconds since 1970 given by
the caller, so that tests own the clock. Values are JSON texts, which a store keeps as they are and
never looks into. Each method is one transaction: it happened, or it did not. Writing to a run that
does not exist raises UnknownNameError, and whatever the disk refuses raises a StoreError.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Protocol

from deepdiver.core.record import Run, RunStatus


class CallState(StrEnum):
    """Where a journalled call stands."""

    RESERVED = "reserved"
    """Money is held for it; nothing was sent."""
    SENT = "sent"
    """It went out; if no process is working on it, its fate is uncertain."""
    SETTLED = "settled"
    """It was answered, and the answer is kept."""
    FAILED = "failed"
    """It was answered with a failure, or never reached the other side."""


@dataclass(frozen=True, slots=True)
class JournalRow:
    """One call of one run."""

    run: str
    """The run's id."""
    key: str
    """What was asked, as a hash."""
    state: CallState
    """Where it stands."""
    kind: str
    """model, search, fetch, feed, mcp, tool or human."""
    provider: str
    """Who was asked."""
    what: str
    """What for, in a few words."""
    request: str
    """What was asked, as JSON without secrets."""
    reply: str | None
    """The answer as JSON, once settled."""
    error: str | None
    """Why it failed, once failed."""
    worst: Decimal
    """What it was reserved at."""
    cost: Decimal
    """What it cost, all attempts together: those that failed stay in the sum."""
    sends: int
    """How often it went out."""
    uncertain: int
    """How often it went out and its fate was never learnt."""
    first: float
    """When it was reserved."""
    last: float
    """When its state last changed."""
    order: int
    """Its place in the journal, by first reservation."""


@dataclass(frozen=True, slots=True)
class PastRun:
    """A finished run, as far as a later one needs it to see what it was about."""

    id: str
    """Its id."""
    created: str
    """When it began."""
    question: str
    """What was asked."""
    records: tuple[str, ...]
    """Those of its records that were asked for, as JSON, in any order."""


@dataclass(frozen=True, slots=True)
class LimitGrant:
    """The answer to a request for a place among a provider's calls."""

    granted: bool
    """Whether the call may go out now."""
    wait: float = 0.0
    """If not: seconds after which to ask again."""


class Runs(Protocol):
    """Which runs there are and how each is doing.

    The cut: a run's own row, and nothing that the run has asked, found or written.
    """

    def create(self, run: Run) -> None:
        """Save a new run; ValueError if its id is taken."""

    def get(self, run: str) -> Run:
        """Return a run by its id or by an unambiguous beginning of it.

        Raises:
            UnknownNameError: If no run, or more than one, fits.
        """

    def list_all(self) -> list[Run]:
        """Return all runs, the newest first."""

    def list_past(self, run: str, beginning: str) -> list[PastRun]:
        """Return the finished runs that began before a run, the newest first.

        Each comes with those of its records whose ids begin in the given way. There are none if
        the run does not exist.
        """

    def set_status(self, run: str, status: RunStatus) -> None:
        """Save the status of a run."""

    def delete(self, run: str, now: float) -> None:
        """Delete a run and every text that no other run refers to.

        Raises:
            RunBusyError: While a process works on it.
        """


class Leases(Protocol):
    """Which process works on a run: one at a time.

    The cut: coordination between processes that is worthless after a power cut.
    """

    def take(self, run: str, owner: str, now: float, seconds: float) -> None:
        """Take a run for one process.

        Raises:
            RunBusyError: While another process holds it; names the holder.
        """

    def renew(self, run: str, owner: str, now: float, seconds: float) -> bool:
        """Say that the owner is alive; False if the lease was lost.

        A lease that ran out is not lost until somebody else takes it.
        """

    def drop(self, run: str, owner: str) -> None:
        """Give a run back."""

    def ask_to_stop(self, run: str) -> None:
        """Leave a request to stop for the process that works on a run."""

    def asked_to_stop(self, run: str) -> bool:
        """Return whether there is such a request; taking a lease withdraws it."""


class Journal(Protocol):
    """Every paid or remote call of a run, written before it is sent.

    The cut: what was asked of the outside, what it answered and what that cost. The other parts of
    a run can be computed from it again.
    """

    def get(self, run: str, key: str) -> JournalRow | None:
        """Return a call, if it is known."""

    def rows(self, run: str) -> list[JournalRow]:
        """Return all calls of a run in order."""

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

        A call known as failed, reserved or sent is entered again and keeps its counts, its cost and
        its place; one that was left as sent counts as uncertain once more. A settled call is never
        touched: ValueError.
        """

    def mark_sent(self, run: str, key: str, now: float) -> None:
        """Mark a reserved call as sent, or a sent one as sent again; else ValueError.

        It is on disk before this returns.
        """

    def mark_declined(self, run: str, key: str, now: float) -> None:
        """Take a sent call back to reserved, because it surely came to nothing; else ValueError.

        It may be sent again, and stays counted as sent.
        """

    def settle(self, run: str, key: str, reply: str, cost: Decimal, now: float) -> None:
        """Keep the answer to a call that is sent, or reserved if it was cached; else ValueError.

        It is on disk before this returns. The cost is this attempt's.
        """

    def fail(self, run: str, key: str, error: str, cost: Decimal, now: float) -> None:
        """Keep why a sent or reserved call failed, and what this attempt cost; else ValueError."""


class Records(Protocol):
    """What a run has found, told and written: its ledger, its events, its report.

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
        """Keep a text for a run and return its hash. Lone surrogates are replaced as in `digest`."""

    def hold(self, run: str, digest: str) -> bool:
        """Have a run refer to a text that another run saved; False if it is no longer kept."""

    def get(self, digest: str) -> str:
        """Return a text by its hash; KeyError if it is not kept."""


class Cache(Protocol):
    """Answers shared between runs and processes for a while.

    The cut: what may be lost at any time at the price of asking again.
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

    The cut: like leases, coordination that is worthless after a power cut.
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

    def pause(self, provider: str, until: float) -> None:
        """Let nobody call a provider before a time, because it asked for rest."""


@dataclass(frozen=True)
class Store:
    """Everything that is kept."""

    runs: Runs
    """Which runs there are."""
    leases: Leases
    """Who works on them."""
    journal: Journal
    """What they asked of the outside."""
    records: Records
    """What they found."""
    texts: Texts
    """What they read."""
    cache: Cache
    """Answers shared between runs."""
    limits: Limits
    """Rates shared between processes."""
    close: Callable[[], None]
    """Closes the database; the store cannot be used afterwards."""
