"""The interface of every store. Methods are synchronous and safe to call from several threads.

Times are seconds since 1970 given by the caller, so that tests own the clock. Values are JSON
texts: a store keeps them as they are and never looks inside. Each method is one transaction: it
happened, or it did not. Whatever writes to a run that is not there raises UnknownNameError, and
whatever the disk refuses a StoreError.
"""

from __future__ import annotations

from collections.abc import Iterable
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


class Store(Protocol):
    """Runs, journal, records, events, texts, shared cache and shared limits."""

    def close(self) -> None:
        """Let go of the database."""

    # Runs

    def create_run(self, run: Run) -> None:
        """Save a new run; ValueError if there is one of this id."""

    def get_run(self, run: str) -> Run:
        """Return a run by its id or by an unambiguous beginning of it.

        UnknownNameError if there is none.
        """

    def list_runs(self) -> list[Run]:
        """Return all runs, the newest first."""

    def past_runs(self, run: str, beginning: str) -> list[PastRun]:
        """Return the finished runs that were begun before a run, the newest first.

        None if that run is not there.

        Each comes with those of its records whose ids begin in the given way.
        """

    def set_status(self, run: str, status: RunStatus) -> None:
        """Save where a run stands."""

    def delete_run(self, run: str, now: float) -> None:
        """Forget a run and every text that no other run refers to.

        RunBusyError while a process works on it.
        """

    def save_report(self, run: str, report: str) -> None:
        """Save a run's report, as JSON."""

    def get_report(self, run: str) -> str | None:
        """Return a run's report, if there is one."""

    # Leases

    def take_lease(self, run: str, owner: str, now: float, seconds: float) -> None:
        """Take a run for one process.

        RunBusyError names the holder while another's lease is alive.
        """

    def renew_lease(self, run: str, owner: str, now: float, seconds: float) -> bool:
        """Say that the owner is alive; False if the lease was lost."""

    def drop_lease(self, run: str, owner: str) -> None:
        """Let a run go."""

    def ask_to_stop(self, run: str) -> None:
        """Leave word for the process that works on a run."""

    def asked_to_stop(self, run: str) -> bool:
        """Whether someone asked; forgotten when a lease is taken."""

    # Journal

    def journal_get(self, run: str, key: str) -> JournalRow | None:
        """Return a call, if it is known."""

    def journal_list(self, run: str) -> list[JournalRow]:
        """Return all calls of a run in order."""

    def journal_reserve(
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

        A call known as failed, reserved or sent is entered anew and keeps its counts, its cost and
        its place; one that was left as sent counts as uncertain once more. A settled call is never
        touched: ValueError.
        """

    def journal_sent(self, run: str, key: str, now: float) -> None:
        """Mark a reserved call as sent, or a sent one as sent again, on disk before this returns.

        Else ValueError.
        """

    def journal_declined(self, run: str, key: str, now: float) -> None:
        """Take a sent call back to reserved: it surely came to nothing and may be sent again.

        It stays counted as sent.

        Else ValueError.
        """

    def journal_settled(self, run: str, key: str, reply: str, cost: Decimal, now: float) -> None:
        """Keep a call's answer, on disk before this returns.

        ValueError unless it is sent or reserved (a cached one).

        The cost is this attempt's.
        """

    def journal_failed(self, run: str, key: str, error: str, cost: Decimal, now: float) -> None:
        """Keep why a sent or reserved call failed, and what this attempt cost; else ValueError."""

    # Records, events, texts

    def add_records(self, run: str, records: Iterable[tuple[str, str, str]]) -> None:
        """Add (kind, id, JSON) to a run's ledger.

        A known id is kept unless the new JSON reads first (see ledger).
        """

    def get_records(self, run: str) -> list[tuple[str, str, str]]:
        """Return a run's ledger, ordered by id."""

    def add_events(self, run: str, events: Iterable[str]) -> None:
        """Append events, as JSON."""

    def get_events(self, run: str, after: int = 0) -> list[tuple[int, str]]:
        """Return (number, JSON) of a run's events behind a number."""

    def put_text(self, run: str, text: str) -> str:
        """Keep a text, compressed, once per store; return its hash.

        Lone surrogates are replaced as `digest` does.
        """

    def hold_text(self, run: str, digest: str) -> bool:
        """Have a run refer to a text that another saved; False if it is not kept any more."""

    def get_text(self, digest: str) -> str:
        """Return a text by its hash; KeyError if it is not kept."""

    # Shared between runs and processes

    def cache_get(self, key: str, now: float) -> str | None:
        """Return a cached answer that is still fresh."""

    def cache_put(self, key: str, value: str, expires: float) -> None:
        """Share an answer until a time."""

    def cache_claim(self, key: str, owner: str, now: float, until: float) -> bool:
        """Claim the right to fetch an answer; False while another holds a live claim.

        May throw out expired rows.
        """

    def cache_release(self, key: str, owner: str) -> None:
        """Give a claim back."""

    def limit_take(
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
        """Ask for a place among a provider's calls.

        A token bucket and a number of slots, across all processes.

        The bucket holds max(1, rate) tokens and gains `rate` of them every `per` seconds. A slot
        that its owner never gives back is free again at `until`. An owner holds one slot at most:
        use a name for each call.
        """

    def limit_give(self, provider: str, owner: str) -> None:
        """Give a place back."""

    def limit_pause(self, provider: str, until: float) -> None:
        """Let nobody call a provider before a time: it asked for rest."""
