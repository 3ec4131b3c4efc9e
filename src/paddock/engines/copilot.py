"""GitHub Copilot CLI (`copilot`)."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from paddock.engines.copilot_json import CopilotParser
from paddock.engines.environment import build_environment, prompt_argument
from paddock.engines.passage import Passage
from paddock.engines.probe import probe_program
from paddock.engines.protocol import Capabilities, Launch, Parser, Probe, TurnRequest
from paddock.engines.settings import NO_SETTINGS, EngineSettings

PASSAGE = Passage(("COPILOT_*", "GH_TOKEN", "GITHUB_TOKEN", "GH_HOST"))
_VALUES = {"COPILOT_AUTO_UPDATE": "false"}


@dataclass(frozen=True, slots=True)
class CopilotEngine:
    name: str = "copilot"
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
        argv = [self._program, "-p", prompt, *self._common(request), "--output-format", "json"]
        if not request.session_id and request.new_session_id:
            argv += ["--session-id", request.new_session_id]
        env = self._environment(request)
        return Launch((*argv, *self.settings.args), env, request.worktree, files, logs=_session_events(request, env))

    def interactive(self, request: TurnRequest) -> Launch | None:
        argv = (self._program, *self._common(request))
        return Launch(argv, self._environment(request), request.worktree)

    def parser(self) -> Parser:
        return CopilotParser()

    def probe(self, environment: Mapping[str, str]) -> Probe:
        return probe_program(
            self.name,
            "copilot",
            self.settings,
            environment,
            keys=("COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "COPILOT_PROVIDER_API_KEY"),
            logins=(".copilot/config.json",),
            install="install it with `npm i -g @github/copilot`",
            login="run `copilot login`",
        )

    @property
    def _program(self) -> str:
        return self.settings.program or "copilot"

    def _common(self, request: TurnRequest) -> list[str]:
        model = request.model or self.settings.model
        words = ["--allow-all-tools", "--allow-all-paths", "--disable-builtin-mcps"]
        words += ["--model", model] if model else []
        return words + ([f"--resume={request.session_id}"] if request.session_id else [])

    def _environment(self, request: TurnRequest) -> dict[str, str]:
        """A provider of one's own needs no login at GitHub, and works only when told to stay offline."""
        own = {"COPILOT_OFFLINE": "true"} if request.base_env.get("COPILOT_PROVIDER_BASE_URL") else {}
        return build_environment(request, self.settings, allow=PASSAGE, values={**_VALUES, **own})


def _session_events(request: TurnRequest, env: Mapping[str, str]) -> tuple[Path, ...]:
    """Where copilot writes down the conversation, its tokens included."""
    session = request.session_id or request.new_session_id
    home = Path(env["COPILOT_HOME"]) if env.get("COPILOT_HOME") else Path(env.get("HOME", "/")) / ".copilot"
    return (home / "session-state" / session / "events.jsonl",) if session else ()
