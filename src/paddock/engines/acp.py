"""Any CLI that speaks the Agent Client Protocol, behind a bridge of ours (bridges/acp.py).

    [engines.zed-claude]
    acp = ["claude-agent-acp"]

An agent that wraps a CLI which is known here gets what that one gets: its variables, its place in the user's home.
"""

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from typing import cast

from paddock.core.errors import Misuse, PaddockError
from paddock.core.trace import Progress, TraceEntry, Usage, UsageScope
from paddock.engines.acp_library import INSTALL, is_library_here
from paddock.engines.acp_order import AcpOrder, AcpToolServer, Policy, write_order
from paddock.engines.agent_cli import AgentCli
from paddock.engines.belongings import Belongings, find_belongings
from paddock.engines.bridge_lines import BridgeParser
from paddock.engines.codex_jsonl import CodexParser, read_codex_tokens
from paddock.engines.environment import build_environment
from paddock.engines.jsonline import Node, read_object
from paddock.engines.probe import Installation, probe_program
from paddock.engines.protocol import Capabilities, Launch, LaunchFile, Parser, Probe, Source, TurnRequest
from paddock.engines.settings import EngineSettings
from paddock.engines.tool_server import NAME

_MISSING = "the Agent Client Protocol needs the package `agent-client-protocol`"
# By a part of the name of the agent's program or package; the first that fits.
_FAMILIES = {
    "claude": "paddock.engines.claude:ClaudeEngine",
    "codex": "paddock.engines.codex:CodexEngine",
    "gemini": "paddock.engines.gemini:GeminiEngine",
    "opencode": "paddock.engines.opencode:OpencodeEngine",
    "qwen": "paddock.engines.qwen:QwenEngine",
    "copilot": "paddock.engines.copilot:CopilotEngine",
}
# claude-agent-acp would ask the model what a person might type next, whenever a turn has ended.
_SPARING = {"CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION": "false"}
# Programs that start another, which their arguments name.
_STARTERS = ("npx", "bunx", "uvx", "node", "bun", "pnpm")


@dataclass(frozen=True)
class AcpEngine:
    """Raises Misuse at once for settings that contradict each other."""

    name: str
    settings: EngineSettings

    capabilities = Capabilities(
        resume=True,
        final_event=True,
        usage=True,
        model=True,
        tool_starts=True,
        mcp=True,
        listens=True,
    )

    def __post_init__(self) -> None:
        for key in ("command", "like", "program", "resume", "interactive"):
            if getattr(self.settings, key):
                raise Misuse(
                    f"[engines.{self.name}] sets both `acp` and `{key}`",
                    f"remove `{key}`: an agent that speaks the protocol needs `acp` alone",
                )

    def launch(self, request: TurnRequest) -> Launch:
        if not is_library_here():
            raise PaddockError(f"engine `{self.name}` cannot start: {_MISSING}", f"run `{INSTALL}`")
        # The agent hears of the tool server through the protocol.
        plain = replace(request, tool_server=None)
        argv = (*self.settings.acp, *self.settings.args)
        env = self._environment(plain)
        order = LaunchFile(request.folder / f"turn-{request.turn}.acp.json", write_order(self._order(request, argv)))
        return Launch(
            (sys.executable, "-I", "-m", "paddock.bridges.acp", str(order.path)),
            env,
            request.worktree,
            (order, *(self._family.files(plain, env) if self._family is not None else ())),
            session_log=self._family.session_log(env) if self._family is not None else "",
            belongings=self._belongings(plain, env, argv),
            mailbox=request.mailbox,
            programs=(argv[0],),
        )

    def interactive(self, request: TurnRequest) -> Launch | None:
        del request
        return None

    def parser(self) -> Parser:
        return BridgeParser(_Beside(reads_codex_log=self._is_codex))

    def session_parser(self) -> Parser | None:
        return self._family.session_parser() if self._family is not None else None

    def probe(self, environment: Mapping[str, str]) -> Probe:
        program = self.settings.acp[0]
        if not is_library_here():
            return Probe(self.name, program, None, hints=(f"{_MISSING}: {INSTALL}",))
        family = self._family.installation if self._family is not None else Installation("", "")
        named = replace(family, program=program, install=f"[engines.{self.name}] names it in `acp`")
        found = probe_program(self.name, named, self.settings, environment)
        # Few agents have a version to tell; `check` is what shows whether one works.
        return replace(found, mcp=True, hints=tuple(hint for hint in found.hints if "--version" not in hint))

    @cached_property
    def _family(self) -> AgentCli | None:
        name = find_family(self.settings.acp)
        if name is None:
            return None
        module, _, attribute = _FAMILIES[name].partition(":")
        return cast(AgentCli, getattr(import_module(module), attribute)(self.name, self.settings))

    @property
    def _is_codex(self) -> bool:
        return find_family(self.settings.acp) == "codex"

    def _order(self, request: TurnRequest, argv: tuple[str, ...]) -> AcpOrder:
        server = request.tool_server
        return AcpOrder(
            argv,
            str(request.worktree),
            request.prompt.replace("\0", ""),
            session=request.session_id,
            model=request.model or self.settings.model,
            servers=() if server is None else (AcpToolServer.of(NAME, server),),
            permissions=self._policy(request),
            mailbox=str(request.mailbox) if request.mailbox is not None else None,
            messages=request.messages,
        )

    def _policy(self, request: TurnRequest) -> Policy:
        if self.settings.permissions != "auto":
            return self.settings.permissions
        return "allow" if request.fenced else "ask"

    def _environment(self, request: TurnRequest) -> dict[str, str]:
        if self._family is None:
            return build_environment(request, self.settings)
        return {**_SPARING, **self._family.environment(request)}

    def _belongings(self, request: TurnRequest, env: Mapping[str, str], argv: tuple[str, ...]) -> Belongings:
        named = find_belongings((), env, argv)
        if self._family is None:
            return named
        own = self._family.belongings(request, env)
        return replace(own, reads=(*own.reads, *named.reads))


class _Beside:
    """What is not the bridge's own. The agent's standard error tells nothing that the bridge does not; the file in
    which codex keeps a conversation tells what it has used, which codex-acp does not."""

    def __init__(self, *, reads_codex_log: bool) -> None:
        self._log = CodexParser() if reads_codex_log else None

    def feed(self, line: bytes, source: Source = Source.STDOUT) -> Iterable[TraceEntry]:
        if source is Source.LOG and self._log is not None:
            return (*self._log.read_log(line), *_codex_usage(line))
        return (Progress("unreadable line"),) if source is Source.STDOUT and line.strip() else ()

    def close(self) -> Iterable[TraceEntry]:
        return ()


def _codex_usage(line: bytes) -> Iterator[TraceEntry]:
    event = read_object(line) if b'"token_count"' in line else None
    total = event.at("payload", "info", "total_token_usage") if event is not None else Node(None)
    if total.has("input_tokens"):
        yield Usage(read_codex_tokens(total), UsageScope.CONVERSATION)


def find_family(argv: tuple[str, ...]) -> str | None:
    """The CLI that an agent wraps or is, by the name of its program, or of the package that a starter such as npx is
    given."""
    program = os.path.basename(argv[0])
    words = argv if program in _STARTERS else (program,)
    return next((family for family in _FAMILIES if any(family in word for word in words)), None)
