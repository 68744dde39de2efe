"""Deciding the next step of a hunt: rules first, then the reasoner within the rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from deepdiver.core.events import Decided
from deepdiver.memory.recall import show_past_runs
from deepdiver.strategies.navigator import analyser, loops, tools
from deepdiver.strategies.navigator.suggestions import says_answered
from deepdiver.strategies.navigator.tools import list_urls
from deepdiver.strategies.shared.base import Deps, State, attempt_to_decide
from deepdiver.strategies.shared.plan import drop_same
from deepdiver.tasks import AnalyzerReport, DecideAction, StepTaken

ENOUGH = 0.85
"""From this confidence on, an answer in which the analyzer misses nothing, or which it calls
complete, is handed over without asking the reasoner."""
HISTORY, TRIED, LEADS = 4, 10, 6
"""Steps, queries and leads that the reasoner is shown; code checks a choice against all of them."""


async def decide_next(deps: Deps, state: State) -> dict[str, Any]:
    """Return the next step in the form of the design document, with who decided it and why.

    Rules come first. Then the reasoner is asked, and informed if it goes in circles. A choice that
    cannot be taken is replaced by a way out.
    """
    at, made = situation_of(deps, state), steps_of_pass(state)
    found = loops.detect_loop(made)
    choice, failure = decide_by_rule(deps, state, found), ""
    if choice is None:
        if found:
            deps.emit(Decided(decision=found.ways[0].value, reason=found.advice, by="rule"))
        answer, failure = await attempt_to_decide(deps, _make_task(deps, state, at, found))
        said = loops.check_choice(answer, at, made)
        if isinstance(said, loops.Impasse):
            found, said = said, loops.choose_way_out(said, at)
        choice = said
    why = ": ".join(filter(None, (_tell_choice(choice, at), failure)))
    deps.emit(Decided(decision=choice.action, reason=why, by=choice.by))
    way = choice.way or (found.ways[0].value if found and choice.action != loops.HAND_OVER else "")
    return {
        "next_action": choice.action,
        "query_or_url": choice.query_or_url or None,
        "reasoning": choice.reasoning,
        "by": choice.by,
        "way": str(way),
        "why": found.why if found else "",
        "note": choice.note,
    }


def _tell_choice(choice: loops.Choice, at: loops.Situation) -> str:
    """Return a choice in words: what is searched for or read, why, and what is to be noted."""
    narrowed = choice.action in at.searches and at.narrowed
    notes = filter(None, (choice.note, f"only {at.narrowed}" if narrowed else ""))
    what = f"“{choice.query_or_url}”: " if choice.query_or_url else ""
    noted = "; ".join(notes)
    return f"{what}{choice.reasoning}{f' ({noted})' if noted else ''}"


def queries_made(state: State) -> tuple[str, ...]:
    """Return what was searched for or read so far."""
    return tuple(step["query_or_url"] for step in state["research_history"])


def decide_by_rule(deps: Deps, state: State, found: loops.Impasse | None) -> loops.Choice | None:
    """Return the next step if a rule determines it.

    What a person has chosen to be searched for comes first.
    """
    step, report, sure = state["iteration"], state["analyzer_report"], state["confidence_score"]
    left, searches = drop_same(state["chosen"], queries_made(state)), tools.list_searches(deps)
    if step < deps.max_iterations and left and searches:
        return loops.Choice(searches[0], left[0], "a person has chosen this search")
    if step >= deps.max_iterations:
        for query in left:
            deps.note_limit(f"a search of the plan was not made, for want of a step: {query}")
        return loops.Choice(loops.HAND_OVER, reasoning=f"step {step} is the last of a pass")
    if step and sure >= ENOUGH and report and (said := _why_complete(report)):
        return loops.Choice(
            loops.HAND_OVER, reasoning=f"the confidence is {sure:.2f}, and the analyzer {said}"
        )
    if found and found.ways[0] is loops.Way.HUMAN:
        return loops.Choice(
            loops.HAND_OVER,
            reasoning=f"{found.why}, and every way out was tried",
            way=loops.Way.HUMAN,
        )
    return None


def _why_complete(report: State) -> str:
    """Return what the analyzer says if it takes the question for answered; empty if it does not."""
    suggestions = report["suggestions_for_next_step"]
    if not suggestions:
        return "misses nothing"
    answered = any(map(says_answered, suggestions))
    return "says that the question is answered" if answered else ""


def steps_of_pass(state: State) -> list[loops.PastStep]:
    """Return the steps of this pass; those of earlier passes do not count as a loop."""
    now = len(state["feedback"]) + 1
    return [
        loops.PastStep(step["key"], step["found"], step["confidence"], step["way"])
        for step in state["research_history"]
        if step["pass"] == now
    ]


def situation_of(deps: Deps, state: State) -> loops.Situation:
    """Return the situation that a choice is checked against."""
    found = analyser.group_answers(state, analyser.find_excluded(deps, state))
    history = state["research_history"]
    unread = tuple(item["url"] for item in tools.list_unread(deps, state))
    left = tuple(part for part in state["problems"] if part not in found)
    searched, searches = {step["about"] for step in history}, tools.list_searches(deps)
    return loops.Situation(
        question=state["initial_query"],
        problems=tuple(state["problems"]),
        open=left,
        unsearched=tuple(part for part in left if part not in searched),
        searches=searches,
        addresses=unread,
        leads=tuple((lead["kind"], lead["text"]) for lead in analyser.list_unexplored(state)),
        known=tuple(item["statement"] for item in state["shared_memory"]),
        keys=frozenset(
            (
                *(step["key"] for step in history),
                *(loops.key_of(tool, text) for text in state["struck"] for tool in searches),
            )
        ),
        begun=state["iteration"] > 0,
        narrowed=tools.describe_limits(deps, state),
        suggested=_list_suggested(state["analyzer_report"], unread),
    )


def _list_suggested(report: State, unread: Sequence[str]) -> tuple[str, ...]:
    """Return the pages that the last analysis suggests to read, as far as they may be read."""
    named = (url for text in report.get("suggestions_for_next_step", ()) for url in list_urls(text))
    found = (loops.find_permitted(url, unread) for url in named)
    return tuple(dict.fromkeys(url for url in found if url))


def _make_task(
    deps: Deps, state: State, at: loops.Situation, found: loops.Impasse | None
) -> DecideAction:
    history, report = state["research_history"], state["analyzer_report"]
    about = " ".join((state["initial_query"], *at.open, *state["feedback"]))
    unwanted = tools.find_unwanted(deps, state)
    wanted = {
        "shared_memory": [item for item in state["shared_memory"] if item["id"] not in unwanted]
    }
    return DecideAction(
        initial_query=state["initial_query"],
        as_of=deps.as_of,
        problems=at.problems,
        unanswered=at.open,
        tools=tools.list_tools(deps),
        analyzer_report=_show_report(report) if report else None,
        confidence=state["confidence_score"],
        research_history=tuple(_show_step(step) for step in history[-HISTORY:]),
        tried=(*state["struck"], *(step["query_or_url"] for step in history if _holds(step, at)))[
            -TRIED:
        ],
        shared_memory=tuple(item["statement"] for item in analyser.find_closest(wanted, about)),
        leads=tuple(text for kind, text in at.leads if kind != "url")[:LEADS],
        urls=tools.label_addresses(tools.list_unread(deps, state), tools.OFFERED),
        detected=found.advice if found else "",
        feedback=tuple(state["feedback"]),
        narrowed=at.narrowed,
        iteration=state["iteration"],
        max_iterations=deps.max_iterations,
        guidance=deps.settings.system_prompt,
        objection=state["objection"],
        past=show_past_runs(state["past"]) if not history else (),
    )


def _holds(step: State, at: loops.Situation) -> bool:
    """Return whether a step need not be repeated: it was narrowed in the same way, or no search."""
    return bool(step["action"] == loops.CRAWL or step.get("narrowed", "") == at.narrowed)


def _show_report(report: State) -> AnalyzerReport:
    return AnalyzerReport(
        assessment=report["assessment"],
        suggestions_for_next_step=tuple(report["suggestions_for_next_step"]),
        confidence_score=report["confidence_score"],
        inconsistencies_found=report["inconsistencies_found"] or "",
    )


def _show_step(step: State) -> StepTaken:
    return StepTaken(
        action=step["action"],
        query_or_url=step["query_or_url"],
        brought=step["found"],
        confidence=step["confidence"],
    )
