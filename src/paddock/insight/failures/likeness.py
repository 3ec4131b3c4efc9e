"""Which failures are alike: the sets of their templates, compared by what is rare in them, joined by average link.

Runs with the same set are one. Runs that share no template have nothing to do with each other, so that what is rare
is counted among those that are connected: another kind of failure changes nothing for them.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

CUT = 0.62
"""The distance up to which groups are one; chosen on the failures of one terminal-bench submission, see
bench/insight/failures.py for what other values give."""
MOST_LINKED = 260
"""So many different sets are linked with each other; what is rarer joins the nearest group."""
ROOT_WEIGHT = 2.0


@dataclass(frozen=True, slots=True)
class Features:
    """What a failure is compared by. `root` is the template at the root of it, which counts more than others."""

    root: str
    templates: frozenset[str]


def alike(items: Sequence[Features]) -> list[list[int]]:
    """Numbers of items, in groups. The order of the items does not matter for which are together."""
    by_features: dict[Features, list[int]] = defaultdict(list)
    for number, item in enumerate(items):
        by_features[item].append(number)
    found: list[list[int]] = []
    for component in _connected(sorted(by_features, key=_order)):
        weights = {item: len(by_features[item]) for item in component}
        for group in _link(component, weights):
            found.append([number for item in group for number in by_features[item]])
    return found


def _order(item: Features) -> tuple[str, list[str]]:
    return item.root, sorted(item.templates)


def _connected(items: list[Features]) -> list[list[Features]]:
    """Those that share a template, directly or through others."""
    parent = list(range(len(items)))

    def top(number: int) -> int:
        while parent[number] != number:
            parent[number] = parent[parent[number]]
            number = parent[number]
        return number

    holder: dict[str, int] = {}
    for number, item in enumerate(items):
        for template in item.templates:
            other = holder.setdefault(template, number)
            parent[top(number)] = top(other)
    components: dict[int, list[Features]] = defaultdict(list)
    for number, item in enumerate(items):
        components[top(number)].append(item)
    return list(components.values())


def _rarity(items: Sequence[Features], weights: Mapping[Features, int]) -> dict[str, float]:
    """Inverse document frequency, smoothed so that what all have still counts."""
    count: Counter[str] = Counter()
    for item in items:
        for template in item.templates:
            count[template] += weights[item]
    total = sum(weights.values())
    return {template: math.log((total + 1) / seen) + 0.1 for template, seen in count.items()}


def _link(items: list[Features], weights: Mapping[Features, int]) -> list[list[Features]]:
    if len(items) == 1:
        return [items]
    rarity = _rarity(items, weights)
    ranked = sorted(items, key=lambda item: (-weights[item], _order(item)))
    linked, rest = ranked[:MOST_LINKED], ranked[MOST_LINKED:]
    groups = _average_link(linked, weights, rarity)
    for item in rest:
        _join(item, groups, rarity)
    return groups


def _distance(one: Features, other: Features, rarity: Mapping[str, float]) -> float:
    shared = one.templates & other.templates
    if not shared:
        return 1.0
    common = sum(rarity[template] for template in shared)
    union = sum(rarity[template] for template in one.templates | other.templates)
    if one.root:
        extra = ROOT_WEIGHT * (rarity.get(one.root, 0.0) + 1.0)
        if one.root == other.root:
            common += extra
        union += extra
    return 1.0 - common / union if union else 0.0


def _average_link(
    items: list[Features], weights: Mapping[Features, int], rarity: Mapping[str, float]
) -> list[list[Features]]:
    """By chains of nearest neighbours: quadratic in the number of different sets."""
    count = len(items)
    distance = [[0.0] * count for _ in range(count)]
    for one in range(count):
        for other in range(one):
            distance[one][other] = distance[other][one] = _distance(items[one], items[other], rarity)
    size = [float(weights[item]) for item in items]
    members = [[number] for number in range(count)]
    alive = set(range(count))
    chain: list[int] = []
    done: list[int] = []
    while alive:
        if not chain:
            chain.append(min(alive))
        here = chain[-1]
        row = distance[here]
        before = chain[-2] if len(chain) > 1 else -1
        nearest, best = before, row[before] if before >= 0 else math.inf
        for other in alive:
            if other != here and (row[other] < best - 1e-12 or (nearest < 0)):
                nearest, best = other, row[other]
        if nearest < 0 or best > CUT:
            # Average link is reducible: what is too far from all now stays too far from what they become.
            chain.pop()
            alive.discard(here)
            done.append(here)
            continue
        if nearest != before:
            chain.append(nearest)
            continue
        chain.pop()
        chain.pop()
        total = size[here] + size[nearest]
        for other in alive:
            if other not in (here, nearest):
                mixed = (size[here] * row[other] + size[nearest] * distance[nearest][other]) / total
                distance[nearest][other] = distance[other][nearest] = mixed
        size[nearest] = total
        members[nearest] += members[here]
        alive.discard(here)
    return [[items[number] for number in members[group]] for group in done]


def _join(item: Features, groups: list[list[Features]], rarity: Mapping[str, float]) -> None:
    """To the group whose most frequent member is nearest, or to a group of its own."""
    nearest, best = None, CUT
    for group in groups:
        far = _distance(item, group[0], rarity)
        if far <= best:
            nearest, best = group, far
    if nearest is None:
        groups.append([item])
    else:
        nearest.append(item)
