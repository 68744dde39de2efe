"""A run that is shown while it is worked on."""

from __future__ import annotations

import asyncio
import signal
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from deepdiver.cli.live_run import LiveRun
from deepdiver.cli.progress import View
from deepdiver.core.events import RunStarted
from deepdiver.core.settings import load
from deepdiver.errors import (
    StoppedError,
)
from deepdiver.tools.search.library import shelf
from tests.patience import PATIENCE


async def test_the_word_about_the_language_comes_when_the_work_is_done(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text(
        "Der Hafen von Lund wurde im Jahr 1904 von der Stadt eröffnet."
    )
    settings = load(
        {"home": tmp_path / "elsewhere", "documents": [tmp_path / "docs"]},
        environ={},
        folder=tmp_path,
    )
    shelf(settings).look()
    told: list[str] = []

    class Heard(View):
        def note(self, text: str) -> None:
            told.append(text)

    async def work() -> str:
        assert told == []
        return "done"

    for question, notes in (("Lund 1904?", 0), ("When was the harbour of Lund opened?", 1)):
        assert (
            await LiveRun(Heard(), told.append).with_language_note(work(), question, settings)
            == "done"
        )
        assert len(told) == notes
    assert told[0].startswith("most of your documents are in German, and the question is not: ")
    assert await LiveRun(View(), told.append).with_language_note(
        work_again(), "When was the harbour of Lund opened?", settings
    )
    assert len(told) == 1, "a quiet view says nothing"


async def work_again() -> str:
    return "done"


def test_nobody_is_asked_without_a_terminal() -> None:
    assert LiveRun(View(), print).asker() is None


# The whole


class Seen(View):
    """Remembers what was done with it."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def open(self) -> None:
        self.calls.append("open")

    def note(self, text: str) -> None:
        self.calls.append(text)

    def take(self, event: Any) -> None:
        self.calls.append(event.type)

    def close(self) -> None:
        self.calls.append("close")


def test_work_is_shown_from_beginning_to_end() -> None:
    view = Seen()
    work = LiveRun(view, print)
    started = RunStarted(
        run="r1",
        question="q",
        strategy="popper",
        reasoner="r",
        providers=("library",),
        ceiling=Decimal(0),
    )

    async def do() -> Any:
        work.take(started)
        return "outcome"

    assert work.do(do) == "outcome"
    assert work.run == "r1"
    assert view.calls == ["open", "run_started", "close"]


def test_the_view_is_closed_when_the_work_fails() -> None:
    view = Seen()

    async def do() -> Any:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        LiveRun(view, print).do(do)
    assert view.calls == ["open", "close"]


def test_work_that_is_stopped_before_there_is_a_run() -> None:
    view = Seen()

    async def do() -> Any:
        signal.raise_signal(signal.SIGINT)
        await asyncio.sleep(PATIENCE)

    with pytest.raises(StoppedError, match="before the run began"):
        LiveRun(view, print).do(do)
    assert view.calls == [
        "open",
        "stopping and saving; press Ctrl-C again to stop at once",
        "close",
    ]


def test_ctrl_c_while_it_is_still_being_prepared() -> None:
    view = Seen()

    def begin() -> Any:
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        LiveRun(view, print).do(begin)
    assert view.calls == ["open", "close"]
