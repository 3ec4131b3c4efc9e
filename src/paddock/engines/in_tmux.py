"""An engine whose turns run in its CLI's own terminal, in a tmux server of the turn's own.

For CLIs without a headless mode, and for people who want to watch.
"""

import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace

import msgspec
from msgspec.structs import replace as with_fields

from paddock.core.errors import Misuse, PaddockError
from paddock.engines.bridge_lines import BridgeParser
from paddock.engines.protocol import Capabilities, Engine, Launch, LaunchFile, Parser, Probe, TurnRequest
from paddock.engines.session_text import SessionTextParser
from paddock.engines.settings import EngineSettings
from paddock.engines.tmux_order import TmuxOrder, order_file, terminal_folder, tmux_socket


def in_mode(engine: Engine, settings: EngineSettings, mode: str) -> Engine:
    """The engine as an agent of that mode runs it. Raises PaddockError where the engine or the machine cannot."""
    if mode == "tmux":
        _find_tmux(os.environ)
        return InTmux(engine, settings)
    if not engine.capabilities.headless:
        raise Misuse(
            f"engine `{engine.name}` has no `command`: it runs in a terminal only",
            f'set `mode = "tmux"` for the agent, or `command = ["…"]` in [engines.{engine.name}]',
        )
    return engine


def _find_tmux(env: Mapping[str, str]) -> str:
    found = shutil.which("tmux", path=env.get("PATH"))
    if found is None:
        raise PaddockError(
            "an agent of mode `tmux` cannot run: tmux is not installed",
            'install it with your package manager, or set `mode = "headless"` for the agent',
        )
    return found


@dataclass(frozen=True, slots=True)
class InTmux:
    """Raises Misuse for an engine that has no terminal. `settings` are the inner engine's."""

    inner: Engine
    settings: EngineSettings

    def __post_init__(self) -> None:
        if not self.inner.capabilities.interactive:
            raise Misuse(
                f"engine `{self.name}` has no interactive mode to run in tmux",
                f'set `mode = "headless"` for the agent, or `interactive = ["…"]` in [engines.{self.name}]',
            )

        if self.inner.session_parser() is None:
            raise Misuse(
                f"engine `{self.name}` cannot run in tmux: nothing tells what arrives in its conversation",
                f'set `session_log = "~/…"` in [engines.{self.name}] to the file it keeps, or `mode = "headless"`',
            )

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def capabilities(self) -> Capabilities:
        is_told = not isinstance(self.inner.session_parser(), SessionTextParser)
        return replace(
            self.inner.capabilities,
            final_event=True,
            greets=True,
            streams=is_told,
            usage=is_told and self.inner.capabilities.usage,
            cost=False,
            listens=True,
        )

    def launch(self, request: TurnRequest) -> Launch:
        launch = self.inner.interactive(request)
        if launch is None:
            raise PaddockError(f"engine `{self.name}` has no interactive mode", 'set `mode = "headless"` for the agent')
        tmux = _find_tmux(launch.env)
        socket = tmux_socket(request.folder, request.turn)
        file = LaunchFile(order_file(request), self._order(request, launch, str(socket)))
        argv = (sys.executable, "-I", "-m", "paddock.bridges.tmux", str(file.path))
        return replace(
            launch,
            argv=argv,
            env={**launch.env, "TERM": "xterm-256color"},
            files=(*launch.files, file),
            session_log="",
            writes=(*launch.writes, terminal_folder(request.folder)),
            mailbox=request.mailbox,
            programs=(launch.argv[0], tmux),
        )

    def _order(self, request: TurnRequest, launch: Launch, socket: str) -> str:
        chosen = request.new_session_id if self.inner.capabilities.chooses_session_id else None
        order = TmuxOrder(
            engine=self.name,
            settings=with_fields(self.settings, set={}),
            argv=launch.argv,
            cwd=str(launch.cwd),
            socket=socket,
            prompt=request.prompt,
            session_log=launch.session_log,
            session=request.session_id or chosen or "",
            resumed=request.session_id is not None,
            mailbox=str(request.mailbox or ""),
            messages=request.messages,
        )
        return msgspec.json.encode(order).decode()

    def interactive(self, request: TurnRequest) -> Launch | None:
        return self.inner.interactive(request)

    def parser(self) -> Parser:
        return BridgeParser()

    def session_parser(self) -> Parser | None:
        return self.inner.session_parser()

    def probe(self, environment: Mapping[str, str]) -> Probe:
        return self.inner.probe(environment)
