"""The `orchestrated` strategy as one call, from a script or a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from deepdiver.core.settings import Settings, check_rounds, load
from deepdiver.errors import UsageError
from deepdiver.report.markdown import render_markdown
from deepdiver.run import OnEvent, Outcome, research
from deepdiver.run.assemble import own_parts_of
from deepdiver.strategies.orchestrated.context import ResearchContext
from deepdiver.strategies.shared.base import run_from_sync

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
        number of rounds.

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
    }
