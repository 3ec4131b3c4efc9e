"""Which agent gets a task: what is named, owned, taken and was done well, and nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from paddock.core import events as ev
from paddock.core.ids import TaskId
from paddock.core.intent.tasks import Batch, Known, TaskSpec, add_tasks, edit_task
from paddock.core.routing import LOOKED_BACK, Past, RosterAgent, Work, owner_of, past_in, route
from paddock.core.tasks.task import Phase
from tests.core.ledger import Ledger

PARSER = RosterAgent("parser", owns=("src/parser/**",), kinds=("grammar", "parser"))
SOURCES = RosterAgent("sources", owns=("src/**",))
TESTER = RosterAgent("tester", kinds=("tests",), labels=("flaky",))
WRITER = RosterAgent("writer", kinds=("docs",), owns=("docs/**", "**/*.md"), labels=("docs",))
CRITIC = RosterAgent("critic", role="reviewer", owns=("**",), kinds=("security",))
AGENTS = (PARSER, SOURCES, TESTER, WRITER, CRITIC)


@pytest.mark.parametrize(
    ("work", "agent", "words"),
    [
        (Work(agent="anybody", kind="docs"), "anybody", "`anybody` was named"),
        (Work(("src/parser/a.py",)), "parser", "it owns `src/parser/**`, and so `src/parser/a.py`"),
        (Work(("src/web/a.py",)), "sources", "it owns `src/**`, and so `src/web/a.py`"),
        (Work(("src/web/**", "src/parser/**")), "sources", "it fits better than parser"),
        (Work(("src/web/a.py",), "docs"), "sources", "it fits better than writer"),
        (Work(("src/parser/a.py",), "tests"), "sources", "it fits better than tester"),
        (Work((), "tests"), "tester", "it takes the kind `tests`"),
        (Work((), None, ("flaky", "slow")), "tester", "it takes the label `flaky`"),
        (Work(("README.md",)), "writer", "it owns `**/*.md`, and so `README.md`"),
        (Work(("docs",)), "writer", "it owns `docs/**`, and so `docs`"),
        (Work(("lib/**/*.md",)), "writer", "it owns `**/*.md`, and so `lib/**/*.md`"),
        (Work(("lib/**",)), None, "no agent owns `lib/**`"),
        (Work(("lib",)), None, "no agent owns `lib`"),
        (Work(("src/{a,b}/[xy]?.py",)), "sources", "it owns `src/**`, and so `src/{a,b}/[xy]?.py`"),
        (Work(("src/parser",)), "parser", "it fits better than sources"),
        (Work(("lib/x.c",)), None, "no agent owns `lib/x.c`"),
        (Work((), "perf", ("a", "b")), None, "no agent takes any of `a` and `b`"),
        (Work(), None, "it names no agent, and neither paths, a kind nor labels to choose one by"),
        (Work((), "security"), None, "no agent takes the kind `security`"),
        (Work((), "security", role="reviewer"), "critic", "it takes the kind `security`"),
        (Work(role="planner"), None, "there is no agent with the role planner"),
    ],
)
def test_a_task_goes_where_it_belongs_and_says_why(work: Work, agent: str | None, words: str) -> None:
    decided = route(work, AGENTS)
    assert (decided.agent, words in decided.why) == (agent, True), decided


def test_every_agent_that_did_not_get_it_hears_why() -> None:
    decided = route(Work(("src/parser/a.py",), "parser"), AGENTS)
    assert {one.name: one.reasons for one in decided.weighed} == {
        "critic": ("it is a reviewer, not a worker",),
        "parser": ("it owns `src/parser/**`, and so `src/parser/a.py`", "it takes the kind `parser`"),
        "sources": ("it owns `src/**`, and so `src/parser/a.py`",),
        "tester": ("it takes only the kind `tests`",),
        "writer": ("it takes only the kind `docs`",),
    }


def test_among_equals_the_past_decides_and_then_the_order_of_the_configuration() -> None:
    equals = (RosterAgent("b", kinds=("k",)), RosterAgent("a", kinds=("k",)), RosterAgent("c", kinds=("k",)))
    decided = route(Work((), "k"), equals)
    assert decided.agent == "a"
    assert decided.why[-1].endswith("the first in the configuration gets it")
    placed = (RosterAgent("b", kinds=("k",), place=1), RosterAgent("a", kinds=("k",), place=2))
    assert route(Work((), "k"), placed).agent == "b"
    past = {"a": Past(1, 3), "b": Past(5, 1), "c": Past()}
    decided = route(Work((), "k"), equals, past.__getitem__)
    assert decided.agent == "b"
    assert "5 of 6 like tasks went well" in decided.why[-1]


def test_the_owner_of_a_file_is_whose_glob_names_it_most_closely() -> None:
    assert owner_of("src/parser/a.py", AGENTS) == "parser"
    assert owner_of("src/web/a.py", AGENTS) == "sources"
    assert owner_of("lib/a.py", AGENTS) is None
    assert owner_of("lib/a.py", AGENTS, role="reviewer") == "critic"
    assert owner_of("x", [RosterAgent("b", owns=("x",)), RosterAgent("a", owns=("x",))]) == "a"


def known(*roster: RosterAgent) -> Known:
    return Known(frozenset(one.name for one in roster), frozenset(), roster)


def add(ledger: Ledger, spec: TaskSpec, names: Known) -> None:
    ledger.write(*add_tasks(ledger.board, Batch((spec,)), names))


def test_paths_and_labels_bring_an_agent_to_a_task_that_has_none() -> None:
    ledger, names, t1 = Ledger(), known(PARSER, TESTER), TaskId("t1")
    add(ledger, TaskSpec("x"), names)
    assert ledger.task("t1").agent is None
    ledger.write(*edit_task(ledger.board, t1, ev.TaskEdited(labels=("flaky",)), names))
    assert (ledger.task("t1").agent, ledger.task("t1").labels) == ("tester", ("flaky",))
    ledger.write(*edit_task(ledger.board, t1, ev.TaskEdited(paths=("src/parser/x",)), names))
    assert ledger.task("t1").agent == "tester"


def test_the_past_is_read_from_few_tasks_and_from_like_ones() -> None:
    ledger, names = Ledger(), known(RosterAgent("a", kinds=("k", "l")), RosterAgent("b", kinds=("k",)))
    for agent, kind in (("a", "k"), ("a", "l"), ("b", "k"), ("b", "k")):
        add(ledger, TaskSpec("x", agent=agent, kind=kind), names)
    for number, phase in ((1, Phase.FAILED), (2, Phase.LANDED), (3, Phase.NOOP)):
        task = ledger.task(f"t{number}")
        ledger.board.tasks.put(replace(task, phase=phase))
    assert (past_in(ledger.board, "k")("a"), past_in(ledger.board, "k")("b")) == (Past(0, 1), Past(1, 0))
    assert past_in(ledger.board, None)("a") == Past(1, 1)
    for _ in range(LOOKED_BACK):
        add(ledger, TaskSpec("x"), names)
    assert past_in(ledger.board, None)("a") == Past()


words = st.sampled_from(["a", "b", "docs", "tests"])
globs = st.sampled_from(["**", "src/**", "src/a/*.py", "docs/x.md", "src/a/b.py", "docs"])
candidates = st.builds(
    RosterAgent,
    st.sampled_from(list("klmnop")),
    st.sampled_from(["worker", "worker", "reviewer"]),
    st.lists(globs, max_size=2).map(tuple),
    st.lists(words, max_size=2).map(tuple),
    st.lists(words, max_size=2).map(tuple),
)
rosters = st.lists(candidates, max_size=5, unique_by=lambda one: one.name)
works = st.builds(
    Work,
    st.lists(globs, max_size=3).map(tuple),
    st.none() | words,
    st.lists(words, max_size=3).map(tuple),
    st.none(),
    st.sampled_from(["worker", "reviewer"]),
)
pasts = st.dictionaries(st.sampled_from(list("klmnopz")), st.builds(Past, st.integers(0, 4), st.integers(0, 4)))


@given(works, rosters, pasts, st.randoms())
def test_the_order_of_agents_changes_nothing_and_there_is_always_an_answer(
    work: Work, agents: list[RosterAgent], past: dict[str, Past], random: object
) -> None:
    decided = route(work, agents, lambda name: past.get(name, Past()))
    shuffled = agents.copy()
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert route(work, shuffled, lambda name: past.get(name, Past())) == decided
    assert decided.why
    assert all(one.reasons for one in decided.weighed)
    assert {one.name for one in decided.weighed} == {one.name for one in agents}
    chosen = [one for one in agents if one.name == decided.agent]
    assert (decided.agent is None) != bool(chosen)
    assert all(one.role == work.role for one in chosen)
    assert all(not one.kinds or work.kind is None or work.kind in one.kinds for one in chosen)


@given(works, rosters, pasts, candidates)
def test_one_more_agent_takes_the_task_itself_or_changes_nothing(
    work: Work, agents: list[RosterAgent], past: dict[str, Past], one: RosterAgent
) -> None:
    more = RosterAgent("z", one.role, one.owns, one.kinds, one.labels)
    before = route(work, agents, lambda name: past.get(name, Past())).agent
    after = route(work, [*agents, more], lambda name: past.get(name, Past()))
    assert after.agent in (before, "z")
    unrelated = next(seen for seen in after.weighed if seen.name == "z").rank is None
    assert not unrelated or after.agent == before


@given(works, rosters, words)
def test_who_is_named_gets_it(work: Work, agents: list[RosterAgent], name: str) -> None:
    assert route(Work(work.paths, work.kind, work.labels, name, work.role), agents).agent == name
