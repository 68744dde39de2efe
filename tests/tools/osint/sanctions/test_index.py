"""The index of a bulk file: built once, rebuilt when needed, and who is found by it."""

from __future__ import annotations

import os
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deepdiver.errors import StoreError
from deepdiver.tools.osint.sanctions import index as module
from deepdiver.tools.osint.sanctions.index import Index, build, keys_of, opened, words_of
from deepdiver.tools.osint.sanctions.names import name_of
from deepdiver.tools.process_lock import hold_lock
from tests.tools.osint.sanctions.targets import ENTITIES, PETROV, bulk_file, table


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "feeds" / "sanctions.index"


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Count how often an index is built."""
    made: list[Path] = []
    real = module.build

    def counting(file: Path, index: Path) -> None:
        made.append(file)
        real(file, index)

    monkeypatch.setattr(module, "build", counting)
    return made


def found(index: Index, name: str, person: bool = True) -> set[str]:
    return {
        index.entity(candidate.number).id for candidate in index.candidates([name_of(name, person)])
    }


@pytest.mark.parametrize(
    ("name", "who"),
    [
        ("Ivan Petrov", "Q1"),
        ("Petroff Ivan", "Q1"),
        ("Pertov", "Q1"),
        ("Иван Петров", "Q1"),
        ("بشار الحديد", "Q2"),
        ("Bashir Hadeed", "Q2"),
        ("Muhammad Abd al-Rahman", "Q4"),
        ("刘德华", "Q5"),
        ("De Hua Liu", "Q5"),
    ],
)
def test_the_candidates_for_a_name(tmp_path: Path, place: Path, name: str, who: str) -> None:
    with opened(bulk_file(tmp_path), place) as index:
        assert who in found(index, name)


@pytest.mark.parametrize(
    ("name", "who"), [("Starlight", "Q6"), ("Romashka LLC", "Q3"), ("Daisy Trade", "Q3")]
)
def test_organisations_and_ships(tmp_path: Path, place: Path, name: str, who: str) -> None:
    with opened(bulk_file(tmp_path), place) as index:
        assert who in found(index, name, person=False)


def test_an_unknown_name_has_no_candidates(tmp_path: Path, place: Path) -> None:
    with opened(bulk_file(tmp_path), place) as index:
        assert found(index, "Zzyzx Qwghlm") == set()
        assert index.candidates([]) == []
        assert index.candidates([name_of("...", True)]) == []


def test_what_is_known_of_the_file(tmp_path: Path, place: Path) -> None:
    with opened(bulk_file(tmp_path), place) as index:
        assert index.entities == len(ENTITIES)
        assert index.dated == "2026-11-14"
        (candidate,) = [
            one
            for one in index.candidates([name_of("Ivan Petrov", True)])
            if "Ivan PETROV" in one.names
        ]
        assert candidate.schema_name == "Person"
        assert index.entity(candidate.number).birth_date == ("1961-05-02",)


def test_names_that_share_more_come_before_many_that_share_one_word(
    tmp_path: Path, place: Path
) -> None:
    crowd = [
        {"id": f"N{n}", "name": f"Mohammed {chr(97 + n % 26)}{chr(97 + n // 26)}karov"}
        for n in range(400)
    ]
    with opened(
        bulk_file(tmp_path, [*crowd, {"id": "Q1", "name": "Mohammed Saleh"}]), place
    ) as index:
        assert "Q1" in found(index, "Mohamed Salih")
        assert len(index.candidates([name_of("Mohammed", True)])) <= module.MOST_NAMES


def test_it_is_built_once(tmp_path: Path, place: Path, built: list[Path]) -> None:
    file = bulk_file(tmp_path)
    for _ in range(3):
        with opened(file, place) as index:
            assert index.entities == len(ENTITIES)
    assert built == [file]


def test_a_changed_file_is_indexed_again(tmp_path: Path, place: Path, built: list[Path]) -> None:
    file = bulk_file(tmp_path)
    with opened(file, place):
        pass
    bulk_file(tmp_path, [PETROV])
    with opened(file, place) as index:
        assert index.entities == 1
        assert found(index, "Starlight") == set()
    assert len(built) == 2


def test_a_file_with_the_same_content_is_not_indexed_again(
    tmp_path: Path, place: Path, built: list[Path]
) -> None:
    file = bulk_file(tmp_path)
    for moment in (1_000_000_000, 1_100_000_000, 1_100_000_000):
        os.utime(file, (moment, moment))
        with opened(file, place) as index:
            assert index.entities == len(ENTITIES)
    assert len(built) == 1


def test_a_file_of_the_same_size_and_other_content_is_seen(
    tmp_path: Path, place: Path, built: list[Path]
) -> None:
    file = bulk_file(tmp_path)
    with opened(file, place):
        pass
    file.write_text(table().replace("Ivan PETROV", "Oleg SIDROV"), encoding="utf-8")
    os.utime(file, (1, 1))
    with opened(file, place) as index:
        assert "Q1" in found(index, "Oleg Sidrov")
    assert len(built) == 2


@pytest.mark.parametrize(
    "damage", [b"", b"not a database at all", b"SQLite format 3\0" + b"\xff" * 5_000]
)
def test_a_damaged_index_is_rebuilt(
    tmp_path: Path, place: Path, built: list[Path], damage: bytes
) -> None:
    file = bulk_file(tmp_path)
    with opened(file, place):
        pass
    place.write_bytes(damage)
    with opened(file, place) as index:
        assert index.entities == len(ENTITIES)
    assert len(built) == 2


def test_an_index_of_another_format_is_rebuilt(
    tmp_path: Path, place: Path, built: list[Path]
) -> None:
    file = bulk_file(tmp_path)
    with opened(file, place):
        pass
    with closing(sqlite3.connect(place)) as db, db:
        db.execute("UPDATE meta SET value = 'old' WHERE name = 'format'")
    with opened(file, place):
        pass
    assert len(built) == 2


def test_a_file_that_is_not_a_bulk_file_leaves_the_last_index(tmp_path: Path, place: Path) -> None:
    file = bulk_file(tmp_path)
    with opened(file, place):
        pass
    before = place.read_bytes()
    file.write_text(table()[:-5], encoding="utf-8")
    with pytest.raises(ValueError, match="breaks off"), opened(file, place):
        pass
    assert place.read_bytes() == before
    assert sorted(path.suffix for path in place.parent.iterdir()) == [".index", ".lock"]


def test_a_missing_file_is_an_error(tmp_path: Path, place: Path) -> None:
    with pytest.raises(FileNotFoundError), opened(tmp_path / "absent.csv", place):
        pass


def test_a_home_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "feeds").write_text("a file where the folder should be")
    with (
        pytest.raises(StoreError),
        opened(bulk_file(tmp_path), tmp_path / "feeds" / "sanctions.index"),
    ):
        pass


def test_two_at_once_build_it_once(tmp_path: Path, place: Path, built: list[Path]) -> None:
    file, seen = bulk_file(tmp_path), []

    def look() -> None:
        with opened(file, place) as index:
            seen.append(index.entities)

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [len(ENTITIES)] * 4
    assert len(built) == 1


def test_a_draft_that_was_left_behind_does_not_matter(tmp_path: Path, place: Path) -> None:
    place.parent.mkdir()
    place.with_suffix(".part").write_bytes(b"half an index")
    build(bulk_file(tmp_path), place)
    assert not place.with_suffix(".part").exists()


def test_words_and_keys() -> None:
    assert words_of(name_of("Bashar al-Assad", True)) == (
        ("bashar", "al", "asad"),
        ("basharal", "alasad"),
    )
    assert words_of(name_of("V. Petrov", True)) == (("petrov",), ())
    assert words_of(name_of("V.", True)) == (("v",), ())
    assert words_of(name_of("Star Light", False)) == (("star", "ligt"), ("starligt",))
    assert words_of(name_of("Star Trading", False)) == (("star", "trading"), ())
    assert words_of(name_of("Star Light", True)) == (("star", "ligt"), ())
    assert words_of(name_of("刘德华", True)) == (("liu", "de", "hua"), ("liude", "dehua"))
    assert set(keys_of("petrov")) == {"=ptrv", "~trv", "~prv", "~ptv", "~ptr"}
    assert keys_of("ali") == ["=l"]


def test_a_file_that_changes_while_it_is_read(
    tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = bulk_file(tmp_path)
    real = module._insert_words

    def meddled(db: sqlite3.Connection, *words: Any) -> None:
        file.write_text(table([PETROV]), encoding="utf-8")
        real(db, *words)

    monkeypatch.setattr(module, "_insert_words", meddled)
    with pytest.raises(ValueError, match="changed while it was read"), opened(file, place):
        pass
    assert not place.exists()


def test_an_index_that_cannot_take_its_place(
    tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(StoreError, match="Permission denied"), opened(bulk_file(tmp_path), place):
        pass
    assert not place.with_suffix(".part").exists()


def test_a_place_with_odd_characters(tmp_path: Path) -> None:
    folder = tmp_path / "ein Ordner #1?%20"
    folder.mkdir()
    with opened(bulk_file(folder), folder / "sanctions.index") as index:
        assert "Q1" in found(index, "Ivan Petrov")


def test_damage_that_shows_only_when_it_is_read(tmp_path: Path, place: Path) -> None:
    file = bulk_file(tmp_path)
    with opened(file, place):
        pass
    with closing(sqlite3.connect(place)) as db, db:
        db.execute("DROP TABLE keys")
    with opened(file, place) as index, pytest.raises(StoreError):
        index.candidates([name_of("Ivan Petrov", True)])


def test_it_closes(tmp_path: Path, place: Path) -> None:
    with opened(bulk_file(tmp_path), place) as index:
        pass
    with pytest.raises(sqlite3.ProgrammingError):
        index.candidates([name_of("Ivan Petrov", True)])


def test_another_process_that_builds_is_waited_for(
    tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "WAIT", 0.3)
    place.parent.mkdir()
    refused = pytest.raises(StoreError, match="another process")
    with hold_lock(place.with_suffix(".lock"), 1.0), refused, opened(bulk_file(tmp_path), place):
        pass


def test_a_name_in_one_script_is_listed_with_its_other_names(tmp_path: Path, place: Path) -> None:
    with opened(bulk_file(tmp_path), place) as index:
        (candidate,) = [
            one for one in index.candidates([name_of("Ivan Petrov", True)]) if one.number == 1
        ]
    assert candidate.names == ("Ivan PETROV", "Иван Петров")


WORDS = st.text(alphabet="abdefgiklmnoprstuv", min_size=5, max_size=9)


@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=8, unique=True), st.data())
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25, deadline=None
)
def test_a_name_on_the_list_is_found_with_a_slip_in_one_word(
    tmp_path: Path, people: list[tuple[str, str]], data: st.DataObject
) -> None:
    entities = [{"id": f"Q{n}", "name": " ".join(words)} for n, words in enumerate(people)]
    build(bulk_file(tmp_path, entities), tmp_path / "sanctions.index")
    number = data.draw(st.integers(0, len(people) - 1))
    given_name, family = people[number]
    at = data.draw(st.integers(1, len(family) - 1))
    with closing(Index(tmp_path / "sanctions.index")) as index:
        for name in (
            f"{given_name} {family}",
            f"{family} {given_name}",
            f"{given_name} {family[:at]}{family[at + 1 :]}",
        ):
            assert f"Q{number}" in found(index, name)
