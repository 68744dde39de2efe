"""Analyses findings: where sources agree, what rests on a single source, and what to ask next.

An insight is the sentence of a finding, with the other findings that say the same. Nothing is
rephrased.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from deepdiver.core.record import Stance
from deepdiver.reason.embedded.change_question import counts_in
from deepdiver.reason.embedded.judge import Case, judge_case
from deepdiver.reason.embedded.plan import as_calls
from deepdiver.reason.embedded.reader_verdicts import DECIDED, contrariety
from deepdiver.reason.embedded.reflect import DISAGREE, disagreements, reflect
from deepdiver.reason.embedded.summarise import Statement, summarise
from deepdiver.tasks import (
    Analyse,
    FindingsAnalysis,
    Implication,
    KeyInsight,
    Reflect,
    ShownFinding,
)

INSIGHTS, UNCERTAINTIES, FOLLOW_UPS = 16, 20, 10
"""The most entries of each kind in an answer."""
WAY = (
    "{} findings of {} types and {} origins were compared; {} statements are carried by more than "
    "one origin."
)
OPEN = "a part of the question is not answered"


def analyse_findings(task: Analyse) -> FindingsAnalysis:
    """Return the agreements first, then the statements of single sources."""
    told = summarise(
        (task.question, *task.problems),
        task.insights,
        tuple(_without_counted(task.findings)),
        INSIGHTS,
    )
    origin = {finding.id: finding.origin or finding.id for finding in task.findings}
    stated = sorted(told, key=lambda item: -min(2, _independent(item, origin)))
    agreed = [item for item in stated if _independent(item, origin) > 1]
    known = tuple(
        dict.fromkeys((*(line.text for line in task.insights), *(item.text for item in stated)))
    )
    look_back = Reflect(
        question=task.question,
        as_of=task.as_of,
        problems=task.problems,
        known=known,
        tried=task.tried,
        iteration=1,
        max_iterations=2,
        limit=min(task.limit, FOLLOW_UPS),
    )
    back = reflect(look_back)
    # Two values for one thing are often two things: the reader must take them to be contrary.
    at_odds = [
        DISAGREE.format(*told) for told in disagreements(look_back) if contrariety(*told) >= DECIDED
    ]
    types = {finding.type for finding in task.findings}
    return FindingsAnalysis(
        thinking=WAY.format(len(task.findings), len(types), len(set(origin.values())), len(agreed)),
        key_insights=tuple(
            KeyInsight(statement=item.text, finding_ids=item.findings) for item in stated
        ),
        hypothesis_implications=tuple(_implications(task)),
        uncertainties=tuple(at_odds)[:UNCERTAINTIES],
        follow_up_queries=as_calls(back.queries, task.tools, OPEN) if not back.sufficient else (),
    )


def _without_counted(findings: Iterable[ShownFinding]) -> Iterator[ShownFinding]:
    """Leave out the single rows of a service that also counts them.

    Twenty fires are one insight: their number.
    """
    listed = list(findings)
    counting = {finding.origin for finding in listed if counts_in(finding.quote)}
    yield from (
        finding for finding in listed if finding.origin not in counting or counts_in(finding.quote)
    )


def _independent(item: Statement, origin: dict[str, str]) -> int:
    return len({origin[label] for label in item.findings if label in origin})


def _implications(task: Analyse) -> Iterator[Implication]:
    """Return for each hypothesis the finding that bears on it most strongly, and its direction."""
    for item in task.standing:
        case = Case(task.question, task.as_of, item.statement, item.answer, task.findings)
        bearing = [one for one in judge_case(case) if one.stance is not Stance.NEUTRAL]
        if bearing:
            best = max(bearing, key=lambda one: one.strength)
            yield Implication(
                hypothesis_id=item.id,
                evidence_type="supporting" if best.stance is Stance.SUPPORTS else "refuting",
                explanation=f"{best.finding} {best.reason}",
            )
