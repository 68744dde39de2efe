"""The files that a run leaves in its folder."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from deepdiver.core.settings import Settings
from deepdiver.report.files import write_files
from deepdiver.run.egress import make_receipt
from deepdiver.run.export import with_evidence
from deepdiver.run.session import Outcome
from deepdiver.run.transfer import save
from deepdiver.store import Store


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
    saved = save(outcome.run, outcome.report, outcome.ledger, store)
    receipt = make_receipt(outcome.run, store, settings)
    write_files(folder, saved, with_evidence(saved), egress=receipt)
    return dataclasses.replace(outcome, folder=folder)
