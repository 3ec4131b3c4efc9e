"""What an attempt on a node costs beside its work: a slot of Ray's, the journeys of its commits, copies of its output.

Each is done by itself, through the code that does it in a fleet. Times are per slot, per journey and per megabyte.
"""

import asyncio
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import psutil
from tests.nodes.ranch import Ranch, RayCluster

from bench.grow.fleet import DAEMON, MANAGERS, PLACER, RAY, MeasuredFleet, Place, seconds_of, seconds_of_ray
from bench.measure import Line
from paddock.core.ids import TaskId
from paddock.fleet.nodes.cluster import Cluster
from paddock.fleet.nodes.exchange import Exchange
from paddock.fleet.nodes.mirror import Mirror, open_mirror
from paddock.fleet.nodes.order import NodeOrder
from paddock.fleet.nodes.placing import Release, Reservations, Reserve, Wish
from paddock.git.repo import discover

_LINE = "x" * 999


@dataclass(frozen=True, slots=True)
class Journeys:
    """`repeats` of each, of slots also after `former` others; `loud` agents print so many megabytes each."""

    repeats: int
    former: int
    loud: int
    megabytes: int


FULL = Journeys(40, 1000, 4, 16)
QUICK = Journeys(2, 2, 1, 1)


def journey_lines(place: Place, cluster: RayCluster, sizes: Journeys) -> list[Line]:
    with place.fleet(cluster) as fleet:
        assert fleet.ranch is not None
        slots = asyncio.run(_slots(fleet.ranch, cluster, sizes))
        commits = _commits(fleet.ranch, sizes.repeats)
    return [*slots, *commits, *_copies(place, cluster, sizes)]


async def _slots(ranch: Ranch, cluster: RayCluster, sizes: Journeys) -> list[Line]:
    """Reserved and given back, one after the other, by a placer that has nothing else to do."""
    line = Cluster(cluster.address, "bench", ranch.yard.folder)
    try:
        await _reserve(line, "warm.1")
        first = await _rounds(line, "first", sizes.repeats)
        for number in range(sizes.former):
            await _reserve(line, f"former{number}.1")
        later = await _rounds(line, "later", sizes.repeats)
    finally:
        await line.close()
    names = ("a slot: until it is granted", "a slot, reserved and given back: placer", "the same: Ray")
    return [
        *(Line(name, value, "ms") for name, value in zip(names, first, strict=True)),
        *(
            Line(f"{name}, after {sizes.former} others", value, "ms", "the first", before or None)
            for name, value, before in zip(names, later, first, strict=True)
        ),
    ]


async def _rounds(line: Cluster, name: str, repeats: int) -> tuple[float, float, float]:
    """Milliseconds: the wait, and the processor time of the placer and of Ray."""
    [placer] = [one for one in psutil.Process().children() if "paddock.fleet.nodes.placer" in one.cmdline()]
    used, ray = seconds_of(placer), seconds_of_ray()
    waits = [await _reserve(line, f"{name}{number}.1") for number in range(repeats)]
    used, ray = seconds_of(placer) - used, seconds_of_ray() - ray
    return 1000 * median(waits), 1000 * used / repeats, 1000 * ray / repeats


async def _reserve(line: Cluster, name: str) -> float:
    began = time.perf_counter()
    while True:
        answer = await line.ask(Reserve((Wish(name, {}),)))
        assert isinstance(answer, Reservations)
        if answer.reserved[0].node:
            break
    took = time.perf_counter() - began
    await line.ask(Release((name,)))
    return took


def _commits(ranch: Ranch, repeats: int) -> list[Line]:
    """The commit that an attempt begins at goes to the remote and to the node, and what it has made goes back."""
    yard = ranch.yard
    exchange = Exchange(discover(yard.top), "origin", "bench")
    order = NodeOrder("bench", "app", "origin", str(ranch.origin), "main", str(ranch.root), {}, (), {}, 60.0)
    mirror = Mirror(open_mirror(yard.folder / "mirror", order), order)
    starts = [_commit(yard.git, number) for number in range(repeats)]
    exchange.publish((), yard.git("rev-parse", "main"))
    return [
        *_journey("a beginning: to the remote", lambda number: exchange.publish([starts[number]]), repeats),
        *_journey("a beginning: from there to a node", lambda number: mirror.require(starts[number]), repeats),
        *_journey("main, looked for by a node", lambda _: mirror.follow_main(), repeats),
        *_journey("a delivery: to the remote", lambda number: mirror.push(f"t{number}.1", starts[number]), repeats),
    ]


def _commit(git: Callable[..., str], number: int) -> str:
    tree = git("rev-parse", "main^{tree}")
    return git("commit-tree", tree, "-p", "main", "-m", f"Begin {number}")


def _journey(name: str, go: Callable[[int], object], repeats: int) -> list[Line]:
    waits, before = [], os.times()
    for number in range(repeats):
        began = time.perf_counter()
        go(number)
        waits.append(time.perf_counter() - began)
    after = os.times()
    used = sum(getattr(after, part) - getattr(before, part) for part in ("children_user", "children_system"))
    return [
        Line(name, 1000 * median(waits), "ms"),
        Line(f"{name}: processor time of git, on both sides", 1000 * used / repeats, "ms"),
    ]


def _copies(place: Place, cluster: RayCluster, sizes: Journeys) -> list[Line]:
    """What loud agents cost more than quiet ones, for each megabyte they print."""
    with place.fleet(cluster) as fleet, fleet.at_work():
        _herd(fleet, 1, 0)
        quiet = _herd(fleet, sizes.loud, 0)
        loud = _herd(fleet, sizes.loud, sizes.megabytes)
    total = sizes.loud * sizes.megabytes
    parts = {whose: 1000 * (loud[whose] - quiet[whose]) / total for whose in (DAEMON, PLACER, MANAGERS, RAY)}
    return [Line(f"a megabyte of output, copied: {whose}", max(0.0, spent), "ms") for whose, spent in parts.items()]


def _herd(fleet: MeasuredFleet, count: int, megabytes: int) -> dict[str, float]:
    before = fleet.used()
    done = len(fleet.yard.board().tasks)
    loud = f"yes {_LINE} | head -c {megabytes}000000; " if megabytes else ""
    briefs = [f"{loud}echo {n} > f{n}.txt; git add f{n}.txt; git commit -qm {n}" for n in range(count)]
    names = fleet.yard.add_all([{"brief": brief, "engine": "sh"} for brief in briefs])
    fleet.await_delivered(done + count)
    for name in names:
        while _copied(fleet, name) < megabytes * 1_000_000:
            fleet.pause()
    after = fleet.used()
    return {whose: after[whose] - before.get(whose, 0.0) for whose in after}


def _copied(fleet: MeasuredFleet, task: TaskId) -> int:
    file: Path = fleet.yard.attempt_folder(f"{task}.1") / "turn-1.out"
    return file.stat().st_size if file.exists() else 0
