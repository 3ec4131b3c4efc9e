"""What the merge queue knows: changes, the runs that tested them, and what main is.

Everything here is frozen and encodes into a snapshot. `Queue` is bounded: a decided change leaves one `Decided`
record and its last runs; older ones are only in the log.
"""

from enum import StrEnum

from msgspec import Struct

from paddock.core.merge.tallies import Stats

ACCEPTANCE = "accept:"
"""Before a change's id in the name of the check that its own acceptance is."""


class Purpose(StrEnum):
    """Why a run was started."""

    SCREEN = "screen"
    TRAIN = "train"
    CONFIRM = "confirm"
    BASELINE = "baseline"
    CONTROL = "control"


class Result(StrEnum):
    """How a run ended. `INFRA` is nobody's fault: set-up failed, out of memory, a signal from outside, exit 75."""

    PASS = "pass"
    FAIL = "fail"
    TIMEOUT = "timeout"
    INFRA = "infra"
    CANCELLED = "cancelled"


class Ending(StrEnum):
    """The one end each change comes to."""

    LANDED = "landed"
    REJECTED = "rejected"
    CONFLICTED = "conflicted"
    CANCELLED = "cancelled"
    SUPERSEDED = "superseded"
    NOOP = "noop"


class HaltCause(StrEnum):
    """Why the queue stopped by itself. `OTHER` needs a person; the others are over when main passes again."""

    OTHER = "other"
    MAIN_RED = "main_red"
    CI_CANNOT_RUN = "ci_cannot_run"
    OUTAGE = "outage"


class RefusalCause(StrEnum):
    """Why members could not be put together on a base."""

    CONFLICT = "conflict"
    EMPTY = "empty"
    MISSING = "missing"
    UNDOES = "undoes"


class Member(Struct, frozen=True):
    """Exactly which bytes of a change are in a run."""

    id: str
    version: int
    head: str


class Change(Struct, frozen=True):
    """One immutable version of somebody's work.

    `depends_on` names changes that must land first and have not landed yet, `stacked_on` those of them whose commits
    it includes, in the version it was last seen to build on. A higher `priority` goes earlier.
    `branch` is the one it was queued by, when it is no task's.
    `paths` are those the change touches between `base` and `head`. One that `repairs` may land on a red main.
    `concerns` say why a person must have seen it (it touches what is protected), `undoes` which landed work it takes
    back; `approved_by` is that person, empty where policy queued it, and with `may_undo` the reversal is wanted.
    `reviewed_by` are the agents that have passed exactly this version; they are not persons. `reverts` is the landed
    change that this one is the reverse of. `accept` is the record with what must pass wherever this one is in a run,
    0 for nothing.
    """

    id: str
    version: int
    head: str
    base: str
    task: str | None = None
    author: str = ""
    title: str = ""
    priority: int = 0
    depends_on: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    touches_ci: bool = False
    repairs: bool = False
    stacked_on: tuple[Member, ...] = ()
    branch: str = ""
    concerns: tuple[str, ...] = ()
    undoes: tuple[str, ...] = ()
    approved_by: str = ""
    may_undo: bool = False
    reviewed_by: tuple[str, ...] = ()
    reverts: str = ""
    accept: int = 0

    @property
    def acceptance(self) -> str:
        """A name for what must pass with this very change; empty for nothing."""
        return f"{self.id}@{self.accept}" if self.accept else ""

    @property
    def member(self) -> Member:
        return Member(self.id, self.version, self.head)


class Run(Struct, frozen=True):
    """One CI run over one exact tree. `result` is None while it runs. `cannot_run`: why CI could not even begin.

    `checks` are the ones it is to run; those left out have passed on tree `since`, which does not differ from this
    one in anything they look at. Without `since` all are run. `ran` (to an end), `failed`, `flaked` (failed, then
    passed within the run) and `quarantined` (failed, but in quarantine) name checks too. `beside`: another run was
    under way at the same time. `accepts` are the acceptances of its members that are run after the checks.
    """

    id: str
    purpose: Purpose
    base: str
    base_tree: str
    members: tuple[Member, ...]
    tree: str
    commit: str
    ci: str
    log: str
    started_at: float
    confirms: str | None = None
    slots_busy: int = 1
    cancelling: bool = False
    ended_at: float | None = None
    result: Result | None = None
    exit: int | None = None
    reused: str | None = None
    note: str = ""
    cannot_run: str = ""
    checks: tuple[str, ...] = ()
    since: str = ""
    ran: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    flaked: tuple[str, ...] = ()
    quarantined: tuple[str, ...] = ()
    policy: str = ""
    host: str = ""
    host_id: str = ""
    beside: bool = False
    accepts: tuple[str, ...] = ()

    def holds(self, change_id: str) -> bool:
        return any(member.id == change_id for member in self.members)


class MergeRefusal(Struct, frozen=True):
    """A change could not be merged onto `base`; `against` is the undecided change in the way, None for the base."""

    base: str
    cause: RefusalCause
    paths: tuple[str, ...] = ()
    against: str | None = None


class Entry(Struct, frozen=True):
    """A change that is not decided yet. `evidence` are ids of ended runs that held it, oldest first.

    Of its `infra_failures`, `lost_in_company` were incidents that took other runs as well.
    """

    change: Change
    queued_at: float
    priority: int
    waits_on: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    refusals: tuple[MergeRefusal, ...] = ()
    infra_failures: int = 0
    lost_in_company: int = 0


class Decided(Struct, frozen=True):
    """How a change ended and the runs this rests on. `lost`: it landed, and main no longer has it."""

    id: str
    version: int
    head: str
    outcome: Ending
    at: float
    queued_at: float
    task: str | None = None
    author: str = ""
    reason: str = ""
    runs: tuple[str, ...] = ()
    commit: str | None = None
    paths: tuple[str, ...] = ()
    against: str | None = None
    title: str = ""
    lost: bool = False
    branch: str = ""
    reverts: str = ""


class Main(Struct, frozen=True):
    """Where the landing branch stands. `verified_by` is the run that passed exactly this tree, if any did.

    `moved_by` is who moved it there, where that was not the queue.
    """

    commit: str
    tree: str
    verified_by: str | None = None
    moved_by: str = ""


class Landing(Struct, frozen=True):
    """A move of main that was announced and not yet confirmed. Recovery finishes or gives it up."""

    run: str
    old: str
    new: str


class Halted(Struct, frozen=True):
    """Why the queue stopped by itself. A person's resume clears it, and for `until_main_moves` whoever fixes main.

    `probes` counts the runs of main that failed since, the last of which ended at `probed_at`. `rewound`: main went
    back, or elsewhere.
    """

    reason: str
    at: float
    runs: tuple[str, ...] = ()
    until_main_moves: bool = False
    cause: HaltCause = HaltCause.OTHER
    probes: int = 0
    probed_at: float = 0.0
    rewound: bool = False


class Incident(Struct, frozen=True):
    """Runs that were lost together: `run` was the first, and the others were under way when it was lost at `at`."""

    run: str
    at: float
    runs: int = 1


class LostRemote(Struct, frozen=True):
    """The remote main lives on could not be reached since `at`, and what git said."""

    remote: str
    problem: str
    at: float


class Queue(Struct, frozen=True):
    """The whole state of the merge queue.

    `running` holds runs that occupy a slot, `ended` the runs that still matter. `passes` maps `tree:ci` to the
    run that passed it, so that nothing is tested twice; `leans` maps such a key to the key of the pass it rests on.
    `infra_streak` counts incidents since the last verdict. `lost_version` is the highest version any change had in
    records that are lost. `trusted` is the main before somebody else moved it: the last that passed, or the first that
    was seen as long as none has.
    """

    main: Main | None = None
    ci: str = ""
    entries: dict[str, Entry] = {}
    running: dict[str, Run] = {}
    ended: dict[str, Run] = {}
    landable: tuple[str, ...] = ()
    passes: dict[str, str] = {}
    decided: tuple[Decided, ...] = ()
    landing: Landing | None = None
    stats: Stats = Stats()
    next_run: int = 1
    failure_streak: int = 0
    infra_streak: int = 0
    incident: Incident | None = None
    landing_refusals: int = 0
    last_pass_at: float = 0.0
    last_pass_began: float = 0.0
    frozen: bool = False
    paused: bool = False
    draining_since: float | None = None
    halted: Halted | None = None
    leans: dict[str, str] = {}
    lost_remote: LostRemote | None = None
    lost_version: int = 0
    trusted: Main | None = None


def pass_key(tree: str, ci: str) -> str:
    return f"{tree}:{ci}"
