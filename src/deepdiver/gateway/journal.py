"""A run's journal.

What was asked, what came back, and what to do about it when the run is taken up again.

Live and resumed runs read it first, so an answer is never bought twice. A failure is an answer too:
a resumed run meets it again and takes the same path, except where the user can have cured it (a
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
from deepdiver.errors import BudgetError, CallError, CallFault, NotJournalledError
from deepdiver.gateway.request import Reply, Request
from deepdiver.gateway.threads import in_thread
from deepdiver.store import CallState, JournalRow, Store


class Mode(StrEnum):
    """How a gateway stands to the outside."""

    LIVE = "live"
    """Calls what the journal does not answer."""
    REPLAY = "replay"
    """Has no outside: what the journal does not answer is an error."""


CURABLE = frozenset({CallFault.AUTH, CallFault.UNREACHED})
"""A run cannot go on without its model, so it ends at these; the user sees to key or server, and it
is asked anew."""


class Journal:
    """The journal of one run."""

    def __init__(
        self,
        store: Store,
        run: str,
        mode: Mode,
        clock: Callable[[], float],
        scrub: Callable[[str], str],
    ):
        """Bind a store's journal to a run."""
        self._store, self._run, self._mode, self._clock, self._scrub = (
            store,
            run,
            mode,
            clock,
            scrub,
        )
        self._failed_here: set[str] = set()

    def spent(self) -> Decimal:
        """Return what the run's calls have cost so far.

        Each time that one went out to an uncertain fate, its worst.
        """
        rows = self._store.journal.rows(self._run)
        return functools.reduce(EXACT.add, (_spent(row) for row in rows), ZERO)

    async def look_up(self, request: Request) -> tuple[Reply | None, bool]:
        """Return what the journal answers, and whether the call was sent before and its fate is unknown.

        Raises:
            CallError: If the journalled answer is a failure.
            BudgetError: If, in a replay, the call was not sent for want of money.
            NotJournalledError: If, in a replay, there is no answer.
        """
        row = await in_thread(self._store.journal.get, self._run, request.key)
        if row is not None and row.state is CallState.SETTLED and row.reply is not None:
            return reply_from_json(row.reply), False
        if row is not None and row.state is CallState.FAILED:
            self._raise_again(row)
        uncertain = row is not None and row.state is CallState.SENT
        if self._mode is Mode.REPLAY and not uncertain:
            raise NotJournalledError(
                f"the journal of {self._run} holds no answer to {request.kind} {request.provider}: "
                f"{request.what}"
            )
        return None, uncertain

    def _raise_again(self, row: JournalRow) -> None:
        error = json.loads(row.error or "{}")
        final = self._mode is Mode.REPLAY or row.key in self._failed_here
        if error["type"] == "budget":
            if final:
                raise BudgetError(error["message"])
        elif final or (row.sends and not (row.kind == "model" and error["fault"] in CURABLE)):
            raise CallError(error["message"], CallFault(error["fault"]))

    async def reserve(self, request: Request) -> None:
        """Enter a call."""
        await in_thread(
            self._store.journal.reserve,
            self._run,
            request.key,
            kind=request.kind,
            provider=request.provider,
            what=self._scrub(request.what),
            request=canonical(_scrubbed(request.payload, self._scrub)),
            worst=request.worst,
            now=self._clock(),
        )

    async def sent(self, request: Request) -> None:
        """Mark a call as sent, before it is."""
        await in_thread(self._store.journal.mark_sent, self._run, request.key, self._clock())

    async def declined(self, request: Request) -> None:
        """Note that a call that was sent surely came to nothing, so that whoever goes on has no doubt about it."""
        await in_thread(self._store.journal.mark_declined, self._run, request.key, self._clock())

    async def settled(self, request: Request, reply: Reply) -> Reply:
        """Keep a call's answer; return it as a later look-up will."""
        text = reply_to_json(scrubbed(reply, self._scrub))
        await in_thread(
            self._store.journal.settle, self._run, request.key, text, reply.cost, self._clock()
        )
        return reply_from_json(text)

    async def failed(self, request: Request, error: CallError | BudgetError, cost: Decimal) -> None:
        """Keep why a call failed."""
        kept = (
            {"type": "budget"}
            if isinstance(error, BudgetError)
            else {"type": "call", "fault": error.fault.value}
        )
        text = canonical({**kept, "message": self._scrub(str(error))})
        self._failed_here.add(request.key)
        await in_thread(self._store.journal.fail, self._run, request.key, text, cost, self._clock())


def _spent(row: JournalRow) -> Decimal:
    times = row.uncertain + (row.state is CallState.SENT)
    return EXACT.add(row.cost, EXACT.multiply(row.worst, times))


def scrubbed(reply: Reply, scrub: Callable[[str], str]) -> Reply:
    """Return a reply without secrets."""
    return replace(reply, value=_scrubbed(reply.value, scrub))


def _scrubbed(value: Any, scrub: Callable[[str], str]) -> Any:
    """Scrub every text within a value.

    The text of its JSON will not do: a secret may be spelt as JSON's own `null`.
    """
    if isinstance(value, str):
        return scrub(value)
    if isinstance(value, dict):
        return {_scrubbed(key, scrub): _scrubbed(item, scrub) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_scrubbed(item, scrub) for item in value]
    return value


def reply_to_json(reply: Reply) -> str:
    """Return a reply as JSON."""
    held = {"value": reply.value, "cost": str(reply.cost), "usage": reply.usage}
    return canonical({**held, "texts": reply.texts} if reply.texts else held)


def reply_from_json(text: str) -> Reply:
    """Read a reply from JSON."""
    held = json.loads(text)
    return Reply(held["value"], Decimal(held["cost"]), held["usage"], tuple(held.get("texts", ())))
