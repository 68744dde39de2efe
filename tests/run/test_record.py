"""The record of a run: read from the store."""

from __future__ import annotations

from pathlib import Path

from deepdiver.core.record import Finding
from deepdiver.run.record import load_ledger, load_outcome
from tests.strategies.rig import Rig


async def test_without_a_report_there_is_still_a_run(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    loaded = load_outcome(rig.run, rig.store)
    assert loaded.report is None
    assert loaded.run == rig.run
    assert not list(loaded.ledger)


async def test_what_came_of_a_run_can_be_loaded(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    outcome = await rig.work()
    loaded = load_outcome(rig.store.runs.get(rig.run.id), rig.store)
    assert loaded.report == outcome.report
    assert loaded.cost == outcome.cost
    assert loaded.run == outcome.run
    assert list(loaded.ledger) == list(outcome.ledger) == list(load_ledger(rig.store, rig.run.id))
    assert loaded.ledger.of(Finding)
