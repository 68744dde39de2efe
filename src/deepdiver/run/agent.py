"""A strategy as a LangGraph graph over the caller's own model and tools."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from langchain_core.language_models import BaseChatModel
from langchain_core.tools import BaseTool
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Checkpointer

from deepdiver.core.record import Run
from deepdiver.core.settings import Settings, check_rounds, load
from deepdiver.errors import UsageError
from deepdiver.run.assemble import OwnParts, own_parts_of
from deepdiver.run.begin import check_question, new_run
from deepdiver.run.record import load_ledger
from deepdiver.run.session import OnEvent, Session
from deepdiver.store import Store, open_store
from deepdiver.strategies.shared.base import Deps, State
from deepdiver.strategies.shared.plan import question_of
from deepdiver.strategies.table import AUTO, TABLE, check_strategy

if TYPE_CHECKING:
    from deepdiver.tasks import Reasoner


class _Sessions:
    """The sessions of an agent, one for each invocation, by the run's id in the graph's state."""

    def __init__(self, settings: Settings, make: Callable[[Run, Store], Session]) -> None:
        self._settings, self._make = settings, make
        self._held: OrderedDict[str, Session] = OrderedDict()
        self._store: Store | None = None

    def __call__(self, state: State, node: str) -> Deps:
        self._store = self._store or open_store(self._settings)
        key = "" if node == "initialize" else str(state.get("run", ""))
        if key not in self._held:
            if key:
                # Another process began it, and a checkpointer brought its state here.
                run = self._store.runs.get(key)
            else:
                run = new_run(
                    check_question(question_of(state)),
                    self._settings,
                    self._store,
                    context=state.get("context"),
                )
            session = self._make(run, self._store)
            session.deps.ledger = load_ledger(self._store, run.id)
            key = run.id
            self._held[key] = session
            if len(self._held) > 64:
                self._held.popitem(last=False)
        return self._held[key].deps


def create_deepdiver_agent(
    llm: BaseChatModel | Reasoner,
    tools: Sequence[BaseTool],
    system_prompt: str | None = None,
    max_iterations: int = 3,
    *,
    checkpointer: Checkpointer = None,
    settings: Settings | None = None,
    on_event: OnEvent | None = None,
    strategy: str = "popper",
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Return a strategy as a compiled LangGraph graph over your own model and tools.

    Every invocation is a recorded run, like those of the command line: `deepdiver runs` lists it.
    A tool's output becomes a source with a snapshot, so that it can be cited.

    Args:
        llm: Any LangChain chat model, or a Reasoner.
        tools: Any LangChain tools that take a query. They are used to gather and to refute. Tools
            with other arguments are for strategies that call them, such as `overwatch`.
        system_prompt: Your own instructions, which come before those of every task.
        max_iterations: The hard stop, 1 to 100 rounds.
        checkpointer: A LangGraph checkpointer, if you want the graph's own persistence.
        settings: Everything else; from files and environment by default.
        on_event: Receives all events.
        strategy: The strategy. `navigator` stops at every answer for a person, who replies with
            `Command(resume=…)`: that needs a checkpointer, and `max_iterations` bounds a pass.

    Raises:
        UsageError: If an argument is not valid.
    """
    if check_strategy(strategy) == AUTO:
        raise UsageError(
            f"an agent has one strategy, and {AUTO} depends on the question: name one of "
            f"{', '.join(TABLE)}"
        )
    given = own_parts_of(llm, tools, strategy)
    updates = {
        "strategy": strategy,
        "max_iterations": check_rounds(max_iterations),
        "system_prompt": system_prompt or "",
        **given.changes,
    }
    return compile_agent(
        (settings or load()).model_copy(update=updates), given, checkpointer, on_event
    )


def compile_agent(
    settings: Settings,
    given: OwnParts,
    checkpointer: Checkpointer = None,
    on_event: OnEvent | None = None,
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Return the settings' strategy as a compiled graph; each invocation is a recorded run."""

    def make(run: Run, store: Store) -> Session:
        return Session(run, settings, store, on_event=on_event, own=given)

    return (
        TABLE[settings.strategy].build(_Sessions(settings, make)).compile(checkpointer=checkpointer)
    )
