"""Two daemons at once: one falls asleep somewhere and loses its lease, another leads, and the first one wakes."""

import hashlib
import re
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from threading import Timer
from typing import Protocol

import psutil
import pytest

from paddock.core.board import DAEMON_LEASE, Board
from paddock.core.events import Draft
from paddock.core.leases.lease import LeaseReleased
from paddock.store.protocol import Author
from paddock.store.sqlite import SqliteStore
from tests.fleet.chains import LENGTH, MISSED_SHARE, Chain, sweep_chains
from tests.fleet.relay import Relay
from tests.fleet.yard import Yard
from tests.warm import PATIENCE_SECONDS, RunningCommand

LOCKED = ("rescue.", "sandbox.", "sync.", "land.swapped")
"""Points at which a daemon holds a lock that its successor may need; so are those of worktrees, which have no dot."""
UNHURRIED_SECONDS = 5.0
NUDGE_SECONDS = 4.0
LATE_SHARE = 0.5
FIRST_NAP_SECONDS = 2.0


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

    It is asleep once the log is locked by us: one that slept in the middle of writing would keep all out. Should it do
    so at a named point, because another thread of it writes, then it sleeps a little later.
    """

    def decide(board: Board) -> list[Draft]:
        daemon.send(signal.SIGSTOP)
        held = board.leases.held.get(DAEMON_LEASE)
        is_its = held is not None and held.holder.pid == daemon.pid
        return [Draft(LeaseReleased(DAEMON_LEASE, held.generation, "ran out"))] if is_its and held else []

    store, nudge = SqliteStore(yard.log_path), Timer(NUDGE_SECONDS, daemon.send, (signal.SIGCONT,))
    nudge.start()
    try:
        store.append(decide, Author("test"))
    finally:
        nudge.cancel()
        store.close()


def is_asleep(daemon: RunningCommand) -> bool:
    try:
        return daemon.exit_code is None and psutil.Process(daemon.pid).status() == psutil.STATUS_STOPPED
    except psutil.Error:
        return False


@dataclass(frozen=True)
class Sleeper:
    generation: int
    daemon: RunningCommand

    def see_off(self) -> None:
        """It ends, and knows that a later one leads, unless it was about to leave anyway."""
        code, words = self.daemon.wait(PATIENCE_SECONDS), self.daemon.words
        assert code in (0, 1), f"exit {code}: {words}"
        later = [int(found) for found in re.findall(r"generation (\d+)", words) if int(found) > self.generation]
        assert later or "error:" not in words, words
        assert "internal error" not in words, words


class SplitRelay(Relay):
    """The first daemon falls asleep at the first of `points`, or as many seconds after its start as the first of `naps`
    says. The next one leads from then on, until it comes to the second of them, and so on.

    That one wakes it as soon as it leads, so that it lets go of its locks; or, `late`, nobody does before all is done.
    """

    def __init__(
        self, yard: Yard, points: Sequence[str] = (), naps: Sequence[float] = (), *, late: bool = False
    ) -> None:
        self.slept = 0
        self._points = tuple(points)
        self._naps = tuple(naps)
        self._late = late
        self._started_at = self._wakes_at = 0.0
        self._sleepers: list[Sleeper] = []
        super().__init__(yard)

    def _start(self) -> RunningCommand:
        ahead = self._points[self.slept :]
        env = {"PADDOCK_TEST_STOP_AT": ahead[0]} if ahead else {}
        if self._late:
            env["PADDOCK_HOST"] = "nobody-wakes-others-here"
        self._started_at = time.monotonic()
        return self.yard.start("run", "--until-idle", env=env)

    def tend(self) -> bool:
        if self._falls_asleep():
            self._change_over()
        if time.monotonic() > self._wakes_at:
            self._wake_all()
        return super().tend()

    def _falls_asleep(self) -> bool:
        if self._has_ended():
            return False
        if self._points:
            return self.slept < len(self._points) and is_asleep(self._daemon)
        nap = self._naps[self.slept :]
        if not nap or time.monotonic() < self._started_at + nap[0]:
            return False
        held = self.yard.board().leases.held.get(DAEMON_LEASE)
        return held is not None and held.holder.pid == self._daemon.pid

    def _change_over(self) -> None:
        self.slept += 1
        sleeper, generation = Sleeper(self.slept, self._daemon), self.slept + 1
        give_lease_away(self.yard, sleeper.daemon)
        self._daemon = self._start()
        self.yard.await_board(lambda board: board.daemon_generation == generation, "the next daemon")
        self.yard.await_that(lambda: self._has_ended() or self._seated() == str(generation), "its seat")
        self._wakes_at = time.monotonic() + UNHURRIED_SECONDS
        if self._late:
            self._sleepers.append(sleeper)
        else:
            sleeper.see_off()

    def _seated(self) -> str:
        """The generation that the leader's file names; the first daemon may have slept before it made one."""
        seat = self.yard.log_path.parent / "leader"
        return seat.read_text().partition(" ")[0] if seat.exists() else ""

    def _has_ended(self) -> bool:
        return self._daemon.exit_code is not None

    def finish(self) -> None:
        super().finish()
        if self._sleepers:
            before = look(self.yard)
            self._wake_all()
            assert look(self.yard) == before, "it did something when it woke"

    def _wake_all(self) -> None:
        """At once: one may wait for what another has locked."""
        woken, self._sleepers = self._sleepers, []
        for sleeper in woken:
            sleeper.daemon.send(signal.SIGCONT)
        for sleeper in woken:
            sleeper.see_off()


class PlaySleeps(Protocol):
    def __call__(self, points: Chain, /, *, late: bool) -> int: ...


def sweep_sleeps(points: Sequence[str], play: PlaySleeps, subtests: pytest.Subtests) -> None:
    """A daemon sleeps long where that keeps nobody waiting, and otherwise until its successor wakes it."""
    free, locked = [[point for point in points if holds_lock_at(point) is holds] for holds in (False, True)]
    missed = sweep_chains(free, partial(play, late=True), subtests)
    missed += sweep_chains(locked, partial(play, late=False), subtests)
    assert len(missed) <= len(points) // MISSED_SHARE, f"never reached: {missed}"


def sweep_naps(count: int, play: Callable[[Random, float], int], subtests: pytest.Subtests) -> None:
    """Lives by one seed after the other, until so many daemons fell asleep. `play` is told how many seconds a daemon
    leads at most, and tells how many fell asleep in one."""
    slept, longest_seconds = 0, FIRST_NAP_SECONDS
    for seed in range(count):
        began_at, before = time.monotonic(), slept
        with subtests.test(f"seed {seed}, {slept} slept before"):
            slept += play(Random(seed), longest_seconds)
        longest_seconds = (time.monotonic() - began_at) / (slept - before + 1)
        if slept >= count:
            return
    pytest.fail(f"only {slept} of {count} fell asleep")


def draw_naps(chance: Random, longest_seconds: float) -> list[float]:
    return [chance.uniform(0.0, longest_seconds) for _ in range(LENGTH)]
