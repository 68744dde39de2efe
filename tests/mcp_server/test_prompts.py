"""Prompts: one for each strategy, from the one table."""

from __future__ import annotations

import pytest

from deepdiver.errors import UnknownNameError, UsageError
from deepdiver.mcp_server.prompts import prompt_text
from deepdiver.mcp_server.tools import TOOLS
from deepdiver.strategies.table import TABLE


@pytest.mark.parametrize("name", ["", "poper", "auto", "x" * 1_000])
def test_a_strategy_that_is_not_there(name: str) -> None:
    with pytest.raises(UnknownNameError, match="known are popper") as caught:
        prompt_text(name, "Who?")
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize("question", ["", "  ", "x" * 8_001])
def test_a_question_that_is_none(question: str) -> None:
    with pytest.raises(UsageError):
        prompt_text("popper", question)


@pytest.mark.parametrize("strategy", TABLE)
def test_a_prompt_names_strategy_tools_and_question(strategy: str) -> None:
    said = prompt_text(strategy, "Who runs it?")
    assert f'strategy "{strategy}"' in said
    assert TABLE[strategy].loop in said
    assert said.endswith("Question: Who runs it?")
    for tool in ("research", "status", "report"):
        assert tool in TOOLS
        assert f"`{tool}`" in said
