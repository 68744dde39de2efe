"""The research context.

What the agents of `orchestrated` share, as typed models.
"""

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
"""Characters of a result's content: enough to see what it is about; the whole text stays in the
store."""


class SearchResult(Record):
    """Something that a search found and that was read."""

    title: str
    """What it calls itself."""
    url: str
    """Where it is."""
    content: Annotated[str, Field(max_length=CONTENT_CHARS)]
    """Its text as saved, or of a long one the best passages."""
    relevance_score: Probability
    """How relevant it is: see `shared.look.relevance`."""
    search_intent: SearchIntent
    """What the search was for."""
    timestamp: datetime
    """When it was read, by the run's clock."""


class ResearchContext(Record):
    """Everything that is known in a run."""

    query: str
    """What was asked."""
    search_history: tuple[SearchResult, ...] = ()
    """What was found: round by round, and in each round the most relevant last."""
    key_findings: tuple[str, ...] = ()
    """Statements, none of which says what another says."""
    unanswered_questions: tuple[str, ...] = ()
    """What is still open."""
    search_iterations: Annotated[int, Field(ge=0)] = 0
    """Rounds of searching that were made."""
