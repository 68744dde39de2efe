"""The bulk file of OpenSanctions: `targets.simple.csv`, one target in each row.

Every value is in quotes, and where a column holds several, they are a row of values themselves,
parted by semicolons (so an alias that holds a semicolon is in quotes within quotes). A file that
breaks off is not a shorter file: one that does not end with the end of a row is refused. One that
breaks off exactly there cannot be told from a whole one.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from deepdiver.tools.osint.sanctions.entity import LONGEST_NAME, MOST_VALUES

NEEDED = ("id", "schema", "name", "aliases", "birth_date", "countries", "dataset")
"""Columns without which nothing can be said; the others may be missing, as they are in older files.
"""
SEEN = ("first_seen", "last_seen", "last_change")
LONGEST_VALUE = 8_000_000
"""Characters of one value: the names and addresses of a large company run to some 100,000. The
limit of `csv` is one for the whole process, and the reader of tables sets the same."""
LONGEST_SANCTIONS = 1_000
"""Characters that are kept of the programmes: they are shown, not searched."""


class Target(NamedTuple):
    """One row."""

    schema_name: str
    """What it is: Person, Company."""
    fields: dict[str, Any]
    """Who it is: the fields of an Entity."""
    names: tuple[str, ...]
    """All its names, the first one first."""


def targets(file: Path) -> Iterator[Target]:
    """Give the targets of a bulk file.

    Raises:
        ValueError: If it is not such a file, or not all of it; says in a few words why.
        OSError: If it cannot be read.
    """
    csv.field_size_limit(LONGEST_VALUE)
    try:
        if not _ends(file):
            raise ValueError("it is empty, or breaks off within a row")
        with file.open(encoding="utf-8-sig", newline="") as text:
            yield from _rows(csv.reader(text, strict=True))
    except UnicodeDecodeError:
        raise ValueError("it is not in UTF-8") from None
    except csv.Error as error:
        raise ValueError(f"it is not a whole table: {error}") from None


def check(file: Path) -> None:
    """Read a file to its end.

    Raises:
        ValueError: If it is not a bulk file, or not all of it.
    """
    for _ in targets(file):
        pass


def _ends(file: Path) -> bool:
    """Return whether a file ends with the end of a line."""
    with file.open("rb") as raw:
        raw.seek(max(0, raw.seek(0, os.SEEK_END) - 1))
        return raw.read(1) == b"\n"


def _rows(rows: Iterator[list[str]]) -> Iterator[Target]:
    header = next(rows, [])
    if lacking := [column for column in NEEDED if column not in header]:
        raise ValueError(f"it has no column {', '.join(lacking)}, so it is no targets.simple.csv")
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
    aliases = several(row["aliases"])
    name = _line(row["name"])[:LONGEST_NAME] or next(iter(aliases), row["id"])
    fields = {
        "id": row["id"],
        "schema_name": row["schema"],
        "name": name,
        "birth_date": several(row["birth_date"])[:MOST_VALUES],
        "countries": several(row["countries"].lower())[:MOST_VALUES],
        "datasets": several(row["dataset"])[:MOST_VALUES],
        "sanctions": _line(row.get("sanctions", ""))[:LONGEST_SANCTIONS],
        **{seen: row.get(seen, "") for seen in SEEN},
    }
    return Target(row["schema"], fields, tuple(dict.fromkeys((name, *aliases))))


def several(value: str) -> tuple[str, ...]:
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
