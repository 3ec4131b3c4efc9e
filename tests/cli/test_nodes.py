"""`paddock nodes` and `paddock drain`: what people see of the machines that agents run on, and keep work away from."""

import re
import threading
import time

import pytest

from paddock.core.leases.lease import Holder
from paddock.fleet.nodes.register import write_register
from paddock.fleet.nodes.tally import FILE as REGISTER
from tests.cli.conftest import Cli
from tests.cli.node_scene import SETTINGS, NodeScene, three_nodes


@pytest.fixture
def scene(cli: Cli) -> NodeScene:
    """Three nodes, with agents at work on two of them, as the daemon of this machine sees them."""
    path = cli.top / "paddock.toml"
    path.write_text(path.read_text() + SETTINGS)
    scene = NodeScene(cli.top)
    scene.set_up(three_nodes())
    return scene


SHOWN = """\
3 nodes, 3 of 32 slots in use, 1 with a problem; Ray at `10.0.0.1:6379`

node   state      slots    agents  CI  load       memory free   disk free  worktrees
gpu-1  ● up       2 of 16  2       0   3.1 of 16  41 of 64 GiB  210 GiB    3, 1 warm
    at work: t1.1, t2.1
    labels: gpu, os=linux
n2     ● up       1 of 16  1       0   0.2 of 16  41 of 64 GiB  210 GiB
    at work: t3.1
    labels: os=linux
n3     ! problem  0 of 16  0       0
    its manager does not answer
    labels: os=linux

tools differ
  claude  2.0.3 on n2; 2.1.0 on gpu-1
  codex   0.9.1 on n2; none on gpu-1
"""


@pytest.mark.usefixtures("scene")
def test_nodes_shows_slots_load_work_problems_labels_and_where_tools_differ(cli: Cli) -> None:
    assert cli.shown("nodes") == SHOWN


@pytest.mark.usefixtures("scene")
def test_the_same_as_json(cli: Cli) -> None:
    told = cli.good("nodes", "--json").json()
    assert (told["schema"], told["runner"], told["is_current"]) == (1, "ray", True)
    assert (told["slots"], told["used"]) == (32, 3)
    assert {name: node["state"] for name, node in told["nodes"].items()} == {"gpu-1": "up", "n2": "up", "n3": "problem"}
    assert told["nodes"]["gpu-1"]["agents"] == ["t1.1", "t2.1"]
    assert told["nodes"]["gpu-1"]["labels"]["gpu"] == "true"
    assert told["nodes"]["n3"]["words"] == "its manager does not answer"
    assert told["drift"][0] == {"tool": "claude", "versions": {"2.0.3": ["n2"], "2.1.0": ["gpu-1"]}}
    assert told["drift"][1] == {"tool": "codex", "versions": {"0.9.1": ["n2"], "": ["gpu-1"]}}


def test_where_agents_run_on_one_machine_nodes_says_so_and_how_to_get_more(cli: Cli) -> None:
    said = cli.good("nodes").out
    assert said == (
        'agents run on the machine of the daemon: `[sessions] runner` is "local"\n'
        "to run them on several machines, see docs/how-to/nodes.md\n"
    )
    assert cli.good("nodes", "--json").json()["nodes"] == {}


def test_a_cluster_without_slots_says_how_a_node_offers_them(cli: Cli) -> None:
    path = cli.top / "paddock.toml"
    path.write_text(path.read_text() + SETTINGS)
    said = cli.good("nodes").out
    assert said.startswith("no nodes")
    assert "ray start --address HOST:6379 --resources '{\"agent_slots\": 8}' --labels paddock-node=NAME" in said


def test_from_another_machine_nodes_tells_what_the_log_knows_and_where_the_rest_is(cli: Cli) -> None:
    path = cli.top / "paddock.toml"
    path.write_text(path.read_text() + SETTINGS)
    scene = NodeScene(cli.top)
    scene.lead(Holder("daemon", "headquarters", 7, host_id="another"))
    scene.begin("t1", "gpu-1")
    scene.tend("gpu-1", 1)
    cli.good("drain", "gpu-1", "--reason", "a new disk")
    said = cli.shown("nodes")
    assert said.splitlines()[0] == (
        "1 node, 1 draining; slots, labels and tools are known on headquarters, where the daemon runs"
    )
    assert "gpu-1  ◐ draining" in said
    assert "at work: t1.1" in said
    assert re.search(r"drained \d+s ago by ana@HOST : a new disk", said)
    told = cli.good("nodes", "--json").json()
    assert (told["at"], told["is_current"], told["machine"]) == (None, False, "headquarters")
    assert told["nodes"]["gpu-1"]["slots"] is None


def test_a_node_that_the_cluster_does_not_show_is_out_of_reach(cli: Cli, scene: NodeScene) -> None:
    register = three_nodes()
    left = tuple(node for node in register.nodes if node.name != "n2")
    write_register(scene.workspace.state_dir, type(register)(time.time(), left, register.facts, register.reserved))
    told = cli.good("nodes", "--json").json()["nodes"]["n2"]
    assert (told["state"], told["words"], told["agents"]) == ("away", "it is not in the cluster", ["t3.1"])
    assert told["away_since"] is not None
    assert "it is not in the cluster, for" in cli.good("nodes").out


def test_what_an_ended_daemon_saw_last_is_not_told_as_what_is(cli: Cli, scene: NodeScene) -> None:
    write_register(scene.workspace.state_dir, three_nodes(time.time() - 600))
    said = cli.good("nodes").out
    assert "no daemon looks at them (`paddock up` starts one): this is what was seen last" in said
    told = cli.good("nodes", "--json").json()
    assert not told["is_current"]
    assert told["nodes"]["n3"]["words"] == "", "what was wrong then may be right now"


def test_a_register_that_cannot_be_read_is_as_good_as_none(cli: Cli, scene: NodeScene) -> None:
    (scene.workspace.state_dir / REGISTER).write_text('{"at": "now"')
    told = cli.good("nodes", "--json").json()
    assert set(told["nodes"]) == {"gpu-1", "n2", "n3"}, "the log knows them"
    assert cli.good("status").out.count("3 nodes") == 1


@pytest.mark.usefixtures("scene")
def test_a_drained_node_is_shown_everywhere_and_used_again_after_undo(cli: Cli) -> None:
    assert cli.shown("drain", "n2", "--reason", "a new disk") == (
        "n2 is drained: t3.1 goes on there to the end\n`paddock drain n2 --wait` waits for that\n"
    )
    assert cli.shown("drain", "n2", "--reason", "a new disk").startswith("n2 is drained already")
    assert cli.shown("drain", "n3") == "n3 is drained: nothing is at work there\n"
    assert "n2     ◐ draining" in cli.good("nodes").out
    assert "n3     ○ drained" in cli.good("nodes").out
    assert "3 nodes, 2 of 16 slots, n2, n3 drained" in cli.good("status").out
    told = cli.good("status", "--json").json()["nodes"]
    assert told == {"nodes": 3, "slots": 16, "used": 2, "drained": ["n2", "n3"]}
    assert cli.shown("drain", "n2", "n3", "--undo") == "n2, n3 are used again\n"
    assert cli.shown("nodes") == SHOWN


@pytest.mark.usefixtures("scene")
def test_draining_as_json_names_what_is_still_at_work(cli: Cli) -> None:
    told = cli.good("drain", "gpu-1", "n2", "--json").json()
    assert (told["nodes"], told["drained"]) == (["gpu-1", "n2"], True)
    assert told["at_work"] == ["t1.1", "t2.1", "t3.1"]
    again = cli.good("drain", "gpu-1", "--json").json()
    assert again["seq"] is None, "nothing new was recorded"


@pytest.mark.usefixtures("scene")
def test_an_unknown_node_is_refused_with_the_nearest_name_and_nothing_is_drained(cli: Cli) -> None:
    said = cli("drain", "n2", "gpu1")
    assert said.code == 1
    assert said.err == "error: there is no node `gpu1`\n\nhint: did you mean `gpu-1`?\n"
    assert cli("drain", "n2", "--undo").code == 1


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("drain",), "Missing argument"),
        (("drain", "n2", "--undo", "--wait"), "--undo does not go with --wait"),
        (("drain", "n2", "--undo", "--reason", "x"), "--undo does not go with --reason"),
        (("drain", "n2", "--timeout", "3s"), "--timeout is for --wait"),
        (("drain", "a b"), "`a b` cannot be the name of a node"),
    ],
)
def test_misuse_is_said_with_exit_code_2(cli: Cli, arguments: tuple[str, ...], complaint: str) -> None:
    said = cli(*arguments)
    assert said.code == 2
    assert complaint in said.err


@pytest.mark.usefixtures("scene")
def test_waiting_ends_when_the_last_agent_there_has_ended(cli: Cli) -> None:
    drained = threading.Event()

    def end() -> None:
        while "n2" not in NodeScene(cli.top).workspace.board().drains:
            time.sleep(0.02)
        drained.set()
        NodeScene(cli.top).end("t3")

    ending = threading.Thread(target=end)
    ending.start()
    said = cli("drain", "n2", "--wait", "--timeout", "2m")
    ending.join()
    assert drained.is_set()
    assert (said.code, said.out) == (0, "n2 is drained: nothing is at work there\n")


@pytest.mark.usefixtures("scene")
def test_waiting_that_takes_too_long_fails_and_says_how_to_end_what_runs(cli: Cli) -> None:
    said = cli("drain", "n2", "--wait", "--timeout", "0.1s")
    assert said.code == 1
    assert "t3.1 is still at work on n2" in said.err
    assert "`paddock stop t3`" in said.err


def test_waiting_for_a_node_that_nobody_looks_after_is_refused(cli: Cli) -> None:
    scene = NodeScene(cli.top)
    scene.begin("t1", "n1")
    said = cli("drain", "n1", "--wait")
    assert said.code == 1
    assert "node `n1` is out of reach, and no daemon is running" in said.err


def test_an_agent_may_not_drain_the_node_that_it_runs_on(
    cli: Cli, scene: NodeScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PADDOCK_ATTEMPT", "t3.1")
    monkeypatch.setenv("PADDOCK_MARKER", f"{scene.workspace.marker}:t3.1")
    said = cli("drain", "n2")
    assert (said.code, said.out) == (1, "")
    assert "`paddock drain` is not for agents: you run inside attempt t3.1" in said.err
    assert scene.workspace.board().drains == {}


@pytest.mark.usefixtures("scene")
def test_what_a_task_needs_is_shown_and_edited(cli: Cli) -> None:
    cli.good("add", "Train it", "--needs", "gpu,os=linux", "--needs", "zone=eu")
    assert "needs     gpu, os=linux, zone=eu" in cli.good("show", "t4").out
    told = cli.good("status", "--json").json()["tasks"]
    assert told[3]["needs"] == ["gpu", "os=linux", "zone=eu"]
    assert [told[0]["attempts"][0]["node"], told[2]["attempts"][0]["node"]] == ["gpu-1", "n2"]
    assert "on gpu-1" in cli.good("show", "t1").out
    cli.good("edit", "t4", "--needs", "tpu")
    assert "needs     tpu" in cli.good("show", "t4").out
    cli.good("edit", "t4", "--needs", "")
    assert "needs" not in cli.good("show", "t4").out
    said = cli("add", "Train it", "--needs", "a gpu")
    assert (said.code, said.err.splitlines()[0]) == (2, "error: `a gpu` is not a label that a node can have")


def test_route_tells_what_the_chosen_agent_needs(cli: Cli) -> None:
    folder = cli.top / ".paddock/agents"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "trainer.md").write_text("---\nkinds: training\nneeds: gpu\n---\nYou train.\n")
    assert "  its tasks run on machines with gpu\n" in cli.good("route", "--kind", "training").out
    assert cli.good("route", "--kind", "training", "--json").json()["needs"] == ["gpu"]
    cli.good("add", "Train it", "--kind", "training", "--needs", "os=linux")
    assert "needs     gpu, os=linux" in cli.good("show", "t1").out
