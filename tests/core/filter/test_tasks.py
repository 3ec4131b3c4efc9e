"""Filters over a board find what they say, and look only at tasks that can match."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddock.core import events as ev
from paddock.core.board import Board
from paddock.core.filter.evaluate import compile_filter
from paddock.core.filter.fields import FIELDS, SEARCHED, Values
from paddock.core.filter.tasks import Signs, TaskFilter, find_candidates, task_readers
from paddock.core.filter.tree import Filter
from paddock.core.ids import TaskId
from paddock.core.intent.selection import Bulk, Selection, pick_tasks, select_tasks
from paddock.core.tasks.vocabulary import Outcome, Step
from tests.core.filter.trees import trees
from tests.core.ledger import START, Ledger

HOUR = 3600.0


def make_ledger() -> Ledger:
    """t1 landed long ago, t2 works, t3 has crashed and failed, t4 waits for approval, t5 for t2, t6 for nobody."""
    ledger = Ledger()
    ledger.write(ev.Draft(ev.ConvoyAdded("Types")))

    def add(title: str, **fields: object) -> TaskId:
        new = TaskId(f"t{ledger.board.next_task}")
        ledger.write(ev.Draft(ev.TaskAdded(title, "do it", **fields), task=new))  # type: ignore[arg-type]
        return new

    add("Fix the parser", agent="fixer", labels=("area/core", "small"))
    ledger.attempt(TaskId("t1"), "noop")
    ledger.waited_seconds = 2 * HOUR
    add("Type invoices", agent="typer", convoy="Types", engine="codex", task_kind="types")
    add("Type sessions", agent="typer", convoy="Types", priority=5)
    add("Parse durations", labels=("area/api",))
    add("After the types", after=(TaskId("t2"),), convoy="Types")
    add("Read the docs")
    ledger.start(TaskId("t2"))
    attempt = ledger.start(TaskId("t3"))
    crashed = ev.AttemptEnded(Outcome.CRASHED, Step.FAIL, True, reason="exit 1")
    ledger.write(ev.Draft(crashed, task=TaskId("t3"), attempt=attempt))
    ledger.attempt(TaskId("t4"), "approval", head="h")
    ledger.waited_seconds = 3 * HOUR
    return ledger


LEDGER = make_ledger()
NOW = START + 3 * HOUR + 20
SIGNS = {"t2.1": Signs("pytest -q", "quiet for 6m", 1.75)}


def found(text: str, board: Board = LEDGER.board) -> str:
    return " ".join(TaskFilter.parse(text, NOW, SIGNS).pick(board))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", "t1 t2 t3 t4 t5 t6"),
        ("phase=failed and agent=typer", "t3"),
        ("phase=ready,waiting", "t5 t6"),
        ("phase!=noop -phase=ready", "t2 t3 t4 t5"),
        ("not (phase=noop or convoy=types)", "t4 t6"),
        ("outcome=crashed", "t3"),
        ("outcome=crash*,deliv*", "t1 t3 t4"),
        ('outcome=""', "t2 t5 t6"),
        ("engine=CODEX", "t2"),
        ("engine=claude", "t1 t3 t4"),
        ("label=area/*", "t1 t4"),
        ('label=""', "t2 t3 t5 t6"),
        ("agent=ty*", "t2 t3"),
        ("kind=types", "t2"),
        ("age>2h", "t1"),
        ("age<=2h", "t2 t3 t4 t5 t6"),
        ("since>90m", "t1"),
        ("cost>1.50", "t2"),
        ('cost=""', "t1 t3 t4 t5 t6"),
        ("not cost>1", "t1 t3 t4 t5 t6"),
        ("attempts>=1 need=*", "t3 t4"),
        ("priority>0", "t3"),
        ("id=t2-t4,t6", "t2 t3 t4 t6"),
        ("t2-t4 -t3", "t2 t4"),
        ("t4-t999999999", "t4 t5 t6"),
        ("id>=t5", "t5 t6"),
        ("after=t2", "t5"),
        ("need=approve", "t4"),
        ("stuck", "t2"),
        ("-stuck convoy=types", "t3 t5"),
        ("pytest", "t2"),
        ("pars", "t1 t4"),
        ("type*s sess", "t3"),
        ("title=type*", "t2 t3"),
        ('title="the types"', "t5"),
        ("reason=exit", "t3"),
        ("role=work", "t1 t2 t3 t4 t5 t6"),
        ("held=*", ""),
        ("convoy=nope", ""),
    ],
)
def test_a_filter_finds_the_tasks_it_tells_of(text: str, names: str) -> None:
    assert found(text) == names


def test_a_held_attempt_is_found_by_who_holds_it() -> None:
    ledger = make_ledger()
    held = ev.AttemptHeld("here", "", "")
    ledger.write(ev.Draft(held, task=TaskId("t2"), attempt=ledger.board.tasks[TaskId("t2")].attempts[-1].id))
    assert found("held=ana*", ledger.board) == "t2"
    [by] = {one.held.by for task in ledger.board.tasks.values() if (one := task.live_attempt) and one.held}
    assert found(f"held={by}", ledger.board) == "t2"
    assert found("held=ana", ledger.board) == "t2"
    assert found('held=""', ledger.board) == "t1 t3 t4 t5 t6"


@settings(max_examples=300)
@given(trees, st.lists(st.sampled_from(list(LEDGER.board.tasks)), unique=True) | st.none())
def test_looking_only_at_what_can_match_leaves_nothing_out(tree: Filter, among: list[TaskId] | None) -> None:
    wanted, board = TaskFilter(tree, NOW, SIGNS), LEDGER.board
    matches = compile_filter(tree, task_readers(NOW, SIGNS))
    names = list(board.tasks) if among is None else among
    assert wanted.pick(board, among) == [name for name in names if matches(board.tasks[name])]


@pytest.mark.parametrize(
    ("text", "most"),
    [
        ("phase=failed", 5),
        ("need=blocked and anything", 2),
        ("t3 parser", 1),
        ("convoy=types", 3),
        ("held=*", 1),
        ("stuck or phase=failed", None),
        ("phase=noop", None),
        ("phase=f*", None),
        ("phase!=failed", None),
    ],
)
def test_a_board_has_lists_of_some_tasks(text: str, most: int | None) -> None:
    candidates = find_candidates(TaskFilter.parse(text, NOW).tree, LEDGER.board)
    assert (None if candidates is None else len(candidates)) == most


def test_every_field_can_be_read_from_a_task() -> None:
    readers = task_readers(NOW, {})
    numbers = {name for name, field in FIELDS.items() if field.values.is_amount}
    assert readers.numbers.keys() == numbers
    assert readers.words.keys() == FIELDS.keys() - numbers | {"step"}
    assert set(SEARCHED) <= readers.words.keys()
    assert all(FIELDS[name].values is not Values.MONEY for name in SEARCHED if name in FIELDS)


def test_a_request_for_what_matches_applies_to_what_it_can() -> None:
    board = LEDGER.board

    def chosen(text: str, request: Bulk, convoy: str | None = None) -> list[TaskId]:
        wanted = Selection(where=TaskFilter.parse(text, NOW), convoy=convoy)
        assert wanted.in_bulk
        return select_tasks(board, wanted, request)

    assert chosen("t1-t9", Bulk.RETRY) == ["t3"]
    assert chosen("agent=typer", Bulk.STOP) == ["t2"]
    assert chosen("phase=approval", Bulk.LAND) == ["t4"]
    assert chosen("type", Bulk.CANCEL, "Types") == ["t2", "t3", "t5"]
    assert pick_tasks(board, Selection(where=TaskFilter.parse("phase=noop", NOW))) == ["t1"]
    assert pick_tasks(board, Selection((TaskId("t4"), TaskId("t2")))) == ["t2", "t4"]
