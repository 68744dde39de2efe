"""From a question to an approved plan: past runs, the parts of the question, a person's word."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langgraph.types import interrupt

from deepdiver.core.events import PlanProposed, Recalled
from deepdiver.core.text import words
from deepdiver.errors import GatewayError, NotJournalledError, UsageError
from deepdiver.memory.recall import recall
from deepdiver.strategies.shared.base import Deps, State, attempt
from deepdiver.strategies.shared.reading import find_nearest, titles_of_library
from deepdiver.tasks import (
    Decompose,
)
from deepdiver.tasks import RecalledRun as Recollected

PROBLEMS = 5
"""Sub-problems of one plan."""
QUERIES = 15
"""Searches of a plan that a person has edited: three for each sub-problem, as many as a strategy
plans at most. More would cost more than the ceiling says."""
_NUMBERED = re.compile(r"\D{0,20}(\d{1,2})\W*")


def question_of(state: State) -> str:
    """Return what a state asks: the last question in its messages, or its `task`.

    In a conversation, the `task` may still be that of the question before. It counts if nobody has
    asked it, or if the last message is not a question.

    Raises:
        UsageError: If there is none.
    """
    messages = state.get("messages", [])
    asked = [text for m in messages if m.type == "human" and (text := str(m.text).strip())]
    task = str(state.get("task") or "").strip()
    if task and (task not in asked or messages[-1].type != "human"):
        return task
    if not asked:
        raise UsageError("the question is empty: ask something in a user message")
    return asked[-1]


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a question, and which of them need the answers of others."""

    problems: list[str]
    """The parts, in the order of the plan."""
    needs: dict[str, list[str]]
    """The parts that must be answered before a part, for each that needs any."""


async def take_apart(
    deps: Deps,
    question: str,
    objection: str = "",
    past: tuple[Recollected, ...] = (),
    *,
    ordered: bool = True,
) -> Parts:
    """Return the parts of a question; the question itself if it cannot be split."""
    task = Decompose(
        question=question,
        as_of=deps.as_of,
        guidance=deps.settings.system_prompt,
        audience=deps.settings.audience,
        documents=tuple(await titles_of_library(deps)),
        objection=objection,
        past=past,
        ordered=ordered,
    )
    answer = await attempt(deps, task)
    named = {part.question: part.needs for part in answer.problems} if answer else {}
    problems = list(named)[:PROBLEMS] or [question]
    return Parts(problems, settle_needs(problems, named))


async def split_question(
    deps: Deps, question: str, objection: str = "", past: tuple[Recollected, ...] = ()
) -> list[str]:
    """Return the parts of a question, or the question itself if it cannot be split."""
    return (await take_apart(deps, question, objection, past, ordered=False)).problems


def settle_needs(
    problems: Sequence[str], named: Mapping[str, Sequence[str]]
) -> dict[str, list[str]]:
    """Return the needs of problems without those that are no problem, and without circles.

    Args:
        problems: The problems, in the order of the plan.
        named: What each one needs, by the words of a problem or by its number. Of a circle, a need
            of what comes later in the plan is dropped.
    """
    meant = [
        (number, place)
        for number, problem in enumerate(problems)
        for place in _places_of(named.get(problem, ()), problems)
    ]
    kept: list[list[int]] = [[] for _ in problems]
    # Needs of what comes before cannot make a circle among themselves.
    for number, place in sorted(meant, key=lambda need: need[1] > need[0]):
        if place != number and not _leads_to(kept, place, number):
            kept[number].append(place)
    return {
        problem: [problems[place] for place in sorted(own)]
        for problem, own in zip(problems, kept, strict=True)
        if own
    }


def _places_of(texts: Iterable[str], problems: Sequence[str]) -> list[int]:
    """Return the places of the problems that are meant, each once."""
    places = (_place_of(text, problems) for text in texts)
    return list(dict.fromkeys(place for place in places if place is not None))


def _place_of(text: str, problems: Sequence[str]) -> int | None:
    """Return the place of the problem that is meant; None if none is."""
    said = words(text)
    if (own := next((n for n, other in enumerate(problems) if words(other) == said), None)) is None:
        number = _NUMBERED.fullmatch(text)
        own = int(number[1]) - 1 if number else None
    return own if own is not None and 0 <= own < len(problems) else None


def _leads_to(needs: Sequence[Sequence[int]], start: int, end: int) -> bool:
    """Return whether a problem needs another, itself or through others."""
    seen, todo = set[int](), [start]
    while todo:
        place = todo.pop()
        if place == end:
            return True
        if place not in seen:
            seen.add(place)
            todo += needs[place]
    return False


def order_into_waves(
    problems: Sequence[str], needs: Mapping[str, Sequence[str]]
) -> list[list[str]]:
    """Order problems into waves: each is in the first wave after everything that it needs."""
    left, settled = list(problems), settle_needs(problems, needs)
    waves: list[list[str]] = []
    while left:
        waves.append([item for item in left if not set(settled.get(item, ())) & set(left)])
        left = [item for item in left if item not in waves[-1]]
    return waves


@dataclass(frozen=True, slots=True)
class Approval:
    """What a person said about a plan."""

    problems: list[str]
    """The sub-problems to look into."""
    edited: bool = False
    """Whether the person changed them."""
    objection: str = ""
    """Why the person rejected the plan; empty if it was accepted."""
    queries: list[dict[str, str]] | None = None
    """The searches that the person wants made, in order, each with the sub-problem that it is
    about; None: the person leaves them to the strategy."""
    struck: list[str] = field(default_factory=list)
    """The searches of the plan that the person does not want made."""


def ask_approval(
    deps: Deps,
    question: str,
    problems: Sequence[str],
    *,
    needs: Mapping[str, Sequence[str]] | None = None,
    objectives: Sequence[str] = (),
    queries: Sequence[Mapping[str, str]] = (),
) -> Approval:
    """Show a plan to a person, if one wants to see it, and return what the person said.

    A person may change sub-problems and searches. Every sub-problem of the plan is looked into: one
    that is left without a search gets some from the strategy, but none that the person has struck.

    Args:
        deps: The run's dependencies.
        question: What the person asked.
        problems: The sub-problems, in order.
        needs: The sub-problems that each one needs.
        objectives: What the research is for.
        queries: The first searches, each a `query` and the sub-problem that it is `about`.

    Raises:
        UsageError: If the answer is not one.
    """
    about = {item["query"]: item["about"] for item in queries}
    plan = {"objectives": list(objectives), "problems": list(problems), "queries": list(about)}
    held = {problem: tuple(others) for problem, others in (needs or {}).items()}
    deps.emit(
        PlanProposed(
            problems=tuple(problems),
            needs=held,
            objectives=tuple(objectives),
            queries=tuple(about),
        )
    )
    if not deps.approve:
        return Approval(plan["problems"])
    needed = {problem: list(others) for problem, others in held.items()}
    extras = {**plan, "about": about, "needs": needed}
    shown = {"problems": plan["problems"]} | {name: own for name, own in extras.items() if own}
    ceiling = "not known" if deps.ceiling is None else f"${deps.ceiling:.4f}"
    reply = interrupt({"ask": "approve_plan", "question": question, **shown, "ceiling": ceiling})
    action = reply.get("action") if isinstance(reply, dict) else None
    if action == "accept":
        return Approval(plan["problems"])
    if action == "edit":
        return _read_edit(deps, reply, plan["problems"], about)
    if action == "reject":
        return Approval([], objection=str(reply.get("reason") or "the person did not say why"))
    raise UsageError(
        "the answer to a plan needs an action: accept, edit (with problems or queries) or reject "
        "(with a reason)"
    )


def _read_edit(
    deps: Deps, reply: Mapping[str, Any], planned: list[str], about: Mapping[str, str]
) -> Approval:
    """Return what a person made of a plan.

    Args:
        deps: The run's dependencies.
        reply: The person's `problems`, or none: as planned; `queries`, or none: to be left to the
            strategy; and for each query what it is `about`, if the person says so.
        planned: The sub-problems of the plan.
        about: What each search of the plan is about.
    """
    problems = _limit(deps, _texts(reply.get("problems")) or planned, PROBLEMS, "sub-problems")
    given = reply.get("queries")
    if given is None:
        return Approval(problems, edited=True)
    texts = _limit(deps, list(dict.fromkeys(_texts(given))), QUERIES, "searches")
    placed = {**about, **(reply.get("about") or {})}
    return Approval(
        problems,
        edited=problems != planned,
        queries=[
            {
                "query": text,
                "about": own
                if (own := placed.get(text)) in problems
                else find_nearest(text, problems),
            }
            for text in texts
        ],
        struck=drop_same(about, texts),
    )


def _texts(listed: Any) -> list[str]:
    return [text for item in listed or () if (text := str(item).strip())]


def _limit(deps: Deps, listed: list[str], most: int, what: str) -> list[str]:
    for left_out in listed[most:]:
        deps.note_limit(f"a plan has {most} {what} at most; left out: {left_out}")
    return listed[:most]


def drop_same(queries: Iterable[str], others: Iterable[str]) -> list[str]:
    """Return the queries whose words are not those of another, in whatever order."""
    held = {frozenset(words(text)) for text in others}
    return [text for text in queries if frozenset(words(text)) not in held]


def queries_about(queries: Iterable[Mapping[str, str]], problem: str) -> list[str]:
    """Return the searches of a plan that are about a sub-problem."""
    return [item["query"] for item in queries if item["about"] == problem]


async def recall_past(deps: Deps, question: str) -> list[dict[str, Any]]:
    """Return and announce the past runs that bear on the question, if the settings ask for them.

    They are hints for tasks (`memory.past.shown`), never evidence, and the run goes on without them
    if they cannot be read. A run that looks deeper into another's report always recalls that run
    and no other.
    """
    if not deps.settings.past and not deps.run.deepens:
        return []
    only = deps.run.deepens
    try:
        past = await recall(
            question, deps.run, deps.store, deps.gateway, note=deps.note_limit, only=only
        )
    except NotJournalledError:
        raise
    except GatewayError as error:
        deps.note_limit(f"past runs could not be looked through: {error}")
        return []
    for item in past:
        deps.emit(
            Recalled(run=item.run, question=item.question, days=item.days, status=item.status)
        )
    return [item.model_dump(mode="json") for item in past]
