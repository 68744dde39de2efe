"""Researching a question again, and what has changed since."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import NoReturn

import pytest

from deepdiver.core.record import RunStatus
from deepdiver.core.settings import Settings, load
from deepdiver.errors import (
    CallError,
    CallFault,
    UnknownNameError,
    UnreadableError,
    UsageError,
)
from deepdiver.gateway import Gateway
from deepdiver.run import research
from deepdiver.run import update_run as module
from deepdiver.run.begin import new_run
from deepdiver.run.detached import detached_gateway
from deepdiver.run.update_run import (
    ClaimUpdate,
    is_missing,
    plan_update,
    tell_update,
    update_lines,
    update_record,
)
from deepdiver.store import Store, open_store
from deepdiver.tools.fetch.pages import NO_PAGE

pytestmark = pytest.mark.usefixtures("read_once")

QUESTION = "How many passengers did the ferry of Vantskär carry in 2025?"
COUNT = "The ferry of Vantskär carried 1,200 passengers in 2025."
RECOUNT = "The ferry of Vantskär carried 1,350 passengers in 2025."
RUMOUR = "People on the quay say that the ferry of Vantskär carried 900 passengers in 2025."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "papers"
    made.mkdir()
    (made / "count.md").write_text(f"# Count of the board\n\n{COUNT}\n", encoding="utf-8")
    return made


@pytest.fixture
def settings(tmp_path: Path, folder: Path) -> Settings:
    given = {"home": tmp_path / "home", "documents": (folder,), "search": ["library"]}
    return load({**given, "strategy": "iterative", "max_iterations": 2})


@pytest.fixture
def store(settings: Settings) -> Iterator[Store]:
    with closing(open_store(settings)) as opened:
        yield opened


async def updated(settings: Settings, store: Store, before: str) -> ClaimUpdate:
    plan = plan_update(before, settings, store)
    outcome = await research(plan.question, plan.settings, store=store)
    return await tell_update(before, outcome.run.id, store, plan.settings)


async def first(settings: Settings, store: Store) -> str:
    outcome = await research(QUESTION, settings, store=store)
    assert outcome.report is not None
    assert any(item.citations for item in outcome.report.answer)
    return outcome.run.id


async def test_what_cannot_be_updated(settings: Settings, store: Store) -> None:
    with pytest.raises(UnknownNameError):
        plan_update("nothing", settings, store)
    before = await first(settings, store)
    store.runs.set_status(before, RunStatus.STOPPED)
    with pytest.raises(UsageError, match="not finished"):
        plan_update(before, settings, store)


async def test_an_update_is_like_the_run_and_takes_nothing_from_the_cache(
    settings: Settings, store: Store
) -> None:
    before = await first(settings.model_copy(update={"length": "brief"}), store)
    plan = plan_update(before, settings, store, {"max_iterations": 1})
    assert (plan.run, plan.question) == (before, QUESTION)
    assert (plan.settings.strategy, plan.settings.length) == ("iterative", "brief")
    assert (plan.settings.max_iterations, plan.settings.as_of) == (1, None)
    assert (plan.settings.cache.search, plan.settings.cache.fetch) == (0.0, 0.0)


async def test_nothing_has_changed(settings: Settings, store: Store) -> None:
    found = await updated(settings, store, await first(settings, store))
    assert not found.moved
    assert "Nothing has changed: every claim was confirmed." in list(update_lines(found))
    assert update_record(found)["confirmed"]


async def test_a_number_has_changed(settings: Settings, store: Store, folder: Path) -> None:
    before = await first(settings, store)
    (folder / "count.md").write_text(f"# Count of the board\n\n{RECOUNT}\n", encoding="utf-8")
    found = await updated(settings, store, before)
    assert found.moved
    (pair,) = found.compared.related("changed")
    assert (pair.one.sentence.text, pair.other.sentence.text) == (COUNT, RECOUNT)
    told = [line.strip() for line in update_lines(found)]
    assert "Changed" in told
    assert f"now {pair.other.number}. {RECOUNT}" in told


async def test_a_source_is_gone_and_another_has_come(
    settings: Settings, store: Store, folder: Path
) -> None:
    before = await first(settings, store)
    (folder / "count.md").unlink()
    (folder / "other.md").write_text(f"# The quay\n\n{RUMOUR}\n", encoding="utf-8")
    found = await updated(settings, store, before)
    assert [(item.sentence.text, Path(url).name) for item, url in found.gone] == [
        (COUNT, "count.md")
    ]
    assert found.removed == []
    assert RUMOUR in [item.sentence.text for item in found.compared.only_other]
    record = json.loads(json.dumps(update_record(found)))
    assert record["source_gone"][0]["text"] == COUNT
    assert record["removed"] == []
    assert record["added"]


async def test_a_claim_that_is_no_longer_made_though_its_source_is_there(
    settings: Settings, store: Store, folder: Path
) -> None:
    before = await first(settings, store)
    (folder / "count.md").write_text(f"# The quay\n\n{RUMOUR}\n", encoding="utf-8")
    found = await updated(settings, store, before)
    assert found.gone == ()
    assert COUNT in [item.sentence.text for item in found.removed] + [
        pair.one.sentence.text for pair in found.compared.pairs if pair.relation != "same"
    ]


async def test_a_run_without_a_report_cannot_be_set_beside_another(
    settings: Settings, store: Store
) -> None:
    before = await first(settings, store)
    empty = new_run(QUESTION, settings, store).id
    for pair in ((before, empty), (empty, before)):
        with pytest.raises(UsageError, match="has no report yet"):
            await tell_update(*pair, store, settings)
    with pytest.raises(UnknownNameError):
        await tell_update(before, "nothing", store, settings)
    with pytest.raises(UsageError, match="has no report yet"):
        plan_update(empty, settings, store)


async def test_the_machine_keeps_its_own_settings_and_the_run_its_research(
    settings: Settings, store: Store, tmp_path: Path
) -> None:
    before = await first(settings.model_copy(update={"as_of": date(2020, 1, 1)}), store)
    here = load({"home": tmp_path / "home", "budget": "0.5", "length": "long", "approve": True})
    plan = plan_update(before, here, store)
    assert (plan.settings.budget, plan.settings.home) == (Decimal("0.5"), tmp_path / "home")
    assert (plan.settings.length, plan.settings.documents) == ("standard", settings.documents)
    assert plan.settings.as_of is None, "what has changed since is what it is about"


async def test_a_source_that_cannot_be_asked_for_is_not_called_gone(
    settings: Settings, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that is down, a wall, or a page that cannot be read today may be back tomorrow."""
    errors = iter(
        [
            UnreadableError("e.org answered 503"),
            UnreadableError("it wants a login"),
            CallError("e.org did not answer", CallFault.TIMEOUT),
            UnreadableError(f"e.org{NO_PAGE[0]}"),
        ]
    )

    async def fail(url: str, gateway: Gateway) -> NoReturn:
        raise next(errors)

    monkeypatch.setattr(module, "fetch", fail)
    async with detached_gateway(settings, store=store) as gateway:
        found = [await is_missing("https://e.org/a", gateway) for _ in range(4)]
    assert found == [False, False, False, True]


async def test_a_page_that_is_there_is_not_gone(
    settings: Settings, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def answer(url: str, gateway: Gateway) -> str:
        return "a page"

    monkeypatch.setattr(module, "fetch", answer)
    async with detached_gateway(settings, store=store) as gateway:
        assert not await is_missing("https://e.org/a", gateway)


@pytest.mark.parametrize(
    ("url", "missing"),
    [("/no/such/file.md", True), ("sample:a.md", False), ("relative.md", False), ("", False)],
)
async def test_only_a_file_with_a_whole_path_can_be_said_to_be_gone(
    settings: Settings, store: Store, url: str, missing: bool
) -> None:
    async with detached_gateway(settings, store=store) as gateway:
        assert await is_missing(url, gateway) is missing


async def test_lines_without_what_was_confirmed(settings: Settings, store: Store) -> None:
    found = await updated(settings, store, await first(settings, store))
    assert "Confirmed" in list(update_lines(found))
    assert "Confirmed" not in list(update_lines(found, confirmed=False))
