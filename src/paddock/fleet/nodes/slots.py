"""Slots of Ray's nodes for attempts and CI runs: each is a placement group that bears the name of what it is kept for.

A group that Ray cannot place yet stays asked for: that is what an autoscaler sees.

Ray keeps every group that there ever was, and tells of all of them or of one. So all are read for a small share of the
time only, however many attempts a cluster has seen; what is asked for and given back here is known without.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from threading import Event, Lock, RLock
from typing import Any

import msgspec

from paddock.fleet.clock import SYSTEM_CLOCK
from paddock.fleet.nodes.placing import NodeSeen, Reservations, Reserve, Reserved, Wish

SLOTS = "agent_slots"
NODE_LABEL = "paddock-node"
GRANT_SECONDS = 0.3
"""So long a request waits for slots that are free right now: Ray grants them in a few milliseconds."""
READING_SHARE = 0.05
"""Of the time, for reading all groups."""
MOST_BY_NAME = 16
"""So many groups are looked at one by one rather than with all others."""
_REMOVED = "REMOVED"
_RAY_ID = "ray.io/node-id"


class SlotBook:
    """Those of the log `identity`. Called by several threads."""

    def __init__(self, ray: Any, identity: str) -> None:
        self._ray = ray
        self.prefix = f"{identity}:"
        self._asked: dict[str, dict[str, str]] = {}
        self._made: dict[str, Any] = {}
        self._rows: dict[str, Any] = {}
        self._read_at = float("-inf")
        self._guard = RLock()
        self._reserving = Lock()
        self._pauses = Event()

    def nodes(self, groups: Mapping[str, Any]) -> list[NodeSeen]:
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

    def groups(self) -> dict[str, Any]:
        """Ours and those of others, that have not been removed. What others have is as it was a moment ago."""
        with self._guard:
            if SYSTEM_CLOCK.boottime() >= self._read_at:
                self._read()
            return dict(self._rows)

    def _read(self) -> None:
        from ray.util.placement_group import placement_group_table

        began = SYSTEM_CLOCK.boottime()
        self._rows = {key: one for key, one in placement_group_table().items() if one["state"] != _REMOVED}
        ended = SYSTEM_CLOCK.boottime()
        self._read_at = ended + (ended - began) / READING_SHARE

    def _look_at(self, names: Collection[str]) -> None:
        from ray.util.placement_group import placement_group_table

        with self._guard:
            if len(names) > MOST_BY_NAME:
                self._read()
                return
            for made in (self._made[name] for name in names if name in self._made):
                row = placement_group_table(made)
                if row and row["state"] != _REMOVED:
                    self._rows[row["placement_group_id"]] = row

    def reserved(self, groups: Mapping[str, Any], nodes: list[NodeSeen]) -> tuple[Reserved, ...]:
        names = {node.ray_id: node.name for node in nodes}
        found = []
        for group in groups.values():
            if group["name"].startswith(self.prefix):
                name = group["name"].removeprefix(self.prefix)
                is_made = group["state"] == "CREATED"
                found.append(Reserved(name, names.get(group["bundles_to_node_id"].get(0, ""), "") if is_made else ""))
        return tuple(found)

    def reserve(self, request: Reserve) -> Reservations:
        with self._reserving:
            return self._reserve(request)

    def _reserve(self, request: Reserve) -> Reservations:
        """What Ray has no room for stays asked for: that is what an autoscaler sees. It is asked for anew where other
        nodes are to be avoided than when it was asked for."""
        groups = self.groups()
        nodes = self.nodes(groups)
        had = {one.name: one.node for one in self.reserved(groups, nodes)}
        mine = Counter(node for node in had.values() if node)
        full = {name for name, count in mine.items() if request.most and count >= request.most}
        closed = [node.ray_id for node in nodes if node.name in {*request.avoid, *full}]
        asked = set()
        for wish in request.wishes:
            if had.get(wish.name) and had[wish.name] not in request.avoid:
                continue
            selector = _selector(wish, nodes, closed)
            if wish.name in had and (had[wish.name] or self._asked.get(wish.name) != selector):
                self.release({wish.name})
                del had[wish.name]
            if wish.name not in had and selector is not None:
                self._ask(wish.name, selector)
                asked.add(wish.name)
        granted = self._within(request, self._await_grants(asked, nodes))
        return Reservations(tuple(Reserved(wish.name, granted.get(wish.name, "")) for wish in request.wishes))

    def _await_grants(self, asked: set[str], nodes: list[NodeSeen]) -> dict[str, str]:
        give_up_at = SYSTEM_CLOCK.boottime() + GRANT_SECONDS
        while True:
            self._look_at(asked)
            now = {one.name: one.node for one in self.reserved(self.groups(), nodes)}
            if all(now.get(name) for name in asked) or SYSTEM_CLOCK.boottime() > give_up_at:
                return now
            self._pauses.wait(GRANT_SECONDS / 20)

    def _within(self, request: Reserve, granted: dict[str, str]) -> dict[str, str]:
        """Ray may have granted more on one node than we take there: the last ones are given back."""
        kept, mine = dict(granted), Counter(node for node in granted.values() if node)
        for wish in reversed(request.wishes):
            node = kept.get(wish.name, "")
            if node and request.most and mine[node] > request.most:
                self.release({wish.name})
                mine[node] -= 1
                kept[wish.name] = ""
        return kept

    def _ask(self, name: str, selector: dict[str, str]) -> None:
        from ray.util.placement_group import placement_group

        selectors, full_name = [selector] if selector else None, f"{self.prefix}{name}"
        with self._guard:
            made = placement_group([{SLOTS: 1}], name=full_name, lifetime="detached", bundle_label_selector=selectors)
            self._asked[name], self._made[name] = selector, made
            self._rows[made.id.hex()] = {"name": full_name, "state": "PENDING", "bundles_to_node_id": {}, "bundles": {}}

    def release(self, names: set[str]) -> None:
        from ray.util.placement_group import get_placement_group, remove_placement_group

        gone = {f"{self.prefix}{name}" for name in names}
        with self._guard:
            self._rows = {key: one for key, one in self._rows.items() if one["name"] not in gone}
            for name in names:
                self._asked.pop(name, None)
                self._made.pop(name, None)
                try:
                    remove_placement_group(get_placement_group(f"{self.prefix}{name}"))
                except ValueError:
                    continue  # there is none any more


def _selector(wish: Wish, nodes: list[NodeSeen], closed: list[str]) -> dict[str, str] | None:
    """The labels that Ray is to look for; None where only one node would do, and that takes nothing."""
    near = next((node.ray_id for node in nodes if node.name == wish.near and not node.problem), None)
    if wish.near and (near is None or near in closed):
        return None
    if near is not None:
        return {**wish.labels, _RAY_ID: near}
    return {**wish.labels, _RAY_ID: f"!in({','.join(sorted(closed))})"} if closed else dict(wish.labels)
