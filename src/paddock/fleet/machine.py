"""What the machine has left. The gate asks here and nowhere else, so that a daemon can be run as on another machine."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import psutil

from paddock.core.admission.host import HostSample
from paddock.git.disk import free_space


class Machine(Protocol):
    def sample(self, now: float) -> HostSample: ...


@dataclass(frozen=True, slots=True)
class ThisMachine:
    """Of the disks that `folders` are on, the one with the least room; a missing folder counts as on its parent's."""

    folders: Sequence[Path]

    def sample(self, now: float) -> HostSample:
        disks = [free_space(folder) for folder in self.folders]
        inodes = [disk.free_inodes for disk in disks if disk.free_inodes is not None]
        cores = os.cpu_count() or 1
        return HostSample(
            at=now,
            busy=os.getloadavg()[0] / cores,
            free_memory_bytes=psutil.virtual_memory().available,
            free_disk_bytes=min(disk.free_bytes for disk in disks),
            free_inodes=min(inodes, default=None),
            cores=cores,
        )
