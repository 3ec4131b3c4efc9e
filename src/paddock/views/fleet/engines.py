"""What is installed of the engines, as JSON."""

from collections.abc import Sequence

import msgspec

from paddock.engines.protocol import Probe
from paddock.views.document import view_of


class EngineView(msgspec.Struct, frozen=True):
    """`mcp`: it is given the fleet's MCP server where `[mcp] agents` is set."""

    name: str
    installed: bool
    version: str
    path: str | None
    authenticated: bool | None
    login: str
    hints: Sequence[str]
    mcp: bool = False


def view_engine(probe: Probe) -> EngineView:
    return view_of(EngineView, probe, name=probe.engine, path=str(probe.path) if probe.path else None)
