"""What goes on after a restart or on another machine: which tasks, by which events, and that doing it twice is once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.core import events as ev
from paddock.core.board import DAEMON_LEASE
from paddock.core.ids import AttemptId, TaskId, attempt_id
from paddock.core.intent.holds import Seat, hold_task, open_terminal
from paddock.core.intent.resurrection import AttemptLoss, Plight, Revival, find_revivals, resurrect
from paddock.core.intent.tasks import retry_tasks, stop_tasks
from paddock.core.leases.lease import Holder, LeaseGranted, LeaseReleased
from paddock.core.tasks.conversations import continued_attempt
from paddock.core.tasks.task import Phase
from paddock.core.tasks.vocabulary import EndedBy, Outcome, Step
from tests.core.ledger import Ledger

NOW = 2_000_000_000.0
HEAD = "c" * 40


def running(ledger: Ledger) -> tuple[TaskId, AttemptId]:
    task = ledger.add()
    attempt = ledger.start(task)
    ledger.write(ev.Draft(ev.TurnStarted(1, session="s", worktree="/w/1", memory=attempt), task, attempt))
    return task, attempt


def unseen(turn: int = 1) -> ev.TurnEnded:
    return ev.TurnEnded(turn, ended_by=EndedBy.REBOOT, session="s")


def how(ledger: Ledger, losses: dict[AttemptId, AttemptLoss]) -> list[tuple[TaskId, Revival]]:
    return [(one.task, one.how) for one in find_revivals(ledger.board, losses)]


def test_a_turn_whose_process_is_gone_is_over_and_the_fleet_judges_its_attempt() -> None:
    ledger = Ledger()
    task, attempt = running(ledger)
    losses = {attempt: AttemptLoss(Plight.GONE, unseen())}
    assert how(ledger, losses) == [(task, Revival.RESUMED)]
    ledger.write(*resurrect(ledger.board, losses, NOW))
    live = ledger.task(task).live_attempt
    assert live is not None
    assert (live.turn_open, live.ended_by, live.session) == (False, EndedBy.REBOOT, "s")
    assert resurrect(ledger.board, losses, NOW) == []


def test_an_attempt_of_a_host_that_is_gone_ends_and_its_task_goes_on_from_its_commits() -> None:
    ledger = Ledger()
    task, attempt = running(ledger)
    losses = {attempt: AttemptLoss(Plight.ELSEWHERE, unseen(), HEAD)}
    assert how(ledger, losses) == [(task, Revival.TAKEN_OVER)]
    ledger.write(*resurrect(ledger.board, losses, NOW))
    after = ledger.task(task)
    assert (after.phase, after.counted, after.live_attempt) == (Phase.READY, 0, None)
    worker = after.worker
    assert worker is not None
    assert (worker.outcome, worker.head, worker.session) == (Outcome.LOST, HEAD, "s")
    assert continued_attempt(after, worker.engine) == worker
    assert resurrect(ledger.board, losses, NOW) == [], "it is done once"


def test_what_a_person_had_stopped_there_waits_for_a_person() -> None:
    ledger = Ledger()
    task, attempt = running(ledger)
    ledger.write(*stop_tasks(ledger.board, [task], "enough"))
    ledger.write(*resurrect(ledger.board, {attempt: AttemptLoss(Plight.ELSEWHERE)}, NOW))
    assert (ledger.task(task).phase, ledger.task(task).unblock) == (Phase.BLOCKED, f"paddock retry {task}")


@pytest.mark.parametrize("terminal", [False, True])
def test_a_person_whose_host_is_gone_holds_nothing_any_more(terminal: bool) -> None:
    ledger = Ledger()
    task, attempt = running(ledger)
    ledger.write(*hold_task(ledger.board, task, Seat("h", "h", "1 1 boot")))
    if terminal:
        ledger.write(ev.Draft(ev.TurnEnded(1, ended_by=EndedBy.HELD), task, attempt))
        ledger.write(*open_terminal(ledger.board, attempt, worktree="/w/1", fence="none", session="s"))
    ledger.write(*resurrect(ledger.board, {attempt: AttemptLoss(Plight.ELSEWHERE)}, NOW))
    after = ledger.task(task)
    assert (after.phase, after.unblock, after.live_attempt) == (Phase.BLOCKED, f"paddock handback {task}", None)


def end(ledger: Ledger, outcome: Outcome, step: Step, ended_by: EndedBy = EndedBy.REBOOT, **fields: object) -> TaskId:
    task, attempt = running(ledger)
    ledger.write(ev.Draft(ev.TurnEnded(1, ended_by=ended_by, session="s"), task, attempt))
    ended = ev.AttemptEnded(outcome, step, counted=False, **fields)  # type: ignore[arg-type]
    ledger.write(ev.Draft(ended, task, attempt))
    return task


def test_what_gave_up_because_of_a_loss_is_tried_again_and_nothing_else_is() -> None:
    ledger = Ledger()
    lost = end(ledger, Outcome.LOST, Step.BLOCK)
    killed = end(ledger, Outcome.CRASHED, Step.FAIL, EndedBy.VANISHED)
    later = end(ledger, Outcome.LOST, Step.RETRY, retry_at=NOW + 999)
    end(ledger, Outcome.CRASHED, Step.FAIL, EndedBy.ITSELF)
    end(ledger, Outcome.AUTH, Step.BLOCK, EndedBy.ITSELF)
    end(ledger, Outcome.LOST, Step.RETRY)
    assert how(ledger, {}) == [(lost, Revival.RETRIED), (killed, Revival.RETRIED), (later, Revival.RETRIED)]
    ledger.write(*resurrect(ledger.board, {}, NOW))
    tasks = [ledger.task(name) for name in (lost, killed, later)]
    assert [(task.phase, task.not_before) for task in tasks] == [(Phase.READY, 0.0)] * 3
    assert how(ledger, {}) == []


def test_only_what_was_chosen_is_brought_back() -> None:
    ledger = Ledger()
    first, second = end(ledger, Outcome.LOST, Step.BLOCK), end(ledger, Outcome.LOST, Step.BLOCK)
    ledger.write(*resurrect(ledger.board, {}, NOW, [second]))
    assert [ledger.task(name).phase for name in (first, second)] == [Phase.BLOCKED, Phase.READY]
    ledger.write(*retry_tasks(ledger.board, [first], 1, ""))


plights = st.sampled_from(("fine", "gone", "told", "elsewhere"))


@given(st.lists(st.tuples(plights, st.booleans(), st.booleans()), max_size=6))
def test_whatever_was_lost_every_event_is_legal_and_the_second_time_there_is_nothing_to_do(
    fleet: list[tuple[str, bool, bool]],
) -> None:
    ledger = Ledger()
    losses: dict[AttemptId, AttemptLoss] = {}
    for plight, held, cancelled in fleet:
        task, attempt = running(ledger)
        if held:
            ledger.write(*hold_task(ledger.board, task, Seat("h", "h", "1 1 boot")))
        if cancelled:
            ledger.write(ev.Draft(ev.TaskCancelled(), task))
        kinds = {
            "gone": AttemptLoss(Plight.GONE),
            "told": AttemptLoss(Plight.GONE, unseen()),
            "elsewhere": AttemptLoss(Plight.ELSEWHERE),
        }
        losses |= {attempt: kinds[plight]} if plight in kinds else {}
    names = list(ledger.board.tasks)
    before = {name: ledger.task(name) for name in names}
    ledger.write(*resurrect(ledger.board, losses, NOW, names))
    assert resurrect(ledger.board, losses, NOW, names) == []
    for name, (plight, *_) in zip(names, fleet, strict=True):
        if plight in ("fine", "gone"):
            assert ledger.task(name) is before[name], "the fleet looks after it"
        if plight == "elsewhere":
            assert ledger.task(name).live_attempt is None


def visited(ledger: Ledger, step: str) -> tuple[TaskId, AttemptId]:
    """A task whose work has ended, and somebody on a host that is gone who holds it since."""
    task, attempt = running(ledger)
    ledger.write(ev.Draft(ev.TurnEnded(1, exit=0, session="s"), task, attempt))
    delivered = ev.AttemptEnded(Outcome.DELIVERED, Step(step), True, "1 commit", head=HEAD, base="d" * 40)
    ledger.write(ev.Draft(delivered, task, attempt))
    ledger.write(*hold_task(ledger.board, task, Seat("h", "h", "1 1 boot")))
    live = ledger.task(task).live_attempt
    assert live is not None
    return task, live.id


@pytest.mark.parametrize(("step", "phase"), [("approval", Phase.APPROVAL), ("review", Phase.REVIEWING)])
@pytest.mark.parametrize("head", [None, HEAD])
def test_a_task_that_was_visited_on_a_host_that_is_gone_stands_as_it_was_found(
    step: str, phase: Phase, head: str | None
) -> None:
    ledger = Ledger()
    task, visit = visited(ledger, step)
    before = ledger.task(task)
    ledger.write(*resurrect(ledger.board, {visit: AttemptLoss(Plight.ELSEWHERE, head=head)}, NOW))
    after = ledger.task(task)
    assert (after.phase, after.reason) == (phase, "1 commit")
    assert (after.head, after.base) == (HEAD, "d" * 40) == (before.head, before.base)


def test_what_a_visitor_on_a_host_that_is_gone_had_committed_is_the_work() -> None:
    ledger = Ledger()
    task, visit = visited(ledger, "approval")
    ledger.write(*resurrect(ledger.board, {visit: AttemptLoss(Plight.ELSEWHERE, head="e" * 40)}, NOW))
    after = ledger.task(task)
    assert (after.phase, after.head, after.base) == (Phase.APPROVAL, "e" * 40, "b" * 40)


def test_what_waits_for_a_person_or_for_another_task_is_left_to_them() -> None:
    ledger = Ledger()
    ledger.add()
    asks, attempt = running(ledger)
    ledger.write(ev.Draft(ev.QuestionAsked("Which one?"), asks, attempt))
    stopped, second = running(ledger)
    ledger.write(*stop_tasks(ledger.board, [stopped], ""))
    for task, one in ((asks, attempt), (stopped, second)):
        ledger.write(ev.Draft(ev.TurnEnded(1, ended_by=EndedBy.REBOOT, session="s"), task, one))
        ledger.write(ev.Draft(ev.AttemptEnded(Outcome.LOST, Step.BLOCK, counted=False), task, one))
    waits, dead = end(ledger, Outcome.LOST, Step.RETRY), ledger.add()
    ledger.write(ev.Draft(ev.TaskEdited(after=(dead,)), waits), ev.Draft(ev.TaskCancelled(), dead))
    assert ledger.task(waits).blocked_on == dead
    assert how(ledger, {}) == []


def test_what_was_found_of_a_turn_says_nothing_of_the_next_one() -> None:
    ledger = Ledger()
    task, attempt = running(ledger)
    ledger.write(ev.Draft(ev.TurnEnded(1, exit=0, session="s"), task, attempt))
    ledger.write(ev.Draft(ev.TurnStarted(2, session="s", worktree="/w/1", memory=attempt), task, attempt))
    assert resurrect(ledger.board, {attempt: AttemptLoss(Plight.GONE, unseen(1))}, NOW) == []
    far = resurrect(ledger.board, {attempt: AttemptLoss(Plight.ELSEWHERE, unseen(1))}, NOW)
    [ended] = [draft.event for draft in far if isinstance(draft.event, ev.TurnEnded)]
    assert (ended.turn, ended.ended_by, ended.problem) == (2, EndedBy.REBOOT, "its host `` is gone")
    seen = resurrect(ledger.board, {attempt: AttemptLoss(Plight.ELSEWHERE, unseen(2))}, NOW)
    assert seen[0].event == unseen(2)


def test_an_attempt_between_two_turns_is_taken_over_too() -> None:
    ledger = Ledger()
    task, attempt = running(ledger)
    ledger.write(ev.Draft(ev.TurnEnded(1, exit=0, session="s"), task, attempt))
    ledger.write(*resurrect(ledger.board, {attempt: AttemptLoss(Plight.ELSEWHERE, unseen())}, NOW))
    assert (ledger.task(task).phase, ledger.task(task).live_attempt) == (Phase.READY, None)


def test_a_person_whose_terminal_is_gone_has_left_and_their_task_does_not_just_go_on() -> None:
    ledger = Ledger()
    task, attempt = running(ledger)
    ledger.write(*hold_task(ledger.board, task, Seat("h", "h", "1 1 boot")))
    assert how(ledger, {attempt: AttemptLoss(Plight.GONE)}) == [(task, Revival.JUDGED)]
    assert resurrect(ledger.board, {attempt: AttemptLoss(Plight.GONE)}, NOW) == []


@pytest.mark.parametrize(("counted", "allowed"), [(0, 3), (2, 3), (3, 4)])
def test_a_task_that_is_tried_again_has_the_attempts_it_had_left_and_at_least_one(counted: int, allowed: int) -> None:
    ledger = Ledger()
    task = ledger.add()
    for _ in range(counted):
        ledger.attempt(task, "retry")
    attempt = attempt_id(task, counted + 1)
    if counted >= 3:
        ledger.write(ev.Draft(ev.TaskEdited(attempts=3), task))
    started = ev.AttemptStarted("claude", "b" * 40, f"paddock/{task}")
    lost = ev.AttemptEnded(Outcome.LOST, Step.BLOCK, counted=False)
    ledger.write(ev.Draft(started, task, attempt), ev.Draft(lost, task, attempt))
    ledger.write(*resurrect(ledger.board, {}, NOW))
    assert ledger.task(task).allowed == allowed


def test_a_daemon_is_over_only_if_its_host_is_gone_and_runs_only_if_they_are_there() -> None:
    ledger = Ledger()
    ledger.write(ev.Draft(LeaseGranted(DAEMON_LEASE, 1, Holder("one", host="h1"), 60.0)))
    assert resurrect(ledger.board, {}, NOW, runs=("r9",), hosts=("h2",)) == []
    [over] = resurrect(ledger.board, {}, NOW, hosts=("h1",))
    assert over.event == LeaseReleased(DAEMON_LEASE, 1, "its host is gone")
