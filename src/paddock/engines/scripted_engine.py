"""The adapter to Paddock's own scriptable agent (scripted.py)."""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from paddock.engines import letters, scripted, scripted_conversation, scripted_plays
from paddock.engines.agent_cli import option
from paddock.engines.belongings import Belongings
from paddock.engines.bridge_lines import BridgeParser
from paddock.engines.claude_stream import ClaudeStreamParser
from paddock.engines.environment import build_environment, prompt_argument
from paddock.engines.protocol import Capabilities, Launch, Parser, Probe, TurnRequest
from paddock.engines.settings import NO_SETTINGS, EngineSettings

_PROGRAM = tuple(Path(module.__file__ or "") for module in (scripted, scripted_conversation, scripted_plays, letters))


@dataclass(frozen=True, slots=True)
class ScriptedEngine:
    name: str = "scripted"
    settings: EngineSettings = NO_SETTINGS

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(
            resume=True,
            chooses_session_id=True,
            final_event=True,
            usage=True,
            cost=True,
            greets=True,
            tool_starts=True,
            meters=True,
            quota=False,
            free=True,
            listens=True,
            forks=True,
        )

    def launch(self, request: TurnRequest) -> Launch:
        prompt, files = prompt_argument(request)
        argv = [sys.executable, "-I", "-S", scripted.__file__, "--state", str(request.memory or request.folder)]
        argv += ["--attempt", str(request.attempt)]
        argv += [*option("--resume", request.session_id), *option("--session", request.first_session_id)]
        argv += ["--fork", "yes"] if request.fork and request.session_id else []
        argv += option("--model", request.model or self.settings.model)
        if request.task_text:
            argv += ["--task", request.task_text[:1000].replace("\0", "")]
        argv += ["--mailbox", str(request.mailbox)] if request.mailbox is not None else []
        argv += ["--listens", "yes"] if self.settings.listens else []
        argv += ["--prompt-file", str(request.prompt_file)] if files else ["--prompt", prompt]
        return Launch(
            (*argv, *self.settings.args),
            build_environment(request, self.settings),
            request.worktree,
            files,
            belongings=Belongings(reads=(*_PROGRAM, *self._plays())),
            writes=(request.memory or request.folder,),
            mailbox=request.mailbox,
        )

    def _plays(self) -> Iterator[Path]:
        words = self.settings.args
        return (Path(folder) for word, folder in pairwise(words) if word == "--plays")

    def interactive(self, request: TurnRequest) -> Launch | None:
        del request
        return None

    def parser(self) -> Parser:
        return BridgeParser(ClaudeStreamParser())

    def session_parser(self) -> Parser | None:
        return None

    def probe(self, environment: Mapping[str, str]) -> Probe:
        del environment
        return Probe(
            self.name,
            sys.executable,
            Path(scripted.__file__),
            version="built in",
            authenticated=True,
            login="needs no login",
        )
