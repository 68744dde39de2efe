"""The five strategies for LangGraph Studio, over the model and the providers of your settings.

See `langgraph.json`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deepdiver.core.record import Strategy
from deepdiver.core.settings import load
from deepdiver.run.agent import Own, compiled

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph


def popper() -> CompiledStateGraph[Any, Any, Any, Any]:
    """Return the strategy `popper`."""
    return _graph(Strategy.POPPER)


def iterative() -> CompiledStateGraph[Any, Any, Any, Any]:
    """Return the strategy `iterative`."""
    return _graph(Strategy.ITERATIVE)


def overwatch() -> CompiledStateGraph[Any, Any, Any, Any]:
    """Return the strategy `overwatch`."""
    return _graph(Strategy.OVERWATCH)


def orchestrated() -> CompiledStateGraph[Any, Any, Any, Any]:
    """Return the strategy `orchestrated`."""
    return _graph(Strategy.ORCHESTRATED)


def navigator() -> CompiledStateGraph[Any, Any, Any, Any]:
    """Return the strategy `navigator`."""
    return _graph(Strategy.NAVIGATOR)


def _graph(strategy: Strategy) -> CompiledStateGraph[Any, Any, Any, Any]:
    return compiled(load({"strategy": strategy.value}), Own())
