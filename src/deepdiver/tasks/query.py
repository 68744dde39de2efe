"""Writing search queries, to find answers and to refute them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, ClassVar

from pydantic import Field, ValidationInfo, model_validator

from deepdiver.tasks.record_views import RecalledRun, ShownTool
from deepdiver.tasks.task import Answer, Role, Task
from deepdiver.tasks.tolerance import REASON, TOLERANT, Also, field_of

SEARCH = "search"
"""The tool that asks every search provider. Models write its queries as plain texts: as calls, they
would have three times the tokens."""
REMEMBERED = 2
"""Fruitful queries of past runs that may be made again for one sub-problem, besides new ones."""
Query = Annotated[str, Also("query", "search_query", "q")]
"""A query, or an object that holds one beside its reason."""


class Queries(Answer):
    """What to search for."""

    queries: Annotated[
        tuple[Query, ...],
        Field(max_length=8),
        Also("query", "search_query", "search_queries", "searches", "follow_up_query"),
        Also("follow_up_queries"),
    ]
    """Each a short line of words as one would type it into a search box; the most promising first.
    """


class WriteQueries(Task[Queries]):
    """Write queries that find out about a sub-problem."""

    role: ClassVar[Role] = "fast"

    question: str
    """What the person asked."""
    problem: str
    """The sub-problem to look into."""
    known: tuple[str, ...] = ()
    """What has been found so far."""
    tried: tuple[str, ...] = ()
    """Queries made before; do not repeat them."""
    past: tuple[RecalledRun, ...] = ()
    """What past runs found that bear on the question; up to two of their fruitful queries may be
    made again."""
    limit: int = 3
    """The most queries wanted, besides those of past runs."""


class RefuteQueries(Task[Queries]):
    """Write queries that would bring up what refutes a hypothesis."""

    role: ClassVar[Role] = "fast"

    question: str
    """What the person asked."""
    hypothesis: str
    """What is claimed."""
    refutes_if: str
    """What one would see if it were false."""
    rivals: tuple[str, ...] = ()
    """What else is claimed."""
    tried: tuple[str, ...] = ()
    """Queries made before; do not repeat them."""
    limit: int = 2
    """The most queries wanted."""


class Argument(Answer):
    """An argument of a tool."""

    name: str
    """Which argument."""
    value: str
    """What it is to be."""


class ToolQuery(Answer):
    """One call of a tool."""

    tool: Annotated[str, Also("tool_name", "name")]
    """Name of the tool, one of those that are shown."""
    args: Annotated[
        tuple[Argument, ...], Also("arguments", "parameters", "params", "tool_args")
    ] = ()
    """Its arguments, those alone that the tool says it takes."""
    reason: Annotated[str, REASON, Also("purpose", "why")] = ""
    """What it would show."""

    @model_validator(mode="before")
    @classmethod
    def _gather_arguments(cls, value: Any, info: ValidationInfo) -> Any:
        """Read arguments that stand beside the tool's name, and a bare text as the query."""
        if info.context is not TOLERANT or not isinstance(value, Mapping):
            return value
        own = {key: item for key, item in value.items() if field_of(cls, key)}
        key = next((key for key in own if field_of(cls, key) == "args"), "args")
        given = own.get(key)
        if isinstance(given, str) and given.strip():
            given = {"query": given}
        elif given is None and value.keys() - own.keys():
            given = {key: item for key, item in value.items() if key not in own}
        return {**own, **({key: given} if given is not None else {})}


def calls_besides(tools: Iterable[ShownTool]) -> tuple[ShownTool, ...]:
    """Return the tools that a model calls by name: all but the search of everything.

    What several of them take, such as the first day, is explained once.
    """
    said = set[str]()
    shown = []
    for tool in tools:
        if tool.name != SEARCH:
            lines = (line.partition(":")[0] if line in said else line for line in tool.arguments)
            shown.append(tool.model_copy(update={"arguments": tuple(lines)}))
            said.update(tool.arguments)
    return tuple(shown)
