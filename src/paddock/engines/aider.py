"""aider (`aider`): no tools, edits as text, commits by itself, exit code 0 whatever happened."""

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from paddock.engines.agent_cli import AgentCli, option
from paddock.engines.aider_text import AiderParser
from paddock.engines.belongings import HomePlace
from paddock.engines.environment import prompt_argument
from paddock.engines.passage import AWS_FILES, AWS_LOGIN, GOOGLE_FILES, GOOGLE_LOGIN, Cloud, Passage
from paddock.engines.probe import Installation
from paddock.engines.protocol import Capabilities, Launch, Parser, TurnRequest

PASSAGE = Passage(
    always=(
        *("OPENAI_API_BASE", "OPENAI_BASE_URL", "OPENAI_API_KEY", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_BASE"),
        *("ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY", "DEEPSEEK_API_KEY", "GROQ_API_KEY"),
        *("XAI_API_KEY", "OLLAMA_API_BASE", "AIDER_*"),
    ),
    clouds=(
        Cloud(AWS_LOGIN, models=("bedrock/", "bedrock_converse/"), files=AWS_FILES),
        Cloud(
            (*GOOGLE_LOGIN, "VERTEXAI_PROJECT", "VERTEXAI_LOCATION"),
            models=("vertex_ai/", "vertex_ai_beta/"),
            files=GOOGLE_FILES,
        ),
    ),
)


class AiderEngine(AgentCli):
    installation = Installation(
        "aider",
        install="install it with `pipx install aider-chat`",
        login="set the API key of your provider, such as OPENAI_API_KEY",
        keys=("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY", "DEEPSEEK_API_KEY"),
        logins=(".aider.conf.yml",),
    )
    capabilities = Capabilities(
        final_event=True, usage=True, cost=True, interactive=True, model=True, greets=True, meters=True
    )
    passage = PASSAGE
    places = (
        HomePlace("", reads=(".aider.conf.yml", ".aider.model.settings.yml", ".aider.model.metadata.json")),
        HomePlace(".aider", reads=("oauth-keys.env",), keeps=("caches",)),
    )
    variables: ClassVar = {"LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    terminal = ("--restore-chat-history",)

    def launch(self, request: TurnRequest) -> Launch:
        """While an answer streams aider only guesses its tokens; the usage that comes with a whole one is the
        provider's."""
        prompt, files = prompt_argument(request)
        env = self.environment(request)
        log = _side_files(request) / f"turn-{request.turn}.jsonl"
        said = ["--message-file", str(request.prompt_file)] if files else ["--message", prompt]
        argv = [self.program, *self.words(request, env), *said, "--no-pretty", "--no-stream"]
        argv += ["--analytics-log", str(log), *self.settings.args]
        return Launch(
            tuple(argv),
            env,
            request.worktree,
            files,
            logs=(log,),
            belongings=self.belongings(request, env),
            writes=(_side_files(request),),
        )

    def parser(self) -> Parser:
        return AiderParser()

    def words(self, request: TurnRequest, env: Mapping[str, str]) -> list[str]:
        """The histories go to the attempt's folder: in the worktree they would be taken for work not committed."""
        return [
            *option("--model", self.model(request)),
            *("--yes-always", "--no-gitignore", "--no-show-model-warnings", "--no-show-release-notes"),
            *("--no-check-update", "--no-analytics", "--map-tokens", "0"),
            *("--chat-history-file", str(_side_files(request) / "chat.history.md")),
            *("--input-history-file", str(_side_files(request) / "input.history")),
        ]


def _side_files(request: TurnRequest) -> Path:
    return request.folder / "aider"
