"""Any CLI by configuration alone, and any shell script as an agent.

    [engines.mine]
    command = ["mytool", "--prompt", "{prompt}"]
    resume = ["mytool", "--session", "{session}", "--prompt", "{prompt}"]
    session_id_regex = "session: (\\S+)"

    [engines.sh]
    command = ["bash", "-c", "{task}"]

Words are arguments and never pass through a shell of ours. `{{name}}` stands for a literal `{name}`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from paddock.core.errors import Misuse, PaddockError
from paddock.core.wording import nearest
from paddock.engines.belongings import find_belongings
from paddock.engines.bridge_lines import BridgeParser
from paddock.engines.claude_stream import ClaudeStreamParser
from paddock.engines.codex_jsonl import CodexParser
from paddock.engines.environment import MAX_ARGUMENT_BYTES, argument_text, build_environment, prompt_argument
from paddock.engines.letters import MAILBOX_VARIABLE
from paddock.engines.plain_text import PlainTextParser, SessionFinder
from paddock.engines.probe import Installation, probe_program
from paddock.engines.protocol import Capabilities, Launch, LaunchFile, Parser, Probe, TurnRequest
from paddock.engines.session_text import SessionTextParser, user_glob
from paddock.engines.settings import EngineSettings

PLACEHOLDERS = ("prompt", "prompt_file", "task", "session", "model")

# Lower-case words only, and not after a dollar sign: `${HOME}` and awk's `{print $1}` are left alone.
_PLACEHOLDER = re.compile(r"\{\{(?P<literal>[a-z_]+)\}\}|(?<!\$)\{(?P<name>[a-z_]+)\}")


@dataclass(frozen=True, slots=True)
class CommandEngine:
    """Raises Misuse at once for settings that could never work."""

    name: str
    settings: EngineSettings

    def __post_init__(self) -> None:
        check_words(self.name, "command", self.settings.command)
        check_words(self.name, "resume", self.settings.resume)
        check_words(self.name, "interactive", self.settings.interactive)
        self._check_session_log()
        self._session_pattern()

    @property
    def capabilities(self) -> Capabilities:
        structured = self.settings.format != "text"
        in_terminal = _uses(self.settings.interactive, "session")
        return Capabilities(
            resume=bool(self.settings.resume) or (not self.settings.command and in_terminal),
            chooses_session_id=_uses(self.settings.command or self.settings.interactive, "session"),
            final_event=structured,
            usage=structured,
            cost=self.settings.format == "claude-stream",
            interactive=bool(self.settings.interactive),
            headless=bool(self.settings.command),
            model=structured,
            greets=True,
            tool_starts=structured,
            meters=self.settings.format == "claude-stream",
            quota=False,
            listens=self.settings.listens,
        )

    def launch(self, request: TurnRequest) -> Launch:
        resumed = request.session_id is not None and self.settings.resume
        words = self.settings.resume if resumed else self.settings.command
        return self._launch(request, (*words, *self.settings.args))

    def interactive(self, request: TurnRequest) -> Launch | None:
        if not self.settings.interactive:
            return None
        launch = self._launch(request, self.settings.interactive)
        return replace(launch, session_log=user_glob(self.settings.session_log, launch.env))

    def session_parser(self) -> Parser | None:
        return SessionTextParser() if self.settings.session_log else None

    def parser(self) -> Parser:
        return BridgeParser(self._output_parser()) if self.settings.listens else self._output_parser()

    def _output_parser(self) -> Parser:
        pattern = self._session_pattern()
        match self.settings.format:
            case "text":
                return PlainTextParser(pattern)
            case "claude-stream":
                return SessionFinder(ClaudeStreamParser(), pattern) if pattern else ClaudeStreamParser()
            case "codex-jsonl":
                return SessionFinder(CodexParser(), pattern) if pattern else CodexParser()

    def probe(self, environment: Mapping[str, str]) -> Probe:
        program = (*self.settings.command, *self.settings.interactive)[0]
        named = Installation(program, install=f"[engines.{self.name}] names it as the command")
        return probe_program(self.name, named, self.settings, environment)

    def _launch(self, request: TurnRequest, words: Sequence[str]) -> Launch:
        values, files = self._values(request, words)
        argv = tuple(_fill(word, values) for word in words)
        for word in argv:
            if len(word.encode()) > MAX_ARGUMENT_BYTES:
                raise PaddockError(
                    f"the task is too long for an argument of engine `{self.name}` ({len(word.encode())} bytes, "
                    f"the limit is {MAX_ARGUMENT_BYTES})",
                    f"use `{{prompt_file}}` in [engines.{self.name}]",
                )
        mailbox = request.mailbox if self.settings.listens else None
        place = {MAILBOX_VARIABLE: str(mailbox)} if mailbox is not None else {}
        env = build_environment(request, self.settings, values=place)
        named = find_belongings(
            (), env, (*self.settings.command, *self.settings.resume, *self.settings.interactive, *self.settings.args)
        )
        return Launch(argv, env, request.worktree, files, belongings=named, mailbox=mailbox)

    def _values(self, request: TurnRequest, words: Sequence[str]) -> tuple[dict[str, str], tuple[LaunchFile, ...]]:
        prompt, files = prompt_argument(request)
        if _uses(words, "prompt_file") and not files:
            files = (LaunchFile(request.prompt_file, request.prompt),)
        model = request.model or self.settings.model
        if _uses(words, "model") and not model:
            raise PaddockError(
                f"engine `{self.name}` needs a model for `{{model}}` but none is set",
                f'set `model = "…"` in [engines.{self.name}] or on the agent',
            )
        values = {
            "prompt": prompt,
            "prompt_file": str(request.prompt_file),
            "task": argument_text(request.task_text),
            "session": request.session_id or request.new_session_id or "",
            "model": model,
        }
        return values, files

    def _check_session_log(self) -> None:
        log = self.settings.session_log
        if log and not log.startswith(("/", "~/")):
            raise Misuse(
                f"session_log of [engines.{self.name}] is neither absolute nor begins with `~/`: `{log}`",
                f"write the whole path, e.g. `~/.{self.name}/sessions/{{session}}.jsonl`",
            )

    def _session_pattern(self) -> re.Pattern[str] | None:
        try:
            return re.compile(self.settings.session_id_regex) if self.settings.session_id_regex else None
        except re.error as error:
            raise Misuse(
                f"session_id_regex of [engines.{self.name}] is not a regular expression: {error}",
                "it is matched with Python's `re`; put the id into the first group",
            ) from None


def check_words(engine: str, key: str, words: Sequence[str]) -> None:
    """Raises Misuse for an unknown placeholder, naming the nearest known one."""
    for word in words:
        for found in _PLACEHOLDER.finditer(word):
            name = found["name"]
            if name is not None and name not in PLACEHOLDERS:
                close = nearest(name, PLACEHOLDERS, cutoff=0.5)
                known = f"`{{{close}}}`" if close else f"one of {', '.join(f'`{{{p}}}`' for p in PLACEHOLDERS)}"
                raise Misuse(
                    f"unknown placeholder `{{{name}}}` in `{key}` of [engines.{engine}]",
                    f"did you mean {known}? To write the braces themselves, use `{{{{{name}}}}}`",
                )


def _uses(words: Sequence[str], placeholder: str) -> bool:
    return any(found["name"] == placeholder for word in words for found in _PLACEHOLDER.finditer(word))


def _fill(word: str, values: Mapping[str, str]) -> str:
    """One pass, so that a prompt which itself speaks of `{task}` is left as it is."""
    return _PLACEHOLDER.sub(
        lambda found: f"{{{found['literal']}}}" if found["literal"] else values[found["name"]], word
    )
