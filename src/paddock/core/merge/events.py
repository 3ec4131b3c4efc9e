"""What happened to the merge queue: facts in the past tense, wrapped by the log in its envelope.

The envelope's `at` is the time of every fact; run starts and ends take theirs from it.
"""

from typing import ClassVar, TypeAlias

from paddock.core.events import Event
from paddock.core.merge.model import Change, HaltCause, Member, Purpose, RefusalCause, Result


class MainMoved(Event, frozen=True):
    """Main was seen at a value the queue did not give it. `descends`: the last known value is an ancestor.

    `by` is who moved it and how, as far as git tells: anybody can write any name there.
    """

    kind: ClassVar[str] = "queue.main_moved"
    commit: str
    tree: str
    descends: bool = True
    by: str = ""


class MainRestored(Event, frozen=True):
    """A person put main back from `old` to the last commit that was tested; what `old` had is kept at ref `kept`."""

    kind: ClassVar[str] = "queue.main_restored"
    commit: str
    tree: str
    old: str
    kept: str = ""


class WorkLost(Event, frozen=True):
    """Changes that had landed are no longer in main, which is at `main`: it was rewound, or pushed over."""

    kind: ClassVar[str] = "queue.work_lost"
    main: str
    ids: tuple[str, ...]


class WorkFound(Event, frozen=True):
    """Changes that were lost from main are in it again."""

    kind: ClassVar[str] = "queue.work_found"
    main: str
    ids: tuple[str, ...]


class CiDefined(Event, frozen=True):
    """The hash of the CI definition in force: command, environment, checks, set-up."""

    kind: ClassVar[str] = "queue.ci_defined"
    ci: str


class ChangeQueued(Event, frozen=True):
    """A version of a change entered the queue; an undecided older version of the same id is superseded.

    `note` is what whoever queued a branch by name said; a task's is in `task.approved`.
    """

    kind: ClassVar[str] = "queue.change_queued"
    change: Change
    note: str = ""


class ChangeMoved(Event, frozen=True):
    """A person gave the change another priority."""

    kind: ClassVar[str] = "queue.change_moved"
    id: str
    priority: int
    by: str = ""


class ChangeRetried(Event, frozen=True):
    """A person asked for a fresh trial: what earlier runs said about the change no longer counts."""

    kind: ClassVar[str] = "queue.change_retried"
    id: str
    version: int
    by: str = ""


class ChangeRestacked(Event, frozen=True):
    """Another change was queued that this one builds on, so it depends on that; earlier runs say nothing about it."""

    kind: ClassVar[str] = "queue.change_restacked"
    id: str
    version: int
    depends_on: tuple[str, ...]
    stacked_on: tuple[Member, ...] = ()


class CompositionRefused(Event, frozen=True):
    """Members could not be put together on `base`, because of member `id`; no run was started.

    `against` is the other member in the way, None when `id` alone does not merge onto the base either. For
    `EMPTY` the merge of `id` leaves the tree as it was; for `MISSING` its head is gone; for `UNDOES` the `paths` say
    which landed work it would take back.
    """

    kind: ClassVar[str] = "queue.composition_refused"
    base: str
    members: tuple[Member, ...]
    id: str
    version: int
    cause: RefusalCause
    paths: tuple[str, ...] = ()
    against: str | None = None


class RunStarted(Event, frozen=True):
    """CI began on an exact tree. For `baseline` and `control` there are no members and commit equals base.

    `checks` are the ones to run; those left out have passed on tree `since` and look at nothing in which this
    tree differs from it. Without `since` all are run.
    `policy` is the shape of history the commit was written in; empty: the one configured when it lands.
    `host` is the name of where it runs, and `host_id` stays when that changes. `accepts` are the acceptances of members
    that must pass as well, each as the change and the record that holds it: `t3@412`.
    """

    kind: ClassVar[str] = "queue.run_started"
    run: str
    purpose: Purpose
    base: str
    base_tree: str
    members: tuple[Member, ...]
    tree: str
    commit: str
    ci: str
    log: str = ""
    confirms: str | None = None
    checks: tuple[str, ...] = ()
    since: str = ""
    policy: str = ""
    host: str = ""
    host_id: str = ""
    accepts: tuple[str, ...] = ()


class RunCancelAsked(Event, frozen=True):
    """The run is being stopped; its slot is free only when the run has ended."""

    kind: ClassVar[str] = "queue.run_cancel_asked"
    run: str
    reason: str = ""


class RunEnded(Event, frozen=True):
    """A run is over and its slot free. `reused` names an earlier pass of the same tree that made it unnecessary.

    `cannot_run` says why CI could not even begin: a command that is missing, a module that is not installed.
    Checks: `ran` to an end, `failed`, `flaked` (failed, then passed within the run), `quarantined` (failed without
    consequence).
    """

    kind: ClassVar[str] = "queue.run_ended"
    run: str
    result: Result
    exit: int | None = None
    reused: str | None = None
    note: str = ""
    cannot_run: str = ""
    ran: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    flaked: tuple[str, ...] = ()
    quarantined: tuple[str, ...] = ()


class LandingStarted(Event, frozen=True):
    """Main is about to be moved from `old` to `new`; recorded before the compare-and-swap."""

    kind: ClassVar[str] = "queue.landing_started"
    run: str
    old: str
    new: str


class TrainLanded(Event, frozen=True):
    """Main was moved: the members of `run` are in it."""

    kind: ClassVar[str] = "queue.train_landed"
    run: str
    old: str
    new: str


class LandingRefused(Event, frozen=True):
    """Main was not moved: it was no longer at `old`, or the audit found an effect no member explains."""

    kind: ClassVar[str] = "queue.landing_refused"
    run: str
    old: str
    new: str
    reason: str
    audit_failed: bool = False


class ChangeRejected(Event, frozen=True):
    """`runs` are the failing runs on verified bases the verdict rests on; empty when a person rejected it.

    `needed` is how many failures were asked for: more where CI has been seen to fail for no reason.
    """

    kind: ClassVar[str] = "queue.change_rejected"
    id: str
    version: int
    reason: str
    runs: tuple[str, ...] = ()
    by: str | None = None
    needed: int = 2


class ChangeConflicted(Event, frozen=True):
    """The change conflicts with landed work and goes back to its author."""

    kind: ClassVar[str] = "queue.change_conflicted"
    id: str
    version: int
    base: str
    paths: tuple[str, ...] = ()
    against: str | None = None


class ChangeCancelled(Event, frozen=True):
    """The change left the queue undecided; `fell_with` is the change it depended on, when that was the cause.

    `undoes` is the landed work that it would take back, when that is why.
    """

    kind: ClassVar[str] = "queue.change_cancelled"
    id: str
    version: int
    reason: str = ""
    by: str | None = None
    fell_with: str | None = None
    undoes: tuple[str, ...] = ()


class ChangeFoundEmpty(Event, frozen=True):
    """Everything the change does is in main already."""

    kind: ClassVar[str] = "queue.change_found_empty"
    id: str
    version: int
    base: str


class QueueHalted(Event, frozen=True):
    """The queue stopped by itself and needs a person; with `until_main_moves` a commit that fixes main is enough.

    Unless its `cause` is `other`, main is tested again by itself, and the halt is over when that passes.
    """

    kind: ClassVar[str] = "queue.halted"
    reason: str
    runs: tuple[str, ...] = ()
    until_main_moves: bool = False
    cause: HaltCause = HaltCause.OTHER


class QueueFrozen(Event, frozen=True):
    """Nothing lands until unfrozen; testing goes on."""

    kind: ClassVar[str] = "queue.frozen"
    reason: str = ""


class QueueUnfrozen(Event, frozen=True):
    kind: ClassVar[str] = "queue.unfrozen"


class QueuePaused(Event, frozen=True):
    """No run starts until resumed; what has passed may land."""

    kind: ClassVar[str] = "queue.paused"
    reason: str = ""


class QueueResumed(Event, frozen=True):
    """Clears pause, drain and halt. After a halt main is verified again before anything else."""

    kind: ClassVar[str] = "queue.resumed"


class QueueDrained(Event, frozen=True):
    """Changes queued from now on wait until resumed; older ones are finished."""

    kind: ClassVar[str] = "queue.drained"


class RemoteLost(Event, frozen=True):
    """The remote main lives on could not be reached; what is to land waits for it."""

    kind: ClassVar[str] = "queue.remote_lost"
    remote: str
    problem: str


class RemoteReached(Event, frozen=True):
    """It answered again."""

    kind: ClassVar[str] = "queue.remote_reached"
    remote: str


Switch: TypeAlias = QueueHalted | QueueFrozen | QueueUnfrozen | QueuePaused | QueueResumed | QueueDrained
Remote: TypeAlias = RemoteLost | RemoteReached

QueueEvent: TypeAlias = (
    MainMoved
    | MainRestored
    | WorkLost
    | WorkFound
    | CiDefined
    | ChangeQueued
    | ChangeMoved
    | ChangeRetried
    | ChangeRestacked
    | CompositionRefused
    | RunStarted
    | RunCancelAsked
    | RunEnded
    | LandingStarted
    | TrainLanded
    | LandingRefused
    | ChangeRejected
    | ChangeConflicted
    | ChangeCancelled
    | ChangeFoundEmpty
    | Remote
    | Switch
)
