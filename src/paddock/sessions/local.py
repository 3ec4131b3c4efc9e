"""Turns as detached local processes: starting one exactly once, and seeing what became of it.

A turn leaves these files in its attempt's folder, each named `turn-N` and an ending:

    .out .err   what the command wrote, appended by the command itself; only .out with `one_stream`
    .logs       the paths of other files in which the command tells more
    .times      how its output grew, noted by whoever follows it
    .mail       letters to a command that reads them while it runs; see sessions/mailbox.py
    .pid        who runs the turn: pid, start time, boot, pid namespace, the daemon's generation, claim. Hard-linked
                into place, so it appears whole and only the first starter's link succeeds
    .CLAIM.go   of a daemon's turn: that the command of this claim has begun; or, if a later daemon made it first,
                that it never will
    .exit       how it ended, renamed into place: the shell's words about a signal, if any, then the status.
                As `.ending` if whoever ended the turn's processes hit the one that renames it

The order of a start makes it safe to die anywhere in it. The starter spawns a shim that waits for the end of
its standard input, links `.pid` with the shim's identity and a claim only that shim knows, and closes the
pipe. The shim then runs the command if `.pid` carries its claim and leaves without a trace if not. So a
starter that dies before the link has started nothing, one that dies after it has started the turn, and of
two starters at once exactly one shim goes on. Nobody has to guess from a clock.

A starter may also fall asleep in between, and another daemon lead when it wakes. The shim does not run its command
unless the leader's file still says what its starter said. A daemon that finds an older one's claim whose command has
not begun takes its `.go`, and starts the turn by a claim of its own.

A file system that lost power may forget `.pid`; the process is gone then too, so starting again is right.
"""

import contextlib
import errno
import os
import secrets
import shutil
import signal
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import BinaryIO

import msgspec

from paddock.core.errors import PaddockError
from paddock.core.lead import Lead
from paddock.sessions.ancestry import MARK_VARIABLE
from paddock.sessions.bubblewrap import this_system
from paddock.sessions.fence import INNER_COMMAND, NAMESPACES, fence_argv
from paddock.sessions.identity import ProcessIdentity, current_boot, current_space, identify, same_process
from paddock.sessions.marks import Mark, MarkedProcess, cut_command
from paddock.sessions.protocol import Exited, NeverStarted, Running, Stream, TurnOrder, TurnState, Vanished
from paddock.sessions.regular import open_regular, stat_regular

SHIM_COMMAND = ("/bin/sh", str(Path(__file__).with_name("shim.sh")))
_DRAFT = ".claim"
_NEVER = "never\n"
_LOGS_BYTES = 1 << 16
FENCE_ENDED = "The fence has ended"
"""Said before bubblewrap's status. It counts only where the shell in the fence was killed before it could tell more."""
SIGNALS_WITHOUT_WORDS = (signal.SIGINT, signal.SIGPIPE)
"""Shells say nothing when one of these ends a command."""


@dataclass(frozen=True)
class TurnFiles:
    """Where the parts of a turn's record are: `record` is what they are all named after."""

    record: Path

    @classmethod
    def of(cls, folder: Path, turn: int) -> "TurnFiles":
        return cls(folder / f"turn-{turn}")

    @cached_property
    def out(self) -> Path:
        return self._part("out")

    @cached_property
    def err(self) -> Path:
        return self._part("err")

    @cached_property
    def logs(self) -> Path:
        return self._part("logs")

    @cached_property
    def pid(self) -> Path:
        return self._part("pid")

    @cached_property
    def exit(self) -> Path:
        return self._part("exit")

    @cached_property
    def ending(self) -> Path:
        return self._part("ending")

    @cached_property
    def mail(self) -> Path:
        return self._part("mail")

    def _part(self, ending: str) -> Path:
        return Path(f"{self.record}.{ending}")

    def of_stream(self, stream: Stream) -> Path:
        return self.err if stream is Stream.STDERR else self.out

    def read_logs(self) -> tuple[Path, ...]:
        """The files in which the command of a started turn tells more."""
        try:
            with open(self.logs, encoding="utf-8", opener=open_regular) as file:
                return tuple(map(Path, file.read(_LOGS_BYTES).splitlines()))
        except FileNotFoundError:
            return ()


def start_turn(
    order: TurnOrder, files: TurnFiles, mark: Mark, lead: Lead, checkpoint: Callable[[str], None]
) -> ProcessIdentity:
    """Start the turn unless it has been started, and return the identity of the one shim that runs it.

    Takes a few milliseconds and does not wait for the command. Raises `PaddockError` when the command or a
    directory cannot be used; nothing runs then, and the turn has never been started. Raises `Succeeded` when another
    daemon leads.
    """
    lead.require()
    reap_children()
    if (earlier := _read_claim(files)) is not None and not _take_over(files, earlier, lead):
        _drop_drafts(files)
        return earlier.identity
    command = find_command(order, files.record.parent)
    if order.logs:
        files.logs.write_text("\n".join(map(str, order.logs)), encoding="utf-8")
    claim = secrets.token_hex(8)
    argv = [*SHIM_COMMAND, str(files.record), claim, lead.post, lead.sign, *_fenced(order, command)]
    env = {**order.env, "PWD": str(order.cwd), **mark.variables(os.environ.get(MARK_VARIABLE, ""))}
    shim = _spawn_shim(order, files, argv, env, checkpoint)
    try:
        checkpoint("turn.spawned")
        identity = identify(shim.pid)
        if identity is not None:
            _link_claim(files, _Claim(identity, claim, lead.generation), checkpoint)
        checkpoint("turn.claimed")
    finally:
        _release(shim)
    checkpoint("turn.released")
    if (winner := _read_claim(files)) is None:
        raise PaddockError(
            f"{_words(order)} did not start: its process ended at once",
            "look for what kills new processes on this machine (memory, process limits), then retry",
        )
    return winner.identity


def _words(order: TurnOrder) -> str:
    return f"turn {order.turn.number} of attempt `{order.turn.owner}`"


def find_command(order: TurnOrder, *folders: Path) -> str:
    """The command's full path: a shell would take a bare name for one of its own commands first. Raises PaddockError
    where it, or one of the folders, is not there."""
    where = f"{_words(order)} cannot start"
    for directory in (order.cwd, *folders):
        if not directory.is_dir():
            raise PaddockError(f"{where}: directory `{directory}` does not exist")
    for name in order.programs:
        _find_program(order, name, where)
    return _find_program(order, order.argv[0], where)


def _find_program(order: TurnOrder, name: str, where: str) -> str:
    path = find_program(order, name)
    if path is None:
        raise PaddockError(f"{where}: command `{name}` was not found", f"install `{name}` or put it in the PATH")
    return path


def find_program(order: TurnOrder, name: str) -> str | None:
    """Its full path, as the order's own command would find it."""
    if os.sep in name:
        path: str | None = os.path.join(order.cwd, name)
    else:
        path = shutil.which(name, path=order.env.get("PATH", os.defpath))
    return os.path.join(order.cwd, path) if path is not None and os.access(path, os.X_OK) else None


def _fenced(order: TurnOrder, command: str) -> tuple[str, ...]:
    """What follows in the shim's arguments."""
    argv = (command, *order.argv[1:])
    if (fence := order.fence()) is None:
        return ("", *argv)
    return (FENCE_ENDED, *fence_argv(fence, this_system(), order.cwd, argv))


def _spawn_shim(
    order: TurnOrder, files: TurnFiles, argv: list[str], env: Mapping[str, str], checkpoint: Callable[[str], None]
) -> "subprocess.Popen[bytes]":
    with contextlib.ExitStack() as streams:
        out = streams.enter_context(_append_to(files.out, order))
        err = subprocess.STDOUT if order.one_stream else streams.enter_context(_append_to(files.err, order))
        checkpoint("turn.opened")
        try:
            shim = subprocess.Popen(
                argv, cwd=order.cwd, env=env, stdin=subprocess.PIPE, stdout=out, stderr=err, start_new_session=True
            )
        except OSError as error:
            raise PaddockError(
                f"{_words(order)} cannot start: {error.strerror}",
                "pass a long prompt as {prompt_file}" if error.errno == errno.E2BIG else None,
            ) from error
    _children.add(shim.pid)
    return shim


def _append_to(path: Path, order: TurnOrder) -> BinaryIO:
    try:
        return open(path, "ab", opener=open_regular)
    except FileNotFoundError as error:
        raise PaddockError(
            f"{_words(order)} cannot start: `{path}` is not a regular file",
            "an agent may have put something there: remove it, then retry",
        ) from error


def _take_over(files: TurnFiles, earlier: "_Claim", lead: Lead) -> bool:
    """Whether the turn was only claimed, by a former daemon, and is free again: its command has not begun."""
    if not earlier.word or earlier.generation >= lead.generation or files.exit.exists() or files.ending.exists():
        return False
    go = files.record.with_name(f"{files.record.name}.{earlier.word}.go")
    try:
        with open(go, "x", encoding="ascii") as file:
            file.write(_NEVER)
    except FileExistsError:
        if go.read_text("ascii", "replace") != _NEVER:
            return False
    files.pid.unlink(missing_ok=True)
    return True


def _link_claim(files: TurnFiles, claim: "_Claim", checkpoint: Callable[[str], None]) -> None:
    """Make it the one that runs the turn, unless another already is."""
    draft = files.record.with_name(f"{files.record.name}.{claim.word}{_DRAFT}")
    draft.write_text(claim.as_text(), "ascii")
    try:
        checkpoint("turn.drafted")
        # Missing: another starter has linked its own and cleared this one away.
        with contextlib.suppress(FileExistsError, FileNotFoundError):
            os.link(draft, files.pid)
            checkpoint("turn.linked")
    finally:
        draft.unlink(missing_ok=True)
    _drop_drafts(files)


def _drop_drafts(files: TurnFiles) -> None:
    """Once the turn is somebody's, drafts are of no use: this starter's, and those of starters that died."""
    for draft in files.record.parent.glob(f"{files.record.name}.*{_DRAFT}"):
        draft.unlink(missing_ok=True)


def _release(shim: "subprocess.Popen[bytes]") -> None:
    """Let the shim look whether the turn is its own."""
    assert shim.stdin is not None
    shim.stdin.close()
    # It is not waited for here and may outlive this process; `reap_children` buries it by its pid.
    shim.returncode = 0


_children: set[int] = set()
"""Shims this process spawned and has not reaped. Until it does, their pids cannot come to mean others."""


def reap_children() -> None:
    """Bury the shims of this process that have ended. Cheap; other children are left alone."""
    for pid in tuple(_children):
        try:
            reaped, _ = os.waitpid(pid, os.WNOHANG)
        except ChildProcessError:
            reaped = pid
        if reaped:
            _children.discard(pid)


def is_shim(process: MarkedProcess) -> bool:
    """Whether the process is a shim or part of a fence, or a copy of one that has not become the command yet."""
    return process.command.startswith(_shim_commands())


@cache
def _shim_commands() -> tuple[str, ...]:
    commands = (SHIM_COMMAND, INNER_COMMAND, (this_system().program, *NAMESPACES))
    return tuple(cut_command(" ".join(command)) for command in commands)


def find_runner(files: TurnFiles) -> ProcessIdentity | None:
    """Who runs or ran the turn; None when nobody has started it."""
    claim = _read_claim(files)
    return claim.identity if claim is not None else None


def observe_turn(files: TurnFiles) -> TurnState:
    """What became of a turn, whoever started it. Reads a few small files and never writes."""
    claim = _read_claim(files)
    if claim is None:
        return NeverStarted()
    if not same_process(claim.identity):
        # Asked for after the process: a shim that is gone by now has renamed the file into place before, or never will.
        # While it lives it is about to leave, and would be taken for something that the command left behind.
        for path in (files.exit, files.ending):
            if (exited := _read_exit(path, claim.started_at)) is not None:
                return exited
        return Vanished(claim.started_at, rebooted=claim.identity.boot != current_boot())
    outputs = (stat_regular(files.out), stat_regular(files.err))
    sizes = [stat for stat in outputs if stat is not None and stat.st_size]
    logs = [stat for path in files.read_logs() if (stat := stat_regular(path)) is not None]
    return Running(
        claim.started_at,
        last_output_at=max((stat.st_mtime for stat in (*sizes, *logs)), default=None),
        output_bytes=sum(stat.st_size for stat in sizes),
    )


@dataclass(frozen=True, slots=True)
class _Claim:
    """`word` is what only the shim of this claim knows; `generation` is that of the daemon which started it."""

    identity: ProcessIdentity
    word: str = ""
    generation: int = 0
    started_at: float = 0.0

    def as_text(self) -> str:
        return f"{self.identity.as_text()} {self.generation} {self.word}\n"


def _read_claim(files: TurnFiles) -> _Claim | None:
    try:
        with open(files.pid, encoding="ascii", errors="replace", opener=open_regular) as file:
            text = file.read(200)
            started_at = os.fstat(file.fileno()).st_mtime
    except FileNotFoundError:
        return None
    identity = ProcessIdentity.from_text(text)
    if identity is None:
        return None
    # What noted no pid namespace was started in ours.
    identity = msgspec.structs.replace(identity, space=identity.space or current_space())
    generation, word = text.split()[-2:]
    return _Claim(identity, word, int(generation) if generation.isdecimal() else 0, started_at)


def _read_exit(path: Path, started_at: float) -> Exited | None:
    """The status stands alone on its line; what the shell says after it is about its own last command."""
    try:
        with open(path, encoding="utf-8", errors="replace", opener=open_regular) as file:
            lines = file.read(4096).split("\n")[:-1]
            at = os.fstat(file.fileno()).st_mtime
    except FileNotFoundError:
        return None
    place = next((place for place, line in enumerate(lines) if line.isdecimal()), None)
    if place is None:
        return None
    code = int(lines[place])
    by_signal = code > 128 and (place > 0 or code - 128 in SIGNALS_WITHOUT_WORDS)
    if by_signal:
        return Exited(code=None, signal=code - 128, started_at=started_at, at=at)
    return Exited(code=code, signal=None, started_at=started_at, at=at)
