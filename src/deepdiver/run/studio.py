"""Every strategy for LangGraph Studio, with the model and the providers of your settings.

`langgraph.json` names them. Each is a function of this module with the name of its strategy.
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
    def open_graph() -> CompiledStateGraph[Any, Any, Any, Any]:
        return compile_agent(load({"strategy": strategy}), OwnParts())

    return open_graph


globals().update({name: _opener(name) for name in TABLE})
