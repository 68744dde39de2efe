"""Watched runs and comparisons: whose they are, what they may cost, and what has moved."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from deepdiver.core.record import Run, RunStatus
from deepdiver.errors import LimitReachedError, UnknownNameError, UsageError
from deepdiver.run.watch_list import News, Stir, Watch, WatchList
from deepdiver.service import runs, watches
from deepdiver.service.accounts import Account
from deepdiver.service.state import ServiceState
from tests.service.conftest import told
from tests.service.rig import service

ADA = Account("ada")
HTML = {"accept": "text/html"}


def copy_of(state: ServiceState, run: str, name: str) -> str:
    """Copy a finished run, as if a round had made it."""
    held = state.store.runs.get(run)
    made: Run = held.model_copy(update={"id": name})
    state.store.runs.create(made)
    state.store.records.add(name, state.store.records.ledger(run))
    state.store.records.save_report(name, state.store.records.report(run) or "")
    state.store.runs.set_status(name, held.status)
    return name


def moved(state: ServiceState, run: str, after: str) -> None:
    """Have a watched run's claims moved."""
    watch = WatchList(state.settings.home, state.store).get(run)
    assert watch is not None
    stirred = (Stir(kind="new", url="a.md"), Stir(kind="gone", url="b.md"))
    news = News(at="2026-11-16T08:00:00+00:00", before=run, after=after, stirred=stirred)
    changed = watch.model_copy(update={"told": (news,), "base": after})
    WatchList(state.settings.home, state.store).put(changed)


async def test_only_a_finished_run_of_ones_own_can_be_watched(home: Path) -> None:
    async with service(home, "bob") as rig:
        state, run = rig.state, told(home, "ada")
        with pytest.raises(UnknownNameError):
            watches.watch_run(state, Account("bob"), run, watches.DAY)
        with pytest.raises(UnknownNameError):
            watches.unwatch_run(state, Account("bob"), run)
        state.store.runs.set_status(run, RunStatus.STOPPED)
        with pytest.raises(UsageError, match="not finished"):
            watches.watch_run(state, ADA, run, watches.DAY)
        assert watches.list_watches(state, ADA) == ()
        assert not watches.is_watched(state, run)


async def test_who_has_a_budget_cannot_spend_beyond_it_by_watching(home: Path) -> None:
    async with service(home) as rig:
        state, run = rig.state, told(home, "ada")
        poor = Account("ada", money=Decimal(1))
        assert watches.watch_run(state, poor, run, watches.DAY).run == run, "it costs nothing"
        held = state.store.runs.get(run)
        paid = held.model_copy(update={"id": f"{run}-2", "settings": {"model": "openai:gpt-5"}})
        state.store.runs.create(paid)
        state.purses.reserve("ada", paid.id, None)
        with pytest.raises(UsageError, match="beyond your budget"):
            watches.watch_run(state, poor, paid.id, watches.DAY)


async def test_there_is_an_end_to_what_one_watches(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watches, "MOST_WATCHES", 1)
    async with service(home) as rig:
        state, run = rig.state, told(home, "ada")
        other = copy_of(state, run, "20261117-another-0000")
        state.purses.reserve("ada", other, None)
        watches.watch_run(state, ADA, run, watches.DAY)
        watches.watch_run(state, ADA, run, 7 * watches.DAY)
        with pytest.raises(LimitReachedError, match="maximum"):
            watches.watch_run(state, ADA, other, watches.DAY)
        (held,) = watches.list_watches(state, ADA)
        assert held.every == 7 * watches.DAY


async def test_the_run_of_a_round_belongs_to_whoever_watches_before_it_begins(home: Path) -> None:
    async with service(home, "bob") as rig:
        state, run, new = rig.state, told(home, "ada"), "20261117-made-by-a-round-0000"
        watches.watcher_of(state).adopt(run, new)
        assert runs.owner_of(state, new) == "ada"
        with pytest.raises(UnknownNameError):
            runs.find_run(state, ADA, new)
        copy_of(state, run, new)
        assert runs.find_run(state, ADA, new).id == new
        for other in (Account("bob"), Account()):
            with pytest.raises(UnknownNameError):
                runs.find_run(state, other, new)
            assert new not in {item.id for item in runs.list_runs(state, other).runs}
        assert new in {item.id for item in runs.list_runs(state, ADA).runs}


async def test_what_moved_is_listed_the_latest_first_and_can_be_compared(home: Path) -> None:
    own = {"authorization": f"Bearer {told(home, 'token')}"}
    async with service(home, "bob") as rig:
        state, run = rig.state, told(home, "ada")
        empty = await rig.client.get("/watching", headers={**own, **HTML})
        assert "Nothing is watched" in empty.text
        put = await rig.client.put(f"/api/v1/runs/{run}/watch", json={"days": 3}, headers=own)
        assert put.json()["every"] == 3 * watches.DAY
        new = copy_of(state, run, "20261117-made-by-a-round-0000")
        state.purses.reserve("ada", new, None)
        moved(state, run, new)
        listed = (await rig.client.get("/api/v1/watches", headers=own)).json()["watches"]
        assert [item["after"] for item in listed[0]["moved"]] == [new]
        page = (await rig.client.get("/watching", headers={**own, **HTML})).text
        assert f"/compare?run={run}&amp;run={new}" in page
        assert "2 texts new, changed or gone" in page
        compared = await rig.client.get(f"/compare?run={run}&run={new}", headers={**own, **HTML})
        assert compared.status_code == 200
        assert "Both say" in compared.text
        data = (await rig.client.get(f"/api/v1/runs/{run}/compare/{new}", headers=own)).json()
        assert {pair["relation"] for pair in data["pairs"]} == {"same"}
        assert (await rig.client.get("/api/v1/watches", headers=rig.of("bob"))).json() == {
            "watches": []
        }
        gone = await rig.client.delete(f"/api/v1/runs/{run}/watch", headers=own)
        assert gone.status_code == 204
        assert (await rig.client.get("/api/v1/watches", headers=own)).json() == {"watches": []}
        actions = [line.action for line in state.log.lines("ada")]
        assert actions[:2] == ["run.unwatch", "run.watch"]


async def test_a_comparison_needs_two_reports(home: Path) -> None:
    own = {"authorization": f"Bearer {told(home, 'token')}"}
    async with service(home) as rig:
        run = told(home, "ada")
        for query in ("", f"?run={run}", f"?run={run}&run={run}&run={run}"):
            answer = await rig.client.get(f"/compare{query}", headers={**own, **HTML})
            assert answer.status_code == 422
            assert "Choose two finished runs" in answer.text
        same = await rig.client.get(f"/api/v1/runs/{run}/compare/{run}", headers=own)
        assert same.status_code == 422
        queued = await rig.client.post(
            "/api/v1/runs", json={"question": "Who owns Holm Works?"}, headers=own
        )
        other = queued.json()["id"]
        answer = await rig.client.get(f"/api/v1/runs/{run}/compare/{other}", headers=own)
        assert answer.status_code == 422
        assert "no report yet" in answer.text
        hostile = await rig.client.get("/compare?run=../a&run=b", headers={**own, **HTML})
        assert hostile.status_code == 422


async def test_trouble_is_shown_without_secrets(home: Path) -> None:
    async with service(home) as rig:
        state, run = rig.state, told(home, "ada")
        watches.watch_run(state, ADA, run, watches.DAY)
        listed = WatchList(state.settings.home, state.store)
        watch = listed.get(run)
        assert isinstance(watch, Watch)
        listed.put(watch.model_copy(update={"trouble": "it failed <b>", "retry": watch.asked}))
        page = await rig.client.get(
            "/watching", headers={**HTML, "authorization": f"Bearer {told(home, 'token')}"}
        )
        assert "The last round failed" in page.text
        assert "It failed &lt;b&gt;." in page.text


async def test_deleting_a_run_ends_its_watch(home: Path) -> None:
    async with service(home) as rig:
        state, run = rig.state, told(home, "ada")
        watches.watch_run(state, ADA, run, watches.DAY)
        runs.delete_run(state, ADA, run)
        assert watches.list_watches(state, ADA) == ()
        assert not watches.is_watched(state, run)
