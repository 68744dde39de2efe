"""The record of a run: its findings and report, read from the store."""

from __future__ import annotations

from typing import cast

from deepdiver.core.ledger import KINDS, Entry, Ledger
from deepdiver.core.record import Report, Run
from deepdiver.report.spending import spending_of
from deepdiver.run.session import Outcome
from deepdiver.store import Store


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
