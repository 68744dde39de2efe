"""The reader of targets.simple.csv: whole files, old ones, and broken ones."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deepdiver.tools.osint.sanctions.entity import Entity
from deepdiver.tools.osint.sanctions.targets_csv import (
    Target,
    check_targets,
    read_targets,
    split_values,
)
from deepdiver.tools.plain_file import NOT_PLAIN
from tests.tools.osint.sanctions.targets import ENTITIES, HEADER, PETROV, bulk_file, table


def read(folder: Path, raw: bytes) -> list[Target]:
    file = folder / "bulk.csv"
    file.write_bytes(raw)
    return list(read_targets(file))


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"", "breaks off"),
        (b"<!doctype html><title>Log in</title>\n", "no column"),
        (b'{"error": "no"}\n', "no column"),
        (b"\xff\xfe\x00\n", "not in UTF-8"),
        (table()[:-1].encode(), "breaks off"),
        (table()[:-40].encode() + b"\n", "not a whole table"),
        (table([]).encode(), "no rows"),
        (table().encode() + b'"Q9","Person"\n', "row 9 has 2 values instead of 16"),
        (table([{**PETROV, "id": ""}]).encode(), "row 2 has no id"),
        (table([{**PETROV, "schema": ""}]).encode(), "no schema"),
        (
            table(header=[name for name in HEADER if name != "aliases"]).encode(),
            "no column aliases",
        ),
        (table().encode().replace(b"Romashka", b"\xe9"), "not in UTF-8"),
        (table().encode().replace(b'"Ivan PETROV"', b'"Ivan" PETROV"'), "not a whole table"),
    ],
)
def test_a_file_that_is_not_a_bulk_file_is_refused(tmp_path: Path, raw: bytes, why: str) -> None:
    with pytest.raises(ValueError, match=why) as caught:
        read(tmp_path, raw)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        list(read_targets(tmp_path / "absent.csv"))


def test_a_pipe_keeps_nobody_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "bulk.csv")
    with pytest.raises(OSError, match=NOT_PLAIN):
        list(read_targets(tmp_path / "bulk.csv"))


@given(cut=st.integers(1, len(table().encode()) - 1))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
def test_a_file_that_is_cut_off_is_refused_or_ends_with_a_row(tmp_path: Path, cut: int) -> None:
    whole = table().encode()
    try:
        rows = read(tmp_path, whole[:cut])
    except ValueError:
        return
    assert whole[:cut].endswith(b'"\n')
    assert rows == read(tmp_path, whole)[: len(rows)]


def test_the_rows(tmp_path: Path) -> None:
    rows = list(read_targets(bulk_file(tmp_path)))
    assert len(rows) == len(ENTITIES)
    petrov = Entity.model_validate(rows[0].fields)
    assert (petrov.id, petrov.schema_name, petrov.name) == ("Q1", "Person", "Ivan PETROV")
    assert (petrov.birth_date, petrov.countries) == (("1961-05-02",), ("ru",))
    assert petrov.datasets == ("eu_fsf", "us_ofac_sdn")
    assert (petrov.sanctions, petrov.first_seen) == ("EX-1 - 2022-03-01", "2022-03-02T09:00:00")
    assert rows[0].names == ("Ivan PETROV", "Иван Петров", "Vanya the Baker")
    assert rows[2].names == ("OOO Romashka Trading", "Daisy; Trading", "Romashka")


def test_an_older_file_without_programmes_and_dates(tmp_path: Path) -> None:
    header = [
        name
        for name in HEADER
        if name not in ("program_ids", "sanctions", "first_seen", "last_seen")
    ]
    (row,) = read(tmp_path, table([PETROV], header).encode())
    assert Entity.model_validate(row.fields).first_seen == ""


def test_a_mark_at_the_beginning_and_lines_within_values(tmp_path: Path) -> None:
    raw = (
        b"\xef\xbb\xbf"
        + table([{**PETROV, "name": "Ivan\nPETROV", "sanctions": "x" * 200_000}]).encode()
    )
    (row,) = read(tmp_path, raw)
    assert row.names[0] == "Ivan PETROV"
    assert len(row.fields["sanctions"]) == 1_000


def test_a_target_without_a_name_has_that_of_its_alias_or_its_id(tmp_path: Path) -> None:
    rows = read(
        tmp_path,
        table([{"id": "Q1", "name": "", "aliases": "Ivan"}, {"id": "Q2", "name": ""}]).encode(),
    )
    assert [row.names for row in rows] == [("Ivan",), ("Q2",)]


@pytest.mark.parametrize(
    ("value", "parts"),
    [
        ("", ()),
        ("one", ("one",)),
        ("one;two; ;two", ("one", "two", "two")),
        ('"one; two";three', ("one; two", "three")),
        ('"one ""great"" name";two', ('one "great" name', "two")),
        ('not "closed;two', ('not "closed', "two")),
        ('"open;two', ("open;two",)),
    ],
)
def test_several_values(value: str, parts: tuple[str, ...]) -> None:
    assert split_values(value) == parts


@given(st.text(max_size=80))
def test_any_value_can_be_split(value: str) -> None:
    assert all(part and "\n" not in part for part in split_values(value))


def test_check_reads_to_the_end(tmp_path: Path) -> None:
    file = bulk_file(tmp_path)
    check_targets(file)
    file.write_text(table() + '"Q9"\n', encoding="utf-8")
    with pytest.raises(ValueError, match="row 9"):
        check_targets(file)
