"""The `orchestrated` strategy and its search as single calls, from a script or a notebook."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from deepdiver.core.events import Limited
from deepdiver.core.settings import Settings, check_rounds, load
from deepdiver.errors import UnreachableError, UsageError
from deepdiver.report.markdown import render_markdown
from deepdiver.run import OnEvent, Outcome, research
from deepdiver.run.assemble import NOTHING_TO_SEARCH, OwnParts, choose_search, own_parts_of
from deepdiver.run.begin import check_question
from deepdiver.run.detached import Errand, ignore_event, open_errand
from deepdiver.strategies.orchestrated.context import (
    CONTENT_CHARS,
    ResearchContext,
    SearchIntent,
    SearchResult,
)
from deepdiver.strategies.shared.base import run_from_sync, together
from deepdiver.strategies.shared.look import relevance_of
from deepdiver.strategies.shared.reading import excerpt
from deepdiver.tools.hit import Hit
from deepdiver.tools.read_hit import read_hit
from deepdiver.tools.registry import prepare, reached
from deepdiver.tools.search_all import search_all
from deepdiver.tools.source_age import age_need_of

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.tools import BaseTool

    from deepdiver.tasks import Reasoner


def run_deep_research_agent(
    query: str,
    max_iterations: int = 5,
    *,
    settings: Settings | None = None,
    llm: BaseChatModel | Reasoner | None = None,
    tools: Sequence[BaseTool] | None = None,
    on_event: OnEvent | None = None,
) -> dict[str, Any]:
    """Research a question with the `orchestrated` strategy.

    The run is recorded like those of the command line: `deepdiver runs` lists it, and its files
    are in the home folder. It also works while an event loop is running, which it blocks until the
    report is finished.

    Args:
        query: What to find out.
        max_iterations: The most rounds of searching, 1 to 100.
        settings: Everything else; from files and environment by default.
        llm: Any LangChain chat model, or a Reasoner; by default the model of the settings, else
            the embedded reasoner.
        tools: Any LangChain tools that take a query, to search with; by default the providers of
            the settings.
        on_event: Receives all events.

    Returns:
        A dictionary: `final_report`, the report in Markdown; `research_context`, a
        `ResearchContext` with all results, key findings and open questions; `iterations`, the
        number of rounds; `status` and `outcome`, how it ended, as a word and as a headline;
        `limits`, what could not be done.

    Raises:
        UsageError: If an argument is not valid, or the run waits for a person.
        NoEvidenceError: If there is nothing to search.
    """
    updates = {"strategy": "orchestrated", "max_iterations": check_rounds(max_iterations)}
    chosen = (settings or load()).model_copy(update=updates)
    given = own_parts_of(llm, tools, chosen.strategy)
    outcome: Outcome = run_from_sync(lambda: research(query, chosen, on_event=on_event, own=given))
    if outcome.error is not None:
        raise outcome.error
    if outcome.report is None:
        raise UsageError(
            f"run {outcome.run.id} waits for a person: go on with deepdiver resume {outcome.run.id}"
        )
    context = ResearchContext.model_validate(outcome.state["research_context"])
    return {
        "final_report": render_markdown(outcome.report),
        "research_context": context,
        "iterations": context.search_iterations,
        "status": outcome.report.status.value,
        "outcome": outcome.headline,
        "limits": list(outcome.limits),
    }


MOST_RESULTS = 50
"""The most results of one search, as in the settings."""


def get_search_results(
    query: str,
    max_results: int | None = None,
    *,
    intent: SearchIntent = SearchIntent.INITIAL_EXPLORATION,
    settings: Settings | None = None,
    tools: Sequence[BaseTool] | None = None,
    on_event: OnEvent | None = None,
) -> list[SearchResult]:
    """Search as the execution agent does, and read the results.

    A search belongs to no run, and `deepdiver runs` does not list it. It goes through the gateway:
    limits, cache, retries and the budget of the settings hold. A provider or page that fails does
    not end it: it is left out, and `on_event` receives a `limited` event that says why. Without
    `on_event` that is a warning. An empty list without either means that nothing was found.

    Args:
        query: What to search for.
        max_results: The most results, 1 to 50; by default as in the settings.
        intent: What the search is for; the results carry it.
        settings: Everything else; from files and environment by default.
        tools: Any LangChain tools that take a query, to search with; by default the providers of
            the settings.
        on_event: Receives all events.

    Returns:
        The results, the most relevant first: title, address, at most 2,000 characters of the text,
        and the relevance by rank and by the words of the query.

    Raises:
        UsageError: If an argument is not valid.
        UnreachableError: If nothing can be searched.
    """
    if max_results is not None and not 1 <= max_results <= MOST_RESULTS:
        raise UsageError(f"max_results is {max_results}; it must be 1 to {MOST_RESULTS}")
    chosen = settings or load()
    if max_results is not None:
        filters = chosen.filters.model_copy(update={"results": max_results})
        chosen = chosen.model_copy(update={"filters": filters})
    asked, own = check_question(query), own_parts_of(None, tools, "orchestrated")
    results, failures = run_from_sync(lambda: _search(asked, intent, chosen, own, on_event))
    for line in failures:
        if on_event is None:
            warnings.warn(line, stacklevel=2)
        else:
            on_event(Limited(what=line))
    return results


async def _search(
    query: str, intent: SearchIntent, settings: Settings, own: OwnParts, on_event: OnEvent | None
) -> tuple[list[SearchResult], list[str]]:
    """Return the results of a query, and what could not be searched or read."""
    choice = choose_search(settings, own)
    async with open_errand(settings, emit=on_event or ignore_event) as errand:
        found, absent = await reached(choice, errand.gateway)
        if not found:
            raise UnreachableError(f"{NOTHING_TO_SEARCH} {'; '.join(absent)}".strip())
        unready = await prepare(found, errand.gateway)
        searched = await search_all(query, found, errand.gateway)
        read = await together(
            *(
                _read_result(errand, hit, rank, query, intent)
                for rank, hit in enumerate(searched.hits, 1)
            )
        )
    failures = [*absent, *unready, *searched.failures, *(limit for _, limit in read if limit)]
    return sorted((result for result, _ in read), key=lambda one: -one.relevance_score), failures


async def _read_result(
    errand: Errand, hit: Hit, rank: int, query: str, intent: SearchIntent
) -> tuple[SearchResult, str]:
    """Return a result with its text, and why it was not read, or not whole; empty if it was."""
    run = errand.run
    need = age_need_of(query, run.created)
    reading = await read_hit(
        hit, run.id, errand.store, errand.gateway, fetched=run.created, need=need
    )
    title = reading.source.title if reading.source else hit.title or hit.url
    result = SearchResult(
        title=title,
        url=reading.source.url if reading.source else hit.url,
        content=excerpt(reading.text, query, CONTENT_CHARS)[:CONTENT_CHARS],
        relevance_score=relevance_of(rank, query, f"{title}\n{reading.text}"),
        search_intent=intent,
        timestamp=datetime.fromisoformat(run.created),
    )
    return result, reading.limit
