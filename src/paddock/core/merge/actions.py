"""What the planner asks the effects layer to do, in order.

Contract of the effects layer, which calls `plan` again after recording what came of an action until it gets none:

- `RecordMain`, `RecordCi`, `Halt`, `Reject`, `Bounce`, `MarkNoop`, `Withdraw`: record `decision_event(action)`.
- `StartRun`: merge the members onto `base` in order. Refused: record `CompositionRefused` and start nothing. Else
  record `RunStarted`; if `reusable_pass` knows it, record `RunEnded(result=PASS, reused=…)` at once,
  otherwise run CI and record `RunEnded` when it is over. CI may leave out a check only if the tree does not differ
  in any path the check looks at from the one `tree_to_lean_on` names; then `RunStarted` says so.
- `CancelRun`: record `RunCancelAsked`, stop the processes, then record `RunEnded(result=CANCELLED)`.
- `Land`: safe to repeat after a crash. Record `LandingStarted` unless `queue.landing` holds it already. If `new` is
  main or an ancestor of it, record `TrainLanded`. Else audit, compare-and-swap main from `old` to `new`, record
  `TrainLanded`, or `LandingRefused` when main is not at `old` or the audit fails.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from paddock.core.merge.events import (
    ChangeCancelled,
    ChangeConflicted,
    ChangeFoundEmpty,
    ChangeRejected,
    CiDefined,
    MainMoved,
    QueueEvent,
    QueueHalted,
)
from paddock.core.merge.model import HaltCause, Member, Purpose


@dataclass(frozen=True, slots=True)
class Facts:
    """What the effects layer sees right now.

    `main_descends` says whether the last main the queue knows is an ancestor of (or equal to) `main_commit`. What
    halted the queue before `watched_since`, when this daemon began, is asked again at once.
    """

    main_commit: str
    main_tree: str
    ci: str
    slots: int
    main_descends: bool = True
    watched_since: float = 0.0


@dataclass(frozen=True, slots=True)
class RecordMain:
    commit: str
    tree: str
    descends: bool


@dataclass(frozen=True, slots=True)
class RecordCi:
    ci: str


@dataclass(frozen=True, slots=True)
class Halt:
    reason: str
    runs: tuple[str, ...] = ()
    until_main_moves: bool = False
    cause: HaltCause = HaltCause.OTHER


@dataclass(frozen=True, slots=True)
class StartRun:
    """Compose `members` on commit `base` and test the result. `base_tree` is the tree of `base`."""

    run: str
    purpose: Purpose
    base: str
    base_tree: str
    members: tuple[Member, ...]
    confirms: str | None = None


@dataclass(frozen=True, slots=True)
class CancelRun:
    run: str
    reason: str


@dataclass(frozen=True, slots=True)
class Land:
    run: str
    old: str
    new: str
    tree: str
    members: tuple[Member, ...]


@dataclass(frozen=True, slots=True)
class Reject:
    id: str
    version: int
    reason: str
    runs: tuple[str, ...]
    needed: int


@dataclass(frozen=True, slots=True)
class Bounce:
    """The change conflicts with landed work: back to its author with both diffs."""

    id: str
    version: int
    base: str
    paths: tuple[str, ...]
    against: str | None = None


@dataclass(frozen=True, slots=True)
class MarkNoop:
    id: str
    version: int
    base: str


@dataclass(frozen=True, slots=True)
class Withdraw:
    """The bytes that were queued are gone, or what the change depends on (`fell_with`) is: record `ChangeCancelled`."""

    id: str
    version: int
    reason: str
    fell_with: str | None = None


Action: TypeAlias = RecordMain | RecordCi | Halt | StartRun | CancelRun | Land | Reject | Bounce | MarkNoop | Withdraw


def decision_event(action: Action) -> QueueEvent | None:
    """The event that records an action which is a pure decision; None for those with an effect on git or CI."""
    match action:
        case RecordMain(commit, tree, descends):
            return MainMoved(commit, tree, descends)
        case RecordCi(ci):
            return CiDefined(ci)
        case Halt(reason, runs, until_main_moves, cause):
            return QueueHalted(reason, runs, until_main_moves, cause)
        case Reject(id, version, reason, runs, needed):
            return ChangeRejected(id, version, reason, runs, needed=needed)
        case Bounce(id, version, base, paths, against):
            return ChangeConflicted(id, version, base, paths, against)
        case MarkNoop(id, version, base):
            return ChangeFoundEmpty(id, version, base)
        case Withdraw(id, version, reason, fell_with):
            return ChangeCancelled(id, version, reason, fell_with=fell_with)
        case StartRun() | CancelRun() | Land():
            return None
