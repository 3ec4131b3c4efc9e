"""Which failures are alike: the sets of their templates, compared by what is rare in them, joined by average link.

Runs with the same set are one. Runs that share no template have nothing to do with each other, so that what is rare
is counted among those that are connected: another kind of failure changes nothing for them.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

CUT = 0.62
"""The distance up to which groups are one."""
ROOT_WEIGHT = 3.0
"""How much the trouble at the root counts, against any line as rare. Both were chosen on the failures of one
submission of terminal-bench, five runs of it; from .5 to .75, and from 2 to 4, little changes."""
ALONE_WEIGHT = 0.25
"""What only one run says makes it like no other, and hardly unlike those that it has more in common with."""
MOST_LINKED = 260
"""So many different sets are linked with each other; what is rarer joins the nearest group."""


@dataclass(frozen=True, slots=True)
class Features:
    """What a failure is compared by. `root` names the trouble at the root of it, which counts more than others."""

    root: str
    templates: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class _Item:
    """Failures with the same features: `parts` are the templates and the root."""

    numbers: tuple[int, ...]
    order: tuple[str, tuple[str, ...]]
    parts: frozenset[str]


def alike(features: Sequence[Features]) -> list[list[int]]:
    """Numbers of failures, in groups. The order of the failures does not matter for which are together."""
    by_features: dict[Features, list[int]] = defaultdict(list)
    for number, one in enumerate(features):
        by_features[one].append(number)
    items = [_item(one, numbers) for one, numbers in by_features.items()]
    items.sort(key=lambda item: item.order)
    found = []
    for component in _connected(items):
        for group in _Linking(component).groups():
            found.append([number for item in group for number in item.numbers])
    return found


def _item(features: Features, numbers: Iterable[int]) -> _Item:
    parts = set(features.templates)
    if features.root:
        parts.add(f"\0{features.root}")
    return _Item(tuple(numbers), (features.root, tuple(sorted(features.templates))), frozenset(parts))


def _connected(items: list[_Item]) -> list[list[_Item]]:
    """Those that share a part, directly or through others."""
    parent = list(range(len(items)))

    def top(number: int) -> int:
        while parent[number] != number:
            parent[number] = parent[parent[number]]
            number = parent[number]
        return number

    holder: dict[str, int] = {}
    for number, item in enumerate(items):
        for part in item.parts:
            parent[top(number)] = top(holder.setdefault(part, number))
    components: dict[int, list[_Item]] = defaultdict(list)
    for number, item in enumerate(items):
        components[top(number)].append(item)
    return list(components.values())


def _weigh(items: Sequence[_Item]) -> dict[str, float]:
    """Inverse document frequency, smoothed so that what all have still counts."""
    seen: Counter[str] = Counter()
    for item in items:
        seen.update(dict.fromkeys(item.parts, len(item.numbers)))
    total = sum(len(item.numbers) for item in items)
    weights = {
        part: (math.log((total + 1) / count) + 0.1) * (ALONE_WEIGHT if count == 1 else 1.0)
        for part, count in seen.items()
    }
    return {part: ROOT_WEIGHT * (weight + 1.0) if part.startswith("\0") else weight for part, weight in weights.items()}


class _Linking:
    """The groups of one component."""

    def __init__(self, items: list[_Item]) -> None:
        self._items = sorted(items, key=lambda item: (-len(item.numbers), item.order))
        self._weights = _weigh(items)
        self._totals = {item: math.fsum(self._weights[part] for part in item.parts) for item in items}

    def groups(self) -> list[list[_Item]]:
        groups = _average_link(self._items[:MOST_LINKED], self._distance)
        self._join(groups, self._items[MOST_LINKED:])
        return groups

    def _distance(self, one: _Item, other: _Item) -> float:
        """Weighted Jaccard: 0 for the same, 1 for nothing in common."""
        shared = one.parts & other.parts
        if not shared:
            return 1.0
        common = math.fsum(self._weights[part] for part in shared)
        return 1.0 - common / (self._totals[one] + self._totals[other] - common)

    def _join(self, groups: list[list[_Item]], rest: Sequence[_Item]) -> None:
        """Each to the group whose most frequent member is nearest, or to a group of its own. A group is only looked at
        if it has one of the rarest parts, without which it would be too far."""
        if not rest:
            return
        holders: dict[str, list[int]] = defaultdict(list)
        for number, group in enumerate(groups):
            for part in group[0].parts:
                holders[part].append(number)
        for item in rest:
            near = {number for part in self._rarest(item) for number in holders.get(part, ())}
            ranked = min(((self._distance(item, groups[number][0]), number) for number in near), default=(1.0, 0))
            if ranked[0] <= CUT:
                groups[ranked[1]].append(item)
                continue
            for part in item.parts:
                holders[part].append(len(groups))
            groups.append([item])

    def _rarest(self, item: _Item) -> list[str]:
        """What remains without them weighs too little to be near anything."""
        left = self._totals[item]
        found = []
        for part in sorted(item.parts, key=lambda part: (-self._weights[part], part)):
            if left < (1.0 - CUT) * self._totals[item]:
                break
            found.append(part)
            left -= self._weights[part]
        return found


def _average_link(items: list[_Item], distance_of: Callable[[_Item, _Item], float]) -> list[list[_Item]]:
    """By chains of nearest neighbours: quadratic in the number of different sets. A group that is too far from all
    others stays so whatever they become, and is done."""
    count = len(items)
    far = [[0.0] * count for _ in range(count)]
    for one in range(count):
        for other in range(one):
            far[one][other] = far[other][one] = distance_of(items[one], items[other])
    size = [float(len(item.numbers)) for item in items]
    members = [[number] for number in range(count)]
    alive, chain, done = set(range(count)), list[int](), list[int]()
    while alive:
        if not chain:
            chain.append(min(alive))
        here = chain[-1]
        before = chain[-2] if len(chain) > 1 else None
        nearest = _nearest(here, before, far[here], alive)
        if nearest is None:
            chain.pop()
            alive.discard(here)
            done.append(here)
        elif nearest != before:
            chain.append(nearest)
        else:
            del chain[-2:]
            _merge(here, nearest, far, size, alive)
            members[nearest] += members[here]
            alive.discard(here)
    return [[items[number] for number in sorted(members[group])] for group in sorted(done)]


def _nearest(here: int, before: int | None, row: Sequence[float], alive: Iterable[int]) -> int | None:
    """The one before it in the chain, where others are only as near; None if all are too far."""
    found, best = (before, row[before]) if before is not None else (None, math.inf)
    for other in alive:
        if other != here and (row[other] < best or (row[other] == best and found != before and other < (found or 0))):
            found, best = other, row[other]
    return found if best <= CUT else None


def _merge(here: int, into: int, far: list[list[float]], size: list[float], alive: Iterable[int]) -> None:
    total = size[here] + size[into]
    for other in alive:
        if other not in (here, into):
            mixed = (size[here] * far[here][other] + size[into] * far[into][other]) / total
            far[into][other] = far[other][into] = mixed
    size[into] = total
