"""A story that holds every kind of event there is, for `python -m tests.histories.record NAME`.

Histories that were recorded are never changed: a new kind goes into a new chapter here and a new file.
"""

from collections.abc import Iterator

from paddock.core import events as ev
from paddock.core.alerts import events as al
from paddock.core.causes import events as ce
from paddock.core.causes.vocabulary import FailureCause
from paddock.core.given import Given
from paddock.core.ids import AttemptId, TaskId
from paddock.core.leases import lease
from paddock.core.merge import events as qe
from paddock.core.merge.model import Change, Member, Purpose, RefusalCause, Result
from paddock.core.nodes.events import NodeDrained, NodeReopened
from paddock.core.review import events as rv
from paddock.core.schedules import events as se
from paddock.core.tasks.vocabulary import EndedBy, Outcome, Role, Step

MAIN, BASE, HEAD, TREE = "a" * 40, "b" * 40, "c" * 40, "d" * 40


def draft(event: ev.Event, task: str | None = None, attempt: str | None = None) -> ev.Draft:
    return ev.Draft(
        event, TaskId(task) if task is not None else None, AttemptId(attempt) if attempt is not None else None
    )


AFTER_CREATION = 2
"""The number of the record after the log's creation."""


def story() -> Iterator[ev.Draft]:
    told = [
        draft(ev.LogUpgraded("0.1.0")),
        *people(),
        *agents(),
        *queue(),
        *stacks(),
        *leases(),
        *upkeep(),
        *loss(),
        *questions(),
        *first_review(),
    ]
    told += second_review(len(told) + AFTER_CREATION)
    told += by_number(len(told) + AFTER_CREATION)
    yield from told
    yield from talk(len(told) + AFTER_CREATION)
    yield from alerts()
    yield from schedules()
    yield from causes()
    yield from nodes()


def people() -> Iterator[ev.Draft]:
    yield draft(ev.ConvoyAdded("parser", "A faster parser"))
    first = ev.TaskAdded(
        "Rewrite the lexer", "Rewrite it.\nKeep its tests.", convoy="parser", priority=5, paths=("src/**",)
    )
    yield draft(first, "t1")
    yield draft(ev.TaskAdded("Use the lexer", "Use it.", engine="codex", convoy="parser", after=(TaskId("t1"),)), "t2")
    for number in range(3, 9):
        yield draft(ev.TaskAdded(f"Chore {number}", f"Do chore {number}.", agent=None, attempts=2), f"t{number}")
    yield draft(ev.TaskEdited(title="Größere Chore", priority=-1, task_kind="docs", after=(TaskId("t4"),)), "t3")
    yield draft(ev.TaskCancelled("not needed"), "t4")
    yield draft(ev.TaskBlocked("needs a key", "export KEY=…"), "t5")
    yield draft(ev.TaskRetried(1, "the key is there"), "t5")


def attempt(
    name: str, then: str, head: str | None = None, outcome: str = "delivered", role: Role = Role.WORK
) -> Iterator[ev.Draft]:
    task = name.partition(".")[0]
    started = ev.AttemptStarted(
        "claude", BASE, f"paddock/{task}", model="opus", host="h", worktree=f"/w/{task}", role=role
    )
    yield draft(started, task, name)
    yield draft(ev.TurnStarted(1, session="s-1"), task, name)
    ended = ev.TurnEnded(
        1, exit=0, session="s-1", steps=9, input_tokens=1200, cache_read_tokens=900, output_tokens=80, cost_usd=0.25
    )
    yield draft(ended, task, name)
    verdict = ev.AttemptEnded(
        Outcome(outcome), Step(then), True, "because", 0, head, BASE, commits=2, files=3, insertions=10
    )
    yield draft(verdict, task, name)


def agents() -> Iterator[ev.Draft]:
    yield from attempt("t1.1", "retry", outcome="crashed")
    yield draft(
        ev.AttemptStarted("claude", BASE, "paddock/t1", continues=AttemptId("t1.1"), session="s-1"), "t1", "t1.2"
    )
    yield draft(ev.MessageSent("mind the tests"), "t1")
    yield draft(ev.TurnStarted(1, session="s-1"), "t1", "t1.2")
    yield draft(ev.AttemptExtended(1.5, 20_000.0), "t1", "t1.2")
    yield draft(ev.RequestRefused("down"), "t1", "t1.2")
    yield draft(ev.StopRequested("taking too long"), "t1", "t1.2")
    yield draft(ev.TurnEnded(1, exit=-15, ended_by=EndedBy.STOP, swept=("pid 7",)), "t1", "t1.2")
    yield draft(ev.AttemptEnded(Outcome.KILLED, Step.APPROVAL, False, head=HEAD, base=BASE), "t1", "t1.2")
    yield draft(ev.TaskRejected(HEAD, "no tests"), "t1")
    yield from attempt("t1.3", "approval", HEAD)
    yield draft(ev.TaskApproved(HEAD, "good"), "t1")
    yield from attempt("t5.1", "fail", outcome="empty")
    yield draft(ev.ChangeRevised(HEAD, BASE), "t5")
    for task in ("t6", "t7"):
        yield from attempt(f"{task}.1", "approval", HEAD)
    yield draft(ev.ChangeRebased(HEAD, BASE, ("7" * 40,)), "t6")
    yield draft(ev.ApprovalRequired(HEAD, ("touches what CI runs: Makefile",), ("t1: src/a.py",)), "t7")
    yield from attempt("t8.1", "review", HEAD)
    yield from attempt("t8.2", "approval", role=Role.REVIEW)


def change(task: str, version: int = 1) -> Change:
    return Change(task, version, HEAD, BASE, task=task, author="claude", title=task, paths=("src/a.py",))


def run(name: str, purpose: Purpose, *members: str, tree: str = TREE, commit: str = "e" * 40) -> qe.RunStarted:
    held = tuple(Member(task, 1, HEAD) for task in members)
    return qe.RunStarted(name, purpose, MAIN, "0" * 40, held, tree, commit, "make test", log=f"runs/{name}.log")


def queue() -> Iterator[ev.Draft]:
    yield draft(qe.CiDefined("make test"))
    yield draft(qe.MainMoved(MAIN, "0" * 40))
    yield draft(qe.ChangeQueued(change("t1")), "t1")
    for task in ("t5", "t6", "t7", "t8"):
        yield draft(qe.ChangeQueued(change(task)), task)
    yield draft(qe.ChangeMoved("t6", 9, "ana"), "t6")
    yield draft(run("r1", Purpose.SCREEN, "t6", tree="1" * 40, commit="2" * 40))
    yield draft(qe.RunEnded("r1", Result.FAIL, 1))
    yield draft(qe.ChangeRetried("t6", 1, "ana"), "t6")
    yield draft(run("r2", Purpose.SCREEN, "t6", tree="3" * 40, commit="4" * 40))
    yield draft(qe.RunCancelAsked("r2", "a train is waiting"))
    yield draft(qe.RunEnded("r2", Result.CANCELLED))
    yield draft(run("r3", Purpose.TRAIN, "t1"))
    yield draft(qe.RunEnded("r3", Result.PASS, 0))
    yield draft(qe.LandingStarted("r3", MAIN, "e" * 40))
    yield draft(qe.LandingRefused("r3", MAIN, "e" * 40, "the index is locked"))
    yield draft(run("r4", Purpose.TRAIN, "t1"))
    yield draft(qe.RunEnded("r4", Result.PASS, 0))
    yield draft(qe.LandingStarted("r4", MAIN, "e" * 40))
    yield draft(qe.TrainLanded("r4", MAIN, "e" * 40))
    member = (Member("t6", 1, HEAD),)
    yield draft(qe.CompositionRefused("e" * 40, member, "t6", 1, RefusalCause.CONFLICT, ("src/a.py",)))
    yield draft(qe.ChangeConflicted("t6", 1, "e" * 40, ("src/a.py",)), "t6")
    yield draft(qe.ChangeRejected("t5", 1, "not wanted", by="ana"), "t5")
    yield draft(qe.ChangeCancelled("t7", 1, "later", "ana"), "t7")
    yield draft(qe.ChangeFoundEmpty("t8", 1, "e" * 40), "t8")
    yield draft(qe.QueueHalted("main fails its own tests", ("r4",)))
    yield draft(qe.QueueResumed())
    for event in (qe.QueuePaused("lunch"), qe.QueueResumed(), qe.QueueFrozen("release"), qe.QueueUnfrozen()):
        yield draft(event)
    yield draft(qe.QueueDrained())
    yield draft(qe.MainMoved(MAIN, "0" * 40, descends=False))
    yield draft(qe.WorkLost(MAIN, ("t1",)))
    yield draft(qe.WorkFound("e" * 40, ("t1",)))
    yield draft(qe.WorkLost(MAIN, ("t1",)))
    yield draft(qe.MainRestored("e" * 40, TREE, MAIN, "refs/paddock/kept/main"))
    yield draft(qe.MainMoved("6" * 40, "7" * 40, by="Eve <eve@example.invalid>: commit"))
    yield draft(qe.WorkFound("e" * 40, ("t1",)))
    yield draft(qe.WorkLost("6" * 40, ("t1",)))


def stacks() -> Iterator[ev.Draft]:
    base = Change("feature/low", 1, "8" * 40, BASE, author="ana", title="Lower half", branch="feature/low")
    upper = Change("feature/top", 1, "9" * 40, BASE, author="ana", title="Upper half", branch="feature/top")
    yield draft(qe.ChangeQueued(upper))
    yield draft(qe.ChangeQueued(base))
    yield draft(qe.ChangeRestacked("feature/top", 1, ("feature/low",), (base.member,)))
    yield draft(qe.RemoteLost("origin", "no route to host"))
    yield draft(qe.RemoteReached("origin"))
    yield draft(qe.ChangeRejected("feature/low", 1, "not wanted", by="ana"))
    reason = "it is stacked on `feature/low`, which was rejected"
    yield draft(qe.ChangeCancelled("feature/top", 1, reason, fell_with="feature/low"))
    yield draft(ev.SettingsInForce("5" * 16))
    yield draft(ev.SettingsAdopted(("land.slots",), ("engine",)))
    yield draft(ev.SettingsInForce("6" * 16, ("land.slots is 3, it was 2",)))


def leases() -> Iterator[ev.Draft]:
    daemon, agent = lease.Holder("daemon", "h", 7), lease.Holder("t2.1", attempt="t2.1")
    yield draft(lease.LeaseGranted("daemon", 1, daemon, 900.0))
    yield draft(lease.LeaseRenewed("daemon", 1, 30.0))
    yield draft(lease.LeaseGranted("port:8080", 1, agent, 900.0))
    yield draft(lease.LeaseWaited("port:8080", daemon, 600.0))
    yield draft(lease.LeaseWithdrawn("port:8080", daemon, "changed its mind"))
    yield draft(lease.LeaseReleased("port:8080", 1, "done"))
    yield draft(lease.LeaseExpired("daemon", 1))


def upkeep() -> Iterator[ev.Draft]:
    yield draft(ev.WorktreeRemoved("/w/t1", 4096), "t1")
    yield draft(ev.Swept("pid 7", "its attempt ended"))
    yield draft(ev.DaemonTroubled("fetch", "no network"))
    yield draft(ev.BudgetSet("fleet", 20.0))
    yield draft(ev.LimitsReset("claude"))


def loss() -> Iterator[ev.Draft]:
    """Of the records after these some were lost, with a task and what was given in them."""
    yield draft(ev.LogLossAccepted(200, 205, Given(tasks=9, attempts=4, runs=9, versions=3, generations=5), "a crash"))
    yield draft(ev.TaskAdded("lost", "The records of t9 are lost."), "t9")
    yield draft(ev.TaskCancelled("its records are lost"), "t9")


def questions() -> Iterator[ev.Draft]:
    """An agent asks twice: it reads messages in the middle of its turn, and ends it with a question."""
    yield draft(ev.BudgetSet("fleet"))
    yield draft(ev.TaskAdded("Choose a parser", "Choose one."), "t10")
    started = ev.AttemptStarted("claude", BASE, "paddock/t10", host="h", worktree="/w/t10", reserved_usd=0.5)
    yield draft(started, "t10", "t10.1")
    yield draft(ev.TurnStarted(1, session="s-2"), "t10", "t10.1")
    yield draft(ev.QuestionAsked("Which one?"), "t10", "t10.1")
    yield draft(ev.MessageSent("the second"), "t10")
    yield draft(ev.MessagesRead(()), "t10", "t10.1")
    yield draft(ev.NoopDeclared("it is chosen already"), "t10", "t10.1")
    yield draft(ev.QuestionAsked("And the lexer?"), "t10", "t10.1")
    yield draft(ev.TurnEnded(1, exit=0, session="s-2"), "t10", "t10.1")
    asked = ev.AttemptEnded(Outcome.ASKED, Step.BLOCK, False, "asks: And the lexer?", 0, base=BASE, unblock="answer it")
    yield draft(asked, "t10", "t10.1")


def first_review() -> Iterator[ev.Draft]:
    """A change with acceptance is checked and reviewed; what another agent owns becomes its task."""
    accept = ev.Acceptance((("pytest", "-q"),), (ev.AcceptFile("tests/test_a.py", "assert True\n"),))
    added = ev.TaskAdded("Parse faster", "Parse faster.", labels=("speed",), accept=accept, attempts=3)
    yield draft(added, "t11")
    yield from attempt("t11.1", "review", HEAD)
    yield draft(rv.CheckEnded(HEAD, "accept", True, 0, 1.5), "t11")
    yield draft(rv.CheckEnded(HEAD, "lint", False, 1, 0.2, "E501"), "t11")
    yield from begin_review("t11.2")
    yield draft(ev.AnswerRefused("there is no JSON object in it"), "t11", "t11.2")
    yield draft(ev.TurnStarted(2, session="s-3", messages=(7,)), "t11", "t11.2")
    yield draft(ev.TurnEnded(2, exit=0, session="s-3"), "t11", "t11.2")
    slow = rv.Claim("it is quadratic", "src/a.py", 41, rv.Severity.ERROR, "10 s for 1 MB", "use a table")
    page = rv.Claim("the page is wrong now", "docs/a.md", severity=rv.Severity.ERROR)
    for number, claim in enumerate((slow, page, rv.Claim("a better name?", severity=rv.Severity.NOTE)), 1):
        blocking = claim.severity is rv.Severity.ERROR
        yield draft(rv.FindingReported(f"f{number}", HEAD, "reviewer", claim, blocking), "t11", "t11.2")
    yield draft(rv.ReviewGiven(HEAD, "reviewer", 1, True, "two must not land", 3), "t11", "t11.2")
    yield draft(ev.AttemptEnded(Outcome.ANSWERED, Step.REVIEW, False, "3 findings; objects"), "t11", "t11.2")
    yield draft(ev.TaskAdded("Fix f2: the page is wrong now", "Fix it.", agent=None, paths=("docs/a.md",)), "t12")
    yield draft(rv.FindingRouted("f2", TaskId("t12")), "t11")
    yield draft(ev.TaskEdited(after=(TaskId("t12"),)), "t11")
    yield draft(rv.FindingSettled("f2", rv.Settlement.WAIVED, HEAD, "ana@host", "the page goes away"), "t11")
    yield draft(ev.TaskEdited(after=()), "t11")


def second_review(first: int) -> Iterator[ev.Draft]:
    """What was sent back, in the record `first`, is disputed, fixed nevertheless and passes."""
    yield draft(rv.ReviewSentBack(HEAD, 1, ("f1",), "One finding stands against your change."), "t11")
    yield draft(ev.AttemptStarted("claude", BASE, "paddock/t11", continues=AttemptId("t11.1")), "t11", "t11.3")
    yield draft(ev.TurnStarted(1, messages=(first,)), "t11", "t11.3")
    yield draft(ev.TurnEnded(1, exit=0), "t11", "t11.3")
    yield draft(rv.FindingDisputed("f1", "it is measured"), "t11", "t11.3")
    delivered = ev.AttemptEnded(Outcome.DELIVERED, Step.REVIEW, False, head="f" * 40, base=BASE, outside=("b.py",))
    yield draft(delivered, "t11", "t11.3")
    yield from begin_review("t11.4", "f" * 40)
    yield draft(rv.FindingHeld("f1", "f" * 40, "reviewer", True), "t11", "t11.4")
    yield draft(rv.FindingSettled("f1", rv.Settlement.FIXED, "f" * 40, "reviewer", "it is linear"), "t11", "t11.4")
    yield draft(rv.ReviewGiven("f" * 40, "reviewer", 2, False, "fine now"), "t11", "t11.4")
    yield draft(ev.AttemptEnded(Outcome.ANSWERED, Step.REVIEW, False, "does not object"), "t11", "t11.4")
    yield draft(rv.ReviewPassed("f" * 40, 2, ("reviewer",)), "t11")
    yield draft(rv.FindingConfirmed("f2", rv.ConfirmedBy.PERSON, "readers asked"), "t11")
    yield draft(rv.ReviewMissed(("reviewer",), "reverted by ana@host"), "t11")


def begin_review(name: str, head: str = HEAD) -> Iterator[ev.Draft]:
    task = name.partition(".")[0]
    yield draft(ev.AttemptStarted("codex", head, f"paddock/{task}", agent="reviewer", role=Role.REVIEW), task, name)
    yield draft(ev.TurnStarted(1, session="s-3"), task, name)
    yield draft(ev.TurnEnded(1, exit=0, session="s-3", cost_usd=0.1), task, name)


def by_number(first: int) -> Iterator[ev.Draft]:
    """What names other records by their numbers, which begin at `first`: comments, plans, a report."""
    yield draft(ev.CommentDrafted("src/a.py", 41, "why a table?", quote="for x in y:", head="f" * 40), "t11")
    yield draft(ev.CommentDrafted("src/a.py", 43, "never mind", head="f" * 40), "t11")
    yield draft(ev.CommentDropped(first + 1), "t11")
    yield draft(ev.CommentsSent((first,)), "t11")
    yield draft(ev.TaskAdded("Plan: a faster parser", "Make the parser faster.", role=Role.PLAN, max_tasks=5), "t13")
    yield from reading("t13.1", Role.PLAN, ev.PlanProposed('{"convoy": "fast", "tasks": []}'))
    plan = first + 8
    yield draft(ev.PlanDropped(plan, "too large"), "t13")
    yield draft(ev.TaskAdded("Plan: tests", "Plan tests.", role=Role.PLAN), "t14")
    yield from reading("t14.1", Role.PLAN, ev.PlanProposed('{"convoy": "tests", "tasks": []}'))
    yield draft(ev.PlanAccepted(plan + 7, (TaskId("t12"),), "tests"), "t14")
    audit = ev.TaskAdded("Look", "Look at it.", role=Role.REPORT, inputs=(TaskId("t13"),), start=BASE, files="error")
    yield draft(audit, "t15")
    yield from reading("t15.1", Role.REPORT, ev.ReportGiven("It is so."))


def reading(name: str, role: Role, answer: ev.Event) -> Iterator[ev.Draft]:
    task = name.partition(".")[0]
    yield draft(ev.AttemptStarted("claude", BASE, f"paddock/{task}", role=role), task, name)
    yield draft(ev.TurnStarted(1, session="s-4"), task, name)
    yield draft(ev.TurnEnded(1, exit=0, session="s-4"), task, name)
    yield draft(answer, task, name)
    yield draft(ev.AttemptEnded(Outcome.ANSWERED, Step.DONE, False), task, name)


def talk(first: int) -> Iterator[ev.Draft]:
    """A person takes a running attempt over, leaves, is asked by its engine, and comes again when it is done. `first`
    is the number of the first record here."""
    name = "t16"
    attempt_one, attempt_two = f"{name}.1", f"{name}.2"
    yield draft(ev.TaskAdded("Talk", "Talk it over."), name)
    yield draft(
        ev.AttemptStarted("claude", BASE, f"paddock/{name}", host="h", worktree=f"/w/{name}"), name, attempt_one
    )
    yield draft(ev.TurnStarted(1, session="s-9"), name, attempt_one)
    yield draft(ev.AttemptHeld("h", "h-1", "123 456 boot space"), name, attempt_one)
    yield draft(ev.TurnEnded(1, ended_by=EndedBy.HELD, session="s-9"), name, attempt_one)
    yield draft(ev.TurnStarted(2, session="s-9", interactive=True), name, attempt_one)
    yield draft(ev.TurnEnded(2, exit=0, session="s-9"), name, attempt_one)
    yield draft(ev.HoldEnded(handback=True), name, attempt_one)
    yield draft(ev.MessageSent("go on", now=True), name)
    yield draft(ev.TurnStarted(3, session="s-9", messages=(first + 8,)), name, attempt_one)
    yield draft(ev.MessagesDelivered((first + 8,), 3, "turn 3: it answered"), name, attempt_one)
    yield draft(ev.QuestionAsked("Run `make`?", ("allow", "deny"), "p-1"), name, attempt_one)
    yield draft(ev.QuestionWithdrawn(first + 11), name, attempt_one)
    yield draft(ev.TurnEnded(3, ended_by=EndedBy.MESSAGE), name, attempt_one)
    yield draft(ev.AttemptEnded(Outcome.CRASHED, Step.FAIL, True, "exit 1"), name, attempt_one)
    visit = ev.AttemptStarted("claude", BASE, f"paddock/{name}", continues=AttemptId(attempt_one), visit=True)
    yield draft(visit, name, attempt_two)
    yield draft(ev.AttemptHeld("h", "h-1", "124 457 boot space"), name, attempt_two)
    yield draft(ev.HoldEnded(reason="its terminal is gone"), name, attempt_two)
    yield draft(ev.AttemptEnded(Outcome.LEFT, Step.FAIL, False, "exit 1"), name, attempt_two)


def alerts() -> Iterator[ev.Draft]:
    """One of each end: grown and resolved, escalated and acknowledged, expired and forgotten."""
    page, ticket, notice = al.AlertSeverity.PAGE, al.AlertSeverity.TICKET, al.AlertSeverity.NOTICE
    cause = al.AlertRaised(
        *("a1", "failures:c12", "new-failure", ticket, "4 runs fail alike: port 5432 is in use", "c12"),
        *(("t1.1: port 5432 is already in use",), "paddock failures", 4),
    )
    yield draft(cause)
    yield draft(al.AlertGrown("a1", 9, "9 runs fail alike: port 5432 is in use", ("t5.1: port 5432 is in use",)))
    yield draft(al.AlertResolved("a1", "not seen for 4m"))
    yield draft(al.AlertRaised("a2", "stuck:t1.3", "stuck", notice, "t1.3 has done nothing for 6m", "t1.3"))
    yield draft(al.AlertEscalated("a2", page, 1, "t1.3 has done nothing for 2h"))
    yield draft(al.AlertAcknowledged("a2", "I am looking"))
    yield draft(al.AlertRaised("a3", "hard-rule:t6.1", "hard-rule", ticket, "t6.1 deleted a test", lasting=True))
    yield draft(al.AlertExpired("a3", "nobody has acknowledged it for 7d"))
    yield draft(al.AlertRaised("a4", "failures:c12", "new-failure", ticket, "they fail again", episode=2))


def schedules() -> Iterator[ev.Draft]:
    """Three sorts of work. One schedule fires, waits, is skipped and rewound; one fails until it is paused; one is
    removed. The times are those of the recorded log's clock, a minute for each record."""
    audit = se.ScheduledWork(se.WorkSort.WORKFLOW, "audit", {"paths": "src"}, engine="claude", labels=("nightly",))
    yield draft(se.ScheduleAdded("night", "0 2 * * *", "Europe/Berlin", audit, 600.0, se.CatchUp.ALL, se.Overlap.QUEUE))
    plan = se.ScheduledWork(se.WorkSort.PLAN, "Plan what is left", agent="planner", paths=("src/**",))
    yield draft(se.ScheduleAdded("plans", "*/15 * * * *", "UTC", plan, budget_usd=5.0, forced="its p90 is $9.00"))
    task = se.ScheduledWork(se.WorkSort.TASK, "Tidy up.", title="Tidy", kind="chore")
    yield draft(se.ScheduleAdded("tidy", "0 0 * * *", "UTC", task, catch_up=se.CatchUp.SKIP))
    start = 1_900_000_000.0
    yield draft(ev.ConvoyAdded("night-1"))
    label, series = ("schedule:night",), "schedule:night/look"
    yield draft(ev.TaskAdded("Look", "Look.", convoy="night-1", labels=label, series=series), "t17")
    yield draft(se.ScheduleFired("night", start, (TaskId("t17"),), "night-1", 2))
    yield draft(se.ScheduleQueued("night", (start + 60, start + 120)))
    yield draft(se.ScheduleFired("night", None))
    yield draft(se.ScheduleFired("night", start + 60))
    yield draft(se.ScheduleSkipped("night", start + 180, se.WhySkipped.OVERLAP, 1, TaskId("t17")))
    yield draft(se.ScheduleRewound("night", start))
    for number in (1, 2):
        yield draft(se.ScheduleFailed("plans", start + number * 900, "there is no agent `planner`"))
    yield draft(se.SchedulePaused("plans", "it failed 2 times in a row"))
    yield draft(se.ScheduleResumed("plans"))
    yield draft(se.ScheduleSkipped("tidy", start, se.WhySkipped.MISSED, 4))
    yield draft(se.SchedulePaused("tidy"))
    yield draft(se.ScheduleRemoved("tidy", "done"))


def causes() -> Iterator[ev.Draft]:
    """One is forgiven after its task has failed, one blocks a task and is cleared, one is probed, left open, and
    settled, and one stops an engine."""
    network, dependency = FailureCause.NETWORK, FailureCause.DEPENDENCY
    for name in ("t18", "t19", "t20"):
        yield draft(ev.TaskAdded("Fetch", "Fetch it.", attempts=1), name)
    yield from attempt("t18.1", "fail", outcome="crashed")
    found = ce.CauseFound(
        "c1",
        "f1a2b3c:network",
        network,
        "could not resolve host",
        ("t18.1: could not resolve host: db",),
        version="2.1",
        at_work=3,
        forgiven=True,
        retry_at=1_900_000_100.0,
    )
    yield draft(found, "t18", "t18.1")
    yield from attempt("t19.1", "fail", outcome="crashed")
    yield draft(
        ce.CauseFound("c2", "f2:dependency", dependency, "jq: command not found", forgiven=True), "t19", "t19.1"
    )
    yield draft(ce.CauseCleared("c2", "it is installed"))
    yield from attempt("t18.2", "fail", outcome="crashed")
    yield draft(ce.CauseFound("c3", "f3:unknown", FailureCause.UNKNOWN, "it stops"), "t18", "t18.2")
    yield draft(ce.CauseProbed("c3", (TaskId("t20"),), ("another host: there is none",)))
    yield draft(ce.CauseLeftOpen("c3", ("repeated unchanged, it went well",)))
    yield draft(ce.CauseSettled("c3", FailureCause.CONTENTION, ("alone it goes through",)))
    never = FailureCause.NEVER_RAN
    for name in ("t19.2", "t20.1", "t18.3"):
        yield from attempt(name, "retry", outcome="crashed")
        missed = ce.CauseFound("c4", "f4:never-ran", never, "mini: command not found", version="2.1", forgiven=True)
        yield draft(missed, name.partition(".")[0], name)
    yield draft(ev.LimitsReset("claude"))


def nodes() -> Iterator[ev.Draft]:
    """A task that needs a GPU runs on a node whose deputy is replaced; two nodes are drained, and one is used again."""
    node = "node:gpu-1"
    yield draft(ev.TaskAdded("Train", "Train it.", needs=("gpu", "os=linux")), "t21")
    yield draft(ev.TaskEdited(needs=("gpu",)), "t21")
    yield draft(lease.LeaseGranted(node, 6, lease.Holder(node, "gpu-1", 7, host_id=node), 30.0))
    started = ev.AttemptStarted("claude", BASE, "paddock/t21", host="gpu-1", host_id=node, worktree="/w/t21")
    yield draft(started, "t21", "t21.1")
    yield draft(ev.TurnStarted(1, session="s-9"), "t21", "t21.1")
    yield draft(NodeDrained("gpu-1", "a new disk"))
    yield draft(NodeDrained("gpu-1", "a new disk, and more memory"))
    yield draft(NodeDrained("cpu-1"))
    yield draft(lease.LeaseReleased(node, 6, "node `gpu-1` is lost"))
    yield draft(lease.LeaseGranted(node, 7, lease.Holder(node, "gpu-1", 9, host_id=node), 30.0))
    yield draft(NodeReopened("cpu-1"))
