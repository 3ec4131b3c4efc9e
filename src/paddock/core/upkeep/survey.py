"""What was seen of the world outside the log: plain values, gathered by those who can look."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum


class SlotState(Enum):
    MAKING = "making"  # being created for the pool; holds nothing of value
    IDLE = "idle"  # in the pool: clean, at commit `at`
    CLAIMED = "claimed"  # being prepared for `attempt`; no agent has seen it
    READY = "ready"  # handed to `attempt`; only its release may touch it
    RETURNING = "returning"  # its work is secured; being cleaned
    KEPT = "kept"  # holds something that could not be secured; for a human, see `reason`


@dataclass(frozen=True, slots=True)
class ProcessSeen:
    """A process of ours. `owner` is the attempt (`t5.1`) or run (`run-r3`) it says it belongs to."""

    owner: str
    name: str
    age_seconds: float
    command: str


@dataclass(frozen=True, slots=True)
class WorktreeSeen:
    """A slot of the pool. `state` is None where nothing readable is recorded, `present` whether its folder exists,
    `busy` whether someone is using it."""

    number: int
    path: str
    state: SlotState | None
    attempt: str = ""
    reason: str = ""
    present: bool = True
    busy: bool = False


@dataclass(frozen=True, slots=True)
class SandboxClaim:
    """A CI sandbox and the run that has it, None for none."""

    name: str
    run: str | None


@dataclass(frozen=True, slots=True)
class UnitSeen:
    """A composed commit that a ref of ours has held for so long."""

    commit: str
    age_seconds: float


@dataclass(frozen=True, slots=True)
class OutputSeen:
    """A folder with what an attempt or a run (`owner`) has written."""

    owner: str
    path: str
    age_seconds: float
    size_bytes: int


@dataclass(frozen=True, slots=True)
class MemorySeen:
    """A folder with what is kept of the conversation that `name` began."""

    name: str
    path: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class HeldChanges:
    """Every ref of a change at one moment. `loose`: commit → parents of what neither `main` nor a kept ref has."""

    main: str
    refs: Mapping[str, str]
    loose: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Survey:
    processes: tuple[ProcessSeen, ...] = ()
    worktrees: tuple[WorktreeSeen, ...] = ()
    sandboxes: tuple[SandboxClaim, ...] = ()
    units: tuple[UnitSeen, ...] = ()
    outputs: tuple[OutputSeen, ...] = ()
    memories: tuple[MemorySeen, ...] = ()
    changes: HeldChanges | None = None
