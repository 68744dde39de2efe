"""Keeping a running summary, each statement with its findings."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from deepdiver.tasks.record_views import RecalledRun, ShownFinding
from deepdiver.tasks.task import Answer, Role, Task, View
from deepdiver.tasks.tolerance import Also, Label


class SummaryLine(View):
    """A line of the running summary."""

    id: str
    """Label to refer to it by."""
    text: str
    """What it says."""


class Statement(Answer):
    """A statement to be added to the summary."""

    text: Annotated[str, Also("statement", "sentence", "line", "content")]
    """What is known, in one sentence that can be understood alone."""
    findings: Annotated[
        tuple[Label, ...], Also("finding_ids", "finding", "supported_by", "evidence", "citations")
    ]
    """Labels of the new findings that carry it; a statement without one is not taken."""
    replaces: Annotated[tuple[Label, ...], Also("supersedes", "updates", "corrects")] = ()
    """Labels of the lines of the summary that it says again, more exactly, or corrects; empty where
    it is new."""


class Summary(Answer):
    """What the new findings add."""

    statements: Annotated[
        tuple[Statement, ...],
        Field(max_length=40),
        Also("summary", "updated_summary", "running_summary", "new_statements", "lines"),
    ]
    """The most important first; empty where the findings add nothing."""


class Summarise(Task[Summary]):
    """Say what new findings add to the running summary.

    Code merges it in and keeps the summary short.
    """

    role: ClassVar[Role] = "smart"

    question: str
    """What the person asked."""
    problems: tuple[str, ...] = ()
    """The parts of the question."""
    missing: tuple[str, ...] = ()
    """What was missing before this search, each as a question."""
    summary: tuple[SummaryLine, ...] = ()
    """The running summary as it is."""
    findings: tuple[ShownFinding, ...]
    """What the last search brought, the most credible first."""
    guidance: str = ""
    """The person's own instructions."""
    past: tuple[RecalledRun, ...] = ()
    """What past runs found that bear on the question: hints, never evidence."""
    limit: int = 12
    """The most statements wanted."""
