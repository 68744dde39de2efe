"""Tools of MCP servers that the settings file names.

Approved by a person, called through the gateway, cited.
"""

from deepdiver.tools.mcp.provider import Connected, McpProvider, McpTool, connect
from deepdiver.tools.mcp.result import McpResult

__all__ = ["Connected", "McpProvider", "McpResult", "McpTool", "connect"]
