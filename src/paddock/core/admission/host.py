"""What the machine can bear: memory, disk, and a number of agents that keeps the processors busy but not choked."""

from dataclasses import dataclass

import msgspec
from msgspec.structs import replace

AGENT_MEMORY_BYTES = 400 * 2**20
RESERVED_MEMORY_BYTES = 512 * 2**20
RESERVED_DISK_BYTES = 2 * 2**30
RESERVED_INODES = 50_000
STEP_SECONDS = 10.0
# Runnable processes per core the pace aims at. Somewhat above one keeps every core busy through the gaps.
TARGET_BUSY = 1.25
BUSY_SMOOTHING = 0.15
APPROACH, GROWTH = 0.3, 1.25


class HostSample(msgspec.Struct, frozen=True):
    """`busy` is runnable processes per core; `free_inodes` None where the file system does not count them."""

    at: float
    busy: float
    free_memory_bytes: int
    free_disk_bytes: int
    free_inodes: int | None = None
    cores: int = 1


class HostPace(msgspec.Struct, frozen=True):
    slots: float = 4.0
    busy: float | None = None
    stepped_at: float = 0.0


@dataclass(frozen=True, slots=True)
class Room:
    """How many more agents fit, and what limits them."""

    agents: int
    reason: str


def pace_host(pace: HostPace, sample: HostSample, running: int) -> HostPace:
    """Move the number of slots towards the one that keeps the machine as busy as aimed at.

    Slots grow only while they are used: an idle evening says nothing about what the machine bears.
    """
    busy = sample.busy if pace.busy is None else pace.busy + BUSY_SMOOTHING * (sample.busy - pace.busy)
    fresh = replace(pace, busy=busy)
    if sample.at < pace.stepped_at + STEP_SECONDS:
        return fresh
    slots = pace.slots
    if busy > TARGET_BUSY or running >= 0.8 * slots - 1:
        # Busyness per agent tells how many there may be, even while there are too many still. Going only part of
        # the way damps the loop: agents that start load the machine late, agents that run stay for minutes.
        wanted = max(1.0, running) * TARGET_BUSY / max(busy, 0.01)
        slots = min(slots + APPROACH * (wanted - slots), GROWTH * slots + 1, GROWTH * max(1.0, running) + 2)
    return replace(fresh, slots=max(1.0, slots), stepped_at=sample.at)


def host_rooms(
    pace: HostPace, sample: HostSample, running: int, agent_memory_bytes: int = AGENT_MEMORY_BYTES
) -> tuple[Room, ...]:
    """Each resource's own answer; the smallest decides."""
    memory = max(0, sample.free_memory_bytes - RESERVED_MEMORY_BYTES) // max(1, agent_memory_bytes)
    free_gib = sample.free_memory_bytes / 2**30
    slots = int(pace.slots + 1e-9)
    rooms = [
        Room(memory, f"{free_gib:.1f} GiB of memory free, {agent_memory_bytes / 2**20:.0f} MiB per agent"),
        Room(max(0, slots - running), f"processors {pace.busy or 0.0:.1f} times busy: {slots} slots"),
    ]
    if sample.free_disk_bytes < RESERVED_DISK_BYTES:
        rooms.append(Room(0, f"disk nearly full: {sample.free_disk_bytes / 2**30:.1f} GiB free"))
    if sample.free_inodes is not None and sample.free_inodes < RESERVED_INODES:
        rooms.append(Room(0, f"disk nearly full: {sample.free_inodes:,} inodes free"))
    return tuple(rooms)
