"""Removing a run: nothing of it is left, and nothing else goes with it."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path

import pytest

from deepdiver.core.settings import Settings
from deepdiver.errors import LostTextError, RunBusyError, UnknownNameError
from deepdiver.report.removal import FILES, PICTURES, remove_run
from deepdiver.store import open_store
from tests.store.acts import make_run


def test_rows_texts_and_files_go_and_the_users_own_stay(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    with closing(open_store(settings)) as store:
        for name in ("gone", "kept"):
            store.runs.create(make_run(name))
            folder = tmp_path / "runs" / name
            folder.mkdir(parents=True)
            for file in (*FILES, *PICTURES):
                (folder / file).write_text("x", encoding="utf-8")
        text = store.texts.put("gone", "only this run has read it")
        both = store.texts.put("gone", "both have")
        store.texts.put("kept", "both have")
        (tmp_path / "runs" / "kept" / "notes.txt").write_text("mine", encoding="utf-8")

        remove_run("gone", settings, store)
        assert not (tmp_path / "runs" / "gone").exists()
        with pytest.raises(UnknownNameError):
            store.runs.get("gone")
        with pytest.raises(LostTextError):
            store.texts.get(text)
        assert store.texts.get(both) == "both have"

        remove_run("kept", settings, store)
        assert [file.name for file in (tmp_path / "runs" / "kept").iterdir()] == ["notes.txt"]


def test_a_run_that_is_worked_on_stays_with_its_files(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    with closing(open_store(settings)) as store:
        store.runs.create(make_run("busy"))
        (tmp_path / "runs" / "busy").mkdir(parents=True)
        (tmp_path / "runs" / "busy" / "report.md").write_text("x", encoding="utf-8")
        store.leases.take("busy", "somebody", time.time(), 30.0)
        with pytest.raises(RunBusyError):
            remove_run("busy", settings, store)
        assert (tmp_path / "runs" / "busy" / "report.md").exists()
        assert store.runs.get("busy").id == "busy"


def test_a_run_that_is_not_there(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    with closing(open_store(settings)) as store, pytest.raises(UnknownNameError):
        remove_run("nothing", settings, store)
