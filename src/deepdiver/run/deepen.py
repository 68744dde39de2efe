"""Looking deeper into one section of a finished report: the new question and its settings.

The new run is like any other. It records which run it came from (`Run.deepens`), recalls that run
as a hint, searches the same providers, and cites nothing that it has not read itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from deepdiver.core.record import FINISHED, Finding, Report
from deepdiver.core.settings import Settings, from_public
from deepdiver.errors import UsageError
from deepdiver.store import Store


@dataclass(frozen=True, slots=True)
class DeeperLook:
    """The plan of a deeper look."""

    run: str
    """Id of the run with the report."""
    heading: str
    """The heading of the section."""
    question: str
    """The question of the new run."""
    settings: Settings
    """The settings of the old run, with the changes."""


def plan_deeper_look(
    run_id: str,
    section: int,
    current: Settings,
    store: Store,
    changes: Mapping[str, Any] | None = None,
) -> DeeperLook:
    """Return the plan of a deeper look into a section.

    Args:
        run_id: The finished run, or the beginning of its id.
        section: Number of the section in its report, from 1.
        current: The settings of this machine, with its keys and its home.
        store: The store of the run.
        changes: Settings that differ from the old run's.

    Raises:
        UnknownNameError: If there is no such run.
        UsageError: If it has no report yet, or no such section.
    """
    run = store.runs.get(run_id)
    text = store.records.report(run.id)
    if run.status not in FINISHED or text is None:
        raise UsageError(
            f"run {run.id} is {run.status.value} and has no report yet; go on with: deepdiver "
            f"resume {run.id}"
        )
    headings = [part.heading for part in Report.model_validate_json(text).sections]
    if not 1 <= section <= len(headings):
        listed = "; ".join(
            f"{number}. {' '.join(heading.split())[:80]}"
            for number, heading in enumerate(headings, 1)
        )
        told = f"it has {listed}" if headings else "it has none to look deeper into"
        raise UsageError(f"there is no section {section} in the report of {run.id}: {told}")
    changes = dict(changes or {})
    if "strategy" in changes:
        # The old run's number of rounds was meant for its own strategy.
        changes.setdefault("max_iterations", None)
    heading = " ".join(headings[section - 1].split())
    settings = from_public(run.settings, current).model_copy(
        update={"strategy": run.strategy, **changes}
    )
    return DeeperLook(run.id, heading, write_deeper_question(run.question, heading), settings)


def tell_news(report: Report, before: str, store: Store) -> str:
    """Return how much a deeper look has brought that the earlier run had not found.

    Args:
        report: The report of the deeper look.
        before: Id of the earlier run.
        store: The store of both.
    """
    rows = store.records.ledger(before)
    known = {
        quote.text
        for kind, _, text in rows
        if kind == "finding"
        for quote in Finding.model_validate_json(text).quotes
    }
    cited = {item.quote for item in report.citations}
    new = len(cited - known)
    if not new:
        return f"nothing new: {before} had already found every passage that this report cites"
    return f"{new} of {len(cited)} cited passages are new since {before}"


def write_deeper_question(question: str, heading: str) -> str:
    """Return the question of a deeper look: the original question and the section's heading."""
    asked = question.strip()
    asked = asked if asked.endswith(("?", ".", "!")) else f"{asked}."
    return (
        f"{asked} In particular: "
        f"{heading if heading.endswith('?') else heading.rstrip('.:;!') + '.'}"
    )
