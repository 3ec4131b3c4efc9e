"""What the events of a task make of it; which may happen when is in test_life_table.py."""

import msgspec
import pytest

from paddock.core import events as ev
from paddock.core.errors import IllegalTransition
from paddock.core.tasks.life import KEPT_ATTEMPTS
from paddock.core.tasks.task import Phase
from paddock.core.tasks.vocabulary import EndedBy, Outcome, Step
from paddock.store.codec import body_of, decode_event
from tests.core.ledger import Ledger

HEAD = "c" * 40


@pytest.fixture
def ledger() -> Ledger:
    return Ledger()


def test_approval_is_for_the_head_that_was_seen(ledger: Ledger) -> None:
    task = ledger.add()
    ledger.attempt(task, "approval", head=HEAD)
    for verdict in (ev.TaskApproved("d" * 40), ev.TaskRejected("d" * 40)):
        with pytest.raises(IllegalTransition):
            ledger.write(ev.Draft(verdict, task=task))
    ledger.write(ev.Draft(ev.TaskApproved(HEAD), task=task))
    assert ledger.task(task).approved == HEAD


def test_a_rejected_task_gets_a_further_attempt_and_is_told_why(ledger: Ledger) -> None:
    task = ledger.add(attempts=1)
    ledger.attempt(task, "approval", head=HEAD)
    (record,) = ledger.write(ev.Draft(ev.TaskRejected(HEAD, "no tests"), task=task))
    rejected = ledger.task(task)
    assert (rejected.phase, rejected.allowed, rejected.inbox) == (Phase.READY, 2, (record.seq,))
    assert rejected.approved is None


def test_a_message_wakes_an_idle_task_and_is_delivered_once(ledger: Ledger) -> None:
    task = ledger.add(attempts=1)
    ledger.attempt(task, "fail")
    (sent,) = ledger.write(ev.Draft(ev.MessageSent("try harder"), task=task))
    assert (ledger.task(task).phase, ledger.task(task).allowed) == (Phase.READY, 2)
    attempt = ledger.start(task)
    ledger.write(ev.Draft(ev.TurnStarted(1, messages=(sent.seq,)), task=task, attempt=attempt))
    assert ledger.task(task).inbox == ()


def test_turns_alternate_and_their_numbers_grow_by_one(ledger: Ledger) -> None:
    task = ledger.add()
    attempt = ledger.start(task)

    def turn(event: ev.Event) -> None:
        ledger.write(ev.Draft(event, task=task, attempt=attempt))

    for too_early in (ev.TurnStarted(2), ev.TurnEnded(1)):
        with pytest.raises(IllegalTransition):
            turn(too_early)
    turn(ev.TurnStarted(1))
    for wrong in (ev.TurnStarted(2), ev.TurnEnded(2), ev.AttemptEnded(Outcome.DELIVERED, Step.NOOP, True)):
        with pytest.raises(IllegalTransition):
            turn(wrong)
    turn(ev.TurnEnded(1, exit=0))
    turn(ev.TurnStarted(2))
    turn(ev.TurnEnded(2, exit=1))
    turn(ev.AttemptEnded(Outcome.CRASHED, Step.RETRY, True))
    assert ledger.task(task).phase is Phase.READY


def test_what_turns_used_adds_up_and_an_unpriced_turn_is_not_free(ledger: Ledger) -> None:
    task = ledger.add()
    attempt = ledger.start(task)
    for number, cost in ((1, 0.5), (2, None), (3, 0.25)):
        ledger.write(
            ev.Draft(ev.TurnStarted(number), task=task, attempt=attempt),
            ev.Draft(ev.TurnEnded(number, exit=0, input_tokens=10, cost_usd=cost), task=task, attempt=attempt),
        )
    found = ledger.task(task).attempts[0]
    assert (found.input_tokens, found.cost_usd) == (30, 0.75)


def test_the_board_knows_how_much_an_ended_attempt_has_changed(ledger: Ledger) -> None:
    task = ledger.add()
    attempt = ledger.start(task)
    ended = ev.AttemptEnded(
        Outcome.DELIVERED, Step.APPROVAL, True, head="a" * 40, commits=1, files=2, insertions=12, deletions=3
    )
    ledger.write(ev.Draft(ended, task=task, attempt=attempt))
    found = ledger.task(task).attempts[0]
    assert (found.files, found.insertions, found.deletions) == (2, 12, 3)


def test_a_cancelled_task_stays_cancelled_when_its_agent_ends(ledger: Ledger) -> None:
    task = ledger.add()
    ledger.start(task)
    ledger.write(ev.Draft(ev.TaskCancelled(), task=task))
    ledger.end(task, "approval", head=HEAD)
    assert ledger.task(task).phase is Phase.CANCELLED
    assert ledger.task(task).attempts[0].head == HEAD


def test_a_cancelled_task_is_not_retried_before_its_agent_has_ended(ledger: Ledger) -> None:
    task = ledger.add()
    ledger.start(task)
    ledger.write(ev.Draft(ev.TaskCancelled(), task=task))
    with pytest.raises(IllegalTransition):
        ledger.write(ev.Draft(ev.TaskRetried(1), task=task))


def test_an_attempt_that_does_not_count_uses_up_nothing(ledger: Ledger) -> None:
    task = ledger.add()
    ledger.start(task)
    ledger.end(task, "retry", counted=False)
    assert (ledger.task(task).started, ledger.task(task).counted) == (1, 0)


def test_old_attempts_are_forgotten_but_their_numbers_are_not(ledger: Ledger) -> None:
    task = ledger.add()
    for _ in range(KEPT_ATTEMPTS + 3):
        ledger.attempt(task, "retry")
    found = ledger.task(task)
    assert len(found.attempts) == KEPT_ATTEMPTS
    assert found.attempts[-1].id == f"t1.{KEPT_ATTEMPTS + 3}"
    assert ledger.start(task) == f"t1.{KEPT_ATTEMPTS + 4}"


def test_an_attempt_can_only_end_in_ways_that_have_a_next_phase() -> None:
    body = b'{"outcome": "delivered", "next": "%s", "counted": true}'
    assert decode_event("attempt.ended", body % b"noop") == ev.AttemptEnded(Outcome.DELIVERED, Step.NOOP, True)
    with pytest.raises(msgspec.DecodeError, match="celebrate"):
        decode_event("attempt.ended", body % b"celebrate")


def test_the_words_of_a_life_stand_in_the_log_as_they_always_did() -> None:
    """Nothing is renamed: an enum's member is the very text that older logs hold."""
    ended = ev.TurnEnded(1, exit=-15, ended_by=EndedBy.STOP)
    assert decode_event("turn.ended", b'{"turn": 1, "exit": -15, "ended_by": "stop"}') == ended
    assert body_of(ended) == b'{"turn":1,"exit":-15,"ended_by":"stop"}'
    assert b"ended_by" not in body_of(ev.TurnEnded(1)), "one that ended by itself says nothing about it"
