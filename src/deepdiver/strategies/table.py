"""The table of strategies, for the runner, the command line, MCP and the docs.

A new strategy is a module with `build` and `allowance`, and an entry here. Importing the table does
not import any graph.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from deepdiver.errors import UnknownNameError

if TYPE_CHECKING:
    from langgraph.graph import StateGraph

    from deepdiver.strategies.shared.base import Allowance, Provide

AUTO = "auto"
"""Given instead of a name to let the question decide; see `pick`."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """One strategy."""

    name: str
    """Its name."""
    module: str
    """The module that builds its graph, below `deepdiver.strategies`."""
    loop: str
    """What it does, in one line."""
    choose: str
    """When to choose it."""
    max_iterations: int
    """Its default hard stop."""
    calls_tools: bool = False
    """Whether it calls tools with arguments, such as feeds."""
    scene: bool = False
    """Whether its reports have pictures of when and where things happened."""

    def build(self, provide: Provide | None = None) -> StateGraph[Any, Any, Any, Any]:
        """Return its graph, not yet compiled."""
        graph: StateGraph[Any, Any, Any, Any] = self._module().build(provide)
        return graph

    def allowance(self, max_iterations: int, results: int) -> Allowance:
        """Return how often it may do each thing.

        Args:
            max_iterations: The most rounds.
            results: Results of one query.
        """
        allowed: Allowance = self._module().allowance(max_iterations, results)
        return allowed

    def _module(self) -> Any:
        return import_module(f"deepdiver.strategies.{self.module}")


TABLE = {
    entry.name: entry
    for entry in (
        Strategy(
            "popper",
            "popper",
            "formulate → gather → hypothesise → try to refute → (reasoner decides) → answer",
            "A question with an answer that could be wrong: facts, causes, disputed claims.",
            3,
        ),
        Strategy(
            "iterative",
            "iterative",
            "query → search → summarise → reflect, until covered → report",
            "An overview of a topic.",
            5,
        ),
        Strategy(
            "overwatch",
            "overwatch.graph",
            "plan → decompose → hypothesise → gather ⇄ analyse → reflect → correlate → verify → "
            "synthesise",
            "A situation in time and space, from news and data feeds.",
            10,
            calls_tools=True,
            scene=True,
        ),
        Strategy(
            "orchestrated",
            "orchestrated.graph",
            "planning, execution and synthesis agents over one context with search intents",
            "A broad question that wants several kinds of search.",
            5,
        ),
        Strategy(
            "navigator",
            "navigator.graph",
            "decision ⇄ one tool ⇄ analyser, shared memory, a person at the end of every pass",
            "A hunt for one hard-to-find fact, with you in the loop.",
            20,
        ),
    )
}


def check_strategy(name: str) -> str:
    """Return a strategy's name, or `auto`, as it was given.

    Raises:
        UnknownNameError: If there is no such strategy; names the nearest.
    """
    known = [*TABLE, AUTO]
    if name in known:
        return name
    close = difflib.get_close_matches(name, known, 1, 0.5)
    hint = f"did you mean {close[0]}?" if close else f"known are {', '.join(known)}"
    raise UnknownNameError(f"unknown strategy {name[:80]!r}; {hint}")
