"""Finished runs as the SQLite store shows them to a later one.

Enough to see what each was about, and no more.

A run with its report is large, and ten thousand of them would take many seconds. Read here are one
small row for each run and the few records that are asked for, which the key of their table finds
however many others there are.
"""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from pathlib import Path

from deepdiver.core.record import FINISHED
from deepdiver.store.base import PastRun
from deepdiver.store.blobs import decode, unpack
from deepdiver.store.faults import damaged

_STATES = ", ".join(f"'{state.value}'" for state in sorted(FINISHED))
_BEFORE = f"(runs.created, runs.rowid) < (?, ?) AND runs.status IN ({_STATES})"
_RUNS = f"SELECT id, created, json FROM runs WHERE {_BEFORE} ORDER BY created DESC, rowid DESC"  # noqa: S608 no input
# CROSS: the runs first, then of each the few records of the range. The other way round all records
# would be walked.
_RECORDS = (
    "SELECT records.run, records.json FROM runs CROSS JOIN records ON records.run = runs.id "  # noqa: S608 no input
    f"AND records.id >= ? AND records.id < ? WHERE {_BEFORE}"
)
_LAST = "\U0010ffff"


def read_past(db: sqlite3.Connection, file: Path, run: str, beginning: str) -> list[PastRun]:
    """Return the finished runs that were begun before a run; see `Store.past_runs`."""
    mine = db.execute("SELECT created, rowid FROM runs WHERE id = ?", (run,)).fetchone()
    if mine is None:
        return []
    rows = db.execute(_RUNS, mine).fetchall()
    records: defaultdict[str, list[str]] = defaultdict(list)
    for of, data in db.execute(_RECORDS, (beginning, beginning + _LAST, *mine)):
        records[of].append(decode(data, file))
    return [
        PastRun(id_, created, _question(id_, data, file), tuple(records[id_]))
        for id_, created, data in rows
    ]


def _question(id_: str, data: bytes, file: Path) -> str:
    text = unpack(data, file)
    try:
        return str(json.loads(text)["question"])
    except (ValueError, TypeError, KeyError) as error:
        raise damaged(file, f"run {id_} cannot be read") from error
