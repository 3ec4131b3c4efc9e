"""A fleet in the middle of its day, without having run: a repository and a log with tasks in every phase.

What stands in the log could have happened: it is appended through the store, which folds every event. Commits, branches
and merges are real, so differences can be shown and approvals given. Only processes and transcripts are missing:
what is said to be running has nobody behind it.
"""

import itertools
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench.seeded_agents import glance_at, seed_samples
from bench.seeded_repository import CONFIG, Commit, SeededHistory, Sketch, make_repository
from paddock.core import events as ev
from paddock.core.errors import PaddockError
from paddock.core.ids import attempt_id, task_id
from paddock.core.merge import events as qe
from paddock.core.merge.model import Change, Member, Purpose, Result
from paddock.core.tasks.task import Phase
from paddock.core.tasks.vocabulary import EndedBy, Outcome, Role, Step
from paddock.fleet.glance import write_glance
from paddock.store.protocol import Author, Decide
from paddock.store.sqlite import SqliteStore

PERSON, DAEMON = Author("ana@harbor"), Author("daemon@harbor")
CI = "c" * 40
TRAIN_MOST = 4
MINUTE = 60.0
CONVOYS = {
    "durations": "Durations everywhere",
    "search": "A search people trust",
    "billing": "Invoices without surprises",
    "speed": "Half the start-up time",
}
_ENGINES = (("claude", "opus"), ("codex", "gpt-5"), ("claude", "sonnet"), ("opencode", "sonnet"))
_VERBS = (
    "Parse",
    "Cache",
    "Validate",
    "Split",
    "Retry",
    "Document",
    "Speed up",
    "Rename",
    "Test",
    "Remove dead code in",
)
_THINGS = (
    "ISO 8601 durations", "the session store", "webhook signatures", "the invoice model", "failed deliveries",
    "the rate limiter", "search suggestions", "time zone handling", "the upload path", "audit entries", "feature flags",
)  # fmt: skip
_BRIEF = "Keep the public behaviour. Add tests for what was wrong, and say in the commit message why it was."
_REPORT = "The parser reads durations in three places. `parse.py` is the one to keep; the others call it."
_BLOCKS = (
    (
        Outcome.REFUSED,
        "Should a negative duration be an error, or zero? The brief says neither.",
        "paddock message {task} …",
    ),
    (Outcome.MISCONFIGURED, "the payment sandbox has no key: PAYMENT_KEY is not set", "paddock retry {task}"),
    (Outcome.SETUP_FAILED, "`make setup` ended with exit 2 in its worktree", "paddock retry {task}"),
)


@dataclass(frozen=True, slots=True)
class Herd:
    """How many tasks are in each phase, and over how many hours the work went so far."""

    landed: int = 96
    running: int = 14
    reviewing: int = 3
    approval: int = 5
    queued: int = 9
    ready: int = 12
    waiting: int = 17
    blocked: int = 3
    failed: int = 2
    cancelled: int = 2
    noop: int = 2
    done: int = 0
    hours: float = 10.0
    ci_seconds: float = 360.0
    testing: bool = True
    """Whether CI runs are under way."""
    largest: int = 0
    """How many lines the first change that waits for approval adds; 0: as many as others."""

    @property
    def phases(self) -> list[Phase]:
        return [phase for phase in Phase for _ in range(getattr(self, phase.value))]


HERD = Herd()
THOUSAND = Herd(
    landed=380, running=200, reviewing=20, approval=30, queued=40, ready=130, waiting=160, blocked=20, failed=10,
    cancelled=5, noop=3, done=2,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Plan:
    """One task: what becomes of it, and when its agent began and ended; `created` decides its number."""

    phase: Phase
    created: float
    started: float
    ended: float
    title: str
    insertions: int
    deletions: int

    @property
    def delivers(self) -> bool:
        return self.phase in (Phase.LANDED, Phase.QUEUED, Phase.APPROVAL, Phase.REVIEWING)


@dataclass(frozen=True, slots=True)
class Train:
    number: int
    members: tuple[int, ...]
    began: float
    landed: float


Moment = tuple[float, Author, list[ev.Draft]]


def seed_fleet(
    top: Path,
    herd: Herd = HERD,
    *,
    now: float | None = None,
    titles: Sequence[str] = (),
    brief: Callable[[int], str] = lambda _: _BRIEF,
    config: str = CONFIG,
) -> int:
    """Makes the repository and its log; returns how many tasks there are.

    `titles` are used before invented ones; `brief` is asked with the number of each task that is ready.
    """
    now = time.time() if now is None else now
    plans = _plans(herd, now, titles)
    trains = _trains(plans, herd, now)
    sketches = [Sketch(p.title, int(p.ended), p.insertions, p.deletions, p.delivers) for p in plans]
    history = make_repository(top, sketches, [(int(train.landed), train.members) for train in trains], config)
    moments = [*_beginning(now, herd, history), *_lives(plans, history, trains, brief)]
    moments += [*_landings(plans, trains, history), *_queue_now(plans, history, now, len(trains), testing=herd.testing)]
    state_dir = top / ".git" / "paddock"
    _record(state_dir / "log.db", sorted(moments, key=lambda moment: moment[0]))
    seed_samples(state_dir, now - herd.hours * 3600, now, max(herd.running, 14), len(plans) * 0.9)
    if herd.running:
        write_glance(state_dir, glance_at(top, now))
    return len(plans)


def _record(path: Path, moments: list[Moment]) -> None:
    clock = [moments[0][0] - 1]
    store = SqliteStore(path, create=True, clock=lambda: clock[0])
    try:
        for start in range(0, len(moments), 2000):
            results = store.append_all([(_at(clock, moment), moment[1]) for moment in moments[start : start + 2000]])
            for result in results:
                if isinstance(result, PaddockError):
                    raise result
    finally:
        store.close()


def _at(clock: list[float], moment: Moment) -> Decide:
    def decide(_: object) -> list[ev.Draft]:
        clock[0] = moment[0]
        return moment[2]

    return decide


# -- what becomes of whom ------------------------------------------------------------------------------------------


def _plans(herd: Herd, now: float, titles: Sequence[str]) -> list[Plan]:
    dice = random.Random(7)
    begun = now - herd.hours * 3600
    landed = sorted(dice.uniform(begun + 90 * MINUTE, now - 4 * MINUTE) for _ in range(herd.landed))
    spans: list[tuple[Phase, float, float, float]] = []
    for phase in herd.phases:
        if phase is Phase.LANDED:
            ended = landed.pop(0) - 25 * MINUTE
            started = ended - dice.uniform(4, 40) * MINUTE
        elif phase in (Phase.RUNNING, Phase.REVIEWING):
            started = now - dice.uniform(1.5, 45) * MINUTE
            ended = started + 0.6 * (now - started)
        else:
            ended = now - dice.uniform(3, 80) * MINUTE
            started = ended - dice.uniform(4, 40) * MINUTE
        late = phase in (Phase.READY, Phase.WAITING)
        created = now - dice.uniform(2, 12) * MINUTE if late else started - dice.uniform(1, 30) * MINUTE
        spans.append((phase, created, started, ended))
    # What waits is added last: it comes after something that is there.
    spans.sort(key=lambda span: (span[0] is Phase.WAITING, span[1]))
    names = [*titles, *_invented(len(spans), dice)]
    plans = []
    for place, ((phase, created, started, ended), title) in enumerate(zip(spans, names, strict=False)):
        added = now - 90 + place / len(spans) if phase is Phase.WAITING else created
        plans.append(Plan(phase, added, started, ended, title, *_size(dice)))
    if herd.largest:
        first = next(place for place, plan in enumerate(plans) if plan.phase is Phase.APPROVAL)
        plans[first] = replace(plans[first], insertions=herd.largest)
    return plans


def _size(dice: random.Random) -> tuple[int, int]:
    insertions = dice.choice((3, 8, 14, 22, 37, 61, 120))
    return insertions, min(insertions, dice.randrange(10))


def _invented(count: int, dice: random.Random) -> Iterator[str]:
    for number in range(count):
        yield f"{_VERBS[number % len(_VERBS)]} {_THINGS[dice.randrange(len(_THINGS))]}"


def _trains(plans: Sequence[Plan], herd: Herd, now: float) -> list[Train]:
    """One after the other: each is tested on the main that the one before it made."""
    numbers = sorted((n for n, p in enumerate(plans, 1) if p.phase is Phase.LANDED), key=lambda n: plans[n - 1].ended)
    trains: list[Train] = []
    while numbers:
        size = min(len(numbers), 1 + (3 * len(trains) + 1) % TRAIN_MOST)
        members, numbers = tuple(numbers[:size]), numbers[size:]
        last = plans[members[-1] - 1].ended + 20 * MINUTE
        began = max(last, trains[-1].landed + 1 if trains else 0.0)
        trains.append(Train(len(trains) + 1, members, began, began + 1))
    step = (now - 3 * MINUTE - trains[0].began) / len(trains) if trains else 0.0
    pace = min(step * 0.8, herd.ci_seconds)
    spread: list[Train] = []
    for train in trains:
        began = max(train.began, spread[-1].landed + 1 if spread else 0.0)
        spread.append(Train(train.number, train.members, began, began + pace))
    return spread


# -- what is recorded ----------------------------------------------------------------------------------------------


def _beginning(now: float, herd: Herd, history: SeededHistory) -> Iterator[Moment]:
    at = now - (herd.hours + 2) * 3600
    first = history.mains[0]
    yield at, PERSON, [ev.Draft(ev.ConvoyAdded(name, title)) for name, title in CONVOYS.items()]
    yield (
        at,
        PERSON,
        [
            ev.Draft(ev.BudgetSet("day", money=3.0 * len(herd.phases))),
            ev.Draft(ev.BudgetSet("convoy:billing", money=0.6 * len(herd.phases))),
        ],
    )
    yield at + 1, DAEMON, [ev.Draft(qe.CiDefined(CI)), ev.Draft(qe.MainMoved(first.sha, first.tree))]
    started = qe.RunStarted("r1", Purpose.BASELINE, first.sha, first.tree, (), first.tree, first.sha, CI)
    yield at + 2, DAEMON, [ev.Draft(started)]
    yield at + 90, DAEMON, [ev.Draft(qe.RunEnded("r1", Result.PASS, exit=0))]


def _lives(
    plans: Sequence[Plan], history: SeededHistory, trains: Sequence[Train], brief: Callable[[int], str]
) -> Iterator[Moment]:
    base = {number: history.mains[train.number - 1].sha for train in trains for number in train.members}
    unfinished: list[int] = []
    for number, plan in enumerate(plans, 1):
        yield plan.created, PERSON, [ev.Draft(_added(number, plan, unfinished, brief), task=task_id(number))]
        if plan.phase in (Phase.RUNNING, Phase.READY, Phase.WAITING):
            unfinished.append(number)
        if plan.phase not in (Phase.READY, Phase.WAITING):
            yield from _work(number, plan, history, base.get(number, history.mains[-1].sha))


def _added(number: int, plan: Plan, unfinished: Sequence[int], brief: Callable[[int], str]) -> ev.TaskAdded:
    convoy = (*CONVOYS, None)[number % (len(CONVOYS) + 1)]
    after = (task_id(unfinished[number * 7 % len(unfinished)]),) if plan.phase is Phase.WAITING and unfinished else ()
    kind = "docs" if plan.title.startswith("Document") else None
    words = brief(number) if plan.phase is Phase.READY else _BRIEF
    role = Role.REPORT if plan.phase is Phase.DONE else Role.WORK
    return ev.TaskAdded(
        plan.title, words, convoy=convoy, after=after, priority=number % 9 // 8, task_kind=kind, role=role
    )


def _work(number: int, plan: Plan, history: SeededHistory, base: str) -> Iterator[Moment]:
    task = task_id(number)
    if plan.phase is Phase.CANCELLED:
        yield plan.ended, PERSON, [ev.Draft(ev.TaskCancelled("no longer wanted"), task=task)]
        return
    crashes = 3 if plan.phase is Phase.FAILED else 0 if plan.phase is Phase.DONE else number % 7 // 6
    length = (plan.ended - plan.started) / (crashes + 1)
    for attempt in range(1, crashes + 1):
        begin = plan.started + (attempt - 1) * length
        last = plan.phase is Phase.FAILED and attempt == crashes
        step = Step.FAIL if last else Step.RETRY
        verdict = ev.AttemptEnded(Outcome.CRASHED, step, True, reason="exit 1: connection reset by peer", exit=1)
        yield from _attempt(number, attempt, begin, begin + length - 1, base, verdict)
    if plan.phase is Phase.FAILED:
        return
    begin, newest = plan.started + crashes * length, crashes + 1
    if plan.phase is Phase.RUNNING:
        yield from _attempt(number, newest, begin, plan.ended, base, None)
        return
    role = Role.REPORT if plan.phase is Phase.DONE else Role.WORK
    yield from _attempt(number, newest, begin, plan.ended, base, _verdict(number, plan, history, base), role=role)
    if plan.phase is Phase.REVIEWING:
        yield from _attempt(number, newest + 1, plan.ended + 5, plan.ended + 40, base, None, role=Role.REVIEW)


def _verdict(number: int, plan: Plan, history: SeededHistory, base: str) -> ev.AttemptEnded:
    if plan.phase is Phase.NOOP:
        return ev.AttemptEnded(Outcome.NOOP, Step.NOOP, True, reason="main does this already", exit=0, base=base)
    if plan.phase is Phase.DONE:
        return ev.AttemptEnded(Outcome.ANSWERED, Step.DONE, True, reason="a report of 2 kB", exit=0, base=base)
    if plan.phase is Phase.BLOCKED:
        outcome, reason, unblock = _BLOCKS[number % len(_BLOCKS)]
        unblock = unblock.format(task=task_id(number))
        return ev.AttemptEnded(outcome, Step.BLOCK, True, reason=reason, unblock=unblock, exit=0, base=base)
    step = Step.REVIEW if plan.phase is Phase.REVIEWING else Step.APPROVAL
    return ev.AttemptEnded(
        Outcome.DELIVERED,
        step,
        True,
        reason="1 commit",
        exit=0,
        head=history.heads[number].sha,
        base=base,
        commits=1,
        files=1,
        insertions=plan.insertions,
        deletions=plan.deletions,
    )


def _attempt(
    number: int,
    attempt: int,
    begin: float,
    end: float,
    base: str,
    verdict: ev.AttemptEnded | None,
    *,
    role: Role = Role.WORK,
) -> Iterator[Moment]:
    """Without a verdict it still runs, in its second turn."""
    task, name = task_id(number), attempt_id(task_id(number), attempt)
    engine, model = _ENGINES[number % len(_ENGINES)]

    def moment(at: float, event: ev.Event) -> Moment:
        return at, DAEMON, [ev.Draft(event, task=task, attempt=name)]

    yield moment(begin, ev.AttemptStarted(
        engine, base, f"paddock/{task}", model=model, worktree=f"/trees/w{number}", account=engine,
        reserved_usd=2.0, role=role,
    ))  # fmt: skip
    yield moment(begin + 0.2, ev.TurnStarted(1, session="5" * 36))
    cost = 0.08 + number * 37 % 211 / 100
    yield moment(end - 0.4, ev.TurnEnded(
        1, exit=verdict.exit if verdict else 0, ended_by=EndedBy.ITSELF, steps=9 + number % 40, model=model,
        input_tokens=4000 + number * 91 % 9000, cache_read_tokens=120_000, output_tokens=1500 + number % 900,
        cost_usd=round(cost, 4), cost_source="engine",
    ))  # fmt: skip
    if role is Role.REPORT:
        yield moment(end - 0.2, ev.ReportGiven(_REPORT))
    yield moment(end, verdict if verdict else ev.TurnStarted(2, session="5" * 36))


def _landings(plans: Sequence[Plan], trains: Sequence[Train], history: SeededHistory) -> Iterator[Moment]:
    """Each change is screened alone before it rides on a train."""
    numbers = itertools.count(2)
    for train in trains:
        base, made = history.mains[train.number - 1], history.mains[train.number]
        pace = train.landed - train.began
        for number in train.members:
            plan = plans[number - 1]
            yield _queued(number, plan, history, plan.ended + MINUTE, base.sha)
            head, screened = history.heads[number], train.began - 1.3 * pace + number % 5 * pace / 20
            yield from _run(f"r{next(numbers)}", Purpose.SCREEN, (number,), history, base, head, screened, pace)
        run = f"r{next(numbers)}"
        yield from _run(run, Purpose.TRAIN, train.members, history, base, made, train.began + 0.5, pace - 0.7)
        yield train.landed - 0.1, DAEMON, [ev.Draft(qe.LandingStarted(run, base.sha, made.sha))]
        yield train.landed, DAEMON, [ev.Draft(qe.TrainLanded(run, base.sha, made.sha))]


def _run(
    run: str,
    purpose: Purpose,
    numbers: Sequence[int],
    history: SeededHistory,
    base: Commit,
    tested: Commit,
    began: float,
    seconds: float,
) -> Iterator[Moment]:
    members = tuple(_member(number, history) for number in numbers)
    started = qe.RunStarted(run, purpose, base.sha, base.tree, members, tested.tree, tested.sha, CI)
    yield began, DAEMON, [ev.Draft(started)]
    yield began + seconds, DAEMON, [ev.Draft(qe.RunEnded(run, Result.PASS, exit=0))]


def _queued(number: int, plan: Plan, history: SeededHistory, at: float, base: str) -> Moment:
    head, task = history.heads[number].sha, task_id(number)
    path = Sketch(plan.title, 0, 0, 0).path(number)
    change = Change(task, 1, head, base, task, "claude", plan.title, paths=(path,), approved_by=PERSON.name)
    return (
        at,
        PERSON,
        [
            ev.Draft(ev.TaskApproved(head), task=task),
            ev.Draft(qe.ChangeQueued(change), task=task),
        ],
    )


def _member(number: int, history: SeededHistory) -> Member:
    return Member(task_id(number), 1, history.heads[number].sha)


def _queue_now(
    plans: Sequence[Plan], history: SeededHistory, now: float, trains: int, *, testing: bool
) -> Iterator[Moment]:
    """A train of up to three, and a screen each for the next two."""
    waiting = [number for number, plan in enumerate(plans, 1) if plan.phase is Phase.QUEUED]
    landed = sum(plan.phase is Phase.LANDED for plan in plans)
    main, first = history.mains[-1], 2 + trains + landed
    for number in waiting:
        yield _queued(number, plans[number - 1], history, plans[number - 1].ended + 60, main.sha)
    groups = [(Purpose.TRAIN, waiting[:3]), *((Purpose.SCREEN, [number]) for number in waiting[3:5])]
    for place, (purpose, numbers) in enumerate(groups):
        members = tuple(_member(number, history) for number in numbers)
        if members and testing:
            made = history.heads[numbers[-1]]
            started = qe.RunStarted(f"r{first + place}", purpose, main.sha, main.tree, members, made.tree, made.sha, CI)
            yield now - 100 + 30 * place, DAEMON, [ev.Draft(started)]
