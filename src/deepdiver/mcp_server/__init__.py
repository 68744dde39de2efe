"""deepdiver as an MCP server: research, reports, documents and feeds for any MCP client.

Needs the package `mcp`.
"""
