"""aider (`aider`): no tools, edits as text, commits by itself, exit code 0 whatever happened."""

from collections.abc import Mapping
from dataclasses import dataclass

from paddock.engines.aider_text import AiderParser
from paddock.engines.environment import build_environment, prompt_argument
from paddock.engines.passage import AWS_LOGIN, GOOGLE_LOGIN, Cloud, Passage
from paddock.engines.probe import probe_program
from paddock.engines.protocol import Capabilities, Launch, Parser, Probe, TurnRequest
from paddock.engines.settings import NO_SETTINGS, EngineSettings

PASSAGE = Passage(
    always=(
        *("OPENAI_API_BASE", "OPENAI_BASE_URL", "OPENAI_API_KEY", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_BASE"),
        *("ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY", "DEEPSEEK_API_KEY", "GROQ_API_KEY"),
        *("XAI_API_KEY", "OLLAMA_API_BASE", "AIDER_*"),
    ),
    clouds=(
        Cloud(AWS_LOGIN, models=("bedrock/", "bedrock_converse/")),
        Cloud((*GOOGLE_LOGIN, "VERTEXAI_PROJECT", "VERTEXAI_LOCATION"), models=("vertex_ai/", "vertex_ai_beta/")),
    ),
)
_VALUES = {"LITELLM_LOCAL_MODEL_COST_MAP": "True"}


@dataclass(frozen=True, slots=True)
class AiderEngine:
    name: str = "aider"
    settings: EngineSettings = NO_SETTINGS

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(
            final_event=True, usage=True, cost=True, interactive=True, model=True, greets=True, meters=True
        )

    def launch(self, request: TurnRequest) -> Launch:
        """The histories go to the attempt's folder: in the worktree they would be taken for work not committed.

        While an answer streams aider only guesses its tokens; the usage that comes with a whole one is the provider's.
        """
        prompt, files = prompt_argument(request)
        log = request.folder / f"turn-{request.turn}.aider.jsonl"
        said = ["--message-file", str(request.prompt_file)] if files else ["--message", prompt]
        argv = [self._program, *self._common(request), *said, "--no-pretty", "--no-stream"]
        argv += ["--analytics-log", str(log), *self.settings.args]
        return Launch(tuple(argv), self._environment(request), request.worktree, files, logs=(log,))

    def interactive(self, request: TurnRequest) -> Launch | None:
        argv = (self._program, *self._common(request), "--restore-chat-history")
        return Launch(argv, self._environment(request), request.worktree)

    def parser(self) -> Parser:
        return AiderParser()

    def probe(self, environment: Mapping[str, str]) -> Probe:
        return probe_program(
            self.name,
            "aider",
            self.settings,
            environment,
            keys=("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY", "DEEPSEEK_API_KEY"),
            logins=(".aider.conf.yml",),
            install="install it with `pipx install aider-chat`",
            login="set the API key of your provider, such as OPENAI_API_KEY",
        )

    @property
    def _program(self) -> str:
        return self.settings.program or "aider"

    def _common(self, request: TurnRequest) -> list[str]:
        model = request.model or self.settings.model
        return [
            *(["--model", model] if model else []),
            *("--yes-always", "--no-gitignore", "--no-show-model-warnings", "--no-show-release-notes"),
            *("--no-check-update", "--no-analytics", "--map-tokens", "0"),
            *("--chat-history-file", str(request.folder / "aider.chat.history.md")),
            *("--input-history-file", str(request.folder / "aider.input.history")),
        ]

    def _environment(self, request: TurnRequest) -> dict[str, str]:
        return build_environment(request, self.settings, allow=PASSAGE, values=_VALUES)
