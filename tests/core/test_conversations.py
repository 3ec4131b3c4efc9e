"""Which conversation goes on, and whose folder is left alone for it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from paddock.core import events as ev
from paddock.core.ids import AttemptId, TaskId
from paddock.core.tasks.conversations import (
    Homes,
    continued_attempt,
    find_homes,
    memories_in_use,
    memory_of_turn,
    resumable_session,
)
from paddock.core.tasks.task import Attempt, Phase
from paddock.core.tasks.vocabulary import CONTINUES, RESUMED, UNBEGUN, EndedBy, Outcome, Step
from tests.core.ledger import Ledger

HEAD = "c" * 40


@pytest.fixture
def ledger() -> Ledger:
    return Ledger()


def work(ledger: Ledger, folder: str, session: str | None = "s") -> tuple[TaskId, AttemptId]:
    """A task with an attempt whose first turn has begun in `folder`."""
    task = ledger.add()
    attempt = ledger.start(task)
    ledger.write(ev.Draft(ev.TurnStarted(1, session, worktree=folder), task, attempt))
    return task, attempt


def end(ledger: Ledger, task: TaskId, attempt: AttemptId, step: str, outcome: str = "delivered") -> None:
    ledger.write(ev.Draft(ev.TurnEnded(1, exit=0), task, attempt))
    ended = ev.AttemptEnded(Outcome(outcome), Step(step), counted=False, head=HEAD, base="b" * 40)
    ledger.write(ev.Draft(ended, task, attempt))


def test_the_log_says_where_a_conversation_lives(ledger: Ledger) -> None:
    task, attempt = work(ledger, "/r/w1")
    end(ledger, task, attempt, "approval")
    last = ledger.task(task).last
    assert last is not None
    assert (last.worktree, last.session) == ("/r/w1", "s")


def test_a_conversation_that_begins_is_kept_apart_and_one_that_goes_on_stays_where_it_is(ledger: Ledger) -> None:
    _, first = work(ledger, "/r/w1")
    attempt = Attempt(first, "scripted", "b", "c", 0.0)
    assert memory_of_turn(attempt, begins=False) == first
    assert memory_of_turn(replace(attempt, memory="t7.1"), begins=False) == "t7.1"
    assert memory_of_turn(replace(attempt, memory="t7.1"), begins=True) == first
    later = replace(attempt, memory=first, turn=2)
    assert memory_of_turn(later, begins=False) == first
    assert memory_of_turn(later, begins=True) == f"{first}-3"


def test_what_is_kept_of_a_conversation_is_needed_until_its_task_has_finished(ledger: Ledger) -> None:
    ended: dict[str, TaskId] = {}
    for name, step in (("kept", "approval"), ("over", "noop"), ("cancelled", "approval")):
        task = ended[name] = ledger.add()
        attempt = ledger.start(task)
        ledger.write(ev.Draft(ev.TurnStarted(1, "s", memory=name), task, attempt))
        end(ledger, task, attempt, step)
    ledger.write(ev.Draft(ev.TaskCancelled(), task=ended["cancelled"]))
    task = ledger.add()
    ledger.write(ev.Draft(ev.TurnStarted(1, memory="live"), task, ledger.start(task)))
    assert memories_in_use(ledger.board) == {"kept": False, "live": True}


def test_folders_of_unfinished_tasks_are_kept_and_the_least_wanted_comes_first(ledger: Ledger) -> None:
    for folder, step in (("/r/w1", "approval"), ("/r/w2", "fail"), ("/r/w3", "block"), ("/r/w4", "retry")):
        end(ledger, *work(ledger, folder), step)
    work(ledger, "/r/w5")
    work(ledger, "/r/w6", session=None)
    assert find_homes(ledger.board) == Homes(frozenset({"/r/w4", "/r/w5", "/r/w6"}), ("/r/w2", "/r/w3", "/r/w1"))


def test_what_is_finished_or_has_no_conversation_frees_its_folder(ledger: Ledger) -> None:
    end(ledger, *work(ledger, "/r/w1"), "noop")
    task, attempt = work(ledger, "/r/w2")
    end(ledger, task, attempt, "approval")
    ledger.write(ev.Draft(ev.TaskCancelled(), task=task))
    end(ledger, *work(ledger, "/r/w3", session=None), "approval")
    assert find_homes(ledger.board) == Homes()


def test_a_new_conversation_forgets_the_session_and_what_it_had_used(ledger: Ledger) -> None:
    task, attempt = work(ledger, "/r/w1")
    lost = ev.TurnEnded(1, exit=1, input_tokens=70, output_tokens=5, cost_usd=0.5, session_lost="no such session")
    ledger.write(ev.Draft(lost, task, attempt))
    before = ledger.task(task).last
    assert before is not None
    assert before.session_lost == "no such session"
    ledger.write(ev.Draft(ev.TurnStarted(2, worktree="/r/w2", new_conversation="it is gone"), task, attempt))
    last = ledger.task(task).last
    assert last is not None
    assert (last.session, last.session_lost, last.new_conversation) == (None, "", "it is gone")
    assert (last.worktree, last.moved_from) == ("/r/w2", "/r/w1")
    assert (last.conversation_used, last.conversation_cost) == ((0, 0, 0, 0), 0.0)
    assert (last.input_tokens, last.cost_usd) == (70, 0.5), "what the attempt has used stays counted"


def attempt_with(outcome: Outcome, **fields: Any) -> Attempt:
    told = {"outcome": outcome.value, "ended": 1.0, **fields}
    return Attempt(AttemptId("t1.1"), "claude", "b", "base", 0.0, **told)


@given(st.sampled_from(Outcome), st.booleans(), st.booleans())
def test_only_a_failure_is_started_afresh_when_that_is_asked_for(
    outcome: Outcome, fresh: bool, continued: bool
) -> None:
    ledger = Ledger()
    task = ledger.task(ledger.add())
    last = attempt_with(outcome, turn=1, continues=AttemptId("t1.0") if continued else None)
    found = continued_attempt(replace(task, attempts=(last,), phase=Phase.READY), "claude", fresh=fresh)
    expected = outcome in CONTINUES or (outcome in RESUMED and not fresh) or (outcome in UNBEGUN and continued)
    assert (found is last) == expected
    told = replace(task, attempts=(last,), phase=Phase.READY, inbox=(7,))
    assert continued_attempt(told, "claude", fresh=fresh) is last, "a message is never said to somebody else"


def test_a_conversation_that_could_not_be_resumed_is_not_tried_for_ever() -> None:
    failed = attempt_with(Outcome.CRASHED, session="s", turn=1, continues=AttemptId("t1.0"))
    assert resumable_session(failed) is None
    first = attempt_with(Outcome.CRASHED, session="s", turn=1)
    assert resumable_session(first) == "s", "the crash of a first turn says nothing of resuming"
    worked = attempt_with(Outcome.CRASHED, session="s", turn=1, continues=AttemptId("t1.0"), steps=3)
    assert resumable_session(worked) == "s"
    unstartable = attempt_with(
        Outcome.NEVER_RAN, session="s", turn=1, continues=AttemptId("t1.0"), ended_by=EndedBy.UNSTARTABLE
    )
    assert resumable_session(unstartable) == "s"
