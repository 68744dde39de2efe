"""deepdiver: deep research that people can check.

    from deepdiver import create_deepdiver_agent

    agent = create_deepdiver_agent(llm=llm, tools=[internet_search])
    result = agent.invoke({"messages": [{"role": "user", "content": "What is langgraph?"}]})
    print(result["final_answer"], result["confidence_score"])

The names below are the public ones. They are imported on first use, because LangGraph takes about a
second.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from deepdiver.core.version import VERSION as __version__

_HOMES = {
    "create_deepdiver_agent": "deepdiver.run",
    "research": "deepdiver.run",
    "resume": "deepdiver.run",
    "replay": "deepdiver.run",
    "Outcome": "deepdiver.run",
    "EmbeddedReasoner": "deepdiver.reason.embedded",
    "Settings": "deepdiver.core.settings",
    "Report": "deepdiver.core.record",
    "DeepdiverError": "deepdiver.errors",
    "run_deep_research_agent": "deepdiver.run.deep_research",
    "get_search_results": "deepdiver.run.deep_research",
    "ResearchContext": "deepdiver.strategies.orchestrated.context",
    "SearchIntent": "deepdiver.strategies.orchestrated.context",
    "SearchPlan": "deepdiver.strategies.orchestrated.context",
    "SearchResult": "deepdiver.strategies.orchestrated.context",
}

if TYPE_CHECKING:
    from deepdiver.core.record import Report
    from deepdiver.core.settings import Settings
    from deepdiver.errors import DeepdiverError
    from deepdiver.reason.embedded import EmbeddedReasoner
    from deepdiver.run import Outcome, create_deepdiver_agent, replay, research, resume
    from deepdiver.run.deep_research import get_search_results, run_deep_research_agent
    from deepdiver.strategies.orchestrated.context import (
        ResearchContext,
        SearchIntent,
        SearchPlan,
        SearchResult,
    )

__all__ = [
    "DeepdiverError",
    "EmbeddedReasoner",
    "Outcome",
    "Report",
    "ResearchContext",
    "SearchIntent",
    "SearchPlan",
    "SearchResult",
    "Settings",
    "__version__",
    "create_deepdiver_agent",
    "get_search_results",
    "replay",
    "research",
    "resume",
    "run_deep_research_agent",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'deepdiver' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
