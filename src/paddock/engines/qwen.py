"""Qwen Code (`qwen`), which speaks claude's stream."""

from collections.abc import Mapping
from dataclasses import dataclass

from paddock.core.trace import UsageScope
from paddock.engines.claude_stream import ClaudeStreamParser, read_tokens_of_all_input
from paddock.engines.environment import build_environment, prompt_argument
from paddock.engines.passage import GOOGLE_LOGIN, Cloud, Passage
from paddock.engines.probe import probe_program
from paddock.engines.protocol import Capabilities, Launch, LaunchFile, Parser, Probe, TurnRequest
from paddock.engines.settings import NO_SETTINGS, EngineSettings

PASSAGE = Passage(
    always=(
        *("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL", "DASHSCOPE_API_KEY", "QWEN_HOME", "QWEN_MODEL"),
        "GOOGLE_GENAI_USE_VERTEXAI",
    ),
    clouds=(Cloud((*GOOGLE_LOGIN, "GOOGLE_CLOUD_LOCATION", "GOOGLE_API_KEY"), flags=("GOOGLE_GENAI_USE_VERTEXAI",)),),
)
_VALUES = {"QWEN_CODE_NO_RELAUNCH": "true"}
# Of its own accord qwen waits a minute after a refusal, ten times over.
_DEFAULTS = '{"model":{"generationConfig":{"maxRetries":1,"retryInitialDelayMs":1000,"retryMaxDelayMs":5000}}}'


@dataclass(frozen=True, slots=True)
class QwenEngine:
    name: str = "qwen"
    settings: EngineSettings = NO_SETTINGS

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(
            resume=True,
            chooses_session_id=True,
            final_event=True,
            usage=True,
            interactive=True,
            model=True,
            greets=True,
            tool_starts=True,
            meters=True,
        )

    def launch(self, request: TurnRequest) -> Launch:
        prompt, files = prompt_argument(request)
        env = self._environment(request)
        argv = [self._program, *self._common(request, env), "--output-format", "stream-json"]
        if not request.session_id and request.new_session_id:
            argv += ["--session-id", request.new_session_id]
        return Launch((*argv, *self.settings.args, prompt), env, request.worktree, (*files, _defaults_file(request)))

    def interactive(self, request: TurnRequest) -> Launch | None:
        env = self._environment(request)
        argv = (self._program, *self._common(request, env))
        return Launch(argv, env, request.worktree, (_defaults_file(request),))

    def parser(self) -> Parser:
        return ClaudeStreamParser(UsageScope.CONVERSATION, read_tokens_of_all_input)

    def probe(self, environment: Mapping[str, str]) -> Probe:
        return probe_program(
            self.name,
            "qwen",
            self.settings,
            environment,
            keys=("OPENAI_API_KEY", "DASHSCOPE_API_KEY"),
            logins=(".qwen/oauth_creds.json",),
            install="install it with `npm i -g @qwen-code/qwen-code` (node 22 or newer)",
            login="run `qwen` once and log in, or set OPENAI_API_KEY and OPENAI_BASE_URL",
        )

    @property
    def _program(self) -> str:
        return self.settings.program or "qwen"

    def _environment(self, request: TurnRequest) -> dict[str, str]:
        values = {**_VALUES, "QWEN_CODE_SYSTEM_DEFAULTS_PATH": str(_defaults_file(request).path)}
        return build_environment(request, self.settings, allow=PASSAGE, values=values)

    def _common(self, request: TurnRequest, env: Mapping[str, str]) -> list[str]:
        model = request.model or self.settings.model
        words = ["--auth-type", "openai"] if env.get("OPENAI_API_KEY") else []
        words += ["--approval-mode", "yolo", *(["--model", model] if model else [])]
        return words + (["--resume", request.session_id] if request.session_id else [])


def _defaults_file(request: TurnRequest) -> LaunchFile:
    """qwen's lowest layer of settings: the user's own still win."""
    return LaunchFile(request.folder / "qwen-defaults.json", _DEFAULTS)
