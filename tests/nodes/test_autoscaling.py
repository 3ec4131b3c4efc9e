"""Ray's own autoscaler sees what the placer asks for, and takes no machine away that an agent is on.

The machines are raylets on this one; all else, from the request to the node and back, is as in a cloud.
"""

import asyncio
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import psutil
import pytest

from paddock.fleet.nodes.cluster import Cluster
from paddock.fleet.nodes.order import NodeOrder
from paddock.fleet.nodes.placing import Dismiss, Look, Looked, Release, Reservations, Reserve, Wish

pytestmark = pytest.mark.slow

STORE_MEMORY = 80 * 2**20
PATIENCE_SECONDS = 60.0
IDLE_MINUTES = 0.03
HEAD = "head"
HEAD_ID = "f" * 51 + "00000"
PROVIDER = "ray.autoscaler._private.fake_multi_node.node_provider.FakeMultiNodeProvider"
ROLE = {"RAY_CLOUD_INSTANCE_ID": HEAD_ID, "RAY_OVERRIDE_NODE_ID_FOR_TESTING": HEAD_ID, "RAY_NODE_TYPE_NAME": HEAD}
COMMANDS = (
    "initialization_commands", "setup_commands", "head_setup_commands", "worker_setup_commands",
    "head_start_ray_commands", "worker_start_ray_commands", "cluster_synced_files",
)  # fmt: skip
V2 = {"RAY_enable_autoscaler_v2": "1"}


class Cloud:
    """A Ray head without slots, and the autoscaler beside it, which may start one machine of each group."""

    def __init__(self, folder: Path, *groups: str) -> None:
        import ray
        from ray.cluster_utils import Cluster as RayCluster

        self.folder = folder
        memory = {"object_store_memory": STORE_MEMORY}
        self._ray = RayCluster(
            initialize_head=True,
            head_node_args={
                "num_cpus": 1, "include_dashboard": False, "temp_dir": str(self.folder), "no_monitor": True,
                "env_vars": {**V2, **ROLE}, **memory,
            },
        )  # fmt: skip
        config = self.folder / "autoscaling.json"
        config.write_text(json.dumps(_config(self.address, groups)))
        program = Path(ray.__file__).parent / "autoscaler/v2/monitor.py"
        logs = f"--logs-dir={self.folder}", "--logging-rotate-bytes=1000000", "--logging-rotate-backup-count=1"
        with open(self.folder / "autoscaler.out", "wb") as out:
            self._autoscaler = psutil.Popen(
                [sys.executable, program, *logs, f"--gcs-address={self.address}", f"--autoscaling-config={config}"],
                env={**os.environ, **V2, "RAY_FAKE_CLUSTER": "1", "AUTOSCALER_UPDATE_INTERVAL_S": "1"},
                stdout=out,
                stderr=out,
            )

    @property
    def address(self) -> str:
        return str(self._ray.address)

    def groups(self) -> set[str]:
        """Those of which there is a machine, besides the head."""
        from ray.autoscaler.v2.sdk import get_cluster_status

        status = get_cluster_status(self.address)
        return {node.ray_node_type_name for node in (*status.active_nodes, *status.idle_nodes)} - {HEAD}

    def close(self) -> None:
        """The autoscaler does not take its machines along when it ends."""
        with suppress(psutil.NoSuchProcess):
            started = self._autoscaler.children(recursive=True)
            self._autoscaler.kill()
            self._autoscaler.wait()
            for process in started:
                with suppress(psutil.NoSuchProcess):
                    process.kill()
        self._ray.shutdown()  # type: ignore[no-untyped-call]


def _config(address: str, groups: tuple[str, ...]) -> dict[str, Any]:
    group = {"min_workers": 0, "max_workers": 1, "node_config": {}}
    resources = {"CPU": 1, "agent_slots": 2, "object_store_memory": STORE_MEMORY}
    return {
        "cluster_name": "paddock",
        "max_workers": len(groups),
        "idle_timeout_minutes": IDLE_MINUTES,
        "provider": {"type": "external", "module": PROVIDER, "gcs_address": address, "head_node_id": HEAD_ID},
        "head_node_type": HEAD,
        **{key: [] for key in COMMANDS},
        "available_node_types": {
            HEAD: {"resources": {"CPU": 1}, "node_config": {}, "max_workers": 0},
            **{
                name: {**group, "resources": resources, "labels": {"paddock-node": name, "group": name}}
                for name in groups
            },
        },
    }


@pytest.fixture
def cloud(monkeypatch: pytest.MonkeyPatch) -> Iterator[Cloud]:
    # Paths of sockets must be short.
    folder = Path(tempfile.mkdtemp(prefix="ray-", dir="/tmp"))
    (folder / "ray").mkdir()
    monkeypatch.setenv("RAY_TMPDIR", str(folder))
    cloud = Cloud(folder, "plain", "gpu")
    try:
        yield cloud
    finally:
        cloud.close()
        shutil.rmtree(folder, ignore_errors=True)


async def _until(what: Callable[[], object]) -> None:
    give_up_at = time.monotonic() + PATIENCE_SECONDS
    while not await asyncio.to_thread(what):
        assert time.monotonic() < give_up_at
        await asyncio.sleep(0.2)


async def _nodes_for(cluster: Cluster, *wishes: Wish) -> dict[str, str]:
    """Asks until each has one, as the daemon does."""
    give_up_at = time.monotonic() + PATIENCE_SECONDS
    while True:
        answer = await cluster.ask(Reserve(wishes))
        assert isinstance(answer, Reservations)
        found = {one.name: one.node for one in answer.reserved}
        if all(found.values()):
            return found
        assert time.monotonic() < give_up_at, found
        await asyncio.sleep(0.2)


def test_attempts_without_a_slot_bring_machines_and_an_attempt_keeps_its_own(cloud: Cloud, tmp_path: Path) -> None:
    async def play() -> None:
        cluster = Cluster(cloud.address, "log", tmp_path)
        try:
            assert cloud.groups() == set()
            where = await _nodes_for(cluster, Wish("t1.1", {"group": "plain"}))
            assert (where, cloud.groups()) == ({"t1.1": "plain"}, {"plain"})

            where = await _nodes_for(cluster, Wish("t2.1", {"group": "gpu"}))
            assert (where, cloud.groups()) == ({"t2.1": "gpu"}, {"plain", "gpu"})

            # The other machine is older, and idle by everything but what is reserved on it.
            await cluster.ask(Release(("t2.1",)))
            await _until(lambda: cloud.groups() == {"plain"})

            await cluster.ask(Release(("t1.1",)))
            await _until(lambda: cloud.groups() == set())
        finally:
            await cluster.close()

    asyncio.run(play())


def test_a_machine_goes_once_nobody_has_anything_for_it_to_do(cloud: Cloud, tmp_path: Path) -> None:
    async def play() -> None:
        cluster = Cluster(cloud.address, "log", tmp_path)
        # A node with another Paddock: its manager answers, and starts no deputy.
        order = NodeOrder("log", "app", "origin", "/", "main", str(tmp_path), {}, (), {}, 60.0, version="0")
        try:
            await _nodes_for(cluster, Wish("t1.1", {"group": "plain"}))
            looked = await cluster.ask(Look(msgspec.json.encode(order), {}))
            assert isinstance(looked, Looked)
            assert [*looked.news] == ["plain"]

            await cluster.ask(Release(("t1.1",)))
            await cluster.ask(Dismiss())
            await _until(lambda: cloud.groups() == set())
        finally:
            await cluster.close()

    asyncio.run(play())


def test_more_attempts_than_the_group_may_have_machines_stay_asked_for(cloud: Cloud, tmp_path: Path) -> None:
    async def play() -> None:
        cluster = Cluster(cloud.address, "log", tmp_path)
        wishes = tuple(Wish(f"t{number}.1", {"group": "plain"}) for number in range(1, 4))
        try:
            await _nodes_for(cluster, *wishes[:2])
            answer = await cluster.ask(Reserve(wishes))
            assert isinstance(answer, Reservations)
            assert [one.node for one in answer.reserved] == ["plain", "plain", ""]

            await cluster.ask(Release(("t1.1",)))
            assert await _nodes_for(cluster, *wishes[1:]) == {"t2.1": "plain", "t3.1": "plain"}
        finally:
            await cluster.close()

    asyncio.run(play())
