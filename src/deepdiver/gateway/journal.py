"""A run's journal: the requests, the replies, and the state of each call.

Live and resumed runs read it first, so an answer is never bought twice. A failure is an answer too:
a resumed run meets it again and takes the same path, except where the user may have cured it (a
model's key or server, a budget) or where nothing was sent. A call left as *sent* is uncertain. A
replay has nothing but the journal.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from enum import StrEnum
from typing import Any

from deepdiver.core.budget import EXACT, ZERO
from deepdiver.core.identity import canonical
from deepdiver.errors import CURABLE, BudgetError, CallError, CallFault, NotJournalledError
from deepdiver.gateway.clock import Clock
from deepdiver.gateway.request import Reply, Request
from deepdiver.gateway.store_threads import in_thread
from deepdiver.store import CallState, JournalRow, Store


class Mode(StrEnum):
    """Whether a gateway may call the outside."""

    LIVE = "live"
    """Makes the calls that the journal does not answer."""
    REPLAY = "replay"
    """Makes no calls: a request that the journal does not answer is an error."""


class Journal:
    """The journal of one run."""

    def __init__(
        self,
        store: Store,
        run: str,
        mode: Mode,
        clock: Clock,
        scrub: Callable[[str], str],
    ):
        """Bind a store's journal to a run."""
        self._store, self._run, self._mode = store, run, mode
        self._clock, self._scrub = clock, scrub
        self._failed_here: set[str] = set()

    def spent(self) -> Decimal:
        """Return what the run's calls have cost so far.

        A call that was sent and never settled counts at its worst case, each time it was sent.
        """
        rows = self._store.journal.rows(self._run)
        return functools.reduce(EXACT.add, (_spent(row) for row in rows), ZERO)

    async def look_up(self, request: Request) -> tuple[Reply | None, bool]:
        """Return the journalled answer, and whether the call is uncertain.

        A call is uncertain if it was sent before and never settled.

        Raises:
            CallError: If the journalled answer is a failure.
            BudgetError: If, in a replay, the call was not sent because it did not fit the budget.
            NotJournalledError: If, in a replay, there is no answer.
        """
        row = await in_thread(self._store.journal.get, self._run, request.key)
        if row is not None and row.state is CallState.SETTLED and row.reply is not None:
            return reply_from_json(row.reply), False
        if row is not None and row.state is CallState.FAILED:
            self._raise_if_final(row)
        uncertain = row is not None and row.state is CallState.SENT
        if self._mode is Mode.REPLAY and not uncertain:
            raise NotJournalledError(
                f"the journal of {self._run} holds no answer to {request.kind} {request.provider}: "
                f"{request.what}"
            )
        return None, uncertain

    def _raise_if_final(self, row: JournalRow) -> None:
        """Raise a journalled failure again, unless the call is worth making again."""
        error = json.loads(row.error or "{}")
        final = self._mode is Mode.REPLAY or row.key in self._failed_here
        if error["type"] == "budget":
            if final:
                raise BudgetError(error["message"])
        elif final or (row.sends and not (row.kind == "model" and error["fault"] in CURABLE)):
            raise CallError(error["message"], CallFault(error["fault"]))

    async def reserve(self, request: Request) -> None:
        """Enter a call before it is sent."""
        await in_thread(
            self._store.journal.reserve,
            self._run,
            request.key,
            kind=request.kind,
            provider=request.provider,
            what=self._scrub(request.what),
            request=canonical(_scrub_value(request.payload, self._scrub)),
            worst=request.worst,
            now=self._clock.time(),
        )

    async def sent(self, request: Request) -> None:
        """Mark a call as sent, just before it is."""
        await in_thread(self._store.journal.mark_sent, self._run, request.key, self._clock.time())

    async def declined(self, request: Request) -> None:
        """Mark a sent call as surely without effect, so that a resumed run is in no doubt."""
        await in_thread(
            self._store.journal.mark_declined, self._run, request.key, self._clock.time()
        )

    async def settled(self, request: Request, reply: Reply) -> Reply:
        """Keep a call's answer, and return it as a later look-up will."""
        text = reply_to_json(scrub_reply(reply, self._scrub))
        await in_thread(
            self._store.journal.settle,
            self._run,
            request.key,
            text,
            reply.cost,
            self._clock.time(),
        )
        return reply_from_json(text)

    async def failed(self, request: Request, error: CallError | BudgetError, cost: Decimal) -> None:
        """Keep why a call failed."""
        fields = {"message": self._scrub(str(error)), "type": "budget"}
        if isinstance(error, CallError):
            fields |= {"type": "call", "fault": error.fault.value}
        text = canonical(fields)
        self._failed_here.add(request.key)
        await in_thread(
            self._store.journal.fail, self._run, request.key, text, cost, self._clock.time()
        )


def _spent(row: JournalRow) -> Decimal:
    times = row.uncertain + (row.state is CallState.SENT)
    # Earlier versions booked a negative cost where a service said so.
    cost = row.cost if row.cost.is_finite() and row.cost >= ZERO else row.worst
    return EXACT.add(cost, EXACT.multiply(row.worst, times))


def scrub_reply(reply: Reply, scrub: Callable[[str], str]) -> Reply:
    """Return a reply without secrets."""
    return replace(reply, value=_scrub_value(reply.value, scrub))


def _scrub_value(value: Any, scrub: Callable[[str], str]) -> Any:
    """Return a value with every string in it scrubbed.

    Scrubbing its JSON would not do: a secret may be spelt like JSON's own `null`.
    """
    if isinstance(value, str):
        return scrub(value)
    if isinstance(value, dict):
        return {_scrub_value(key, scrub): _scrub_value(item, scrub) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_scrub_value(item, scrub) for item in value]
    return value


def reply_to_json(reply: Reply) -> str:
    """Return a reply as JSON."""
    fields = {"value": reply.value, "cost": str(reply.cost), "usage": reply.usage}
    return canonical({**fields, "texts": reply.texts} if reply.texts else fields)


def reply_from_json(text: str) -> Reply:
    """Read a reply from JSON."""
    fields = json.loads(text)
    texts = tuple(fields.get("texts", ()))
    return Reply(fields["value"], Decimal(fields["cost"]), fields["usage"], texts)
