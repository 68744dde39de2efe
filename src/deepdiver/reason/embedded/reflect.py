"""Reflects: which parts of the question are unanswered or weakly answered, and what to search next.

A part is a clause of the question or of one of its problems. It is covered if a known line answers
it that is not marked uncertain; ages must be known for every person that is meant. It was searched
in vain if this reasoner has no query for it that was not made. Enough is known when each part is
covered or was searched in vain.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, zip_longest

from deepdiver.core.record import HypothesisStatus
from deepdiver.reason.embedded.chain import Step, follow_chain
from deepdiver.reason.embedded.clause import VALUES, Kind
from deepdiver.reason.embedded.hypothesise import group_answers, same_subject
from deepdiver.reason.embedded.names import same_name
from deepdiver.reason.embedded.query import write_queries
from deepdiver.reason.embedded.question import Chain, analyse_question, chains_besides
from deepdiver.reason.embedded.reading import Reading, read_sentence
from deepdiver.reason.embedded.tool_calls import propose_tool_calls
from deepdiver.tasks import Note, Reflect, Reflection, ToolQuery, WriteQueries

MOST_MISSING, MOST_QUERIES, MOST_NOTES = 6, 6, 10
"""The most entries of each kind in a reflection."""
MOST_GROUPS = 4
"""Different values for one thing that are compared."""

UNANSWERED = "Nothing that is known answers this: {}"
WEAK = "This is known from one weak source only: {}"
DISAGREE = "These do not go together: {} / {}"
UNTESTED = "This has met no attempt to refute it: {}"
ENOUGH = "every part of the question is answered"
IN_VAIN = "what is missing was searched for in vain"
MORE = "a part of the question is not answered, or only by a weak source"


@dataclass(frozen=True, slots=True)
class UncoveredPart:
    """A part of the question that is not covered."""

    question: str
    """The part, as a question."""
    weak: str = ""
    """The unreliable statement that answers it, if there is one."""


def reflect(task: Reflect) -> Reflection:
    """Name what is missing; enough is known if each part is covered or was searched in vain."""
    readings = [read_sentence(text) for text in task.known]
    doubtful = {n for n, text in enumerate(task.known) if text in task.uncertainties}
    followed = [follow_chain(chain, readings) for chain in _chains(task)]
    parts = list(
        {
            part.question: part
            for steps in followed
            for part in uncovered(steps, task.known, doubtful)
        }.values()
    )
    queries = _queries(task, parts)
    left = [part for part in parts if queries[part.question]]
    return Reflection(
        notes=tuple(_notes(task, parts, queries, followed, readings))[:MOST_NOTES],
        missing=tuple(part.question for part in (left or parts))[:MOST_MISSING],
        queries=_in_turn(queries.values(), task.limit),
        investigation_queries=_calls(task, left),
        sufficient=not left,
        reason=MORE if left else IN_VAIN if parts else ENOUGH,
    )


def _chains(task: Reflect) -> list[Chain]:
    """Return the chains of the question, and of the problems that are not among its clauses."""
    analysis = analyse_question(task.question)
    return [*analysis.chains, *chains_besides(analysis, task.problems)]


def uncovered(
    steps: Sequence[Step], known: Sequence[str], doubtful: Collection[int] = ()
) -> Iterator[UncoveredPart]:
    """Yield the parts of a chain that only doubtful sentences answer, or none."""
    for step in steps:
        firm = [item for item in step.candidates if item.sentence not in doubtful]
        if step.clause.kind is Kind.AGE and firm:
            settled = [item.subject for item in firm]
            left = [
                name for name in step.holes if not any(same_name(name, other) for other in settled)
            ]
            yield from (UncoveredPart(f"How old is {name}?") for name in left)
        elif not firm:
            yield UncoveredPart(
                step.clause.text, known[step.candidates[0].sentence] if step.candidates else ""
            )


def _queries(task: Reflect, parts: Iterable[UncoveredPart]) -> dict[str, tuple[str, ...]]:
    """Return the queries for each part that were not made; none if it was searched in vain."""
    return {
        part.question: write_queries(
            WriteQueries(
                question=task.question,
                problem=part.question,
                known=task.known,
                tried=task.tried,
                past=task.past,
                limit=task.limit,
            )
        ).queries
        for part in parts
    }


def _calls(task: Reflect, parts: Iterable[UncoveredPart]) -> tuple[ToolQuery, ...]:
    """Return calls of tools for the parts that are left, which were not made before."""
    made = [
        call
        for part in parts
        for call in propose_tool_calls(part.question, task.as_of, task.tools, MORE)
        if " ".join(arg.value for arg in call.args) not in task.tried
    ]
    once = {(call.tool, call.args): call for call in made}
    return tuple(once.values())[:MOST_QUERIES]


def _in_turn(listed: Iterable[Sequence[str]], limit: int) -> tuple[str, ...]:
    """Return the first query of each part, then the second of each, and so on."""
    turns = (query for row in zip_longest(*listed) for query in row if query is not None)
    return tuple(dict.fromkeys(turns))[: max(0, min(limit, MOST_QUERIES))]


def _notes(
    task: Reflect,
    parts: Iterable[UncoveredPart],
    queries: dict[str, tuple[str, ...]],
    followed: Iterable[Sequence[Step]],
    readings: Sequence[Reading],
) -> Iterator[Note]:
    for part in parts:
        if part.weak:
            yield Note(category="calibration", text=WEAK.format(part.weak))
        else:
            yield Note(
                category="gap",
                text=UNANSWERED.format(part.question),
                critical=bool(queries[part.question]),
            )
    for steps in followed:
        for told in _disagreements(steps[-1], readings):
            yield Note(category="consistency", text=DISAGREE.format(*told))
    for item in task.standing:
        if item.status is HypothesisStatus.OPEN:
            yield Note(category="calibration", text=UNTESTED.format(item.statement))


def disagreements(task: Reflect) -> list[tuple[str, str]]:
    """Return the pairs of known lines that give different values for the same thing."""
    readings = [read_sentence(text) for text in task.known]
    followed = (follow_chain(chain, readings) for chain in _chains(task))
    return [told for steps in followed for told in _disagreements(steps[-1], readings)]


def _disagreements(step: Step, readings: Sequence[Reading]) -> Iterator[tuple[str, str]]:
    """Yield the pairs of sentences that give different values for the same thing."""
    if step.clause.kind not in VALUES:
        return
    made = group_answers(step.clause, [item for item in step.candidates if item.value.text])
    for one, other in combinations(made[:MOST_GROUPS], 2):
        told = (readings[one[0].sentence].text, readings[other[0].sentence].text)
        if same_subject(one[0].subject, other[0].subject) and told[0] != told[1]:
            yield told
