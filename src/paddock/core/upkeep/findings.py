"""What no longer belongs to anything: whose it was, the evidence, and the remedy."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from paddock.core.upkeep.survey import HeldChanges, SlotState


class What(StrEnum):
    LEASE = "expired lease"
    PROCESS = "orphan process"
    ABANDONED = "worktree of an ended attempt"
    HALF_MADE = "half-made worktree"
    SURPLUS = "worktree beyond the pool"
    KEPT = "worktree that was kept for you"
    SANDBOX = "sandbox of an ended run"
    SPARE_SANDBOX = "sandbox beyond the slots"
    REF = "ref of an ended run"
    CHANGES = "refs of finished changes"
    TRANSCRIPT = "old transcript"
    CONVERSATION = "conversation that will not go on"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ExpireLease:
    """The log's own: it is over by the event that says so."""


@dataclass(frozen=True, slots=True)
class EndProcesses:
    owner: str


@dataclass(frozen=True, slots=True)
class ReturnWorktree:
    """To the pool, with what is in it saved first."""

    attempt: str


@dataclass(frozen=True, slots=True)
class RemoveWorktree:
    """If it is still as it was seen, with what is in it saved first. `state` is None where there is no record."""

    slot: int
    state: SlotState | None
    attempt: str = ""
    present: bool = True


@dataclass(frozen=True, slots=True)
class ReleaseSandbox:
    name: str
    run: str


@dataclass(frozen=True, slots=True)
class RemoveSandbox:
    name: str


@dataclass(frozen=True, slots=True)
class ReleaseUnit:
    commit: str


@dataclass(frozen=True, slots=True)
class ReleaseChanges:
    """All or none of the refs of `held`, whose commits its main or another ref holds."""

    held: HeldChanges


@dataclass(frozen=True, slots=True)
class RemoveOutput:
    path: str


WorktreeRemedy: TypeAlias = ReturnWorktree | RemoveWorktree
Remedy: TypeAlias = (
    ExpireLease
    | EndProcesses
    | WorktreeRemedy
    | ReleaseSandbox
    | RemoveSandbox
    | ReleaseUnit
    | ReleaseChanges
    | RemoveOutput
)


@dataclass(frozen=True, slots=True)
class Leftover:
    """`name` is its owner or place; `evidence` is for people. Without a remedy it is only reported."""

    what: What
    name: str
    evidence: str = ""
    remedy: Remedy | None = None
    size_bytes: int = 0
