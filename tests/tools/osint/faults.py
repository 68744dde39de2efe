"""What every feed must do when its service refuses, fails, is late, says nothing or says something else.

A feed's test module says what is particular to it and inherits the rest:

    class TestFaults(FeedFaults):
        case = FeedCase(FEED, service="usgs", args={...}, good=GOOD, empty=EMPTY, wrong=(b"[]",))
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pytest
from pydantic import SecretStr

from deepdiver.core.settings import Deadlines, Limit
from deepdiver.core.whereabouts import Position, whereabouts
from deepdiver.errors import CallError, CallFault, NotJournalledError
from deepdiver.gateway import Mode
from deepdiver.store import CallState
from deepdiver.tools.osint.feed import Feed, Row, Told, arguments_of
from tests.tools.conftest import Desk
from tests.tools.search.conftest import Service, reply

KEY = "a-key/that+nobody may=see"
"""Holds what an address would spell differently."""
FAST = Limit(rate=1_000.0, concurrent=8)
BROKEN = (
    b"",
    b"<!doctype html><title>Log in</title>",
    b"<html><body/></html>",
    b'{"results": [',
    b"\xff\xfe\x00",
    b"\0",
)
"""What no service documents."""


@dataclass(frozen=True, slots=True)
class FeedCase:
    """One feed, and the answers of the one service of it that is asked."""

    feed: Feed[Any]
    service: str
    """Its service, as gateway and settings know it."""
    args: Mapping[str, Any]
    """Arguments with which that service alone is asked."""
    good: bytes | Mapping[str, bytes]
    """A body in the documented form with at least one row; or one for each piece of a path."""
    empty: bytes | Mapping[str, bytes]
    """A body in the documented form that says: nothing found."""
    wrong: tuple[bytes, ...]
    """Bodies that can be parsed and have another shape."""
    broken: tuple[bytes, ...] = BROKEN
    """Bodies that cannot be parsed."""
    key: str = ""
    """Under which name of the settings its key stands; empty: it has none."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What else must be set."""
    vary: Callable[[int], dict[str, Any]] = lambda number: {}
    """Arguments that make each call another one: a run that has met a failure meets it again."""

    def options(self, url: str, **more: Any) -> dict[str, Any]:
        """Return settings that point the feed at a server."""
        keys = {self.key: SecretStr(KEY)} if self.key else {}
        return {"urls": {self.service: url}, "limits": {self.service: FAST}, "keys": keys, **self.settings, **more}


E = TypeVar("E", bound=Exception)


def refusal(kind: type[E], do: Callable[[], object]) -> E | None:
    """Return the error with which something is refused; None: it was taken. Any other error is a slip and goes on."""
    try:
        do()
    except kind as error:
        return error
    return None


def spoken(body: bytes | Mapping[str, bytes]) -> bytes | Mapping[str, bytes]:
    """Return an answer of 200, or one for each path."""
    return reply(body) if isinstance(body, bytes) else {piece: reply(said) for piece, said in body.items()}


def check_row(row: Row) -> None:
    """Check what holds for every row: one line, a sentence, and code reads back from it what the row says."""
    assert row.sentence.endswith(".")
    assert "\n" not in row.sentence
    assert row.sentence.isprintable()
    there = whereabouts(row.sentence)
    if row.when:
        assert there.moment is not None
        assert there.moment.iso() == (f"{row.when[:16]}Z" if "T" in row.when else row.when)
    if row.lat is not None and row.lon is not None:
        assert there.position == Position(row.lat, row.lon)
    else:
        assert there.position is None
    json.dumps(row.data, allow_nan=False)


class FeedFaults:
    """The tests that all feeds share."""

    case: FeedCase

    @pytest.fixture(autouse=True)
    def _listen(self, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.DEBUG)

    async def told(self, desk: Desk, url: str, mode: Mode = Mode.LIVE, number: int = 0, **more: Any) -> Told:
        """Ask the feed, and return what became of it."""
        args = arguments_of(self.case.feed, {**self.case.args, **self.case.vary(number)})
        told: Told = await self.case.feed.ask(args, desk.gateway(mode, **self.case.options(url, **more)))
        return told

    def unseen(self, desk: Desk, caplog: pytest.LogCaptureFixture, *told: str) -> None:
        """Check that the key stands nowhere: no message, journal row, event or line of a log, however it is spelt."""
        texts = "\n".join([desk.everything(), caplog.text, *(repr(r.__dict__) for r in caplog.records), *told])
        for spelling in (KEY, "a-key%2Fthat%2Bnobody%20may%3Dsee", "a-key%2Fthat%2Bnobody+may%3Dsee", "nobody may"):
            assert spelling not in texts

    async def failure(self, desk: Desk, caplog: pytest.LogCaptureFixture, url: str, **more: Any) -> CallError:
        """Ask, and return the error that must come of it."""
        with pytest.raises(CallError) as caught:
            await self.told(desk, url, **more)
        self.unseen(desk, caplog, str(caught.value), repr(caught.value))
        assert "\n" not in str(caught.value)
        assert url not in str(caught.value)
        assert all(row.state is CallState.FAILED for row in desk.store.journal_list(desk.run))
        return caught.value

    @pytest.mark.parametrize(
        ("status", "fault"),
        [
            (302, CallFault.REQUEST),
            (400, CallFault.REQUEST),
            (401, CallFault.AUTH),
            (403, CallFault.AUTH),
            (404, CallFault.REQUEST),
            (429, CallFault.RATE),
            (500, CallFault.SERVER),
            (503, CallFault.SERVER),
        ],
    )
    async def test_a_refusal_is_told_apart_and_does_not_repeat_the_key(
        self, desk: Desk, service: Service, caplog: pytest.LogCaptureFixture, status: int, fault: CallFault
    ) -> None:
        service.always = reply(f'{{"error": "no: {KEY}"}}'.encode(), f"{status} Said", X_Echo=KEY)
        assert (await self.failure(desk, caplog, service.url)).fault is fault
        if not self.case.key:
            told = " ".join(event.model_dump_json() for event in desk.events)
            assert "check the key" not in told

    async def test_a_time_to_wait_is_obeyed(self, desk: Desk, service: Service) -> None:
        service.once = [reply(b"{}", "429 Too Many Requests", Retry_After="0.3")]
        service.always = spoken(self.case.good)
        assert (await self.told(desk, service.url, retries=1)).answers[0].rows
        assert service.times[-1] - service.times[0] >= 0.29
        assert 0.3 in [getattr(event, "retry_in", None) for event in desk.events]

    async def test_a_time_to_wait_that_is_too_long_is_told(
        self, desk: Desk, service: Service, caplog: pytest.LogCaptureFixture
    ) -> None:
        service.always = reply(b"{}", "429 Too Many Requests", Retry_After="3600")
        assert (await self.failure(desk, caplog, service.url, retries=3)).fault is CallFault.RATE

    async def test_a_failing_service_is_asked_again(self, desk: Desk, service: Service) -> None:
        service.once = [reply(b"{}", "500 Internal Server Error")]
        service.always = spoken(self.case.good)
        told = await self.told(desk, service.url, retries=1)
        assert told.answers[0].rows
        assert told.failures == ()

    async def test_nothing_found_is_an_answer(self, desk: Desk, service: Service) -> None:
        service.always = spoken(self.case.empty)
        told = await self.told(desk, service.url)
        assert [(answer.rows, answer.total) for answer in told.answers] == [((), 0)]
        assert told.failures == ()
        assert all(row.state is CallState.SETTLED for row in desk.store.journal_list(desk.run))

    async def test_what_is_no_answer_is_malformed(
        self, desk: Desk, service: Service, caplog: pytest.LogCaptureFixture
    ) -> None:
        assert self.case.wrong
        for number, body in enumerate((*self.case.broken, *self.case.wrong)):
            service.always = reply(body)
            error = await self.failure(desk, caplog, service.url, number=number)
            assert len(service.heard) > number
            assert error.fault is CallFault.MALFORMED, body

    async def test_an_answer_that_was_cut_is_malformed(
        self, desk: Desk, service: Service, caplog: pytest.LogCaptureFixture
    ) -> None:
        whole = self.case.good if isinstance(self.case.good, bytes) else next(iter(self.case.good.values()))
        for number, part in enumerate((0.1, 0.5, 0.9, 1.0)):
            service.always = reply(whole[: int(len(whole) * part) - 1])
            assert (await self.failure(desk, caplog, service.url, number=number)).fault is CallFault.MALFORMED
            assert len(service.heard) > number

    @pytest.mark.parametrize("junk", [b"a" * 10_000_000, b"[" * 10_000_000, b"1," * 12_000_000])
    async def test_ten_megabytes_of_junk(
        self, desk: Desk, service: Service, caplog: pytest.LogCaptureFixture, junk: bytes
    ) -> None:
        service.always = reply(junk)
        error = await self.failure(desk, caplog, service.url)
        assert error.fault is CallFault.MALFORMED
        assert len(desk.everything()) < 20_000

    async def test_a_late_answer_is_a_timeout(
        self, desk: Desk, service: Service, caplog: pytest.LogCaptureFixture
    ) -> None:
        service.after, service.always = 3.0, spoken(self.case.good)
        error = await self.failure(desk, caplog, service.url, deadlines=Deadlines(feed=0.3))
        assert error.fault is CallFault.TIMEOUT

    async def test_a_connection_that_breaks(
        self, desk: Desk, service: Service, caplog: pytest.LogCaptureFixture
    ) -> None:
        service.always = b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n{"
        assert (await self.failure(desk, caplog, service.url)).fault is CallFault.NETWORK

    async def test_nobody_is_there(self, desk: Desk, caplog: pytest.LogCaptureFixture, nobody: str) -> None:
        assert (await self.failure(desk, caplog, nobody)).fault is CallFault.UNREACHED

    async def test_rows_can_be_read_back_and_hold_no_key(
        self, desk: Desk, service: Service, caplog: pytest.LogCaptureFixture
    ) -> None:
        service.always = spoken(self.case.good)
        told = await self.told(desk, service.url)
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

    async def test_a_replay_asks_nobody_and_needs_no_key(self, desk: Desk, service: Service) -> None:
        service.always = spoken(self.case.good)
        live = await self.told(desk, service.url)
        asked = len(service.heard)
        assert await self.told(desk, service.url, Mode.REPLAY, keys={}) == live
        assert len(service.heard) == asked

    async def test_a_replay_of_what_never_was_is_no_failure_of_a_service(self, desk: Desk, service: Service) -> None:
        with pytest.raises(NotJournalledError):
            await self.told(desk, service.url, Mode.REPLAY)
        assert service.heard == []
