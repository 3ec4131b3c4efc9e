"""The placer: the one process that talks to Ray, a child of the daemon.

Ray ends a process of its own that has lost the cluster, takes a second to begin, and starts threads as it likes: none
of that belongs into the daemon. What the placer knows is in Ray: reservations are placement groups that bear the name
of what they are for, managers are named actors. So a placer that dies is started again and goes on.

    python -m paddock.fleet.nodes.placer ADDRESS IDENTITY
"""

import os
import struct
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Lock
from typing import Any, BinaryIO

import msgspec

from paddock.core.errors import words_of
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
    Reserve,
)
from paddock.fleet.nodes.slots import SlotBook

NAMESPACE = "paddock"
NEWS_SECONDS = 10.0
READ_SECONDS = 30.0
_HEADER = struct.Struct(">I")
NO_PLACE = encode(Place())


class Placer:
    """Of the log `identity`. Called by several threads; Ray's client bears that."""

    def __init__(self, ray: Any, identity: str) -> None:
        self._ray = ray
        self._slots = SlotBook(ray, identity)
        self._managers: dict[str, Any] = {}
        self._dismissed: set[str] = set()
        self._guard = Lock()

    def answer(self, request: Request) -> Answer:
        match request:
            case Look():
                return self._look(request)
            case Reserve():
                return self._slots.reserve(request)
            case Release(names=names):
                self._slots.release(set(names))
                return Done()
            case Read(node=node, wish=wish):
                return self._read(node, wish)
            case Dismiss():
                self._dismiss(self._slots.nodes(self._slots.groups()))
                return Done()

    def _look(self, look: Look) -> Looked:
        groups = self._slots.groups()
        nodes = self._slots.nodes(groups)
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
        return Looked(seen, self._slots.reserved(groups, nodes), news)

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
        return f"{self._slots.prefix}{node.name}:{node.ray_id[:12]}"


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
