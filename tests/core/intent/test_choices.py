"""What is offered is what the intents grant, on any board."""

from collections.abc import Callable, Sequence
from functools import partial

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from paddock.core import events as ev
from paddock.core.board import Board
from paddock.core.errors import IllegalTransition, PaddockError
from paddock.core.ids import TaskId
from paddock.core.intent import holds
from paddock.core.intent import tasks as intent
from paddock.core.intent.choices import Choice, choices_of
from paddock.core.intent.landing import conflict_to_resolve, reject_task
from paddock.core.intent.messages import send_message
from paddock.core.intent.obstacles import TaskAction, possible_actions, require_possible
from paddock.core.intent.queue import QueueSwitch, switch_queue
from paddock.core.merge import events as qe
from paddock.core.merge.model import Change
from paddock.core.review.plan import ReviewPolicy
from paddock.core.snapshot import decode_board, encode_board
from paddock.core.tasks.task import Phase
from tests.core.ledger import Ledger
from tests.core.review.loop import Loop, finds
from tests.core.test_board_machine import HEAD, KNOWN, SEAT, Fleet

T1 = TaskId("t1")
NEWER = "d" * 40


def allowed(choices: Sequence[Choice], action: str) -> bool:
    return next(choice.allowed for choice in choices if choice.action == action)


def why(choices: Sequence[Choice], action: str) -> str:
    return next(choice.why for choice in choices if choice.action == action)


def granted(ledger: Ledger, decide: Callable[[], Sequence[ev.Draft]]) -> bool:
    """Whether the intent grants it, and the log too."""
    try:
        drafts = decide()
    except PaddockError:
        return False
    copy = Ledger()
    copy.board = decode_board(encode_board(ledger.board))
    try:
        copy.write(*drafts)
    except IllegalTransition:
        return False
    return True


def resolve(board: Board, name: TaskId) -> list[ev.Draft]:
    """Records nothing: it opens a worktree."""
    conflict_to_resolve(board, name)
    return []


def hand_back(board: Board, name: TaskId) -> list[ev.Draft]:
    live = board.tasks[name].live_attempt
    ended = ev.TurnEnded(live.turn, exit=0) if live is not None and live.interactive else None
    return holds.hand_back(board, name, "ana@host", "", ended)


class Choosing(Fleet):
    """The fleet of the board's own test, and a person who looks at each task in turn."""

    @rule(switch=st.sampled_from(QueueSwitch))
    def switch_the_queue(self, switch: QueueSwitch) -> None:
        self.ledger.write(*switch_queue(switch))

    @rule()
    def halt_the_queue(self) -> None:
        self.ledger.write(ev.Draft(qe.QueueHalted("main is red")))

    @invariant()
    def what_is_offered_is_granted_and_nothing_else(self) -> None:
        board = self.board
        for name in [*board.tasks][board.seq % 3 :: 3]:
            task = board.tasks[name]
            asked = {
                TaskAction.CANCEL: lambda name=name: intent.cancel_tasks(board, [name], ""),
                TaskAction.RETRY: lambda name=name: intent.retry_tasks(board, [name], 1, ""),
                TaskAction.STOP: lambda name=name: intent.stop_tasks(board, [name], ""),
                TaskAction.MESSAGE: lambda name=name: send_message(board, [name], "hello"),
                TaskAction.EDIT: lambda name=name: intent.edit_task(board, name, ev.TaskEdited(priority=1), KNOWN),
                TaskAction.REJECT: lambda name=name: reject_task(board, name, "not so"),
                TaskAction.RESOLVE: lambda name=name: resolve(board, name),
                TaskAction.CONNECT: lambda name=name: holds.hold_task(board, name, SEAT),
                TaskAction.HANDBACK: lambda name=name: hand_back(board, name),
            }
            choices = choices_of(board, task)
            for action, decide in asked.items():
                assert allowed(choices, action) == granted(self.ledger, decide), (action, task)
            assert {choice.action for choice in choices if choice.allowed} == set(possible_actions(board, task))
            assert all(choice.why for choice in choices)

    @invariant()
    def an_approval_is_offered_where_only_git_could_refuse_it(self) -> None:
        for name in self.board.tasks:
            task = self.board.tasks[name]
            offered = allowed(choices_of(self.board, task), "approve")
            assert offered == (bool(task.attempts) and granted(self.ledger, partial(self.approve, name))), task

    def approve(self, name: TaskId) -> Sequence[ev.Draft]:
        """What an approval records of a branch that has something new."""
        task = self.board.tasks[name]
        head = HEAD if task.phase is Phase.APPROVAL else NEWER
        change = Change(name, self.board.seq, head, "b" * 40, task=name)
        revised = [] if head == task.head else [ev.Draft(ev.ChangeRevised(head, "b" * 40), task=name)]
        approved = ev.Draft(ev.TaskApproved(head), task=name)
        return [*revised, approved, ev.Draft(qe.ChangeQueued(change), task=name)]


TestChoosing = Choosing.TestCase
TestChoosing.settings = settings(
    max_examples=50, stateful_step_count=30, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


@pytest.fixture
def ledger() -> Ledger:
    return Ledger()


def deliver(ledger: Ledger) -> TaskId:
    task = ledger.add()
    ledger.attempt(task, "approval", head=HEAD)
    return task


def test_a_running_task_says_what_a_message_a_stop_and_an_edit_would_do(ledger: Ledger) -> None:
    task = ledger.add()
    ledger.start(task)
    choices = choices_of(ledger.board, ledger.task(task))
    assert why(choices, "message") == "the agent hears it at the end of its turn, or sooner if its engine can"
    assert why(choices, "stop") == "ends t1.1; its worktree and its commits are kept"
    assert why(choices, "edit").endswith("brief, agent, engine and kind are fixed until t1.1 ends")
    assert why(choices, "approve") == "it is running: there is nothing to land"
    assert why(choices, "retry") == "it is running: there is nothing to retry"
    ledger.write(*intent.stop_tasks(ledger.board, [task], ""))
    assert why(choices_of(ledger.board, ledger.task(task)), "stop") == "t1.1 is already being stopped"


def test_a_message_to_an_agent_that_waits_for_an_option_is_offered_as_the_answer(ledger: Ledger) -> None:
    task = ledger.add()
    started = ledger.start(task)
    ledger.write(ev.Draft(ev.QuestionAsked("May I run this?", ("yes", "no"), "r1"), task, started))
    choices = choices_of(ledger.board, ledger.task(task))
    assert why(choices, "message") == "answers what it waits for: one of the options"


def test_a_task_without_an_agent_says_what_to_do_instead(ledger: Ledger) -> None:
    choices = choices_of(ledger.board, ledger.task(ledger.add()))
    assert why(choices, "message") == "it has no agent yet: change its brief instead"
    assert why(choices, "diff") == "it has had no agent yet"
    assert why(choices, "stop") == "it is ready: no agent is working on it"


def test_a_cancellation_names_whom_it_blocks(ledger: Ledger) -> None:
    ledger.add()
    ledger.add(after=["t1"])
    assert why(choices_of(ledger.board, ledger.task("t1")), "cancel") == (
        "closes the task; its commits are kept; blocks t2"
    )


def test_a_task_that_another_one_blocks_names_it(ledger: Ledger) -> None:
    ledger.add()
    ledger.add(after=["t1"])
    ledger.write(*intent.cancel_tasks(ledger.board, [T1], ""))
    told = why(choices_of(ledger.board, ledger.task("t2")), "retry")
    assert told == "it depends on t1, which was cancelled: run `paddock retry t1`, or `paddock edit t2 --after …`"


def test_who_approved_a_queued_task_is_told_to_the_next_who_wants_to(ledger: Ledger) -> None:
    task = deliver(ledger)
    assert why(choices_of(ledger.board, ledger.task(task)), "approve").startswith("queues cccccccccc; it lands when")
    change = Change(task, 1, HEAD, "b" * 40, task=task, approved_by="ana@desk")
    ledger.write(ev.Draft(qe.ChangeQueued(change), task=task))
    assert why(choices_of(ledger.board, ledger.task(task)), "approve") == (
        "it is already in the merge queue, approved by ana@desk"
    )
    assert why(choices_of(ledger.board, ledger.task(task)), "message") == "it is queued: its agent is gone"
    with pytest.raises(PaddockError, match="task `t1` is already in the merge queue, approved by ana@desk"):
        require_possible(ledger.board, ledger.task(task), TaskAction.APPROVE)


def test_what_git_may_still_refuse_is_said_with_the_offer(ledger: Ledger) -> None:
    task = ledger.add()
    ledger.attempt(task, "fail")
    assert ledger.task(task).phase is Phase.FAILED
    assert why(choices_of(ledger.board, ledger.task(task)), "approve") == (
        "queues what its branch has now, if that is not in main yet and merges"
    )


def test_a_retry_of_a_blocked_review_is_offered_as_what_it_is() -> None:
    loop = Loop(ReviewPolicy(reviewers=("ann",), rounds=1), {"ann": finds("it loses data")})
    loop.run()
    [retry] = [one for one in choices_of(loop.board, loop.now) if one.action == "retry"]
    assert (retry.allowed, retry.why) == (True, "has its change reviewed again")
