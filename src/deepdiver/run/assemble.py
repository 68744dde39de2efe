"""Assembling the dependencies of a run, once: settings in, `Deps` out.

`assemble` connects the parts without any call. `reach_outside` then finds out what is available
today: which providers answer, what MCP servers and feeds offer, what a library holds. All of that
is journalled, so a resumed run goes on with what it began with, and a replay makes no call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any, cast

from deepdiver.core.events import Event
from deepdiver.core.record import Run
from deepdiver.core.settings import Settings, check_rounds
from deepdiver.errors import NoEvidenceError, UnreachableError, UsageError
from deepdiver.gateway import Gateway, Mode
from deepdiver.gateway.prices import model_cost
from deepdiver.reason.choose import choose_reasoner
from deepdiver.run.detached import detached_gateway, ignore_event
from deepdiver.store import Store
from deepdiver.store.views import read_only, remember_texts
from deepdiver.strategies.shared.argument_tool import ArgumentTool
from deepdiver.strategies.shared.base import Deps, Tool
from deepdiver.strategies.shared.feed_tool import FeedTool, door_over_mcp
from deepdiver.strategies.shared.write_report import with_length
from deepdiver.strategies.table import TABLE, Strategy
from deepdiver.tasks import SEARCH, TASKS
from deepdiver.tools.langchain_tool import LangChainProvider, LangChainTool
from deepdiver.tools.mcp.toolset import McpToolset, connect
from deepdiver.tools.osint.registry import ask_feed, choose_feeds, usable_feeds
from deepdiver.tools.registry import Choice, Provider, choose, prepare, price_of, reached

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.tools import BaseTool

    from deepdiver.tasks import Reasoner

NOTHING_TO_SEARCH = (
    "there is nothing to search: give documents with --in PATH, set up a provider (deepdiver "
    "doctor says how), or try the bundled sample with --sample."
)


@dataclass(frozen=True, slots=True)
class OwnParts:
    """A caller's own model and tools, instead of those that the settings name."""

    models: Mapping[str, BaseChatModel] = field(default_factory=dict)
    """Chat models, by the names that the settings then hold."""
    reasoner: Reasoner | None = None
    """A reasoner instead of any model."""
    providers: Sequence[Provider] | None = None
    """The providers to search; None for those of the settings."""
    tools: Sequence[LangChainTool] = ()
    """Tools that take other arguments than a query, for a strategy that calls them."""
    changes: Mapping[str, Any] = field(default_factory=dict)
    """The settings that it changes."""


def own_parts_of(
    llm: BaseChatModel | Reasoner | None, tools: Sequence[BaseTool] | None, strategy: str
) -> OwnParts:
    """Return a caller's own model and tools; None leaves what the settings say.

    Raises:
        UsageError: If a tool takes other arguments than a query, and the strategy only searches.
    """
    from deepdiver.reason.models import name_of

    parts = OwnParts() if tools is None else _own_tools(tools, strategy)
    if llm is None:
        return parts
    if hasattr(llm, "perform"):
        return replace(parts, reasoner=cast("Reasoner", llm))
    name = name_of(llm)
    changes = {"model": name, "fast_model": "", "task_models": {}}
    return replace(parts, models={name: llm}, changes=changes)


def _own_tools(tools: Sequence[BaseTool], strategy: str) -> OwnParts:
    providers: list[Provider] = []
    others: list[LangChainTool] = []
    for tool in tools:
        try:
            providers.append(LangChainProvider(tool))
        except ValueError as error:
            if not TABLE[strategy].calls_tools:
                able = " or ".join(name for name, entry in TABLE.items() if entry.calls_tools)
                raise UsageError(
                    f"{error}; the strategy {strategy} gives a tool a query and nothing else. "
                    f"Use {able}, which calls tools with their arguments"
                ) from None
            others.append(LangChainTool(tool))
    own = {SEARCH, *(f"{SEARCH}_{provider.name}" for provider in providers)}
    if clash := next((tool.name for tool in others if tool.name in own), ""):
        raise UsageError(f"a tool of your own cannot be called {clash}: searches are. Rename it")
    return OwnParts(providers=providers, tools=others)


def choose_search(settings: Settings, own: OwnParts, mode: Mode = Mode.LIVE) -> Choice:
    """Return the providers of a run: the caller's own, or those that the settings name.

    Raises:
        UsageError: If a provider was named that cannot be used.
    """
    if own.providers is not None:
        return Choice(tuple(own.providers))
    return choose(settings, usable=mode is Mode.LIVE)


def unpriced(settings: Settings, choice: Choice) -> tuple[str, ...]:
    """Return the models and search providers of a run whose price is not known."""
    models = sorted({settings.model_for(task.name(), task.role) for task in TASKS})
    return (
        *(model for model in models if model_cost(settings, model, 1, 1) is None),
        *(entry.name for entry in choice.providers if price_of(entry, settings) is None),
    )


def assemble(
    run: Run,
    settings: Settings,
    store: Store,
    emit: Callable[[Event], None],
    choice: Choice,
    own: OwnParts,
    mode: Mode = Mode.LIVE,
) -> Deps:
    """Return the dependencies of a run, without any call.

    Args:
        run: The run.
        settings: Its settings.
        store: Where it is kept.
        emit: Receives its events.
        choice: The providers to search.
        own: The caller's own model and tools.
        mode: Whether it is run or replayed.

    Raises:
        NoEvidenceError: If there is nothing to search.
        UsageError: If a model or a feed was named that cannot be used, or if there is a budget and
            a price is not known.
    """
    entry, live = TABLE[run.strategy], mode is Mode.LIVE
    if not choice.providers and not choice.mcp:
        called = [f"{tool.name} cannot search: it takes no query alone" for tool in own.tools]
        left_out = "; ".join((*choice.left_out, *called))
        raise NoEvidenceError(f"{NOTHING_TO_SEARCH} {left_out}".strip())
    if entry.calls_tools and live:
        # Raises now if a feed that was named cannot be used.
        choose_feeds(settings, outside=_asks_outside(choice, own))
    # A run has one date: "the last week" must mean the same when it is resumed or replayed.
    today = settings.as_of or date.fromisoformat(run.created[:10])
    settings = settings.model_copy(update={"as_of": today})
    gateway = Gateway(store, run.id, settings, emit, mode=mode)
    reasoner = own.reasoner or choose_reasoner(settings, gateway, emit, own.models)
    rounds = _rounds(entry, settings)
    ceiling = _ceiling(entry, settings, reasoner, choice.providers)
    if ceiling is None and settings.budget is not None and live:
        names = ", ".join(provider.name for provider in choice.providers)
        raise UsageError(
            f"a budget needs prices, and one of {settings.model}, {names} has none: "
            "set it under [prices] in deepdiver.toml, or run without --budget"
        )
    return Deps(
        run=run,
        settings=settings,
        store=remember_texts(store if live else read_only(store)),
        gateway=gateway,
        reasoner=reasoner,
        providers=choice.providers,
        emit=emit,
        tools=[ArgumentTool(tool) for tool in own.tools],
        max_iterations=rounds,
        approve=settings.approve,
        ceiling=ceiling,
    )


def _rounds(entry: Strategy, settings: Settings) -> int:
    given = settings.max_iterations
    return entry.max_iterations if given is None else check_rounds(given)


def _ceiling(
    entry: Strategy, settings: Settings, reasoner: Reasoner, providers: Sequence[Provider]
) -> Decimal | None:
    rounds = _rounds(entry, settings)
    allowed = with_length(entry.allowance(rounds, settings.filters.results), settings)
    return allowed.ceiling(reasoner, [price_of(provider, settings) for provider in providers])


async def estimate_ceiling(
    settings: Settings, strategies: Iterable[str], store: Store
) -> Decimal | None:
    """Return the most that a run with these settings can cost, before there is one.

    Args:
        settings: Its settings.
        strategies: The strategies that it may have; the dearest counts.
        store: The store of the home. Nothing is written to it.

    Returns:
        The amount in US dollars; None if a price is not known.

    Raises:
        UsageError: If a model or a provider was named that cannot be used.
    """
    providers = choose(settings).providers
    async with detached_gateway(settings, store=store) as gateway:
        reasoner = choose_reasoner(settings, gateway, ignore_event)
        try:
            found = [_ceiling(TABLE[name], settings, reasoner, providers) for name in strategies]
        finally:
            if close := getattr(reasoner, "close", None):
                await close()
    known = [amount for amount in found if amount is not None]
    return max(known, default=None) if len(known) == len(found) else None


async def reach_outside(deps: Deps, choice: Choice, own: OwnParts) -> McpToolset:
    """Find out what a run can search and call today, and enter it into its `Deps`.

    The report will list what cannot be searched or called.

    Returns:
        The connected MCP servers, which the caller closes with the run.

    Raises:
        UnreachableError: If nothing that could be searched can be reached.
        UsageError: If a folder that was named does not exist.
    """
    servers = await connect(deps.settings, deps.gateway)
    try:
        found, absent = await reached(choice, deps.gateway)
        asked = [provider for provider in servers.providers if choice.takes(provider.name)]
        deps.providers, absent = [*found, *asked], [*absent, *servers.limits]
        if not deps.providers:
            raise UnreachableError(f"{NOTHING_TO_SEARCH} {'; '.join(absent)}")
        if TABLE[deps.run.strategy].calls_tools:
            found_tools, lacking = await _tools(deps, servers, choice, own)
            deps.tools = [*deps.tools, *found_tools]
            absent += [f"feed not asked: {line}" for line in lacking]
        for line in [*absent, *await prepare(deps.providers, deps.gateway)]:
            deps.note_limit(line)
    except BaseException:
        await servers.close()
        raise
    return servers


async def _tools(
    deps: Deps, servers: McpToolset, choice: Choice, own: OwnParts
) -> tuple[list[Tool], tuple[str, ...]]:
    """Return the feeds and the MCP tools that are not searches, and the feeds left out."""
    over = {tool.tool for tool in servers.tools if tool.server == deps.settings.mcp.feeds}
    usable = await usable_feeds(_asks_outside(choice, own), deps.gateway, over)
    door = door_over_mcp(servers, usable.server) if usable.server else ask_feed
    searches = {provider.name for provider in deps.providers}
    others = [
        tool for tool in servers.tools if choice.takes(tool.name) and tool.name not in searches
    ]
    tools = [tool for tool in others if tool.server != usable.server]
    return [*(FeedTool(feed, door) for feed in usable.feeds), *map(ArgumentTool, tools)], (
        usable.left_out
    )


def _asks_outside(choice: Choice, own: OwnParts) -> bool:
    """Return whether feeds may be asked that nobody named.

    A caller who passes in the tools to search has said what may be asked.
    """
    return own.providers is None and choice.outside
