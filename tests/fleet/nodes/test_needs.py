"""Routing by labels: what a task needs, by which labels a node is chosen, and why it waits."""

import platform
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.cli.main import run
from paddock.config.schema import Agent, Config, LandSettings, SessionsSettings
from paddock.core import events as ev
from paddock.core.ids import TaskId
from paddock.core.nodes.events import NodeDrained
from paddock.core.nodes.labels import unmet
from paddock.core.tasks.task import Phase, Task
from paddock.fleet.dispatch.claims import Claims, claim_tasks
from paddock.fleet.dispatch.machine_needs import PAUSE_SECONDS, MachineNeeds, Wait
from paddock.fleet.nodes.needs import lacking_here, needs_of, needs_of_ci, selector, why_no_slot
from paddock.fleet.nodes.placing import NodeSeen
from paddock.fleet.site import Site
from paddock.fleet.workspace import Workspace
from paddock.git.repo import discover
from tests.cli.conftest import git
from tests.core.ledger import Ledger

AUTHOR = ("-c", "user.name=Ana", "-c", "user.email=ana@example.invalid")
HERE = platform.system().lower()
CONFIG = Config(
    agents={"trainer": Agent(needs=("gpu", "os=linux")), "critic": Agent(role="reviewer", needs=("zone=eu",))},
    land=LandSettings(needs=("os=linux",)),
)


def node(name: str, used: int = 0, problem: str = "", **labels: str) -> NodeSeen:
    return NodeSeen(name, f"{name}-id", True, 4, used, labels, problem)


def task(agent: str | None = None, needs: tuple[str, ...] = (), number: int = 1) -> Task:
    ledger = Ledger()
    for _ in range(number - 1):
        ledger.add()
    name = TaskId(f"t{number}")
    ledger.write(ev.Draft(ev.TaskAdded("x", "x", agent=agent, needs=needs), task=name))
    return ledger.task(name)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    git(tmp_path, "init", "-q", "-b", "main", "repo")
    (tmp_path / "repo/paddock.toml").write_text('engine = "scripted"\n[agents.trainer]\nneeds = ["gpu"]\n')
    git(tmp_path / "repo", *AUTHOR, "commit", "-q", "--allow-empty", "-m", "First")
    assert run(["-C", str(tmp_path / "repo"), "init", "--yes"]) == 0
    return Workspace(discover(tmp_path / "repo")).site


def test_a_task_needs_what_it_says_and_what_its_agent_says_and_its_own_word_wins() -> None:
    assert needs_of(CONFIG, task()) == {}
    assert needs_of(CONFIG, task(needs=("tpu",))) == {"tpu": "true"}
    assert needs_of(CONFIG, task("trainer", ("zone=eu",))) == {"gpu": "true", "os": "linux", "zone": "eu"}
    assert needs_of(CONFIG, task("trainer", ("os=darwin",))) == {"gpu": "true", "os": "darwin"}
    assert needs_of(CONFIG, task("nobody", ("gpu",))) == {"gpu": "true"}
    assert needs_of_ci(CONFIG) == {"os": "linux"}


def test_a_review_needs_what_its_reviewer_needs_and_not_what_the_work_needed() -> None:
    under_review = msgspec.structs.replace(task("critic", ("gpu",)), phase=Phase.REVIEWING)
    assert needs_of(CONFIG, under_review) == {"zone": "eu"}


def test_a_system_need_not_be_labelled_where_all_nodes_run_the_same() -> None:
    nodes, linux = (node("n1"), node("n2")), {"n1": "linux", "n2": "linux"}
    assert selector({"os": "linux", "gpu": "true"}, nodes, linux) == {"gpu": "true"}
    assert selector({"os": "darwin"}, nodes, linux) == {"os": "darwin"}
    assert selector({"os": "linux"}, nodes, {"n1": "linux", "n2": "darwin"}) == {"os": "linux"}
    assert selector({"os": "linux"}, nodes, {"n1": "linux"}) == {"os": "linux"}
    assert selector({"os": "linux"}, (), {}) == {"os": "linux"}


def test_one_labelled_node_makes_the_label_count_for_all() -> None:
    nodes = (node("n1", os="linux"), node("n2"))
    assert selector({"os": "linux"}, nodes, {"n1": "linux", "n2": "linux"}) == {"os": "linux"}


values = st.dictionaries(st.sampled_from(["os", "gpu", "zone"]), st.sampled_from(["true", "linux", "darwin"]))
cluster = st.lists(st.tuples(values, st.sampled_from(["linux", "darwin", ""])), max_size=4)


@given(values, cluster)
def test_whatever_node_is_chosen_it_has_the_labels_and_runs_the_system(
    labels: dict[str, str], told: list[tuple[dict[str, str], str]]
) -> None:
    nodes = tuple(NodeSeen(f"n{number}", "", True, 4, 0, having) for number, (having, _) in enumerate(told))
    systems = {f"n{number}": system for number, (_, system) in enumerate(told) if system}
    chosen_by = selector(labels, nodes, systems)
    for one in nodes:
        if not unmet(chosen_by, one.labels):
            assert not unmet(labels, {"os": systems.get(one.name, ""), **one.labels})


@pytest.mark.parametrize(
    ("labels", "nodes", "drained", "words"),
    [
        ({}, (), (), "no node offers agent slots (`paddock nodes` says how)"),
        ({"gpu": "true"}, (node("n1"),), (), "needs gpu: no node has it"),
        (
            {"os": "darwin"},
            (node("n1", os="linux"),),
            (),
            "needs os=darwin: nodes have os=linux",
        ),
        (
            {"gpu": "true", "os": "linux"},
            (node("n1", gpu="true"), node("n2")),
            (),
            "needs gpu, os=linux: os=linux is missing, no node has told what it runs",
        ),
        (
            {"gpu": "true", "zone": "eu"},
            (node("n1", gpu="true"), node("n2", zone="eu")),
            (),
            "needs gpu, zone=eu: no node has all of that",
        ),
        (
            {"gpu": "true"},
            (node("n1", 4, gpu="true"), node("n2", gpu="true"), node("n3", problem="x", gpu="true"), node("n4")),
            ("n2",),
            "no free slot with gpu: n1 has 4 of 4 in use, n2 is drained, n3 has a problem",
        ),
        ({}, (node("n1", 4),), (), "no free slot: n1 has 4 of 4 in use"),
    ],
)
def test_a_task_without_a_slot_is_told_why(
    labels: dict[str, str], nodes: tuple[NodeSeen, ...], drained: tuple[str, ...], words: str
) -> None:
    assert why_no_slot(labels, "", nodes, drained, {}) == words
    assert why_no_slot(labels, "n1", nodes, drained, {}).startswith("its conversation is on node n1")


def test_nodes_without_a_label_for_their_system_are_told_by_what_they_run() -> None:
    nodes, needed = (node("n1"), node("n2")), {"os": "darwin"}
    assert why_no_slot(needed, "", nodes, (), {"n1": "linux", "n2": "linux"}) == "needs os=darwin: nodes run linux"
    assert why_no_slot(needed, "", nodes, (), {"n1": "linux", "n2": "darwin"}) == (
        "needs os=darwin: nodes run darwin and linux, and none has a label that says which: `ray start --labels os=…`"
    )


def test_nothing_is_claimed_for_a_node_that_was_drained_after_it_had_a_slot_reserved(site: Site) -> None:
    ledger = Ledger()
    names = [ledger.add() for _ in range(2)]
    ledger.write(ev.Draft(NodeDrained("n1")))
    wanted = Claims(
        dict.fromkeys(names, "claude"), {}, "b" * 40, 100.0, nodes=dict(zip(names, ("n1", "n2"), strict=True))
    )
    claimed = [
        (draft.task, draft.event.host)
        for draft in claim_tasks(site, ledger.board, wanted)
        if isinstance(draft.event, ev.AttemptStarted)
    ]
    assert claimed == [("t2", "n2")]


def test_on_one_machine_a_task_waits_for_what_that_machine_does_not_have() -> None:
    plain = Config()
    assert lacking_here(plain, task()) == ""
    assert lacking_here(plain, task(needs=(f"os={HERE}",))) == ""
    told = lacking_here(plain, task(needs=("gpu", f"os={HERE}")))
    assert told == f"needs gpu, and this machine has os={HERE} (`sessions.labels`)"
    labelled = Config(sessions=SessionsSettings(labels=("gpu",)))
    assert lacking_here(labelled, task(needs=("gpu", f"os={HERE}"))) == ""


def waits(needs: MachineNeeds, tasks: Sequence[Task], now: float, *, here: bool = False) -> dict[TaskId, Wait]:
    unmet = needs.begin_round(now, here=here)
    assert [one.id for one in tasks if unmet.holds(one)] == list(unmet.waits)
    return unmet.waits


def test_tasks_that_need_the_same_wait_together_and_hold_nobody_else_up(site: Site) -> None:
    needs = MachineNeeds(site)
    first, second = task(needs=("gpu",)), task("trainer", number=2)
    other, plain = task(needs=("tpu",), number=3), task(number=4)
    tasks = (first, second, other, plain)
    assert waits(needs, tasks, 100.0) == {}
    needs.note(tasks, {first.id: "no gpu", plain.id: "all full"}, 100.0)
    wait = ("no gpu", 100.0 + PAUSE_SECONDS)
    assert waits(needs, tasks, 100.5) == {first.id: wait, second.id: wait}
    assert waits(needs, tasks, 100.0 + PAUSE_SECONDS) == {}


def test_on_one_machine_only_a_person_ends_the_wait_for_what_it_lacks(site: Site) -> None:
    found = waits(MachineNeeds(site), (task(needs=("gpu",)), task(number=2)), 100.0, here=True)
    assert list(found) == ["t1"]
    assert found[TaskId("t1")][1] is None
