"""The gateway: every model call, search, page fetch, feed call and tool call goes through `call`.

The steps, in this order and in this one place:

1. single flight: the same call made twice at once within a run is one call
2. journal look-up: a request that the run has made before is answered from its journal (resume,
   replay)
3. shared cache: an answer that another run got lately is taken from there, and only one process
   fetches an answer that is missing
4. reserve: the worst case must fit the budget, else the call is not sent
5. limits: a place among the provider's calls, shared across processes
6. journal *sent*, on disk before anything leaves
7. make the call within a total deadline, and again after failures that asking again may cure,
   obeying Retry-After; an attempt that surely had no effect is journalled *reserved* again at once
8. journal *settled*, or *failed*
9. charge the cost
10. event and trace span

The budget comes after the journal and the cache, because an answer that is already paid for needs
no money.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any, Literal, cast

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
from deepdiver.core.scrub import Scrubber
from deepdiver.core.settings import Filters, Settings
from deepdiver.errors import BudgetError, CallError, CallFault, UncertainCallError
from deepdiver.gateway.cache import Cache, shared_key
from deepdiver.gateway.clock import MACHINE_CLOCK, Clock
from deepdiver.gateway.journal import Journal, Mode
from deepdiver.gateway.limits import Limits
from deepdiver.gateway.request import Do, Reply, Request
from deepdiver.gateway.single_flight import SingleFlight
from deepdiver.gateway.store_threads import in_thread
from deepdiver.gateway.trace import Tracer
from deepdiver.store import Store

Emit = Callable[[Event], None]

IN_DOUBT = frozenset({CallFault.TIMEOUT, CallFault.NETWORK, CallFault.MALFORMED})
"""After these faults nobody knows whether the service did the work, so the call is charged at its
worst case."""
FIRST_PAUSE = 0.5
"""Seconds before the first repeat if the service names no time. Each further pause is twice as
long, up to LONGEST_PAUSE."""
LONGEST_PAUSE = 30.0
CLAIM_SECONDS = 15.0
"""A claim in the shared cache that is not renewed for this long is abandoned: its process was
killed."""
REST_SECONDS = 20.0
"""How long a run that is to stop waits for answers: a model takes seconds. An answer that comes
later is lost, and its call counts as uncertain."""
NO_DEADLINE = 86_400.0
"""Seconds for a call whose deadline is set to 0, because its place must run out some day."""


class Gateway:
    """The one door of one run to the outside."""

    def __init__(
        self,
        store: Store,
        run: str,
        settings: Settings,
        emit: Emit,
        *,
        mode: Mode = Mode.LIVE,
        clock: Clock = MACHINE_CLOCK,
    ) -> None:
        """Open the gateway for one run.

        Args:
            store: Where journal, cache and limits are kept.
            run: The run's id.
            settings: Budget, deadlines, retries, limits and the secrets that must never leave.
            emit: Receives the events.
            mode: Live, or replay.
            clock: The time, waiting and deadlines.
        """
        self.settings, self.mode = settings, mode
        self._store, self._run, self._emit, self._clock = store, run, emit, clock
        self._scrubber = Scrubber(settings.secrets())
        self._journal = Journal(store, run, mode, clock, self.scrub)
        self._cache = Cache(store, clock, self.scrub, run)
        self._limits = Limits(store, settings, clock)
        self._tracer = Tracer(settings, run)
        self._in_flight = SingleFlight()
        self._resting = False
        self._sent: set[asyncio.Future[None]] = set()
        self.budget = Budget(
            None if mode is Mode.REPLAY else settings.budget, self._journal.spent()
        )

    def with_filters(self, filters: Filters) -> Gateway:
        """Return this gateway with other search filters; journal, budget and limits are shared."""
        return cast("Gateway", _WithFilters(self, filters))

    def scrub(self, text: str) -> str:
        """Return a text without any secret of the settings, however it is spelt."""
        return self._scrubber(text)

    async def save_text(self, text: str) -> str:
        """Keep a text that a call fetched, and return its hash.

        The reply then holds the hash instead of the text.
        """
        return await in_thread(self._store.texts.put, self._run, self.scrub(text))

    async def remember(self, name: str, reply: Reply, seconds: float) -> None:
        """Keep a note for the next time a call is made, beyond the lifetime of its answer."""
        await self._cache.put(digest(f"remembered {name}"), reply, seconds)

    async def recall(self, name: str) -> Reply | None:
        """Return a note that `remember` kept, if its texts are still there.

        Only for use within a call: a replay makes no calls.
        """
        return await self._cache.get(digest(f"remembered {name}"))

    async def pause(self, provider: str, seconds: float) -> None:
        """Let nobody call a provider for some time.

        For a provider that asks for longer gaps than the settings have.
        """
        await self._limits.pause(provider, seconds)

    def report_progress(self, request: Request, stage: str, done: int, total: int) -> None:
        """Emit an event that says how far a long call has got."""
        self._emit(CallProgressed(stage=stage, done=done, total=total, **_call_fields(request)))

    async def call(self, request: Request, do: Do) -> Reply:
        """Make a call, or answer it from what was bought before.

        Args:
            request: The request, without secrets.
            do: Makes the call once.

        Raises:
            CallError: If the service gave no answer.
            BudgetError: If the call does not fit the rest of the budget; it was not sent.
            UncertainCallError: If it was sent before a crash and the user wants such calls held.
            NotJournalledError: If a replay needs a call that the run never made.
        """
        if (what := self.scrub(request.what)) != request.what:
            request = replace(request, what=what)
        return await self._in_flight.join(request.key, lambda: self._answer(request, do))

    async def rest(self, seconds: float = REST_SECONDS) -> None:
        """Send nothing any more, and wait a while for the answers to what was sent."""
        self._resting = True
        if self._sent:
            await asyncio.wait(list(self._sent), timeout=seconds)

    async def _answer(self, request: Request, do: Do) -> Reply:
        with self._tracer.span(request) as span:
            if (known := await self._look_up(request)) is not None:
                return known
            lifetime: float = getattr(self.settings.cache, request.kind, 0.0)
            async with self._cache.entry(
                request,
                lifetime,
                CLAIM_SECONDS,
                owner=self._owner(request),
                key=shared_key(request, self.settings),
            ) as entry:
                if entry.cached is not None:
                    return await self._take_over(request, entry.cached)
                began = self._clock.time()
                try:
                    await self._reserve(request)
                    reply = entry.fetched = await self._send(request, do)
                finally:
                    # Nothing stays reserved, however it ended.
                    self.budget = self.budget.charge(request.key, ZERO)
            span.settle(reply)
            self._emit_ended(request, reply, "live", self._clock.time() - began)
            return reply

    async def _look_up(self, request: Request) -> Reply | None:
        """Return the journalled answer; raise a journalled failure again."""
        try:
            known, uncertain = await self._journal.look_up(request)
        except (CallError, BudgetError) as error:
            self._emit_failed(request, error)
            raise
        if known is not None:
            self._emit_ended(request, known, "journal", 0.0)
        elif uncertain:
            self._meet_uncertain(request)
        return known

    async def _take_over(self, request: Request, cached: Reply) -> Reply:
        """Enter an answer that another run paid for into our journal."""
        await self._journal.reserve(request)
        reply = await self._journal.settled(request, replace(cached, cost=ZERO))
        self._emit_ended(request, reply, "cache", 0.0)
        return reply

    async def _reserve(self, request: Request) -> None:
        if self.budget.fits(request.worst):
            self.budget = self.budget.reserve(request.key, request.worst)
            await self._journal.reserve(request)
            return
        left = max(self.budget.left or ZERO, ZERO)
        error = BudgetError(
            f"{request.what} ({request.provider}) may cost up to ${request.worst:f} and ${left:f} "
            "of the budget is left; it was not sent"
        )
        await self._journal.reserve(request)
        await self._journal.failed(request, error, ZERO)
        self._emit_failed(request, error)
        raise error

    async def _send(self, request: Request, do: Do) -> Reply:
        """Send until there is an answer, a failure that lasts, or no time or money left."""
        try:
            if request.kind == "human":
                return await self._ask_person(request, do)
            return await self._attempts(request, do)
        except CallError as error:
            cost = request.worst if error.fault in IN_DOUBT else ZERO
            await self._journal.failed(request, error, cost)
            self._emit_failed(request, error)
            raise

    async def _ask_person(self, request: Request, do: Do) -> Reply:
        """Ask without limit, deadline or doubt: a person is not a service.

        The question is not journalled as sent, because asking a person again costs nothing.
        """
        self._emit(CallStarted(**_call_fields(request)))
        return await self._journal.settled(request, await do())

    async def _attempts(self, request: Request, do: Do) -> Reply:
        """Make the call, and again where that may help.

        The deadline is for all attempts together and begins with the first place.
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
                ends = min(ends, self._clock.time() + deadline)
                try:
                    return await self._attempt(request, do, ends)
                except CallError as error:
                    failure, pause = error, await self._plan_repeat(request, error, attempt, ends)
                    if pause is None:
                        raise
            if failure.fault in IN_DOUBT and request.worst:
                # Entered again, so that the attempt that went out counts as uncertain.
                await self._journal.reserve(request)
            self._emit_failed(request, failure, retry_in=pause)
            await self._clock.sleep(pause)
            attempt += 1

    async def _attempt(self, request: Request, do: Do, ends: float) -> Reply:
        """Make the call once, journal the answer, and charge what it cost."""
        answered = asyncio.get_running_loop().create_future()
        if self._resting:
            await answered  # until the run is cancelled
        self._sent.add(answered)
        cost = request.worst  # until we know better: we may be cancelled
        try:
            await self._journal.sent(request)
            self._emit(CallStarted(**_call_fields(request)))
            async with self._clock.timeout(max(0.0, ends - self._clock.time())):
                reply = await do()
            cost = booked(reply.cost, request.worst)
            return await self._journal.settled(request, replace(reply, cost=cost))
        except TimeoutError:
            raise CallError(
                f"{request.provider} gave no answer within {self._deadline(request):g} s",
                CallFault.TIMEOUT,
            ) from None
        except CallError as error:
            if error.fault not in IN_DOUBT:
                cost = ZERO
                # At once, so that a run that is stopped during the pause leaves no doubt behind.
                await self._journal.declined(request)
            raise CallError(
                self.scrub(str(error)), error.fault, retry_after=error.retry_after
            ) from None
        finally:
            self.budget = self.budget.charge(request.key, cost)
            self._sent.discard(answered)
            answered.cancel()  # whoever waits for it goes on

    async def _plan_repeat(
        self, request: Request, error: CallError, attempt: int, ends: float
    ) -> float | None:
        """Return the seconds to wait before the next attempt, or None if there is none.

        Reserves the money for it. Where the provider asked us to slow down, nobody calls it during
        the pause; so this runs while the failed attempt still holds its place.
        """
        pause = self._pause_before_repeat(request, error, attempt, ends)
        if pause is not None:
            self.budget = self.budget.reserve(request.key, request.worst)
        if error.fault is CallFault.RATE and (asked := pause or error.retry_after):
            await self._limits.pause(request.provider, asked)
        return pause

    def _pause_before_repeat(
        self, request: Request, error: CallError, attempt: int, ends: float
    ) -> float | None:
        if not error.retryable or attempt >= self.settings.retries:
            return None
        if not self.budget.fits(request.worst):
            return None
        if error.retry_after is not None:
            pause = max(error.retry_after, 0.0)
        else:
            pause = min(FIRST_PAUSE * 2**attempt, LONGEST_PAUSE)
        return pause if self._clock.time() + pause < ends else None

    def _deadline(self, request: Request) -> float:
        of_kind = float(getattr(self.settings.deadlines, request.kind))
        return request.seconds or of_kind or NO_DEADLINE

    def _owner(self, request: Request) -> str:
        """Return the name by which a call holds places and claims.

        It is the same after a crash, so that the resumed call finds them.
        """
        return f"{self._run} {request.key}"

    def _meet_uncertain(self, request: Request) -> None:
        held = self.settings.hold_uncertain or self.mode is Mode.REPLAY
        action: Literal["held", "retried"] = "held" if held else "retried"
        self._emit(
            CallUncertain(may_have_cost=request.worst, action=action, **_call_fields(request))
        )
        if held:
            raise UncertainCallError(
                f"{request.what} ({request.provider}) was sent before and its fate is unknown; it "
                "is held as you asked"
            )

    def _emit_ended(
        self,
        request: Request,
        reply: Reply,
        origin: Literal["live", "journal", "cache"],
        seconds: float,
    ) -> None:
        cost, seconds = reply.cost if origin == "live" else ZERO, round(seconds, 3)
        self._emit(CallEnded(origin=origin, cost=cost, seconds=seconds, **_call_fields(request)))

    def _emit_failed(
        self, request: Request, error: CallError | BudgetError, *, retry_in: float | None = None
    ) -> None:
        self._emit(CallFailed(error=str(error), retry_in=retry_in, **_call_fields(request)))


def booked(cost: Decimal, worst: Decimal) -> Decimal:
    """Return what is booked for a call: what it cost, or its worst case if that cannot be.

    Some services say what a call has cost. What they say is not trusted further than what was
    reserved.
    """
    return cost if cost.is_finite() and ZERO <= cost <= worst else worst


def _call_fields(request: Request) -> dict[str, Any]:
    """Return the fields that all events of a call have."""
    return {
        "call": request.key,
        "kind": request.kind,
        "provider": request.provider,
        "what": request.what,
    }


class _WithFilters:
    """A gateway with other search filters."""

    def __init__(self, gateway: Gateway, filters: Filters) -> None:
        self._gateway = gateway
        self.settings = gateway.settings.model_copy(update={"filters": filters})

    def __getattr__(self, name: str) -> Any:
        # Also methods, which then belong to the other gateway: a copy would have its own budget.
        return getattr(self._gateway, name)
