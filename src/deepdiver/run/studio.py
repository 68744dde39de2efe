"""Every strategy for LangGraph Studio, over the model and the providers of your settings.

`langgraph.json` names them. Each is a function of this module, called after the strategy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from deepdiver.core.settings import load
from deepdiver.run.agent import compile_agent
from deepdiver.run.assemble import OwnParts
from deepdiver.strategies.table import TABLE

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph


def _opener(strategy: str) -> Callable[[], CompiledStateGraph[Any, Any, Any, Any]]:
    def opened() -> CompiledStateGraph[Any, Any, Any, Any]:
        return compile_agent(load({"strategy": strategy}), OwnParts())

    return opened


globals().update({name: _opener(name) for name in TABLE})
