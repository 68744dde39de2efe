"""Plans searches by rules: explore, then open parts, then checks of single sources, then new names.

The reflection (see `reflect`) says which parts of the question are unanswered and which queries are
left for them. If every part is answered, the findings that answer them are checked; if those are
checked too, it is time to write.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from deepdiver.core.text import terms
from deepdiver.reason.embedded.chain import follow_chain
from deepdiver.reason.embedded.query import keywords, write_queries
from deepdiver.reason.embedded.question import analyse_question
from deepdiver.reason.embedded.reading import read_sentence
from deepdiver.reason.embedded.reflect import ENOUGH, IN_VAIN, reflect
from deepdiver.tasks import (
    PlanSearches,
    Reflect,
    SearchIntent,
    SearchPlan,
    SearchPlans,
    WriteQueries,
)

MOST_PLANS = 8
"""The most plans in an answer."""
WORDS = 10
"""Words of a query that checks a statement."""

FIRST = "To see what there is: {}"
OPEN = "Not answered yet: {}"
ALONE = "Known from one source only: {}"
BESIDE = "A name of the findings that nobody has looked up: {}"


def plan_searches(task: PlanSearches) -> SearchPlans:
    """Return the next searches, or that it is time to write."""
    most = max(1, min(task.limit, MOST_PLANS))
    if not task.iteration:
        return SearchPlans(plans=tuple(_explorations(task))[:most])
    known = tuple(item.statement for item in task.findings)
    looked = reflect(
        Reflect(
            question=task.question,
            as_of=task.as_of,
            problems=task.problems,
            known=known,
            tried=task.tried,
            iteration=task.iteration,
            max_iterations=task.max_iterations,
            past=task.past,
            limit=most,
        )
    )
    parts = () if looked.sufficient else looked.missing
    waiting = _waiting(task.question, known)
    plans = list(_dives(task, [part for part in parts if part not in waiting], known))
    plans += _checks(task, known)
    plans += _dives(task, [part for part in parts if part in waiting], known)
    if not plans and looked.reason == IN_VAIN:
        plans += _beside(task, known)
    if not plans and looked.reason == ENOUGH:
        plans.append(
            SearchPlan(intent=SearchIntent.SYNTHESIS, query=task.question, reasoning=ENOUGH)
        )
    once: dict[str, SearchPlan] = {}
    for plan in plans:  # two findings may be checked with the same words
        once.setdefault(plan.query, plan)
    return SearchPlans(plans=tuple(once.values())[:most], reason="" if plans else looked.reason)


def _explorations(task: PlanSearches) -> Iterator[SearchPlan]:
    """Yield a search for the question as a whole, and for each of its parts."""
    looks = [(task.question, " ".join(keywords(task.question)) or task.question)]
    for part in task.problems or (task.question,):
        looks += [(part, query) for query in _queries(task, part, ())]
    made: set[frozenset[str]] = set()
    for about, query in looks:
        if (own := frozenset(terms(query))) not in made:
            made.add(own)
            yield SearchPlan(
                intent=SearchIntent.INITIAL_EXPLORATION, query=query, reasoning=FIRST.format(about)
            )


def _queries(task: PlanSearches, part: str, known: tuple[str, ...]) -> tuple[str, ...]:
    asked = WriteQueries(
        question=task.question, problem=part, known=known, tried=task.tried, past=task.past, limit=1
    )
    return write_queries(asked).queries[:1]


def _waiting(question: str, known: tuple[str, ...]) -> set[str]:
    """Return the parts that wait for the answer to another, which names their subject."""
    readings = [read_sentence(statement) for statement in known]
    steps = [
        step
        for chain in analyse_question(question).chains
        for step in follow_chain(chain, readings)
    ]
    return {step.clause.text for step in steps if step.clause.hole and not step.holes}


def _dives(
    task: PlanSearches, parts: Iterable[str], known: tuple[str, ...]
) -> Iterator[SearchPlan]:
    for part in parts:
        for query in _queries(task, part, known):
            yield SearchPlan(
                intent=SearchIntent.DEEP_DIVE, query=query, reasoning=OPEN.format(part)
            )


def _checks(task: PlanSearches, known: tuple[str, ...]) -> Iterator[SearchPlan]:
    """Yield a check of each answer that rests on one source, the last first."""
    readings = [read_sentence(statement) for statement in known]
    steps = [
        step
        for chain in analyse_question(task.question).chains
        for step in reversed(follow_chain(chain, readings))
    ]
    answering = dict.fromkeys(item.sentence for step in steps for item in step.candidates)
    tried = {_normal(query) for query in task.tried}
    for number in answering:
        # Without its numbers: a search for the claimed value would find sources that repeat it.
        plain = [
            word for word in keywords(known[number]) if not any(mark.isdigit() for mark in word)
        ]
        finding, query = task.findings[number], " ".join(plain[:WORDS])
        if finding.sources <= 1 and not finding.checked and query and _normal(query) not in tried:
            yield SearchPlan(
                intent=SearchIntent.FACT_CHECKING,
                query=query,
                reasoning=ALONE.format(finding.statement),
            )


def _normal(query: str) -> str:
    return " ".join(query.lower().split())


def _beside(task: PlanSearches, known: Iterable[str]) -> Iterator[SearchPlan]:
    """Yield a search for each name that no search contained."""
    used = [set(terms(query)) for query in task.tried]
    named = [
        *task.leads,
        *(name.text for statement in known for name in read_sentence(statement).names),
    ]
    for name in dict.fromkeys(named):
        if not any(set(terms(name)) <= words for words in used):
            yield SearchPlan(
                intent=SearchIntent.RELATED_TOPICS, query=name, reasoning=BESIDE.format(name)
            )
