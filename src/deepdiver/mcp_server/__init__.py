"""deepdiver as an MCP server: research, reports, documents and feeds for any client.

Needs the package `mcp`.
"""
