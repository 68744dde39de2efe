"""A run's journal: what was asked, what came back, and what to do about it when the run is taken up again.

Live and resumed runs read it first, so an answer is never bought twice. A failure is an answer too: a resumed run meets
it again and takes the same path, except where the user can have cured it (a key, a budget) or where nothing was sent. A
call left as *sent* is uncertain. A replay has nothing but the journal.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from decimal import Decimal
from enum import StrEnum
from typing import TypeVar

from deepdiver.core.record import canonical
from deepdiver.errors import BudgetError, CallError, CallFault, NotJournalledError
from deepdiver.gateway.request import Reply, Request
from deepdiver.store import CallState, JournalRow, Store

T = TypeVar("T")


class Mode(StrEnum):
    """How a gateway stands to the outside."""

    LIVE = "live"
    """Calls what the journal does not answer."""
    REPLAY = "replay"
    """Has no outside: what the journal does not answer is an error."""


class Journal:
    """The journal of one run."""

    def __init__(self, store: Store, run: str, mode: Mode, clock: Callable[[], float], scrub: Callable[[str], str]):
        """Bind a store's journal to a run."""
        self._store, self._run, self._mode, self._clock, self._scrub = store, run, mode, clock, scrub

    def spent(self) -> Decimal:
        """Return what the run's calls have cost so far; a call of uncertain fate counts at its worst."""
        rows = self._store.journal_list(self._run)
        in_doubt = sum((row.worst for row in rows if row.state is CallState.SENT), Decimal(0))
        return sum((row.cost for row in rows), in_doubt)

    async def look_up(self, request: Request) -> tuple[Reply | None, bool]:
        """Return what the journal answers, and whether the call was sent before and its fate is unknown.

        Raises:
            CallError: If the journalled answer is a failure.
            BudgetError: If, in a replay, the call was not sent for want of money.
            NotJournalledError: If, in a replay, there is no answer.
        """
        row = await asyncio.to_thread(self._store.journal_get, self._run, request.key)
        if row is not None and row.state is CallState.SETTLED and row.reply is not None:
            return reply_from_json(row.reply), False
        if row is not None and row.state is CallState.FAILED:
            self._raise_again(row)
        if self._mode is Mode.REPLAY:
            raise NotJournalledError(
                f"the journal of {self._run} holds no answer to {request.kind} {request.provider}: {request.what}"
            )
        return None, row is not None and row.state is CallState.SENT

    def _raise_again(self, row: JournalRow) -> None:
        error = json.loads(row.error or "{}")
        replay = self._mode is Mode.REPLAY
        if error.get("type") == "budget":
            if replay:
                raise BudgetError(error["message"])
        elif replay or error["fault"] != CallFault.AUTH:
            raise CallError(error["message"], CallFault(error["fault"]))

    async def reserve(self, request: Request) -> None:
        """Enter a call."""
        await asyncio.to_thread(
            self._store.journal_reserve,
            self._run,
            request.key,
            kind=request.kind,
            provider=request.provider,
            what=self._scrub(request.what),
            request=self._scrub(canonical(request.payload)),
            worst=request.worst,
            now=self._clock(),
        )

    async def sent(self, request: Request) -> None:
        """Mark a call as sent, before it is."""
        await asyncio.to_thread(self._store.journal_sent, self._run, request.key, self._clock())

    async def settled(self, request: Request, reply: Reply) -> Reply:
        """Keep a call's answer; return it as a later look-up will."""
        text = self._scrub(reply_to_json(reply))
        await asyncio.to_thread(self._store.journal_settled, self._run, request.key, text, reply.cost, self._clock())
        return reply_from_json(text)

    async def failed(self, request: Request, error: CallError | BudgetError, cost: Decimal) -> None:
        """Keep why a call failed."""
        kept = {"type": "budget"} if isinstance(error, BudgetError) else {"type": "call", "fault": error.fault.value}
        text = self._scrub(canonical({**kept, "message": str(error)}))
        await asyncio.to_thread(self._store.journal_failed, self._run, request.key, text, cost, self._clock())


def reply_to_json(reply: Reply) -> str:
    """Return a reply as JSON."""
    return canonical({"value": reply.value, "cost": str(reply.cost), "usage": reply.usage})


def reply_from_json(text: str) -> Reply:
    """Read a reply from JSON."""
    held = json.loads(text)
    return Reply(held["value"], Decimal(held["cost"]), held["usage"])
