"""Prompts: one for each strategy, from the one table."""

from __future__ import annotations

import dataclasses

import pytest

from deepdiver.core.record import Strategy
from deepdiver.errors import UnknownNameError, UsageError
from deepdiver.mcp_server.prompts import entries, text
from deepdiver.mcp_server.tools import TOOLS
from deepdiver.strategies.table import TABLE


@pytest.mark.parametrize("name", ["", "poper", "auto", "x" * 1_000])
def test_a_strategy_that_is_not_there(name: str) -> None:
    with pytest.raises(UnknownNameError, match="known are popper") as caught:
        text(name, "Who?")
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize("question", ["", "  ", "x" * 8_001])
def test_a_question_that_is_none(question: str) -> None:
    with pytest.raises(UsageError):
        text("popper", question)


def test_there_are_five() -> None:
    assert [entry.strategy for entry in entries()] == list(Strategy)


def test_one_that_this_version_has_not_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(
        TABLE, Strategy.NAVIGATOR, dataclasses.replace(TABLE[Strategy.NAVIGATOR], built=False)
    )
    assert Strategy.NAVIGATOR not in [entry.strategy for entry in entries()]
    with pytest.raises(UnknownNameError):
        text("navigator", "Who?")


@pytest.mark.parametrize("strategy", Strategy)
def test_a_prompt_names_strategy_tools_and_question(strategy: Strategy) -> None:
    said = text(strategy.value, "Who runs it?")
    assert f'strategy "{strategy.value}"' in said
    assert TABLE[strategy].loop in said
    assert said.endswith("Question: Who runs it?")
    for tool in ("research", "status", "report"):
        assert tool in TOOLS
        assert f"`{tool}`" in said
