"""Continue CLI (`cn`): one JSON object at the end, no conversation that can be named."""

from collections.abc import Mapping
from typing import ClassVar

from paddock.engines.agent_cli import AgentCli
from paddock.engines.belongings import HomePlace
from paddock.engines.cn_json import CnParser
from paddock.engines.environment import prompt_argument
from paddock.engines.passage import Passage
from paddock.engines.probe import Installation
from paddock.engines.protocol import Capabilities, Launch, Parser, TurnRequest

PASSAGE = Passage(("CONTINUE_*", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL"))


class CnEngine(AgentCli):
    """The models come from the user's ~/.continue/config.yaml, or from `args = ["--config", FILE]`."""

    installation = Installation(
        "cn",
        install="install it with `npm i -g @continuedev/cli`",
        login="run `cn login`, or write ~/.continue/config.yaml",
        keys=("CONTINUE_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY"),
        logins=(".continue/auth.json", ".continue/config.yaml"),
    )
    capabilities = Capabilities(final_event=True, interactive=True, model=True, streams=False)
    passage = PASSAGE
    places = (
        HomePlace(
            ".continue",
            reads=(
                *("config.yaml", "config.json", "config.ts", ".env", "permissions.yaml", ".continuerc.json"),
                *("rules", "prompts", "models", "mcpServers", "assistants", "agents", "skills"),
            ),
            logins=("auth.json",),
            keeps=("sessions",),
        ),
    )
    variables: ClassVar = {"CONTINUE_CLI_AUTO_UPDATED": "true", "CONTINUE_TELEMETRY_ENABLED": "0"}

    def launch(self, request: TurnRequest) -> Launch:
        prompt, files = prompt_argument(request)
        env = self.environment(request)
        argv = (self.program, "-p", "--format", "json", *self.words(request, env), prompt)
        return Launch(argv, env, request.worktree, files, belongings=self.belongings(request, env))

    def parser(self) -> Parser:
        return CnParser()

    def words(self, request: TurnRequest, env: Mapping[str, str]) -> list[str]:
        return ["--auto", *self.settings.args]
