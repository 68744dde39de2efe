"""The resources of the server: runs, reports, records and sources."""

from __future__ import annotations

import re
from dataclasses import dataclass

from deepdiver.core.record import FINISHED, Run
from deepdiver.core.shown_text import to_json
from deepdiver.errors import UnknownNameError
from deepdiver.mcp_server.state import ServerState
from deepdiver.mcp_server.tools import report_of
from deepdiver.report.files import record_of, source_lines
from deepdiver.report.markdown import render_markdown
from deepdiver.report.spending import spending_of
from deepdiver.run.record import load_ledger

RUNS = "deepdiver://runs"
MOST_RUNS = 100
"""How many of the newest runs are listed."""
_OF_RUN = re.compile(r"deepdiver://runs/([A-Za-z0-9-]{4,100})/(report\.md|report\.json|sources)")


@dataclass(frozen=True, slots=True)
class RunPart:
    """A part of a run that can be read."""

    name: str
    """The end of its address."""
    title: str
    """Its title."""
    mime: str
    """Its MIME type."""


PARTS = (
    RunPart("report.md", "The report", "text/markdown"),
    RunPart("report.json", "The whole record: run, report, ledger and costs", "application/json"),
    RunPart(
        "sources",
        "Every source read, with its credibility and where it is cited",
        "application/json",
    ),
)


def list_resources(state: ServerState) -> list[tuple[str, str]]:
    """Return the address and title of the list of runs and of each report."""
    runs = [run for run in state.store.runs.list_all()[:MOST_RUNS] if run.status in FINISHED]
    return [
        (RUNS, "All runs, the newest first"),
        *((f"{RUNS}/{run.id}/report.md", run.question) for run in runs),
    ]


def read_resource(state: ServerState, uri: str) -> tuple[str, str]:
    """Return the MIME type and the text of a resource.

    Raises:
        UnknownNameError: If there is no such resource or run.
        UsageError: If the run has no report yet.
    """
    if uri == RUNS:
        return "application/json", _as_json(
            {"runs": [_brief(run.model_dump(mode="json")) for run in _newest(state)]}
        )
    if (match := _OF_RUN.fullmatch(uri)) is None:
        raise UnknownNameError(f"there is no resource {uri[:120]!r}; {RUNS} lists the runs")
    run, report = report_of(state, match[1])
    (part,) = (part for part in PARTS if part.name == match[2])
    if part.name == "report.md":
        return part.mime, render_markdown(report)
    ledger = load_ledger(state.store, run.id)
    if part.name == "sources":
        return part.mime, _as_json({"sources": list(source_lines(report, ledger))})
    rows = state.store.journal.rows(run.id)
    return part.mime, _as_json(
        record_of(run, report, ledger, rows, spending_of(state.store, run.id))
    )


def _newest(state: ServerState) -> list[Run]:
    return state.store.runs.list_all()[:MOST_RUNS]


def _brief(run: dict[str, object]) -> dict[str, object]:
    """Return what the list shows of a run: without its settings, which name folders."""
    return {name: run[name] for name in ("id", "question", "strategy", "status", "created")}


def _as_json(value: object) -> str:
    return to_json(value, indent=1)
