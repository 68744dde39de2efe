"""Processes that a test started: waiting for them, and seeing that none is left."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TypeVar

import psutil

from tests.patience import PATIENCE

T = TypeVar("T")


def until(happens: Callable[[], T], seconds: float = PATIENCE) -> T:
    """Wait until something is so, and return what it is then."""
    ends = time.monotonic() + seconds
    while not (found := happens()):
        assert time.monotonic() < ends, "it did not happen"
        time.sleep(0.02)
    return found


def lives(number: int) -> bool:
    """Return whether a process is there, and not a zombie."""
    try:
        return bool(psutil.Process(number).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def gone(numbers: Iterable[int], within: float = PATIENCE) -> bool:
    """Wait until processes have ended, and return whether they have."""
    ends = time.monotonic() + within
    while left := [number for number in numbers if lives(number)]:
        if time.monotonic() > ends:
            return False
        time.sleep(0.02)
    return not left


def started_by_us() -> set[int]:
    """Return all processes that descend from this one."""
    return {child.pid for child in psutil.Process().children(recursive=True) if lives(child.pid)}


def started_with(argument: str) -> set[int]:
    """Return the processes of ours whose command line has an argument.

    Other processes come and go beside a test, such as the workers that extract texts.
    """
    found = set()
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess, psutil.ZombieProcess):
            if argument in child.cmdline():
                found.add(child.pid)
    return found


@contextmanager
def none_left() -> Iterator[None]:
    """See that no process is left of those that are started within."""
    before = started_by_us()
    yield
    assert gone(started_by_us() - before), "a process is left running"
