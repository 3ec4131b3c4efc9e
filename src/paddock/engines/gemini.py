"""Google Gemini CLI (`gemini`)."""

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from paddock.engines.agent_cli import AgentCli, option
from paddock.engines.belongings import HomePlace
from paddock.engines.environment import prompt_argument
from paddock.engines.gemini_stream import GeminiParser
from paddock.engines.passage import GOOGLE_FILES, GOOGLE_LOGIN, Cloud, Passage
from paddock.engines.probe import Installation
from paddock.engines.protocol import Capabilities, Launch, LaunchFile, Parser, TurnRequest
from paddock.engines.tool_server import with_servers

PASSAGE = Passage(
    always=(
        *("GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL", "GEMINI_MODEL", "GOOGLE_API_KEY", "GOOGLE_CLOUD_PROJECT"),
        *("GOOGLE_CLOUD_LOCATION", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_VERTEX_BASE_URL"),
    ),
    clouds=(Cloud(GOOGLE_LOGIN, flags=("GOOGLE_GENAI_USE_VERTEXAI",), files=GOOGLE_FILES),),
)


class GeminiEngine(AgentCli):
    installation = Installation(
        "gemini",
        install="install it with `npm i -g @google/gemini-cli`",
        login="run `gemini` once and log in, or set GEMINI_API_KEY",
        keys=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        logins=(".gemini/oauth_creds.json",),
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
        tools=True,
        mcp=True,
    )
    passage = PASSAGE
    places = (
        HomePlace(
            ".gemini",
            reads=("settings.json", "GEMINI.md", "memory.md", ".env", "commands", "extensions", "policies", "skills"),
            logins=("oauth_creds.json", "google_accounts.json"),
            keeps=("tmp", "history"),
        ),
    )
    # Without it gemini runs as a child of itself and the parent swallows SIGTERM.
    variables: ClassVar = {"GEMINI_CLI_NO_RELAUNCH": "true"}

    def launch(self, request: TurnRequest) -> Launch:
        prompt, files = prompt_argument(request)
        env = self.environment(request)
        argv = [self.program, *self.words(request, env), "--output-format", "stream-json"]
        argv += [*option("--session-id", request.first_session_id), *self.settings.args, "-p", prompt]
        written = (*files, *self.files(request, env))
        return Launch(tuple(argv), env, request.worktree, written, belongings=self.belongings(request, env))

    def parser(self) -> Parser:
        return GeminiParser()

    def words(self, request: TurnRequest, env: Mapping[str, str]) -> list[str]:
        words = [*option("-m", self.model(request)), "--approval-mode", "yolo", "--skip-trust"]
        return [*words, *option("--resume", request.session_id)]

    def extra_variables(self, request: TurnRequest) -> Mapping[str, str]:
        return {"GEMINI_CLI_SYSTEM_DEFAULTS_PATH": str(_defaults_path(request))}

    def files(self, request: TurnRequest, env: Mapping[str, str]) -> tuple[LaunchFile, ...]:
        """Retries are bounded through gemini's lowest layer of settings, so the user's own still win."""
        settings: dict[str, object] = {"general": {"maxAttempts": 2, "retryFetchErrors": False}}
        if "GEMINI_API_KEY" in env:
            settings["security"] = {"auth": {"selectedType": "gemini-api-key"}}
        if request.tools:
            settings["tools"] = {"core": list(request.tools)}
        return (LaunchFile(_defaults_path(request), with_servers(settings, request, trust=True)),)


def _defaults_path(request: TurnRequest) -> Path:
    return request.folder / "gemini-defaults.json"
