"""Tasks that may change the same files: who comes first, and what is left for a person to see."""

from hypothesis import assume, given
from hypothesis import strategies as st

from paddock.core.cycles import find_cycle
from paddock.core.ids import TaskId
from paddock.core.leases.globs import globs_overlap
from paddock.core.plan.overlaps import AddedOrder, OpenTask, Overlap, arrange_plan, shared_path, take_as_it_is
from paddock.core.plan.plan import Plan, PlannedTask
from tests.core.plan.plans import plans


def task(key: str, *paths: str, after: tuple[str, ...] = ()) -> PlannedTask:
    return PlannedTask(key, f"Do {key}", "Do it.", paths, after)


def plan(*tasks: PlannedTask) -> Plan:
    return Plan("convoy", tasks)


def ancestors(made: Plan) -> dict[str, set[str]]:
    after = {one.key: set(one.after) for one in made.tasks}
    grown = True
    while grown:
        grown = False
        for key, names in after.items():
            more = names.union(*(after.get(name, set()) for name in names))
            grown, after[key] = grown or more != names, more
    return after


def test_of_two_that_share_paths_the_later_one_waits() -> None:
    arranged = arrange_plan(plan(task("a", "src/**"), task("b", "src/x.py"), task("c", "docs/**")))
    assert arranged.added == (AddedOrder("b", "a", "src/x.py"),)
    assert [one.after for one in arranged.plan.tasks] == [(), ("a",), ()]
    assert arranged.overlaps == ()


def test_an_order_that_the_plan_has_is_kept_even_against_its_list() -> None:
    arranged = arrange_plan(plan(task("a", "src/**", after=("b",)), task("b", "src/**")))
    assert arranged.added == ()
    assert arranged.plan == plan(task("a", "src/**", after=("b",)), task("b", "src/**"))


def test_what_follows_from_other_dependencies_is_not_added() -> None:
    arranged = arrange_plan(plan(task("a", "x"), task("b", "x"), task("c", "x")))
    assert [(one.task, one.after) for one in arranged.added] == [("b", "a"), ("c", "b")]


def test_a_task_without_paths_is_flagged_and_made_to_wait_for_nobody() -> None:
    arranged = arrange_plan(plan(task("a", "src/**"), task("b")))
    assert arranged.added == ()
    assert arranged.overlaps == (Overlap("b"),)
    assert arrange_plan(plan(task("a", "src/**"), task("b", after=("a",)))).overlaps == ()


def test_open_tasks_with_the_same_paths_are_flagged_unless_waited_for() -> None:
    others = [
        OpenTask(TaskId("t7"), paths=("src/**",)),
        OpenTask(TaskId("t8"), paths=("docs/**",)),
        OpenTask(TaskId("t9")),
    ]
    one = plan(task("a", "src/x.py"), task("b", "src/y.py", after=("t7",)))
    assert arrange_plan(one, others).overlaps == (Overlap("a", "t7", "src/x.py"),)


def test_a_persons_edit_is_only_flagged() -> None:
    assert take_as_it_is(plan(task("a", "x"), task("b", "x"))).overlaps == (Overlap("b", "a", "x"),)


_GLOBS = st.lists(
    st.sampled_from(["src", "SRC", "a.py", "*", "**", "a*", "?x", "[ab]", "{a,b}", "", ".", "docs"]), min_size=1
)


@given(_GLOBS.map("/".join), _GLOBS.map("/".join))
def test_a_look_at_how_two_globs_begin_decides_nothing_else(first: str, second: str) -> None:
    assume(second)  # no task has an empty path
    assert bool(shared_path((first,), (second,))) is globs_overlap(first, second)


@given(plans())
def test_an_arranged_plan_has_no_cycle_and_no_overlap_without_an_order(made: Plan) -> None:
    arranged = arrange_plan(made)
    tasks = arranged.plan.tasks
    assert not find_cycle({one.key: one.after for one in tasks})
    before = ancestors(arranged.plan)
    for first in tasks:
        for second in tasks:
            if first is not second and shared_path(first.paths, second.paths):
                assert first.key in before[second.key] or second.key in before[first.key]
    assert all(not overlap.other for overlap in arranged.overlaps)


@given(plans())
def test_arranging_only_adds_what_it_tells_and_is_done_once(made: Plan) -> None:
    arranged = arrange_plan(made)
    added = {(one.task, one.after) for one in arranged.added}
    for before, after in zip(made.tasks, arranged.plan.tasks, strict=True):
        assert after.after[: len(before.after)] == before.after
        assert {(after.key, name) for name in after.after[len(before.after) :]} == {
            pair for pair in added if pair[0] == after.key
        }
    assert arrange_plan(arranged.plan).added == ()
