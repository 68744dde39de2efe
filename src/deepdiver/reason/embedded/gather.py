"""Formulating the problem, writing queries and extracting findings.

A question is searched for as it stands, without politeness. Only one that contains another question
is taken apart and followed step by step.
"""

from __future__ import annotations

from deepdiver.reason.embedded.asked import understand
from deepdiver.reason.embedded.extract import extract
from deepdiver.reason.embedded.find import find
from deepdiver.reason.embedded.plan import decompose
from deepdiver.reason.embedded.query import write_queries as write_stepwise
from deepdiver.reason.embedded.question import analyse_question
from deepdiver.reason.embedded.steps import has_steps
from deepdiver.tasks import (
    Decompose,
    Decomposition,
    ExtractFindings,
    Extraction,
    Problem,
    Queries,
    WriteQueries,
)

LONGEST_QUERY = 300
"""Characters of a query."""


def formulate(task: Decompose) -> Decomposition:
    """Return the steps of a question as problems; if it has none, the question itself."""
    if has_steps(task.question) and not task.objection:
        return decompose(task)
    asked = understand(task.question)
    return Decomposition(problems=(Problem(question=asked.text),), sought=asked.form.value)


def write_queries(task: WriteQueries) -> Queries:
    """Return the queries for a problem: its own words, and each of the things it compares."""
    if has_steps(task.question):
        return write_stepwise(task)
    asked = understand(task.question)
    if asked.text != task.problem:
        asked = understand(task.problem)
    tried = {query.lower() for query in task.tried}
    made = dict.fromkeys(text[:LONGEST_QUERY] for text in (asked.matter, *asked.compared))
    new = [query for query in made if query.lower() not in tried]
    return Queries(queries=tuple(new[: max(1, task.limit)]))


def extract_findings(task: ExtractFindings) -> Extraction:
    """Return what the texts say that bears on the question; for one with steps, on each of them."""
    if not has_steps(task.question):
        return find(task)
    followed = extract(task)
    first = analyse_question(task.question).chains[0][0].text
    # Once is enough, and looks that go on side by side must not find the same twice.
    if task.known or task.problems[0].question not in (first, task.question):
        return followed
    near = find(task)
    held = [(item.source, item.quote) for item in followed.findings]
    more = [
        item
        for item in near.findings
        if not any(source == item.source and quote in item.quote for source, quote in held)
    ]
    return followed.model_copy(update={"findings": (*followed.findings, *more)})
