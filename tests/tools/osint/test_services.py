"""Services asked at once: a failure becomes a line, and what must stop a run stops it."""

from __future__ import annotations

import asyncio

import pytest

from deepdiver.errors import (
    BudgetError,
    CallError,
    CallFault,
    GatewayError,
    NotJournalledError,
    StoreError,
)
from deepdiver.tools.osint.feed import FeedResult, IntelligenceType, ServiceAnswer
from deepdiver.tools.osint.services import answer_or_error, ask_all, ask_services


async def said(answer: int, seconds: float = 0.0) -> int:
    await asyncio.sleep(seconds)
    return answer


async def nothing() -> int | None:
    return None


async def failed(error: BaseException) -> int:
    raise error


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (CallError("gone", CallFault.SERVER), "IODA failed: gone"),
        (BudgetError("it does not fit"), "IODA failed: it does not fit"),
    ],
)
async def test_a_call_that_fails_is_a_line(error: GatewayError, line: str) -> None:
    assert await ask_all({"IODA": failed(error), "Radar": said(1)}) == ({"Radar": 1}, (line,))


@pytest.mark.parametrize(
    "error", [NotJournalledError("never made"), StoreError("disk"), RuntimeError("a fault of ours")]
)
async def test_an_error_that_is_not_a_services_is_raised(error: Exception) -> None:
    with pytest.raises(type(error), match=str(error)):
        await ask_all({"IODA": failed(error), "Radar": said(1)})


async def test_if_all_fail_it_fails() -> None:
    asked = {
        "IODA": failed(BudgetError("no money")),
        "Radar": failed(CallError("late", CallFault.TIMEOUT)),
    }
    with pytest.raises(CallError) as caught:
        await ask_all(asked)
    assert str(caught.value) == "IODA failed: no money; Radar failed: late"
    assert caught.value.fault is CallFault.TIMEOUT


async def test_a_service_that_was_not_to_be_asked_is_neither_answer_nor_failure() -> None:
    assert await ask_all({"IODA": said(1), "Radar": nothing()}) == ({"IODA": 1}, ())
    with pytest.raises(CallError) as caught:
        await ask_all({"IODA": failed(CallError("late", CallFault.TIMEOUT)), "Radar": nothing()})
    assert (str(caught.value), caught.value.fault) == ("IODA failed: late", CallFault.TIMEOUT)


async def test_if_nothing_could_be_sent_it_fails() -> None:
    with pytest.raises(CallError) as caught:
        await ask_all({"IODA": failed(BudgetError("no money"))})
    assert caught.value.fault is CallFault.REQUEST


async def test_the_order_is_that_of_asking() -> None:
    answers, lines = await ask_all({"slow": said(1, 0.05), "fast": said(2)})
    assert (list(answers.items()), lines) == ([("slow", 1), ("fast", 2)], ())


async def test_calls_that_are_under_way_are_awaited() -> None:
    ended = []

    async def slow() -> int:
        await asyncio.sleep(0.05)
        ended.append("slow")
        return 1

    with pytest.raises(NotJournalledError):
        await ask_all({"one": failed(NotJournalledError("never made")), "slow": slow()})
    assert ended == ["slow"]


@pytest.mark.parametrize(
    "error", [CallError("late", CallFault.TIMEOUT), BudgetError("no money"), GatewayError("no")]
)
async def test_an_error_of_the_gateway_is_returned(error: GatewayError) -> None:
    async def call() -> int:
        raise error

    assert await answer_or_error(call()) is error


async def test_an_answer_is_returned() -> None:
    async def call() -> int:
        return 7

    assert await answer_or_error(call()) == 7


@pytest.mark.parametrize("error", [NotJournalledError("never asked"), KeyError("a slip")])
async def test_any_other_error_is_raised(error: Exception) -> None:
    async def call() -> int:
        raise error

    with pytest.raises(type(error)):
        await answer_or_error(call())


async def feed_result(
    name: str, failures: tuple[str, ...] = (), seconds: float = 0.0
) -> FeedResult:
    await asyncio.sleep(seconds)
    answer = ServiceAnswer(service=name, url="", title="", kind=IntelligenceType.NEWS)
    return FeedResult(answers=(answer,), failures=failures)


async def test_results_of_services_are_put_together_in_the_order_of_asking() -> None:
    result = await ask_services(
        {
            "IODA": feed_result("IODA", ("IODA's signals failed",), seconds=0.05),
            "Late": failed_result(CallError("late", CallFault.TIMEOUT)),
            "Radar": feed_result("Radar"),
            "None": no_result(),
        }
    )
    assert [answer.service for answer in result.answers] == ["IODA", "Radar"]
    assert result.failures == ("Late failed: late", "IODA's signals failed")


async def test_a_feed_without_any_answer_fails() -> None:
    with pytest.raises(CallError, match=r"^IODA failed: late$"):
        await ask_services({"IODA": failed_result(CallError("late", CallFault.TIMEOUT))})


async def failed_result(error: BaseException) -> FeedResult:
    raise error


async def no_result() -> FeedResult | None:
    return None
