"""Reader of `targets.simple.csv`, the bulk file of OpenSanctions: one target in each row.

Every value is in quotes. A column with several values holds a row of its own, separated by
semicolons, so that an alias with a semicolon is in quotes within quotes. A file that does not end
with the end of a row is refused, because it was cut off; one that was cut off exactly there cannot
be told from a whole one.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from io import TextIOWrapper
from pathlib import Path
from typing import Any, NamedTuple

from deepdiver.tools.osint.sanctions.entity import LONGEST_NAME, MOST_VALUES
from deepdiver.tools.plain_file import open_stream

NEEDED = ("id", "schema", "name", "aliases", "birth_date", "countries", "dataset")
"""Columns that a file must have; the others may be missing, as they are in older files."""
SEEN = ("first_seen", "last_seen", "last_change")
LONGEST_VALUE = 8_000_000
"""Characters of one value: the names and addresses of a large company run to some 100,000. The
limit of `csv` holds for the whole process, and the reader of tables sets the same."""
LONGEST_SANCTIONS = 1_000
"""Characters that are kept of the programmes: they are shown, not searched."""


class Target(NamedTuple):
    """One row."""

    schema_name: str
    """Its schema: Person, Company."""
    fields: dict[str, Any]
    """The fields of its Entity."""
    names: tuple[str, ...]
    """All its names, the main one first."""


def read_targets(file: Path) -> Iterator[Target]:
    """Yield the targets of a bulk file.

    Raises:
        ValueError: If it is not a whole bulk file; says why in a few words.
        OSError: If it cannot be read.
    """
    csv.field_size_limit(LONGEST_VALUE)
    try:
        if not _ends_a_line(file):
            raise ValueError("it is empty, or breaks off within a row")
        with TextIOWrapper(open_stream(file), encoding="utf-8-sig", newline="") as text:
            yield from _rows(csv.reader(text, strict=True))
    except UnicodeDecodeError:
        raise ValueError("it is not in UTF-8") from None
    except csv.Error as error:
        raise ValueError(f"it is not a whole table: {error}") from None


def check_targets(file: Path) -> None:
    """Check a file by reading it to its end.

    Raises:
        ValueError: If it is not a whole bulk file.
    """
    for _ in read_targets(file):
        pass


def _ends_a_line(file: Path) -> bool:
    """Return whether a file ends with the end of a line."""
    with open_stream(file) as raw:
        raw.seek(max(0, raw.seek(0, os.SEEK_END) - 1))
        return raw.read(1) == b"\n"


def _rows(rows: Iterator[list[str]]) -> Iterator[Target]:
    header = next(rows, [])
    if lacking := [column for column in NEEDED if column not in header]:
        raise ValueError(f"it has no column {', '.join(lacking)}, so it is not targets.simple.csv")
    count = 0
    for number, row in enumerate(rows, start=2):
        if len(row) != len(header):
            raise ValueError(f"row {number:,} has {len(row)} values instead of {len(header)}")
        yield _target(number, dict(zip(header, row, strict=True)))
        count = number
    if not count:
        raise ValueError("it has no rows")


def _target(number: int, row: dict[str, str]) -> Target:
    if not row["id"] or not row["schema"]:
        raise ValueError(f"row {number:,} has no id or no schema")
    aliases = split_values(row["aliases"])
    name = _line(row["name"])[:LONGEST_NAME] or next(iter(aliases), row["id"])
    fields = {
        "id": row["id"],
        "schema_name": row["schema"],
        "name": name,
        "birth_date": split_values(row["birth_date"])[:MOST_VALUES],
        "countries": split_values(row["countries"].lower())[:MOST_VALUES],
        "datasets": split_values(row["dataset"])[:MOST_VALUES],
        "sanctions": _line(row.get("sanctions", ""))[:LONGEST_SANCTIONS],
        **{seen: row.get(seen, "") for seen in SEEN},
    }
    return Target(row["schema"], fields, tuple(dict.fromkeys((name, *aliases))))


def split_values(value: str) -> tuple[str, ...]:
    """Return the values of a column that holds several."""
    if not value:
        return ()
    if '"' not in value:
        return tuple(clean[:LONGEST_NAME] for part in value.split(";") if (clean := _line(part)))
    (row,) = csv.reader([value.replace("\n", " ").replace("\r", " ")], delimiter=";", strict=False)
    return tuple(clean[:LONGEST_NAME] for part in row if (clean := _line(part)))


def _line(text: str) -> str:
    """Return a text on one line."""
    return " ".join(text.split())
