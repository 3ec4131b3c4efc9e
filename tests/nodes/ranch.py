"""A repository whose fleet runs on the nodes of a real Ray cluster, with its log in a real PostgreSQL: all on one
machine, each node with a loopback address and a folder of its own."""

import asyncio
import contextlib
import itertools
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from paddock.fleet.nodes.cluster import Cluster
from paddock.fleet.nodes.home import DeputyNote
from paddock.fleet.nodes.placing import Release
from paddock.fleet.site import marker_of
from paddock.sessions.hints import read_hint
from paddock.sessions.host import is_at_work
from paddock.sessions.identity import ProcessIdentity
from paddock.sessions.marks import MarkedProcess, find_marked
from paddock.sessions.sweep import sweep
from paddock.store.location import open_store
from paddock.store.place import LogPlace
from tests.fleet.yard import Yard, clean_environment
from tests.warm import PATIENCE_SECONDS

STORE_MEMORY = 80 * 2**20
_NETWORKS = itertools.count(1)


class RayNode:
    """What `ray start --block` runs: a raylet and what belongs to it, in a session of their own."""

    def __init__(self, words: list[str], environment: dict[str, str], folder: Path, space: str = "") -> None:
        self.said = folder / f"{os.urandom(4).hex()}.log"
        # Ray ends what it has started when it is asked to end, as it is when the test that uses it dies.
        inside = ("setpriv", "--pdeathsig", "TERM", *(("ip", "netns", "exec", space) if space else ()))
        start = (sys.executable, "-m", "ray.scripts.scripts", "start", "--block", "--disable-usage-stats")
        with self.said.open("wb") as said:
            self._process = subprocess.Popen(
                (*inside, *start, *words),
                env=environment, stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True, cwd=folder,
            )  # fmt: skip

    def await_start(self) -> None:
        give_up_at = time.monotonic() + PATIENCE_SECONDS
        while "--block" not in self.said.read_text():
            assert self._process.poll() is None, self.said.read_text()
            assert time.monotonic() < give_up_at, self.said.read_text()
            time.sleep(0.05)

    def processes(self) -> list[psutil.Process]:
        with contextlib.suppress(psutil.NoSuchProcess):
            return psutil.Process(self._process.pid).children(recursive=True)
        return []

    def kill(self, name: str = "") -> None:
        """As when the machine runs out of memory: everything that Ray has started here, or only its raylet. What was
        started by Paddock's manager stays."""
        for process in self.processes():
            with contextlib.suppress(psutil.NoSuchProcess):
                if name in process.name():
                    process.kill()
        if not name:
            self._process.kill()
        self._process.wait(PATIENCE_SECONDS)


class RayCluster:
    """A head that offers no slots, and nodes that do. Each node is processes of its own, as on another machine.

    Ray takes 127.0.0.1 for the machine's outer address, so each is given another one of the loopback, unless
    `addresses` tell others, each with the network namespace that it is in.
    """

    def __init__(self, environment: dict[str, str], addresses: Iterator[tuple[str, str]] | None = None) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="ray-", dir="/tmp"))
        self._environment = environment
        network = f"127.{os.getpid() % 200 + 1}.{next(_NETWORKS)}"
        self._addresses = addresses or ((f"{network}.{number}", "") for number in itertools.count(1))
        self._numbers = itertools.count(1)
        self.nodes: dict[str, RayNode] = {}
        place = next(self._addresses)
        outer = _free_port()
        self.address, self.outer_address = f"{place[0]}:{_free_port()}", f"ray://{place[0]}:{outer}"
        head = (
            *("--head", "--port", self.address.partition(":")[2], "--include-dashboard=false"),
            *("--ray-client-server-port", str(outer)),
        )
        self._head = self._start(head, place)
        self._head.await_start()

    def _start(self, words: Sequence[str], place: tuple[str, str]) -> RayNode:
        address, space = place
        own = (f"--node-ip-address={address}", "--num-cpus=1", f"--object-store-memory={STORE_MEMORY}")
        # Of two that start in one folder at the same moment, both would find the same names free.
        temporary = self.folder / str(next(self._numbers))
        temporary.mkdir()
        return RayNode(
            [*words, *own, "--include-log-monitor=false", "--temp-dir", str(temporary)],
            self._environment,
            self.folder,
            space,
        )

    def add(self, name: str, slots: int, **labels: str) -> RayNode:
        """Returns at once; `await_start` waits for it."""
        told = ",".join(f"{key}={value}" for key, value in {"paddock-node": name, **labels}.items())
        words = ["--address", self.address, "--resources", json.dumps({"agent_slots": slots}), "--labels", told]
        self.nodes[name] = self._start(words, next(self._addresses))
        return self.nodes[name]

    def close(self) -> None:
        for node in (*self.nodes.values(), self._head):
            node.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class SharedYard(Yard):
    """Its log is in a database."""

    url: str = ""
    schema: str = ""

    @property
    def place(self) -> LogPlace:
        return LogPlace(self.log_path.with_name(f"shared-{self.schema}"), self.url, self.schema)


@dataclass
class Ranch:
    yard: SharedYard
    root: Path
    cluster: RayCluster | None = None

    @property
    def address(self) -> str:
        return self.cluster.address if self.cluster is not None else "auto"

    @property
    def origin(self) -> Path:
        return self.yard.folder / "origin.git"

    def home(self, node: str) -> Path:
        """The node's folder for this log."""
        return self.root / node / self.yard.identity

    def deputies(self) -> dict[str, str]:
        """The signs of life of the deputies that run, by their node."""
        notes = {path.parent.parent.name: read_hint(path, DeputyNote) for path in self.root.glob("*/*/deputy.json")}
        return {node: note.process for node, note in notes.items() if note is not None and is_at_work(note.process)}

    def processes(self, node: str = "*") -> tuple[MarkedProcess, ...]:
        """Of attempts and CI runs, on this node or on all."""
        with self.yard.log() as log:
            first = log.record(1).hash
        markers = [marker_of(path, first) for path in self.root.glob(f"{node}/*/*/.git")]
        return tuple(process for marker in markers for process in find_marked(marker))

    def close(self) -> None:
        """Deputies end by themselves when nobody attends to them; a test does not wait for that."""
        for daemon in self.yard.daemons:
            daemon.kill()
        for sign in self.deputies().values():
            identity = ProcessIdentity.from_text(sign)
            if identity is not None:
                os.kill(identity.pid, signal.SIGKILL)
        sweep({process.mark for process in self.processes()})
        if self.cluster is not None and self.yard.board().live:
            asyncio.run(self._let_go(self.cluster.address))

    async def _let_go(self, address: str) -> None:
        """The slots of a fleet that did not come to its end would be missing in the next test."""
        line = Cluster(address, self.yard.identity, self.yard.folder)
        try:
            names = [f"{task}.{number}" for task in self.yard.board().tasks for number in range(1, 5)]
            await line.ask(Release(tuple(names)))
        finally:
            await line.close()


def build_ranch(template: Path, folder: Path, url: str, cluster: RayCluster | None, **settings: str) -> Ranch:
    """`template` is a repository that is set up for Paddock; `settings` are variables of the daemon's environment."""
    top, home = folder / "app", folder / "home"
    shutil.copytree(template, top, symlinks=True)
    home.mkdir()
    schema = f"ranch_{os.urandom(5).hex()}"
    beside = {"PADDOCK_FENCE_WRITE": str(folder)}
    yard = SharedYard(top, folder, {**clean_environment(home), **beside, **settings}, url=url, schema=schema)
    ranch = Ranch(yard, folder / "nodes", cluster)
    (top / "paddock.toml").write_text(_TOML.format(url=url, schema=schema, root=ranch.root, address=ranch.address))
    subprocess.run(("git", "clone", "-q", "--bare", str(top), str(ranch.origin)), check=True, timeout=60)
    yard.git("remote", "add", "origin", str(ranch.origin))
    open_store(yard.place, create=True).close()
    return ranch


_TOML = """\
engine = "scripted"
[land]
approval = "human"
[store]
url = "{url}"
schema = "{schema}"
[sessions]
runner = "ray"
address = "{address}"
root = "{root}"
lost_after = "5s"
"""
