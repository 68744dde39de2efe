"""Researching a question again, and what has changed since."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from deepdiver.core.record import RunStatus
from deepdiver.core.settings import Settings, load
from deepdiver.errors import UnknownNameError, UsageError
from deepdiver.run import research
from deepdiver.run.update_run import (
    ClaimUpdate,
    plan_update,
    tell_update,
    update_lines,
    update_record,
)
from deepdiver.store import Store, open_store

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
