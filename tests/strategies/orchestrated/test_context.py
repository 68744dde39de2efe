from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import ValidationError

from deepdiver.strategies.orchestrated.context import (
    CONTENT_CHARS,
    ResearchContext,
    SearchIntent,
    SearchPlan,
    SearchResult,
)

RESULT: dict[str, Any] = {
    "title": "Register",
    "url": "https://register.example/1",
    "content": "Anna Holm owns it.",
    "relevance_score": 0.5,
    "search_intent": "deep_dive",
    "timestamp": "2026-11-15T10:00:00+00:00",
}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("content", "x" * (CONTENT_CHARS + 1)),
        ("relevance_score", 1.01),
        ("relevance_score", -0.1),
        ("relevance_score", float("nan")),
        ("search_intent", "guessing"),
        ("timestamp", "yesterday"),
        ("body", "unknown field"),
    ],
)
def test_a_result_that_is_none_is_refused(field: str, value: Any) -> None:
    with pytest.raises(ValidationError, match=field):
        SearchResult.model_validate({**RESULT, field: value})


def test_a_context_counts_no_negative_rounds() -> None:
    with pytest.raises(ValidationError, match="search_iterations"):
        ResearchContext(query="q", search_iterations=-1)


def test_the_fields_are_those_of_the_seed() -> None:
    assert list(ResearchContext.model_fields) == [
        "query",
        "search_history",
        "key_findings",
        "unanswered_questions",
        "search_iterations",
    ]
    assert list(SearchResult.model_fields) == [
        "title",
        "url",
        "content",
        "relevance_score",
        "search_intent",
        "timestamp",
    ]
    assert list(SearchPlan.model_fields) == ["intent", "query", "reasoning"]
    assert {intent.name: intent.value for intent in SearchIntent} == {
        "INITIAL_EXPLORATION": "initial_exploration",
        "DEEP_DIVE": "deep_dive",
        "FACT_CHECKING": "fact_checking",
        "RELATED_TOPICS": "related_topics",
        "SYNTHESIS": "synthesis",
    }


def test_a_context_survives_json_and_cannot_be_changed() -> None:
    context = ResearchContext(
        query="q", search_history=(SearchResult.model_validate(RESULT),), search_iterations=2
    )
    assert ResearchContext.model_validate_json(context.model_dump_json()) == context
    (result,) = context.search_history
    assert result.search_intent is SearchIntent.DEEP_DIVE
    assert result.timestamp == datetime(2026, 11, 15, 10, tzinfo=UTC)
    with pytest.raises(ValidationError, match="frozen"):
        context.query = "another"  # type: ignore[misc]


def test_the_models_can_be_imported_without_langgraph() -> None:
    code = "import sys, deepdiver; deepdiver.ResearchContext; assert 'langgraph' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
