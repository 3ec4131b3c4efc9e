"""Who looks after a node: the late words of a deputy that was replaced are in the log and have no effect."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.core import events as ev
from paddock.core.ids import AttemptId
from paddock.core.leases.lease import Holder, LeaseGranted, LeaseReleased
from paddock.core.nodes.events import NodeDrained
from paddock.core.nodes.tenure import is_superseded, is_tended, node_lease, node_of, tenure_of, told_nodes
from paddock.core.snapshot import encode_board
from paddock.core.tasks.task import Phase
from paddock.core.tasks.vocabulary import Outcome, Step
from tests.core.ledger import START, Ledger, fold, fold_from_snapshot

NODE = node_lease("n1")
ENDED = ev.AttemptEnded(Outcome.CRASHED, Step.FAIL, True)


@pytest.fixture
def ledger() -> Ledger:
    return Ledger()


def grant(ledger: Ledger, generation: int, node: str = NODE, ttl_seconds: float = 30.0) -> None:
    ledger.write(ev.Draft(LeaseGranted(node, generation, Holder(node, "n1", 7), ttl_seconds)))


def release(ledger: Ledger, generation: int, node: str = NODE) -> None:
    ledger.write(ev.Draft(LeaseReleased(node, generation)))


def test_a_late_word_of_a_replaced_deputy_has_no_effect(ledger: Ledger) -> None:
    task = ledger.add()
    grant(ledger, 1)
    attempt = ledger.start(task)
    release(ledger, 1)
    grant(ledger, 2)
    before = ledger.task(task), ledger.board.spending
    ledger.write(ev.Draft(ENDED, task=task, attempt=attempt), generation=1, actor=NODE)
    assert (ledger.task(task), ledger.board.spending) == before
    ledger.write(ev.Draft(ENDED, task=task, attempt=attempt), generation=2, actor=NODE)
    assert ledger.task(task).phase is Phase.FAILED


def test_a_node_that_was_fenced_off_has_no_word_although_nobody_holds_its_lease(ledger: Ledger) -> None:
    task = ledger.add()
    grant(ledger, 1)
    attempt = ledger.start(task)
    release(ledger, 1)
    grant(ledger, 2)
    release(ledger, 2)
    ledger.write(ev.Draft(ENDED, task=task, attempt=attempt), generation=1, actor=NODE)
    assert ledger.task(task).phase is Phase.RUNNING


def test_a_deputy_that_has_given_up_its_lease_may_still_finish_its_sentence(ledger: Ledger) -> None:
    """Nobody has taken the node over, so nobody contradicts it."""
    task = ledger.add()
    grant(ledger, 1)
    attempt = ledger.start(task)
    release(ledger, 1)
    ledger.write(ev.Draft(ENDED, task=task, attempt=attempt), generation=1, actor=NODE)
    assert ledger.task(task).phase is Phase.FAILED


def test_generations_of_the_daemon_and_of_other_nodes_say_nothing_about_a_deputy(ledger: Ledger) -> None:
    task = ledger.add()
    grant(ledger, 1)
    attempt = ledger.start(task)
    grant(ledger, 50, "daemon")
    grant(ledger, 60, node_lease("n2"))
    ledger.write(ev.Draft(ENDED, task=task, attempt=attempt), generation=1, actor=NODE)
    assert ledger.task(task).phase is Phase.FAILED


def test_a_daemon_is_not_excused_by_the_generation_of_a_node(ledger: Ledger) -> None:
    task = ledger.add()
    grant(ledger, 3, "daemon")
    grant(ledger, 9)
    attempt = ledger.start(task, generation=3)
    release(ledger, 3, "daemon")
    grant(ledger, 10, "daemon")
    ledger.write(ev.Draft(ENDED, task=task, attempt=attempt), generation=9, actor="daemon")
    assert ledger.task(task).phase is Phase.RUNNING


steps = st.lists(
    st.one_of(
        st.tuples(st.just("grant"), st.sampled_from(["n1", "n2"])),
        st.tuples(st.just("drain"), st.sampled_from(["n1", "n2"])),
        st.tuples(st.just("start"), st.integers(0, 3)),
        st.tuples(st.just("end"), st.tuples(st.integers(0, 3), st.sampled_from(["n1", "n2"]), st.integers(0, 3))),
    ),
    max_size=25,
)


@given(steps, st.data())
def test_only_the_newest_deputy_moves_anything_and_any_snapshot_goes_on_to_the_same_board(
    told: list[tuple[str, object]], data: st.DataObject
) -> None:
    ledger, generations = _tell(told)
    cut = data.draw(st.integers(0, len(ledger.records)))
    assert encode_board(fold_from_snapshot(ledger.records, cut)) == encode_board(fold(ledger.records))
    assert set(told_nodes(ledger.board)) == {*generations, *ledger.board.drains}


def _tell(told: list[tuple[str, object]]) -> tuple[Ledger, dict[str, int]]:
    """A lease that is granted again is granted under a higher generation; an end is told `behind` generations late."""
    ledger, generations, highest = Ledger(), dict[str, int](), 0
    tasks = [ledger.add(attempts=99) for _ in range(4)]
    for what, which in told:
        if what == "grant":
            node = str(which)
            if node in generations:
                release(ledger, generations[node], node_lease(node))
            highest += 1
            generations[node] = highest
            grant(ledger, highest, node_lease(node))
        elif what == "drain":
            ledger.write(ev.Draft(NodeDrained(str(which))))
        elif what == "start" and isinstance(which, int):
            if ledger.task(tasks[which]).live_attempt is None and ledger.task(tasks[which]).phase is Phase.READY:
                ledger.start(tasks[which])
        elif isinstance(which, tuple):
            _end(ledger, generations, tasks[which[0]], which[1], which[2])
    return ledger, generations


def _end(ledger: Ledger, generations: dict[str, int], name: str, node: str, behind: int) -> None:
    task = ledger.task(name)
    live, current = task.live_attempt, generations.get(node, 0)
    if live is None or current - behind < 1:
        return
    again = ev.AttemptEnded(Outcome.CRASHED, Step.RETRY, True)
    draft = ev.Draft(again, task=task.id, attempt=AttemptId(live.id))
    assert is_superseded(ledger.board.leases, node_lease(node), current - behind) == (behind > 0)
    ledger.write(draft, generation=current - behind, actor=node_lease(node))
    assert (ledger.task(name).live_attempt is None) == (behind == 0)


def test_a_node_is_tended_until_its_lease_has_run_out_by_the_log(ledger: Ledger) -> None:
    grant(ledger, 1, ttl_seconds=30.0)
    board, at = ledger.board, START + 1
    assert is_tended(board, "n1", at + 29)
    assert not is_tended(board, "n1", at + 31)
    assert not is_tended(board, "n2", at)
    held = tenure_of(board, "n1")
    assert held is not None
    assert held.generation == 1


def test_the_name_of_a_lease_names_its_node_and_no_other_lease_does() -> None:
    assert node_of(node_lease("gpu-1")) == "gpu-1"
    assert node_of("daemon") is None
    assert node_of("") is None
