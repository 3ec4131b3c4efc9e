"""The fleet's attempts in the dataset: the same, whoever has looked how often and whenever."""

from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddock.core.events import Record
from paddock.core.ids import TaskId
from paddock.core.tasks.task import Phase
from paddock.core.tasks.vocabulary import Outcome
from paddock.insight.dataset.fleet import FleetFollower, LogMark
from paddock.insight.dataset.trouble import DatasetUnusable
from paddock.insight.dataset.writer import DatasetWriter
from paddock.insight.trace import EndState, Result
from paddock.store.protocol import Query
from tests.insight.dataset.world import World, paths_in, traces_in


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with closing(World(tmp_path / "app")) as made:
        yield made


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "traces.db"


def test_an_attempt_grows_while_it_is_at_work_and_is_told_once_it_is_over(world: World, path: Path) -> None:
    keeper = world.follower(path)
    attempt = world.start(world.add())
    world.step(attempt, "ls")
    first = world.look(keeper)
    assert (first[-1].changed, first[-1].ended) == (("t1.1",), ())
    world.step(attempt, "pytest", fails=True)
    world.look(keeper)
    growing = traces_in(path)["t1.1"]
    assert [(step.activity, step.status.value) for step in growing.steps] == [("SEARCH", "ok"), ("TEST", "error")]
    assert (growing.outcome, growing.end_state) == (Result.UNKNOWN, EndState.UNKNOWN)
    world.end(attempt, Outcome.TIMEOUT)
    last = world.look(keeper)
    assert (last[-1].changed, last[-1].ended) == (("t1.1",), ("t1.1",))
    over = traces_in(path)["t1.1"]
    assert (over.outcome, over.end_state, over.error) == (Result.FAILURE, EndState.TIMEOUT, "it did not work")
    assert over.facts.tests_run == 1
    assert world.look(keeper)[-1].changed == (), "nothing is told twice"


def test_what_becomes_of_an_attempt_later_is_told_again(world: World, path: Path) -> None:
    keeper = world.follower(path)
    tasks = [world.add() for _ in range(3)]
    for task in tasks:
        attempt = world.start(task)
        world.step(attempt)
        world.end(attempt)
    world.look(keeper)
    assert {trace.outcome for trace in traces_in(path).values()} == {Result.SUCCESS}
    world.land(tasks[0])
    world.reject_in_queue(tasks[1])
    world.send_back(tasks[2])
    assert set(world.look(keeper)[-1].changed) == {"t1.1", "t2.1", "t3.1"}
    told = {name: (trace.outcome, trace.facts.gate) for name, trace in traces_in(path).items()}
    assert told == {
        "t1.1": (Result.SUCCESS, "green"),
        "t2.1": (Result.FAILURE, "red"),
        "t3.1": (Result.FAILURE, ""),
    }
    assert [traces_in(path)[name].error for name in sorted(told)] == [
        "",
        "delivered, but the merge queue rejected it",
        "delivered, but a review or a person rejected it",
    ]
    with_closing = paths_in(path)
    assert with_closing["t1.1"] == ("TEST", "1")
    assert with_closing["t2.1"] == ("TEST", "1", "pytest")


def test_a_landing_is_told_although_the_look_that_heard_of_it_failed(world: World, path: Path) -> None:
    keeper, task = world.follower(path), world.add()
    world.end(world.start(task))
    world.land(task)
    before = LogMark("this log", len(world.records) - 1)
    while keeper.look(world.ask, before, world.now).more:
        pass

    def ask(query: Query) -> Iterable[Record]:
        if query.task is not None:
            raise OSError("the disk does not answer")
        return world.ask(query)

    with pytest.raises(OSError, match="does not answer"):
        world.look(keeper, ask)
    assert traces_in(path)["t1.1"].facts.gate == ""
    world.look(keeper)
    assert traces_in(path)["t1.1"].facts.gate == "green"


def test_only_what_is_new_in_the_log_is_read(world: World, path: Path) -> None:
    asked = []

    def ask(query: object) -> object:
        asked.append(query)
        return world.ask(query)  # type: ignore[arg-type]

    keeper = world.follower(path)
    for _ in range(5):
        world.end(world.start(world.add()))
    world.look(keeper, ask)  # type: ignore[arg-type]
    head = len(world.records)
    asked.clear()
    live = world.start(world.add())
    world.step(live)
    world.look(keeper, ask)  # type: ignore[arg-type]
    assert [(query.after, query.task) for query in asked] == [(head, None), (0, "t6")]  # type: ignore[attr-defined]
    asked.clear()
    world.step(live)
    world.look(keeper, ask)  # type: ignore[arg-type]
    assert asked == [], "an agent that only works is read from its output alone"


def test_an_attempt_whose_output_is_gone_keeps_its_trace(world: World, path: Path) -> None:
    for _ in range(2):
        attempt = world.start(world.add())
        world.step(attempt)
        world.end(attempt)
    world.look(world.follower(path))
    before = traces_in(path)
    for file in world.out(attempt).parent.iterdir():
        file.unlink()
    world.out(attempt).parent.rmdir()
    follower = world.follower(path)
    assert follower.start_over(world.ask, world.mark, world.now) == 1
    world.look(follower)
    assert traces_in(path) == before
    fresh = path.with_name("fresh.db")
    world.look(world.follower(fresh))
    gone = traces_in(fresh)["t2.1"]
    assert (gone.steps, gone.model_spoke, gone.outcome) == ((), True, Result.SUCCESS)


def test_another_log_in_its_place_leaves_nothing_of_the_former(world: World, path: Path, tmp_path: Path) -> None:
    world.end(world.start(world.add()))
    world.end(world.start(world.add()))
    world.look(world.follower(path))
    with closing(World(tmp_path / "other")) as other:
        other.end(other.start(other.add("another")))
        follower = other.follower(path)
        while follower.look(other.ask, LogMark("another log", len(other.records)), 0.0).more:
            pass
    assert [trace.attributes["title"] for trace in traces_in(path).values()] == ["another"]


def test_what_was_raised_half_way_leaves_nothing_and_nothing_is_missing_later(world: World, path: Path) -> None:
    keeper = world.follower(path)
    attempt = world.start(world.add())
    world.step(attempt)
    world.look(keeper)
    world.step(attempt)
    world.end(attempt)

    def broken(_query: object) -> object:
        raise OSError("no")

    with pytest.raises(OSError, match="no"):
        world.look(keeper, broken)  # type: ignore[arg-type]
    assert len(traces_in(path)["t1.1"].steps) == 1
    world.look(keeper)
    assert len(traces_in(path)["t1.1"].steps) == 2


def test_a_reader_leaves_alone_what_has_written_nothing_since(world: World, path: Path) -> None:
    attempt = world.start(world.add())
    world.step(attempt)
    world.look(world.follower(path, stays=False))
    assert world.look(world.follower(path, stays=False))[-1].changed == ()
    world.step(attempt)
    assert world.look(world.follower(path, stays=False))[-1].changed == ("t1.1",)
    assert len(traces_in(path)["t1.1"].steps) == 2


ACTIONS = (
    "add",
    "start",
    "step",
    "unnoted",
    "torn",
    "end",
    "fail",
    "land",
    "reject",
    "back",
    "look",
    "other",
    "reader",
)


@settings(max_examples=30)
@given(actions=st.lists(st.tuples(st.sampled_from(ACTIONS), st.integers(0, 3)), min_size=12, max_size=40))
def test_it_does_not_matter_who_looks_when(
    tmp_path_factory: pytest.TempPathFactory, actions: list[tuple[str, int]]
) -> None:
    folder = tmp_path_factory.mktemp("world")
    path = folder / "traces.db"
    with closing(World(folder / "app")) as world:
        _live_through(world, path, actions)
        fresh = folder / "fresh.db"
        world.look(world.follower(fresh, stays=False))
    assert traces_in(path) == traces_in(fresh)
    assert paths_in(path) == paths_in(fresh)


def _live_through(world: World, path: Path, actions: list[tuple[str, int]]) -> None:
    keepers = [world.follower(path), world.follower(path)]
    for action, number in actions:
        _act(world, action, number)
        if action == "look":
            world.look(keepers[0])
        elif action == "other":
            world.look(keepers[1])
        elif action == "reader":
            with DatasetWriter.open(path) as writer:
                world.look(FleetFollower(world.site, writer, stays=False))
    for attempt in tuple(world.told):
        world.end(attempt)
    world.look(keepers[0])


def _act(world: World, action: str, number: int) -> None:
    live = sorted(world.told)
    mine = live[number % len(live)] if live else None
    approved = [task for task in world.board.tasks.values() if task.phase is Phase.APPROVAL]
    delivered = approved[number % len(approved)].id if approved else None
    ready = list(world.board.ready)
    if action == "add" and len(world.board.tasks) < 4:
        world.add()
    elif action == "start" and ready:
        world.start(TaskId(ready[number % len(ready)]))
    elif mine is not None and action in ("step", "unnoted"):
        world.step(mine, ("pytest", "ls", "git commit --no-verify", "echo")[number], noted=action == "step")
    elif mine is not None and action == "torn":
        world.say(mine, {"type": "assistant", "message": {"content": []}}, torn=True)
        with world.out(mine).open("a") as file:
            file.write("\n")
    elif mine is not None and action in ("end", "fail"):
        world.end(mine, Outcome.DELIVERED if action == "end" else Outcome.TIMEOUT)
    elif delivered is not None and action in ("land", "reject", "back"):
        {"land": world.land, "reject": world.reject_in_queue, "back": world.send_back}[action](delivered)


def test_a_dataset_cut_off_in_the_middle_of_a_batch_has_all_of_the_batch_before(world: World, path: Path) -> None:
    attempt = world.start(world.add())
    world.step(attempt)
    world.look(world.follower(path))
    before = traces_in(path)
    writer = DatasetWriter.open(path)
    writer.enter()
    writer.forget_runs("fleet", ["t1.1"])
    copy = path.with_name("copy.db")
    for suffix in ("", "-wal"):
        copy.with_name(copy.name + suffix).write_bytes(path.with_name(path.name + suffix).read_bytes())
    writer.close()
    assert apsw.Connection(str(copy)).execute("SELECT count(*) FROM run").fetchall() == [(1,)]
    assert traces_in(path) == before


def test_a_full_disk_is_told_as_such_and_what_was_new_is_taken_in_once_there_is_room(world: World, path: Path) -> None:
    keeper = world.follower(path)
    attempt = world.start(world.add())
    world.step(attempt)
    world.look(keeper)
    limit_pages(world.writers[0], 1)
    for _ in range(500):
        world.step(attempt)
    with pytest.raises(DatasetUnusable, match="is full: nothing was written"):
        world.look(keeper)
    assert len(traces_in(path)["t1.1"].steps) == 1
    limit_pages(world.writers[0], 100_000)
    world.look(keeper)
    assert len(traces_in(path)["t1.1"].steps) == 501


def limit_pages(writer: DatasetWriter, pages: int) -> None:
    """SQLite itself then says that the disk is full."""
    writer._db.execute(f"PRAGMA max_page_count={pages}").fetchall()


def test_who_finds_another_in_the_middle_of_it_leaves_it_alone_until_nothing_is_heard_of_that_one(
    world: World, path: Path
) -> None:
    for _ in range(40):
        world.end(world.start(world.add()))
    reader, keeper = world.follower(path, stays=False), world.follower(path)
    assert reader.look(world.ask, world.mark, world.now).more
    assert reader.look(world.ask, world.mark, world.now).more
    assert keeper.look(world.ask, world.mark, world.now).claimed
    world.wait(60.0)
    assert not keeper.look(world.ask, world.mark, world.now).claimed, "it has been killed"
    world.look(keeper)
    assert len(traces_in(path)) == 40
