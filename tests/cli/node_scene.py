"""A fleet on three nodes, as its log and its daemon's register tell of it: real records, without a cluster."""

import time
from contextlib import closing
from pathlib import Path

import msgspec

from paddock.core import events as ev
from paddock.core.ids import AttemptId, TaskId
from paddock.core.leases.lease import Holder, LeaseGranted, LeaseReleased
from paddock.core.nodes.tenure import node_lease
from paddock.fleet.nodes.messages import NodeFacts
from paddock.fleet.nodes.placing import NodeSeen
from paddock.fleet.nodes.register import NodeRegister, write_register
from paddock.fleet.workspace import Workspace
from paddock.git.repo import discover
from paddock.sessions.host import this_process
from paddock.store.protocol import Author

GIB = 2**30
TOOLS = {"os": "linux", "python": "3.11.9", "git": "2.39.5", "claude": "2.1.0"}
SETTINGS = '[store]\nurl = ""\n[sessions]\nrunner = "ray"\naddress = "10.0.0.1:6379"\n'


def facts(node: str, **own: object) -> NodeFacts:
    usual = NodeFacts(node, "0.1.0", True, "", TOOLS, 16, 3.14, 41 * GIB, 64 * GIB, 210 * GIB, {"ready": 2, "idle": 1})
    return msgspec.structs.replace(usual, **own)


def seen(name: str, used: int, **own: object) -> NodeSeen:
    labels = {"paddock-node": name, "ray.io/node-id": f"{name}-id", "os": "linux"}
    return msgspec.structs.replace(NodeSeen(name, f"{name}-id", True, 16, used, labels), **own)


def three_nodes(at: float | None = None) -> NodeRegister:
    """`gpu-1` has a GPU and a newer claude, `n2` an agent, and `n3` does not answer."""
    gpu = seen("gpu-1", 2)
    return NodeRegister(
        time.time() if at is None else at,
        (
            msgspec.structs.replace(gpu, labels={**gpu.labels, "gpu": "true"}),
            seen("n2", 1),
            seen("n3", 0, problem="its manager does not answer"),
        ),
        {
            "gpu-1": facts("gpu-1"),
            "n2": facts("n2", tools={**TOOLS, "claude": "2.0.3", "codex": "0.9.1"}, load=0.2, worktrees={}),
        },
        {"t1.1": "gpu-1", "t2.1": "gpu-1", "t3.1": "n2"},
    )


class NodeScene:
    """What is written goes into the log of the repository at `top`, in the name of a daemon that runs."""

    def __init__(self, top: Path) -> None:
        self.workspace = Workspace(discover(top))

    def write(self, *drafts: ev.Draft, actor: str = "daemon") -> None:
        with closing(self.workspace.write()) as store:
            store.append(lambda _: drafts, Author(actor))

    def set_up(self, register: NodeRegister | None = None) -> None:
        """`t1` and `t2` are at work on `gpu-1`, `t3` on `n2`."""
        self.lead(this_process("daemon"))
        for number, node in enumerate(("gpu-1", "gpu-1", "n2"), 1):
            self.begin(f"t{number}", node)
        for number, node in enumerate(("gpu-1", "n2", "n3"), 1):
            self.tend(node, number)
        if register is not None:
            write_register(self.workspace.state_dir, register)

    def lead(self, holder: Holder) -> None:
        self.write(ev.Draft(LeaseGranted("daemon", 1, holder, 900.0)))

    def tend(self, node: str, generation: int, ttl_seconds: float = 900.0) -> None:
        lease = node_lease(node)
        self.write(ev.Draft(LeaseGranted(lease, generation, Holder(lease, node, 7, host_id=lease), ttl_seconds)))

    def lose(self, node: str, generation: int) -> None:
        self.write(ev.Draft(LeaseReleased(node_lease(node), generation, f"node `{node}` is lost")))

    def begin(self, name: str, node: str) -> None:
        task, attempt = TaskId(name), AttemptId(f"{name}.1")
        self.write(ev.Draft(ev.TaskAdded(f"Task {name}", "Do it."), task=task))
        started = ev.AttemptStarted("claude", "b" * 40, f"paddock/{name}", host=node, host_id=node_lease(node))
        for event in (started, ev.TurnStarted(1)):
            self.write(ev.Draft(event, task=task, attempt=attempt))

    def end(self, name: str) -> None:
        from paddock.core.tasks.vocabulary import Outcome, Step

        ended = ev.AttemptEnded(Outcome.EMPTY, Step.FAIL, True)
        self.write(
            ev.Draft(ev.TurnEnded(1, exit=0), task=TaskId(name), attempt=AttemptId(f"{name}.1")),
            ev.Draft(ended, task=TaskId(name), attempt=AttemptId(f"{name}.1")),
        )
