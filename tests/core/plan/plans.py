"""Plans as planners might make them, all of them valid."""

from hypothesis import strategies as st

from paddock.core.plan.plan import Plan, PlannedTask, Size

_PATHS = st.sampled_from(["src/**", "src/a.py", "src/b.py", "docs/**", "docs/x.md", "*.md", "tests", "**/conf.py"])


@st.composite
def plans(draw: st.DrawFn, most: int = 7) -> Plan:
    """Tasks are listed in any order, so that one may wait for another that is listed later."""
    count = draw(st.integers(1, most))
    tasks = []
    for number in range(count):
        earlier = [f"k{other}" for other in range(number)]
        after = draw(st.lists(st.sampled_from(earlier), unique=True, max_size=3)) if earlier else []
        paths = draw(st.lists(_PATHS, unique=True, max_size=3))
        size = draw(st.sampled_from(Size))
        tasks.append(PlannedTask(f"k{number}", f"Title {number}", "Do it.", tuple(paths), tuple(after), size=size))
    return Plan("convoy", tuple(draw(st.permutations(tasks))))
