"""Asking the services of a feed, where one that fails costs only its own rows."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Coroutine, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict

from deepdiver.errors import CallError, CallFault, GatewayError, NotJournalledError
from deepdiver.tools.osint.feed import FeedResult

T = TypeVar("T")


class ServiceModel(BaseModel):
    """Base of what a service sends and of what is journalled of it: fields may be added to it."""

    model_config = ConfigDict(frozen=True, extra="ignore")


async def ask_services(asked: Mapping[str, Coroutine[Any, Any, FeedResult | None]]) -> FeedResult:
    """Ask all services of a feed at once, and put their results together.

    Args:
        asked: The calls, by the name of the service as people know it: NASA FIRMS. A call returns
            None if the service was not to be asked.

    Raises:
        NotJournalledError: If a replay meets a call that the run never made.
        CallError: If no service answered.
    """
    results, failures = await ask_all(asked)
    return FeedResult(
        answers=tuple(answer for result in results.values() for answer in result.answers),
        failures=(*failures, *(line for result in results.values() for line in result.failures)),
    )


async def ask_all(
    asked: Mapping[str, Coroutine[Any, Any, T | None]],
) -> tuple[dict[str, T], tuple[str, ...]]:
    """Make all calls at once; return their answers by name, and a line for each that failed.

    Both are in the order of `asked`. Calls that are still running when another fails are awaited.

    Args:
        asked: The calls, by the name of who is asked. A call returns None if nothing was to be
            asked.

    Raises:
        NotJournalledError: If a replay meets a call that the run never made.
        CallError: If no call brought an answer.
    """
    outcomes = await asyncio.gather(*asked.values(), return_exceptions=True)
    answers: dict[str, T] = {}
    failed: dict[str, GatewayError] = {}
    for name, outcome in zip(asked, outcomes, strict=True):
        if isinstance(outcome, GatewayError) and not isinstance(outcome, NotJournalledError):
            failed[name] = outcome
        elif isinstance(outcome, BaseException):
            raise outcome
        elif outcome is not None:
            answers[name] = outcome
    lines = tuple(f"{name} failed: {error}" for name, error in failed.items())
    if lines and not answers:
        faults = [error.fault for error in failed.values() if isinstance(error, CallError)]
        raise CallError("; ".join(lines), faults[0] if faults else CallFault.REQUEST)
    return answers, lines


async def answer_or_error(call: Awaitable[T]) -> T | GatewayError:
    """Return the answer of a call, or its error: for a part that a feed can do without.

    Raises:
        NotJournalledError: If a replay meets a call that the run never made.
    """
    try:
        return await call
    except NotJournalledError:
        raise
    except GatewayError as error:
        return error
