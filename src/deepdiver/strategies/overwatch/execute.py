"""All tools behind one door, `execute(tool_name, args)`, which never makes up an answer.

Three rules are kept here and nowhere else. A call of an unknown tool, or with arguments that the
tool does not take, is refused before anything is sent. A tool that failed is reported as failed. A
tool that answered with nothing is reported as "No data available".

The tools are the run's search providers (`search` asks all of them, `search_NAME` one), its feeds,
and the tools of MCP servers that take more than a query. Each saves what it reads as a source with
a snapshot, so that its findings can be quoted like all others.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Any

from deepdiver.core.occurrence import occurrence_of
from deepdiver.core.record import Finding, Source, SourceKind
from deepdiver.core.settings import Filters
from deepdiver.core.text import words
from deepdiver.errors import GatewayError, NotJournalledError
from deepdiver.strategies.shared.base import Deps, LookResult, Tool
from deepdiver.strategies.shared.findings import digest_finding
from deepdiver.strategies.shared.look import look_into, relevance_of
from deepdiver.strategies.shared.reading import find_nearest
from deepdiver.tasks import SEARCH, ShownTool, ToolQuery
from deepdiver.tools.address import host_of
from deepdiver.tools.hit import Hit
from deepdiver.tools.registry import Provider
from deepdiver.tools.search_all import passes_filters

NO_DATA = "No data available"
"""The message for an empty answer."""
NOTHING_BEARS = "{}: of {} read, none says anything that bears on the question"
"""The message where something was found and read that has no findings."""
OLDER = "Some searches found nothing that was published since {}, so that older pages were read."
LONGEST = 400
"""The most characters of a query: a longer text is not a query."""
HIGH, MEDIUM = 0.7, 0.4
"""The credibility of a source from which on its findings have high or medium confidence."""


class ToolStatus(StrEnum):
    """The outcome of a call."""

    ANSWERED = "answered"
    """The tool returned something that has findings."""
    EMPTY = "empty"
    """The tool answered, with nothing that bears on the question."""
    FAILED = "failed"
    """The tool gave no answer, so nothing is known."""
    REFUSED = "refused"
    """The call was not made: the tool is unknown, or does not take these arguments."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a call."""

    tool: str
    """Name of the tool."""
    args: Mapping[str, str]
    """Its arguments."""
    status: ToolStatus
    """Its outcome."""
    findings: tuple[str, ...] = ()
    """Ids of the findings."""
    message: str = ""
    """Why there are no findings, for the reader."""
    sure: Mapping[str, str] = field(default_factory=dict)
    """How sure the tool is of each finding, if it says so."""

    @property
    def summary(self) -> str:
        """The call and its outcome, in one line."""
        asked = ", ".join(f"{name}={value}" for name, value in self.args.items())
        outcome = (
            self.message or f"{len(self.findings)} finding{'s' if len(self.findings) != 1 else ''}"
        )
        return f"{self.tool}({asked}): {outcome}"


@dataclass(frozen=True, slots=True)
class SearchTool:
    """A search, with one provider or all of them."""

    name: str
    """Its name."""
    about: str
    """What it searches."""
    providers: tuple[Provider, ...]
    """The providers that it asks."""
    since: date | None = None
    """The day before which pages were published that are left out; None: none are."""

    @property
    def shown(self) -> ShownTool:
        """Its description for the reasoner."""
        return ShownTool(
            name=self.name, about=self.about, arguments=("query: a short line of words and names",)
        )

    def fault(self, args: Mapping[str, str]) -> str:
        """Return why it does not take these arguments, or "" if it does."""
        if extra := sorted(args.keys() - {"query"}):
            return f"it takes no argument {extra[0]!r}"
        query = args.get("query", "").strip()
        if not words(query):
            return "its argument 'query' holds no words"
        if len(query) > LONGEST:
            return f"its argument 'query' is longer than {LONGEST} characters"
        return ""

    async def execute(
        self, deps: Deps, args: Mapping[str, str], question: str, about: str, known: Sequence[str]
    ) -> LookResult:
        """Search, read and extract.

        If nothing is left of what was found, older pages are read after all, and the report says
        so.
        """
        look = functools.partial(
            look_into,
            deps,
            question,
            about,
            [args["query"]],
            known,
            providers=self.providers,
            leads=False,
        )
        if self.since is None:
            return await look()
        looked = await look(wanted=self._may_tell)
        if looked.sources or not looked.searched:
            return looked
        looked = await look()  # of which the search is in the journal
        if looked.sources:
            deps.note_limit(OLDER.format(self.since))
        return looked

    def _may_tell(self, hit: Hit) -> bool:
        """Return whether a hit may tell of the period.

        Documents of the user's own are few, and were put there to be read.
        """
        return hit.kind is SourceKind.DOCUMENT or passes_filters(hit, Filters(since=self.since))


def tools_of(deps: Deps, since: date | None = None) -> tuple[Tool, ...]:
    """Return the tools of a run.

    Args:
        deps: The run's dependencies.
        since: The day before which pages were published that searches leave out.
    """
    everyone = tuple(deps.providers)
    single = (SearchTool(f"{SEARCH}_{item.name}", item.about, (item,), since) for item in everyone)
    all_of_them = "everything at once: " + ", ".join(item.name for item in everyone)
    return (SearchTool(SEARCH, all_of_them, everyone, since), *single, *deps.tools)


class ToolExecutor:
    """Calls tools for one question."""

    def __init__(
        self,
        deps: Deps,
        question: str,
        known: Sequence[str] = (),
        tools: Sequence[Tool] | None = None,
    ) -> None:
        """Hold what every call needs.

        Args:
            deps: The run's dependencies.
            question: What the person asked.
            known: What is known already.
            tools: The tools; by default those of the run.
        """
        self._deps, self._question, self._known = deps, question, known
        self._tools = {
            tool.shown.name: tool for tool in (tools_of(deps) if tools is None else tools)
        }

    @property
    def names(self) -> Collection[str]:
        """The names of the tools."""
        return self._tools.keys()

    @property
    def definitions(self) -> tuple[ShownTool, ...]:
        """The descriptions of the tools for the reasoner, without a second name for the search."""
        alone = self._deps.providers[0].name if len(self._deps.providers) == 1 else ""
        return tuple(
            tool.shown for name, tool in self._tools.items() if name != f"{SEARCH}_{alone}"
        )

    def refusal(self, tool_name: str, args: Mapping[str, str]) -> str:
        """Return why a call cannot be made, or "" if it can."""
        tool = self._tools.get(tool_name)
        return "there is no such tool" if tool is None else tool.fault(args)

    async def execute(self, tool_name: str, args: Mapping[str, str], about: str = "") -> ToolResult:
        """Call a tool and return the result, whatever it is.

        Args:
            tool_name: Its name.
            args: Its arguments.
            about: The part of the question that the call is for.

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
            read = len(looked.sources)
            sources = "1 source" if read == 1 else f"{read} sources"
            none = NOTHING_BEARS.format(NO_DATA, sources) if read else NO_DATA
            message = "; ".join((none, *looked.limits))
            return ToolResult(tool_name, args, ToolStatus.EMPTY, message=message)
        return ToolResult(tool_name, args, ToolStatus.ANSWERED, looked.findings, sure=looked.sure)


def type_finding(deps: Deps, key: str, question: str, rank: int, sure: str = "") -> dict[str, Any]:
    """Return a finding as the state carries it, with type, time, place, relevance and confidence.

    Its `content` has title, address and date of what was read, the statement, and the fields of a
    feed's row.

    Args:
        deps: The run's dependencies.
        key: Id of the finding.
        question: What the person asked.
        rank: Its place in the tool's answer.
        sure: How sure the tool is of it; if empty, the credibility of its source decides.
    """
    finding = deps.ledger.get(Finding, key)
    source, quote = deps.ledger.get(Source, finding.quotes[0].source), finding.quotes[0]
    text = deps.store.texts.get(source.snapshot)
    seen = occurrence_of(finding, source, text)
    spot = {"lat": seen.position.lat, "lon": seen.position.lon} if seen.position else {}
    if seen.position and seen.position.within_km:
        spot["within_km"] = seen.position.within_km
    score = source.credibility.score
    when = seen.timestamp or source.published
    return {
        **digest_finding(deps, key),
        "source": source.publisher or host_of(source.url) or source.title,
        "source_id": source.id,
        "source_type": source.intelligence or source.kind.value,
        "timestamp": when,
        "content": {
            **_data_of(source, text, quote.passage.end),
            "title": source.title,
            "url": source.url,
            "date": when,
            "text": finding.statement,
        },
        "moment": [seen.moment.start, seen.moment.end] if seen.moment else [],
        "location": {**spot, "places": list(seen.places)},
        "relevance_score": relevance_of(rank, question, f"{source.title} {quote.text}"),
        "confidence": sure or ("high" if score >= HIGH else "medium" if score >= MEDIUM else "low"),
    }


def _data_of(source: Source, text: str, end: int) -> dict[str, Any]:
    """Return the fields of a feed's row, which its snapshot has on the line after the sentence."""
    line = text[end:].removeprefix("\n").partition("\n")[0]
    if source.kind is not SourceKind.FEED or not line.startswith("{"):
        return {}
    try:
        data = json.loads(line)
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}


def make_calls(
    queries: Iterable[ToolQuery], parts: Sequence[str], tools: Collection[str] = ()
) -> list[dict[str, Any]]:
    """Return a reasoner's calls as the state carries them.

    Args:
        queries: The calls that the reasoner asks for.
        parts: The parts of the question, of which each call is for one.
        tools: The names of the tools. If they are given, a call without arguments of something
            that is none of them is a search for these words.
    """
    made = []
    for query in queries:
        tool, args = query.tool.strip(), {item.name: item.value for item in query.args}
        if tools and not args and tool not in tools and words(tool):
            tool, args = SEARCH, {"query": tool}
        about = find_nearest(" ".join((*args.values(), query.reason)), parts)
        call = {"tool": tool, "args": args, "reason": query.reason, "about": about, "tests": []}
        made.append(call)
    return made


def make_searches(
    queries: Iterable[str], about: str, reason: str, tests: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """Return searches as the state carries them.

    Args:
        queries: What to search for.
        about: The part of the question, or the statement, that they are for.
        reason: Why they are made.
        tests: Ids of the hypotheses that they try to refute.
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


def make_searches_for(
    queries: Iterable[str], parts: Sequence[str], reason: str = ""
) -> list[dict[str, Any]]:
    """Return searches as the state carries them, each for the part that it is nearest to.

    Args:
        queries: What to search for.
        parts: The parts of the question.
        reason: Why they are made.
    """
    return [
        call
        for text in queries
        for call in make_searches([text], find_nearest(text, parts), reason)
    ]


def drop_repeated_calls(
    queries: Iterable[dict[str, Any]], made: Iterable[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return the calls that were not made before, each once; the order of words does not matter.

    A call that would refute several hypotheses is made once and counts for each of them.
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
