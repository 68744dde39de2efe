"""What a run has cost, where some of it has no known price, and how many tokens.

A price that is not known is not zero. Which services of a run have none is told when it starts, and
is part of its events; which of them it has called is in its journal.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from deepdiver.store import CallState, JournalRow, Store

CALLED = frozenset({CallState.SENT, CallState.SETTLED})


@dataclass(frozen=True, slots=True)
class Spending:
    """What a run has cost."""

    known: Decimal = Decimal(0)
    """The sum of what has a price, in US dollars."""
    unpriced: tuple[str, ...] = ()
    """The services that were called and have no known price."""
    tokens_in: int = 0
    """The tokens that models read."""
    tokens_out: int = 0
    """The tokens that they wrote."""

    @property
    def text(self) -> str:
        """The amount in US dollars, without the sign: "0.02", "at least 0.02" or "unknown"."""
        if not self.unpriced:
            return usd(self.known)
        return f"at least {usd(self.known)}" if self.known else "unknown"


def usd(amount: Decimal) -> str:
    """Return an amount without trailing zeros and without an exponent."""
    return f"{amount.normalize():f}"


def spending_of(store: Store, run: str) -> Spending:
    """Return what a run has cost, from its journal and its events."""
    return spend(store.journal.rows(run), starts_of(store, run))


def starts_of(store: Store, run: str) -> list[str]:
    """Return the events of a run that tell of its starts."""
    return [text for _, text in store.records.events(run) if '"run_started"' in text]


def spend(rows: Iterable[JournalRow], events: Iterable[str]) -> Spending:
    """Return what calls have cost.

    Args:
        rows: The calls.
        events: The events of their run as JSON, of which the last start counts: somebody may have
            set a price since the first.
    """
    held = list(rows)
    started = [event for text in events if (event := json.loads(text))["type"] == "run_started"]
    last = started[-1] if started else {"ceiling": "0"}
    names = set(last.get("unpriced", ())) if last["ceiling"] is None else set()
    called = {row.provider for row in held if row.state in CALLED and row.provider in names}
    usages = [json.loads(row.reply)["usage"] for row in held if row.kind == "model" and row.reply]
    return Spending(
        sum((row.cost for row in held), Decimal(0)),
        tuple(sorted(called)),
        sum(usage.get("input_tokens", 0) for usage in usages),
        sum(usage.get("output_tokens", 0) for usage in usages),
    )
