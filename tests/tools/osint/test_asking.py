"""Services side by side: what fails is told, what must stop a run does."""

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
from deepdiver.tools.osint.asking import side_by_side


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
async def test_one_that_fails_is_a_line(error: GatewayError, line: str) -> None:
    assert await side_by_side({"IODA": failed(error), "Radar": said(1)}) == ({"Radar": 1}, (line,))


@pytest.mark.parametrize(
    "error", [NotJournalledError("never made"), StoreError("disk"), RuntimeError("a fault of ours")]
)
async def test_what_is_no_failure_of_a_service_goes_on(error: Exception) -> None:
    with pytest.raises(type(error), match=str(error)):
        await side_by_side({"IODA": failed(error), "Radar": said(1)})


async def test_where_all_failed_it_fails() -> None:
    asked = {
        "IODA": failed(BudgetError("no money")),
        "Radar": failed(CallError("late", CallFault.TIMEOUT)),
    }
    with pytest.raises(CallError) as caught:
        await side_by_side(asked)
    assert str(caught.value) == "IODA failed: no money; Radar failed: late"
    assert caught.value.fault is CallFault.TIMEOUT


async def test_who_was_not_to_be_asked_is_neither() -> None:
    assert await side_by_side({"IODA": said(1), "Radar": nothing()}) == ({"IODA": 1}, ())
    with pytest.raises(CallError) as caught:
        await side_by_side(
            {"IODA": failed(CallError("late", CallFault.TIMEOUT)), "Radar": nothing()}
        )
    assert (str(caught.value), caught.value.fault) == ("IODA failed: late", CallFault.TIMEOUT)


async def test_where_nothing_could_be_sent_it_fails() -> None:
    with pytest.raises(CallError) as caught:
        await side_by_side({"IODA": failed(BudgetError("no money"))})
    assert caught.value.fault is CallFault.REQUEST


async def test_the_order_is_that_of_asking() -> None:
    answers, lines = await side_by_side({"slow": said(1, 0.05), "fast": said(2)})
    assert (list(answers.items()), lines) == ([("slow", 1), ("fast", 2)], ())


async def test_what_is_under_way_comes_to_its_end() -> None:
    ended = []

    async def slow() -> int:
        await asyncio.sleep(0.05)
        ended.append("slow")
        return 1

    with pytest.raises(NotJournalledError):
        await side_by_side({"one": failed(NotJournalledError("never made")), "slow": slow()})
    assert ended == ["slow"]
