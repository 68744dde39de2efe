"""A gateway at work: the real store, a service that follows a script, and clocks for tests."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import threading
from collections.abc import Callable, Coroutine
from contextlib import closing, suppress
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar

import pytest
import zstandard

from deepdiver.core.events import Event
from deepdiver.core.record import Run
from deepdiver.core.settings import Settings
from deepdiver.errors import CallError, CallFault
from deepdiver.gateway import CallKind, Gateway, Mode, Reply, Request
from deepdiver.gateway.clock import MACHINE_CLOCK
from deepdiver.gateway.clock import Clock as MachineClock
from deepdiver.store import JournalRow
from deepdiver.store.sqlite import SqliteStore
from tests.patience import PATIENCE

NOW = 1_800_000_000.0
KEY = "sk-made-0123456789abcdef"
WIDE = {"rate": 1e6, "concurrent": 1_000}
"""A limit that is none."""
T = TypeVar("T")


class Clock(MachineClock):
    """A clock that sleeping moves on: to sleep by it takes no real time.

    Not for a call that holds a claim in the cache: what renews the claim would never stop to sleep.
    """

    def __init__(self, now: float = NOW) -> None:
        self.now = now
        self.slept: list[float] = []
        self.on_sleep: Callable[[float], None] = lambda seconds: None
        self._alarms: list[tuple[float, Callable[[], None]]] = []

    def time(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.on_sleep(seconds)
        self.slept.append(seconds)
        self.advance(seconds)
        await asyncio.sleep(0)

    def timeout(self, seconds: float) -> asyncio.Timeout:
        block, loop = asyncio.timeout(0 if seconds <= 0 else None), asyncio.get_running_loop()

        def expire() -> None:
            with suppress(RuntimeError):  # the block was left before
                block.reschedule(loop.time())

        self._alarms.append((self.now + seconds, expire))
        return block

    def advance(self, seconds: float) -> None:
        """Move the clock on: blocks whose time is up end, and sleepers wake."""
        self.now += seconds
        due = [ring for at, ring in self._alarms if at <= self.now]
        self._alarms = [alarm for alarm in self._alarms if alarm[0] > self.now]
        for ring in due:
            ring()


class StandingClock(Clock):
    """A clock that nothing but the test moves on."""

    def __init__(self, now: float = NOW) -> None:
        super().__init__(now)
        self._sleepers: list[asyncio.Future[None]] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        sleeper: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._sleepers.append(sleeper)

        def wake() -> None:
            if not sleeper.done():
                sleeper.set_result(None)

        self._alarms.append((self.now + seconds, wake))
        await sleeper

    async def asleep(self, number: int = 1) -> None:
        """Wait until so many sleep by the clock."""
        await until(lambda: sum(not sleeper.done() for sleeper in self._sleepers) == number)


class Service:
    """The outside: does what its script says, one entry a call and the last one for ever after."""

    def __init__(
        self, *script: Reply | BaseException | Callable[[], Coroutine[Any, Any, Reply]]
    ) -> None:
        self.script = script or (Reply({"answer": 42}, Decimal("0.01"), {"input_tokens": 7}),)
        self.calls = 0

    async def __call__(self) -> Reply:
        entry = self.script[min(self.calls, len(self.script) - 1)]
        self.calls += 1
        await asyncio.sleep(0)
        if isinstance(entry, BaseException):
            raise entry
        return entry if isinstance(entry, Reply) else await entry()


async def for_ever() -> Reply:
    """Never answer."""
    await asyncio.Event().wait()
    raise AssertionError("nobody sets it")


async def cancel_during(step: str, store: SqliteStore, call: Coroutine[Any, Any, Any]) -> None:
    """Cancel a call while the store is at a step of it.

    The step goes on to its end, and then the call is over.
    """
    begun, go_on = threading.Event(), threading.Event()
    part, _, name = step.partition(".")
    held = getattr(store, part)
    real = getattr(held, name)

    def slow(*args: Any, **kwargs: Any) -> Any:
        begun.set()
        assert go_on.wait(PATIENCE)
        return real(*args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(held, name, slow)
        task = asyncio.ensure_future(call)
        await until(begun.is_set)
        task.cancel()
        await settle_down(5)
        go_on.set()
        await asyncio.wait([task], timeout=PATIENCE)
    assert task.cancelled()


def fault(
    kind: CallFault, message: str = "it failed", retry_after: float | None = None
) -> CallError:
    """Make a failure as a `do` raises it."""
    return CallError(message, kind, retry_after=retry_after)


def ask(
    question: str = "who",
    *,
    kind: CallKind = "model",
    provider: str = "p",
    worst: str = "0.02",
    fresh: bool = False,
    what: str = "asking",
) -> Request:
    """Make a request; a model's are not shared between runs, a search's are."""
    return Request(kind, provider, what, {"q": question}, Decimal(worst), fresh)


class Door:
    """A gateway with the events that it told."""

    def __init__(
        self,
        store: SqliteStore,
        run: str = "r1",
        *,
        mode: Mode = Mode.LIVE,
        clock: MachineClock = MACHINE_CLOCK,
        **settings: Any,
    ) -> None:
        self.store, self.run = store, run
        self.events: list[Event] = []
        given = Settings.model_validate({"limits": {"p": WIDE}, **settings})
        self.gateway = Gateway(store, run, given, self.events.append, mode=mode, clock=clock)

    async def call(self, request: Request, do: Service) -> Reply:
        """Go through."""
        return await self.gateway.call(request, do)

    def row(self, request: Request) -> JournalRow:
        """What the journal holds of a call."""
        row = self.store.journal.get(self.run, request.key)
        assert row is not None
        return row

    @property
    def told(self) -> list[str]:
        """The events, in a word each."""
        return [event.type for event in self.events]

    def nothing_is_held(self) -> None:
        """Check that no money, no place and no claim is left over."""
        assert self.gateway.budget.held == {}
        assert rows(self.store, "slots") == []
        assert rows(self.store, "cache_claims") == []


def rows(store: SqliteStore, table: str) -> list[tuple[Any, ...]]:
    """Return a whole table, as it lies on disk."""
    with closing(sqlite3.connect(store.database.file)) as db:
        return db.execute(f"SELECT * FROM {table}").fetchall()  # noqa: S608 - a name of ours


def make_run(id_: str) -> Run:
    """Make a run as the runner would."""
    return Run(
        id=id_,
        question="Who runs Svedjan Ost AB?",
        strategy="popper",
        settings={},
        created="2027-01-15T08:00:00+00:00",
        version="0.1.0",
    )


def everything_on_disk(home: Path) -> str:
    """Return all that the files of a home hold: as it lies there, and unpacked."""
    texts = [path.read_bytes().decode("latin-1") for path in home.rglob("*") if path.is_file()]
    with closing(sqlite3.connect(home / "deepdiver.db")) as db:
        tables = [
            name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        for table in tables:
            for row in db.execute(f"SELECT * FROM {table}"):  # noqa: S608 - names of ours
                texts += [_unpacked(value) for value in row]
    return "\n".join(texts)


def _unpacked(value: Any) -> str:
    if not isinstance(value, bytes):
        return str(value)
    try:
        return (
            zstandard.ZstdDecompressor()
            .decompressobj()
            .decompress(value)
            .decode("utf-8", "surrogatepass")
        )
    except zstandard.ZstdError:
        return value.decode("utf-8", "replace")


def told_texts(events: list[Event]) -> str:
    """Return all that events say."""
    return json.dumps([event.model_dump(mode="json") for event in events], ensure_ascii=False)


async def settle_down(times: int = 50) -> None:
    """Let everything that can go on go on."""
    for _ in range(times):
        await asyncio.sleep(0.001)


async def until(done: Callable[[], bool], seconds: float = PATIENCE) -> None:
    """Wait for something that must come."""
    async with asyncio.timeout(seconds):
        while not done():  # noqa: ASYNC110 - anything may be waited for
            await asyncio.sleep(0.002)


async def leave(task: asyncio.Task[T]) -> None:
    """Cancel a task and see it gone."""
    task.cancel()
    await asyncio.wait([task], timeout=PATIENCE)
    assert task.cancelled()
