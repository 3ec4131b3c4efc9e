"""What is installed of the engines, as JSON."""

from collections.abc import Sequence

import msgspec

from paddock.engines.protocol import Probe


class EngineView(msgspec.Struct, frozen=True):
    name: str
    installed: bool
    version: str
    path: str | None
    authenticated: bool | None
    login: str
    hints: Sequence[str]


def view_engine(probe: Probe) -> EngineView:
    path = str(probe.path) if probe.path else None
    return EngineView(probe.engine, probe.installed, probe.version, path, probe.authenticated, probe.login, probe.hints)
