"""A well-behaved MCP server made with the `mcp` package, over stdio, or HTTP on a given port."""

from __future__ import annotations

import sys
from typing import Annotated

from mcp.server.mcpserver import MCPServer
from pydantic import BaseModel, Field

server = MCPServer("archive")


class Record(BaseModel):
    title: str
    text: str


@server.tool()
def search_archive(
    query: Annotated[str, Field(description="words to look for")], limit: int = 3
) -> list[Record]:
    """Search the archive of a town."""
    return [
        Record(title=f"Paper {n}", text=f"Paper {n} of the archive tells of {query}.")
        for n in range(1, limit + 1)
    ]


@server.tool()
def distance(start: str, end: str, unit: str = "km") -> str:
    """Say how far two places are apart."""
    if start == end:
        raise ValueError("they are one place")
    return f"From {start} to {end} it is 42 {unit}."


if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
    else:
        server.run("stdio")
