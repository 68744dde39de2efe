"""A gateway outside of any run: what fails first, then what is shared and what is left behind."""

from __future__ import annotations

import asyncio
from contextlib import closing
from decimal import Decimal
from pathlib import Path

import pytest

from deepdiver.core.events import Event
from deepdiver.core.record import Run
from deepdiver.core.settings import Settings
from deepdiver.errors import BudgetError, CallError, CallFault, LostTextError, StoreAccessError
from deepdiver.gateway import Gateway, Reply, Request
from deepdiver.gateway.request import Do
from deepdiver.run.detached import detached_gateway, open_errand
from deepdiver.store import open_store

ASKED = Request("feed", "tides", "the tide at Vantskär", {"harbour": "Vantskär"})


class Service:
    """What is at the other end; counts."""

    def __init__(self, fault: CallFault | None = None) -> None:
        self.calls, self._fault = 0, fault

    async def __call__(self) -> Reply:
        self.calls += 1
        if self._fault:
            raise CallError("tides says no to key-0123456789", self._fault)
        return Reply({"level": self.calls})


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings.model_validate(
        {"home": tmp_path / "home", "retries": 0, "keys": {"tides": "key-0123456789"}}
    )


def left(settings: Settings) -> list[Run]:
    with closing(open_store(settings)) as store:
        return store.runs.list_all()


async def test_a_home_that_cannot_be_used_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreAccessError):
        async with detached_gateway(Settings(home=tmp_path / "file" / "home")):
            raise AssertionError("it was opened")


async def test_a_failure_is_a_failure_without_the_key(settings: Settings) -> None:
    events: list[Event] = []
    service = Service(CallFault.SERVER)
    async with detached_gateway(settings, emit=events.append) as gateway:
        with pytest.raises(CallError, match=r"tides says no to \[secret\]") as caught:
            await gateway.call(ASKED, service)
    assert caught.value.fault is CallFault.SERVER
    assert [event.type for event in events] == ["call_started", "call_failed"]
    assert not any("key-0123456789" in event.model_dump_json() for event in events)
    assert left(settings) == []


async def test_the_budget_holds(settings: Settings) -> None:
    service = Service()
    dear = Request("feed", "tides", "dear", {}, worst=Decimal("0.02"))
    async with detached_gateway(settings.model_copy(update={"budget": Decimal("0.01")})) as gateway:
        with pytest.raises(BudgetError):
            await gateway.call(dear, service)
    assert service.calls == 0


async def test_no_run_shows_up_meanwhile_or_afterwards(settings: Settings) -> None:
    async with detached_gateway(settings) as gateway:
        await gateway.call(ASKED, Service())
        assert left(settings) == []
    assert left(settings) == []


async def test_whoever_leaves_in_the_middle_leaves_nothing(settings: Settings) -> None:
    async def leave() -> None:
        async with detached_gateway(settings) as gateway:
            await gateway.call(ASKED, Service())
            raise KeyError("left")

    with pytest.raises(KeyError):
        await leave()
    assert left(settings) == []
    files = {
        path.name.removesuffix("-wal").removesuffix("-shm") for path in settings.home.iterdir()
    }
    assert files == {"deepdiver.db"}


async def test_answers_are_shared_between_errands_and_with_runs(settings: Settings) -> None:
    service = Service()
    async with detached_gateway(settings) as one:
        assert (await one.call(ASKED, service)).value == {"level": 1}
    async with detached_gateway(settings) as other:
        assert (await other.call(ASKED, service)).value == {"level": 1}
    with closing(open_store(settings)) as store:
        store.runs.create(run("20261115-a"))
        gateway = Gateway(store, "20261115-a", settings, lambda _: None)
        assert (await gateway.call(ASKED, service)).value == {"level": 1}
    assert service.calls == 1


async def test_an_answer_that_is_not_shared_is_asked_for_again_by_the_next_errand(
    settings: Settings,
) -> None:
    service = Service()
    fresh = Request("feed", "tides", "now", {}, fresh=True)
    for expected in (1, 2):
        async with detached_gateway(settings) as gateway:
            assert (await gateway.call(fresh, service)).value == {"level": expected}
            assert (await gateway.call(fresh, service)).value == {"level": expected}, (
                "within one errand it is one call"
            )


async def test_limits_are_those_of_the_home(settings: Settings) -> None:
    slow = {
        "limits": {"tides": {"rate": 1, "per": 3_600.0, "concurrent": 1}},
        "deadlines": {"feed": 600},
    }
    limited = Settings.model_validate({**settings.model_dump(), **slow, "cache": {"feed": 0}})
    async with detached_gateway(limited) as gateway:
        await gateway.call(ASKED, Service())
    async with detached_gateway(limited) as gateway:
        with pytest.raises(CallError, match="no place for a call in time"):
            await gateway.call(ASKED, Service())


async def test_two_at_once_hold_places_of_their_own(settings: Settings) -> None:
    one_by_one = Settings.model_validate(
        {**settings.model_dump(), "limits": {"tides": {"rate": 100, "concurrent": 1}}}
    )
    inside = most = 0

    async def do() -> Reply:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        await asyncio.sleep(0.1)
        inside -= 1
        return Reply({})

    async def errand(number: int) -> None:
        async with detached_gateway(one_by_one) as gateway:
            await gateway.call(Request("feed", "tides", "one", {"number": number}), do)

    await asyncio.gather(*map(errand, range(3)))
    assert most == 1


@pytest.mark.parametrize("gone", [False, True])
async def test_a_shared_answer_with_a_text_is_taken_while_the_text_is_kept(
    settings: Settings, gone: bool
) -> None:
    calls = 0

    def bringing(gateway: Gateway) -> Do:
        async def do() -> Reply:
            nonlocal calls
            calls += 1
            text = await gateway.save_text("high water at noon")
            return Reply({"text": text}, texts=(text,))

        return do

    with closing(open_store(settings)) as store:
        store.runs.create(run("20261115-a"))
        theirs = Gateway(store, "20261115-a", settings, lambda _: None)
        await theirs.call(ASKED, bringing(theirs))
        if gone:
            store.runs.delete("20261115-a", 0.0)
        async with detached_gateway(settings, store=store) as gateway:
            await gateway.call(ASKED, bringing(gateway))
        assert store.runs.list_all() == ([] if gone else [run("20261115-a")]), (
            "the store that was lent is still open"
        )
    assert calls == (2 if gone else 1)


def run(name: str) -> Run:
    return Run(
        id=name,
        question="?",
        strategy="popper",
        settings={},
        created="2026-11-15",
        version="0.1.0",
    )


async def test_an_errand_keeps_what_it_fetches_as_long_as_it_lasts(settings: Settings) -> None:
    async with open_errand(settings) as errand:
        key = await errand.gateway.save_text("Low tide at noon.")
        assert errand.store.texts.get(key) == "Low tide at noon."
        assert errand.run.question == ""
    assert left(settings) == []
    with closing(open_store(settings)) as store, pytest.raises(LostTextError):
        store.texts.get(key)
