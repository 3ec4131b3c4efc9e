"""A repository whose fleet runs on the nodes of a real Ray cluster, with its log in a real PostgreSQL: on one machine,
each node with a folder of its own."""

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paddock.fleet.nodes.home import DeputyNote
from paddock.sessions.hints import read_hint
from paddock.sessions.host import is_at_work
from tests.fleet.yard import Yard

STORE_MEMORY = 80 * 2**20


class RayCluster:
    """A head that offers no slots, and nodes that do. Each node is processes of its own, as on another machine."""

    def __init__(self, environment: dict[str, str]) -> None:
        from ray.cluster_utils import Cluster

        self.folder = Path(tempfile.mkdtemp(prefix="ray-", dir="/tmp"))
        self._environment = environment
        self.nodes: dict[str, Any] = {}
        self._cluster = Cluster(
            initialize_head=True,
            head_node_args={
                "num_cpus": 1,
                "include_dashboard": False,
                "object_store_memory": STORE_MEMORY,
                "temp_dir": str(self.folder),
                "env_vars": environment,
            },
        )

    @property
    def address(self) -> str:
        return str(self._cluster.address)

    def add(self, name: str, slots: int, **labels: str) -> None:
        self.nodes[name] = self._cluster.add_node(
            num_cpus=1,
            resources={"agent_slots": slots},
            labels={"paddock-node": name, **labels},
            object_store_memory=STORE_MEMORY,
            env_vars={**self._environment, "PADDOCK_TEST_NODE": name},
            wait=True,
        )

    def kill_raylet(self, name: str) -> None:
        self.nodes[name].kill_raylet()

    def remove(self, name: str) -> None:
        self._cluster.remove_node(self.nodes.pop(name), allow_graceful=False)

    def close(self) -> None:
        self._cluster.shutdown()  # type: ignore[no-untyped-call]
        shutil.rmtree(self.folder, ignore_errors=True)


@dataclass
class Ranch:
    yard: Yard
    cluster: RayCluster
    root: Path

    @property
    def origin(self) -> Path:
        return self.yard.folder / "origin.git"

    def deputies(self) -> dict[str, str]:
        """The signs of life of the deputies that run, by their node."""
        notes = {path.parent.parent.name: read_hint(path, DeputyNote) for path in self.root.glob("*/*/deputy.json")}
        return {node: note.process for node, note in notes.items() if note is not None and is_at_work(note.process)}
