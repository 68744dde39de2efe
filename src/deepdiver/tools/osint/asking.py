"""Asking the services of one feed side by side: one that fails costs its own rows, and is told."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar

from deepdiver.errors import CallError, CallFault, GatewayError, NotJournalledError

T = TypeVar("T")


async def side_by_side(
    asked: Mapping[str, Coroutine[Any, Any, T | None]],
) -> tuple[dict[str, T], tuple[str, ...]]:
    """Ask all at once, and return what each answered and a line for each that did not, in the order of asking.

    Args:
        asked: What is asked, by who is asked as people know it: NASA FIRMS. None comes of one that
            was not to be asked.

    Raises:
        NotJournalledError: If a replay meets a call that the run never made.
        CallError: If none of them answered.
    """
    came = await asyncio.gather(
        *asked.values(), return_exceptions=True
    )  # what is under way is let settle
    answers: dict[str, T] = {}
    failed: dict[str, GatewayError] = {}
    for name, answer in zip(asked, came, strict=True):
        if isinstance(answer, GatewayError) and not isinstance(answer, NotJournalledError):
            failed[name] = answer
        elif isinstance(answer, BaseException):
            raise answer
        elif answer is not None:
            answers[name] = answer
    lines = tuple(f"{name} failed: {error}" for name, error in failed.items())
    if lines and not answers:
        faults = [error.fault for error in failed.values() if isinstance(error, CallError)]
        raise CallError("; ".join(lines), faults[0] if faults else CallFault.REQUEST)
    return answers, lines
