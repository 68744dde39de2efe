"""The tools of MCP servers, for every strategy.

As searches, and as tools that are called with arguments.

What a run may use is found out once, when it begins, in one journalled call: which servers there
are, which of their tools are approved and what they take. So a resumed run goes on with what it
began with, and a replay starts nothing. Each call is checked against the approvals of this machine
once more before it is made.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from pydantic import BaseModel, ConfigDict

from deepdiver.core.settings import McpServer, Settings
from deepdiver.errors import CallError, CallFault, GatewayError, NotJournalledError, SettingsError
from deepdiver.gateway import Gateway, Mode, Reply, Request
from deepdiver.gateway.prices import search_cost
from deepdiver.tools.calling import query_argument
from deepdiver.tools.hit import Hit
from deepdiver.tools.mcp.approval import Approvals, State
from deepdiver.tools.mcp.arguments import check
from deepdiver.tools.mcp.connection import Servers
from deepdiver.tools.mcp.definitions import Definition
from deepdiver.tools.mcp.result import McpResult, read_result, saved
from deepdiver.tools.mcp.survey import limits_of, survey, unapproved, wanted

SLACK = 30.0
"""Seconds that asking all servers may take beyond the deadline of each: for ending those that did
not answer."""


class Offer(BaseModel):
    """A tool that a run may call, as it is journalled."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    server: str
    """The server's name in the settings."""
    definition: dict[str, Any]
    """What the server says of the tool, as approved."""
    argument: str = ""
    """The argument that holds a query; empty: it is no search."""
    fixed: dict[str, Any] = {}
    """Arguments that it is always called with."""


class McpTool:
    """A tool of a server, to be called with arguments."""

    def __init__(self, offer: Offer, servers: Servers) -> None:
        """Bind an offer to the connections of the run."""
        self._offer, self._servers = offer, servers
        self.definition = Definition.read(offer.definition)
        """What the server says of it: data, never instruction."""
        self.server, self.tool = offer.server, self.definition.name
        self.name = f"{self.server}.{self.tool}"
        """What it is called among the tools of a run; no server's name holds a dot."""
        self.about = self.definition.line
        """What it does, in one line of 300 characters, in the server's words."""
        self.schema = self.definition.schema
        """JSON schema of its arguments."""

    @property
    def arguments(self) -> tuple[str, ...]:
        """Each argument that is left to the caller, and what it is."""
        shown = zip(self.definition.fields, self.definition.arguments(), strict=True)
        return tuple(line for name, line in shown if name not in self._offer.fixed)

    def checked(self, args: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of a call, with those that are always given.

        Raises:
            ValueError: If the tool does not take them; says in one line why.
        """
        whole = {**args, **self._offer.fixed}
        check(self.schema, whole)
        return whole

    async def call(self, args: Mapping[str, Any], gateway: Gateway) -> McpResult:
        """Call it.

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
        worst = search_cost(gateway.settings, self.name) or Decimal(0)

        async def do() -> Reply:
            # Among what the settings always give may be a key, which the journal does not hold.
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
            told = await connection.call(self.tool, given)
        return await saved(read_result(told, self.server, self.tool), gateway)

    def _approved(self, settings: Settings) -> McpServer:
        """Return its server, if the tool is approved on this machine.

        The run may have begun on another.

        Raises:
            CallError: If it is not.
        """
        server = settings.mcp.servers.get(self.server)
        try:
            state = (
                Approvals(settings.home).state(self.server, server, self.definition)
                if server
                else State.NEW
            )
        except SettingsError as error:
            raise CallError(str(error), CallFault.REQUEST) from None
        if server is None or state is not State.APPROVED:
            hint = f"deepdiver mcp approve {self.server}"
            raise CallError(
                f"{self.name} is not approved here, and was not called: {hint}", CallFault.REQUEST
            )
        return server


class McpProvider:
    """Searches by calling a tool of a server with the query."""

    def __init__(self, tool: McpTool, argument: str) -> None:
        """Wrap a tool whose argument of this name holds the query."""
        self._tool, self._argument = tool, argument
        self.name, self.about = tool.name, tool.about

    def missing(self, settings: Settings) -> str | None:
        """Nothing: it is offered because it can be used."""
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


class Connected:
    """What a run has of MCP servers."""

    def __init__(self, offers: list[Offer], limits: list[str], servers: Servers) -> None:
        """Put together what is offered."""
        self._servers = servers
        self.tools = tuple(McpTool(offer, servers) for offer in offers)
        """The tools, to be called with arguments."""
        self.providers = tuple(
            McpProvider(tool, offer.argument)
            for tool, offer in zip(self.tools, offers, strict=True)
            if offer.argument
        )
        """Those of them that can search."""
        self.limits = tuple(limits)
        """What must be said in the report: servers that failed, tools that are not approved or
        changed."""

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
        """Close the connections, and end the programs that were started."""
        await self._servers.close()


async def connect(settings: Settings, gateway: Gateway) -> Connected:
    """Find out what the servers of the settings offer.

    Only servers are started of which something is approved. They stay connected, those that a
    resumed run needs are connected again when they are first called, and all are to be closed with
    the run.

    Args:
        settings: Describe the servers.
        gateway: The run's door.

    Returns:
        What the run has of them: nothing where there are none, or where a run that is replayed knew
        none.
    """
    servers = Servers(dict(settings.mcp.servers))
    if not settings.mcp.servers and gateway.mode is Mode.LIVE:
        return Connected([], [], servers)

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
        return Connected([], [], servers)
    except GatewayError as error:
        return Connected([], [f"MCP servers were not used: {error}"], servers)
    except BaseException:
        await servers.close()
        raise
    return Connected(
        [Offer.model_validate(each) for each in found["offers"]], found["limits"], servers
    )


async def _offers(settings: Settings, servers: Servers) -> tuple[list[Offer], list[str]]:
    try:
        approvals = Approvals(settings.home)
    except SettingsError as error:
        return [], [str(error)]
    refused = {
        name: why for name in settings.mcp.servers if (why := unapproved(settings, approvals, name))
    }
    asked = [name for name in settings.mcp.servers if name not in refused]
    offers: list[Offer] = []
    limits = list(refused.values())
    for listed in await survey(settings, asked, approvals, servers):
        limits += limits_of(settings, listed)
        offers += [_offer(settings, listed.server, made) for made in wanted(settings, listed)]
    return offers, list(dict.fromkeys(limits))


def _offer(settings: Settings, name: str, made: Definition) -> Offer:
    """Return what is journalled of a tool.

    It is a search if nothing but a query is left to be given.
    """
    server = settings.mcp.servers[name]
    fixed = server.arguments.get(made.name, {})
    free = {field: spec for field, spec in made.fields.items() if field not in fixed}
    if argument := server.query.get(made.name, ""):
        free = {field: spec for field, spec in free.items() if field == argument}
    try:
        argument = query_argument(made.name, free, made.required - fixed.keys())
    except ValueError:
        argument = ""
    return Offer(server=name, definition=made.json(), argument=argument, fixed=fixed)
