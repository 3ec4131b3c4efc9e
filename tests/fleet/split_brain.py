"""Two daemons at once: one falls asleep somewhere and loses its lease, another leads, and the first one wakes."""

import hashlib
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

import psutil

from paddock.core.board import DAEMON_LEASE, Board
from paddock.core.events import Draft
from paddock.core.leases.lease import LeaseReleased
from paddock.store.protocol import Author
from paddock.store.sqlite import SqliteStore
from tests.fleet.relay import Relay
from tests.fleet.yard import Yard
from tests.warm import PATIENCE_SECONDS, RunningCommand

LOCKED = ("rescue.", "sandbox.", "sync.", "land.swapped")
"""Points at which a daemon holds a lock that its successor may need; so are those of worktrees, which have no dot."""
UNHURRIED_SECONDS = 8.0


def holds_lock_at(point: str) -> bool:
    name = point.partition("#")[0]
    return "." not in name or name.startswith(LOCKED)


@dataclass(frozen=True)
class World:
    """All that a daemon could have changed."""

    refs: str
    heads: tuple[tuple[str, str, str], ...]
    records: tuple[tuple[str, bytes], ...]
    commands: tuple[str, ...]
    log: int


def look(yard: Yard) -> World:
    root = yard.worktrees.path
    trees = [yard.top, *sorted(path for path in root.glob("w*") if path.is_dir())]
    kept = [path for pattern in (".slots/w*/record.json", ".ci/*/record.json") for path in sorted(root.glob(pattern))]
    return World(
        yard.git("for-each-ref"),
        tuple((tree.name, _head(tree), _contents(tree)) for tree in trees),
        tuple((str(path), path.read_bytes()) for path in kept),
        tuple(sorted(found.command for found in yard.processes())),
        yard.board().seq,
    )


def _head(tree: Path) -> str:
    git = tree / ".git"
    if git.is_file():
        git = Path(git.read_text().removeprefix("gitdir: ").strip())
    return (git / "HEAD").read_text() if (git / "HEAD").exists() else ""


def _contents(tree: Path) -> str:
    found = sorted(path for path in tree.rglob("*") if ".git" not in path.parts and path.is_file())
    digest = hashlib.sha256()
    for path in found:
        digest.update(str(path.relative_to(tree)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def give_lease_away(yard: Yard, daemon: RunningCommand) -> None:
    """What happens when the lease of a daemon that cannot renew it runs out, without the minute's wait: the strictest
    case, for by its own clock the sleeper has time left.

    It is asleep once the log is locked by us: one that slept in the middle of writing would keep all out.
    """

    def decide(board: Board) -> list[Draft]:
        daemon.send(signal.SIGSTOP)
        held = board.leases.held.get(DAEMON_LEASE)
        is_its = held is not None and held.holder.pid == daemon.pid
        return [Draft(LeaseReleased(DAEMON_LEASE, held.generation, "ran out"))] if is_its and held else []

    store = SqliteStore(yard.log_path)
    try:
        store.append(decide, Author("test"))
    finally:
        store.close()


def is_asleep(daemon: RunningCommand) -> bool:
    try:
        return daemon.exit_code is None and psutil.Process(daemon.pid).status() == psutil.STATUS_STOPPED
    except psutil.Error:
        return False


class SplitRelay(Relay):
    """The first daemon falls asleep at `stop_at`, or where `nods_off` says; the next one leads from then on.

    That one wakes it as soon as it leads, so that it lets go of its locks; or, `late`, nobody does before all is done.
    """

    def __init__(
        self, yard: Yard, stop_at: str = "", nods_off: Callable[[], bool] | None = None, *, late: bool = False
    ) -> None:
        self.slept = False
        self._stop_at = stop_at
        self._nods_off = nods_off
        self._late = late
        self._wakes_at = 0.0
        self._sleeper: RunningCommand | None = None
        super().__init__(yard)

    def _start(self) -> RunningCommand:
        env = {"PADDOCK_TEST_STOP_AT": self._stop_at} if self._stop_at and not self.slept else {}
        if self._late:
            env["PADDOCK_HOST"] = "nobody-wakes-others-here"
        return self.yard.start("run", "--until-idle", env=env)

    def tend(self) -> bool:
        if not self.slept and self._falls_asleep():
            self._sleeper, self.slept = self._daemon, True
            give_lease_away(self.yard, self._sleeper)
            self._daemon = self._start()
            self.yard.await_board(lambda board: board.daemon_generation == 2, "the next daemon")
            seat = self.yard.log_path.parent / "leader"
            self.yard.await_that(lambda: self._has_ended() or seat.read_text().startswith("2 "), "its seat")
            self._wakes_at = time.monotonic() + UNHURRIED_SECONDS
            if not self._late:
                self._see_it_off()
        if self._sleeper is not None and time.monotonic() > self._wakes_at:
            self._wake()
        return super().tend()

    def _has_ended(self) -> bool:
        return self._daemon.exit_code is not None

    def _falls_asleep(self) -> bool:
        if self._nods_off is not None and self._daemon.exit_code is None:
            held = self.yard.board().leases.held.get(DAEMON_LEASE)
            return self._nods_off() and held is not None and held.holder.pid == self._daemon.pid
        return is_asleep(self._daemon)

    def finish(self) -> None:
        super().finish()
        if self._sleeper is not None:
            before = look(self.yard)
            self._wake()
            assert look(self.yard) == before, "it did something when it woke"

    def _wake(self) -> None:
        assert self._sleeper is not None
        self._sleeper.send(signal.SIGCONT)
        self._see_it_off()

    def _see_it_off(self) -> None:
        assert self._sleeper is not None
        sleeper, self._sleeper = self._sleeper, None
        code = sleeper.wait(PATIENCE_SECONDS)
        assert code in (0, 1), f"exit {code}: {sleeper.words}"
        assert code == 0 or "generation 2" in sleeper.words, sleeper.words  # 0: it was about to leave anyway
        assert "internal error" not in sleeper.words, sleeper.words


def nodding_off(chance: Random, longest_seconds: float) -> Callable[[], bool]:
    """True once, at any moment."""
    at = time.monotonic() + chance.uniform(0.0, longest_seconds)
    return lambda: time.monotonic() >= at
