"""The gateway: every model call, search, page fetch, feed call and tool call goes through `call`; nothing else does.

The steps, in this order and in this one place:

1. one flight: the same call made twice at once within a run is one call
2. journal look-up: what the run has asked before is answered from its journal (resume, replay)
3. shared cache: what another run asked lately is taken from there, and fetched by one process only
4. reserve: the worst case must fit the budget, else the call is not sent
5. limits: a place among the provider's calls, shared across processes
6. journal *sent*, on disk before anything leaves
7. do it, within a total deadline, again after failures that asking again may cure, obeying Retry-After
8. journal *settled*, or *failed*
9. charge what it cost
10. event and trace span

The budget is asked after the journal and the cache, because an answer that is already paid for needs no money.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from deepdiver.core.budget import Budget
from deepdiver.core.events import CallEnded, CallFailed, CallStarted, CallUncertain, Event
from deepdiver.core.settings import Settings
from deepdiver.errors import BudgetError, CallError, CallFault, UncertainCallError
from deepdiver.gateway.cache import Cache
from deepdiver.gateway.journal import Journal, Mode
from deepdiver.gateway.limits import Limits
from deepdiver.gateway.request import Do, Reply, Request
from deepdiver.gateway.trace import Tracer
from deepdiver.store import Store

Emit = Callable[[Event], None]

IN_DOUBT = frozenset({CallFault.TIMEOUT, CallFault.NETWORK})
"""After these nobody knows whether the other side did the work, so it is charged at its worst case."""
FIRST_PAUSE = 0.5
"""Seconds before the first repeat where the service names no time; doubled each time, up to LONGEST_PAUSE."""
LONGEST_PAUSE = 30.0
ZERO = Decimal(0)


class Gateway:
    """The one door of one run."""

    def __init__(
        self,
        store: Store,
        run: str,
        settings: Settings,
        emit: Emit,
        *,
        mode: Mode = Mode.LIVE,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Open the door for one run.

        Args:
            store: Where journal, cache and limits are kept.
            run: The run's id.
            settings: Budget, deadlines, retries, limits and the secrets that must never pass.
            emit: Receives the events.
            mode: Live, or replay.
            clock: Seconds since 1970.
        """
        self.settings, self.mode = settings, mode
        self._store, self._run, self._emit, self._clock = store, run, emit, clock
        self._secrets = settings.secrets()
        self._journal = Journal(store, run, mode, clock, self.scrub)
        self._cache = Cache(store, clock, self.scrub)
        self._limits = Limits(store, settings, clock)
        self._tracer = Tracer(settings, run)
        self._flights: dict[str, asyncio.Future[Reply]] = {}
        self.budget = Budget(None if mode is Mode.REPLAY else settings.budget, self._journal.spent())

    def scrub(self, text: str) -> str:
        """Return a text without any secret of the settings."""
        for secret in self._secrets:
            text = text.replace(secret, "[secret]")
        return text

    async def save_text(self, text: str) -> str:
        """Keep a text that a call brought, and return its hash: an answer then holds the hash instead of the text."""
        return await asyncio.to_thread(self._store.put_text, self._run, self.scrub(text))

    async def call(self, request: Request, do: Do) -> Reply:
        """Make a call, or answer it from what was bought before.

        Args:
            request: What is asked, without secrets.
            do: Makes the call once.

        Raises:
            CallError: If the service gave no answer.
            BudgetError: If the call does not fit what is left; it was not sent.
            UncertainCallError: If it was sent before a crash and the user wants such calls held.
            NotJournalledError: If a replay meets a call that the run never made.
        """
        key = request.key
        if flight := self._flights.get(key):
            return await asyncio.shield(flight)
        flight = asyncio.get_running_loop().create_future()
        self._flights[key] = flight
        try:
            reply = await self._answer(request, do)
        except BaseException as error:
            if isinstance(error, asyncio.CancelledError):
                flight.cancel()
            else:
                flight.set_exception(error)
                flight.exception()  # marks it as seen: nobody may be waiting
            raise
        finally:
            del self._flights[key]
        flight.set_result(reply)
        return reply

    async def _answer(self, request: Request, do: Do) -> Reply:
        with self._tracer.span(request) as span:
            known, uncertain = await self._journal.look_up(request)
            if known is not None:
                self._ended(request, known, "journal", 0.0)
                return known
            if uncertain:
                self._meet_uncertain(request)
            lifetime: float = getattr(self.settings.cache, request.kind, 0.0)
            async with self._cache.slot(request, lifetime, self._deadline(request)) as slot:
                if slot.reply is not None:
                    free = Reply(slot.reply.value, ZERO, slot.reply.usage)
                    await self._journal.reserve(request)
                    reply = await self._journal.settled(request, free)
                    self._ended(request, reply, "cache", 0.0)
                    return reply
                await self._reserve(request)
                began = self._clock()
                try:
                    reply = slot.brought = await self._send(request, do)
                finally:
                    self.budget = self.budget.charge(request.key, ZERO)  # whatever happened, nothing stays held
            span.settle(reply)
            self._ended(request, reply, "live", self._clock() - began)
            return reply

    async def _reserve(self, request: Request) -> None:
        if not self.budget.fits(request.worst):
            error = BudgetError(
                f"{request.what} ({request.provider}) may cost up to ${request.worst:f} and ${self.budget.left:f} of "
                f"the budget is left; it was not sent"
            )
            await self._journal.reserve(request)
            await self._journal.failed(request, error, ZERO)
            self._failed(request, str(error), None)
            raise error
        self.budget = self.budget.reserve(request.key, request.worst)
        await self._journal.reserve(request)

    async def _send(self, request: Request, do: Do) -> Reply:
        """Send until there is an answer, a failure that repeating cannot cure, or no time or money left."""
        ends = self._clock() + self._deadline(request)
        for attempt in range(self.settings.retries + 1):
            try:
                reply = await self._once(request, do, ends)
            except CallError as error:
                if error.fault in IN_DOUBT:
                    self.budget = self.budget.charge(request.key, request.worst)
                pause = self._pause(error, attempt, ends)
                fits = request.key in self.budget.held or self.budget.fits(request.worst)
                if pause is None or not fits:
                    cost = request.worst if error.fault in IN_DOUBT else ZERO
                    await self._journal.failed(request, error, cost)
                    self._failed(request, str(error), None)
                    raise
                if request.key not in self.budget.held:
                    self.budget = self.budget.reserve(request.key, request.worst)
                self._failed(request, str(error), pause)
                if error.fault is CallFault.RATE:
                    await self._limits.pause(request.provider, pause)
                await asyncio.sleep(pause)
            else:
                self.budget = self.budget.charge(request.key, reply.cost)
                return reply
        raise AssertionError("the last attempt answers or raises")

    async def _once(self, request: Request, do: Do, ends: float) -> Reply:
        async with self._limits.place(request.provider, self._deadline(request)):
            await self._journal.sent(request)
            self._emit(CallStarted(call=request.key, **self._who(request)))
            try:
                async with asyncio.timeout(max(0.0, ends - self._clock())):
                    reply = await do()
            except TimeoutError:
                seconds = self._deadline(request)
                raise CallError(f"{request.provider} gave no answer within {seconds:g} s", CallFault.TIMEOUT) from None
            except CallError as error:
                raise CallError(self.scrub(str(error)), error.fault, retry_after=error.retry_after) from None
            return await self._journal.settled(request, reply)

    def _pause(self, error: CallError, attempt: int, ends: float) -> float | None:
        """Return how long to wait before asking again; None: do not."""
        if not error.retryable or attempt >= self.settings.retries:
            return None
        pause = min(FIRST_PAUSE * 2**attempt, LONGEST_PAUSE)
        if error.retry_after is not None:
            pause = max(error.retry_after, 0.0)
        return pause if self._clock() + pause < ends else None

    def _deadline(self, request: Request) -> float:
        return float(getattr(self.settings.deadlines, request.kind, 0.0)) or 86_400.0

    def _meet_uncertain(self, request: Request) -> None:
        held = self.settings.hold_uncertain
        self._emit(
            CallUncertain(
                call=request.key,
                may_have_cost=request.worst,
                action="held" if held else "retried",
                **self._who(request),
            )
        )
        if held:
            raise UncertainCallError(
                f"{request.what} ({request.provider}) was sent before and its fate is unknown; it is held as you asked"
            )

    def _who(self, request: Request) -> dict[str, Any]:
        return {"kind": request.kind, "provider": request.provider, "what": self.scrub(request.what)}

    def _ended(self, request: Request, reply: Reply, origin: str, seconds: float) -> None:
        self._emit(
            CallEnded.model_validate(
                {
                    "call": request.key,
                    "origin": origin,
                    "cost": reply.cost if origin == "live" else ZERO,
                    "seconds": round(seconds, 3),
                    **self._who(request),
                }
            )
        )

    def _failed(self, request: Request, error: str, retry_in: float | None) -> None:
        self._emit(CallFailed(call=request.key, error=error, retry_in=retry_in, **self._who(request)))
