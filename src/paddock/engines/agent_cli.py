"""What the adapters to agent CLIs have in common: program, model, environment, and the look for an installation."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from paddock.engines.belongings import Belongings, HomePlace, find_belongings
from paddock.engines.environment import build_environment
from paddock.engines.passage import Cloud, Passage
from paddock.engines.probe import Installation, probe_program
from paddock.engines.protocol import Capabilities, Launch, LaunchFile, Parser, Probe, TurnRequest
from paddock.engines.session_text import SessionTextParser, user_glob
from paddock.engines.settings import EngineSettings


@dataclass(frozen=True)
class AgentCli(ABC):
    """`variables` are set in every environment; `terminal` are arguments for a person's terminal alone. `places` is
    what it has in the user's home."""

    name: str
    settings: EngineSettings

    installation: ClassVar[Installation]
    capabilities: ClassVar[Capabilities]
    passage: ClassVar[Passage]
    places: ClassVar[tuple[HomePlace, ...]]
    variables: ClassVar[Mapping[str, str]] = {}
    terminal: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def words(self, request: TurnRequest, env: Mapping[str, str]) -> list[str]:
        """The arguments that a turn and a terminal share."""

    def extra_variables(self, request: TurnRequest) -> Mapping[str, str]:
        """Those that depend on the turn."""
        del request
        return {}

    def files(self, request: TurnRequest, env: Mapping[str, str]) -> tuple[LaunchFile, ...]:
        """What is written before the CLI starts, whatever the prompt."""
        del request, env
        return ()

    def interactive(self, request: TurnRequest) -> Launch | None:
        env = self.environment(request)
        argv = (self.program, *self.terminal, *self.words(request, env), *self.session_words(request))
        return Launch(
            argv,
            env,
            request.worktree,
            self.files(request, env),
            session_log=self.session_log(env),
            belongings=self.belongings(request, env),
        )

    def session_words(self, request: TurnRequest) -> tuple[str, ...]:
        """The arguments that begin a conversation under the id we choose."""
        del request
        return ()

    def session_log(self, env: Mapping[str, str]) -> str:
        """A glob of the file in which its terminal keeps the conversation `{session}`; empty where none can be read."""
        return user_glob(self.settings.session_log, env)

    def session_parser(self) -> Parser | None:
        return SessionTextParser() if self.settings.session_log else None

    def belongings(self, request: TurnRequest, env: Mapping[str, str]) -> Belongings:
        """Also what the login of a chosen cloud needs, and files that the user's own arguments name."""
        home = HomePlace("", reads=tuple(file for cloud in self._clouds(request, env) for file in cloud.files))
        return find_belongings((*self.places, home), env, self.settings.args)

    def _clouds(self, request: TurnRequest, env: Mapping[str, str]) -> tuple[Cloud, ...]:
        return self.passage.chosen(env, self.model(request))

    def probe(self, environment: Mapping[str, str]) -> Probe:
        found = probe_program(self.name, self.installation, self.settings, environment)
        return replace(found, mcp=self.capabilities.mcp)

    @property
    def program(self) -> str:
        return self.settings.program or self.installation.program

    def model(self, request: TurnRequest) -> str:
        return request.model or self.settings.model

    def environment(self, request: TurnRequest) -> dict[str, str]:
        values = {**self.variables, **self.extra_variables(request)}
        return build_environment(request, self.settings, allow=self.passage, values=values)


def option(flag: str, value: str | None) -> tuple[str, ...]:
    """The flag with its value; nothing where there is no value."""
    return (flag, value) if value else ()
