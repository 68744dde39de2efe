"""What every provider must do if its service refuses, fails, is late or talks nonsense.

A provider's test module says what is particular to it and inherits the rest:

    class TestFaults(Faults):
        case = Case(PROVIDER, good=GOOD, empty=b'{"results": []}', wrong=(b"[]", b'{"results": 7}'),
        key="tavily")
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import pytest

from deepdiver.core.settings import Deadlines, Settings
from deepdiver.gateway import Gateway, Mode
from deepdiver.tools.hit import Hit
from tests.tools.conftest import Desk
from tests.tools.faults import FAST, KEY, Answers, ServiceFaults, spoken
from tests.tools.search.conftest import Service

__all__ = ["FAST", "KEY", "QUERY", "Case", "Faults", "spoken"]

QUERY = "Holm Works"


class Searches(Protocol):
    """What is tested."""

    name: str
    about: str

    def missing(self, settings: Settings) -> str | None: ...

    def address(self, settings: Settings) -> str: ...

    async def search(self, query: str, limit: int, gateway: Gateway) -> list[Hit]: ...


@dataclass(frozen=True, slots=True)
class Case(Answers):
    """One provider, and its service's answers."""

    provider: Searches
    place: str = ""
    """Under which name of the settings its address stands; empty: its own."""
    asked: str = ""
    """Under which name the gateway knows it; empty: its own."""

    def options(self, url: str, **more: Any) -> dict[str, Any]:
        """Return settings that point the provider at a server."""
        return self.reached(
            self.place or self.provider.name, self.asked or self.provider.name, url, **more
        )


class Faults(ServiceFaults):
    """The tests that all providers share."""

    case: Case
    one_call = True

    def deadline(self, seconds: float) -> Deadlines:
        return Deadlines(search=seconds)

    async def ask(
        self, desk: Desk, url: str, mode: Mode = Mode.LIVE, number: int = 0, **more: Any
    ) -> list[Hit]:
        # A word and not a figure: GDELT is not asked for words as short as "1", and each call must
        # be another one.
        query = f"{QUERY} {chr(ord('a') + number) * 6}" if number else QUERY
        return await self.case.provider.search(
            query, 6, desk.gateway(mode, **self.case.options(url, **more))
        )

    def results(self, got: Any) -> Sequence[Any]:
        found: list[Hit] = got
        return found

    async def test_the_key_is_sent_and_kept_nowhere(
        self, desk: Desk, service: Service, caplog: pytest.LogCaptureFixture
    ) -> None:
        service.always = spoken(self.case.good)
        hits = await self.case.provider.search(
            QUERY, 6, desk.gateway(**self.case.options(service.url))
        )
        assert hits
        for hit in hits:
            assert "://" in hit.url
            assert hit.text
            assert hit.provider == self.case.provider.name
        if self.case.key:
            assert "nobody" in service.heard[0]
        self.unseen(desk, caplog, *map(str, hits))

    async def test_no_more_hits_than_asked_for(self, desk: Desk, service: Service) -> None:
        service.always = spoken(self.case.good)
        assert (
            len(
                await self.case.provider.search(
                    QUERY, 1, desk.gateway(**self.case.options(service.url))
                )
            )
            == 1
        )

    def test_where_it_is(self) -> None:
        mine = Settings(**self.case.options("http://127.0.0.1:9"))
        assert self.case.provider.missing(mine) is None
        assert self.case.provider.address(mine) == "http://127.0.0.1:9"
        if not getattr(self.case.provider, "keyless", False) and not self.case.key:
            return  # it has neither a key nor a place of its own
        usual = self.case.provider.address(Settings(**{**self.case.options(""), "urls": {}}))
        assert usual.startswith("https://")
