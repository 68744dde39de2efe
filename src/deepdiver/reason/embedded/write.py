"""Performs the tasks of writing: all of them write parts of the same draft."""

from __future__ import annotations

from dataclasses import replace

from deepdiver.core.record import HypothesisStatus
from deepdiver.reason.embedded.account import write_account
from deepdiver.reason.embedded.draft import Brief, Draft, as_markdown, brief_of
from deepdiver.reason.embedded.standing import standing_of
from deepdiver.reason.embedded.steps import has_steps
from deepdiver.reason.embedded.steps_report import write_steps
from deepdiver.tasks import (
    BottomLine,
    Outline,
    OutlineReport,
    PlannedSection,
    SectionDrafts,
    WriteBottomLine,
    WriteSections,
)

LONGEST_TITLE = 120
"""Characters of an answer that can be a title."""


def outline_report(task: OutlineReport) -> Outline:
    """Plan a report: its title is the answer if that is short, its sections those of the draft."""
    draft = write_draft(brief_of(task))
    sections = [
        PlannedSection(heading=section.heading, shows=as_markdown(section.sentences))
        for section in draft.sections
    ]
    verdict = as_markdown(draft.answer)
    if not sections:
        sections = [PlannedSection(heading=task.question, shows="")]
    return Outline(title=_title(task.question, draft), verdict=verdict, sections=tuple(sections))


def _title(question: str, draft: Draft) -> str:
    """Return the answer if it is one short sentence without a caution, else the question."""
    stated = draft.answer[0].text if len(draft.answer) == 1 and draft.answer[0].findings else ""
    return stated.rstrip(".") if 0 < len(stated) <= LONGEST_TITLE else question


def write_sections(task: WriteSections) -> SectionDrafts:
    """Write the sections, whose sentences the outline holds already."""
    planned = {section.heading: section.shows for section in task.outline.sections}
    parts = [
        f"## {heading}\n\n{planned[heading]}" for heading in task.write if planned.get(heading)
    ]
    return SectionDrafts(markdown="\n\n".join(parts))


def write_bottom_line(task: WriteBottomLine) -> BottomLine:
    """Write the title and the answer."""
    draft = write_draft(brief_of(task))
    return BottomLine(
        title=task.title, bottom_line=as_markdown(draft.answer), missing=draft.missing
    )


def write_draft(task: Brief) -> Draft:
    """Write what the findings say to the question.

    Where steps lead to a supported answer, they are told.
    """
    standing = standing_of(task)
    supported = any(item.status is HypothesisStatus.SUPPORTED for item in standing)
    if supported and has_steps(task.question):
        return write_steps(task)
    return write_account(replace(task, standing=standing))
