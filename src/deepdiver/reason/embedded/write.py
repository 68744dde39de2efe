"""Performs the task of writing a report."""

from __future__ import annotations

from dataclasses import replace

from deepdiver.core.record import HypothesisStatus
from deepdiver.reason.embedded.account import write_account
from deepdiver.reason.embedded.draft import Brief, Draft, as_markdown, brief_of
from deepdiver.reason.embedded.standing import standing_of
from deepdiver.reason.embedded.steps import has_steps
from deepdiver.reason.embedded.steps_report import write_steps
from deepdiver.tasks import ReportDraft, WriteReport

LEAD = "## Bottom line"
LONGEST_TITLE = 120
"""Characters of an answer that can be a title."""


def write_report(task: WriteReport) -> ReportDraft:
    """Write a report: its title is the answer if that is short, and the answer leads it."""
    draft = write_draft(brief_of(task))
    parts = [f"# {_title(task.question, draft)}", LEAD, as_markdown(draft.answer)]
    for section in draft.sections:
        parts += [f"## {section.heading}", as_markdown(section.sentences)]
    missing = [said for item in draft.missing if (said := " ".join(item.split()))]
    if missing:
        parts += ["---", "\n".join(map("missing: {}".format, missing))]
    return ReportDraft(markdown="\n\n".join(filter(None, parts)))


def _title(question: str, draft: Draft) -> str:
    """Return the answer if it is one short sentence without a caution, else the question."""
    stated = draft.answer[0].text if len(draft.answer) == 1 and draft.answer[0].findings else ""
    title = stated.rstrip(".") if 0 < len(stated) <= LONGEST_TITLE else question
    return " ".join(title.split())


def write_draft(task: Brief) -> Draft:
    """Write what the findings say to the question.

    Where steps lead to a supported answer, they are told.
    """
    standing = standing_of(task)
    supported = any(item.status is HypothesisStatus.SUPPORTED for item in standing)
    if supported and has_steps(task.question):
        return write_steps(task)
    return write_account(replace(task, standing=standing))
