"""Fleets to measure: agents here or on nodes of a real Ray cluster, the log in PostgreSQL or in a file, and what each
of their processes has used."""

import contextlib
import itertools
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from tests.fleet.yard import Yard, build_template, build_yard, clean_environment
from tests.nodes.ranch import Ranch, RayCluster, build_ranch
from tests.store.postgres_server import PostgresServer, find_programs

from paddock.core.board import Board
from paddock.core.ids import TaskId
from paddock.core.tasks.task import Phase
from paddock.sessions.identity import ProcessIdentity
from paddock.store.protocol import LogUnavailable

PATIENCE_SECONDS = 1800.0
LOOK_SECONDS = 0.05
DAEMON, PLACER, MANAGERS, DEPUTIES, RAY, POSTGRES = "daemon", "placer", "managers", "deputies", "Ray", "PostgreSQL"
OURS = (DAEMON, PLACER, MANAGERS, DEPUTIES)
_ENGINE = """
[engines.sh]
command = ["sh", "-c", "{task}"]
"""
_ROOMY = {
    "PADDOCK_LIMITS_AGENT_MEMORY_MB": "1",
    "PADDOCK_LIMITS_MERGE_QUEUE": "10000",
    "PADDOCK_LIMITS_MAX_AGENTS": "64",
    "PADDOCK_SESSIONS_LOST_AFTER": "5m",
    "PADDOCK_TIMEOUTS_START": "1h",
    "PADDOCK_TIMEOUTS_SILENCE": "1h",
    "PADDOCK_TIMEOUTS_TURN": "2h",
}


@dataclass
class MeasuredFleet:
    yard: Yard
    ranch: Ranch | None
    server: psutil.Process
    daemon: psutil.Popen | None = field(default=None, init=False)

    @contextlib.contextmanager
    def at_work(self, *words: str) -> Iterator[None]:
        """With a daemon, which is asked to leave at the end."""
        with open(self.yard.folder / "daemon.log", "ab") as said:
            self.daemon = psutil.Popen(
                self.yard.argv("run", *words), cwd=self.yard.top, env=self.yard.env, stdout=said, stderr=said
            )
        try:
            yield
        finally:
            with contextlib.suppress(psutil.NoSuchProcess, psutil.TimeoutExpired):
                self.daemon.terminate()
                self.daemon.wait(60)
            with contextlib.suppress(psutil.NoSuchProcess):
                self.daemon.kill()

    @property
    def words(self) -> str:
        return (self.yard.folder / "daemon.log").read_text(errors="replace")

    def await_board(self, holds: Callable[[Board], bool]) -> Board:
        """A board of which something holds, however busy the server is meanwhile."""
        give_up_at = time.monotonic() + PATIENCE_SECONDS
        while True:
            with contextlib.suppress(LogUnavailable), self.yard.log() as log:
                while not holds(board := log.board()):
                    if time.monotonic() > give_up_at:
                        raise RuntimeError(f"{dict(board.counts)}\n{self.words[-3000:]}")
                    self.pause()
                return board
            if time.monotonic() > give_up_at:
                raise RuntimeError(f"the log is away\n{self.words[-3000:]}")
            self.pause()

    def pause(self) -> None:
        """Raises RuntimeError where the daemon has ended."""
        if self.daemon is not None and self.daemon.poll() is not None:
            raise RuntimeError(self.words[-3000:])
        time.sleep(LOOK_SECONDS)

    def await_delivered(self, count: int) -> None:
        """So many tasks in all wait for approval, and no attempt is live."""
        self.await_board(lambda board: board.counts.get(Phase.APPROVAL, 0) >= count and not board.live)

    def await_commits(self, tasks: Sequence[TaskId]) -> None:
        """What they have delivered is in the repository."""
        board = self.yard.board()
        heads = "".join(f"{board.tasks[name].head}\n" for name in tasks)
        while " missing" in self._git("cat-file", "--batch-check", given=heads):
            self.pause()

    def _git(self, *words: str, given: str = "") -> str:
        done = subprocess.run(
            ("git", *words),
            cwd=self.yard.top,
            env=self.yard.env,
            input=given,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    def used(self) -> dict[str, float]:
        """Seconds of processor time so far, by whose they are. Those of agents are in none."""
        return {whose: sum(map(seconds_of, processes)) for whose, processes in self._processes().items()}

    def megabytes(self) -> dict[str, list[float]]:
        """Of each process, with its share of what it has in common with others."""
        return {whose: [_megabytes(one) for one in processes] for whose, processes in self._processes().items()}

    def agents_megabytes(self) -> float:
        """Of all processes of attempts on nodes: engines, tools, fences, shells."""
        marked = self.ranch.processes() if self.ranch is not None else ()
        return sum(map(_megabytes_of, (process.identity.pid for process in marked)))

    def _processes(self) -> dict[str, list[psutil.Process]]:
        found: dict[str, list[psutil.Process]] = {whose: [] for whose in (*OURS, RAY)}
        found[POSTGRES] = [self.server, *self.server.children()]
        if self.daemon is not None:
            found[DAEMON] = [self.daemon]
            found[PLACER] = [one for one in self.daemon.children() if "paddock.fleet.nodes.placer" in _command(one)]
        if self.ranch is not None and self.ranch.cluster is not None:
            identities = map(ProcessIdentity.from_text, self.ranch.deputies().values())
            found[DEPUTIES] = [psutil.Process(one.pid) for one in identities if one is not None]
            for process in _ray_processes():
                found[MANAGERS if _is_manager(process) else RAY].append(process)
        return found

    def close(self) -> None:
        self.ranch.close() if self.ranch is not None else self.yard.close()
        shutil.rmtree(self.yard.folder, ignore_errors=True)


def _command(process: psutil.Process) -> str:
    with contextlib.suppress(psutil.NoSuchProcess):
        return " ".join(process.cmdline())
    return ""


def seconds_of(process: psutil.Process) -> float:
    """With those of its children that have ended."""
    with contextlib.suppress(psutil.NoSuchProcess):
        spent = process.cpu_times()
        return float(spent.user + spent.system + spent.children_user + spent.children_system)
    return 0.0


def _megabytes(process: psutil.Process) -> float:
    return _megabytes_of(process.pid)


def _megabytes_of(pid: int) -> float:
    with contextlib.suppress(psutil.Error):
        return float(psutil.Process(pid).memory_full_info().pss / 2**20)
    return 0.0


def seconds_of_ray() -> float:
    return sum(map(seconds_of, (one for one in _ray_processes() if not _is_manager(one))))


def _is_manager(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.NoSuchProcess):
        return process.name().startswith("ray::NodeManager")
    return False


def _ray_processes() -> list[psutil.Process]:
    """Of the clusters that this process has started."""
    started = [one for one in psutil.Process().children() if "ray.scripts.scripts" in _command(one)]
    return [process for one in started for process in one.children(recursive=True)]


@dataclass
class Place:
    """Where fleets are made: a folder, a server for their logs, a repository to copy."""

    folder: Path
    server: PostgresServer
    template: Path
    _numbers: Iterator[int] = field(default_factory=itertools.count, init=False)

    @contextlib.contextmanager
    def fleet(
        self,
        cluster: RayCluster | None = None,
        *,
        shared: bool = True,
        settings: Mapping[str, str] | None = None,
        template: Path | None = None,
    ) -> Iterator[MeasuredFleet]:
        """On the cluster's nodes, or here; with its log in the database, or in a file. Of the repository `template`, if
        it is not the usual one."""
        original = template or self.template
        folder = self.folder / f"fleet{next(self._numbers)}"
        folder.mkdir()
        told = {**_ROOMY, **({} if cluster is not None else {"PADDOCK_SESSIONS_RUNNER": "local"}), **(settings or {})}
        ranch = build_ranch(original, folder, self.server.url(), cluster, **told) if shared else None
        yard = ranch.yard if ranch is not None else build_yard(original, folder, **told)
        with (yard.top / "paddock.toml").open("a") as toml:
            toml.write(_ENGINE)
        [server] = [one for one in psutil.Process().children() if one.name() == "postgres"]
        fleet = MeasuredFleet(yard, ranch, server)
        try:
            yield fleet
        finally:
            fleet.close()


@contextlib.contextmanager
def open_place() -> Iterator[Place]:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    programs = find_programs()
    if programs is None:
        sys.exit("error: there is no PostgreSQL here\n\nhint: `make bench` installs one with the locked packages")
    server = PostgresServer(programs)
    folder = Path(tempfile.mkdtemp(prefix="paddock-grow-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None))
    try:
        yield Place(folder, server, build_template(folder / "template"))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        server.close()


@contextlib.contextmanager
def open_cluster(place: Place, slots: Iterable[int], given: RayCluster | None = None) -> Iterator[RayCluster]:
    """Nodes `n1`, `n2` … with so many slots each; or the one that is `given`."""
    if given is not None:
        yield given
        return
    home = Path(tempfile.mkdtemp(dir=place.folder))
    cluster = RayCluster(clean_environment(home))
    try:
        for node in [cluster.add(f"n{number}", count) for number, count in enumerate(slots, 1)]:
            node.await_start()
        yield cluster
    finally:
        cluster.close()
