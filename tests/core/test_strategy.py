"""The names of the strategies: each has its seat in the table, its module and its page."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from deepdiver.core import record
from deepdiver.core.strategy import Strategy
from deepdiver.strategies.table import TABLE

ROOT = Path(__file__).parents[2]


def test_there_are_five_and_the_vocabulary_has_them() -> None:
    assert [each.value for each in Strategy] == [
        "popper",
        "iterative",
        "overwatch",
        "orchestrated",
        "navigator",
    ]
    assert record.Strategy is Strategy


@pytest.mark.parametrize("strategy", list(Strategy))
def test_each_has_its_seat_its_module_and_its_page(strategy: Strategy) -> None:
    assert TABLE[strategy].strategy is strategy
    assert importlib.util.find_spec(f"deepdiver.strategies.{strategy.value}") is not None
    assert (ROOT / "docs" / "strategies" / f"{strategy.value}.md").exists()
