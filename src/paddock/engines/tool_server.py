"""How CLIs are told of an MCP server that they start for one turn: each in its own form, none in the user's files.

The server's environment holds the attempt's token, so it goes into files of the attempt alone or is named, never into
arguments, which every user of the machine can read.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from paddock.engines.protocol import LaunchFile, ToolServer, TurnRequest

NAME = "paddock"
START_SECONDS = 60
CALL_SECONDS = 660
"""For one call: a little more than the longest wait for an answer or a lease."""


def servers_of(server: ToolServer, **more: object) -> dict[str, object]:
    """As most CLIs have it in their settings."""
    program, *arguments = server.argv
    return {NAME: {"command": program, "args": arguments, "env": dict(server.env), **more}}


def servers_file(request: TurnRequest, **more: object) -> tuple[LaunchFile, ...]:
    """A file of its own, for CLIs that are told where it is."""
    if request.tool_server is None:
        return ()
    return (LaunchFile(servers_path(request), json.dumps({"mcpServers": servers_of(request.tool_server, **more)})),)


def servers_path(request: TurnRequest) -> Path:
    return request.folder / "mcp.json"


def codex_overrides(server: ToolServer) -> list[str]:
    """`env_vars` are passed on from codex's own environment. Only for one that is required does codex wait before it
    asks its model, which would not hear of the tools otherwise."""
    program, *arguments = server.argv
    table = f"mcp_servers.{NAME}"
    return [
        f"{table}.command={json.dumps(program)}",
        f"{table}.args={json.dumps(arguments)}",
        f"{table}.env_vars={json.dumps(sorted(server.env))}",
        f"{table}.tool_timeout_sec={CALL_SECONDS}",
        f"{table}.required=true",
        f"{table}.startup_timeout_sec={START_SECONDS}",
    ]


def opencode_config(server: ToolServer, own: str) -> str:
    """The user's inline configuration with the server in it; as it is where it makes no sense to us."""
    try:
        config = json.loads(own) if own.strip() else {}
    except ValueError:
        return own
    if not isinstance(config, dict) or not isinstance(config.get("mcp", {}), dict):
        return own
    entry = {"type": "local", "command": list(server.argv), "environment": dict(server.env), "enabled": True}
    return json.dumps({**config, "mcp": {**config.get("mcp", {}), NAME: {**entry, "timeout": CALL_SECONDS * 1000}}})


def with_servers(settings: Mapping[str, object], request: TurnRequest, **more: object) -> str:
    """Settings of gemini and of those who come from it, as JSON."""
    if request.tool_server is None:
        return json.dumps(settings)
    return json.dumps({**settings, "mcpServers": servers_of(request.tool_server, timeout=CALL_SECONDS * 1000, **more)})
