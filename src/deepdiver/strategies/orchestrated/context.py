"""The research context that the agents of `orchestrated` share, as typed models."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field

from deepdiver.core.record import Probability, Record
from deepdiver.tasks import SearchIntent, SearchPlan

__all__ = [
    "CONTENT_CHARS",
    "ResearchContext",
    "SearchIntent",
    "SearchPlan",
    "SearchResult",
]

CONTENT_CHARS = 2_000
"""The most characters of a result's content: enough to see what it is about. The store has the
whole text."""


class SearchResult(Record):
    """A search result that was read."""

    title: str
    """Its title."""
    url: str
    """Its address."""
    content: Annotated[str, Field(max_length=CONTENT_CHARS)]
    """Its text as saved, or the best passages of a long one."""
    relevance_score: Probability
    """How relevant it is; see `shared.look.relevance_of`."""
    search_intent: SearchIntent
    """What the search was for."""
    timestamp: datetime
    """When it was read, by the run's clock."""


class ResearchContext(Record):
    """Everything that is known in a run."""

    query: str
    """What was asked."""
    search_history: tuple[SearchResult, ...] = ()
    """The results, round by round, and in each round the most relevant last."""
    key_findings: tuple[str, ...] = ()
    """Statements, none of which repeats another."""
    unanswered_questions: tuple[str, ...] = ()
    """What is still open."""
    search_iterations: Annotated[int, Field(ge=0)] = 0
    """How many rounds of searching were made."""
