"""Formulating the problem: the clauses of a question, in the order in which they can be answered."""

from __future__ import annotations

from deepdiver.reason.embedded.question import analyse
from deepdiver.tasks import Decompose, Decomposition, Problem

MOST_PROBLEMS = 7


def decompose(task: Decompose) -> Decomposition:
    """Return the clauses as sub-problems; a plan that was rejected gives way to the question as it stands."""
    analysis = analyse(task.question)
    sought = analysis.chains[-1][-1].kind.value
    if task.objection:
        return Decomposition(problems=(Problem(question=analysis.question or task.question),), sought=sought)
    problems: dict[str, Problem] = {}
    for chain in analysis.chains:
        for before, clause in zip((None, *chain), chain, strict=False):
            needs = (before.text,) if before is not None else ()
            problems.setdefault(clause.text, Problem(question=clause.text, needs=needs))
    return Decomposition(problems=tuple(problems.values())[:MOST_PROBLEMS], sought=sought)
