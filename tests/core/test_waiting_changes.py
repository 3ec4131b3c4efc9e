"""In which order changes that wait for a person are shown."""

from hypothesis import given
from hypothesis import strategies as st

from paddock.core import events as ev
from paddock.core.ids import TaskId
from paddock.core.intent.obstacles import TaskAction, find_obstacle
from paddock.core.review import events as rv
from paddock.core.review.waiting import is_ready, waiting_changes
from paddock.core.tasks.task import Phase
from tests.core.ledger import Ledger

HEAD = "a" * 40


def delivered(ledger: Ledger, *, convoy: str | None = None, head: str = HEAD) -> TaskId:
    name = ledger.add(convoy=convoy)
    ledger.attempt(name, "approval", head=head)
    return name


def question(ledger: Ledger, name: TaskId) -> None:
    ledger.write(ev.Draft(ev.ApprovalRequired(HEAD, ("touches x",)), task=name))


def hold(ledger: Ledger, name: TaskId, number: int = 1) -> None:
    found = rv.FindingReported(f"f{number}", HEAD, "second", rv.Claim("it is wrong"), blocking=True)
    ledger.write(ev.Draft(found, task=name))


def order(ledger: Ledger, convoy: str | None = None) -> list[str]:
    return [one.task for one in waiting_changes(ledger.board, convoy)]


def test_what_is_ready_comes_first_then_what_is_asked_about_then_what_is_stuck() -> None:
    ledger = Ledger()
    asked, stuck, held, ready = (delivered(ledger) for _ in range(4))
    question(ledger, asked)
    ledger.write(ev.Draft(ev.TaskBlocked("three rounds", "look"), task=stuck))
    hold(ledger, held)
    ledger.add()
    assert order(ledger) == [ready, asked, held, stuck]
    assert [is_ready(ledger.board, ledger.task(name)) for name in (ready, asked, held, stuck)] == [True] + [False] * 3


def test_a_convoy_stays_together_and_can_be_asked_for_alone() -> None:
    ledger = Ledger()
    ledger.write(ev.Draft(ev.ConvoyAdded("c")))
    first, lone, second = delivered(ledger, convoy="c"), delivered(ledger), delivered(ledger, convoy="c")
    assert order(ledger) == [first, second, lone]
    assert order(ledger, "c") == [first, second]


def test_priority_counts_among_what_is_equally_ready() -> None:
    ledger = Ledger()
    low, high = delivered(ledger), delivered(ledger)
    ledger.write(ev.Draft(ev.TaskEdited(priority=5), task=high))
    assert order(ledger) == [high, low]
    question(ledger, high)
    assert order(ledger) == [low, high]


def test_an_open_finding_that_blocks_is_named_before_anybody_approves() -> None:
    ledger = Ledger()
    name = delivered(ledger)
    hold(ledger, name)
    obstacle = find_obstacle(ledger.board, ledger.task(name), TaskAction.APPROVE)
    assert obstacle is not None
    assert obstacle.message == f"task `{name}` is held by f1: it is wrong"
    ledger.write(ev.Draft(rv.FindingSettled("f1", rv.Settlement.WAIVED, HEAD, "ana"), task=name))
    assert find_obstacle(ledger.board, ledger.task(name), TaskAction.APPROVE) is None


@given(st.lists(st.sampled_from(["ready", "asked", "held", "stuck", "away"]), max_size=8))
def test_everything_that_waits_is_there_once_and_never_before_what_is_readier(kinds: list[str]) -> None:
    ledger = Ledger()
    names = {delivered(ledger): kind for kind in kinds}
    for number, (name, kind) in enumerate(names.items(), 1):
        if kind == "asked":
            question(ledger, name)
        elif kind == "held":
            hold(ledger, name, number)
        elif kind == "stuck":
            ledger.write(ev.Draft(ev.TaskBlocked("x", "y"), task=name))
        elif kind == "away":
            ledger.write(ev.Draft(ev.TaskCancelled(), task=name))
    shown = order(ledger)
    assert sorted(shown) == sorted(name for name, kind in names.items() if kind != "away")
    ranks = [("ready", "asked", "held", "stuck").index(names[TaskId(name)]) for name in shown]
    assert [min(rank, 1) if rank < 3 else 2 for rank in ranks] == sorted(min(r, 1) if r < 3 else 2 for r in ranks)
    assert all(ledger.task(name).phase in (Phase.APPROVAL, Phase.BLOCKED) for name in shown)
