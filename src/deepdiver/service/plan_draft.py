"""A plan while a person edits it on its page: sub-questions, each with the searches for it.

Nothing of it is saved: the form carries it whole, so that it works without a script.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from starlette.datastructures import FormData

from deepdiver.errors import UsageError
from deepdiver.service.schemas import Answer

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PlanPart:
    """A sub-question of a plan."""

    problem: str
    """The sub-question."""
    queries: tuple[str, ...] = ()
    """The searches for it; none: the strategy decides on them."""


Draft = tuple[PlanPart, ...]
"""The sub-questions of a plan, in order."""


def draft_of(shown: Mapping[str, Any]) -> Draft:
    """Return the plan that a run waits with."""
    problems = [str(problem) for problem in shown["problems"]]
    queries, about = shown.get("queries", ()), shown.get("about", {})
    held: dict[str, list[str]] = {problem: [] for problem in problems}
    for query in queries:
        # One for none of them, of a plan of an earlier version, stands under the first.
        held[about.get(query) if about.get(query) in held else problems[0]].append(str(query))
    return tuple(PlanPart(problem, tuple(held[problem])) for problem in problems)


def draft_from(form: FormData) -> Draft:
    """Return the plan that a form carries: `problem`, and for the first of them `query-1`."""
    problems = [_one_line(text) for text in form.getlist("problem")]
    return tuple(
        PlanPart(problem, tuple(_one_line(text) for text in form.getlist(f"query-{number}")))
        for number, problem in enumerate(problems, 1)
    )


def _one_line(text: object) -> str:
    """Return a text of a form, in which a person may have gone on in a new line."""
    return " ".join(str(text).split())


def edited(draft: Draft, act: str) -> Draft:
    """Return a plan with a sub-question or a search moved, struck or added.

    Args:
        draft: The plan; it is returned as it is if it has nothing of this number.
        act: add, up-2, down-2, strike-2 for a sub-question, with its number from 1; add-2, up-2-1,
            down-2-1, strike-2-1 for a search of the second sub-question.
    """
    what, *rest = act.split("-")
    numbers = [int(text) if text.isdecimal() else 0 for text in rest]
    match what, numbers:
        case "add", []:
            return (*draft, PlanPart(""))
        case ("add", [at]) if 0 < at <= len(draft):
            return _with_queries(draft, at, (*draft[at - 1].queries, ""))
        case _, [at]:
            return _moved(draft, what, at)
        case (_, [at, place]) if 0 < at <= len(draft):
            return _with_queries(draft, at, _moved(draft[at - 1].queries, what, place))
    return draft


def _with_queries(draft: Draft, at: int, queries: tuple[str, ...]) -> Draft:
    return (*draft[: at - 1], replace(draft[at - 1], queries=queries), *draft[at:])


def _moved(items: Sequence[T], what: str, at: int) -> tuple[T, ...]:
    """Return items with the one of a number moved up, down or struck."""
    if not 0 < at <= len(items):
        return tuple(items)
    rest = [*items[: at - 1], *items[at:]]
    if what == "strike":
        return tuple(rest)
    to = {"up": at - 2, "down": at}.get(what, at - 1)
    rest.insert(max(0, to), items[at - 1])
    return tuple(rest)


def answer_of(draft: Draft, shown: Mapping[str, Any]) -> Answer:
    """Return what a person says to a plan who starts with a draft of it.

    Raises:
        UsageError: If no sub-question is left.
        ValidationError: If something is too long, or there is too much.
    """
    parts = [(part.problem.strip(), _written(part.queries)) for part in draft]
    if (parts := [(problem, own) for problem, own in parts if problem or own]) == _parts_of(shown):
        return Answer(action="accept")
    problems = tuple(problem for problem, _ in parts if problem)
    if not problems:
        raise UsageError("an edited plan needs at least one sub-question")
    about = {query: problem for problem, own in parts if problem for query in own}
    queries = tuple(dict.fromkeys(query for _, own in parts for query in own))
    # Where the plan has no searches and the person adds none, the strategy writes them.
    searches = {"queries": queries, "about": about} if queries or shown.get("queries") else {}
    return Answer.model_validate({"action": "edit", "problems": problems, **searches})


def _parts_of(shown: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    return [(part.problem.strip(), _written(part.queries)) for part in draft_of(shown)]


def _written(texts: Sequence[str]) -> list[str]:
    return [text for item in texts if (text := item.strip())]
