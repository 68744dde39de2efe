"""Watched runs that a worker attends to."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from deepdiver.core.settings import load
from deepdiver.errors import StoppedError, StoreError, UsageError
from deepdiver.run.watch import Attempt, Watcher
from deepdiver.run.watch_list import Watch, timestamp
from deepdiver.store.sqlite import open_sqlite
from deepdiver.work import rounds as module
from deepdiver.work.rounds import attend_due, attending
from tests.patience import PATIENCE

LONG_AGO = "2026-01-01T00:00:00+00:00"


@pytest.fixture
def watcher(tmp_path: Path) -> Iterator[Watcher]:
    with closing(open_sqlite(tmp_path)) as store:
        yield Watcher(store, load({"home": tmp_path}), lambda watch, news, again: None)


def watched(watcher: Watcher, run: str, asked: str = LONG_AGO) -> Watch:
    made = Watch(run=run, question="Which?", every=60, base=run, asked=asked)
    watcher.watches.put(made)
    return made


def scripted(monkeypatch: pytest.MonkeyPatch, *outcomes: Any) -> list[str]:
    """Have rounds come to something, one after the other."""
    left, seen = list(outcomes), list[str]()

    async def attend(self: Watcher, watch: Watch) -> Attempt:
        seen.append(watch.run)
        outcome = left.pop(0) if left else {}
        if isinstance(outcome, Exception):
            raise outcome
        return Attempt(watch, **outcome)

    monkeypatch.setattr(Watcher, "attend", attend)
    return seen


async def test_the_trouble_of_one_watch_does_not_concern_the_others(
    watcher: Watcher, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for run in ("r1", "r2", "r3", "r4", "r5"):
        watched(watcher, run)
    seen = scripted(
        monkeypatch,
        StoppedError("run r1 is not watched any more"),
        UsageError("r2 cannot be asked"),
        {"error": UsageError("r3 failed")},
        {"busy": True},
    )
    with caplog.at_level(logging.INFO):
        assert await attend_due(watcher) == 2
    assert seen == ["r1", "r2", "r3", "r4", "r5"]
    for told in ("r1 is not watched any more", "r2 cannot be asked", "r3 failed"):
        assert told in caplog.text


async def test_only_what_is_due_is_attended_to(
    watcher: Watcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched(watcher, "later", timestamp(datetime.now(UTC).timestamp()))
    watched(watcher, "now")
    seen = scripted(monkeypatch)
    assert await attend_due(watcher) == 1
    assert seen == ["now"]


def test_a_worker_looks_again_and_again_also_after_a_failure(
    watcher: Watcher, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    looks, enough = [StoreError("the list is away"), None, None], threading.Event()

    async def look(_: Watcher) -> int:
        if not looks:
            enough.set()
        elif (error := looks.pop(0)) is not None:
            raise error
        return 0

    monkeypatch.setattr(module, "attend_due", look)
    with attending(watcher, 0.01):
        assert enough.wait(PATIENCE)
    assert "the watches cannot be read: the list is away" in caplog.text
    assert not any(thread.name == "watches" for thread in threading.enumerate())


def test_a_round_is_left_when_the_worker_ends(
    watcher: Watcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, left = threading.Event(), threading.Event()

    async def endless(_: Watcher) -> int:
        begun.set()
        try:
            await asyncio.sleep(PATIENCE)
        finally:
            left.set()
        return 0

    monkeypatch.setattr(module, "attend_due", endless)
    with attending(watcher):
        assert begun.wait(PATIENCE)
        assert not left.is_set()
    assert left.is_set()
