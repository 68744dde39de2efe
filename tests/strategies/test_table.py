from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from deepdiver.core.record import Strategy
from deepdiver.strategies.table import TABLE, Entry

STRATEGIES = Path(__file__).parents[2] / "src" / "deepdiver" / "strategies"


def test_the_table_has_all_five() -> None:
    assert list(TABLE) == list(Strategy)


@pytest.mark.parametrize("entry", TABLE.values(), ids=lambda entry: entry.strategy.value)
def test_what_is_called_built_is_there_and_small(entry: Entry) -> None:
    path = STRATEGIES / f"{entry.strategy.value}.py"
    assert path.exists() == entry.built
    if path.exists():
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 250


def test_a_built_strategy_gives_a_graph_and_an_allowance() -> None:
    entry = TABLE[Strategy.POPPER]
    assert "verify_hypothesis" in entry.build().nodes
    assert entry.allowance(entry.max_iterations, 6).searches > 0


def test_looking_at_the_table_imports_no_graph() -> None:
    code = (
        "import sys, deepdiver.strategies.table\n"
        "assert not any(name.startswith(('langgraph', 'langchain')) for name in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
