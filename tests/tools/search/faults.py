"""What every provider must do when its service refuses, fails, is late, says nothing or says something else.

A provider's test module says what is particular to it and inherits the rest:

    class TestFaults(Faults):
        case = Case(PROVIDER, good=GOOD, empty=b'{"results": []}', wrong=(b"[]", b'{"results": 7}'), key="tavily")
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import pytest
from pydantic import SecretStr

from deepdiver.core.settings import Deadlines, Limit, Settings
from deepdiver.errors import CallError, CallFault
from deepdiver.gateway import Gateway, Mode
from deepdiver.store import CallState
from deepdiver.tools.hit import Hit
from tests.tools.conftest import Desk
from tests.tools.search.conftest import Service, reply

KEY = "a-key/that+nobody may=see"
"""Holds what an address would spell differently."""
QUERY = "Holm Works"
FAST = Limit(rate=1_000.0, concurrent=8)


class Searches(Protocol):
    """What is tested."""

    name: str
    about: str

    def missing(self, settings: Settings) -> str | None: ...

    def address(self, settings: Settings) -> str: ...

    async def search(self, query: str, limit: int, gateway: Gateway) -> list[Hit]: ...


@dataclass(frozen=True, slots=True)
class Case:
    """One provider, and its service's answers."""

    provider: Searches
    good: bytes | Mapping[str, bytes]
    """A body in the documented form with at least one result; or one for each piece of a path."""
    empty: bytes | Mapping[str, bytes]
    """A body in the documented form that says: nothing found."""
    wrong: tuple[bytes, ...]
    """Bodies that can be parsed and have another shape."""
    broken: tuple[bytes, ...] = (b"", b"<!doctype html><title>Log in</title>", b'{"results": [', b"\xff\xfe\x00")
    """Bodies that cannot be parsed."""
    key: str = ""
    """Under which name of the settings its key stands; empty: it has none."""
    place: str = ""
    """Under which name of the settings its address stands; empty: its own."""
    asked: str = ""
    """Under which name the gateway knows it; empty: its own."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What else must be set."""
    faults: Mapping[int, CallFault] = field(default_factory=dict)
    """Statuses that mean something else here than elsewhere."""

    def options(self, url: str, **more: Any) -> dict[str, Any]:
        """Return settings that point the provider at a server."""
        keys = {self.key: SecretStr(KEY)} if self.key else {}
        keys |= self.settings.get("keys", {})
        limits = {self.asked or self.provider.name: FAST}
        options = {"urls": {self.place or self.provider.name: url}, "limits": limits, **self.settings, **more}
        return {**options, "keys": keys}


def spoken(body: bytes | Mapping[str, bytes]) -> bytes | Mapping[str, bytes]:
    """Return an answer of 200, or one for each path."""
    return reply(body) if isinstance(body, bytes) else {piece: reply(said) for piece, said in body.items()}


class Faults:
    """The tests that all providers share."""

    case: Case

    @pytest.fixture(autouse=True)
    def _listen(self, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.DEBUG)

    def unseen(self, desk: Desk, caplog: pytest.LogCaptureFixture, *told: str) -> None:
        """Check that the key stands nowhere: no message, journal row, event or line of a log, however it is spelt."""
        texts = "\n".join([desk.everything(), caplog.text, *(repr(r.__dict__) for r in caplog.records), *told])
        for spelling in (KEY, "a-key%2Fthat%2Bnobody%20may%3Dsee", "a-key%2Fthat%2Bnobody+may%3Dsee", "nobody may"):
            assert spelling not in texts

    async def failure(self, desk: Desk, caplog: pytest.LogCaptureFixture, url: str, **more: Any) -> CallError:
        """Search, and return the error that must come of it."""
        with pytest.raises(CallError) as caught:
            await self.case.provider.search(QUERY, 6, desk.gateway(**self.case.options(url, **more)))
        error = caught.value
        self.unseen(desk, caplog, str(error), repr(error))
        assert "\n" not in str(error)
        assert url not in str(error)
        (row,) = desk.store.journal_list(desk.run)
        assert row.state is CallState.FAILED
        return error

    @pytest.mark.parametrize(
        ("status", "fault"),
        [
            (302, CallFault.REQUEST),
            (400, CallFault.REQUEST),
            (401, CallFault.AUTH),
            (402, CallFault.AUTH),
            (403, CallFault.AUTH),
            (404, CallFault.REQUEST),
            (422, CallFault.REQUEST),
            (429, CallFault.RATE),
            (500, CallFault.SERVER),
            (503, CallFault.SERVER),
        ],
    )
    async def test_a_refusal_is_told_apart_and_does_not_repeat_the_key(
        self, desk: Desk, service: Service, caplog: pytest.LogCaptureFixture, status: int, fault: CallFault
    ) -> None:
        service.always = reply(f'{{"error": "no: {KEY}"}}'.encode(), f"{status} Said", X_Echo=KEY)
        error = await self.failure(desk, caplog, service.url)
        assert error.fault is self.case.faults.get(status, fault)
        assert len(service.heard) == 1

    async def test_a_time_to_wait_is_obeyed(
        self, desk: Desk, service: Service, caplog: pytest.LogCaptureFixture
    ) -> None:
        service.once = [reply(b"{}", "429 Too Many Requests", Retry_After="0.7")]
        service.always = spoken(self.case.good)
        hits = await self.case.provider.search(QUERY, 6, desk.gateway(**self.case.options(service.url, retries=1)))
        assert hits
        assert service.times[1] - service.times[0] >= 0.69
        waits = [wait for event in desk.events if (wait := getattr(event, "retry_in", None)) is not None]
        assert waits == [0.7]
        self.unseen(desk, caplog)

    async def test_a_time_to_wait_that_is_too_long_is_told(
        self, desk: Desk, service: Service, caplog: pytest.LogCaptureFixture
    ) -> None:
        service.always = reply(b"{}", "429 Too Many Requests", Retry_After="3600")
        error = await self.failure(desk, caplog, service.url, retries=3)
        assert (error.fault, error.retry_after) == (CallFault.RATE, 3600.0)
        assert len(service.heard) == 1

    async def test_a_failing_service_is_asked_again(self, desk: Desk, service: Service) -> None:
        service.once = [reply(b"{}", "500 Internal Server Error")]
        service.always = spoken(self.case.good)
        assert await self.case.provider.search(QUERY, 6, desk.gateway(**self.case.options(service.url, retries=1)))

    async def test_nothing_found_is_an_answer(self, desk: Desk, service: Service) -> None:
        service.always = spoken(self.case.empty)
        assert await self.case.provider.search(QUERY, 6, desk.gateway(**self.case.options(service.url))) == []
        assert all(row.state is CallState.SETTLED for row in desk.store.journal_list(desk.run))

    async def test_what_cannot_be_parsed_is_malformed(
        self, desk: Desk, service: Service, caplog: pytest.LogCaptureFixture
    ) -> None:
        for number, body in enumerate(self.case.broken):
            service.always = reply(body)
            with pytest.raises(CallError) as caught:
                await self.case.provider.search(f"{QUERY} {number}", 6, desk.gateway(**self.case.options(service.url)))
            assert caught.value.fault is CallFault.MALFORMED, body
        self.unseen(desk, caplog)

    async def test_what_has_another_shape_is_malformed(
        self, desk: Desk, service: Service, caplog: pytest.LogCaptureFixture
    ) -> None:
        assert self.case.wrong
        for number, body in enumerate(self.case.wrong):
            service.always = reply(body)
            with pytest.raises(CallError) as caught:
                await self.case.provider.search(f"{QUERY} {number}", 6, desk.gateway(**self.case.options(service.url)))
            assert caught.value.fault is CallFault.MALFORMED, body
            assert body.decode() not in str(caught.value) or not body
        self.unseen(desk, caplog)

    async def test_a_late_answer_is_a_timeout(
        self, desk: Desk, service: Service, caplog: pytest.LogCaptureFixture
    ) -> None:
        service.after, service.always = 3.0, spoken(self.case.good)
        error = await self.failure(desk, caplog, service.url, deadlines=Deadlines(search=0.3))
        assert error.fault is CallFault.TIMEOUT

    async def test_a_connection_that_breaks(
        self, desk: Desk, service: Service, caplog: pytest.LogCaptureFixture
    ) -> None:
        service.always = b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n{"
        assert (await self.failure(desk, caplog, service.url)).fault is CallFault.NETWORK

    async def test_nobody_is_there(self, desk: Desk, caplog: pytest.LogCaptureFixture, nobody: str) -> None:
        assert (await self.failure(desk, caplog, nobody)).fault is CallFault.UNREACHED

    async def test_the_key_is_sent_and_kept_nowhere(
        self, desk: Desk, service: Service, caplog: pytest.LogCaptureFixture
    ) -> None:
        service.always = spoken(self.case.good)
        hits = await self.case.provider.search(QUERY, 6, desk.gateway(**self.case.options(service.url)))
        assert hits
        for hit in hits:
            assert "://" in hit.url
            assert hit.text
            assert hit.provider == self.case.provider.name
        if self.case.key:
            assert "nobody" in service.heard[0]
        self.unseen(desk, caplog, *map(str, hits))

    async def test_a_replay_asks_nobody(self, desk: Desk, service: Service) -> None:
        service.always = spoken(self.case.good)
        options = self.case.options(service.url)
        live = await self.case.provider.search(QUERY, 6, desk.gateway(**options))
        asked = len(service.heard)
        assert await self.case.provider.search(QUERY, 6, desk.gateway(Mode.REPLAY, **options)) == live
        assert len(service.heard) == asked

    async def test_no_more_hits_than_asked_for(self, desk: Desk, service: Service) -> None:
        service.always = spoken(self.case.good)
        assert len(await self.case.provider.search(QUERY, 1, desk.gateway(**self.case.options(service.url)))) == 1

    def test_where_it_is(self) -> None:
        mine = Settings(**self.case.options("http://127.0.0.1:9"))
        assert self.case.provider.missing(mine) is None
        assert self.case.provider.address(mine) == "http://127.0.0.1:9"
        if not getattr(self.case.provider, "keyless", False) and not self.case.key:
            return  # it has neither a key nor a place of its own
        usual = self.case.provider.address(Settings(**{**self.case.options(""), "urls": {}}))
        assert usual.startswith("https://")
