"""Google Gemini CLI (`gemini`)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from paddock.engines.environment import build_environment, prompt_argument
from paddock.engines.gemini_stream import GeminiParser
from paddock.engines.passage import GOOGLE_LOGIN, Cloud, Passage
from paddock.engines.probe import probe_program
from paddock.engines.protocol import Capabilities, Launch, LaunchFile, Parser, Probe, TurnRequest
from paddock.engines.settings import NO_SETTINGS, EngineSettings

PASSAGE = Passage(
    always=(
        *("GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL", "GEMINI_MODEL", "GOOGLE_API_KEY", "GOOGLE_CLOUD_PROJECT"),
        *("GOOGLE_CLOUD_LOCATION", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_VERTEX_BASE_URL"),
    ),
    clouds=(Cloud(GOOGLE_LOGIN, flags=("GOOGLE_GENAI_USE_VERTEXAI",)),),
)
# Without the first, gemini runs as a child of itself and the parent swallows SIGTERM.
_VALUES = {"GEMINI_CLI_NO_RELAUNCH": "true"}


@dataclass(frozen=True, slots=True)
class GeminiEngine:
    name: str = "gemini"
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
        )

    def launch(self, request: TurnRequest) -> Launch:
        prompt, files = prompt_argument(request)
        argv = [self._program, *self._common(request), "--output-format", "stream-json"]
        if not request.session_id and request.new_session_id:
            argv += ["--session-id", request.new_session_id]
        argv += [*self.settings.args, "-p", prompt]
        return self._launch(request, tuple(argv), files)

    def interactive(self, request: TurnRequest) -> Launch | None:
        return self._launch(request, (self._program, *self._common(request)), ())

    def parser(self) -> Parser:
        return GeminiParser()

    def probe(self, environment: Mapping[str, str]) -> Probe:
        return probe_program(
            self.name,
            "gemini",
            self.settings,
            environment,
            keys=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
            logins=(".gemini/oauth_creds.json",),
            install="install it with `npm i -g @google/gemini-cli`",
            login="run `gemini` once and log in, or set GEMINI_API_KEY",
        )

    @property
    def _program(self) -> str:
        return self.settings.program or "gemini"

    def _common(self, request: TurnRequest) -> list[str]:
        model = request.model or self.settings.model
        words = [*(["-m", model] if model else []), "--approval-mode", "yolo", "--skip-trust"]
        return words + (["--resume", request.session_id] if request.session_id else [])

    def _launch(self, request: TurnRequest, argv: tuple[str, ...], files: tuple[LaunchFile, ...]) -> Launch:
        """Retries are bounded through gemini's lowest layer of settings, so the user's own still win."""
        defaults = request.folder / "gemini-defaults.json"
        values = {**_VALUES, "GEMINI_CLI_SYSTEM_DEFAULTS_PATH": str(defaults)}
        env = build_environment(request, self.settings, allow=PASSAGE, values=values)
        written = LaunchFile(defaults, _defaults(has_key="GEMINI_API_KEY" in env))
        return Launch(argv, env, request.worktree, (*files, written))


def _defaults(*, has_key: bool) -> str:
    settings: dict[str, object] = {"general": {"maxAttempts": 2, "retryFetchErrors": False}}
    if has_key:
        settings["security"] = {"auth": {"selectedType": "gemini-api-key"}}
    return json.dumps(settings)
