"""What search providers and feeds must do if a service refuses, fails, is late or talks nonsense.

`search/faults.py` and `osint/faults.py` say how each is asked, and add what is particular to it.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from pydantic import SecretStr

from deepdiver.core.settings import Deadlines, Limit
from deepdiver.errors import CallError, CallFault
from deepdiver.gateway import Mode
from deepdiver.store import CallState
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
WAIT = 0.3
"""Seconds after which a service wants to be asked again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What a service answers, and what must be set to ask it."""

    good: bytes | Mapping[str, bytes]
    """A body in the documented form with at least one result; or one for each piece of a path."""
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
    faults: Mapping[int, CallFault] = field(default_factory=dict)
    """Statuses that mean something else here than elsewhere."""

    def reached(self, place: str, asked: str, url: str, **more: Any) -> dict[str, Any]:
        """Return settings that point at a server, by the names of its address and of its limit."""
        keys = {self.key: SecretStr(KEY)} if self.key else {}
        options = {
            "urls": {place: url},
            "limits": {asked: FAST},
            "keys": keys,
            **self.settings,
            **more,
        }
        if "keys" not in more:
            options["keys"] = keys | self.settings.get("keys", {})
        return options


def spoken(body: bytes | Mapping[str, bytes]) -> bytes | Mapping[str, bytes]:
    """Return an answer of 200, or one for each path."""
    return (
        reply(body)
        if isinstance(body, bytes)
        else {piece: reply(said) for piece, said in body.items()}
    )


class ServiceFaults:
    """The tests that all share."""

    case: Answers
    one_call: bool
    """Whether a question is one call, whose error is handed on as it is. A feed may need several,
    and tells of them."""

    async def ask(
        self, desk: Desk, url: str, mode: Mode = Mode.LIVE, number: int = 0, **more: Any
    ) -> Any:
        """Ask the service at an address.

        Each number is another call, since a failure is met again.
        """
        raise NotImplementedError

    def deadline(self, seconds: float) -> Deadlines:
        """Return deadlines with so many seconds for such a call."""
        raise NotImplementedError

    def results(self, got: Any) -> Sequence[Any]:
        """Return what was found."""
        raise NotImplementedError

    @pytest.fixture(autouse=True)
    def _listen(self, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.DEBUG)

    def unseen(self, desk: Desk, caplog: pytest.LogCaptureFixture, *told: str) -> None:
        """Check that the key stands nowhere.

        No message, journal row, event or line of a log, however it is spelt.
        """
        texts = "\n".join(
            [desk.everything(), caplog.text, *(repr(r.__dict__) for r in caplog.records), *told]
        )
        for spelling in (
            KEY,
            "a-key%2Fthat%2Bnobody%20may%3Dsee",
            "a-key%2Fthat%2Bnobody+may%3Dsee",
            "nobody may",
        ):
            assert spelling not in texts

    async def failure(
        self, desk: Desk, caplog: pytest.LogCaptureFixture, url: str, number: int = 0, **more: Any
    ) -> CallError:
        """Ask, and return the error that must come of it.

        One line, one more failed call, and no address or key.
        """
        with pytest.raises(CallError) as caught:
            await self.ask(desk, url, number=number, **more)
        error = caught.value
        self.unseen(desk, caplog, str(error), repr(error))
        assert "\n" not in str(error)
        assert url not in str(error)
        states = [row.state for row in desk.store.journal.rows(desk.run)]
        assert set(states) == {CallState.FAILED}
        assert len(states) == number + 1 or not self.one_call
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
        self,
        desk: Desk,
        service: Service,
        caplog: pytest.LogCaptureFixture,
        status: int,
        fault: CallFault,
    ) -> None:
        service.always = reply(f'{{"error": "no: {KEY}"}}'.encode(), f"{status} Said", X_Echo=KEY)
        error = await self.failure(desk, caplog, service.url)
        assert error.fault is self.case.faults.get(status, fault)
        assert len(service.heard) == 1 or not self.one_call
        if not self.case.key:
            assert "check the key" not in " ".join(event.model_dump_json() for event in desk.events)

    async def test_a_time_to_wait_is_obeyed(
        self, desk: Desk, service: Service, caplog: pytest.LogCaptureFixture
    ) -> None:
        service.once = [reply(b"{}", "429 Too Many Requests", Retry_After=str(WAIT))]
        service.always = spoken(self.case.good)
        assert self.results(await self.ask(desk, service.url, retries=1))
        assert service.times[1 if self.one_call else -1] - service.times[0] >= WAIT - 0.01
        waits = [
            wait for event in desk.events if (wait := getattr(event, "retry_in", None)) is not None
        ]
        assert waits == [WAIT] or (WAIT in waits and not self.one_call)
        self.unseen(desk, caplog)

    async def test_a_time_to_wait_that_is_too_long_is_told(
        self, desk: Desk, service: Service, caplog: pytest.LogCaptureFixture
    ) -> None:
        service.always = reply(b"{}", "429 Too Many Requests", Retry_After="3600")
        error = await self.failure(desk, caplog, service.url, retries=3)
        assert error.fault is CallFault.RATE
        assert error.retry_after == 3600.0 or not self.one_call
        assert len(service.heard) == 1 or not self.one_call

    async def test_a_failing_service_is_asked_again(self, desk: Desk, service: Service) -> None:
        service.once = [reply(b"{}", "500 Internal Server Error")]
        service.always = spoken(self.case.good)
        assert self.results(await self.ask(desk, service.url, retries=1))

    async def test_nothing_found_is_an_answer(self, desk: Desk, service: Service) -> None:
        service.always = spoken(self.case.empty)
        assert not self.results(await self.ask(desk, service.url))
        assert all(row.state is CallState.SETTLED for row in desk.store.journal.rows(desk.run))

    async def test_what_is_no_answer_is_malformed(
        self, desk: Desk, service: Service, caplog: pytest.LogCaptureFixture
    ) -> None:
        assert self.case.wrong
        for number, body in enumerate((*self.case.broken, *self.case.wrong)):
            service.always = reply(body)
            error = await self.failure(desk, caplog, service.url, number=number)
            assert len(service.heard) > number
            assert error.fault is CallFault.MALFORMED, body
            assert body in self.case.broken or body.decode() not in str(error)

    async def test_a_late_answer_is_a_timeout(
        self, desk: Desk, service: Service, caplog: pytest.LogCaptureFixture
    ) -> None:
        service.after, service.always = 3.0, spoken(self.case.good)
        error = await self.failure(desk, caplog, service.url, deadlines=self.deadline(0.3))
        assert error.fault is CallFault.TIMEOUT

    async def test_a_connection_that_breaks(
        self, desk: Desk, service: Service, caplog: pytest.LogCaptureFixture
    ) -> None:
        service.always = b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n{"
        assert (await self.failure(desk, caplog, service.url)).fault is CallFault.NETWORK

    async def test_nobody_is_there(
        self, desk: Desk, caplog: pytest.LogCaptureFixture, nobody: str
    ) -> None:
        assert (await self.failure(desk, caplog, nobody)).fault is CallFault.UNREACHED

    async def test_a_redirect_leads_nowhere(
        self, desk: Desk, service: Service, caplog: pytest.LogCaptureFixture
    ) -> None:
        service.always = reply(b"", "307 Moved", Location=f"{service.url}/trap?{KEY}")
        await self.failure(desk, caplog, service.url)
        assert service.heard
        assert not [head for head in service.heard if "/trap" in head]

    async def test_another_address_gives_answers_of_its_own(
        self, desk: Desk, service: Service
    ) -> None:
        service.always = spoken(self.case.good)
        first = await self.ask(desk, service.url)
        asked = len(service.heard)
        shared = self.results(await self.ask(desk.another(), f"{service.url}/"))
        assert len(shared) == len(self.results(first))
        assert len(service.heard) == asked, "a run at the same address takes the answer over"
        await self.ask(desk.another(), f"{service.url}/elsewhere")
        assert len(service.heard) > asked
        assert "/elsewhere" in service.heard[-1]

    async def test_a_replay_asks_nobody(self, desk: Desk, service: Service) -> None:
        service.always = spoken(self.case.good)
        live = await self.ask(desk, service.url)
        asked = len(service.heard)
        assert await self.ask(desk, service.url, Mode.REPLAY) == live
        assert len(service.heard) == asked
