"""A git repository, a CI and an effects layer small enough to be obviously right, for driving the planner.

A tree is the set of changes in it. The lab keeps its own books of what CI answered and where main went, so the
checks in `audit.py` do not trust the queue's.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from msgspec.structs import replace

from paddock.core.errors import IllegalTransition
from paddock.core.merge import events as ev
from paddock.core.merge.actions import Action, CancelRun, Facts, Land, StartRun
from paddock.core.merge.evolve import evolve
from paddock.core.merge.model import Change, Member, Purpose, Queue, RefusalCause, Result, Run
from paddock.core.merge.passes import reusable_pass, tree_to_lean_on
from paddock.core.merge.plan import plan

Atom = tuple[str, int]
Tree = frozenset[Atom]
PLANS_PER_WAKE = 400
CHECKS = frozenset({"lint", "unit", "e2e"})


class Crashed(Exception):
    """The daemon was killed between two steps."""


@dataclass(frozen=True, slots=True)
class Commit:
    parent: str | None
    tree: Tree


@dataclass(slots=True)
class Truth:
    """What is wrong with the changes. `clashes` break together, `conflicts` do not merge, `fixes` repair what is bad.

    `seen_by` are the checks that look at what a change touches, all of them unless it says otherwise: it breaks
    no others, and two changes clash only in a check that looks at both.
    `builds_on` is what a change's commits include beside its own.
    """

    bad: set[Atom] = field(default_factory=set)
    clashes: set[frozenset[Atom]] = field(default_factory=set)
    conflicts: set[frozenset[Atom]] = field(default_factory=set)
    empty: set[Atom] = field(default_factory=set)
    fixes: dict[Atom, Atom] = field(default_factory=dict)
    seen_by: dict[Atom, frozenset[str]] = field(default_factory=dict)
    builds_on: dict[Atom, Tree] = field(default_factory=dict)

    def commits_of(self, atom: Atom) -> Tree:
        return (self.builds_on.get(atom, frozenset()) - self.empty) | {atom}

    def bases_of(self, atom: Atom) -> Tree:
        """Work of others; an older version of the change itself is its own."""
        return frozenset(other for other in self.commits_of(atom) if other[0] != atom[0])

    def is_green(self, tree: Tree) -> bool:
        return not self.red_checks(tree)

    def red_checks(self, tree: Tree) -> set[str]:
        healed = {self.fixes[atom] for atom in tree if atom in self.fixes}
        red = {check for atom in tree & (self.bad - healed) for check in self.checks_of(atom)}
        for one, other in (tuple(pair) for pair in self.clashes if pair <= tree):
            red |= self.checks_of(one) & self.checks_of(other)
        return red

    def checks_of(self, atom: Atom) -> frozenset[str]:
        return self.seen_by.get(atom, CHECKS)

    def view_of(self, check: str, tree: Tree) -> Tree:
        """All that a check sees of a tree."""
        return frozenset(atom for atom in tree if check in self.checks_of(atom))


@dataclass(slots=True)
class Lab:
    slots: int = 2
    truth: Truth = field(default_factory=Truth)
    queue: Queue = field(default_factory=Queue)
    log: list[tuple[ev.QueueEvent, float]] = field(default_factory=list)
    commits: dict[str, Commit] = field(default_factory=lambda: {"c0": Commit(None, frozenset())})
    main: str = "c0"
    ci: str = "ci1"
    now: float = 1000.0
    watched_since: float = 0.0
    processes: set[str] = field(default_factory=set)
    passed: set[tuple[str, Tree, str]] = field(default_factory=set)
    moves: list[tuple[str, str, tuple[Member, ...], bool]] = field(default_factory=list)
    answers: dict[str, tuple[Run, Result]] = field(default_factory=dict)
    submitted: set[Member] = field(default_factory=set)
    asked: dict[Member, str] = field(default_factory=dict)
    accepted: set[tuple[str, str]] = field(default_factory=set)
    queued: list[tuple[str, int]] = field(default_factory=list)
    steps_until_crash: int | None = None

    def record(self, event: ev.QueueEvent) -> None:
        self.queue = evolve(self.queue, event, self.now)
        self.log.append((event, self.now))

    def step(self) -> None:
        """A point where kill -9 may strike."""
        if self.steps_until_crash is not None:
            self.steps_until_crash -= 1
            if self.steps_until_crash < 0:
                self.steps_until_crash = None
                raise Crashed

    def recover(self) -> None:
        """All that is left is the log, git, and the processes of CI; a run without a process was lost."""
        self.queue = fold(self.log)
        for run in list(self.queue.running.values()):
            if run.id not in self.processes:
                self.record(ev.RunEnded(run.id, Result.INFRA, note="lost in a crash"))

    def submit(self, change: Change) -> None:
        self.record(ev.ChangeQueued(change))
        self.queued.append((change.id, change.version))
        self.submitted.add(change.member)
        if change.acceptance:
            self.asked[change.member] = change.acceptance

    def submit_on(self, base: str, made: Change) -> None:
        """A change whose commits include those of the queued change `base`."""
        member = self.queue.entries[base].change.member
        below = self.truth.commits_of((member.id, member.version))
        self.truth.builds_on[made.id, made.version] = below
        named = dict.fromkeys(atom[0] for atom in below if atom[0] in self.queue.entries)
        bases = tuple(self.queue.entries[name].change.member for name in named)
        self.submit(replace(made, depends_on=tuple(named), stacked_on=bases))

    def facts(self) -> Facts:
        known = self.queue.main.commit if self.queue.main else None
        descends = known is None or self.descends(self.main, known)
        tree = self.tree_name(self.main)
        return Facts(self.main, tree, self.ci, self.slots, descends, watched_since=self.watched_since)

    def descends(self, commit: str, ancestor: str) -> bool:
        at: str | None = commit
        while at is not None and at != ancestor:
            at = self.commits[at].parent
        return at == ancestor

    def tree_name(self, commit: str) -> str:
        return "+".join(f"{i}.{v}" for i, v in sorted(self.commits[commit].tree)) or "empty"

    def wake(self) -> None:
        """Plan and act until there is nothing left to do. Raises Crashed when that was asked for."""
        for _ in range(PLANS_PER_WAKE):
            actions = plan(self.queue, self.facts(), self.now)
            if not actions:
                return
            for action in actions:
                self._perform(action)
        raise AssertionError(f"the planner does not come to rest: {actions}")

    def _perform(self, action: Action) -> None:
        self.step()
        match action:
            case StartRun():
                self._start(action)
            case CancelRun(run, reason):
                self.record(ev.RunCancelAsked(run, reason))
                self.step()
                self.processes.discard(run)
                self.record(ev.RunEnded(run, Result.CANCELLED))
            case Land():
                self._land(action)
            case _:
                self.record(action)

    def _start(self, action: StartRun) -> None:
        tree = self.commits[action.base].tree
        for member in action.members:
            refused = self._refusal(action, tree, member)
            if refused is not None:
                self.record(refused)
                return
            tree |= self.truth.commits_of((member.id, member.version))
        commit = f"c{len(self.commits)}" if action.members else action.base
        self.commits.setdefault(commit, Commit(action.base, tree))
        started = ev.RunStarted(
            action.run,
            action.purpose,
            action.base,
            action.base_tree,
            action.members,
            self.tree_name(commit),
            commit,
            self.ci,
            f"{action.run}.log",
            action.confirms,
            *self._choose_checks(action, tree),
            accepts=self._acceptances(action),
        )
        self.record(started)
        reused = reusable_pass(self.queue, action.purpose, self.tree_name(commit), self.ci, started.accepts)
        if reused is not None:
            self.record(ev.RunEnded(action.run, Result.PASS, reused=reused))
            return
        self.step()
        self.processes.add(action.run)

    def _acceptances(self, action: StartRun) -> tuple[str, ...]:
        changes = [self.queue.entries[member.id].change for member in action.members]
        return tuple(change.acceptance for change in changes if change.acceptance)

    def _choose_checks(self, action: StartRun, tree: Tree) -> tuple[tuple[str, ...], str]:
        since = tree_to_lean_on(self.queue, action.purpose, self.ci)
        trees = {self.tree_name(commit): self.commits[commit].tree for commit in self.commits}
        if not since:
            return (), ""
        chosen = {check for atom in trees[since] ^ tree for check in self.truth.checks_of(atom)}
        return ((), "") if chosen == CHECKS else (tuple(sorted(chosen)), since)

    def has_passed(self, tree: Tree, ci: str) -> bool:
        """Every check has passed on a tree that looked the same to it."""
        return all((check, self.truth.view_of(check, tree), ci) in self.passed for check in CHECKS)

    def _refusal(self, action: StartRun, tree: Tree, member: Member) -> ev.CompositionRefused | None:
        atom = (member.id, member.version)
        base = self.commits[action.base].tree
        against = [other for other in tree if frozenset({atom, other}) in self.truth.conflicts]
        if atom in self.truth.empty or atom in base:
            cause, mate = RefusalCause.EMPTY, None
        elif against:
            cause = RefusalCause.CONFLICT
            mate = None if any(other in base for other in against) else against[0][0]
        else:
            return None
        return ev.CompositionRefused(action.base, action.members, member.id, member.version, cause, ("file",), mate)

    def _land(self, action: Land) -> None:
        if self.queue.landing is None:
            self.record(ev.LandingStarted(action.run, action.old, action.new))
            self.step()
        if not self.descends(self.main, action.new):
            if self.main != action.old:
                self.record(ev.LandingRefused(action.run, action.old, action.new, "main moved"))
                return
            tested = self.has_passed(self.commits[action.new].tree, self.queue.ended[action.run].ci)
            self.moves.append((action.old, action.new, action.members, tested))
            self.main = action.new
            self.step()
        self.record(ev.TrainLanded(action.run, action.old, action.new))

    def finish(self, run_id: str, result: Result | None = None) -> Result:
        """CI ends with `result`, by default the honest one."""
        run = self.queue.running[run_id]
        tree = self.commits[run.commit].tree
        asked = frozenset(run.checks) if run.since else CHECKS
        honest = Result.FAIL if asked & self.truth.red_checks(tree) else Result.PASS
        result = honest if result is None else result
        if result is Result.PASS:
            self.passed |= {(check, self.truth.view_of(check, tree), run.ci) for check in asked}
            self.accepted |= {(one, run.tree) for one in run.accepts}
        self.answers[run_id] = (run, result)
        self.processes.discard(run_id)
        self.record(ev.RunEnded(run_id, result))
        return result

    def tick(self) -> None:
        self.now += 10.0

    def push_foreign(self, name: str, *, bad: bool = False) -> None:
        """Somebody else pushes to main."""
        atom = (name, 1)
        if bad:
            self.truth.bad.add(atom)
        commit = f"c{len(self.commits)}"
        self.commits[commit] = Commit(self.main, self.commits[self.main].tree | {atom})
        self.main = commit

    def rewind(self) -> bool:
        parent = self.commits[self.main].parent
        if parent is None:
            return False
        self.main = parent
        return True

    def settle(self, limit: int = 400) -> None:
        """Let CI answer honestly until everything is at rest."""
        for _ in range(limit):
            self.wake()
            if not self.processes:
                return
            self.tick()
            self.finish(min(self.processes, key=lambda run: int(run[1:])))
        raise AssertionError("the queue does not settle")


def settle_through_a_crash(lab: Lab) -> None:
    try:
        lab.settle()
    except Crashed:
        lab.recover()
        lab.settle()


def fold(log: list[tuple[ev.QueueEvent, float]]) -> Queue:
    queue = Queue()
    for event, at in log:
        queue = evolve(queue, event, at)
    return queue


def change(name: str, version: int = 1, **more: object) -> Change:
    return Change(name, version, f"{name}@{version}", "c0", **more)  # type: ignore[arg-type]


def started_lab(slots: int = 2) -> Lab:
    """A lab whose main has passed its baseline."""
    lab = Lab(slots=slots)
    lab.wake()
    lab.tick()
    lab.finish(next(iter(lab.processes)))
    lab.wake()
    return lab


def refused(lab: Lab, event: ev.QueueEvent) -> bool:
    try:
        lab.record(event)
    except IllegalTransition:
        return True
    return False


def running(lab: Lab, purpose: Purpose) -> list[Run]:
    return [run for run in lab.queue.running.values() if run.purpose is purpose]
