"""What the machine allows: memory, disk, and as many agents as keep the CPUs busy but not overloaded."""

from dataclasses import dataclass

import msgspec
from msgspec.structs import replace

AGENT_MEMORY_BYTES = 400 * 2**20
STEP_SECONDS = 10.0
# The target of runnable processes per core. Slightly above one keeps every core busy through the gaps.
TARGET_BUSY = 1.25
BUSY_SMOOTHING = 0.15
FORGOTTEN_SECONDS = 60.0
"""After a longer pause without samples, what they said counts no more."""
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
class Floor:
    """What must stay free, however idle the machine is."""

    memory_bytes: int = 512 * 2**20
    disk_bytes: int = 2**30
    inodes: int = 10_000


@dataclass(frozen=True, slots=True)
class Room:
    """How many more agents fit, and what limits them."""

    agents: int
    reason: str


def pace_host(pace: HostPace, sample: HostSample, running: int) -> HostPace:
    """Move the number of slots towards the one that keeps the machine as busy as aimed at.

    Slots grow only while they are used: an idle evening says nothing about what the machine can take.
    """
    known = pace.busy if sample.at < pace.stepped_at + FORGOTTEN_SECONDS else None
    busy = sample.busy if known is None else known + BUSY_SMOOTHING * (sample.busy - known)
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


def load_room(pace: HostPace, running: int) -> Room:
    slots = int(pace.slots + 1e-9)
    limited = f"limited to {slots} agent{'s' * (slots != 1)}"
    return Room(max(0, slots - running), f"CPU load {pace.busy or 0.0:.1f} per core; {limited}")


def memory_room(sample: HostSample, floor: Floor, agent_bytes: int = AGENT_MEMORY_BYTES) -> Room:
    agents = max(0, sample.free_memory_bytes - floor.memory_bytes) // max(1, agent_bytes)
    free_gib = sample.free_memory_bytes / 2**30
    return Room(agents, f"{free_gib:.1f} GiB of memory free; an agent needs {agent_bytes / 2**20:.0f} MiB")


def lack_of_disk(sample: HostSample, floor: Floor) -> str | None:
    """Why nothing may start for lack of disk space; None if there is enough."""
    if sample.free_disk_bytes < floor.disk_bytes:
        free, least = sample.free_disk_bytes / 2**30, floor.disk_bytes / 2**30
        return f"disk nearly full: {free:.1f} GiB free, below the minimum of {least:.1f} GiB"
    if sample.free_inodes is not None and sample.free_inodes < floor.inodes:
        return f"disk nearly full: {sample.free_inodes:,} inodes free, below the minimum of {floor.inodes:,}"
    return None
