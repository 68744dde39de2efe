"""The record of a run: its findings and report, read from the store and written to files."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import cast

from deepdiver.core.ledger import KINDS, Entry, Ledger
from deepdiver.core.record import Report, Run
from deepdiver.core.settings import Settings
from deepdiver.report.files import write_files
from deepdiver.report.spending import spending_of
from deepdiver.run.egress import make_receipt
from deepdiver.run.session import Outcome
from deepdiver.store import Store
from deepdiver.strategies.table import TABLE


def load_ledger(store: Store, run: str) -> Ledger:
    """Return the ledger of a run."""
    rows = store.records.ledger(run)
    return Ledger(cast("Entry", KINDS[kind].model_validate_json(text)) for kind, _, text in rows)


def load_outcome(run: Run, store: Store) -> Outcome:
    """Return the outcome of a run from the store."""
    text = store.records.report(run.id)
    rows, spent = store.journal.rows(run.id), spending_of(store, run.id)
    return Outcome(
        run,
        Report.model_validate_json(text) if text else None,
        spent.known,
        tuple(row for row in rows if row.uncertain),
        ledger=load_ledger(store, run.id),
        unpriced=spent.unpriced,
        tokens=(spent.tokens_in, spent.tokens_out),
    )


def write_outcome(
    outcome: Outcome, store: Store, settings: Settings, out: Path | None = None
) -> Outcome:
    """Write the files of a run that has a report, by default into a folder of the home.

    Raises:
        StoreFullError: If the disk is full.
        StoreAccessError: If the folder cannot be written to.
    """
    if outcome.report is None:
        return outcome
    folder = out or settings.home / "runs" / outcome.run.id
    scene = TABLE[outcome.run.strategy].scene
    egress = make_receipt(outcome.run, store, settings)
    write_files(
        folder, outcome.run, outcome.report, outcome.ledger, store, scene=scene, egress=egress
    )
    return dataclasses.replace(outcome, folder=folder)
