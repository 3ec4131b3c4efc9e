"""Nodes that take nothing new: what people may ask, and what it makes of the board."""

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.core import events as ev
from paddock.core.board import Board
from paddock.core.errors import Misuse, NotFound, PaddockError
from paddock.core.intent.nodes import LONGEST_REASON, drain_nodes, reopen_nodes
from paddock.core.intent.workers import NotForWorkers, Worker, require_command, require_events
from paddock.core.nodes.events import NodeDrained, NodeReopened
from paddock.core.snapshot import encode_board
from tests.core.ledger import START, Ledger, fold, fold_from_snapshot

SEEN = ("n1", "n2", "n3")
nodes = st.sampled_from(SEEN)
words = st.one_of(
    st.builds(NodeDrained, nodes, st.sampled_from(["", "a new disk", "it is slow"])), st.builds(NodeReopened, nodes)
)


@given(st.lists(words, max_size=20))
def test_a_node_is_drained_if_the_last_word_about_it_says_so(told: list[NodeDrained | NodeReopened]) -> None:
    ledger = Ledger()
    for event in told:
        ledger.write(ev.Draft(event))
    last = {event.node: event for event in told}
    drained = {node: event.reason for node, event in last.items() if isinstance(event, NodeDrained)}
    assert {node: drain.reason for node, drain in ledger.board.drains.items()} == drained


@given(st.lists(words, max_size=20))
def test_a_drain_keeps_the_time_of_the_first_of_its_words(told: list[NodeDrained | NodeReopened]) -> None:
    ledger = Ledger()
    since: dict[str, float] = {}
    for number, event in enumerate(told, 1):
        ledger.write(ev.Draft(event))
        if isinstance(event, NodeDrained):
            since.setdefault(event.node, START + number)
        else:
            since.pop(event.node, None)
    assert {node: drain.since for node, drain in ledger.board.drains.items()} == since


@given(st.lists(words, max_size=12), st.data())
def test_a_fold_that_goes_on_from_any_snapshot_is_the_whole_fold(
    told: list[NodeDrained | NodeReopened], data: st.DataObject
) -> None:
    ledger = Ledger()
    for event in told:
        ledger.write(ev.Draft(event))
    cut = data.draw(st.integers(0, len(told)))
    assert encode_board(fold_from_snapshot(ledger.records, cut)) == encode_board(fold(ledger.records))


@given(st.lists(st.tuples(st.booleans(), st.lists(nodes, min_size=1, max_size=3), st.sampled_from(["", "slow"]))))
def test_what_was_asked_for_holds_afterwards_or_was_refused_without_a_trace(
    asked: list[tuple[bool, list[str], str]],
) -> None:
    ledger = Ledger()
    for drains, names, reason in asked:
        before = dict(ledger.board.drains)
        drafts = _decide(ledger.board, drains, names, reason)
        if drafts is None:
            assert not drains
            assert not before.keys() >= set(names)
            continue
        ledger.write(*drafts)
        assert (ledger.board.drains.keys() >= set(names)) == drains
        assert ledger.board.drains.keys() - set(names) == before.keys() - set(names)
        assert not drains or drain_nodes(ledger.board, names, SEEN, reason) == []


def _decide(board: Board, drains: bool, names: Sequence[str], reason: str) -> list[ev.Draft] | None:
    try:
        return drain_nodes(board, names, SEEN, reason) if drains else reopen_nodes(board, names, SEEN)
    except PaddockError:
        return None


def test_a_node_that_nobody_knows_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(NotFound, match="there is no node `gpu-l`") as refusal:
        drain_nodes(Board(), ["gpu-l"], ("gpu-1", "cpu-1"))
    assert refusal.value.hint == "did you mean `gpu-1`?"
    with pytest.raises(NotFound) as refusal:
        drain_nodes(Board(), ["n1"], ())
    assert refusal.value.hint == "no node is known: `paddock nodes` says where agents run"


def test_a_node_that_only_the_log_knows_can_be_drained() -> None:
    ledger = Ledger()
    ledger.write(ev.Draft(NodeDrained("away")))
    assert [draft.event for draft in reopen_nodes(ledger.board, ["away"], ())] == [NodeReopened("away")]


def test_one_wrong_name_keeps_all_from_being_drained() -> None:
    with pytest.raises(NotFound):
        drain_nodes(Board(), ["n1", "n9", "n2"], SEEN)


@pytest.mark.parametrize("ask", [drain_nodes, reopen_nodes])
@pytest.mark.parametrize("name", ["", "a b", "n1\n", "\x1b[2J", "n" * 101])
def test_what_cannot_be_a_name_is_misuse_and_harmless_to_print(ask: Callable[..., object], name: str) -> None:
    with pytest.raises(Misuse) as refusal:
        ask(Board(), [name], SEEN)
    assert refusal.value.message.isprintable()


def test_a_node_that_is_not_drained_cannot_be_used_again() -> None:
    ledger = Ledger()
    ledger.write(ev.Draft(NodeDrained("n2")))
    with pytest.raises(PaddockError, match="node `n1` is not drained") as refusal:
        reopen_nodes(ledger.board, ["n1"], SEEN)
    assert refusal.value.hint == "drained: n2"


def test_a_long_reason_is_cut_and_the_same_long_reason_is_nothing_new() -> None:
    ledger = Ledger()
    ledger.write(*drain_nodes(ledger.board, ["n1"], SEEN, "x" * 9999))
    assert len(ledger.board.drains["n1"].reason) == LONGEST_REASON
    assert drain_nodes(ledger.board, ["n1"], SEEN, "x" * 9999) == []


@pytest.mark.parametrize("owner", ["t1.1", "run-r1"])
def test_neither_agents_nor_ci_may_drain_nodes(owner: str) -> None:
    worker = Worker(owner, may_add=True)
    with pytest.raises(NotForWorkers):
        require_command(worker, "drain")
    for event in (NodeDrained("n1"), NodeReopened("n1")):
        with pytest.raises(NotForWorkers):
            require_events(Board(), worker, [ev.Draft(event)])
