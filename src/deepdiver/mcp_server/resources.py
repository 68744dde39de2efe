"""Reports and records as resources: what a client can list and read without calling a tool."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from decimal import Decimal

from deepdiver.core.record import FINISHED, Run
from deepdiver.errors import UnknownNameError
from deepdiver.mcp_server.desk import Desk
from deepdiver.mcp_server.tools import report_of
from deepdiver.report.files import record_of, source_lines
from deepdiver.report.markdown import render_markdown
from deepdiver.run.record import load_ledger

RUNS = "deepdiver://runs"
MOST_RUNS = 100
"""Runs listed, the newest: a client shows the list to a person or a model."""
_OF_RUN = re.compile(r"deepdiver://runs/([A-Za-z0-9-]{4,100})/(report\.md|report\.json|sources)")


@dataclass(frozen=True, slots=True)
class Part:
    """What can be read of a run."""

    name: str
    """How its address ends."""
    title: str
    """What it is."""
    mime: str
    """Its type."""


PARTS = (
    Part("report.md", "The report", "text/markdown"),
    Part("report.json", "The whole record: run, report, ledger and account", "application/json"),
    Part(
        "sources",
        "Everything read, each with its credibility and where it is cited",
        "application/json",
    ),
)


def listed(desk: Desk) -> list[tuple[str, str]]:
    """Return addresses and titles: the list of runs, and the reports of the newest."""
    runs = [run for run in desk.store.runs.list_all()[:MOST_RUNS] if run.status in FINISHED]
    return [
        (RUNS, "All runs, the newest first"),
        *((f"{RUNS}/{run.id}/report.md", run.question) for run in runs),
    ]


def read(desk: Desk, uri: str) -> tuple[str, str]:
    """Return the type and the text of a resource.

    Raises:
        UnknownNameError: If there is no such resource or run.
        UsageError: If the run has no report yet.
    """
    if uri == RUNS:
        return "application/json", _dumped(
            {"runs": [_brief(run.model_dump(mode="json")) for run in _newest(desk)]}
        )
    if (match := _OF_RUN.fullmatch(uri)) is None:
        raise UnknownNameError(f"there is no resource {uri[:120]!r}; {RUNS} lists the runs")
    run, report = report_of(desk, match[1])
    (part,) = (part for part in PARTS if part.name == match[2])
    if part.name == "report.md":
        return part.mime, render_markdown(report)
    ledger = load_ledger(desk.store, run.id)
    if part.name == "sources":
        return part.mime, _dumped({"sources": list(source_lines(report, ledger))})
    rows = desk.store.journal.rows(run.id)
    return part.mime, _dumped(
        record_of(run, report, ledger, rows, sum((row.cost for row in rows), Decimal(0)))
    )


def _newest(desk: Desk) -> list[Run]:
    return desk.store.runs.list_all()[:MOST_RUNS]


def _brief(run: dict[str, object]) -> dict[str, object]:
    """Return what a list shows of a run: not its settings, which name folders."""
    return {name: run[name] for name in ("id", "question", "strategy", "status", "created")}


def _dumped(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)
