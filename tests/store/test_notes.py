"""Small texts beside the runs: as files of a home, and as rows of a shared database."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deepdiver.errors import StoreAccessError
from deepdiver.memory.forgotten import FILE, load_forgotten, save_forgotten
from deepdiver.run.watch_list import Watch, WatchList
from deepdiver.store.notes import HomeNotes, Notes, PostgresNotes, no_lock, notes_of
from deepdiver.tools.process_lock import try_lock
from tests.store.places import AnyStore, Place, PostgresPlace


@pytest.fixture
def notes(place: Place, store: AnyStore, tmp_path: Path) -> Notes:
    if isinstance(place, PostgresPlace):
        place.execute("DELETE FROM notes")
    return notes_of(store, tmp_path / "home", try_lock)


def test_they_are_where_the_runs_are(place: Place, notes: Notes) -> None:
    shared = isinstance(place, PostgresPlace)
    assert isinstance(notes, PostgresNotes if shared else HomeNotes)
    assert "a.json" in notes.place("a.json")
    assert ("PostgreSQL" in notes.place("a.json")) == shared


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "watches").write_text("a file")
    with pytest.raises(StoreAccessError):
        HomeNotes(tmp_path, no_lock).put("watches/r1.json", "{}")


def test_what_is_put_is_there_until_it_is_dropped(notes: Notes) -> None:
    assert notes.get("watches/r1.json") is None
    assert notes.names("watches") == []
    notes.put("watches/r2.json", "two")
    notes.put("watches/r1.json", "one")
    notes.put("watches/r1.json", "other")
    notes.put("forgotten.json", "not in that folder")
    assert notes.get("watches/r1.json") == "other"
    assert notes.names("watches") == ["watches/r1.json", "watches/r2.json"]
    assert notes.drop("watches/r1.json")
    assert not notes.drop("watches/r1.json")
    assert notes.names("watches") == ["watches/r2.json"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
def test_any_text_comes_back(notes: Notes, text: str) -> None:
    plain = text.replace("\r\n", "\n").replace("\r", "\n")  # a file is read as text
    notes.put("n.json", plain)
    assert notes.get("n.json") == plain


def test_one_process_holds_a_text_at_a_time(
    place: Place, notes: Notes, tmp_path: Path, store: AnyStore
) -> None:
    other = notes_of(place.open(), tmp_path / "home", try_lock)
    notes.put("watches/r1.json", "{}")
    with notes.hold("watches/r1.json") as mine:
        assert mine
        with other.hold("watches/r1.json") as theirs:
            assert not theirs
        with other.hold("watches/r2.json") as another:
            assert another
    with other.hold("watches/r1.json") as theirs:
        assert theirs


def test_machines_that_share_a_database_share_watches_and_what_is_forgotten(
    place: Place, notes: Notes, store: AnyStore, tmp_path: Path
) -> None:
    here, there = tmp_path / "home", tmp_path / "another machine"
    watch = Watch(run="r1", question="Who?", every=60, base="r1", asked="2026-11-15T00:00:00+00:00")
    WatchList(here, store).put(watch)
    save_forgotten(here, ["r9"], store)
    shared = isinstance(place, PostgresPlace)
    assert WatchList(there, store).all() == ([watch] if shared else [])
    assert load_forgotten(there, store) == ({"r9"} if shared else frozenset())
    assert WatchList(here, store).get("r1") == watch
    assert (here / FILE).exists() != shared
