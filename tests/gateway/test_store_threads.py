"""Steps in threads: what was begun happens, whatever becomes of who asked for it."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from deepdiver.gateway.store_threads import THREADS, in_thread, submit, wait_until_done
from tests.gateway.rig import settle_down, until
from tests.patience import PATIENCE


class Step:
    """A step that takes as long as the test wants."""

    def __init__(self, error: Exception | None = None) -> None:
        self.begun, self.go_on, self.done = threading.Event(), threading.Event(), False
        self.error = error

    def __call__(self) -> str:
        self.begun.set()
        assert self.go_on.wait(PATIENCE)
        self.done = True
        if self.error:
            raise self.error
        return "done"


async def test_an_error_of_the_step_is_the_callers() -> None:
    with pytest.raises(ZeroDivisionError):
        await in_thread(divmod, 1, 0)


async def test_what_the_step_returns_is_returned_and_it_ran_elsewhere() -> None:
    assert await in_thread(divmod, 7, 2) == (3, 1)
    assert await in_thread(int, "11", base=2) == 3
    name = await in_thread(lambda: threading.current_thread().name)
    assert name.startswith("deepdiver-store")


@pytest.mark.parametrize("error", [None, OSError("the disk is full")])
async def test_who_is_cancelled_leaves_when_the_step_is_over(error: Exception | None) -> None:
    step = Step(error)
    task = asyncio.create_task(in_thread(step))
    await until(step.begun.is_set)
    for _ in range(3):  # however often
        task.cancel()
        await settle_down(5)
        assert not task.done()
    step.go_on.set()
    await asyncio.wait([task], timeout=PATIENCE)
    assert task.cancelled()
    assert step.done


async def test_a_step_that_waits_for_a_thread_happens_although_its_caller_was_cancelled() -> None:
    blockers = [Step() for _ in range(THREADS)]
    blocked = [asyncio.create_task(in_thread(step)) for step in blockers]
    await until(lambda: all(step.begun.is_set() for step in blockers))
    last = Step()
    last.go_on.set()
    task = asyncio.create_task(in_thread(last))
    await settle_down(5)
    assert not last.begun.is_set()
    task.cancel()
    for step in blockers:
        step.go_on.set()
    await asyncio.wait([task], timeout=PATIENCE)
    assert task.cancelled()
    assert last.done
    assert await asyncio.gather(*blocked) == ["done"] * THREADS


async def test_the_users_own_threads_may_all_be_busy() -> None:
    release = threading.Event()
    pool = ThreadPoolExecutor(1)
    asyncio.get_running_loop().set_default_executor(pool)
    busy = asyncio.create_task(asyncio.to_thread(release.wait, 2 * PATIENCE))
    await settle_down(5)
    assert await asyncio.wait_for(in_thread(int), PATIENCE) == 0
    assert not busy.done()
    release.set()
    assert await busy


def test_who_does_not_wait_can_ask_later_what_became_of_a_step() -> None:
    fine, failed = Step(), Step(OSError("no"))
    made = [submit(step) for step in (fine, failed)]
    assert fine.begun.wait(PATIENCE)
    assert not made[0].done()
    for step in (fine, failed):
        step.go_on.set()
    assert made[0].result(PATIENCE)
    assert isinstance(made[1].exception(PATIENCE), OSError)


async def test_wait_until_done_returns_at_once_when_it_is_over() -> None:
    loop = asyncio.get_running_loop()
    complaints: list[object] = []
    loop.set_exception_handler(lambda loop, context: complaints.append(context))
    failed: asyncio.Future[None] = loop.create_future()
    failed.set_exception(OSError("seen by nobody else"))
    await wait_until_done(failed)
    del failed
    gc.collect()
    assert complaints == []
    gone: asyncio.Future[None] = loop.create_future()
    gone.cancel()
    await wait_until_done(gone)


async def test_wait_until_done_sees_a_cancelled_task_out() -> None:
    out = False

    async def work() -> None:
        nonlocal out
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.01)
            out = True

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    task.cancel()
    await wait_until_done(task)
    assert out
    assert task.cancelled()


async def test_who_is_cancelled_while_waiting_for_the_end_leaves_after_it() -> None:
    future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    waiting = asyncio.create_task(wait_until_done(future))
    await asyncio.sleep(0)
    waiting.cancel()
    await settle_down(5)
    assert not waiting.done()
    future.set_result(1)
    await asyncio.wait([waiting], timeout=PATIENCE)
    assert waiting.cancelled()


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
def test_a_forked_process_has_threads_of_its_own() -> None:
    script = (
        "import asyncio, os, signal\n"
        "from deepdiver.gateway.store_threads import in_thread\n"
        "assert asyncio.run(in_thread(int)) == 0\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    signal.alarm(60)\n"
        "    os._exit(asyncio.run(in_thread(lambda: 7)))\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    told = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=120
    )
    assert told.stdout.strip() == "7", told.stderr
