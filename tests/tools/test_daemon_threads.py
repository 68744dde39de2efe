"""Work that may never end keeps neither its caller, nor the loop, nor the process from ending."""

from __future__ import annotations

import asyncio
import contextvars
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from deepdiver.tools import daemon_threads
from deepdiver.tools.daemon_threads import DaemonThreads, in_daemon_thread, start
from tests.patience import PATIENCE


@pytest.fixture
def never() -> Iterator[threading.Event]:
    """An event that the work of a test waits for in vain, until the test is over."""
    held = threading.Event()
    yield held
    held.set()


def test_work_gives_its_result_or_its_error() -> None:
    threads = DaemonThreads(2, "test")
    assert [threads.submit(lambda n=n: n * n).result(PATIENCE) for n in range(5)] == [  # type: ignore[misc]
        0,
        1,
        4,
        9,
        16,
    ]
    with pytest.raises(ZeroDivisionError):
        threads.submit(lambda: 1 // 0).result(PATIENCE)
    assert threads.submit(lambda: "after an error").result(PATIENCE) == "after an error"
    threads.close()


def test_there_are_no_more_threads_than_allowed_and_none_before_the_first_work() -> None:
    def mine() -> list[threading.Thread]:
        return [thread for thread in threading.enumerate() if thread.name == "counted"]

    threads = DaemonThreads(2, "counted")
    assert mine() == []
    go_on = threading.Event()
    futures = [threads.submit(lambda: go_on.wait(PATIENCE)) for _ in range(5)]
    assert len(mine()) == 2
    assert all(thread.daemon for thread in mine())
    go_on.set()
    assert all(future.result(PATIENCE) for future in futures)
    threads.close()
    for thread in mine():
        thread.join(PATIENCE)
    assert mine() == []


def test_work_that_has_not_begun_can_be_cancelled(never: threading.Event) -> None:
    threads = DaemonThreads(1, "test")
    begun = threading.Event()

    def hang() -> None:
        begun.set()
        never.wait()

    first = threads.submit(hang)
    second = threads.submit(lambda: pytest.fail("it was cancelled"))
    assert begun.wait(PATIENCE)
    assert not first.cancel()
    assert second.cancel()
    third = threads.submit(lambda: "third")
    threads.close()
    never.set()
    assert third.result(PATIENCE) == "third"


def test_a_result_can_be_waited_for_a_while(never: threading.Event) -> None:
    with pytest.raises(TimeoutError):
        start(never.wait, "test").result(0.01)


async def test_a_loop_awaits_it() -> None:
    spoken = contextvars.ContextVar[str]("spoken")
    spoken.set("the caller's")
    assert await in_daemon_thread(lambda left: (spoken.get(), left.is_set()), "test") == (
        "the caller's",
        False,
    )

    def fail(left: threading.Event) -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await in_daemon_thread(fail, "test")


async def test_who_is_cancelled_waits_for_work_that_ends_in_order() -> None:
    begun, ended = asyncio.Event(), list[str]()
    loop = asyncio.get_running_loop()

    def work(left: threading.Event) -> None:
        loop.call_soon_threadsafe(begun.set)
        assert left.wait(PATIENCE)
        ended.append("in order")

    waiting = asyncio.ensure_future(in_daemon_thread(work, "test"))
    await begun.wait()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert ended == ["in order"]


async def test_who_is_cancelled_leaves_work_that_does_not_end(
    never: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(daemon_threads, "PARTING_SECONDS", 0.01)
    waiting = asyncio.ensure_future(in_daemon_thread(lambda left: never.wait(), "test"))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert not never.is_set()


SCRIPT = """
import asyncio, threading, time
from deepdiver.tools import daemon_threads
daemon_threads.PARTING_SECONDS = 0.05
late = threading.Event()

def hang(left):
    left.wait()
    time.sleep({hangs})
    late.set()
    raise OSError("the disk is gone")

async def main():
    try:
        async with asyncio.timeout(0.05):
            await daemon_threads.in_daemon_thread(hang, "test")
    except TimeoutError:
        print("left", flush=True)

asyncio.run(main())
{after}
print("ended", flush=True)
"""


@pytest.mark.parametrize(
    ("hangs", "after"),
    [(10 * PATIENCE, ""), (0.3, "late.wait(); time.sleep(0.1)")],
    ids=["for ever", "longer than the loop"],
)
def test_neither_loop_nor_process_waits_for_it(hangs: float, after: str) -> None:
    script = SCRIPT.format(hangs=hangs, after=after)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    assert (done.stdout, done.stderr) == ("left\nended\n", "")
