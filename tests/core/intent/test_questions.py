"""Questions of agents: who may ask, what answers them, and what a turn that ends with one comes to."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from paddock.core import events as ev
from paddock.core.errors import Misuse, PaddockError
from paddock.core.ids import AttemptId, TaskId
from paddock.core.intent.questions import (
    MOST_QUESTION_BYTES,
    MOST_QUESTIONS,
    ask_person,
    declare_noop,
    find_answer,
    read_answer,
)
from paddock.core.intent.workers import NotForWorkers, Worker, require_events
from paddock.core.summary import Final, TurnSummary
from paddock.core.tasks.conversations import continued_attempt
from paddock.core.tasks.needs import Need, need_of, needs_of
from paddock.core.tasks.outcome import AttemptFacts, judge
from paddock.core.tasks.policy import decide_next
from paddock.core.tasks.task import Phase
from paddock.core.tasks.vocabulary import Outcome, Role, Step
from tests.core.ledger import Ledger

T1, FIRST = TaskId("t1"), AttemptId("t1.1")
AGENT = Worker("t1.1")
HEAD = "c" * 40


@pytest.fixture
def ledger() -> Ledger:
    """One agent at work."""
    ledger = Ledger()
    ledger.start(ledger.add())
    ledger.write(ev.Draft(ev.TurnStarted(1, "s-1", worktree="/r/w1"), T1, FIRST))
    return ledger


def ask(ledger: Ledger, text: str = "Which entity?") -> int:
    drafts = ask_person(ledger.board, AGENT, text)
    require_events(ledger.board, AGENT, drafts)
    return ledger.write(*drafts)[0].seq


def tell(ledger: Ledger, text: str = "the second", by: str = "ana@host") -> int:
    record = replace(ledger.write(ev.Draft(ev.NoopDeclared("x"), T1, FIRST))[0])
    told = replace(record, seq=record.seq + 1, actor=by, attempt=None, event=ev.MessageSent(text))
    ledger.board.apply(told)
    return told.seq


def end(ledger: Ledger) -> None:
    task, attempt = ledger.task("t1"), ledger.task("t1").live_attempt
    assert attempt is not None
    ledger.write(ev.Draft(ev.TurnEnded(1, exit=0, session="s-1"), T1, FIRST))
    verdict = judge(AttemptFacts(exit=0, summary=TurnSummary(final=Final.SUCCESS), commits=2, question="Which entity?"))
    then = decide_next(verdict, task, attempt, 0.0, 1.0)
    ended = ev.AttemptEnded(verdict.outcome, then.step, then.counted, verdict.reason, head=HEAD, unblock=then.unblock)
    ledger.write(ev.Draft(ended, T1, FIRST))


def test_a_task_whose_agent_has_asked_needs_an_answer_while_it_works_on(ledger: Ledger) -> None:
    ask(ledger, "Which\nentity? \x1b[2J")
    task = ledger.task("t1")
    assert (task.phase, need_of(task)) == (Phase.RUNNING, Need.ANSWER)
    assert (task.reason, task.unblock) == ("asks: Which entity? �[2J", 'paddock message t1 "…"')
    assert needs_of(ledger.board) == [T1]
    tell(ledger)
    task = ledger.task("t1")
    assert (need_of(task), task.reason, task.unblock) == (None, "", "")


def test_what_another_agent_says_is_no_answer(ledger: Ledger) -> None:
    question = ask(ledger)
    told = tell(ledger, by="agent:t2.1")
    assert ledger.task("t1").question == question
    assert ledger.task("t1").inbox == (told,)
    assert find_answer(ledger.board, FIRST, question) is None


def test_an_answer_that_was_waited_for_is_not_delivered_again(ledger: Ledger) -> None:
    tell(ledger, "before it asked")
    question = ask(ledger)
    assert find_answer(ledger.board, FIRST, question) is None
    told = tell(ledger)
    found = find_answer(ledger.board, FIRST, question)
    assert found == (told,)
    drafts = read_answer(ledger.board, FIRST, found)
    require_events(ledger.board, AGENT, drafts)
    ledger.write(*drafts)
    assert len(ledger.task("t1").inbox) == 1
    assert read_answer(ledger.board, FIRST, found) == [], "once"


def test_a_turn_that_ends_with_a_question_waits_for_its_answer_and_goes_on_with_it(ledger: Ledger) -> None:
    ask(ledger)
    end(ledger)
    task = ledger.task("t1")
    assert task.last is not None
    assert (task.phase, task.last.outcome, task.counted, task.head) == (Phase.BLOCKED, Outcome.ASKED, 0, None)
    assert (need_of(task), task.reason, task.unblock) == (
        Need.ANSWER,
        "asks: Which entity?",
        'paddock message t1 "…"',
    )
    ledger.write(ev.Draft(ev.MessageSent("the second"), T1))
    task = ledger.task("t1")
    assert (task.phase, need_of(task)) == (Phase.READY, None)
    assert continued_attempt(task, "claude", fresh=True) == task.last


def test_a_person_may_let_it_go_on_without_an_answer(ledger: Ledger) -> None:
    ask(ledger)
    end(ledger)
    ledger.write(ev.Draft(ev.TaskRetried(1), T1))
    task = ledger.task("t1")
    assert (task.phase, task.question, need_of(task)) == (Phase.READY, 0, None)
    assert continued_attempt(task, "claude", fresh=True) == task.last


@given(
    st.builds(
        AttemptFacts,
        exit=st.just(0),
        summary=st.just(TurnSummary(final=Final.SUCCESS)),
        commits=st.integers(0, 3),
        dirty=st.integers(0, 3),
        nothing_new=st.booleans(),
    )
)
def test_no_good_turn_delivers_anything_while_its_question_is_open(facts: AttemptFacts) -> None:
    from dataclasses import replace as changed

    assert judge(changed(facts, question="Which?")).outcome is Outcome.ASKED
    assert judge(facts).outcome is not Outcome.ASKED


def test_one_question_at_a_time_and_not_too_many(ledger: Ledger) -> None:
    for _ in range(MOST_QUESTIONS):
        ask(ledger)
        with pytest.raises(PaddockError, match="has not been answered"):
            ask(ledger)
        tell(ledger)
    with pytest.raises(PaddockError, match=f"has asked {MOST_QUESTIONS} questions"):
        ask(ledger)


@pytest.mark.parametrize("text", ["", " \n", "x" * (MOST_QUESTION_BYTES + 1), "a\0b", "\udce4"])
def test_a_question_is_some_words(ledger: Ledger, text: str) -> None:
    with pytest.raises(Misuse, match="the question"):
        ask(ledger, text)


def test_only_an_agent_asks_and_only_about_its_own_task(ledger: Ledger) -> None:
    for nobody in (None, Worker("run-r1")):
        with pytest.raises(Misuse, match="is for agents"):
            ask_person(ledger.board, nobody, "Which?")
    with pytest.raises(PaddockError, match=r"`t1\.2` has ended"):
        ask_person(ledger.board, Worker("t1.2"), "Which?")
    ledger.start(ledger.add())
    for event in (ev.QuestionAsked("Which?"), ev.NoopDeclared("no"), ev.MessagesRead((1,))):
        with pytest.raises(NotForWorkers):
            require_events(ledger.board, Worker("t2.1"), [ev.Draft(event, T1, FIRST)])
        with pytest.raises(NotForWorkers):
            require_events(ledger.board, Worker("run-r1"), [ev.Draft(event, T1, FIRST)])


def test_a_reviewer_neither_asks_nor_declares(ledger: Ledger) -> None:
    ledger.write(ev.Draft(ev.TurnEnded(1, exit=0), T1, FIRST))
    ledger.end(T1, "review", head=HEAD)
    ledger.start(T1, role=Role.REVIEW)
    for wish in (ask_person, declare_noop):
        with pytest.raises(PaddockError, match=r"`t1\.2` (reviews|only reads)"):
            wish(ledger.board, Worker("t1.2"), "Which?")


def test_a_declared_noop_counts_for_the_turn_it_was_said_in(ledger: Ledger) -> None:
    ledger.write(*declare_noop(ledger.board, AGENT, "it is\nthere"))
    live = ledger.task("t1").live_attempt
    assert live is not None
    assert live.noop == "it is there"
    ledger.write(ev.Draft(ev.TurnEnded(1, exit=0), T1, FIRST), ev.Draft(ev.TurnStarted(2), T1, FIRST))
    live = ledger.task("t1").live_attempt
    assert live is not None
    assert live.noop == ""


def test_steps_of_readers_know_a_question() -> None:
    from paddock.core.tasks.life import NEXT_PHASE_OF_READERS

    assert NEXT_PHASE_OF_READERS[Step.BLOCK] is Phase.BLOCKED
