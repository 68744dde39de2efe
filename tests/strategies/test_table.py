from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from deepdiver.errors import UnknownNameError
from deepdiver.strategies.table import AUTO, TABLE, Strategy, check_strategy

ROOT = Path(__file__).parents[2]


def test_each_entry_stands_under_its_name() -> None:
    assert [entry.name for entry in TABLE.values()] == list(TABLE)
    assert {"popper", "iterative", "overwatch", "orchestrated", "navigator"} <= set(TABLE)


@pytest.mark.parametrize("entry", TABLE.values(), ids=lambda entry: entry.name)
def test_each_gives_a_graph_and_an_allowance_and_has_its_page(entry: Strategy) -> None:
    assert "initialize" in entry.build().nodes
    assert entry.allowance(entry.max_iterations, 6).searches > 0
    assert (ROOT / "docs" / "strategies" / f"{entry.name}.md").exists()


@pytest.mark.parametrize("name", [*TABLE, AUTO])
def test_a_name_that_is_known_is_taken(name: str) -> None:
    assert check_strategy(name) == name


@pytest.mark.parametrize(
    ("name", "hint"),
    [("poper", "did you mean popper"), ("", "known are popper, iter"), ("x" * 999, "known")],
)
def test_a_name_that_is_not_known_is_refused_with_a_hint(name: str, hint: str) -> None:
    with pytest.raises(UnknownNameError, match=hint) as caught:
        check_strategy(name)
    assert len(str(caught.value)) < 200


def test_looking_at_the_table_imports_no_graph() -> None:
    code = (
        "import sys, deepdiver.strategies.table\n"
        "assert not any(name.startswith(('langgraph', 'langchain')) for name in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
