"""Which ready tasks start: never too many, never too early, and nobody for ever last."""

from hypothesis import given
from hypothesis import strategies as st

from paddock.core import events as ev
from paddock.core.board import Board
from paddock.core.ids import TaskId, attempt_id, task_id
from paddock.core.tasks.dispatch import AGING_SECONDS, CLOCK_STEP_SECONDS, plan_starts, urgency
from paddock.core.tasks.vocabulary import Outcome, Step


class Scene:
    """A board fed by hand; `at` is log time."""

    def __init__(self) -> None:
        self.board = Board()
        self.say(ev.LogCreated("0"), 0.0)

    def say(self, event: ev.Event, at: float, task: TaskId | None = None, attempt: int | None = None) -> None:
        name = attempt_id(task, attempt) if task is not None and attempt is not None else None
        self.board.apply(ev.Record(self.board.seq + 1, at, "test", 0, task, name, event, b""))

    def add(self, at: float = 0.0, priority: int = 0, after: tuple[TaskId, ...] = ()) -> TaskId:
        name = task_id(self.board.next_task)
        self.say(ev.TaskAdded("title", "brief", after=after, priority=priority), at, name)
        return name

    def start(self, name: TaskId, at: float = 0.0) -> int:
        number = self.board.task(name).started + 1
        self.say(ev.AttemptStarted("scripted", "base", "branch"), at, name, number)
        return number

    def end(self, name: TaskId, next_step: str, at: float = 0.0, retry_at: float | None = None) -> None:
        number = self.board.task(name).started
        counted = next_step in ("fail", "retry")
        event = ev.AttemptEnded(Outcome.CRASHED, Step(next_step), counted=counted, retry_at=retry_at, head="h" * 40)
        self.say(event, at, name, number)


scenes = st.lists(
    st.tuples(
        st.integers(-5, 5),  # priority
        st.floats(0, 5000),  # added at
        st.lists(st.integers(0, 11), max_size=2),  # depends on
        st.sampled_from(["idle", "running", "failed", "noop", "later"]),
    ),
    max_size=12,
)


def build(rows: list[tuple[int, float, list[int], str]]) -> Scene:
    scene = Scene()
    for number, (priority, at, after, fate) in enumerate(rows):
        name = scene.add(at, priority, tuple(dict.fromkeys(task_id(other + 1) for other in after if other < number)))
        if fate == "idle" or scene.board.task(name).phase != "ready":
            continue
        scene.start(name, at)
        match fate:
            case "failed":
                scene.end(name, "fail", at)
            case "noop":
                scene.end(name, "noop", at)
            case "later":
                scene.end(name, "retry", at, retry_at=at + 1000.0)
    return scene


@given(scenes, st.integers(-1, 5), st.floats(0, 10_000))
def test_no_more_start_than_there_are_slots_and_only_what_may(
    rows: list[tuple[int, float, list[int], str]], slots: int, now: float
) -> None:
    board = build(rows).board
    plan = plan_starts(board, now, slots)
    assert len(plan.start) <= max(0, slots)
    assert len(set(plan.start)) == len(plan.start)
    for name in plan.start:
        task = board.task(name)
        assert task.phase == "ready"
        assert task.live_attempt is None
        assert task.not_before <= now or now < task.since, "nobody knows what is left of a pause that lies ahead"
        assert all(board.task(other).phase in ("landed", "noop") for other in task.after)


@given(scenes, st.floats(0, 10_000))
def test_every_ready_task_is_started_or_has_a_time_to_wake_for(
    rows: list[tuple[int, float, list[int], str]], now: float
) -> None:
    board = build(rows).board
    plan = plan_starts(board, now, slots=100)
    left = [board.task(name) for name in board.ready if name not in plan.start]
    assert all(task.not_before > now for task in left)
    assert plan.wake_at == min((task.not_before for task in left), default=None)


@given(scenes, st.integers(1, 5), st.floats(0, 10_000))
def test_nobody_starts_before_one_that_is_more_urgent(
    rows: list[tuple[int, float, list[int], str]], slots: int, now: float
) -> None:
    board = build(rows).board
    everyone = plan_starts(board, now, slots=100).start
    chosen = plan_starts(board, now, slots).start
    assert chosen == everyone[:slots]
    ranks = [urgency(board.task(name), now) for name in everyone]
    assert ranks == sorted(ranks, reverse=True)


@given(st.integers(0, 1000), st.integers(0, 1000))
def test_age_beats_any_priority_in_the_end(low: int, head_start: int) -> None:
    scene = Scene()
    old = scene.add(at=0.0, priority=low)
    now = (head_start + 1) * AGING_SECONDS
    fresh = scene.add(at=now, priority=low + head_start)
    assert plan_starts(scene.board, now, slots=1).start == (old,)
    if head_start:
        assert plan_starts(scene.board, head_start * AGING_SECONDS - 1.0, slots=1).start == (fresh,)


def test_priority_decides_among_equals_and_age_among_the_rest() -> None:
    scene = Scene()
    first, second, urgent = scene.add(), scene.add(), scene.add(priority=1)
    assert plan_starts(scene.board, 10.0, slots=3).start == (urgent, first, second)


def test_only_those_that_are_asked_for_start() -> None:
    scene = Scene()
    _, two, three = scene.add(), scene.add(), scene.add()
    assert plan_starts(scene.board, 1.0, 9, only={two, three}).start == (two, three)


def test_a_task_waits_for_all_it_depends_on() -> None:
    scene = Scene()
    one, two = scene.add(), scene.add()
    last = scene.add(after=(one, two))
    for name in (one, two):
        assert last not in plan_starts(scene.board, 0.0, 9).start
        scene.start(name)
        scene.end(name, "noop")
    assert plan_starts(scene.board, 0.0, 9).start == (last,)


def test_a_pause_asked_for_by_the_provider_is_kept_to_the_moment() -> None:
    scene = Scene()
    name = scene.add()
    scene.start(name)
    scene.end(name, "retry", retry_at=500.0)
    early = plan_starts(scene.board, 499.9, 1)
    assert (early.start, early.wake_at) == ((), 500.0)
    assert plan_starts(scene.board, 500.0, 1).start == (name,)


def test_what_the_policy_calls_ready_but_somebody_runs_is_not_started_twice() -> None:
    scene = Scene()
    name = scene.add()
    scene.start(name)
    assert plan_starts(scene.board, 0.0, 9).start == ()


@given(st.floats(0, 10_000), st.floats(0, 2000), st.floats(-200_000, 200_000))
def test_a_clock_that_is_set_makes_no_pause_longer_than_it_is(at: float, pause: float, jump: float) -> None:
    scene = Scene()
    name = scene.add(at)
    scene.start(name, at)
    scene.end(name, "retry", at, retry_at=at + pause)
    waits = not plan_starts(scene.board, at + jump, 1).start
    assert waits is (at - CLOCK_STEP_SECONDS <= at + jump < at + pause)
    if waits:
        assert (at + pause) - (at + jump) <= pause + CLOCK_STEP_SECONDS + 1e-6
