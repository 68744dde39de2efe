"""Ctrl-C: once, twice, before and after the work."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import threading
import time
from typing import Any

import pytest

from deepdiver.cli.interrupts import Interrupts
from deepdiver.errors import (
    StoppedError,
)
from tests.patience import PATIENCE

# Ctrl-C


def test_the_handlers_are_given_back() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    with Interrupts(lambda: None):
        assert signal.getsignal(signal.SIGINT) is not before[0]
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_before_the_work_begins_ctrl_c_is_what_it_always_is() -> None:
    with Interrupts(lambda: None), pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_another_thread_may_work_without_handlers() -> None:
    ended: list[object] = []

    def work() -> None:
        with Interrupts(lambda: None) as interrupts:
            ended.append(asyncio.run(interrupts.guard(answer())))

    async def answer() -> Any:
        return "done"

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(PATIENCE)
    assert ended == ["done"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_cancels_the_work_which_may_still_save(number: signal.Signals) -> None:
    told: list[str] = []

    async def work() -> Any:
        asyncio.get_running_loop().call_later(0.05, signal.raise_signal, number)
        try:
            await asyncio.sleep(PATIENCE)
        except asyncio.CancelledError:
            told.append("saved")
        return "outcome"

    with Interrupts(lambda: told.append("stopping")) as interrupts:
        assert asyncio.run(interrupts.guard(work())) == "outcome"
    assert told == ["stopping", "saved"]


def test_after_the_work_ctrl_c_is_what_it_always_is() -> None:
    async def work() -> Any:
        return None

    with Interrupts(lambda: None) as interrupts:
        asyncio.run(interrupts.guard(work()))
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


async def test_the_work_may_stop_itself() -> None:
    told: list[str] = []
    with (
        Interrupts(lambda: told.append("stopping")) as interrupts,
        pytest.raises(asyncio.CancelledError),
    ):
        await interrupts.guard(interrupts.stop())
    assert told == ["stopping"]


SCRIPT = """
import asyncio, signal, sys, time
from deepdiver.cli.interrupts import Interrupts
async def work():
    print("ready", flush=True)
    try:
        await asyncio.sleep(60)
    finally:
        print("saving", flush=True)
        {saving}
with Interrupts(lambda: None) as interrupts:
    asyncio.run(interrupts.guard(work()))
"""


@pytest.mark.parametrize(
    "saving", ["time.sleep(60)", "await asyncio.sleep(60)", "while True: pass"]
)
def test_the_second_ends_it_at_once_whatever_the_first_is_at(saving: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT.format(saving=saving)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "saving\n"
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
        process.communicate()
    assert time.monotonic() - began < 30
    assert process.returncode == StoppedError.exit_code == 130
    assert told == "deepdiver: stopped at once; `deepdiver runs` lists the runs to resume\n"
