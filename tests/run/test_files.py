"""The files that a run leaves in its folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deepdiver.errors import StoreAccessError
from deepdiver.run.egress import seal_of
from deepdiver.run.files import write_outcome
from deepdiver.run.record import load_outcome
from deepdiver.run.verify import verify
from tests.strategies.rig import Rig


async def test_without_a_report_nothing_is_written(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    outcome = load_outcome(rig.run, rig.store)
    assert outcome.report is None
    assert write_outcome(outcome, rig.store, rig.settings) is outcome
    assert not (tmp_path / "runs").exists()


async def test_a_folder_that_cannot_be_written_to_is_said(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    outcome = await rig.work()
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreAccessError, match="The run is saved"):
        write_outcome(outcome, rig.store, rig.settings, tmp_path / "file" / "out")


async def test_the_record_has_the_receipt_of_what_was_sent_out(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    outcome = await rig.work()
    folder = write_outcome(outcome, rig.store, rig.settings).folder
    assert folder is not None
    receipt = json.loads((folder / "report.json").read_text(encoding="utf-8"))["egress"]
    assert outcome.report is not None
    assert receipt["report_hash"] == outcome.report.hash
    assert receipt["seal"] == seal_of(receipt)


async def test_files_are_the_same_from_the_run_and_from_the_store(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    outcome = await rig.work()
    first = write_outcome(outcome, rig.store, rig.settings).folder
    loaded = load_outcome(outcome.run, rig.store)
    second = write_outcome(loaded, rig.store, rig.settings, tmp_path / "again").folder
    assert first == tmp_path / "runs" / rig.run.id
    assert first is not None
    assert second == tmp_path / "again"
    for file in first.iterdir():
        assert file.read_bytes() == (second / file.name).read_bytes(), file.name


async def test_the_page_of_a_run_can_be_verified_like_an_export(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    folder = write_outcome(await rig.work(), rig.store, rig.settings).folder
    assert folder is not None
    page = (folder / "report.html").read_bytes()
    checked = verify(page)
    assert checked.kind == "html"
    assert checked.faults == ()
    assert checked.sentences > 0
    assert verify(page.replace(b"</main>", b"<p>more</p></main>")).faults
