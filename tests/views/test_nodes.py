"""Nodes as readers get them: by what the daemon has seen, and where that is not known, by the log alone."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from paddock.config.schema import Config, SessionsSettings
from paddock.core import events as ev
from paddock.core.ids import AttemptId
from paddock.core.leases.lease import Holder, Lease, LeaseGranted
from paddock.core.merge import events as qe
from paddock.core.merge.model import Change, Purpose
from paddock.core.nodes.events import NodeDrained
from paddock.core.nodes.tenure import node_lease
from paddock.fleet.nodes.messages import NodeFacts
from paddock.fleet.nodes.placing import NodeSeen
from paddock.fleet.nodes.register import NodeRegister
from paddock.fleet.service.presence import DaemonSighting, Presence
from paddock.views.fleet.nodes import FORGOTTEN_SECONDS, Census, NodesView, find_drift, view_cluster
from paddock.views.log.narration import describe
from tests.cli.node_scene import facts, seen, three_nodes
from tests.core.ledger import START, Ledger
from tests.histories.story import BASE, HEAD, run

CONFIG = Config(sessions=SessionsSettings(runner="ray"))
RUNNING = DaemonSighting(Presence.RUNNING, Lease("daemon", 1, Holder("daemon", "hall-1", 1), START, START + 60))
NOBODY = DaemonSighting(Presence.NONE, None)


def look(
    ledger: Ledger, register: NodeRegister | None = None, daemon: DaemonSighting = RUNNING, later: float = 0.0
) -> NodesView:
    now = START + ledger.board.seq + later
    return view_cluster(Census(ledger.board, register, daemon, now), CONFIG)


def tend(ledger: Ledger, node: str, generation: int = 1, ttl_seconds: float = 60.0) -> None:
    name = node_lease(node)
    ledger.write(ev.Draft(LeaseGranted(name, generation, Holder(name, node), ttl_seconds)))


tools = st.dictionaries(st.sampled_from(["git", "claude", "codex"]), st.sampled_from(["1.0", "2.0"]))


@given(st.dictionaries(st.sampled_from(["n1", "n2", "n3", "n4"]), tools))
def test_drift_names_every_node_once_for_each_tool_that_is_not_the_same_on_all(told: dict[str, dict[str, str]]) -> None:
    drift = {one.tool: one.versions for one in find_drift({node: facts(node, tools=own) for node, own in told.items()})}
    for tool in ("git", "claude", "codex"):
        versions = {own.get(tool, "") for own in told.values()}
        assert (tool in drift) == (len(versions) > 1)
        if tool in drift:
            assert sorted(node for nodes in drift[tool].values() for node in nodes) == sorted(told)
            assert all(told[node].get(tool, "") == version for version, nodes in drift[tool].items() for node in nodes)
            assert list(drift[tool])[-1] == "" or "" not in drift[tool], "what is missing comes last"
            assert "paddock" not in drift


def test_another_version_of_paddock_is_drift() -> None:
    drift = find_drift({"n1": facts("n1"), "n2": facts("n2", version="0.2.0")})
    assert [(one.tool, one.versions) for one in drift] == [("paddock", {"0.1.0": ("n1",), "0.2.0": ("n2",)})]


def test_without_a_register_a_node_is_up_as_long_as_its_deputy_holds_its_lease() -> None:
    ledger = Ledger()
    tend(ledger, "n1")
    node = look(ledger).nodes["n1"]
    assert (node.state, node.words, node.slots, node.away_since) == ("up", "", None, None)
    late = look(ledger, later=61.0).nodes["n1"]
    assert (late.state, late.words) == ("away", "nothing is heard of it")
    assert late.away_since is not None
    assert "n1" not in look(ledger, later=61.0 + FORGOTTEN_SECONDS).nodes


def test_a_forgotten_node_with_work_is_never_left_out() -> None:
    ledger = Ledger()
    task = ledger.add()
    started = ev.AttemptStarted("claude", "b" * 40, "paddock/t1", host="n1", host_id=node_lease("n1"))
    ledger.write(ev.Draft(started, task=task, attempt=AttemptId("t1.1")))
    view = look(ledger, later=10 * FORGOTTEN_SECONDS)
    assert view.nodes["n1"].agents == ("t1.1",)
    assert view.words == "1 node, 1 out of reach"


def test_ci_runs_on_a_node_are_listed_there() -> None:
    ledger = Ledger()
    ledger.write(ev.Draft(qe.CiDefined("make test")), ev.Draft(qe.MainMoved("a" * 40, "0" * 40)))
    change = Change("feature/x", 1, HEAD, BASE, author="ana", title="X", branch="feature/x")
    screen = msgspec.structs.replace(run("r1", Purpose.SCREEN, "feature/x"), host="n1", host_id=node_lease("n1"))
    ledger.write(ev.Draft(qe.ChangeQueued(change)), ev.Draft(screen))
    assert look(ledger).nodes["n1"].runs == ("r1",)


def test_what_was_seen_long_ago_is_told_but_not_as_a_state() -> None:
    ledger = Ledger()
    for number, node in enumerate(("gpu-1", "n2", "n3"), 1):
        tend(ledger, node, number)
    old = look(ledger, three_nodes(START - 3600), NOBODY)
    assert not old.is_current
    assert [one.state for one in old.nodes.values()] == ["up", "up", "up"]
    assert old.nodes["gpu-1"].slots == 16


def test_a_drained_node_that_has_left_the_cluster_stays_drained() -> None:
    ledger = Ledger()
    ledger.write(ev.Draft(NodeDrained("n1", "sold")))
    register = NodeRegister(START + 1, (seen("n2", 0),), {}, {})
    view = look(ledger, register)
    assert {name: node.state for name, node in view.nodes.items()} == {"n1": "drained", "n2": "up"}
    assert (view.slots, view.used) == (16, 0)


def test_why_a_deputy_does_not_work_is_a_problem_of_its_node() -> None:
    ledger = Ledger()
    own: NodeFacts = facts("n1", problem="this node has Paddock 0.0.9, and the daemon has 0.1.0")
    node = NodeSeen("n1", "x", True, 4, 0, {})
    view = look(ledger, NodeRegister(START, (node,), {"n1": own}, {}))
    assert (view.nodes["n1"].state, view.nodes["n1"].words) == ("problem", own.problem)


def test_the_log_tells_of_drains_in_words() -> None:
    ledger = Ledger()
    drained, quiet = ledger.write(ev.Draft(NodeDrained("n1", "a new disk")), ev.Draft(NodeDrained("n1")))
    assert describe(drained, ledger.board) == "node n1 drained by ana@host: a new disk"
    assert describe(quiet, ledger.board) == "node n1 drained by ana@host"
