"""OpenAI Codex CLI (`codex`).

Everything is passed as `-c key=value`: the user's config.toml is read by codex as ever and never written.
"""

import glob
import json
import tomllib
from collections.abc import Mapping
from pathlib import Path

from paddock.engines.agent_cli import AgentCli
from paddock.engines.belongings import HomePlace
from paddock.engines.codex_jsonl import CodexParser
from paddock.engines.codex_session import CodexSessionParser
from paddock.engines.environment import prompt_argument
from paddock.engines.passage import Passage
from paddock.engines.probe import Installation
from paddock.engines.protocol import Capabilities, Launch, Parser, TurnRequest
from paddock.engines.tool_server import codex_overrides
from paddock.engines.trust import codex_trust

PASSAGE = Passage(("OPENAI_*", "CODEX_HOME", "CODEX_API_KEY", "CODEX_ACCESS_TOKEN", "AZURE_OPENAI_API_KEY"))
_OVERRIDES = (
    "features.plugins=false",
    "features.unbounded_connection_retries=false",
    "analytics.enabled=false",
    "check_for_update_on_startup=false",
)
# The name under which a gateway from OPENAI_BASE_URL is made known to codex.
_GATEWAY = "paddock"


class CodexEngine(AgentCli):
    installation = Installation(
        "codex",
        install="install it with `npm i -g @openai/codex`",
        login="run `codex login`, or set OPENAI_API_KEY",
        keys=("OPENAI_API_KEY", "CODEX_API_KEY"),
        logins=("auth.json",),
        folder=".codex",
        moved_by="CODEX_HOME",
    )
    capabilities = Capabilities(
        resume=True,
        final_event=True,
        usage=True,
        interactive=True,
        model=True,
        greets=True,
        tool_starts=True,
        bound_to_folder=False,
        mcp=True,
        forks=True,
    )
    passage = PASSAGE
    places = (
        HomePlace(
            ".codex",
            reads=("config.toml", "AGENTS.md", "AGENTS.override.md", "prompts", "rules", "skills", "agents"),
            logins=("auth.json",),
            keeps=("sessions", "archived_sessions"),
            moved_by="CODEX_HOME",
        ),
    )

    def launch(self, request: TurnRequest) -> Launch:
        prompt, files = prompt_argument(request)
        env = self.environment(request)
        resumed = [request.session_id] if request.session_id else []
        argv = [self.program, "exec", *([request.reopening] if resumed else []), "--json", *self._freedom(request)]
        argv += [*self._overrides(request, env), *self.settings.args, *resumed, prompt]
        log, own = self.session_log(env), self.belongings(request, env)
        return Launch(tuple(argv), env, request.worktree, files, session_log=log, belongings=own)

    def parser(self) -> Parser:
        return CodexParser()

    def session_parser(self) -> Parser:
        return CodexSessionParser()

    def session_log(self, env: Mapping[str, str]) -> str:
        return f"{glob.escape(str(_codex_home(env)))}/sessions/*/*/*/rollout-*-{{session}}.jsonl"

    def words(self, request: TurnRequest, env: Mapping[str, str]) -> list[str]:
        resumed = [request.session_id] if request.session_id else []
        reopened = [request.reopening] if resumed else []
        trusted = self._trust(request, env)
        options = (*self._freedom(request), *self._overrides(request, env), *_flags(trusted))
        return [*reopened, *options, *resumed]

    def _trust(self, request: TurnRequest, env: Mapping[str, str]) -> tuple[str, ...]:
        if request.repository is None:
            return ()
        override = codex_trust(_codex_home(env) / "config.toml", request.repository, request.worktree)
        return (override,) if override else ()

    def _freedom(self, request: TurnRequest) -> list[str]:
        if not self.settings.sandbox:
            return ["--dangerously-bypass-approvals-and-sandbox"]
        # A linked worktree commits into the main repository's .git, which lies outside the workspace.
        roots = json.dumps(_git_roots(request))
        return _flags(('sandbox_mode="workspace-write"', f"sandbox_workspace_write.writable_roots={roots}"))

    def _overrides(self, request: TurnRequest, env: Mapping[str, str]) -> list[str]:
        model = self.model(request)
        overrides = [*_OVERRIDES, *([f"model={json.dumps(model)}"] if model else [])]
        gateway = env.get("OPENAI_BASE_URL")
        if gateway:
            overrides += [f'model_provider="{_GATEWAY}"', f"model_providers.{_GATEWAY}={_provider(gateway)}"]
        else:
            provider = _configured_provider(env)
            overrides += _bounded_retries(provider) if provider else []
        overrides += codex_overrides(request.tool_server) if request.tool_server is not None else []
        return _flags(overrides)


def _flags(overrides: list[str] | tuple[str, ...]) -> list[str]:
    return [word for override in overrides for word in ("-c", override)]


def _provider(base_url: str) -> str:
    return (
        f'{{name="{_GATEWAY}",base_url={json.dumps(base_url)},env_key="OPENAI_API_KEY",wire_api="responses",'
        f"request_max_retries=0,stream_max_retries=1}}"
    )


def _bounded_retries(provider: str) -> list[str]:
    return [f"model_providers.{provider}.request_max_retries=0", f"model_providers.{provider}.stream_max_retries=1"]


def _codex_home(env: Mapping[str, str]) -> Path:
    return Path(env["CODEX_HOME"]) if env.get("CODEX_HOME") else Path(env.get("HOME", "/")) / ".codex"


def _configured_provider(env: Mapping[str, str]) -> str | None:
    """The provider of the user's own config that has a table there: codex's built-in ones cannot be changed."""
    try:
        config = tomllib.loads((_codex_home(env) / "config.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    name, tables = config.get("model_provider"), config.get("model_providers")
    if not isinstance(name, str) or not isinstance(tables, dict) or name not in tables:
        return None
    return name if name.replace("-", "").replace("_", "").isalnum() else None


def _git_roots(request: TurnRequest) -> list[str]:
    return [str(request.git_dir)] if request.git_dir is not None else []
