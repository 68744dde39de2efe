"""Connections to servers, each in a task of its own, so that a fault of one costs only itself."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from deepdiver.core.settings import McpServer
from deepdiver.errors import CallError, CallFault
from deepdiver.tools.http import fault_of
from deepdiver.tools.mcp.definitions import ToolDefinition
from deepdiver.tools.mcp.monitor import Monitor

if TYPE_CHECKING:
    from mcp import Client
    from mcp.shared.exceptions import MCPError
    from mcp.types import CallToolResult, Tool

T = TypeVar("T")
STARTS = 3
"""How often a server is started or connected to in one run; then it is given up."""
PAGES = 20
"""Pages of a server's list of tools that are read."""
MOST_TOOLS = 500
CLOSING = 12.0
"""Seconds after which a connection that does not close is cancelled; its own steps take less."""
NOT_INSTALLED = "MCP servers need the mcp package: install deepdiver-research[mcp]"

# The package logs what servers say, and without a handler that would reach the screen.
for _name in ("mcp", "client"):
    logging.getLogger(_name).addHandler(logging.NullHandler())


class Connection:
    """A connection to a server."""

    def __init__(self, name: str, server: McpServer) -> None:
        """Prepare a connection; nothing is started yet."""
        self.name, self.server = name, server
        self.tools: dict[str, ToolDefinition] = {}
        """The tools that the server listed when it was connected to, by name."""
        self.notes: list[str] = []
        """A line for each tool that cannot be used at all."""
        self._monitor = Monitor(name)
        self._client: Client | None = None
        self._task: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._ready = asyncio.Event()
        self._stop = asyncio.Event()

    @property
    def alive(self) -> bool:
        """Whether it can be used."""
        return self._client is not None and self._monitor.error is None and not self._stop.is_set()

    @property
    def last_words(self) -> str:
        """The last line that the program wrote to stderr."""
        lines = self._monitor.stderr.decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else ""

    async def open(self) -> None:
        """Connect, and read the list of tools.

        Raises:
            CallError: If that fails.
        """
        self._task = asyncio.create_task(self._serve())
        # The exception is retrieved here, and raised to whoever waits for an answer.
        self._task.add_done_callback(lambda task: task.cancelled() or task.exception())
        await self._or_over(self._ready.wait())

    async def call(self, tool: str, arguments: dict[str, Any]) -> CallToolResult:
        """Call a tool.

        Raises:
            CallError: If there is no valid answer.
        """
        from mcp.types import (
            CallToolRequest,
            CallToolRequestParams,
            CallToolResult,
            InputRequiredResult,
        )
        from pydantic import TypeAdapter

        if self._client is None:
            raise self._lost()
        self._monitor.begin_call()
        request = CallToolRequest(params=CallToolRequestParams(name=tool, arguments=arguments))
        kinds: TypeAdapter[Any] = TypeAdapter(CallToolResult | InputRequiredResult)
        answer = await self._or_over(self._client.session.send_request(request, kinds))
        if not isinstance(answer, CallToolResult):
            raise CallError(
                f"MCP server {self.name} asks for input, which is refused", CallFault.REQUEST
            )
        return answer

    async def close(self, why: str = "") -> None:
        """Close the connection; afterwards no process of a program is left.

        Args:
            why: Why the server is not waited for; empty if it may end by itself.
        """
        # A connection that is ready or has failed ends by itself.
        ending = self._ready.is_set() or self._monitor.error is not None
        if why:
            self._monitor.fail(why, CallFault.NETWORK)
        self._stop.set()
        if not isinstance(self._task, asyncio.Task):
            return
        if not ending:
            self._task.cancel()  # it waits for an answer that may never come
        _, late = await asyncio.wait([self._task], timeout=CLOSING)
        if late:
            self._task.cancel()
            await asyncio.wait([self._task], timeout=CLOSING)

    async def _serve(self) -> None:
        """Connect, and hold the connection until it is over.

        The package requires that it begins and ends in one task.
        """
        try:
            from mcp import Client
            from mcp.types import Implementation
        except ImportError:
            raise CallError(NOT_INSTALLED, CallFault.REQUEST) from None
        # Servers do not learn our version.
        info = Implementation(name="deepdiver", version="0")
        try:
            # Without callbacks, requests for sampling, elicitation and roots are refused.
            async with Client(self._transport(), client_info=info, cache=None) as client:
                await self._list(client)
                self._client = client
                self._ready.set()
                await self._ended()
        except Exception as error:
            raise self._fault(error) from error
        finally:
            self._client = None

    async def _ended(self) -> None:
        ends = [asyncio.create_task(event.wait()) for event in (self._stop, self._monitor.over)]
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for end in ends:
                end.cancel()

    @asynccontextmanager
    async def _transport(self) -> AsyncIterator[Any]:
        if self.server.command:
            from deepdiver.tools.mcp.stdio import stdio_transport as transport
        else:
            from deepdiver.tools.mcp.http import http_transport as transport
        async with transport(self.server, self._monitor) as streams:
            yield streams

    async def _list(self, client: Client) -> None:
        from mcp.types import PaginatedRequestParams

        cursor: str | None = None
        for _ in range(PAGES):
            page = await client.session.list_tools(params=PaginatedRequestParams(cursor=cursor))
            for tool in page.tools:
                self._add(tool)
            cursor = page.next_cursor
            if not cursor or len(self.tools) + len(self.notes) > MOST_TOOLS:
                return

    def _add(self, tool: Tool) -> None:
        try:
            definition = ToolDefinition.from_tool(tool)
            if definition.name in self.tools:
                raise ValueError(f"{definition.name} is listed twice")
            self.tools[definition.name] = definition
        except ValueError as error:
            self.notes.append(str(error))

    async def _or_over(self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for something, or for the end of the connection.

        Raises:
            CallError: If it failed, or the connection ended first.
        """
        asked = asyncio.ensure_future(work)
        try:
            either: list[asyncio.Future[Any]] = [asked, self._task]
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if asked.done():
                return asked.result()
            if not self._task.cancelled():
                self._task.result()  # raises why it is over
            raise self._lost()
        except CallError:
            raise
        except Exception as error:
            raise self._fault(error) from error
        finally:
            if not asked.done():
                asked.cancel()
                await asyncio.wait([asked])

    def _lost(self) -> CallError:
        return self._monitor.error or CallError(
            f"MCP server {self.name} is closed", CallFault.NETWORK
        )

    def _fault(self, error: BaseException) -> CallError:
        """Return the error for an exception.

        The server's own words are not repeated: they may be written to be obeyed.
        """
        if self._monitor.error is not None:
            return self._monitor.error
        status = self._monitor.status
        if status == 404 and self._ready.is_set():  # by the protocol: begin a new session
            self._monitor.fail("has forgotten us", CallFault.NETWORK)
            return self._lost()
        if status >= 300:
            return _status_fault(self.name, status)
        causes = list(_leaves(error))
        known = next((cause for cause in causes if isinstance(cause, CallError)), None)
        return known or _cause_fault(self.name, causes)


def _status_fault(name: str, status: int) -> CallError:
    fault = fault_of(status)
    hint = ": check its key" if fault is CallFault.AUTH else ""
    if status < 400:
        hint = ": it is elsewhere; correct its url"
    return CallError(f"MCP server {name} answered {status}{hint}", fault)


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error


def _cause_fault(name: str, causes: list[BaseException]) -> CallError:
    from mcp.shared.exceptions import MCPError
    from pydantic import ValidationError

    for cause in causes:
        if isinstance(cause, MCPError):
            return _protocol_fault(name, cause)
        if isinstance(cause, ValidationError):
            return CallError(
                f"MCP server {name} answered in a form that is not the protocol's",
                CallFault.MALFORMED,
            )
        if isinstance(cause, OSError):
            return CallError(
                f"MCP server {name} was lost: {type(cause).__name__}", CallFault.NETWORK
            )
    return CallError(
        f"MCP server {name} cannot be spoken with ({type(causes[0]).__name__})", CallFault.MALFORMED
    )


def _protocol_fault(name: str, error: MCPError) -> CallError:
    from mcp.types import CONNECTION_CLOSED, INTERNAL_ERROR, PARSE_ERROR

    if error.code == CONNECTION_CLOSED:
        return CallError(f"MCP server {name} ended before it answered", CallFault.NETWORK)
    faults = {INTERNAL_ERROR: CallFault.SERVER, PARSE_ERROR: CallFault.MALFORMED}
    return CallError(
        f"MCP server {name} answered with the error {error.code}",
        faults.get(error.code, CallFault.REQUEST),
    )


class Servers:
    """The connections of one run: each is made when it is first needed, all are closed with it."""

    def __init__(self, servers: dict[str, McpServer]) -> None:
        """Take the servers of the settings; nothing is started yet."""
        self._servers = servers
        self._open: dict[str, Connection] = {}
        self._starts: dict[str, int] = {}
        self._locks = {name: asyncio.Lock() for name in servers}
        self.last_words: dict[str, str] = {}
        """What programs that have ended last wrote to stderr, for their owner."""

    @asynccontextmanager
    async def connection(self, name: str) -> AsyncIterator[Connection]:
        """Yield the connection to a server.

        If the block is cancelled, the server did not answer in time, and the connection is closed.

        Raises:
            CallError: If there is no connection.
        """
        if name not in self._servers:
            raise CallError(f"there is no MCP server {name} in the settings", CallFault.REQUEST)
        try:
            yield await self._opened(name)
        except asyncio.CancelledError:
            held = self._open.get(name)
            if held is not None and (held.server.command or not held.alive):
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.shield(self._drop(name, held))
            raise

    async def _opened(self, name: str) -> Connection:
        async with self._locks[name]:
            held = self._open.get(name)
            if held is not None and held.alive:
                return held
            if held is not None:
                await self._drop(name, held)
            if self._starts.get(name, 0) >= STARTS:
                raise CallError(
                    f"MCP server {name} was lost {STARTS} times in this run and is not tried again",
                    CallFault.REQUEST,
                )
            self._starts[name] = self._starts.get(name, 0) + 1
            made = self._open[name] = Connection(name, self._servers[name])
            try:
                await made.open()
            except CallError:
                await self._drop(name, made)
                raise
            return made

    async def _drop(self, name: str, held: Connection) -> None:
        if self._open.get(name) is held:
            del self._open[name]
        await held.close("did not answer in time, or was lost")
        self.last_words[name] = held.last_words

    async def close(self) -> None:
        """Close all of them."""
        held, self._open = list(self._open.values()), {}
        await asyncio.gather(*(connection.close() for connection in held))
