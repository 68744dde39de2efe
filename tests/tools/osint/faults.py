"""What every feed must do when its service refuses, fails, is late, or answers nothing or nonsense.

A feed's test module says what is particular to it and inherits the rest:

    class TestFaults(FeedFaults):
        case = FeedCase(FEED, service="usgs", args={...}, good=GOOD, empty=EMPTY, wrong=(b"[]",))
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import pytest

from deepdiver.core.settings import Deadlines
from deepdiver.core.time_and_place import Position, time_and_place_of
from deepdiver.errors import CallFault, NotJournalledError
from deepdiver.gateway import Mode
from deepdiver.tools.osint.feed import Feed, FeedResult, Row, arguments_of
from tests.tools.conftest import Desk
from tests.tools.faults import FAST, KEY, Answers, ServiceFaults, spoken
from tests.tools.search.conftest import Service, reply

__all__ = ["FAST", "KEY", "FeedCase", "FeedFaults", "check_row", "refusal"]


@dataclass(frozen=True, slots=True)
class FeedCase(Answers):
    """One feed, and the answers of the one service of it that is asked."""

    feed: Feed[Any]
    service: str
    """Its service, as gateway and settings know it."""
    args: Mapping[str, Any]
    """Arguments with which that service alone is asked."""
    vary: Callable[[int], dict[str, Any]] = lambda number: {}
    """Arguments that make each call another one: a run that has met a failure meets it again."""

    def options(self, url: str, **more: Any) -> dict[str, Any]:
        """Return settings that point the feed at a server."""
        return self.reached(self.service, self.service, url, **more)


E = TypeVar("E", bound=Exception)


def refusal(kind: type[E], do: Callable[[], object]) -> E | None:
    """Return the error with which something is refused; None: it was taken.

    Any other error is a slip and goes on.
    """
    try:
        do()
    except kind as error:
        return error
    return None


def check_row(row: Row) -> None:
    """Check what holds for every row.

    One line, a sentence, and code reads back from it what the row says.
    """
    assert row.sentence.endswith(".")
    assert "\n" not in row.sentence
    # Not isprintable(): to an older Python a letter of a newer Unicode is none.
    assert not [sign for sign in row.sentence if unicodedata.category(sign) in ("Cc", "Zl", "Zp")]
    there = time_and_place_of(row.sentence)
    if row.when:
        assert there.moment is not None
        assert there.moment.iso() == (f"{row.when[:16]}Z" if "T" in row.when else row.when)
    if row.lat is not None and row.lon is not None:
        assert there.position == Position(row.lat, row.lon)
    else:
        assert there.position is None
    json.dumps(row.data, allow_nan=False)


class FeedFaults(ServiceFaults):
    """The tests that all feeds share."""

    case: FeedCase
    one_call = False

    def deadline(self, seconds: float) -> Deadlines:
        return Deadlines(feed=seconds)

    async def ask(
        self, desk: Desk, url: str, mode: Mode = Mode.LIVE, number: int = 0, **more: Any
    ) -> FeedResult:
        args = arguments_of(self.case.feed, {**self.case.args, **self.case.vary(number)})
        if mode is Mode.REPLAY:
            more["keys"] = {}  # a replay needs none
        told: FeedResult = await self.case.feed.ask(
            args, desk.gateway(mode, **self.case.options(url, **more))
        )
        return told

    def results(self, got: Any) -> Sequence[Any]:
        told: FeedResult = got
        assert told.failures == ()
        (answer,) = told.answers
        assert answer.rows or answer.total == 0
        return answer.rows

    async def test_an_answer_that_is_cut_off_is_malformed(
        self, desk: Desk, service: Service, caplog: pytest.LogCaptureFixture
    ) -> None:
        whole = (
            self.case.good
            if isinstance(self.case.good, bytes)
            else next(iter(self.case.good.values()))
        )
        for number, part in enumerate((0.1, 0.5, 0.9, 1.0)):
            service.always = reply(whole[: int(len(whole) * part) - 1])
            assert (
                await self.failure(desk, caplog, service.url, number=number)
            ).fault is CallFault.MALFORMED
            assert len(service.heard) > number

    @pytest.mark.parametrize("junk", [b"a" * 10_000_000, b"[" * 10_000_000, b"1," * 12_000_000])
    async def test_ten_megabytes_of_junk(
        self, desk: Desk, service: Service, caplog: pytest.LogCaptureFixture, junk: bytes
    ) -> None:
        service.always = reply(junk)
        error = await self.failure(desk, caplog, service.url)
        assert error.fault is CallFault.MALFORMED
        assert len(desk.everything()) < 20_000

    async def test_rows_can_be_read_back_and_hold_no_key(
        self, desk: Desk, service: Service, caplog: pytest.LogCaptureFixture
    ) -> None:
        service.always = spoken(self.case.good)
        told = await self.ask(desk, service.url)
        (answer,) = told.answers
        assert answer.rows
        assert answer.total >= len(answer.rows)
        assert answer.kind is self.case.feed.kind
        assert answer.url.startswith(service.url)
        assert "\n" not in answer.summary + answer.title + answer.note
        for row in answer.rows:
            check_row(row)
        if self.case.key:
            assert "nobody" in service.heard[0]
        self.unseen(desk, caplog, told.model_dump_json())

    async def test_a_call_that_was_never_made_is_not_a_failure_in_a_replay(
        self, desk: Desk, service: Service
    ) -> None:
        with pytest.raises(NotJournalledError):
            await self.ask(desk, service.url, Mode.REPLAY)
        assert service.heard == []
