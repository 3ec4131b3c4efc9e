"""Qwen Code (`qwen`), which speaks claude's stream."""

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from paddock.core.trace import UsageScope
from paddock.engines.agent_cli import AgentCli, option
from paddock.engines.belongings import HomePlace
from paddock.engines.claude_stream import ClaudeStreamParser, read_tokens_of_all_input
from paddock.engines.environment import prompt_argument
from paddock.engines.passage import GOOGLE_FILES, GOOGLE_LOGIN, Cloud, Passage
from paddock.engines.probe import Installation
from paddock.engines.protocol import Capabilities, Launch, LaunchFile, Parser, TurnRequest
from paddock.engines.tool_server import with_servers

PASSAGE = Passage(
    always=(
        *("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL", "DASHSCOPE_API_KEY", "QWEN_HOME", "QWEN_MODEL"),
        "GOOGLE_GENAI_USE_VERTEXAI",
    ),
    clouds=(
        Cloud(
            (*GOOGLE_LOGIN, "GOOGLE_CLOUD_LOCATION", "GOOGLE_API_KEY"),
            flags=("GOOGLE_GENAI_USE_VERTEXAI",),
            files=GOOGLE_FILES,
        ),
    ),
)
# Of its own accord qwen waits a minute after a refusal, ten times over.
_DEFAULTS = {"model": {"generationConfig": {"maxRetries": 1, "retryInitialDelayMs": 1000, "retryMaxDelayMs": 5000}}}


class QwenEngine(AgentCli):
    installation = Installation(
        "qwen",
        install="install it with `npm i -g @qwen-code/qwen-code` (node 22 or newer)",
        login="run `qwen` once and log in, or set OPENAI_API_KEY and OPENAI_BASE_URL",
        keys=("OPENAI_API_KEY", "DASHSCOPE_API_KEY"),
        logins=(".qwen/oauth_creds.json",),
    )
    capabilities = Capabilities(
        resume=True,
        chooses_session_id=True,
        final_event=True,
        usage=True,
        interactive=True,
        model=True,
        greets=True,
        tool_starts=True,
        meters=True,
        tools=True,
        mcp=True,
    )
    passage = PASSAGE
    places = (
        HomePlace(
            ".qwen",
            reads=(
                "settings.json",
                "QWEN.md",
                "output-language.md",
                ".env",
                "commands",
                "extensions",
                "agents",
                "skills",
            ),
            logins=("oauth_creds.json",),
            keeps=("projects", "tmp"),
            moved_by="QWEN_HOME",
        ),
    )
    variables: ClassVar = {"QWEN_CODE_NO_RELAUNCH": "true"}

    def launch(self, request: TurnRequest) -> Launch:
        prompt, files = prompt_argument(request)
        env = self.environment(request)
        argv = [self.program, *self.words(request, env), "--output-format", "stream-json"]
        argv += [*option("--session-id", request.first_session_id), *self.settings.args, prompt]
        written = (*files, *self.files(request, env))
        return Launch(tuple(argv), env, request.worktree, written, belongings=self.belongings(request, env))

    def parser(self) -> Parser:
        return ClaudeStreamParser(UsageScope.CONVERSATION, read_tokens_of_all_input)

    def words(self, request: TurnRequest, env: Mapping[str, str]) -> list[str]:
        words = ["--auth-type", "openai"] if env.get("OPENAI_API_KEY") else []
        words += ["--approval-mode", "yolo", *option("--model", self.model(request))]
        return [*words, *option("--resume", request.session_id)]

    def extra_variables(self, request: TurnRequest) -> Mapping[str, str]:
        return {"QWEN_CODE_SYSTEM_DEFAULTS_PATH": str(_defaults_path(request))}

    def files(self, request: TurnRequest, env: Mapping[str, str]) -> tuple[LaunchFile, ...]:
        """qwen's lowest layer of settings: the user's own still win."""
        settings = {**_DEFAULTS, "tools": {"core": list(request.tools)}} if request.tools else _DEFAULTS
        return (LaunchFile(_defaults_path(request), with_servers(settings, request, trust=True)),)


def _defaults_path(request: TurnRequest) -> Path:
    return request.folder / "qwen-defaults.json"
