"""The strategies there are: one table for runner, command line and docs.

Importing it imports no graph.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from deepdiver.core.record import Strategy

if TYPE_CHECKING:
    from langgraph.graph import StateGraph

    from deepdiver.strategies.base import Allowance, Provide


@dataclass(frozen=True, slots=True)
class Entry:
    """One strategy."""

    strategy: Strategy
    """Its name."""
    loop: str
    """What it does, in one line."""
    choose: str
    """When to take it."""
    max_iterations: int
    """Its own hard stop."""
    built: bool
    """Whether this version has it."""
    calls_tools: bool = False
    """Whether it calls tools with arguments, and so feeds."""

    def build(self, provide: Provide | None = None) -> StateGraph[Any, Any, Any, Any]:
        """Return its graph, not yet compiled."""
        graph: StateGraph[Any, Any, Any, Any] = self._module().build(provide)
        return graph

    def allowance(self, max_iterations: int, results: int) -> Allowance:
        """Return how often it may do each thing at most, in so many rounds and with so many results a query."""
        allowed: Allowance = self._module().allowance(max_iterations, results)
        return allowed

    def _module(self) -> Any:
        return import_module(f"deepdiver.strategies.{self.strategy.value}")


TABLE = {
    entry.strategy: entry
    for entry in (
        Entry(
            Strategy.POPPER,
            "formulate → gather → hypothesise → try to refute → (reasoner decides) → answer",
            "A question with an answer that could be wrong: facts, causes, disputed claims.",
            3,
            True,
        ),
        Entry(
            Strategy.ITERATIVE,
            "query → search → summarise → reflect, until covered → report",
            "An overview of a topic.",
            5,
            True,
        ),
        Entry(
            Strategy.OVERWATCH,
            "plan → decompose → hypothesise → gather ⇄ analyse → reflect → correlate → verify → "
            "synthesise",
            "A situation in time and space, from news and data feeds.",
            10,
            True,
            calls_tools=True,
        ),
        Entry(
            Strategy.ORCHESTRATED,
            "planning, execution and synthesis agents over one context with search intents",
            "A broad question that wants several kinds of search.",
            5,
            True,
        ),
        Entry(
            Strategy.NAVIGATOR,
            "decision ⇄ one tool ⇄ analyser, shared memory, a person at the end of every pass",
            "A hunt for one hard-to-find fact, with you in the loop.",
            20,
            True,
        ),
    )
}
