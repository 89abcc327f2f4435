"""What programs that this one starts inherit: nothing that pays for the chat."""

from __future__ import annotations

from agent_tui.config import Settings
from agent_tui.tools.environment import for_commands


def child_environ(settings: Settings) -> dict[str, str]:
    """The variables of the start, without the keys that the settings or habit name."""
    providers, servers = settings.providers.values(), settings.mcp_servers.values()
    keys = {
        settings.api_key_env,
        *(provider.api_key_env for provider in providers),
        *(server.api_key_env for server in servers),
    }
    environ = for_commands(settings.environ)
    return {name: value for name, value in environ.items() if name not in keys}
