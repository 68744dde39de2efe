"""From a question to an approved plan: past runs, the parts of the question, a person's word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langgraph.types import interrupt

from deepdiver.core.events import PlanProposed, Recalled
from deepdiver.errors import GatewayError, NotJournalledError, UsageError
from deepdiver.memory.recall import recall
from deepdiver.strategies.shared.base import Deps, State, attempt
from deepdiver.tasks import (
    Decompose,
)
from deepdiver.tasks import RecalledRun as Recollected

PROBLEMS = 5
"""Sub-problems of one plan."""


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


async def split_question(
    deps: Deps, question: str, objection: str = "", past: tuple[Recollected, ...] = ()
) -> list[str]:
    """Return the parts of a question, or the question itself if it cannot be split."""
    task = Decompose(
        question=question,
        as_of=deps.as_of,
        guidance=deps.settings.system_prompt,
        objection=objection,
        past=past,
    )
    answer = await attempt(deps, task)
    parts = dict.fromkeys(p.question for p in answer.problems) if answer else {}
    return list(parts)[:PROBLEMS] or [question]


def order_into_waves(
    problems: Sequence[str], needs: Mapping[str, Sequence[str]]
) -> list[list[int]]:
    """Order problems into waves: each is in the first wave after everything that it needs.

    Args:
        problems: The problems, in the order of the plan.
        needs: The problems that each one needs. Those that come later are ignored, which cuts
            every circle.

    Returns:
        The places of the problems of each wave.
    """
    place: dict[str, int] = {}
    for problem in problems:
        place[problem] = 1 + max(
            (place[other] for other in needs.get(problem, ()) if other in place), default=-1
        )
    return [
        [number for number, problem in enumerate(problems) if place[problem] == wave]
        for wave in range(max(place.values(), default=-1) + 1)
    ]


@dataclass(frozen=True, slots=True)
class Approval:
    """What a person said about a plan."""

    problems: list[str]
    """The sub-problems to look into."""
    edited: bool = False
    """Whether the person changed them."""
    objection: str = ""
    """Why the person rejected the plan; empty if it was accepted."""


def ask_approval(
    deps: Deps,
    question: str,
    problems: Sequence[str],
    *,
    objectives: Sequence[str] = (),
    queries: Sequence[str] = (),
) -> Approval:
    """Show a plan to a person, if one wants to see it, and return what the person said.

    Raises:
        UsageError: If the answer is not one.
    """
    plan = {"objectives": list(objectives), "problems": list(problems), "queries": list(queries)}
    deps.emit(
        PlanProposed(problems=tuple(problems), objectives=tuple(objectives), queries=tuple(queries))
    )
    if not deps.approve:
        return Approval(plan["problems"])
    shown = {name: listed for name, listed in plan.items() if listed or name == "problems"}
    ceiling = "not known" if deps.ceiling is None else f"${deps.ceiling:.4f}"
    reply = interrupt({"ask": "approve_plan", "question": question, **shown, "ceiling": ceiling})
    action = reply.get("action") if isinstance(reply, dict) else None
    if action == "accept":
        return Approval(plan["problems"])
    if action == "edit":
        listed = [
            text for item in reply.get("problems", []) if (text := str(item).strip())
        ] or plan["problems"]
        for left_out in listed[PROBLEMS:]:
            deps.note_limit(f"a plan has {PROBLEMS} sub-problems at most; left out: {left_out}")
        return Approval(listed[:PROBLEMS], edited=True)
    if action == "reject":
        return Approval([], objection=str(reply.get("reason") or "the person did not say why"))
    raise UsageError(
        "the answer to a plan needs an action: accept, edit (with problems) or reject "
        "(with a reason)"
    )


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
