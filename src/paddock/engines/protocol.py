"""What every engine offers: how to start a turn, how to read its output, how to look whether it is there.

An engine never runs anything itself (the probe of an installation apart): `launch` describes a process and the
sessions layer starts it. So one description serves local processes, tmux and remote machines alike.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Protocol

from paddock.core.trace import TraceEntry
from paddock.engines.belongings import Belongings

# A longer line is not parsed: the raw file keeps it, the trace says that it was there.
MAX_LINE_BYTES = 4 * 1024 * 1024


class Source(Enum):
    """Where a line was read: engines put the same facts in different places."""

    STDOUT = "stdout"
    STDERR = "stderr"
    LOG = "log"


@dataclass(frozen=True, slots=True)
class Capabilities:
    """`chooses_session_id`: we give the id before the start, so that a killed first turn can be resumed.
    `final_event`: a good turn ends with the engine's own word; its absence then means that it did not.
    `model`: it waits for answers of a provider's model. `greets`: it prints something before its first call to one.
    `streams`: it prints as it goes, so that silence tells something. `tool_starts`: it tells when a tool begins.
    `meters`: it tells what it has used as it goes, not only at its end.
    `quota`: its calls count towards the quota of an account. `free`: nothing it does is ever billed.
    `tools`: it can be told which tools it may use.
    `bound_to_folder`: a conversation can only be resumed, or only safely, in the folder it began in.
    `mcp`: it can be given an MCP server for one turn.
    `headless`: it runs without a terminal.
    `listens`: its turns read letters from `TurnRequest.mailbox` while they run, and tell which they have taken.
    `forks`: a conversation can be resumed as a copy, so that the original stays as it is.
    """

    resume: bool = False
    chooses_session_id: bool = False
    final_event: bool = False
    usage: bool = False
    cost: bool = False
    interactive: bool = False
    headless: bool = True
    model: bool = False
    greets: bool = False
    streams: bool = True
    tool_starts: bool = False
    meters: bool = False
    quota: bool = True
    free: bool = False
    tools: bool = False
    bound_to_folder: bool = True
    mcp: bool = False
    listens: bool = False
    forks: bool = False


@dataclass(frozen=True, slots=True)
class ToolServer:
    """An MCP server that a CLI starts for its turn, and the variables that it needs of the attempt's environment."""

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """One turn to be started.

    `session_id` names the conversation to resume; None begins a new one, under `new_session_id` where the
    engine lets us choose. `tools` are the only ones it may use, by the names its CLI gives them; none means all.
    `base_env` is the parent's environment, of which only allowed names pass;
    `attempt_env` is set as it is. `folder` is the attempt's own place for side files, outside the worktree;
    `memory` is the conversation's own, for what it needs to go on in another attempt. `tool_server` is for an engine
    that takes one. `mailbox` is where an engine that listens finds letters while the turn runs. `messages` are those
    that the prompt tells, by the numbers of their records. With `fork` the conversation is resumed as a copy.
    `repository` is the person's own checkout, which the worktree is another one of.
    `fenced`: the turn runs in a fence.
    """

    prompt: str
    worktree: Path
    folder: Path
    memory: Path | None = None
    task_text: str = ""
    session_id: str | None = None
    new_session_id: str | None = None
    model: str | None = None
    tools: tuple[str, ...] = ()
    attempt: int = 1
    turn: int = 1
    git_dir: Path | None = None
    base_env: Mapping[str, str] = field(default_factory=dict)
    attempt_env: Mapping[str, str] = field(default_factory=dict)
    tool_server: ToolServer | None = None
    mailbox: Path | None = None
    messages: tuple[int, ...] = ()
    fork: bool = False
    repository: Path | None = None
    fenced: bool = False

    @property
    def first_session_id(self) -> str | None:
        """The id to begin a conversation under, or the copy of one; None when one is resumed as it is."""
        return None if self.session_id and not self.fork else self.new_session_id

    @property
    def reopening(self) -> str:
        """What is done with the conversation of before, in the words of those CLIs that have commands for it."""
        return "" if not self.session_id else "fork" if self.fork else "resume"

    @property
    def prompt_file(self) -> Path:
        return self.folder / f"turn-{self.turn}.prompt.md"


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC, 0o600)


@dataclass(frozen=True, slots=True)
class LaunchFile:
    """A file to be written before the process starts."""

    path: Path
    content: str

    def write(self) -> None:
        """For its owner alone; its folder is made when missing. What is in its place is removed, never opened: an agent
        may have put a link or a pipe there."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.unlink(missing_ok=True)
        with open(self.path, "x", encoding="utf-8", opener=_open_private) as file:
            file.write(self.content)


@dataclass(frozen=True, slots=True)
class Launch:
    """A process to start: `env` is complete, nothing else passes. stdin is /dev/null, the directory `cwd`.

    Lines of `logs` are fed to the parser with `Source.LOG`, as they grow or after the exit. So is the end of the file
    that `session_log` names, an absolute glob in which `{session}` stands for the conversation's id. A fence shows it
    `belongings` of the user's home, `files`, and `writes`, which are folders of its own, and other `programs` that it
    starts. It reads letters from `mailbox`, where that is given. `stand_ins` are shown in a fence instead of the
    person's own files: each the place, and what is shown there, which the command may write.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: Path
    files: tuple[LaunchFile, ...] = ()
    logs: tuple[Path, ...] = ()
    session_log: str = ""
    belongings: Belongings = Belongings()  # noqa: RUF009 (frozen)
    writes: tuple[Path, ...] = ()
    programs: tuple[str, ...] = ()
    mailbox: Path | None = None
    stand_ins: tuple[tuple[Path, Path], ...] = ()


@dataclass(frozen=True, slots=True)
class Probe:
    """What is known of an installation without spending a token.

    `authenticated` is None where the CLI keeps its login in a place that cannot be seen from outside; `login` says
    what was seen. `mcp`: it can be given an MCP server for one turn.
    """

    engine: str
    program: str
    path: Path | None
    version: str = ""
    authenticated: bool | None = None
    login: str = ""
    hints: tuple[str, ...] = ()
    mcp: bool = False

    @property
    def installed(self) -> bool:
        return self.path is not None


class Parser(Protocol):
    """Translates the output of one turn, line by line. It never raises, whatever the bytes."""

    def feed(self, line: bytes, source: Source = Source.STDOUT) -> Iterable[TraceEntry]:
        """The entries one line stands for; `line` may or may not carry its newline."""

    def close(self) -> Iterable[TraceEntry]:
        """The entries that only the end of the output makes sure of. Call once, after the last line."""


class Engine(Protocol):
    """An adapter to one agent CLI."""

    @property
    def name(self) -> str: ...

    @property
    def capabilities(self) -> Capabilities: ...

    def launch(self, request: TurnRequest) -> Launch:
        """The process of one headless turn; a resumed one when `request.session_id` is given."""

    def interactive(self, request: TurnRequest) -> Launch | None:
        """The CLI's own interactive mode on the same conversation, for a person in a terminal; None if it has none."""

    def parser(self) -> Parser: ...

    def session_parser(self) -> Parser | None:
        """Reads the file that `session_log` of an interactive launch names; None where that cannot be read."""

    def probe(self, environment: Mapping[str, str]) -> Probe:
        """Looks for the program and asks it for its version; takes a few seconds at most."""
