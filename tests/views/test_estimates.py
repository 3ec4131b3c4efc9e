"""Estimates of a live board: they keep still while they are about right, and the longest way is the longest."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from paddock.core.ids import TaskId, task_id
from paddock.core.tasks.task import Phase, Task
from paddock.views.board.convoys import longest_way
from paddock.views.steady import LEAST_SECONDS, SHARE, keep_steady

moments = st.none() | st.floats(0, 10_000)


@given(moments, moments, st.floats(0, 10_000))
def test_an_estimate_is_the_new_one_or_an_old_one_that_is_about_right(
    old: float | None, new: float | None, now: float
) -> None:
    told = keep_steady(old, new, now)
    assert told in (old, new)
    if told != new:
        assert told is not None
        assert new is not None
        assert told > now, "what is over is no estimate"
        assert abs(told - new) <= max(LEAST_SECONDS, SHARE * (new - now))


def test_an_estimate_does_not_creep_with_the_clock() -> None:
    told = keep_steady(None, 1100.0, 1000.0)
    for late in range(1, 5):
        told = keep_steady(told, 1100.0 + late, 1000.0 + late)
    assert told == 1100.0
    assert keep_steady(told, 1130.0, 1005.0) == 1130.0


@st.composite
def convoys(draw: st.DrawFn) -> tuple[list[Task], dict[TaskId, float]]:
    """Tasks that wait for older ones, some of which are not among them, in any order."""
    tasks = []
    for number in range(1, draw(st.integers(1, 8)) + 1):
        after = draw(st.sets(st.integers(0, number - 1), max_size=3))
        tasks.append(
            Task(task_id(number), "x", 1, Phase.WAITING, 0.0, 0.0, 3, after=tuple(map(task_id, sorted(after))))
        )
    seconds = {task.id: draw(st.floats(0, 100)) for task in tasks}
    return draw(st.permutations(tasks)), seconds


def every_way(tasks: dict[TaskId, Task], last: TaskId) -> list[tuple[TaskId, ...]]:
    before = [name for name in tasks[last].after if name in tasks]
    return [(*way, last) for name in before for way in every_way(tasks, name)] or [(last,)]


@given(convoys())
def test_no_way_takes_longer_than_the_longest(given_: tuple[list[Task], dict[TaskId, float]]) -> None:
    tasks, seconds = given_
    known = {task.id: task for task in tasks}
    found = longest_way(tasks, seconds)
    ways = [way for name in known for way in every_way(known, name)]
    assert all(later in known and earlier in known[later].after for earlier, later in itertools.pairwise(found))
    assert abs(sum(seconds[name] for name in found) - max(sum(seconds[name] for name in way) for way in ways)) < 1e-6


def test_nothing_left_is_no_way() -> None:
    assert longest_way([], {}) == ()
