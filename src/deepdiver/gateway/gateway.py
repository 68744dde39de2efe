"""The gateway.

Every model call, search, page fetch, feed call and tool call goes through `call`; nothing else
does.

The steps, in this order and in this one place:

1. one flight: the same call made twice at once within a run is one call
2. journal look-up: what the run has asked before is answered from its journal (resume, replay)
3. shared cache: what another run asked lately is taken from there, and fetched by one process only
4. reserve: the worst case must fit the budget, else the call is not sent
5. limits: a place among the provider's calls, shared across processes
6. journal *sent*, on disk before anything leaves
7. do it, within a total deadline, again after failures that asking again may cure, obeying
   Retry-After; one that is surely without effect is journalled *reserved* again at once
8. journal *settled*, or *failed*
9. charge what it cost
10. event and trace span

The budget is asked after the journal and the cache, because an answer that is already paid for
needs no money.
"""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Literal
from urllib.parse import quote, quote_plus

from deepdiver.core.budget import ZERO, Budget
from deepdiver.core.events import (
    CallEnded,
    CallFailed,
    CallProgressed,
    CallStarted,
    CallUncertain,
    Event,
)
from deepdiver.core.identity import digest
from deepdiver.core.settings import Settings
from deepdiver.errors import BudgetError, CallError, CallFault, UncertainCallError
from deepdiver.gateway.cache import Cache
from deepdiver.gateway.flights import Flights
from deepdiver.gateway.journal import Journal, Mode
from deepdiver.gateway.limits import Limits
from deepdiver.gateway.request import Do, Reply, Request
from deepdiver.gateway.threads import in_thread
from deepdiver.gateway.trace import Tracer
from deepdiver.store import Store

Emit = Callable[[Event], None]

IN_DOUBT = frozenset({CallFault.TIMEOUT, CallFault.NETWORK, CallFault.MALFORMED})
"""After these the other side may have done the work and nobody knows, so it is charged at its worst
case."""
FIRST_PAUSE = 0.5
"""Seconds before the first repeat where the service names no time; doubled each time, up to
LONGEST_PAUSE."""
LONGEST_PAUSE = 30.0
CLAIM_SECONDS = 15.0
"""A claim in the shared cache that is not renewed for so long was abandoned: its process was
killed."""
NO_DEADLINE = 86_400.0
"""Seconds for a call whose deadline is set to 0: its place must run out some day."""


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
        self._secrets = _spellings(settings.secrets())
        self._journal = Journal(store, run, mode, clock, self.scrub)
        self._cache = Cache(store, clock, self.scrub, run)
        self._limits = Limits(store, settings, clock)
        self._tracer = Tracer(settings, run)
        self._flights = Flights()
        self.budget = Budget(
            None if mode is Mode.REPLAY else settings.budget, self._journal.spent()
        )

    def scrub(self, text: str) -> str:
        """Return a text without any secret of the settings."""
        for secret in self._secrets:
            text = text.replace(secret, "[secret]")
        return text

    async def save_text(self, text: str) -> str:
        """Keep a text that a call brought, and return its hash.

        An answer then holds the hash instead of the text.
        """
        return await in_thread(self._store.put_text, self._run, self.scrub(text))

    async def remember(self, name: str, reply: Reply, seconds: float) -> None:
        """Keep what a call may want to know when it is made again, beyond the lifetime of its answer."""
        await self._cache.put(digest(f"remembered {name}"), reply, seconds)

    async def recall(self, name: str) -> Reply | None:
        """Return what was remembered, if its texts are still kept.

        Only for use within a call: a replay makes none.
        """
        return await self._cache.get(digest(f"remembered {name}"))

    async def rest(self, provider: str, seconds: float) -> None:
        """Let nobody call a provider for some time.

        It asks for longer gaps than the settings have.
        """
        await self._limits.pause(provider, seconds)

    def progressed(self, request: Request, stage: str, done: int, total: int) -> None:
        """Tell how far a call is that takes long."""
        self._emit(
            CallProgressed(call=request.key, stage=stage, done=done, total=total, **_who(request))
        )

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
        if (what := self.scrub(request.what)) != request.what:
            request = replace(request, what=what)
        return await self._flights.join(request.key, lambda: self._answer(request, do))

    async def _answer(self, request: Request, do: Do) -> Reply:
        with self._tracer.span(request) as span:
            if (known := await self._known(request)) is not None:
                return known
            lifetime: float = getattr(self.settings.cache, request.kind, 0.0)
            async with self._cache.slot(
                request, lifetime, CLAIM_SECONDS, owner=self._owner(request)
            ) as slot:
                if slot.reply is not None:
                    return await self._take_over(request, slot.reply)
                began = self._clock()
                try:
                    await self._reserve(request)
                    reply = slot.brought = await self._send(request, do)
                finally:
                    self.budget = self.budget.charge(
                        request.key, ZERO
                    )  # whatever happened, nothing stays held
            span.settle(reply)
            self._ended(request, reply, "live", self._clock() - began)
            return reply

    async def _known(self, request: Request) -> Reply | None:
        """Return what the journal holds; a failure that it holds is met again."""
        try:
            known, uncertain = await self._journal.look_up(request)
        except (CallError, BudgetError) as error:
            self._failed(request, str(error), None)
            raise
        if known is not None:
            self._ended(request, known, "journal", 0.0)
        elif uncertain:
            self._meet_uncertain(request)
        return known

    async def _take_over(self, request: Request, cached: Reply) -> Reply:
        """Enter what another run paid for into our journal."""
        await self._journal.reserve(request)
        reply = await self._journal.settled(request, replace(cached, cost=ZERO))
        self._ended(request, reply, "cache", 0.0)
        return reply

    async def _reserve(self, request: Request) -> None:
        if self.budget.fits(request.worst):
            self.budget = self.budget.reserve(request.key, request.worst)
            await self._journal.reserve(request)
            return
        left = max(self.budget.left or ZERO, ZERO)
        error = BudgetError(
            f"{request.what} ({request.provider}) may cost up to ${request.worst:f} and ${left:f} "
            "of the budget "
            "is left; it was not sent"
        )
        await self._journal.reserve(request)
        await self._journal.failed(request, error, ZERO)
        self._failed(request, str(error), None)
        raise error

    async def _send(self, request: Request, do: Do) -> Reply:
        """Send until there is an answer, a failure that repeating cannot cure, or no time or money left."""
        try:
            return await (
                self._ask_person(request, do)
                if request.kind == "human"
                else self._attempts(request, do)
            )
        except CallError as error:
            await self._journal.failed(
                request, error, request.worst if error.fault in IN_DOUBT else ZERO
            )
            self._failed(request, str(error), None)
            raise

    async def _ask_person(self, request: Request, do: Do) -> Reply:
        """A person is no service.

        There is no limit, no deadline and no doubt, and asking again costs nothing.
        """
        self._emit(CallStarted(call=request.key, **_who(request)))
        return await self._journal.settled(request, await do())

    async def _attempts(self, request: Request, do: Do) -> Reply:
        """Ask, and again where that may help.

        The deadline is for all attempts and begins with the first place.
        """
        deadline, ends, attempt = self._deadline(request), math.inf, 0
        while True:
            async with self._limits.place(
                request.provider,
                deadline,
                owner=self._owner(request),
                ends=ends,
                usual=request.limit,
            ):
                ends = min(ends, self._clock() + deadline)
                try:
                    return await self._once(request, do, ends)
                except CallError as error:
                    failure, pause = error, self._pause(request, error, attempt, ends)
                    if pause is not None:
                        self.budget = self.budget.reserve(request.key, request.worst)
                    if error.fault is CallFault.RATE and (rest := pause or error.retry_after):
                        await self._limits.pause(
                            request.provider, rest
                        )  # everybody, and before our place is free
                    if pause is None:
                        raise
            if failure.fault in IN_DOUBT and request.worst:
                await self._journal.reserve(
                    request
                )  # entered anew: what went out counts as uncertain
            self._failed(request, str(failure), pause)
            await asyncio.sleep(pause)
            attempt += 1

    async def _once(self, request: Request, do: Do, ends: float) -> Reply:
        cost = request.worst  # as long as nobody knows better: we may be cancelled
        try:
            await self._journal.sent(request)
            self._emit(CallStarted(call=request.key, **_who(request)))
            async with asyncio.timeout(max(0.0, ends - self._clock())):
                reply = await do()
            cost = reply.cost
            return await self._journal.settled(request, reply)
        except TimeoutError:
            seconds = self._deadline(request)
            raise CallError(
                f"{request.provider} gave no answer within {seconds:g} s", CallFault.TIMEOUT
            ) from None
        except CallError as error:
            if error.fault not in IN_DOUBT:
                cost = ZERO
                await self._journal.declined(
                    request
                )  # at once: whoever stops us in the pause leaves no doubt behind
            raise CallError(
                self.scrub(str(error)), error.fault, retry_after=error.retry_after
            ) from None
        finally:
            self.budget = self.budget.charge(request.key, cost)

    def _pause(self, request: Request, error: CallError, attempt: int, ends: float) -> float | None:
        """Return how long to wait before asking again; None: do not."""
        if (
            not error.retryable
            or attempt >= self.settings.retries
            or not self.budget.fits(request.worst)
        ):
            return None
        pause = min(FIRST_PAUSE * 2**attempt, LONGEST_PAUSE)
        if error.retry_after is not None:
            pause = max(error.retry_after, 0.0)
        return pause if self._clock() + pause < ends else None

    def _deadline(self, request: Request) -> float:
        return (
            request.seconds or float(getattr(self.settings.deadlines, request.kind)) or NO_DEADLINE
        )

    def _owner(self, request: Request) -> str:
        """Return the name by which a call holds places and claims.

        The same after a crash, so that it finds them.
        """
        return f"{self._run} {request.key}"

    def _meet_uncertain(self, request: Request) -> None:
        held = self.settings.hold_uncertain or self.mode is Mode.REPLAY
        action: Literal["held", "retried"] = "held" if held else "retried"
        self._emit(
            CallUncertain(
                call=request.key, may_have_cost=request.worst, action=action, **_who(request)
            )
        )
        if held:
            raise UncertainCallError(
                f"{request.what} ({request.provider}) was sent before and its fate is unknown; it "
                "is held as you asked"
            )

    def _ended(
        self,
        request: Request,
        reply: Reply,
        origin: Literal["live", "journal", "cache"],
        seconds: float,
    ) -> None:
        cost = reply.cost if origin == "live" else ZERO
        self._emit(
            CallEnded(
                call=request.key,
                origin=origin,
                cost=cost,
                seconds=round(seconds, 3),
                **_who(request),
            )
        )

    def _failed(self, request: Request, error: str, retry_in: float | None) -> None:
        self._emit(CallFailed(call=request.key, error=error, retry_in=retry_in, **_who(request)))


def _who(request: Request) -> dict[str, Any]:
    return {"kind": request.kind, "provider": request.provider, "what": request.what}


def _spellings(secrets: Iterable[str]) -> list[str]:
    """Return secrets as they stand in a text, in JSON and in an address.

    The longest first, for it may hold another.
    """
    ways: tuple[Callable[[str], str], ...] = (
        str,
        lambda secret: json.dumps(secret)[1:-1],
        lambda secret: json.dumps(secret, ensure_ascii=False)[1:-1],
        lambda secret: quote(secret, safe=""),
        quote_plus,
    )
    return sorted({way(secret) for secret in secrets for way in ways}, key=len, reverse=True)
