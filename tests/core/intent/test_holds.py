"""A person takes an attempt over and leaves it: what that records, and where it is refused."""

import pytest

from paddock.core import events as ev
from paddock.core.errors import Misuse, NotFound, PaddockError
from paddock.core.ids import AttemptId, TaskId
from paddock.core.intent.holds import GO_ON, Seat, hand_back, hold_task, leave, open_terminal
from paddock.core.intent.tasks import cancel_tasks, stop_tasks
from paddock.core.tasks.task import Attempt, Phase
from paddock.core.tasks.vocabulary import EndedBy, Outcome, Role, Step
from paddock.core.wording import BRIEF_LIMIT
from tests.core.ledger import Ledger

SEAT = Seat("host", "id", "7 7 boot")
HEAD = "c" * 40
ANA = "ana@host"


@pytest.fixture
def ledger() -> Ledger:
    return Ledger()


def live(ledger: Ledger, task: TaskId) -> Attempt:
    attempt = ledger.task(task).live_attempt
    assert attempt is not None
    return attempt


def run_turn(ledger: Ledger, task: TaskId) -> AttemptId:
    """An attempt whose turn runs, in a conversation of its own."""
    attempt = ledger.start(task)
    started = ev.TurnStarted(1, session="s-1", worktree="/trees/1", memory=attempt)
    ledger.write(ev.Draft(started, task, attempt))
    return attempt


def end_turn(ledger: Ledger, task: TaskId) -> None:
    attempt = live(ledger, task)
    ledger.write(ev.Draft(ev.TurnEnded(attempt.turn, exit=0, steps=1, output_tokens=5), task, attempt.id))


def test_a_live_attempt_is_held_and_its_terminal_opens_once_its_turn_is_over(ledger: Ledger) -> None:
    task = ledger.add()
    attempt = run_turn(ledger, task)
    ledger.write(*hold_task(ledger.board, task, SEAT))
    hold = live(ledger, task).held
    assert hold is not None
    assert (hold.by, hold.host, hold.process) == (ANA, "host", "7 7 boot")
    there = {"worktree": "/trees/1", "fence": "none", "session": "s-1"}
    assert open_terminal(ledger.board, attempt, **there) == []
    end_turn(ledger, task)
    ledger.write(*open_terminal(ledger.board, attempt, **there))
    opened = live(ledger, task)
    assert (opened.turn, opened.interactive, opened.session, opened.memory) == (2, True, "s-1", attempt)


def test_leaving_ends_the_terminal_and_the_hold_at_once_and_only_once(ledger: Ledger) -> None:
    task = ledger.add()
    attempt = run_turn(ledger, task)
    end_turn(ledger, task)
    ledger.write(*hold_task(ledger.board, task, SEAT))
    ledger.write(*open_terminal(ledger.board, attempt, worktree="/trees/1", fence="", session="s-1"))
    ended = ev.TurnEnded(2, exit=0)
    drafts = leave(ledger.board, attempt, ended)
    assert [draft.event for draft in drafts] == [ended, ev.HoldEnded()]
    ledger.write(*drafts)
    assert live(ledger, task).left_by == ANA
    assert leave(ledger.board, attempt, ended) == []


def test_a_visit_goes_on_in_the_conversation_folder_and_branch_of_the_last_worker(ledger: Ledger) -> None:
    task = ledger.add()
    attempt = run_turn(ledger, task)
    end_turn(ledger, task)
    ledger.end(task, "approval", head=HEAD)
    ledger.write(*hold_task(ledger.board, task, SEAT))
    visit = live(ledger, task)
    assert (visit.id, visit.continues, visit.session, visit.worktree) == ("t1.2", attempt, "s-1", "/trees/1")
    assert (visit.memory, visit.branch, visit.base) == (attempt, "paddock/t1", "b" * 40)
    assert visit.found is not None
    assert visit.found.phase is Phase.APPROVAL
    assert ledger.task(task).phase is Phase.RUNNING


def test_a_conversation_that_cannot_be_resumed_is_not_tried_again(ledger: Ledger) -> None:
    task = ledger.add()
    run_turn(ledger, task)
    end_turn(ledger, task)
    ledger.end(task, "retry")
    second = ledger.start(task)
    ledger.write(ev.Draft(ev.TurnStarted(1, session="s-2", worktree="/trees/2", memory=second), task, second))
    ledger.write(ev.Draft(ev.TurnEnded(1, exit=1), task, second))
    ledger.write(
        ev.Draft(ev.TurnStarted(2, session="s-2"), task, second), ev.Draft(ev.TurnEnded(2, exit=1), task, second)
    )
    never = ev.AttemptEnded(Outcome.NEVER_RAN, Step.BLOCK, counted=False)
    ledger.write(ev.Draft(never, task, second))
    ledger.write(*hold_task(ledger.board, task, SEAT))
    visit = live(ledger, task)
    assert (visit.session, visit.worktree, visit.memory, visit.continues) == (None, "", "", second)


def test_the_second_person_is_told_who_holds_it_since_when_and_how_to_watch(ledger: Ledger) -> None:
    task = ledger.add()
    run_turn(ledger, task)
    ledger.write(*hold_task(ledger.board, task, SEAT))
    with pytest.raises(PaddockError) as refused:
        hold_task(ledger.board, task, SEAT)
    assert refused.value.message == "`t1.1` has been held by ana@host since 15 Jan 08:00 UTC"
    assert "paddock connect t1 --watch" in (refused.value.hint or "")


def test_what_cannot_be_held_says_why_and_what_to_run(ledger: Ledger) -> None:
    fresh = ledger.add()
    assert refusal(ledger, fresh) == ("task `t1` has no agent yet", "`paddock run` starts one when it is ready")
    reviewed = ledger.add()
    ledger.attempt(reviewed, "review", head=HEAD)
    ledger.start(reviewed, role=Role.REVIEW)
    assert refusal(ledger, reviewed)[0] == "task `t2` is in review by `t2.2`"
    cancelled = ledger.add()
    ledger.attempt(cancelled, "approval", head=HEAD)
    ledger.write(ev.Draft(ev.TaskCancelled(), cancelled))
    words = ("task `t3` was cancelled", "go on from it in a new task: `paddock fork t3 …`")
    assert refusal(ledger, cancelled) == words
    stopping = ledger.add()
    run_turn(ledger, stopping)
    ledger.write(*stop_tasks(ledger.board, [stopping], ""))
    assert refusal(ledger, stopping)[0] == "`t4.1` is being stopped by ana@host"
    with pytest.raises(NotFound):
        hold_task(ledger.board, TaskId("t99"), SEAT)


def refusal(ledger: Ledger, task: TaskId) -> tuple[str, str]:
    with pytest.raises(PaddockError) as refused:
        hold_task(ledger.board, task, SEAT)
    return refused.value.message, refused.value.hint or ""


def test_handing_back_tells_the_agent_to_go_on_and_only_its_holder_does_it(ledger: Ledger) -> None:
    task = ledger.add()
    attempt = run_turn(ledger, task)
    end_turn(ledger, task)
    ledger.write(*hold_task(ledger.board, task, SEAT))
    with pytest.raises(PaddockError, match="held by ana@host"):
        hand_back(ledger.board, task, "ben@host")
    drafts = hand_back(ledger.board, task, ANA)
    assert [draft.event for draft in drafts] == [ev.HoldEnded(handback=True), ev.MessageSent(GO_ON)]
    told = ledger.write(*drafts)[-1]
    assert live(ledger, task).id == attempt
    assert live(ledger, task).left_by == ""
    assert ledger.task(task).inbox == (told.seq,)


def test_what_was_left_without_a_word_can_be_handed_back_later(ledger: Ledger) -> None:
    task = ledger.add()
    attempt = run_turn(ledger, task)
    with pytest.raises(PaddockError, match="held by nobody"):
        hand_back(ledger.board, task, ANA)
    end_turn(ledger, task)
    ledger.write(*hold_task(ledger.board, task, SEAT))
    ledger.write(*leave(ledger.board, attempt, None))
    left = ev.AttemptEnded(Outcome.LEFT, Step.BLOCK, counted=False, unblock=f"paddock handback {task}")
    ledger.write(ev.Draft(left, task, attempt))
    ledger.write(*hand_back(ledger.board, task, ANA, "go on with the parser"))
    assert ledger.task(task).phase is Phase.READY


@pytest.mark.parametrize("cancels", [False, True])
def test_what_is_being_stopped_or_was_cancelled_is_not_handed_back(ledger: Ledger, cancels: bool) -> None:
    task = ledger.add()
    run_turn(ledger, task)
    ledger.write(*hold_task(ledger.board, task, SEAT))
    ledger.write(*(cancel_tasks if cancels else stop_tasks)(ledger.board, [task], ""))
    with pytest.raises(PaddockError, match="being stopped"):
        hand_back(ledger.board, task, ANA)


def seated(ledger: Ledger) -> tuple[TaskId, AttemptId]:
    """Somebody in the open terminal of what was an agent at work."""
    task = ledger.add()
    attempt = run_turn(ledger, task)
    end_turn(ledger, task)
    ledger.write(*hold_task(ledger.board, task, SEAT))
    ledger.write(*open_terminal(ledger.board, attempt, worktree="/trees/1", fence="none", session="s-1"))
    return task, attempt


def test_an_agent_that_is_handed_back_goes_on_however_its_terminal_was_closed(ledger: Ledger) -> None:
    _, attempt = seated(ledger)
    closed, ended, told = leave(ledger.board, attempt, ev.TurnEnded(2, exit=7), handback="go on with the parser")
    assert closed.event == ev.TurnEnded(2, exit=7, ended_by=EndedBy.HELD)
    assert ended.event == ev.HoldEnded(handback=True)
    assert told.event == ev.MessageSent("go on with the parser")


@pytest.mark.parametrize("cancels", [False, True])
def test_what_was_stopped_is_stopped_whoever_closes_its_terminal(ledger: Ledger, cancels: bool) -> None:
    task, attempt = seated(ledger)
    ledger.write(*(cancel_tasks if cancels else stop_tasks)(ledger.board, [task], ""))
    [closed, _] = leave(ledger.board, attempt, ev.TurnEnded(2, exit=0))
    assert closed.event == ev.TurnEnded(2, exit=0, ended_by=EndedBy.STOP)


def test_what_is_handed_back_is_told_the_words_and_only_words(ledger: Ledger) -> None:
    task, _ = seated(ledger)
    ended = ev.TurnEnded(2, exit=0)
    assert hand_back(ledger.board, task, ANA, "with care", ended)[-1].event == ev.MessageSent("with care")
    for text in ("a\0b", "x" * (BRIEF_LIMIT + 1), "  "):
        with pytest.raises(Misuse, match="the message"):
            hand_back(ledger.board, task, ANA, text, ended)


def test_a_turn_is_only_ended_with_a_hold_if_it_is_the_holders(ledger: Ledger) -> None:
    task = ledger.add()
    attempt = run_turn(ledger, task)
    ledger.write(*hold_task(ledger.board, task, SEAT))
    left = [draft.event for draft in leave(ledger.board, attempt, ev.TurnEnded(1, exit=0))]
    assert left == [ev.HoldEnded()], "the agent's turn is for the fleet to end"


def test_a_terminal_opens_for_nobody_who_no_longer_holds_the_attempt(ledger: Ledger) -> None:
    task = ledger.add()
    attempt = run_turn(ledger, task)
    end_turn(ledger, task)

    def refused() -> None:
        with pytest.raises(PaddockError, match=f"`{attempt}` is no longer held"):
            open_terminal(ledger.board, attempt, worktree="/trees/1", fence="none", session="s-1")

    refused()
    ledger.end(task, "approval", head=HEAD)
    refused()
    ledger.write(*hold_task(ledger.board, task, SEAT))
    refused()
    assert leave(ledger.board, attempt, None) == [], "another attempt is held now"
    assert len(leave(ledger.board, live(ledger, task).id, None)) == 1
