"""The placer: the one process that talks to Ray, a child of the daemon.

Ray ends a process of its own that has lost the cluster, takes a second to begin, and starts threads as it likes: none
of that belongs into the daemon. What the placer knows is in Ray: reservations are placement groups that bear the name
of what they are for, managers are named actors. So a placer that dies is started again and goes on.

    python -m paddock.fleet.nodes.placer ADDRESS IDENTITY
"""

import os
import struct
import sys
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Event, Lock
from typing import Any, BinaryIO

import msgspec

from paddock.core.errors import words_of
from paddock.fleet.clock import SYSTEM_CLOCK
from paddock.fleet.nodes.hearsay import Place
from paddock.fleet.nodes.manager import NodeManager
from paddock.fleet.nodes.messages import FRAME_BYTES, NodeNews, decode, encode
from paddock.fleet.nodes.placing import (
    Answer,
    Answered,
    Asked,
    Dismiss,
    Done,
    Failed,
    Look,
    Looked,
    NodeSeen,
    Read,
    ReadDone,
    Release,
    Request,
    Reservations,
    Reserve,
    Reserved,
    Wish,
)

NAMESPACE = "paddock"
SLOTS = "agent_slots"
NODE_LABEL = "paddock-node"
_RAY_ID = "ray.io/node-id"
NEWS_SECONDS = 10.0
READ_SECONDS = 30.0
GRANT_SECONDS = 0.3
"""So long a request waits for slots that are free right now: Ray grants them in a few milliseconds."""
_HEADER = struct.Struct(">I")
NO_PLACE = encode(Place())


class Placer:
    """Of the log `identity`. Called by several threads; Ray's client bears that."""

    def __init__(self, ray: Any, identity: str) -> None:
        self._ray = ray
        self._identity = identity
        self._managers: dict[str, Any] = {}
        self._dismissed: set[str] = set()
        self._asked: dict[str, dict[str, str]] = {}
        self._guard = Lock()
        self._pauses = Event()
        self._reserving = Lock()

    def answer(self, request: Request) -> Answer:
        match request:
            case Look():
                return self._look(request)
            case Reserve():
                with self._reserving:
                    return self._reserve(request)
            case Release(names=names):
                self._release(set(names))
                return Done()
            case Read(node=node, wish=wish):
                return self._read(node, wish)
            case Dismiss():
                self._dismiss(self._nodes(self._groups()))
                return Done()

    def _look(self, look: Look) -> Looked:
        groups = self._groups()
        nodes = self._nodes(groups)
        self._dismiss([node for node in nodes if node.name in look.rest])
        usable = [node for node in nodes if node.alive and not node.problem and node.name not in look.rest]
        managers = {node.name: self._manager(node, look.order) for node in usable}
        asked = {
            manager.news.remote(look.places.get(name, NO_PLACE)): name for name, manager in managers.items()
        }  # fmt: skip
        ready, late = self._ray.wait(list(asked), num_returns=len(asked), timeout=NEWS_SECONDS) if asked else ([], [])
        news: dict[str, NodeNews] = {}
        silent = {asked[ref]: "its manager does not answer" for ref in late}
        for ref in ready:
            try:
                news[asked[ref]] = decode(self._ray.get(ref), NodeNews)
            except Exception as error:
                silent[asked[ref]] = f"its manager has failed: {words_of(error).splitlines()[0][:300]}"
                self._forget(asked[ref])
        seen = tuple(msgspec.structs.replace(node, problem=node.problem or silent.get(node.name, "")) for node in nodes)
        return Looked(seen, self._reserved(groups, nodes), news)

    def _nodes(self, groups: Mapping[str, Any]) -> list[NodeSeen]:
        """Those that offer slots. Of two by one name the first counts, and the other says why it does not."""
        used: Counter[str] = Counter()
        for group in groups.values():
            for number, ray_id in group["bundles_to_node_id"].items():
                used[ray_id] += round(group["bundles"][number].get(SLOTS, 0))
        found: dict[str, NodeSeen] = {}
        for node in sorted(self._ray.nodes(), key=lambda one: (not one["Alive"], one["NodeID"])):
            slots = round(node["Resources"].get(SLOTS, 0))
            labels = dict(node.get("Labels") or {})
            name = labels.get(NODE_LABEL) or node["NodeManagerHostname"]
            ray_id = node["NodeID"]
            seen = NodeSeen(name, ray_id, node["Alive"], slots, used[ray_id], labels)
            if name not in found:
                if slots and seen.alive:
                    found[name] = seen
            elif seen.alive and slots:
                problem = f"another node is called `{name}`, too: start it with the label {NODE_LABEL}"
                found[f"{name}/{ray_id[:8]}"] = msgspec.structs.replace(seen, problem=problem)
        return list(found.values())

    def _groups(self) -> dict[str, Any]:
        """Ours and those of others, that have not been removed."""
        from ray.util.placement_group import placement_group_table

        return {key: one for key, one in placement_group_table().items() if one["state"] != "REMOVED"}

    def _reserved(self, groups: Mapping[str, Any], nodes: list[NodeSeen]) -> tuple[Reserved, ...]:
        names = {node.ray_id: node.name for node in nodes}
        found = []
        for group in groups.values():
            if group["name"].startswith(self._prefix):
                name = group["name"].removeprefix(self._prefix)
                is_made = group["state"] == "CREATED"
                found.append(Reserved(name, names.get(group["bundles_to_node_id"].get(0, ""), "") if is_made else ""))
        return tuple(found)

    @property
    def _prefix(self) -> str:
        return f"{self._identity}:"

    def _reserve(self, request: Reserve) -> Reservations:
        """What Ray has no room for stays asked for: that is what an autoscaler sees. It is asked for anew where other
        nodes are to be avoided than when it was asked for."""
        groups = self._groups()
        nodes = self._nodes(groups)
        had = {one.name: one.node for one in self._reserved(groups, nodes)}
        mine = Counter(node for node in had.values() if node)
        full = {name for name, count in mine.items() if request.most and count >= request.most}
        closed = [node.ray_id for node in nodes if node.name in {*request.avoid, *full}]
        asked = set()
        for wish in request.wishes:
            if had.get(wish.name) and had[wish.name] not in request.avoid:
                continue
            selector = _selector(wish, nodes, closed)
            if wish.name in had and (had[wish.name] or self._asked.get(wish.name) != selector):
                self._release({wish.name})
                del had[wish.name]
            if wish.name not in had and selector is not None:
                self._ask(wish.name, selector)
                asked.add(wish.name)
        granted = self._within(request, self._await_grants(asked, nodes))
        return Reservations(tuple(Reserved(wish.name, granted.get(wish.name, "")) for wish in request.wishes))

    def _await_grants(self, asked: set[str], nodes: list[NodeSeen]) -> dict[str, str]:
        give_up_at = SYSTEM_CLOCK.boottime() + GRANT_SECONDS
        while True:
            now = {one.name: one.node for one in self._reserved(self._groups(), nodes)}
            if all(now.get(name) for name in asked) or SYSTEM_CLOCK.boottime() > give_up_at:
                return now
            self._pauses.wait(GRANT_SECONDS / 20)

    def _within(self, request: Reserve, granted: dict[str, str]) -> dict[str, str]:
        """Ray may have granted more on one node than we take there: the last ones are given back."""
        kept, mine = dict(granted), Counter(node for node in granted.values() if node)
        for wish in reversed(request.wishes):
            node = kept.get(wish.name, "")
            if node and request.most and mine[node] > request.most:
                self._release({wish.name})
                mine[node] -= 1
                kept[wish.name] = ""
        return kept

    def _ask(self, name: str, selector: dict[str, str]) -> None:
        from ray.util.placement_group import placement_group

        self._asked[name] = selector
        selectors = [selector] if selector else None
        placement_group(
            [{SLOTS: 1}], name=f"{self._prefix}{name}", lifetime="detached", bundle_label_selector=selectors
        )

    def _release(self, names: set[str]) -> None:
        from ray.util.placement_group import get_placement_group, remove_placement_group

        for name in names:
            self._asked.pop(name, None)
            try:
                remove_placement_group(get_placement_group(f"{self._prefix}{name}"))
            except ValueError:
                continue  # there is none any more

    def _manager(self, node: NodeSeen, order: bytes) -> Any:
        """Pinned to this very node of Ray's: one that comes back is another, and gets another manager."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        key = f"{node.name}/{node.ray_id}"
        with self._guard:
            known = self._managers.get(key)
        if known is not None:
            manager, told = known
            if told != order:
                manager.renew.remote(order)
                with self._guard:
                    self._managers[key] = (manager, order)
            return manager
        actor = self._ray.remote(NodeManager).options(
            name=self._manager_name(node),
            namespace=NAMESPACE,
            lifetime="detached",
            get_if_exists=True,
            num_cpus=0,
            max_restarts=-1,
            max_concurrency=8,
            scheduling_strategy=NodeAffinitySchedulingStrategy(node.ray_id, soft=False),
        )
        manager = actor.remote(node.name, order)
        manager.renew.remote(order)
        with self._guard:
            self._dismissed.discard(self._manager_name(node))
            self._managers[key] = (manager, order)
        return manager

    def _forget(self, node: str) -> None:
        with self._guard:
            for key in [key for key in self._managers if key.partition("/")[0] == node]:
                del self._managers[key]

    def _read(self, node: str, wish: bytes) -> ReadDone:
        with self._guard:
            known = next((one for key, one in self._managers.items() if key.partition("/")[0] == node), None)
        if known is None:
            return ReadDone(b"")
        try:
            return ReadDone(self._ray.get(known[0].read.remote(wish), timeout=READ_SECONDS))
        except Exception:
            return ReadDone(b"")

    def _dismiss(self, nodes: list[NodeSeen]) -> None:
        for node in nodes:
            name = self._manager_name(node)
            with self._guard:
                known = self._managers.pop(f"{node.name}/{node.ray_id}", None)
                if known is None and name in self._dismissed:
                    continue
                self._dismissed.add(name)
            with suppress(ValueError):  # there is none
                self._ray.kill(known[0] if known is not None else self._ray.get_actor(name, namespace=NAMESPACE))

    def _manager_name(self, node: NodeSeen) -> str:
        return f"{self._prefix}{node.name}:{node.ray_id[:12]}"


def _selector(wish: Wish, nodes: list[NodeSeen], closed: list[str]) -> dict[str, str] | None:
    """The labels that Ray is to look for; None where only one node would do, and that takes nothing."""
    near = next((node.ray_id for node in nodes if node.name == wish.near and not node.problem), None)
    if wish.near and (near is None or near in closed):
        return None
    if near is not None:
        return {**wish.labels, _RAY_ID: near}
    return {**wish.labels, _RAY_ID: f"!in({','.join(sorted(closed))})"} if closed else dict(wish.labels)


def read_frame(stream: BinaryIO) -> bytes:
    """Empty at the end."""
    header = stream.read(_HEADER.size)
    if len(header) < _HEADER.size:
        return b""
    (length,) = _HEADER.unpack(header)
    return stream.read(length) if length <= FRAME_BYTES else b""


def frame(content: bytes) -> bytes:
    return _HEADER.pack(len(content)) + content


def main(address: str, identity: str) -> int:
    # Ray prints; the pipe is for answers only.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    import ray

    ray.init(address=address, namespace=NAMESPACE, log_to_driver=False, configure_logging=False)
    placer, writing = Placer(ray, identity), Lock()

    def serve(asked: Asked) -> None:
        try:
            answer: Answer = placer.answer(asked.request)
        except Exception as error:
            answer = Failed(words_of(error)[:1000])
        content = frame(encode(Answered(asked.number, answer)))
        with writing:
            answers.write(content)
            answers.flush()

    with ThreadPoolExecutor(8) as threads:
        while content := read_frame(sys.stdin.buffer):
            threads.submit(serve, decode(content, Asked))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
