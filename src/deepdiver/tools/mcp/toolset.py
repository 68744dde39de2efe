"""The tools of MCP servers that a run has: for searching, and for calling with arguments.

What a run may use is found out once, when it begins, in one journalled call: the servers, their
approved tools and the arguments of these. So a resumed run goes on with what it began with, and a
replay starts nothing. Before each call, the approvals of this machine are checked once more.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from pydantic import BaseModel, ConfigDict

from deepdiver.core.settings import McpServer, Settings
from deepdiver.errors import CallError, CallFault, GatewayError, NotJournalledError, SettingsError
from deepdiver.gateway import Gateway, Mode, Reply, Request
from deepdiver.gateway.prices import own_price
from deepdiver.tools.hit import Hit
from deepdiver.tools.mcp.approval import Approvals, ApprovalState
from deepdiver.tools.mcp.arguments import check_arguments
from deepdiver.tools.mcp.connection import Servers
from deepdiver.tools.mcp.definitions import ToolDefinition
from deepdiver.tools.mcp.listing import limits_of, list_servers, usable_tools, why_not_started
from deepdiver.tools.mcp.result import McpResult, read_result, save_long_texts
from deepdiver.tools.tool_argument import query_argument

SLACK = 30.0
"""Seconds that asking all servers may take beyond the deadline of each, for ending those that did
not answer."""


class ToolOffer(BaseModel):
    """A tool that a run may call, as it is journalled."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    server: str
    """The server's name in the settings."""
    definition: dict[str, Any]
    """The definition of the tool, as approved."""
    argument: str = ""
    """The argument that holds a query; empty if the tool is not a search."""
    fixed: dict[str, Any] = {}
    """Arguments that the settings fix for every call."""


class McpTool:
    """A tool of a server, for calling with arguments."""

    def __init__(self, offer: ToolOffer, servers: Servers) -> None:
        """Bind an offer to the connections of the run."""
        self._offer, self._servers = offer, servers
        self.definition = ToolDefinition.from_json(offer.definition)
        """Its definition in the server's words: data, never instruction."""
        self.server, self.tool = offer.server, self.definition.name
        self.name = f"{self.server}.{self.tool}"
        """Its name among the tools of a run; names of servers have no dot."""
        self.about = self.definition.line
        """Its purpose in the server's words, on one line of 300 characters."""
        self.schema = self.definition.schema
        """JSON schema of its arguments."""

    @property
    def arguments(self) -> tuple[str, ...]:
        """A line for each argument that is left to the caller."""
        shown = zip(self.definition.fields, self.definition.arguments(), strict=True)
        return tuple(line for name, line in shown if name not in self._offer.fixed)

    def checked(self, args: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of a call, with those that are fixed.

        Raises:
            ValueError: If the tool does not take them; says why in one line.
        """
        whole = {**args, **self._offer.fixed}
        check_arguments(self.schema, whole)
        return whole

    async def call(self, args: Mapping[str, Any], gateway: Gateway) -> McpResult:
        """Call the tool.

        Raises:
            ValueError: If it does not take these arguments; nothing was sent.
            GatewayError: If there is no answer.
        """
        given = self.checked(args)
        payload = {
            "server": self.server,
            "tool": self.tool,
            "args": given,
            "definition": self.definition.hash,
        }
        worst = own_price(gateway.settings, self.name) or Decimal(0)

        async def do() -> Reply:
            # A fixed argument may be a key, which the journal does not hold.
            own = self._approved(gateway.settings).arguments.get(self.tool, {})
            result, texts = await self._ask({**given, **own}, gateway)
            return Reply(
                result.model_dump(mode="json", exclude_defaults=True), cost=worst, texts=texts
            )

        reply = await gateway.call(
            Request("mcp", f"mcp:{self.server}", self.tool, payload, worst=worst), do
        )
        return McpResult.model_validate(reply.value)

    async def _ask(
        self, given: dict[str, Any], gateway: Gateway
    ) -> tuple[McpResult, tuple[str, ...]]:
        async with self._servers.connection(self.server) as connection:
            there = connection.tools.get(self.tool)
            if there is None or there.hash != self.definition.hash:
                raise CallError(
                    f"{self.name} changed since you approved it, and is disabled", CallFault.REQUEST
                )
            answer = await connection.call(self.tool, given)
        return await save_long_texts(read_result(answer, self.server, self.tool), gateway)

    def _approved(self, settings: Settings) -> McpServer:
        """Return the server if the tool is approved on this machine, which may be new to the run.

        Raises:
            CallError: If it is not approved.
        """
        server = settings.mcp.servers.get(self.server)
        try:
            state = (
                Approvals(settings.home).state(self.server, server, self.definition)
                if server
                else ApprovalState.NEW
            )
        except SettingsError as error:
            raise CallError(str(error), CallFault.REQUEST) from None
        if server is None or state is not ApprovalState.APPROVED:
            raise CallError(
                f"{self.name} is not approved here, and was not called: deepdiver mcp approve "
                f"{self.server}",
                CallFault.REQUEST,
            )
        return server


class McpProvider:
    """Searches by calling a tool of a server with the query."""

    def __init__(self, tool: McpTool, argument: str) -> None:
        """Wrap a tool whose argument of this name holds the query."""
        self._tool, self._argument = tool, argument
        self.name, self.about = tool.name, tool.about

    def missing(self, settings: Settings) -> str | None:
        """Return None: a tool is offered only if it can be used."""
        return None

    async def search(self, query: str, limit: int, gateway: Gateway) -> list[Hit]:
        """Call the tool.

        Raises:
            GatewayError: If there is no answer, or the tool says that it failed.
        """
        try:
            result = await self._tool.call({self._argument: query}, gateway)
        except ValueError as error:
            raise CallError(
                f"{self.name} does not take the query: {error}", CallFault.REQUEST
            ) from None
        if result.is_error:
            raise CallError(f"{self.name} says that it failed", CallFault.REQUEST)
        return list(result.hits)[:limit]


class McpToolset:
    """The tools of MCP servers that a run has."""

    def __init__(self, offers: list[ToolOffer], limits: list[str], servers: Servers) -> None:
        """Make tools and searches of what is offered."""
        self._servers = servers
        self.tools = tuple(McpTool(offer, servers) for offer in offers)
        """The tools, for calling with arguments."""
        self.providers = tuple(
            McpProvider(tool, offer.argument)
            for tool, offer in zip(self.tools, offers, strict=True)
            if offer.argument
        )
        """The tools that can search."""
        self.limits = tuple(limits)
        """Lines for the limits of the report: servers that failed, tools that are not approved or
        have changed."""

    async def call(
        self, server: str, tool: str, args: Mapping[str, Any], gateway: Gateway
    ) -> McpResult:
        """Call a tool by its names.

        Raises:
            ValueError: If it is not offered, or does not take these arguments; nothing was sent.
            GatewayError: If there is no answer.
        """
        found = next(
            (each for each in self.tools if (each.server, each.tool) == (server, tool)), None
        )
        if found is None:
            raise ValueError(f"there is no tool {tool!r} of an MCP server {server!r} in this run")
        return await found.call(args, gateway)

    async def close(self) -> None:
        """Close the connections and end the programs that were started."""
        await self._servers.close()


async def connect(settings: Settings, gateway: Gateway) -> McpToolset:
    """Find out what the servers of the settings offer.

    Only servers with an approved tool are started. They stay connected until the toolset is closed,
    with the run. In a resumed run, a server is connected when one of its tools is first called.

    Args:
        settings: Describe the servers.
        gateway: The gateway of the run.

    Returns:
        The tools: none if there are no servers, or if a run that is replayed had none.
    """
    servers = Servers(dict(settings.mcp.servers))
    if not settings.mcp.servers and gateway.mode is Mode.LIVE:
        return McpToolset([], [], servers)

    async def do() -> Reply:
        offers, limits = await _offers(settings, servers)
        return Reply(
            {"offers": [offer.model_dump(mode="json") for offer in offers], "limits": limits}
        )

    seconds = settings.deadlines.mcp and settings.deadlines.mcp + SLACK
    request = Request(
        "mcp",
        "mcp",
        "list the tools of MCP servers",
        {"list": "tools"},
        fresh=True,
        seconds=seconds,
    )
    try:
        found = (await gateway.call(request, do)).value
    except NotJournalledError:
        return McpToolset([], [], servers)
    except GatewayError as error:
        return McpToolset([], [f"MCP servers were not used: {error}"], servers)
    except BaseException:
        await servers.close()
        raise
    return McpToolset(
        [ToolOffer.model_validate(each) for each in found["offers"]], found["limits"], servers
    )


async def _offers(settings: Settings, servers: Servers) -> tuple[list[ToolOffer], list[str]]:
    try:
        approvals = Approvals(settings.home)
    except SettingsError as error:
        return [], [str(error)]
    refused = {
        name: why
        for name in settings.mcp.servers
        if (why := why_not_started(settings, approvals, name))
    }
    asked = [name for name in settings.mcp.servers if name not in refused]
    offers: list[ToolOffer] = []
    limits = list(refused.values())
    for listed in await list_servers(settings, asked, approvals, servers):
        limits += limits_of(settings, listed)
        offers += [_offer(settings, listed.server, tool) for tool in usable_tools(settings, listed)]
    return offers, list(dict.fromkeys(limits))


def _offer(settings: Settings, name: str, tool: ToolDefinition) -> ToolOffer:
    """Return the offer of a tool. It is a search if only a query is left to be given."""
    server = settings.mcp.servers[name]
    fixed = server.arguments.get(tool.name, {})
    free = {field: spec for field, spec in tool.fields.items() if field not in fixed}
    if argument := server.query.get(tool.name, ""):
        free = {field: spec for field, spec in free.items() if field == argument}
    try:
        argument = query_argument(tool.name, free, tool.required - fixed.keys())
    except ValueError:
        argument = ""
    return ToolOffer(server=name, definition=tool.json(), argument=argument, fixed=fixed)
