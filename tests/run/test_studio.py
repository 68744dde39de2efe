"""LangGraph Studio opens all five strategies."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
from langgraph.graph.state import CompiledStateGraph

from deepdiver.sample import LIBRARY
from deepdiver.strategies.table import TABLE

ROOT = Path(__file__).parents[2]
GRAPHS: dict[str, str] = json.loads((ROOT / "langgraph.json").read_text(encoding="utf-8"))["graphs"]


def opened(place: str) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Load a graph as the server does: the file by its path, then the name in it."""
    path, _, name = place.partition(":")
    spec = importlib.util.spec_from_file_location("opened_by_studio", ROOT / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    graph: CompiledStateGraph[Any, Any, Any, Any] = getattr(module, name)()
    return graph


def test_every_strategy_is_there() -> None:
    assert set(GRAPHS) == set(TABLE)


@pytest.mark.parametrize("name", GRAPHS)
def test_it_opens(name: str) -> None:
    graph = opened(GRAPHS[name])
    assert isinstance(graph, CompiledStateGraph)
    assert "messages" in graph.get_input_jsonschema()["properties"]


def test_it_runs_over_what_the_settings_say(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DEEPDIVER_HOME", str(tmp_path))
    monkeypatch.setenv("DEEPDIVER_DOCUMENTS", str(LIBRARY))
    question = "How many tonnes of cheese did Svedjan Ost AB make in 2025?"
    result = opened(GRAPHS["popper"]).invoke({"messages": [{"role": "user", "content": question}]})
    assert "38 tonnes" in result["final_answer"]
