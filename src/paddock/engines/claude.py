"""Claude Code (`claude`)."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

from paddock.engines.claude_stream import ClaudeStreamParser
from paddock.engines.environment import build_environment, prompt_argument
from paddock.engines.passage import AWS_LOGIN, GOOGLE_LOGIN, Cloud, Passage
from paddock.engines.probe import probe_program
from paddock.engines.protocol import Capabilities, Launch, Parser, Probe, TurnRequest
from paddock.engines.settings import NO_SETTINGS, EngineSettings

PASSAGE = Passage(
    always=(
        *("ANTHROPIC_*", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_MAX_OUTPUT_TOKENS"),
        *("CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY", "MAX_THINKING_TOKENS"),
    ),
    clouds=(
        Cloud((*AWS_LOGIN, "CLAUDE_CODE_SKIP_BEDROCK_AUTH"), flags=("CLAUDE_CODE_USE_BEDROCK",)),
        Cloud(
            (*GOOGLE_LOGIN, "VERTEX_REGION_*", "CLAUDE_CODE_SKIP_VERTEX_AUTH"),
            flags=("CLAUDE_CODE_USE_VERTEX",),
        ),
        Cloud(("AZURE_*", "CLAUDE_CODE_SKIP_FOUNDRY_AUTH"), flags=("CLAUDE_CODE_USE_FOUNDRY",)),
    ),
)

# Left to itself claude retries a refusal for three minutes; Paddock has its own clocks for that. The request
# timeout is no bound on a silent server: the deadline for silence is.
_VALUES = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "CLAUDE_CODE_MAX_RETRIES": "1",
    "API_TIMEOUT_MS": "120000",
}


@dataclass(frozen=True, slots=True)
class ClaudeEngine:
    name: str = "claude"
    settings: EngineSettings = NO_SETTINGS

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(
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
        )

    def launch(self, request: TurnRequest) -> Launch:
        prompt, files = prompt_argument(request)
        argv = [self._program, "-p", prompt, "--output-format", "stream-json", "--verbose"]
        # Pieces of answers as they are written: a long answer is not a silent provider.
        argv += ["--include-partial-messages", *self._common(request)]
        if not request.session_id and request.new_session_id:
            argv += ["--session-id", request.new_session_id]
        return Launch((*argv, *self.settings.args), self._environment(request), request.worktree, files)

    def interactive(self, request: TurnRequest) -> Launch | None:
        argv = (self._program, *self._common(request))
        return Launch(argv, self._environment(request), request.worktree)

    def parser(self) -> Parser:
        return ClaudeStreamParser()

    def probe(self, environment: Mapping[str, str]) -> Probe:
        return probe_program(
            self.name,
            "claude",
            self.settings,
            environment,
            keys=("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"),
            logins=(f"{environment.get('CLAUDE_CONFIG_DIR') or '.claude'}/.credentials.json",),
            install="install it with `npm i -g @anthropic-ai/claude-code` (node 22 or newer)",
            login="run `claude` once and log in, or set ANTHROPIC_API_KEY",
        )

    @property
    def _program(self) -> str:
        return self.settings.program or "claude"

    def _common(self, request: TurnRequest) -> list[str]:
        words = ["--dangerously-skip-permissions"]
        model = request.model or self.settings.model
        words += ["--model", model] if model else []
        words += ["--resume", request.session_id] if request.session_id else []
        return words

    def _environment(self, request: TurnRequest) -> dict[str, str]:
        # Without it claude refuses to skip permissions for root.
        root = {"IS_SANDBOX": "1"} if os.geteuid() == 0 else {}
        return build_environment(request, self.settings, allow=PASSAGE, values={**_VALUES, **root})
