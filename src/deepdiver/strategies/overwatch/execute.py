"""Tools behind one door: `execute(tool_name, args)`. What a tool did not return is not there.

Three rules are kept here and nowhere else. A call for a tool that is not there, or with arguments
that it does not take, is refused before anything is sent. A tool that failed is told as failed. A
tool that answered with nothing is told as "No data available".

The tools are the run's search providers (`search` asks all of them, `search_NAME` one), its feeds,
and those tools of MCP servers that take more than a query. Each returns what was read as a source
with a snapshot, so that its findings can be quoted like any others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from deepdiver.core.record import Finding, Source
from deepdiver.core.sighting import sighting
from deepdiver.core.text import words
from deepdiver.errors import GatewayError, NotJournalledError
from deepdiver.strategies.shared.base import Deps, LookResult, Tool
from deepdiver.strategies.shared.findings import digest_finding
from deepdiver.strategies.shared.look import find_nearest, look_into, relevance_of
from deepdiver.tasks import ToolQuery, ToolShown
from deepdiver.tools.registry import Provider

SEARCH = "search"
"""The tool that asks every provider."""
NO_DATA = "No data available"
"""What an empty answer is told as."""
LONGEST = 400
"""Characters of an argument: more is no query but a text that lost its way."""
HIGH, MEDIUM = 0.7, 0.4
"""A finding is told with high or medium confidence from this credibility of its source on, else
with low."""


class ToolStatus(StrEnum):
    """What became of a call."""

    ANSWERED = "answered"
    """The tool returned something, and findings were made of it."""
    EMPTY = "empty"
    """The tool answered, and there is nothing to the point."""
    FAILED = "failed"
    """The tool gave no answer. Nothing is known about what there is."""
    REFUSED = "refused"
    """The call was not made: there is no such tool, or it does not take these arguments."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What became of a call, and what it brought."""

    tool: str
    """Name of the tool."""
    args: Mapping[str, str]
    """Its arguments."""
    status: ToolStatus
    """What became of it."""
    findings: tuple[str, ...] = ()
    """Ids of the findings."""
    message: str = ""
    """What a reader is told where nothing came of it."""
    sure: Mapping[str, str] = field(default_factory=dict)
    """How sure the tool is of a finding, where it says so of each."""

    @property
    def summary(self) -> str:
        """The call and what became of it, in one line."""
        asked = ", ".join(f"{name}={value}" for name, value in self.args.items())
        outcome = (
            self.message or f"{len(self.findings)} finding{'s' if len(self.findings) != 1 else ''}"
        )
        return f"{self.tool}({asked}): {outcome}"


@dataclass(frozen=True, slots=True)
class SearchTool:
    """A search, with one provider or all of them."""

    name: str
    """What it is called."""
    about: str
    """What it searches."""
    providers: tuple[Provider, ...]
    """Who is asked."""

    @property
    def shown(self) -> ToolShown:
        """Return what a reasoner is shown of it."""
        return ToolShown(
            name=self.name, about=self.about, arguments=("query: a short line of words and names",)
        )

    def fault(self, args: Mapping[str, str]) -> str:
        """Return why it does not take these arguments."""
        if extra := sorted(args.keys() - {"query"}):
            return f"it takes no argument {extra[0]!r}"
        query = args.get("query", "").strip()
        if not words(query):
            return "its argument 'query' holds no words"
        return (
            f"its argument 'query' is longer than {LONGEST} characters"
            if len(query) > LONGEST
            else ""
        )

    async def execute(
        self, deps: Deps, args: Mapping[str, str], question: str, about: str, known: Sequence[str]
    ) -> LookResult:
        """Search, read and extract."""
        return await look_into(
            deps, question, about, [args["query"]], known, providers=self.providers
        )


def tools_of(deps: Deps) -> tuple[Tool, ...]:
    """Return the tools of a run."""
    everyone = tuple(deps.providers)
    single = (SearchTool(f"{SEARCH}_{item.name}", item.about, (item,)) for item in everyone)
    all_of_them = "everything at once: " + ", ".join(item.name for item in everyone)
    return (SearchTool(SEARCH, all_of_them, everyone), *single, *deps.tools)


class ToolExecutor:
    """Calls tools for one question."""

    def __init__(
        self,
        deps: Deps,
        question: str,
        known: Sequence[str] = (),
        tools: Sequence[Tool] | None = None,
    ) -> None:
        """Take what every call needs.

        Args:
            deps: The run's dependencies.
            question: What the person asked.
            known: What is known already.
            tools: What can be called; by default the run's searches.
        """
        self._deps, self._question, self._known = deps, question, known
        self._tools = {
            tool.shown.name: tool for tool in (tools_of(deps) if tools is None else tools)
        }

    @property
    def definitions(self) -> tuple[ToolShown, ...]:
        """What a reasoner is shown of the tools."""
        return tuple(tool.shown for tool in self._tools.values())

    def refusal(self, tool_name: str, args: Mapping[str, str]) -> str:
        """Return why a call is not made; empty where it may be."""
        tool = self._tools.get(tool_name)
        return "there is no such tool" if tool is None else tool.fault(args)

    async def execute(self, tool_name: str, args: Mapping[str, str], about: str = "") -> ToolResult:
        """Call a tool; whatever becomes of it is told, and nothing is made up for it.

        Args:
            tool_name: Which.
            args: Its arguments.
            about: The part of the question that it is asked for.

        Raises:
            NotJournalledError: If a replay meets a call that the run never made.
        """
        if why := self.refusal(tool_name, args):
            message = self._deps.note_limit(f"{tool_name} was not called: {why}")
            return ToolResult(tool_name, args, ToolStatus.REFUSED, message=message)
        try:
            looked = await self._tools[tool_name].execute(
                self._deps, args, self._question, about or self._question, self._known
            )
        except NotJournalledError:
            raise
        except GatewayError as error:
            message = self._deps.note_limit(f"{tool_name} failed: {error}")
            return ToolResult(tool_name, args, ToolStatus.FAILED, message=message)
        if not looked.searched:
            why = "; ".join(looked.limits) or "there was no answer"
            return ToolResult(
                tool_name, args, ToolStatus.FAILED, message=f"{tool_name} failed: {why}"
            )
        if not looked.findings:
            message = "; ".join((NO_DATA, *looked.limits))
            return ToolResult(tool_name, args, ToolStatus.EMPTY, message=message)
        return ToolResult(tool_name, args, ToolStatus.ANSWERED, looked.findings, sure=looked.sure)


def type_finding(deps: Deps, key: str, question: str, rank: int, sure: str = "") -> dict[str, Any]:
    """Return a finding as the state carries it.

    Its source and type, when and where, how relevant and how sure.

    Args:
        deps: The run's dependencies.
        key: Id of the finding.
        question: What the person asked.
        rank: Its place in what its tool returned.
        sure: How sure the tool is of it; empty: by the credibility of its source.
    """
    finding = deps.ledger.get(Finding, key)
    source, quote = deps.ledger.get(Source, finding.quotes[0].source), finding.quotes[0]
    seen = sighting(finding, source, deps.store.texts.get(source.snapshot))
    spot = {"lat": seen.position.lat, "lon": seen.position.lon} if seen.position else {}
    if seen.position and seen.position.within_km:
        spot["within_km"] = seen.position.within_km
    score = source.credibility.score
    return {
        **digest_finding(deps, key),
        "source_type": source.intelligence or source.kind.value,
        "publisher": source.publisher,
        "timestamp": seen.timestamp or source.published,
        "moment": [seen.moment.start, seen.moment.end] if seen.moment else [],
        "location": {**spot, "places": list(seen.places)},
        "relevance_score": relevance_of(rank, question, f"{source.title} {quote.text}"),
        "confidence": sure or ("high" if score >= HIGH else "medium" if score >= MEDIUM else "low"),
    }


def make_calls(queries: Iterable[ToolQuery], parts: Sequence[str]) -> list[dict[str, Any]]:
    """Return a reasoner's calls as a state carries them.

    Args:
        queries: What the reasoner asks for.
        parts: The parts of the question, to find the one that each call is for.
    """
    return [
        {
            "tool": query.tool.strip(),
            "args": (args := {item.name: item.value for item in query.args}),
            "reason": query.reason,
            "about": find_nearest(" ".join((*args.values(), query.reason)), parts),
            "tests": [],
        }
        for query in queries
    ]


def make_searches(
    queries: Iterable[str], about: str, reason: str, tests: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """Return searches as a state carries them.

    Args:
        queries: What to search for.
        about: The part of the question, or the statement, that it is for.
        reason: Why.
        tests: Ids of the hypotheses that they are an attempt to refute.
    """
    return [
        {
            "tool": SEARCH,
            "args": {"query": query},
            "reason": reason,
            "about": about,
            "tests": list(tests),
        }
        for query in queries
    ]


def drop_repeated_calls(
    queries: Iterable[dict[str, Any]], made: Iterable[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return calls that neither were made nor stand twice.

    The order of their words makes no other call.

    A call that would refute several hypotheses is made once and counts for each.
    """
    done = {_call_key(query) for query in made}
    kept: dict[Any, dict[str, Any]] = {}
    for query in queries:
        own = _call_key(query)
        if own in kept:
            tests = dict.fromkeys((*kept[own]["tests"], *query["tests"]))
            kept[own] = {**kept[own], "tests": list(tests)}
        elif own not in done:
            kept[own] = query
    return list(kept.values())


def _call_key(query: Mapping[str, Any]) -> tuple[str, frozenset[tuple[str, frozenset[str]]]]:
    args = {(name, frozenset(words(str(value)))) for name, value in query["args"].items()}
    return str(query["tool"]), frozenset(args)


def list_calls(executed: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the calls that were made, each as the words of its arguments."""
    return list(dict.fromkeys(" ".join(map(str, query["args"].values())) for query in executed))
