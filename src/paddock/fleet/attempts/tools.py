"""The tools that an agent gets of Paddock for its turn: `paddock mcp`, where the configuration wants it."""

import sys
from collections.abc import Mapping
from importlib.util import find_spec

from paddock.core.errors import PaddockError
from paddock.engines.protocol import Engine, ToolServer
from paddock.fleet.attempts.answer_files import ANSWER_VARIABLE
from paddock.fleet.desk.wire import DESK_VARIABLE
from paddock.fleet.site import Site
from paddock.fleet.worker_token import TOKEN_VARIABLE

_NEEDED = (DESK_VARIABLE, TOKEN_VARIABLE, ANSWER_VARIABLE, "PADDOCK_TASK", "PADDOCK_WORKTREE")


def tool_server(site: Site, engine: Engine, environment: Mapping[str, str]) -> ToolServer | None:
    """`paddock mcp` with what it needs to know whose it is. Raises PaddockError where it is not installed."""
    if not site.config.mcp.agents or not engine.capabilities.mcp:
        return None
    if find_spec("mcp") is None:
        raise PaddockError(
            "`[mcp] agents = true` needs the MCP server, which is not installed",
            "install it with `pip install 'paddock[mcp]'`",
        )
    return ToolServer(
        (sys.executable, "-P", "-m", "paddock", "mcp"),
        {name: environment[name] for name in _NEEDED if name in environment},
    )
