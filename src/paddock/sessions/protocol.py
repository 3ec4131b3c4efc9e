"""What the fleet asks of whatever runs its turns: start, observe, follow, stop, sweep.

A turn is one command. It is started exactly once, lives on without whoever started it, and leaves its whole output
and how it ended to be read by anybody, also by a daemon that comes later. Nothing here says how: an implementation
knows the processes, files or hosts behind a turn and tells nobody.

The promises are pinned by tests/sessions/test_conformance.py, which every implementation has to pass.
"""

import signal
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Protocol

from paddock.core.lead import Lead
from paddock.sessions.fence import Fence
from paddock.sessions.host import Host
from paddock.sessions.mailbox import Letter


@dataclass(frozen=True, slots=True)
class Turn:
    """Names a turn for good. `owner` is what is swept as a whole: an attempt, or a CI run."""

    owner: str
    number: int


MakeFence = Callable[[], Fence | None]
"""None where the command needs no fence. May raise PaddockError."""


def no_fence() -> None:
    return None


@dataclass(frozen=True, slots=True)
class TurnOrder:
    """One turn to run. `env` is the command's whole environment; Paddock's own variables are added to it.

    `cwd` is a folder of the host that runs it. With `one_stream` standard error goes where standard output goes, so
    that both are read in the order they were written. `logs` are files in which the command tells more. With `mail`
    it has a mailbox. `programs` are what the command in its turn starts: they have to be there too. `fence` is asked
    when the command is about to begin. Without one the command sees what its starter sees; with one, what it started
    ends with it.
    """

    turn: Turn
    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: Path
    one_stream: bool = False
    logs: tuple[Path, ...] = ()
    mail: bool = False
    programs: tuple[str, ...] = ()
    fence: MakeFence = no_fence


@dataclass(frozen=True, slots=True)
class NeverStarted:
    """Nothing has run this turn, and only a new `start` can make it run."""


@dataclass(frozen=True, slots=True)
class Running:
    """`output_bytes` counts both streams; `last_output_at` is when these or a log were last written to, if ever."""

    started_at: float
    last_output_at: float | None
    output_bytes: int


@dataclass(frozen=True, slots=True)
class Exited:
    """Either `code` or `signal` is set. 130 and 141 always count as signals: the shell does not tell apart
    a command ended by SIGINT or SIGPIPE from one that returned those numbers to say the same."""

    code: int | None
    signal: int | None
    started_at: float
    at: float


@dataclass(frozen=True, slots=True)
class Vanished:
    """It was started, and nobody wrote down how it ended: all of it was killed outright, the disk was full, or its
    host restarted (`rebooted`). Processes of it may be left; sweep before judging."""

    started_at: float
    rebooted: bool


TurnState = NeverStarted | Running | Exited | Vanished


class Stream(Enum):
    """Where a turn's words are read."""

    STDOUT = "stdout"
    STDERR = "stderr"
    LOG = "log"


@dataclass(frozen=True, slots=True)
class Line:
    """One line without its end, and without what went beyond the reader's limit."""

    offset: int
    text: str


class OutputReader(Protocol):
    """Reads one stream of a turn as it grows, each line once, in constant memory.

    `offset` is the start of the first line not handed out yet: a later reader may start from there. `at_end` says
    that the last `read` has seen all there was: without it, no lines only means that none has come to its end yet.
    """

    offset: int
    at_end: bool

    def size(self) -> int:
        """How many bytes have been written to the stream."""

    def read(self) -> list[Line]:
        """The next complete lines, a bounded part of them."""

    def skip_to_tail(self, keep_bytes: int) -> None:
        """Go on with the last `keep_bytes` if there is more than that to read."""

    def finish(self) -> list[Line]:
        """A last line that has no end. Call after the turn has ended and `read` has come to the end."""

    def written_at(self, offset: int) -> float | None:
        """When the byte at `offset` was there; None when nobody has noted it."""


@dataclass(frozen=True, slots=True)
class LiveProcess:
    """A process of some turn. `name` says which to a person of its host; `command` is harmless to a terminal."""

    owner: str
    name: str
    age_seconds: float
    command: str


@dataclass(frozen=True, slots=True)
class SweepReport:
    """`survivors` could not be ended: not ours to signal, stuck in the kernel, or breeding faster than we kill."""

    ended: tuple[LiveProcess, ...] = ()
    survivors: tuple[LiveProcess, ...] = ()

    def of(self, owner: str) -> "SweepReport":
        """The part of the report about one owner."""
        return SweepReport(
            tuple(process for process in self.ended if process.owner == owner),
            tuple(process for process in self.survivors if process.owner == owner),
        )


class Sessions(Protocol):
    """The turns of one log. All but `stop` block: call them in a thread where that matters.

    Turns are started, stopped, swept and cut by `lead`; each raises Succeeded once another leads. A turn that a former
    daemon had claimed but whose command had not begun is started by the next one, and never by the former.
    """

    lead: Lead

    @property
    def host(self) -> Host:
        """Where `start` starts."""

    def reaches(self, host: Host) -> bool:
        """Whether turns that were started there can be observed, followed, stopped and swept from here."""

    def start(self, order: TurnOrder) -> None:
        """Starts the turn unless it has been started, by whomever; does not wait for the command.

        Raises PaddockError when it cannot be started; nothing runs then, and the turn has never been started.
        """

    def observe(self, turn: Turn) -> TurnState:
        """What became of a turn, whoever started it. Changes nothing."""

    def runs_child(self, turn: Turn, since: float) -> bool:
        """Whether something that the turn's command started after `since` (epoch seconds) is still at work."""

    def outputs(self, turn: Turn) -> tuple[tuple[Stream, OutputReader], ...]:
        """Readers of all a turn writes, standard output first, then standard error, then its logs."""

    def output(self, turn: Turn, stream: Stream, offset: int = 0) -> OutputReader:
        """One of the two standard streams, from an offset that an earlier reader has come to."""

    def find_log(self, turn: Turn, pattern: str) -> OutputReader | None:
        """Another file of the turn's host in which its command tells more, by an absolute glob; of several the last by
        name, None while there is none."""

    def tail(self, turn: Turn, stream: Stream, most_bytes: int) -> str:
        """The end of a standard stream, as text. Its first line may be torn."""

    def bound(self, turn: Turn, limit_bytes: int) -> bool:
        """Keeps the head and the tail of each stream within the limit, offsets unchanged. False where it cannot."""

    def is_gone(self, process: str) -> bool:
        """Whether a process of this host, as `ProcessIdentity` writes it, has ended for certain."""

    def mailbox(self, turn: Turn) -> Path:
        """Where the turn's command finds letters, on its host. `start` makes it where the order asks for one."""

    def post(self, turn: Turn, letter: Letter) -> None:
        """Lays a letter into the turn's mailbox and wakes its reader; posting it again changes nothing. What becomes
        of it is told by the turn's output."""

    def follow(self, turn: Turn, wake: Callable[[], None]) -> None:
        """Calls `wake` on the running event loop when the turn has written more, what is there already included,
        and once when it has ended, also if that is past. The caller looks for itself at what has happened."""

    def forget(self, turn: Turn) -> None:
        """No waking for this turn any more; harmless for one that is not followed."""

    async def stop(self, turn: Turn, grace_seconds: float, signum: int = signal.SIGTERM) -> bool:
        """Ends a turn and everything of its owner: the signal, some grace, then force. Whether force was needed.

        A turn that has ended is only swept."""

    def find(self) -> tuple[LiveProcess, ...]:
        """Every process of every turn of this log."""

    def sweep(self, owners: Collection[str]) -> SweepReport:
        """Ends every process of these owners. What cannot be identified as theirs is never touched."""

    def close(self) -> None:
        """Follows nothing any more. Turns run on."""
