"""A new task from another's branch and conversation: what is recorded, what it inherits, where it is refused."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.core import events as ev
from paddock.core.errors import Misuse, PaddockError
from paddock.core.ids import TaskId
from paddock.core.intent.forks import ForkSpec, follow_up, fork_task, needs_follow_up, told_of_follow_up
from paddock.core.intent.tasks import Known
from paddock.core.tasks.conversations import memory_of_turn
from paddock.core.tasks.task import Attempt, Phase
from paddock.core.tasks.vocabulary import Role
from tests.core.ledger import Ledger

KNOWN = Known(frozenset({"fixer", "tester"}), frozenset({"claude", "codex"}))


@pytest.fixture
def ledger() -> Ledger:
    return Ledger()


def add(ledger: Ledger, **fields: object) -> TaskId:
    name = TaskId(f"t{ledger.board.next_task}")
    ledger.write(ev.Draft(ev.TaskAdded(**{"title": "One", "brief": "Do it.", **fields}), name))  # type: ignore[arg-type]
    return name


def forked(ledger: Ledger, name: TaskId, spec: ForkSpec) -> ev.TaskAdded:
    added = [draft.event for draft in fork_task(ledger.board, name, spec, KNOWN)][-1]
    assert isinstance(added, ev.TaskAdded)
    return added


def test_a_fork_is_like_the_other_unless_it_is_told(ledger: Ledger) -> None:
    ledger.write(ev.Draft(ev.ConvoyAdded("c")))
    name = add(
        ledger, agent="fixer", engine="codex", convoy="c", paths=("src/*",), labels=("x",), task_kind="docs", priority=3
    )
    ledger.start(name)
    added = forked(ledger, name, ForkSpec("Go on.\nWith care."))
    assert (added.title, added.brief, added.forks) == ("Go on.", "Go on.\nWith care.", f"{name}.1")
    assert (added.agent, added.engine, added.convoy, added.priority) == ("fixer", "codex", "c", 3)
    assert (added.paths, added.labels, added.task_kind, added.after) == (("src/*",), ("x",), "docs", ())
    other = forked(
        ledger,
        name,
        ForkSpec(
            "x",
            agent="tester",
            engine="claude",
            kind="code",
            paths=(),
            labels=(),
            role=Role.REPORT,
            priority=0,
            after=(name,),
        ),
    )
    assert (other.agent, other.engine, other.paths, other.labels, other.priority) == ("tester", "claude", (), (), 0)
    assert (other.role, other.after, other.task_kind) == (Role.REPORT, (name,), "code")


def test_what_no_agent_has_worked_on_cannot_be_forked(ledger: Ledger) -> None:
    name = add(ledger)
    with pytest.raises(PaddockError, match="`t1` has had no agent yet: there is nothing to fork"):
        fork_task(ledger.board, name, ForkSpec("Go on."), KNOWN)
    ledger.start(name)
    with pytest.raises(Misuse, match="brief"):
        fork_task(ledger.board, name, ForkSpec("  "), KNOWN)
    with pytest.raises(Misuse, match="agent"):
        fork_task(ledger.board, name, ForkSpec("x", agent="nobody"), KNOWN)


def test_only_what_has_landed_or_was_cancelled_needs_a_follow_up(ledger: Ledger) -> None:
    name = add(ledger)
    assert not needs_follow_up(ledger.task(name)), "it has had no agent"
    never = add(ledger)
    ledger.write(ev.Draft(ev.TaskCancelled(), never))
    assert not needs_follow_up(ledger.task(never)), "it never had one"
    ledger.start(name)
    with pytest.raises(PaddockError, match="`t1` is running: it needs no follow-up task"):
        follow_up(ledger.board, name, "and now?", KNOWN)
    ledger.write(ev.Draft(ev.TaskCancelled(), name))
    assert ledger.task(name).phase is Phase.CANCELLED
    [draft] = follow_up(ledger.board, name, "and now?", KNOWN, attempts=2)
    assert isinstance(draft.event, ev.TaskAdded)
    assert (draft.event.forks, draft.event.brief, draft.event.attempts) == ("t1.1", "and now?", 2)
    assert told_of_follow_up(ledger.task(name), TaskId("t2")) == "t1 was cancelled: its agent goes on in t2"
    assert told_of_follow_up(ledger.task(name), None) == "t1 was cancelled: its agent would go on in a new task"


def start_fork(ledger: Ledger) -> Attempt:
    origin = add(ledger)
    ledger.start(origin)
    ledger.write(*fork_task(ledger.board, origin, ForkSpec("Go on."), KNOWN))
    fork = TaskId("t2")
    started = ev.AttemptStarted("claude", "b" * 40, "paddock/t2", session="theirs", memory="t1.1", fork=True)
    ledger.write(ev.Draft(started, fork, "t2.1"))  # type: ignore[arg-type]
    live = ledger.task(fork).live_attempt
    assert live is not None
    return live


def turn(ledger: Ledger, number: int, session: str | None, **fields: object) -> Attempt:
    live = ledger.task(TaskId("t2")).live_attempt
    assert live is not None
    begun = ev.TurnStarted(number, live.session, memory=memory_of_turn(live, begins=False), **fields)  # type: ignore[arg-type]
    ledger.write(ev.Draft(begun, TaskId("t2"), live.id))
    ledger.write(ev.Draft(ev.TurnEnded(number, exit=0, session=session), TaskId("t2"), live.id))
    after = ledger.task(TaskId("t2")).live_attempt
    assert after is not None
    return after


def test_the_others_conversation_is_forked_until_the_engine_has_named_the_copy(ledger: Ledger) -> None:
    assert start_fork(ledger).fork
    unnamed = turn(ledger, 1, None)
    assert (unnamed.fork, unnamed.session, unnamed.memory) == (True, "theirs", "t2.1"), "killed before it said a word"
    named = turn(ledger, 2, "own")
    assert (named.fork, named.session, named.memory) == (False, "own", "t2.1")
    assert not turn(ledger, 3, "own").fork


def test_a_fork_that_begins_a_conversation_of_its_own_no_longer_copies_one(ledger: Ledger) -> None:
    start_fork(ledger)
    own = turn(ledger, 1, "own", new_conversation="it is gone")
    assert (own.fork, own.session) == (False, "own")


words = st.text(string.ascii_letters + " \n", min_size=1, max_size=80).filter(str.strip)
maybe = st.none()


@given(
    st.builds(
        ForkSpec,
        words,
        title=maybe | st.text(string.ascii_letters, min_size=1, max_size=20),
        agent=maybe | st.sampled_from(sorted(KNOWN.agents)),
        engine=maybe | st.sampled_from(sorted(KNOWN.engines)),
        labels=maybe | st.sets(st.sampled_from("abc")).map(tuple),
        paths=maybe | st.sets(st.sampled_from(("src/*", "docs/*"))).map(tuple),
        convoy=maybe | st.sampled_from(("c", "d")),
        role=maybe | st.sampled_from(Role),
        priority=maybe | st.integers(-5, 5),
    )
)
def test_whatever_is_asked_for_the_other_task_is_not_touched(spec: ForkSpec) -> None:
    ledger = Ledger()
    ledger.write(ev.Draft(ev.ConvoyAdded("c")))
    name = add(ledger, agent="fixer", labels=("z",), convoy="c")
    ledger.start(name)
    before = ledger.task(name)
    drafts = fork_task(ledger.board, name, spec, KNOWN)
    ledger.write(*drafts)
    assert ledger.task(name) is before
    new = ledger.task(TaskId("t2"))
    assert new.forks == f"{name}.1"
    assert new.agent == (spec.agent or "fixer")
    assert new.convoy == (spec.convoy or "c")
    assert new.labels == (("z",) if spec.labels is None else spec.labels)
    assert (new.phase, new.attempts, new.branch) == (Phase.READY, (), None)
