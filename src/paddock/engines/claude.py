"""Claude Code (`claude`)."""

import glob
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import paddock
from paddock.engines.agent_cli import AgentCli, option
from paddock.engines.belongings import HomePlace
from paddock.engines.bridge_lines import BridgeParser
from paddock.engines.claude_session import ClaudeSessionParser
from paddock.engines.claude_stream import ClaudeStreamParser
from paddock.engines.environment import prompt_argument
from paddock.engines.passage import AWS_FILES, AWS_LOGIN, GOOGLE_FILES, GOOGLE_LOGIN, Cloud, Passage
from paddock.engines.probe import Installation
from paddock.engines.protocol import Capabilities, Launch, LaunchFile, Parser, TurnRequest
from paddock.engines.tool_server import servers_file, servers_path
from paddock.engines.trust import claude_settings

_BRIDGE = Path(paddock.__file__).parent / "bridges" / "claude_input.py"
PASSAGE = Passage(
    always=(
        *("ANTHROPIC_*", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_MAX_OUTPUT_TOKENS"),
        *("CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY", "MAX_THINKING_TOKENS"),
    ),
    clouds=(
        Cloud((*AWS_LOGIN, "CLAUDE_CODE_SKIP_BEDROCK_AUTH"), flags=("CLAUDE_CODE_USE_BEDROCK",), files=AWS_FILES),
        Cloud(
            (*GOOGLE_LOGIN, "VERTEX_REGION_*", "CLAUDE_CODE_SKIP_VERTEX_AUTH"),
            flags=("CLAUDE_CODE_USE_VERTEX",),
            files=GOOGLE_FILES,
        ),
        Cloud(("AZURE_*", "CLAUDE_CODE_SKIP_FOUNDRY_AUTH"), flags=("CLAUDE_CODE_USE_FOUNDRY",)),
    ),
)


class ClaudeEngine(AgentCli):
    installation = Installation(
        "claude",
        install="install it with `npm i -g @anthropic-ai/claude-code` (node 22 or newer)",
        login="run `claude` once and log in, or set ANTHROPIC_API_KEY",
        keys=("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"),
        logins=(".credentials.json",),
        folder=".claude",
        moved_by="CLAUDE_CONFIG_DIR",
    )
    capabilities = Capabilities(
        resume=True,
        chooses_session_id=True,
        final_event=True,
        usage=True,
        cost=True,
        interactive=True,
        model=True,
        greets=True,
        tool_starts=True,
        meters=True,
        tools=True,
        mcp=True,
        forks=True,
        listens=True,
    )
    passage = PASSAGE
    places = (
        HomePlace(
            ".claude",
            reads=(
                *("settings.json", "settings.local.json", "CLAUDE.md", "rules", ".claude.json", "keybindings.json"),
                *("commands", "agents", "skills", "plugins", "hooks", "output-styles"),
            ),
            logins=(".credentials.json",),
            keeps=("projects", "todos", "tasks", "file-history"),
            moved_by="CLAUDE_CONFIG_DIR",
        ),
        HomePlace("", reads=(".claude.json",)),
    )
    # Left to itself claude retries a refusal for three minutes; Paddock has its own clocks for that. The request
    # timeout is no bound on a silent server: the deadline for silence is.
    variables: ClassVar = {
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "CLAUDE_CODE_MAX_RETRIES": "1",
        "API_TIMEOUT_MS": "120000",
    }

    def launch(self, request: TurnRequest) -> Launch:
        prompt, files = prompt_argument(request)
        env = self.environment(request)
        # Pieces of answers as they are written: a long answer is not a silent provider.
        words = ["--output-format", "stream-json", "--verbose", "--include-partial-messages"]
        words += [*self.words(request, env), *self.session_words(request), *self.settings.args]
        argv: tuple[str, ...] = (self.program, "-p", prompt, *words)
        if request.mailbox is not None:
            argv, files = self._listening(request, words)
        return Launch(
            argv,
            env,
            request.worktree,
            (*files, *self.files(request, env)),
            belongings=self.belongings(request, env),
            mailbox=request.mailbox,
            programs=(self.program,),
        )

    def _listening(self, request: TurnRequest, words: list[str]) -> tuple[tuple[str, ...], tuple[LaunchFile, ...]]:
        """Behind the bridge that writes to its standard input: the prompt first, and letters as they come."""
        order = {
            "argv": [self.program, "-p", "--input-format", "stream-json", "--replay-user-messages", *words],
            "prompt": request.prompt,
            "messages": request.messages,
            "mailbox": str(request.mailbox),
        }
        place = request.folder / f"turn-{request.turn}.order.json"
        return (sys.executable, "-I", "-S", str(_BRIDGE), str(place)), (LaunchFile(place, json.dumps(order)),)

    def interactive(self, request: TurnRequest) -> Launch | None:
        launch = super().interactive(request)
        if launch is None or request.repository is None:
            return launch
        own = Path(launch.env.get("CLAUDE_CONFIG_DIR") or launch.env.get("HOME") or "/") / ".claude.json"
        content = claude_settings(own, request.repository, request.worktree)
        if not content:
            return launch
        shown = LaunchFile(request.folder / "claude.json", content)
        return replace(launch, files=(*launch.files, shown), stand_ins=((own, shown.path),))

    def parser(self) -> Parser:
        return BridgeParser(ClaudeStreamParser())

    def session_parser(self) -> Parser:
        return ClaudeSessionParser()

    def session_words(self, request: TurnRequest) -> tuple[str, ...]:
        return option("--session-id", request.first_session_id)

    def session_log(self, env: Mapping[str, str]) -> str:
        folder = env.get("CLAUDE_CONFIG_DIR") or f"{env.get('HOME', '/')}/.claude"
        return f"{glob.escape(folder.rstrip('/'))}/projects/*/{{session}}.jsonl"

    def words(self, request: TurnRequest, env: Mapping[str, str]) -> list[str]:
        chosen = (*option("--model", self.model(request)), *option("--resume", request.session_id), *_copied(request))
        # It takes any number of files: an option has to follow.
        servers = ["--mcp-config", str(servers_path(request))] if request.tool_server is not None else []
        return [*servers, "--dangerously-skip-permissions", *chosen, *_tools(request)]

    def files(self, request: TurnRequest, env: Mapping[str, str]) -> tuple[LaunchFile, ...]:
        return servers_file(request, type="stdio")

    def extra_variables(self, request: TurnRequest) -> Mapping[str, str]:
        # Without it claude refuses to skip permissions for root.
        return {"IS_SANDBOX": "1"} if os.geteuid() == 0 else {}


def _copied(request: TurnRequest) -> tuple[str, ...]:
    return ("--fork-session",) if request.fork and request.session_id else ()


def _tools(request: TurnRequest) -> tuple[str, ...]:
    """`--tools` takes away what is not named. `--allowedTools` takes nothing away, and where permissions are skipped no
    rule such as `Bash(git *)` is asked for: the tool is there as a whole or not at all."""
    if not request.tools:
        return ()
    built_in = (name.partition("(")[0].strip() for name in request.tools if not name.startswith("mcp__"))
    return ("--tools", ",".join(dict.fromkeys(built_in)))
