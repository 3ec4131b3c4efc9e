"""opencode (`opencode`)."""

from collections.abc import Mapping
from dataclasses import dataclass

from paddock.core.trace import one_line
from paddock.engines.environment import argument_text, build_environment, prompt_argument
from paddock.engines.opencode_json import OpencodeParser
from paddock.engines.passage import AWS_LOGIN, GOOGLE_LOGIN, Cloud, Passage
from paddock.engines.probe import probe_program
from paddock.engines.protocol import Capabilities, Launch, Parser, Probe, TurnRequest
from paddock.engines.settings import NO_SETTINGS, EngineSettings

PASSAGE = Passage(
    always=(
        *(
            "OPENCODE_CONFIG",
            "OPENCODE_CONFIG_DIR",
            "OPENCODE_CONFIG_CONTENT",
            "OPENCODE_API_KEY",
            "OPENCODE_MODELS_PATH",
        ),
        *("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL", "GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"),
        *("OPENROUTER_API_KEY", "GROQ_API_KEY", "XAI_API_KEY", "DEEPSEEK_API_KEY", "MISTRAL_API_KEY"),
    ),
    clouds=(
        Cloud(AWS_LOGIN, models=("amazon-bedrock/",)),
        Cloud(
            (*GOOGLE_LOGIN, "GOOGLE_VERTEX_LOCATION", "VERTEX_LOCATION", "GCLOUD_PROJECT"),
            models=("google-vertex/", "google-vertex-anthropic/"),
        ),
    ),
)
_VALUES = {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_SHARE": "1", "OPENCODE_DISABLE_TERMINAL_TITLE": "1"}
TITLE_LIMIT = 60


@dataclass(frozen=True, slots=True)
class OpencodeEngine:
    name: str = "opencode"
    settings: EngineSettings = NO_SETTINGS

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(
            resume=True,
            final_event=True,
            usage=True,
            cost=True,
            interactive=True,
            model=True,
            meters=True,
        )

    def launch(self, request: TurnRequest) -> Launch:
        prompt, files = prompt_argument(request)
        argv = [self._program, "run", "--format", "json", "--auto", *self._common(request)]
        # A conversation that has a title asks no model for one, in a call whose tokens opencode does not report.
        argv += [] if request.session_id else ["--title", _title(request)]
        return Launch((*argv, *self.settings.args, prompt), self._environment(request), request.worktree, files)

    def interactive(self, request: TurnRequest) -> Launch | None:
        argv = (self._program, "--auto", *self._common(request))
        return Launch(argv, self._environment(request), request.worktree)

    def parser(self) -> Parser:
        return OpencodeParser()

    def probe(self, environment: Mapping[str, str]) -> Probe:
        return probe_program(
            self.name,
            "opencode",
            self.settings,
            environment,
            keys=("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "OPENCODE_API_KEY", "GEMINI_API_KEY"),
            logins=(".local/share/opencode/auth.json", ".config/opencode/opencode.json"),
            install="install it with `npm i -g opencode-ai`",
            login="run `opencode auth login`",
        )

    @property
    def _program(self) -> str:
        return self.settings.program or "opencode"

    def _common(self, request: TurnRequest) -> list[str]:
        model = request.model or self.settings.model
        words = ["-m", model] if model else []
        return words + (["-s", request.session_id] if request.session_id else [])

    def _environment(self, request: TurnRequest) -> dict[str, str]:
        return build_environment(request, self.settings, allow=PASSAGE, values=_VALUES)


def _title(request: TurnRequest) -> str:
    return argument_text(one_line(request.task_text or request.prompt, TITLE_LIMIT)) or "Paddock"
