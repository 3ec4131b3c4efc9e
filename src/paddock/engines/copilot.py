"""GitHub Copilot CLI (`copilot`)."""

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from paddock.engines.agent_cli import AgentCli, option
from paddock.engines.belongings import HomePlace
from paddock.engines.copilot_json import CopilotParser
from paddock.engines.environment import prompt_argument
from paddock.engines.passage import Passage
from paddock.engines.probe import Installation
from paddock.engines.protocol import Capabilities, Launch, LaunchFile, Parser, TurnRequest
from paddock.engines.tool_server import servers_file, servers_path

PASSAGE = Passage(("COPILOT_*", "GH_TOKEN", "GITHUB_TOKEN", "GH_HOST"))


class CopilotEngine(AgentCli):
    installation = Installation(
        "copilot",
        install="install it with `npm i -g @github/copilot`",
        login="run `copilot login`",
        keys=("COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "COPILOT_PROVIDER_API_KEY"),
        logins=(".copilot/config.json",),
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
            ".copilot",
            reads=("mcp-config.json", "settings.json", "copilot-instructions.md", "agents", "skills", "hooks"),
            logins=("config.json",),
            keeps=("session-state",),
            moved_by="COPILOT_HOME",
        ),
    )
    variables: ClassVar = {"COPILOT_AUTO_UPDATE": "false"}

    def launch(self, request: TurnRequest) -> Launch:
        prompt, files = prompt_argument(request)
        env = self.environment(request)
        argv = [self.program, "-p", prompt, *self.words(request, env), "--output-format", "json"]
        argv += [*option("--session-id", request.first_session_id), *self.settings.args]
        logs = _session_events(request, env)
        written = (*files, *self.files(request, env))
        return Launch(tuple(argv), env, request.worktree, written, logs, belongings=self.belongings(request, env))

    def parser(self) -> Parser:
        return CopilotParser()

    def words(self, request: TurnRequest, env: Mapping[str, str]) -> list[str]:
        words = ["--allow-all-tools", "--allow-all-paths", "--disable-builtin-mcps"]
        words += ["--additional-mcp-config", f"@{servers_path(request)}"] if request.tool_server is not None else []
        words += option("--model", self.model(request))
        words += [f"--available-tools={','.join(request.tools)}"] if request.tools else []
        return words + ([f"--resume={request.session_id}"] if request.session_id else [])

    def files(self, request: TurnRequest, env: Mapping[str, str]) -> tuple[LaunchFile, ...]:
        return servers_file(request, type="local", tools=["*"])

    def extra_variables(self, request: TurnRequest) -> Mapping[str, str]:
        """A provider of one's own needs no login at GitHub, and works only when told to stay offline."""
        return {"COPILOT_OFFLINE": "true"} if request.base_env.get("COPILOT_PROVIDER_BASE_URL") else {}


def _session_events(request: TurnRequest, env: Mapping[str, str]) -> tuple[Path, ...]:
    """Where copilot writes down the conversation, its tokens included."""
    session = request.session_id or request.new_session_id
    home = Path(env["COPILOT_HOME"]) if env.get("COPILOT_HOME") else Path(env.get("HOME", "/")) / ".copilot"
    return (home / "session-state" / session / "events.jsonl",) if session else ()
