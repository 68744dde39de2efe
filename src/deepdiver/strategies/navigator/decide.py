"""What is done next in a hunt.

What the decision is shown, and the rules that no decision can change.
"""

from __future__ import annotations

from typing import Any

from deepdiver.core.events import Decided
from deepdiver.memory.past import shown
from deepdiver.strategies.navigator import analyser, disputes, loops, tools
from deepdiver.strategies.shared.base import Deps, State, attempt
from deepdiver.tasks import AnalyzerReport, DecideAction, Taken

ENOUGH = 0.85
"""The confidence from which on an answer that the analyzer misses nothing in is handed over
unasked."""
HISTORY, TRIED, LEADS = 4, 10, 6
"""Steps, queries and leads that the decision is shown; code holds every choice against all of them.
"""


async def decide_next(deps: Deps, state: State) -> dict[str, Any]:
    """Return what is done next: the seed's contract, and who decided it and why.

    A rule comes first; then the reasoner is asked, and told if it goes in circles; and what cannot
    be taken gives way to a way out.
    """
    at, made = situation_of(deps, state), steps_of_pass(state)
    found = loops.detect_loop(made)
    choice = decide_by_rule(deps, state, found)
    if choice is None:
        if found:
            deps.emit(Decided(decision=found.ways[0].value, reason=found.advice, by="rule"))
        said = loops.check_choice(await attempt(deps, _make_task(deps, state, at, found)), at, made)
        if isinstance(said, loops.Impasse):
            found, said = said, loops.choose_way_out(said, at)
        choice = said
    told = (
        f"“{choice.query_or_url}”: {choice.reasoning}" if choice.query_or_url else choice.reasoning
    )
    deps.emit(Decided(decision=choice.action, reason=told, by=choice.by))
    way = choice.way or (found.ways[0].value if found and choice.action != loops.HAND_OVER else "")
    return {
        "next_action": choice.action,
        "query_or_url": choice.query_or_url or None,
        "reasoning": choice.reasoning,
        "by": choice.by,
        "way": str(way),
        "why": found.why if found else "",
    }


def decide_by_rule(deps: Deps, state: State, found: loops.Impasse | None) -> loops.Choice | None:
    """Return what is done whatever the reasoner thinks."""
    step, report, sure = state["iteration"], state["analyzer_report"], state["confidence_score"]
    if step >= deps.max_iterations:
        return loops.Choice(loops.HAND_OVER, reasoning=f"step {step} is the last of a pass")
    if step and sure >= ENOUGH and report and not report["suggestions_for_next_step"]:
        return loops.Choice(
            loops.HAND_OVER,
            reasoning=f"the confidence is {sure:.2f}, and the analyzer misses nothing",
        )
    if found and found.ways[0] is loops.Way.HUMAN:
        return loops.Choice(
            loops.HAND_OVER,
            reasoning=f"{found.why}, and every way out was tried",
            way=loops.Way.HUMAN,
        )
    return None


def steps_of_pass(state: State) -> list[loops.PastStep]:
    """Return the steps of this pass; a new one begins with new patience."""
    now = len(state["feedback"]) + 1
    return [
        loops.PastStep(step["key"], step["found"], step["confidence"], step["way"])
        for step in state["research_history"]
        if step["pass"] == now
    ]


def situation_of(deps: Deps, state: State) -> loops.Situation:
    """Return what a choice is checked against."""
    out = disputes.list_excluded(disputes.find_disputes(deps, state["conflicts"], state["same"]))
    found, history = analyser.group_answers(state, out), state["research_history"]
    left = tuple(part for part in state["problems"] if part not in found)
    searched = {step["about"] for step in history}
    return loops.Situation(
        question=state["initial_query"],
        problems=tuple(state["problems"]),
        open=left,
        unsearched=tuple(part for part in left if part not in searched),
        searches=tools.list_searches(deps),
        addresses=tuple(item["url"] for item in tools.list_unread(deps, state)),
        leads=tuple((lead["kind"], lead["text"]) for lead in analyser.list_unexplored(state)),
        known=tuple(item["statement"] for item in state["shared_memory"]),
        keys=frozenset(step["key"] for step in history),
        begun=state["iteration"] > 0,
    )


def _make_task(
    deps: Deps, state: State, at: loops.Situation, found: loops.Impasse | None
) -> DecideAction:
    history, report = state["research_history"], state["analyzer_report"]
    about = " ".join((state["initial_query"], *at.open, *state["feedback"]))
    return DecideAction(
        initial_query=state["initial_query"],
        as_of=deps.as_of,
        problems=at.problems,
        unanswered=at.open,
        tools=tools.list_tools(deps),
        analyzer_report=AnalyzerReport.model_validate(report) if report else None,
        confidence=state["confidence_score"],
        research_history=tuple(_show_step(step) for step in history[-HISTORY:]),
        tried=tuple(step["query_or_url"] for step in history[-TRIED:]),
        shared_memory=tuple(item["statement"] for item in analyser.find_closest(state, about)),
        leads=tuple(text for kind, text in at.leads if kind != "url")[:LEADS],
        urls=tools.label_addresses(tools.list_unread(deps, state), tools.OFFERED),
        detected=found.advice if found else "",
        feedback=tuple(state["feedback"]),
        iteration=state["iteration"],
        max_iterations=deps.max_iterations,
        guidance=deps.settings.system_prompt,
        objection=state["objection"],
        past=shown(state["past"]) if not history else (),
    )


def _show_step(step: State) -> Taken:
    return Taken(
        action=step["action"],
        query_or_url=step["query_or_url"],
        brought=step["found"],
        confidence=step["confidence"],
    )
