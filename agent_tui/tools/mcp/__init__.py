"""Tools of MCP servers. The SDK is an extra, and loaded when a server is connected."""

from agent_tui.tools.mcp.background import Background
from agent_tui.tools.mcp.connection import ServerError, Snapshot
from agent_tui.tools.mcp.listing import RemotePrompt, RemoteTool
from agent_tui.tools.mcp.server import Server
from agent_tui.tools.mcp.targets import Endpoint, Program, Target

__all__ = [
    "Background",
    "Endpoint",
    "Program",
    "RemotePrompt",
    "RemoteTool",
    "Server",
    "ServerError",
    "Snapshot",
    "Target",
]
