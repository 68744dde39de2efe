"""The research context.

What the agents of `orchestrated` share, as typed models, and how relevant a result is.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field

from deepdiver.core.record import Probability, Record
from deepdiver.core.text import terms
from deepdiver.tasks import SearchIntent, SearchPlan

__all__ = [
    "CONTENT_CHARS",
    "ResearchContext",
    "SearchIntent",
    "SearchPlan",
    "SearchResult",
    "relevance",
]

CONTENT_CHARS = 2_000
"""Characters of a result's content: enough to see what it is about; the whole text stays in the
store."""
BY_RANK = 0.5
"""What the rank counts in a result's relevance; the rest is the overlap with the question."""


class SearchResult(Record):
    """Something that a search found and that was read."""

    title: str
    """What it calls itself."""
    url: str
    """Where it is."""
    content: Annotated[str, Field(max_length=CONTENT_CHARS)]
    """Its text as saved, or of a long one the best passages."""
    relevance_score: Probability
    """How relevant it is: see `relevance`."""
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


def relevance(rank: int, question: str, text: str) -> float:
    """Return how relevant a result is, 0..1.

        BY_RANK × 1 / rank + (1 − BY_RANK) × (words of the question in the text) / (words of the
        question)

    Args:
        rank: Its place in the list, from 1.
        question: What was asked; words without meaning do not count.
        text: The result's title and text.
    """
    asked = set(terms(question))
    overlap = len(asked & set(terms(text))) / len(asked) if asked else 0.0
    return round(BY_RANK / rank + (1.0 - BY_RANK) * overlap, 4)
