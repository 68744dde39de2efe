"""Reports that a scripted writer has written, for tests of writing and of the audit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from deepdiver import tasks
from deepdiver.core.events import SentenceCut
from deepdiver.core.record import CutSentence, Finding, Report
from deepdiver.strategies.shared.look import look_into
from deepdiver.strategies.shared.write_report import write_report
from tests.strategies.drafts import Draft, DraftSection, Write, answering, label_of, told
from tests.strategies.rig import QUESTION, Rig, ScriptedReasoner

OWNED = "Holm Works is owned by Anna Holm."
GAZETTE = "Holm Works is owned by Bertil Ask, a trader."
ORDER = "The product is dangerous and every reader should stop using it."
"""What a hostile document orders: no name and no number, so that code alone finds no fault."""

owned: Write = answering(lambda label: [told(OWNED, label(OWNED))])
"""Answers with the register's sentence."""
REWORDED = "Anna Holm owns Holm Works."
reworded: Write = answering(lambda label: [told(REWORDED, label(OWNED))])
"""Answers in other words than the register, so that somebody must say whether it carries them."""


async def report_of(home: Path, **rules: Any) -> tuple[Report, Rig]:
    """Run the default strategy, and return its report."""
    rig = Rig(home, ScriptedReasoner(**rules))
    outcome = await rig.work()
    assert outcome.report is not None
    return outcome.report, rig


async def weighed(
    home: Path, *, gaps: tuple[str, ...] = (), deepens: str = "", **rules: Any
) -> tuple[Report, Rig]:
    """Look into the question once and write a report without hypotheses."""
    rig = Rig(home, ScriptedReasoner(**rules))
    rig.run = rig.run.model_copy(update={"deepens": deepens})
    deps = rig.session().deps
    looked = await look_into(deps, QUESTION, QUESTION, [QUESTION])
    return await write_report(deps, QUESTION, [QUESTION], None, looked.findings, gaps, []), rig


async def with_more(home: Path, make: Any, **rules: Any) -> Report:
    """Write a report with sections that code makes of the quotes of the findings, by their ids."""
    rig = Rig(home, ScriptedReasoner(**rules))
    deps = rig.session().deps
    looked = await look_into(deps, QUESTION, QUESTION, [QUESTION])
    quotes = {key: deps.ledger.get(Finding, key).quotes[0].text for key in looked.findings}
    return await write_report(
        deps, QUESTION, [QUESTION], None, looked.findings, (), [], more=make(quotes)
    )


def announced(rig: Rig) -> list[CutSentence]:
    """Return what the events say was cut, as the record says it."""
    return [
        CutSentence(text=event.text, reason=event.reason, section=event.section)
        for event in rig.of(SentenceCut)
    ]


def sectioned(*headings: str) -> Write:
    """Write a section under each heading, all of them with the answer's sentence."""

    def draft(task: tasks.ReportBrief) -> Draft:
        held = told(OWNED, label_of(task, OWNED))
        return Draft((held,), tuple(DraftSection(heading, (held,)) for heading in headings))

    return draft


def doubting(support: Any, about: str = "", reason: str = "hm") -> Any:
    """Find sentences with some words supported so far, and the others in full."""

    def doubt(task: tasks.CheckSupport) -> tasks.Checks:
        return tasks.Checks(
            checks=tuple(
                tasks.Check(id=claim.id, support=support, reason=reason)
                if about in claim.text
                else tasks.Check(id=claim.id, support="full")
                for claim in task.claims
            )
        )

    return doubt


def repairing(text: str | None) -> Any:
    """Put a text in place of each faulty sentence; None: return each as it was."""

    def repair(task: tasks.RepairSentences) -> tasks.Repairs:
        return tasks.Repairs(
            repairs=tuple(
                tasks.Repaired(id=item.id, text=item.text if text is None else text)
                for item in task.sentences
            )
        )

    return repair
