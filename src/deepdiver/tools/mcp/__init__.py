"""Tools of the MCP servers that the settings file names.

A person approves them, runs call them through the gateway, and reports cite their results.
"""

from deepdiver.tools.mcp.result import McpResult
from deepdiver.tools.mcp.toolset import McpProvider, McpTool, McpToolset, connect

__all__ = ["McpProvider", "McpResult", "McpTool", "McpToolset", "connect"]
