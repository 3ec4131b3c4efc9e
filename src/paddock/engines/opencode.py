"""opencode (`opencode`)."""

import json
from collections.abc import Mapping
from typing import ClassVar

from paddock.core.trace import one_line
from paddock.engines.agent_cli import AgentCli, option
from paddock.engines.belongings import HomePlace
from paddock.engines.environment import argument_text, prompt_argument
from paddock.engines.opencode_json import OpencodeParser
from paddock.engines.passage import AWS_FILES, AWS_LOGIN, GOOGLE_FILES, GOOGLE_LOGIN, Cloud, Passage
from paddock.engines.probe import Installation
from paddock.engines.protocol import Capabilities, Launch, Parser, TurnRequest
from paddock.engines.tool_server import opencode_config

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
        Cloud(AWS_LOGIN, models=("amazon-bedrock/",), files=AWS_FILES),
        Cloud(
            (*GOOGLE_LOGIN, "GOOGLE_VERTEX_LOCATION", "VERTEX_LOCATION", "GCLOUD_PROJECT"),
            models=("google-vertex/", "google-vertex-anthropic/"),
            files=GOOGLE_FILES,
        ),
    ),
)
TITLE_LIMIT = 60
_INLINE = "OPENCODE_CONFIG_CONTENT"


class OpencodeEngine(AgentCli):
    installation = Installation(
        "opencode",
        install="install it with `npm i -g opencode-ai`",
        login="run `opencode auth login`",
        keys=("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "OPENCODE_API_KEY", "GEMINI_API_KEY"),
        logins=(".local/share/opencode/auth.json", ".config/opencode/opencode.json"),
    )
    capabilities = Capabilities(
        resume=True,
        final_event=True,
        usage=True,
        cost=True,
        interactive=True,
        model=True,
        meters=True,
        tools=True,
        mcp=True,
    )
    passage = PASSAGE
    places = (
        HomePlace(
            ".config/opencode",
            reads=(
                *("opencode.json", "opencode.jsonc", "config.json", "AGENTS.md", "package.json", "node_modules"),
                *("agent", "agents", "command", "commands", "mode", "modes", "plugin", "plugins", "skill", "skills"),
                *("themes", "tool", "tools"),
            ),
            moved_by="XDG_CONFIG_HOME",
            below="opencode",
        ),
        HomePlace(
            ".local/share/opencode",
            logins=("auth.json", "mcp-auth.json"),
            keeps=("",),
            moved_by="XDG_DATA_HOME",
            below="opencode",
        ),
        HomePlace(".local/state/opencode", keeps=("",), moved_by="XDG_STATE_HOME", below="opencode"),
        HomePlace(".cache/opencode", keeps=("",), moved_by="XDG_CACHE_HOME", below="opencode"),
    )
    variables: ClassVar = {
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_SHARE": "1",
        "OPENCODE_DISABLE_TERMINAL_TITLE": "1",
    }

    def launch(self, request: TurnRequest) -> Launch:
        prompt, files = prompt_argument(request)
        env = self.environment(request)
        argv = [self.program, "run", "--format", "json", *self.words(request, env)]
        # A conversation that has a title asks no model for one, in a call whose tokens opencode does not report.
        argv += [] if request.session_id else ["--title", _title(request)]
        whole = (*argv, *self.settings.args, prompt)
        return Launch(whole, env, request.worktree, files, belongings=self.belongings(request, env))

    def parser(self) -> Parser:
        return OpencodeParser()

    def words(self, request: TurnRequest, env: Mapping[str, str]) -> list[str]:
        return ["--auto", *option("-m", self.model(request)), *option("-s", request.session_id)]

    def extra_variables(self, request: TurnRequest) -> Mapping[str, str]:
        """What is denied is denied, whatever --auto approves; of several rules the last one counts."""
        rules = {"*": "deny", **dict.fromkeys(request.tools, "allow")}
        allowed = {"OPENCODE_PERMISSION": json.dumps(rules)} if request.tools else {}
        if request.tool_server is None:
            return allowed
        return {**allowed, _INLINE: opencode_config(request.tool_server, request.base_env.get(_INLINE, ""))}


def _title(request: TurnRequest) -> str:
    return argument_text(one_line(request.task_text or request.prompt, TITLE_LIMIT)) or "Paddock"
