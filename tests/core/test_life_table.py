"""The whole table of a task's life: every event in every phase is either legal or refused, and nothing else."""

from itertools import product
from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.core import events as ev
from paddock.core.causes import events as ce
from paddock.core.causes.tasks import CauseOfTask
from paddock.core.causes.vocabulary import FailureCause
from paddock.core.errors import IllegalTransition
from paddock.core.folds import fold_of
from paddock.core.ids import AttemptId, TaskId
from paddock.core.kinds import all_kinds
from paddock.core.merge import events as qe
from paddock.core.merge.model import Change
from paddock.core.review import events as rv
from paddock.core.tasks.life import NEXT_PHASE, NEXT_PHASE_OF_READERS, TaskEvent, begin, evolve, settle
from paddock.core.tasks.outcome import AttemptFacts, judge
from paddock.core.tasks.policy import decide_next
from paddock.core.tasks.task import DEAD, FINISHED, SATISFIED, Attempt, Found, Hold, Phase, Task
from paddock.core.tasks.vocabulary import Outcome, Role, Step

T1, OTHER, FIRST, SECOND = TaskId("t1"), TaskId("t2"), AttemptId("t1.1"), AttemptId("t1.2")
HEAD, BASE = "c" * 40, "b" * 40
ALL = frozenset(Phase)
OPEN = ALL - FINISHED
AT_REST = OPEN - {Phase.RUNNING}


def record(event: TaskEvent, attempt: AttemptId | None = None) -> ev.Record:
    return ev.Record(9, 1000.0, "ana@host", 0, T1, attempt, event, b"")


def attempt(name: AttemptId = FIRST, *, role: Role = Role.WORK, ended: float | None = 5.0, turn: int = 1) -> Attempt:
    return Attempt(name, "claude", "paddock/t1", BASE, 1.0, role=role, ended=ended, turn=turn)


def task_in(phase: Phase) -> Task:
    """One that has been worked on: its attempt has ended, or is between two turns if the phase is `running`."""
    fresh = begin(T1, ev.TaskAdded("Fix it", "Fix it"), ev.Record(1, 0.0, "ana", 0, T1, None, ev.Unknown("", b""), b""))
    one = attempt(ended=None if phase is Phase.RUNNING else 5.0)
    work = msgspec.structs.replace(fresh, phase=phase, attempts=(one,), started=1, head=HEAD, base=BASE)
    return msgspec.structs.replace(work, comments=(7,))


ENDED = ev.AttemptEnded(Outcome.DELIVERED, Step.APPROVAL, True, head=HEAD, base=BASE)
STARTED = ev.AttemptStarted("claude", BASE, "paddock/t1")
REVIEW = ev.AttemptStarted("claude", BASE, "paddock/t1", role=Role.REVIEW)
TERMINAL = ev.TurnStarted(2, interactive=True)
VISIT = ev.AttemptStarted("claude", BASE, "paddock/t1", visit=True)
LEGAL: dict[str, tuple[TaskEvent, AttemptId | None, frozenset[Phase]]] = {
    "turn started": (ev.TurnStarted(2), FIRST, frozenset({Phase.RUNNING})),
    "turn ended before it began": (ev.TurnEnded(1), FIRST, frozenset()),
    "attempt ended": (ENDED, FIRST, frozenset({Phase.RUNNING})),
    "attempt of another ended": (ENDED, SECOND, frozenset()),
    "attempt started": (STARTED, SECOND, frozenset({Phase.READY})),
    "attempt started twice": (STARTED, FIRST, frozenset()),
    "review started": (REVIEW, SECOND, frozenset({Phase.REVIEWING})),
    "attempt extended": (ev.AttemptExtended(1.0), FIRST, frozenset({Phase.RUNNING})),
    "stop requested": (ev.StopRequested(), FIRST, frozenset({Phase.RUNNING})),
    "request refused": (ev.RequestRefused("down"), FIRST, frozenset({Phase.RUNNING})),
    "question of another": (ev.QuestionAsked("Which?"), SECOND, frozenset()),
    "messages read that were not sent": (ev.MessagesRead((7,)), FIRST, frozenset()),
    "messages delivered that were not sent": (ev.MessagesDelivered((7,), 1), FIRST, frozenset()),
    "question withdrawn": (ev.QuestionWithdrawn(3), FIRST, frozenset({Phase.RUNNING})),
    "visited": (VISIT, SECOND, AT_REST - {Phase.QUEUED} | {Phase.NOOP, Phase.DONE}),
    "held": (ev.AttemptHeld(), FIRST, frozenset({Phase.RUNNING})),
    "let go without a hold": (ev.HoldEnded(), FIRST, frozenset()),
    "terminal opened without a hold": (ev.TurnStarted(2, interactive=True), FIRST, frozenset()),
    "noop declared": (ev.NoopDeclared("it is there"), FIRST, frozenset({Phase.RUNNING})),
    "edited": (ev.TaskEdited(priority=3), None, OPEN),
    "cancelled": (ev.TaskCancelled(), None, OPEN),
    "retried": (
        ev.TaskRetried(1),
        None,
        frozenset(
            {Phase.REVIEWING, Phase.APPROVAL, Phase.BLOCKED, Phase.FAILED, Phase.CANCELLED, Phase.NOOP, Phase.DONE}
        ),
    ),
    "blocked": (ev.TaskBlocked("no key", "export KEY"), None, AT_REST),
    "approved": (ev.TaskApproved(HEAD), None, frozenset({Phase.APPROVAL, Phase.REVIEWING})),
    "another head approved": (ev.TaskApproved(BASE), None, frozenset()),
    "rejected": (ev.TaskRejected(HEAD), None, frozenset({Phase.APPROVAL, Phase.REVIEWING})),
    "revised": (ev.ChangeRevised(HEAD, BASE), None, frozenset({Phase.APPROVAL, Phase.BLOCKED, Phase.FAILED})),
    "rebased": (ev.ChangeRebased(HEAD, BASE), None, frozenset({Phase.APPROVAL, Phase.QUEUED})),
    "questioned": (ev.ApprovalRequired(HEAD, ("touches paddock.toml",)), None, frozenset({Phase.APPROVAL})),
    "another head questioned": (ev.ApprovalRequired(BASE), None, frozenset()),
    "message": (ev.MessageSent("more"), None, OPEN | {Phase.NOOP, Phase.DONE}),
    "answer of a worker refused": (ev.AnswerRefused("no JSON"), FIRST, frozenset()),
    "report of a worker": (ev.ReportGiven("It is so."), FIRST, frozenset()),
    "plan of a worker": (ev.PlanProposed("{}"), FIRST, frozenset()),
    "plan of a worker accepted": (ev.PlanAccepted(3), None, frozenset()),
    "plan of a worker dropped": (ev.PlanDropped(3), None, frozenset()),
    "sent back": (rv.ReviewSentBack(HEAD, 1, ("f1",), "Fix f1."), None, frozenset({Phase.REVIEWING})),
    "another head sent back": (rv.ReviewSentBack(BASE, 1, ("f1",), "Fix f1."), None, frozenset()),
    "passed": (rv.ReviewPassed(HEAD, 1, ("reviewer",)), None, frozenset({Phase.REVIEWING})),
    "another head passed": (rv.ReviewPassed(BASE, 1, ("reviewer",)), None, frozenset()),
    "comment drafted": (ev.CommentDrafted("a.py", 3, "why?", head=HEAD), None, OPEN),
    "unknown comment dropped": (ev.CommentDropped(8), None, frozenset()),
    "unknown comment sent": (ev.CommentsSent((7, 8)), None, frozenset()),
    "failed for a cause": (ce.CauseFound("c1", "f1:network", FailureCause.NETWORK), FIRST, ALL - {Phase.RUNNING}),
    "attempt of another failed for a cause": (ce.CauseFound("c1", "f1:task", FailureCause.TASK), SECOND, frozenset()),
    "cause settled": (ce.CauseSettled("c1", FailureCause.NETWORK), None, ALL),
    "cause cleared": (ce.CauseCleared("c1"), None, ALL),
    "queued": (qe.ChangeQueued(Change("t1", 1, HEAD, BASE, task="t1"), "ana"), None, AT_REST),
    "landed": (qe.TrainLanded("r1", BASE, HEAD), None, ALL),
    "found empty": (qe.ChangeFoundEmpty("t1", 1, BASE), None, ALL),
    "conflicted": (qe.ChangeConflicted("t1", 1, BASE, ("a.py",)), None, ALL),
    "rejected by CI": (qe.ChangeRejected("t1", 1, "tests fail"), None, ALL),
    "taken out": (qe.ChangeCancelled("t1", 1), None, ALL),
    "lost": (qe.WorkLost(BASE, ("t1",)), None, ALL),
    "found": (qe.WorkFound(BASE, ("t1",)), None, ALL),
}
MOVES = {
    ("landed", Phase.QUEUED): Phase.LANDED,
    ("found empty", Phase.QUEUED): Phase.NOOP,
    ("conflicted", Phase.QUEUED): Phase.BLOCKED,
    ("rejected by CI", Phase.QUEUED): Phase.BLOCKED,
    ("taken out", Phase.QUEUED): Phase.APPROVAL,
    ("lost", Phase.LANDED): Phase.BLOCKED,
}
"""What the queue says, and what becomes of a cause, is legal in every phase, and
moves only tasks that are where it left them."""


@pytest.mark.parametrize(("name", "phase"), [*product(LEGAL, Phase)])
def test_an_event_happens_in_its_phases_and_in_no_other(name: str, phase: Phase) -> None:
    event, by, phases = LEGAL[name]
    task = task_in(phase)
    if phase not in phases:
        with pytest.raises(IllegalTransition, match=f"`{by or T1}` is {phase}: {event.kind} cannot happen"):
            evolve(task, event, record(event, by))
        return
    after = evolve(task, event, record(event, by))
    if phases == ALL:
        assert after.phase is MOVES.get((name, phase), phase)
        assert (after == task) is ((name, phase) not in MOVES)


@pytest.mark.parametrize("phase", Phase)
def test_comments_that_wait_may_be_dropped_or_sent_whatever_became_of_the_task(phase: Phase) -> None:
    for event in (ev.CommentDropped(7), ev.CommentsSent((7,))):
        task = task_in(phase)
        assert evolve(task, event, record(event)) == msgspec.structs.replace(task, comments=())


def test_every_event_of_a_task_is_in_the_table_and_in_this_test() -> None:
    assert {type(event) for event, _, _ in LEGAL.values()} == set(get_args(TaskEvent))


def test_every_kind_of_event_has_a_fold() -> None:
    classes: list[type[ev.Event]] = [*all_kinds().values(), ev.Unknown]
    assert all(callable(fold_of(event)) for event in classes)


@pytest.mark.parametrize("step", Step)
def test_each_step_leads_to_its_phase(step: Step) -> None:
    if step is Step.DONE:
        return  # only of tasks that deliver an answer: see below
    event = ev.AttemptEnded(Outcome.DELIVERED, step, True, head="d" * 40, base=BASE)
    after = evolve(task_in(Phase.RUNNING), event, record(event, FIRST))
    assert after.phase is NEXT_PHASE[Role.WORK][step]
    assert (after.head == "d" * 40) is (step in (Step.APPROVAL, Step.REVIEW)), (
        "only what was delivered is to be approved"
    )


class TestVisit:
    """A person takes an attempt over, works with its agent in a terminal, and leaves."""

    def held(self) -> Task:
        held = ev.AttemptHeld("box", "b1", "123 4")
        return evolve(task_in(Phase.RUNNING), held, record(held, FIRST))

    def test_only_their_terminal_opens_and_nothing_ends_before_they_leave(self) -> None:
        held = self.held()
        assert held.last is not None
        assert held.last.held == Hold("ana@host", 1000.0, "box", "b1", "123 4")
        for event in (ev.TurnStarted(2), ENDED, ev.AttemptHeld()):
            with pytest.raises(IllegalTransition):
                evolve(held, event, record(event, FIRST))
        opened = evolve(held, TERMINAL, record(TERMINAL, FIRST))
        with pytest.raises(IllegalTransition):
            evolve(opened, ev.HoldEnded(), record(ev.HoldEnded(), FIRST))
        closed = evolve(opened, ev.TurnEnded(2), record(ev.TurnEnded(2), FIRST))
        left = evolve(closed, ev.HoldEnded(), record(ev.HoldEnded(), FIRST))
        assert left.last is not None
        assert (left.last.held, left.last.left_by, left.last.interactive) == (None, "ana@host", False)
        assert evolve(left, ENDED, record(ENDED, FIRST)).phase is Phase.APPROVAL

    def test_who_hands_it_back_has_not_left_it(self) -> None:
        back = ev.HoldEnded(handback=True)
        after = evolve(self.held(), back, record(back, FIRST))
        assert after.last is not None
        assert (after.last.held, after.last.left_by) == (None, "")
        assert evolve(after, ev.TurnStarted(2), record(ev.TurnStarted(2), FIRST)).phase is Phase.RUNNING

    @pytest.mark.parametrize("phase", sorted(LEGAL["visited"][2]))
    def test_what_they_leave_as_it_was_goes_back_to_where_it_was(self, phase: Phase) -> None:
        before = msgspec.structs.replace(task_in(phase), reason="because", unblock="paddock do", allowed=9)
        visited = evolve(before, VISIT, record(VISIT, SECOND))
        assert visited.last is not None
        assert (visited.phase, visited.last.found) == (Phase.RUNNING, Found(phase, "because", "paddock do"))
        if phase is Phase.DONE:
            return  # only of tasks that deliver an answer
        verdict = judge(AttemptFacts(left_by="ana", found="because"))
        following = decide_next(verdict, visited, visited.last, 2000.0, 15.0)
        ended = ev.AttemptEnded(verdict.outcome, following.step, False, verdict.reason, unblock=following.unblock)
        after = evolve(visited, ended, record(ended, SECOND))
        assert after.phase is (Phase.READY if phase is Phase.WAITING else phase)
        assert (after.reason, after.unblock, after.counted) == ("because", "paddock do", before.counted)

    def test_a_message_counts_as_told_only_when_its_engine_has_it(self) -> None:
        sent, claim = ev.MessageSent("rename it"), ev.TurnStarted(2, messages=(9,))
        told = evolve(task_in(Phase.RUNNING), sent, record(sent))
        claimed = evolve(told, claim, record(claim, FIRST))
        assert (told.inbox, claimed.inbox, claimed.untold) == ((9,), (), (9,))
        delivered = ev.MessagesDelivered((9,), 2, "it answered")
        assert evolve(claimed, delivered, record(delivered, FIRST)).untold == ()
        assert evolve(told, delivered, record(delivered, FIRST)).inbox == ()

    def test_a_dialog_is_gone_with_the_turn_it_was_in(self) -> None:
        asked, open_turn = ev.QuestionAsked("Run rm?", ("yes", "no"), "p1"), ev.TurnStarted(2)
        running = evolve(task_in(Phase.RUNNING), open_turn, record(open_turn, FIRST))
        asks = evolve(running, asked, record(asked, FIRST))
        assert (asks.question, asks.options) == (9, ("yes", "no"))
        ended = evolve(asks, ev.TurnEnded(2), record(ev.TurnEnded(2), FIRST))
        assert (ended.question, ended.options, ended.reason) == (0, (), "")


class TestReview:
    """A review is an attempt that looks at what was delivered: it has findings and no commits."""

    def reviewed(self, *, turn: int = 1) -> Task:
        before = task_in(Phase.REVIEWING)
        started = evolve(before, REVIEW, record(REVIEW, SECOND))
        assert (started.phase, started.since) == (Phase.REVIEWING, before.since)
        assert [one.role for one in started.attempts] == [Role.WORK, Role.REVIEW]
        return started

    @pytest.mark.parametrize("step", Step)
    def test_it_leads_to_another_look_or_to_a_person_and_never_to_other_commits(self, step: Step) -> None:
        event = ev.AttemptEnded(Outcome.DELIVERED, step, False, "two findings", head="d" * 40, base="e" * 40)
        if step in (Step.NOOP, Step.DONE):
            with pytest.raises(IllegalTransition):
                evolve(self.reviewed(), event, record(event, SECOND))
            return
        after = evolve(self.reviewed(), event, record(event, SECOND))
        assert after.phase is NEXT_PHASE[Role.REVIEW][step]
        assert (after.phase is Phase.REVIEWING) is (step in (Step.REVIEW, Step.RETRY))
        assert (after.head, after.base, after.reason) == (HEAD, BASE, "two findings")

    def test_it_cannot_begin_where_work_would_nor_work_where_it_would(self) -> None:
        for event, phase in ((REVIEW, Phase.READY), (STARTED, Phase.REVIEWING)):
            with pytest.raises(IllegalTransition):
                evolve(task_in(phase), event, record(event, SECOND))

    def test_while_it_runs_nothing_takes_the_task_away_but_cancelling_it(self) -> None:
        running = self.reviewed()
        for event in (ev.TaskRejected(HEAD), ev.TaskBlocked("x", "y"), ev.TaskRetried(1), LEGAL["queued"][0], REVIEW):
            with pytest.raises(IllegalTransition):
                evolve(running, event, record(event, AttemptId("t1.3")))
        cancelled = evolve(running, ev.TaskCancelled(), record(ev.TaskCancelled()))
        assert evolve(cancelled, ENDED, record(ENDED, SECOND)).phase is Phase.CANCELLED

    def test_a_message_that_comes_meanwhile_is_for_the_next_worker(self) -> None:
        sent = ev.MessageSent("rename it")
        told = evolve(self.reviewed(), sent, record(sent))
        assert (told.phase, told.inbox) == (Phase.REVIEWING, (9,))
        ended = ev.AttemptEnded(Outcome.DELIVERED, Step.APPROVAL, False)
        assert evolve(told, ended, record(ended, SECOND)).phase is Phase.READY


class TestReading:
    """A task that only reads delivers an answer, and is done with it."""

    def reading(self, role: Role) -> Task:
        task = task_in(Phase.RUNNING)
        return msgspec.structs.replace(task, role=role, head=None, attempts=(attempt(role=role, ended=None),))

    @pytest.mark.parametrize("role", [Role.REVIEW, Role.PLAN, Role.REPORT])
    @pytest.mark.parametrize("step", Step)
    def test_its_steps_lead_to_no_change_of_anything(self, role: Role, step: Step) -> None:
        event = ev.AttemptEnded(Outcome.ANSWERED, step, False, "a plan")
        if step not in NEXT_PHASE_OF_READERS:
            with pytest.raises(IllegalTransition):
                evolve(self.reading(role), event, record(event, FIRST))
            return
        after = evolve(self.reading(role), event, record(event, FIRST))
        assert after.phase is NEXT_PHASE_OF_READERS[step]
        assert after.head is None

    def test_its_attempts_have_its_role_and_no_other(self) -> None:
        ready = msgspec.structs.replace(self.reading(Role.PLAN), phase=Phase.READY, attempts=(), started=0)
        begun = msgspec.structs.replace(STARTED, role=Role.PLAN)
        assert evolve(ready, begun, record(begun, FIRST)).phase is Phase.RUNNING
        for other in (STARTED, REVIEW):
            with pytest.raises(IllegalTransition):
                evolve(ready, other, record(other, FIRST))

    def test_an_answer_that_cannot_be_used_is_owed_until_the_next_turn(self) -> None:
        refused = ev.AnswerRefused("it is not JSON")
        owes = evolve(self.reading(Role.PLAN), refused, record(refused, FIRST))
        assert owes.last is not None
        assert (owes.last.owes_answer, owes.last.answers_refused) == (9, 1)
        turn = ev.TurnStarted(2, messages=(9,))
        asked = evolve(owes, turn, record(turn, FIRST))
        assert asked.last is not None
        assert (asked.last.owes_answer, asked.last.answers_refused) == (0, 1)

    def test_its_newest_answer_is_the_one_that_counts(self) -> None:
        said = ev.PlanProposed("{}")
        assert evolve(self.reading(Role.PLAN), said, record(said, FIRST)).answer_seq == 9


def test_the_worker_stays_known_however_many_reviewers_fail_at_its_change() -> None:
    task = task_in(Phase.REVIEWING)
    for number in range(2, 60):
        name = AttemptId(f"t1.{number}")
        begun, ended = REVIEW, ev.AttemptEnded(Outcome.CRASHED, Step.RETRY, False)
        task = evolve(task, begun, record(begun, name))
        task = evolve(task, ended, record(ended, name))
    assert task.worker is not None
    assert task.worker.id == FIRST


texts = st.sampled_from(["", HEAD, "why"])
small = st.integers(0, 3)
names = st.sampled_from([None, FIRST, SECOND, AttemptId("t1.3"), AttemptId("t9.1")])
events: st.SearchStrategy[TaskEvent] = st.one_of(
    st.builds(ev.TurnStarted, turn=small, messages=st.lists(small, max_size=2).map(tuple), new_conversation=texts),
    st.builds(ev.TurnEnded, turn=small, exit=st.none() | small, cost_usd=st.none() | st.just(0.5)),
    st.builds(ev.AttemptStarted, st.just("claude"), texts, texts, role=st.sampled_from(Role)),
    st.builds(
        ev.AttemptEnded,
        st.sampled_from(Outcome),
        st.sampled_from(Step),
        st.booleans(),
        head=st.none() | texts,
        retry_at=st.none() | st.just(2000.0),
    ),
    st.builds(ev.TaskEdited, after=st.just(msgspec.UNSET) | st.just((OTHER,)), attempts=st.just(msgspec.UNSET) | small),
    st.builds(ev.TaskApproved, texts),
    st.builds(ev.TaskRejected, texts, texts),
    st.builds(ev.ChangeRevised, texts, texts),
    st.builds(ev.ChangeRebased, texts, texts),
    st.sampled_from([event for event, _, _ in LEGAL.values()]),
)
attempts = st.builds(
    Attempt,
    st.just(SECOND),
    st.just("claude"),
    texts,
    texts,
    st.just(1.0),
    turn=small,
    turn_open=st.booleans(),
    role=st.sampled_from(Role),
    ended=st.none() | st.just(5.0),
)
tasks = st.builds(
    Task,
    st.just(T1),
    st.just("Fix it"),
    st.just(1),
    st.sampled_from(Phase),
    st.just(0.0),
    st.just(0.0),
    small,
    blocked_on=st.none() | st.just(OTHER),
    after=st.just(()) | st.just((OTHER,)),
    started=st.just(2),
    counted=small,
    attempts=st.just(()) | st.tuples(attempts),
    inbox=st.lists(small, max_size=2).map(tuple),
    head=st.none() | texts,
    lost=st.booleans(),
)


@given(tasks, events, names)
def test_whatever_happens_is_legal_or_refused_and_a_finished_task_stays_finished(
    task: Task, event: TaskEvent, by: AttemptId | None
) -> None:
    """Also to tasks that no history could have made. Only `retry`, a message, and main itself bring one back."""
    try:
        after = evolve(task, event, record(event, by))
    except IllegalTransition:
        return
    assert (after.id, after.created, after.convoy) == (task.id, task.created, task.convoy)
    if task.phase in FINISHED and after.phase is not task.phase:
        assert isinstance(event, ev.TaskRetried | ev.MessageSent | qe.WorkLost)
    begins = isinstance(event, ev.AttemptStarted)
    assert len(after.attempts) == len(task.attempts) + begins
    assert (after.phase is Phase.RUNNING) <= (task.phase is Phase.RUNNING or begins)
    assert (after.counted >= task.counted) or isinstance(event, CauseOfTask)


@given(tasks, st.sampled_from(Phase))
def test_what_a_task_waits_for_is_settled_by_the_other_and_settled_once(task: Task, phase: Phase) -> None:
    board = {OTHER: msgspec.structs.replace(task, id=OTHER, phase=phase)}
    settled = settle(task, board, 50.0)
    assert settle(settled, board, 60.0) == settled
    waits = task.phase in (Phase.READY, Phase.WAITING) or task.blocked_on is not None
    if not waits:
        assert settled is task
    elif not task.after or phase in SATISFIED:
        assert settled.phase is Phase.READY
    else:
        assert settled.phase is (Phase.BLOCKED if phase in DEAD else Phase.WAITING)
        assert (settled.blocked_on == OTHER) is (phase in DEAD)
    assert settled.since == (task.since if settled.phase is task.phase else 50.0)
