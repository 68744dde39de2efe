"""A model that speaks in the words of the design documents, and states that have their fields.

Every key, choice and label that it writes differs from what it was asked for, and the report must
be the one of the model that writes what it was asked for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from deepdiver.core.events import Decided, Event
from deepdiver.core.record import Report
from deepdiver.core.settings import load
from deepdiver.run import replay, research
from deepdiver.strategies.iterative import ResearchState
from deepdiver.strategies.popper import DeepDiverState
from tests.servers.brain import made_search, popper_brain, understand
from tests.servers.scripted import Answer, ScriptedServer
from tests.tasks.test_seed_answers import seed

pytestmark = pytest.mark.usefixtures("read_once")

QUESTION = "What is recorded about the northern ferry permits?"
WORDS: Mapping[str, Mapping[str, str]] = {
    "decompose": {"problems": "decomposed_problems", "question": "sub_problem"},
    "write_queries": {"queries": "search_queries"},
    "refute_queries": {"queries": "Search Queries"},
    "extract_findings": {"findings": "facts", "statement": "claim", "source": "source_id"},
    "hypothesise": {
        "statement": "hypothesis",
        "supports_if": "supporting_evidence_criteria",
        "refutes_if": "falsification_criteria",
        "prior": "initial_confidence",
        "findings": "basedOn",
    },
    "judge": {
        "judgements": "evaluations",
        "finding": "finding_id",
        "stance": "evidence_type",
        "strength": "confidence",
    },
    "decide": {"decision": "next_step", "gaps": "knowledge_gaps", "reason": "rationale"},
    "reflect": {
        "sufficient": "is_sufficient",
        "missing": "knowledge_gap",
        "queries": "follow_up_query",
        "reason": "reasoning",
    },
}
"""What the model says instead of each key, by task."""
CHOICES = {
    "supports": "SUPPORTING",
    "refutes": "Refuting",
    "neutral": "Irrelevant",
    "continue": "CONTINUE (iterate again)",
    "finish": "FINISH",
}


def respelled(value: Any, words: Mapping[str, str]) -> Any:
    """Return JSON in other words, with numbers for labels."""
    if isinstance(value, dict):
        said = {words.get(key, key.upper()): respelled(item, words) for key, item in value.items()}
        return {**said, "confidence_in_this_answer": "high"}
    if isinstance(value, list):
        return [respelled(item, words) for item in value]
    if isinstance(value, str) and (label := re.fullmatch(r"[FT](\d+)", value)):
        return int(label[1])
    return CHOICES.get(value, value) if isinstance(value, str) else value


def speaks_otherwise(body: dict[str, Any], number: int) -> Answer:
    """Answer as the usual model does, in other words."""
    task, _ = understand(body)
    answer = popper_brain()(body, number)
    if task not in WORDS:
        return answer
    told = json.dumps(respelled(json.loads(answer.text), WORDS[task]), indent=2)
    return replace(answer, text=f"```thinking\nLet me see.\n```\nHere it is:\n```json\n{told}\n```")


async def reported(
    server: ScriptedServer, home: Path, strategy: str
) -> tuple[Report, list[tuple[str, str]]]:
    """Research the question with a server's model; return the report and the decisions."""
    events: list[Event] = []
    model = "openai:gpt-5-mini"
    fast = {name: {"rate": 1000, "concurrent": 64} for name in (model, "tavily")}
    flags = {
        "home": home,
        "strategy": strategy,
        "model": model,
        "search": ["tavily"],
        "urls": {"openai": server.openai, "tavily": server.url},
        "keys": {"openai": "made-0123456789", "tavily": "made-0123456789"},
        "limits": fast,
        "retries": 0,
        "as_of": "2026-11-15",
    }
    settings = load(flags, environ={}, folder=home, user_file=home / "none.toml")
    outcome = await research(QUESTION, settings, on_event=events.append)
    assert outcome.error is None
    assert outcome.report is not None
    assert (await replay(outcome.run.id, settings)).report == outcome.report
    return outcome.report, [
        (event.decision, event.by) for event in events if isinstance(event, Decided)
    ]


@pytest.mark.parametrize("strategy", ["popper", "iterative"])
async def test_another_way_of_saying_it_gives_the_same_report(
    tmp_path: Path, strategy: str
) -> None:
    with ScriptedServer(popper_brain(), made_search(results=2)) as server:
        usual = await reported(server, tmp_path / "usual", strategy)
        asked = len(server.models)
    with ScriptedServer(speaks_otherwise, made_search(results=2)) as server:
        other = await reported(server, tmp_path / "other", strategy)
        assert len(server.models) == asked, "no answer had to be asked for again"
    assert other == usual
    assert usual[0].answer
    assert ("continue", "reasoner") in usual[1]


# The fields of the design documents


def test_the_state_of_popper_has_every_field_of_the_output_structure() -> None:
    block = seed("000").partition("## Output Structure")[2].split("```")[1]
    fields = re.findall(r'"(\w+)":', block)
    assert len(fields) == 7
    assert set(fields) <= DeepDiverState.__annotations__.keys()


def fields_of_001() -> Iterator[str]:
    """Yield the fields that the second design document lists for its state."""
    listed = seed("001").partition("Here's what it stores:")[2].partition("---")[0]
    for line in re.findall(r"^- (.*?) - ", listed, re.MULTILINE):
        yield from re.findall(r"\*\*(\w+)\*\*", line)


def test_the_state_of_iterative_has_every_field_of_the_design_document() -> None:
    fields = list(fields_of_001())
    assert fields == (
        "messages topic running_summary sources search_results current_query iteration "
        "max_iterations".split()
    )
    assert set(fields) <= ResearchState.__annotations__.keys()
    assert not [name for name in ResearchState.__annotations__ if name.startswith("_")]
