"""What the planner asks the effects layer to do, in order.

Contract of the effects layer, which calls `plan` again after recording what came of an action until it gets none:

- An event is a decision: record it. What `MainMoved` means for landed work, and which landed work a
  `ChangeConflicted` is against, the effects layer adds from git.
- `StartRun`: merge the members onto `base` in order. Refused: record `CompositionRefused` and start nothing. Else
  record `RunStarted`; if `reusable_pass` knows it, record `RunEnded(result=PASS, reused=…)` at once,
  otherwise run CI and record `RunEnded` when it is over. CI may leave out a check only if the tree does not differ
  in any path the check looks at from the one `tree_to_lean_on` names; then `RunStarted` says so.
- `CancelRun`: record `RunCancelAsked`, stop the processes, then record `RunEnded(result=CANCELLED)`.
- `Land`: safe to repeat after a crash. Record `LandingStarted` unless `queue.landing` holds it already. If `new` is
  main or an ancestor of it, record `TrainLanded`. Else audit, compare-and-swap main from `old` to `new`, record
  `TrainLanded`, or `LandingRefused` when main is not at `old` or the audit fails.
"""

from dataclasses import dataclass
from typing import TypeAlias

from paddock.core.merge.events import (
    ChangeCancelled,
    ChangeConflicted,
    ChangeFoundEmpty,
    ChangeRejected,
    CiDefined,
    MainMoved,
    QueueHalted,
)
from paddock.core.merge.model import Member, Purpose


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


Decision: TypeAlias = (
    MainMoved | CiDefined | QueueHalted | ChangeRejected | ChangeConflicted | ChangeFoundEmpty | ChangeCancelled
)
Action: TypeAlias = StartRun | CancelRun | Land | Decision
