"""Continuing after a loss: every number that was given stays given."""

from hypothesis import given
from hypothesis import strategies as st

from paddock.core import events as ev
from paddock.core.board import Board
from paddock.core.given import Given
from paddock.core.ids import AttemptId, TaskId, branch_name, task_id
from paddock.core.intent.loss import accept_loss
from paddock.core.tasks.task import Phase
from paddock.core.tasks.vocabulary import Outcome, Step


def apply(board: Board, *drafts: ev.Draft) -> None:
    for draft in drafts:
        seq = board.seq + 1
        board.apply(ev.Record(seq, float(seq), "ana", 0, draft.task, draft.attempt, draft.event, b""))


def history(tasks: list[int]) -> list[ev.Draft]:
    """For each task as many attempts as its number says, one after the other."""
    drafts = [ev.Draft(ev.TaskAdded(f"Task {n}", "do it"), task=task_id(n)) for n in range(1, len(tasks) + 1)]
    for number, attempts in enumerate(tasks, 1):
        name = task_id(number)
        for attempt in range(1, attempts + 1):
            started, end = ev.AttemptStarted("x", "b", "p"), ev.AttemptEnded(Outcome.CRASHED, Step.RETRY, counted=False)
            drafts += [ev.Draft(event, task=name, attempt=AttemptId(f"{name}.{attempt}")) for event in (started, end)]
    return drafts


@given(st.lists(st.integers(0, 4), max_size=8), st.integers(0, 50))
def test_ids_go_on_above_all_that_were_given_wherever_the_log_was_cut(tasks: list[int], cut: int) -> None:
    drafts, whole, left = history(tasks), Board(), Board()
    apply(whole, *drafts)
    apply(left, *drafts[:cut])
    assert whole.given == Given(tasks=len(tasks), attempts=max(tasks, default=0))
    apply(left, *accept_loss(left, whole.seq, whole.given))
    assert left.given == whole.given
    assert left.next_task == whole.next_task
    for name in whole.tasks:
        assert left.tasks[name].newest >= whole.tasks[name].newest
    lost = [name for name in left.tasks if left.tasks[name].title == "lost"]
    assert lost == [task_id(number) for number in range(min(cut, len(tasks)) + 1, len(tasks) + 1)]
    assert all(left.tasks[name].phase is Phase.CANCELLED for name in lost)


@given(*[st.builds(Given, *[st.integers(0, 9)] * 5)] * 2)
def test_the_higher_of_two_is_at_least_both_and_no_more(one: Given, other: Given) -> None:
    both = one.raised(other)
    assert both == other.raised(one) == both.raised(one)
    assert both.tasks == max(one.tasks, other.tasks)
    assert both.generations == max(one.generations, other.generations)


def test_a_labelled_log_has_branches_of_its_own() -> None:
    assert branch_name(TaskId("t3"), "Fix: the parser!") == "paddock/t3-fix-the-parser"
    assert branch_name(TaskId("t3"), "Fix: the parser!", "5e0c1f7a") == "paddock/t3-fix-the-parser-5e0c1f7a"
    assert branch_name(TaskId("t3"), "…", "5e0c1f7a") == "paddock/t3-5e0c1f7a"
