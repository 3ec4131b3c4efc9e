"""A task may say what kind of work it is; who takes that kind gets it, and estimates are kept by it."""

import pytest

from paddock.core import events as ev
from paddock.core.errors import Misuse
from paddock.core.ids import TaskId
from paddock.core.intent.tasks import Batch, Known, TaskSpec, add_tasks, edit_task
from paddock.core.money.spending import kind_of_work
from paddock.core.routing import RosterAgent
from paddock.store.codec import body_of, decode_event
from tests.core.ledger import Ledger

ROSTER = (RosterAgent("writer", kinds=("docs",)), RosterAgent("tester", kinds=("tests",)))
KNOWN = Known(frozenset({"writer", "tester"}), frozenset({"claude"}), ROSTER)
T1 = TaskId("t1")


def add(ledger: Ledger, spec: TaskSpec, known: Known = KNOWN, convoy: str | None = None) -> None:
    ledger.write(*add_tasks(ledger.board, Batch((spec,), convoy), known))


def test_a_task_goes_to_the_agent_that_takes_its_kind() -> None:
    ledger = Ledger()
    add(ledger, TaskSpec("x", kind="docs"))
    assert (ledger.task("t1").agent, ledger.task("t1").kind) == ("writer", "docs")


def test_an_agent_that_is_named_wins_over_the_one_that_takes_the_kind() -> None:
    ledger = Ledger()
    add(ledger, TaskSpec("x", kind="docs", agent="tester"))
    assert (ledger.task("t1").agent, ledger.task("t1").kind) == ("tester", "docs")


def test_a_kind_nobody_takes_is_refused_once_agents_say_what_they_take() -> None:
    with pytest.raises(Misuse, match="there is no kind `dosc`"):
        add(Ledger(), TaskSpec("x", kind="dosc"))
    ledger = Ledger()
    add(ledger, TaskSpec("x", kind="dosc"), Known())
    assert (ledger.task("t1").agent, ledger.task("t1").kind) == (None, "dosc")


def test_an_edited_kind_brings_its_agent() -> None:
    ledger = Ledger()
    add(ledger, TaskSpec("x", kind="docs"))
    ledger.write(*edit_task(ledger.board, T1, ev.TaskEdited(task_kind="tests"), KNOWN))
    assert (ledger.task("t1").agent, ledger.task("t1").kind) == ("tester", "tests")
    ledger.write(*edit_task(ledger.board, T1, ev.TaskEdited(task_kind=None), KNOWN))
    assert (ledger.task("t1").agent, ledger.task("t1").kind) == ("tester", None)


def test_estimates_are_kept_by_kind_and_else_by_convoy() -> None:
    ledger = Ledger()
    for number, spec in enumerate((TaskSpec("x", kind="docs"), TaskSpec("x")), 1):
        add(ledger, spec, convoy="red")
        assert kind_of_work(ledger.task(f"t{number}")) == ("docs", "red")[number - 1]


def test_the_log_calls_it_a_kind_like_everything_that_people_see() -> None:
    """An event has a kind of its own, so in the code its task's goes by another name."""
    added = ev.TaskAdded("x", "y", task_kind="docs")
    assert body_of(added) == b'{"title":"x","brief":"y","kind":"docs"}'
    assert decode_event("task.added", body_of(added)) == added
    assert decode_event("task.edited", b'{"kind":null}') == ev.TaskEdited(task_kind=None)
