"""Sentences of a report that contradict each other."""

from __future__ import annotations

import pytest

from deepdiver.errors import StoreAccessError
from deepdiver.run.auditor import inner_conflicts
from deepdiver.run.auditor.inner_conflicts import InnerConflict, find_inner_conflicts

YES = "The board of the harbour approved the new pier in March."
NO = "The board of the harbour did not approve the new pier in March."


@pytest.mark.parametrize(
    "said",
    [
        [],
        [YES],
        [YES, YES],
        [YES, "The ferry sails daily to the islands."],
        [YES, "In March, the new pier was approved by the board of the harbour."],
    ],
    ids=["none", "one", "twice the same", "about something else", "in other words"],
)
async def test_what_does_not_contradict(said: list[str]) -> None:
    assert await find_inner_conflicts(said) == []


async def test_a_contradiction_is_found_wherever_it_stands() -> None:
    between = "The ferry sails daily to the islands."
    assert await find_inner_conflicts([YES, between, NO]) == [InnerConflict(0, 2)]


async def test_without_the_reader_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise StoreAccessError("the reader's files are missing")

    monkeypatch.setattr(inner_conflicts, "load_reader", missing)
    assert await find_inner_conflicts([YES, NO]) == []


async def test_a_long_report_asks_no_more_than_its_share(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    class Counting:
        def verify(self, pairs: list[tuple[str, str]]) -> list[object]:
            asked.append(len(pairs))
            raise StoreAccessError("enough")

    monkeypatch.setattr(inner_conflicts, "load_reader", Counting)
    said = [f"The board of the harbour approved pier number {n} in March." for n in range(60)]
    assert await find_inner_conflicts(said) == []
    assert asked == [2 * inner_conflicts.PAIRS]
