"""Of the refs that hold changes only those go whose owner has finished, and never the last one that holds a commit."""

from hypothesis import given
from hypothesis import strategies as st

from paddock.core import events as ev
from paddock.core.board import Board
from paddock.core.ids import TaskId
from paddock.core.merge import events as qe
from paddock.core.merge.model import Change
from paddock.core.upkeep.changes import spare_changes
from paddock.core.upkeep.survey import HeldChanges

CHANGES = "refs/paddock/changes"
COMMITS = [f"c{n}" for n in range(8)]


def board_of(*events: tuple[str, ev.Event]) -> Board:
    board = Board()
    for seq, (task, event) in enumerate(events, 1):
        board.apply(ev.Record(seq, float(seq), "ana", 0, TaskId(task) if task else None, None, event, b""))
    return board


def tasks(over: list[bool]) -> Board:
    """t1, t2 …, cancelled or not begun."""
    added = [(f"t{n}", ev.TaskAdded("Do it", "Do it")) for n in range(1, len(over) + 1)]
    return board_of(*added, *((f"t{n}", ev.TaskCancelled()) for n, cancelled in enumerate(over, 1) if cancelled))


def reach(loose: dict[str, tuple[str, ...]], commits: set[str]) -> set[str]:
    found = commits & set(loose)
    while more := {parent for commit in found for parent in loose[commit] if parent in loose} - found:
        found |= more
    return found


@st.composite
def histories(draw: st.DrawFn) -> dict[str, tuple[str, ...]]:
    """Each commit's parents are older ones, or are in main, which is not part of it."""
    known = draw(st.sets(st.sampled_from(COMMITS)))
    older = {name: st.lists(st.sampled_from([*COMMITS[:n], "main"]), max_size=2) for n, name in enumerate(COMMITS)}
    return {name: tuple(draw(older[name])) for name in sorted(known)}


@given(
    loose=histories(),
    over=st.lists(st.booleans(), min_size=1, max_size=4),
    refs=st.dictionaries(
        st.tuples(st.integers(1, 4), st.sampled_from([".1", ".2", "/v1", "/v2"])), st.sampled_from(COMMITS), max_size=8
    ),
)
def test_no_commit_loses_its_last_ref_and_nobody_at_work_loses_one(
    loose: dict[str, tuple[str, ...]], over: list[bool], refs: dict[tuple[int, str], str]
) -> None:
    names = {f"{CHANGES}/t{task}{kind}": commit for (task, kind), commit in refs.items()}
    finished = {f"{CHANGES}/t{n}{kind}" for n, kind in refs if n <= len(over) and over[n - 1]}
    spare = spare_changes(tasks(over), HeldChanges("main", names, loose))

    assert set(spare) <= finished
    left = {ref: commit for ref, commit in names.items() if ref not in spare}
    assert reach(loose, set(left.values())) == reach(loose, set(names.values()))
    ours = {commit for ref, commit in left.items() if int(ref[len(CHANGES) + 2]) <= len(over)}
    for ref in finished - set(spare):
        others = ours - {names[ref]}
        assert names[ref] in loose, "what main has needs no ref"
        assert names[ref] not in reach(loose, others), "what another one holds needs no second ref"


def queued(*more: tuple[str, ev.Event], head: str = "c1") -> Board:
    return board_of(("", qe.ChangeQueued(Change("feature/x", 1, head, "main", branch="feature/x"))), *more)


def spare_of(board: Board, *names: str, loose: dict[str, tuple[str, ...]] | None = None) -> set[str]:
    held = HeldChanges("main", {f"{CHANGES}/{name}": "c1" for name in names}, loose or {})
    return {ref.removeprefix(f"{CHANGES}/") for ref in spare_changes(board, held)}


def test_a_branch_that_is_queued_keeps_all_its_versions() -> None:
    assert not spare_of(queued(), "feature+x/v1")


def test_of_a_branch_only_versions_that_were_decided_go() -> None:
    left = queued(("", qe.ChangeCancelled("feature/x", 1, "not wanted", "ana")))
    assert spare_of(left, "feature+x/v1", "feature+x/v2") == {"feature+x/v1"}, "v2 may be about to be queued"
    assert not spare_of(left, "feature+x/v1", loose={"c1": ("main",)}), "nothing else holds it"


def test_refs_that_are_not_ours_stay_and_hold_nothing() -> None:
    names = ("t1.1", "t1.x", "t1/vx", "evil", "t9.1", "t9/v1", "other/v1")
    assert spare_of(tasks([True]), *names) == {"t1.1"}
    assert not spare_of(tasks([True]), *names, loose={"c1": ("main",)}), "an agent may delete what it wrote"
