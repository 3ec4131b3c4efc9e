"""Continue CLI (`cn`): one JSON object at the end, no conversation that can be named."""

from collections.abc import Mapping
from dataclasses import dataclass

from paddock.engines.cn_json import CnParser
from paddock.engines.environment import build_environment, prompt_argument
from paddock.engines.passage import Passage
from paddock.engines.probe import probe_program
from paddock.engines.protocol import Capabilities, Launch, Parser, Probe, TurnRequest
from paddock.engines.settings import NO_SETTINGS, EngineSettings

PASSAGE = Passage(("CONTINUE_*", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL"))
_VALUES = {"CONTINUE_CLI_AUTO_UPDATED": "true", "CONTINUE_TELEMETRY_ENABLED": "0"}


@dataclass(frozen=True, slots=True)
class CnEngine:
    """The models come from the user's ~/.continue/config.yaml, or from `args = ["--config", FILE]`."""

    name: str = "cn"
    settings: EngineSettings = NO_SETTINGS

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(final_event=True, interactive=True, model=True, streams=False)

    def launch(self, request: TurnRequest) -> Launch:
        prompt, files = prompt_argument(request)
        argv = (self._program, "-p", "--auto", "--format", "json", *self.settings.args, prompt)
        return Launch(argv, self._environment(request), request.worktree, files)

    def interactive(self, request: TurnRequest) -> Launch | None:
        argv = (self._program, "--auto", *self.settings.args)
        return Launch(argv, self._environment(request), request.worktree)

    def parser(self) -> Parser:
        return CnParser()

    def probe(self, environment: Mapping[str, str]) -> Probe:
        return probe_program(
            self.name,
            "cn",
            self.settings,
            environment,
            keys=("CONTINUE_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY"),
            logins=(".continue/auth.json", ".continue/config.yaml"),
            install="install it with `npm i -g @continuedev/cli`",
            login="run `cn login`, or write ~/.continue/config.yaml",
        )

    @property
    def _program(self) -> str:
        return self.settings.program or "cn"

    def _environment(self, request: TurnRequest) -> dict[str, str]:
        return build_environment(request, self.settings, allow=PASSAGE, values=_VALUES)
