"""Any shell script is an agent: `[engines.sh] command = ["bash", "-c", "{task}"]`; agents do all sorts of things."""

import json
import shutil
from pathlib import Path

import pytest

from paddock.core.events import DaemonTroubled
from paddock.core.ids import TaskId
from paddock.core.upkeep.survey import SlotState
from paddock.git.worktrees.slots import list_slots, read_record
from paddock.sessions.marks import find_marked
from tests.fleet.conftest import MakeYard
from tests.fleet.yard import Yard


@pytest.fixture
def shell_yard(make_yard: MakeYard) -> Yard:
    yard = make_yard()
    with (yard.top / "paddock.toml").open("a") as file:
        file.write('[engines.sh]\ncommand = ["bash", "-c", "{task}"]\n')
    return yard


def add(yard: Yard, script: str, attempts: int = 1) -> TaskId:
    return yard.add_all([{"brief": script, "engine": "sh", "attempts": attempts}])[0]


SHORT_LINES, ONE_LINE = "yes", "yes | tr -d '\\n'"


def in_bursts(flood: str) -> str:
    """As endless, and as much in a second as is kept of all of it many times over; the others get the processor too."""
    return f"while :; do {flood} | head -c 8M; sleep 0.25; done"


@pytest.mark.parametrize(
    "flood",
    [
        pytest.param(in_bursts(SHORT_LINES), id="of short lines"),
        pytest.param(in_bursts(ONE_LINE), id="of one line"),
        pytest.param(SHORT_LINES, id="of short lines, without a break", marks=pytest.mark.slow),
        pytest.param(ONE_LINE, id="of one line, without a break", marks=pytest.mark.slow),
    ],
)
def test_an_endless_flood_is_ended_at_its_deadline_and_bounded_and_holds_nobody_up(
    shell_yard: Yard, flood: str
) -> None:
    noisy = add(shell_yard, flood)
    quiet = add(shell_yard, "echo a > a && git add a && git commit -qm a")
    limits = {"PADDOCK_TIMEOUTS_TURN": "8s", "PADDOCK_LIMITS_OUTPUT_MB": "1"}
    shell_yard.run(env=limits, code=1)
    assert shell_yard.attempt(noisy).outcome == "timeout"
    ended = {name: shell_yard.attempt(name).ended for name in (noisy, quiet)}
    assert (ended[quiet] or 0) < (ended[noisy] or 0)
    out = shell_yard.attempt_folder(f"{noisy}.1") / "turn-1.out"
    assert out.stat().st_size > 1 << 20
    assert out.stat().st_blocks * 512 <= 1 << 20
    shell_yard.assert_nothing_is_left()


def test_a_repository_an_agent_leaves_in_its_worktree_is_kept_until_a_person_has_it_tried_again(
    shell_yard: Yard,
) -> None:
    script = "[ $PADDOCK_ATTEMPT != t1.1 ] && echo a > a && git add a && git commit -qm a && exit; git init -q inner"
    task = add(shell_yard, f"{script}; git -C inner commit -q --allow-empty -m inner", attempts=2)
    shell_yard.run(code=1)
    assert (shell_yard.task(task).phase, shell_yard.attempt(task).outcome) == ("blocked", "kept")
    assert "inner" in shell_yard.attempt(task).reason
    shell_yard.paddock("retry", task)
    shell_yard.run(code=0)
    assert (shell_yard.task(task).phase, shell_yard.attempt(task).outcome) == ("approval", "delivered")
    slots = [(slot, read_record(slot)) for slot in list_slots(shell_yard.worktrees)]
    kept = [slot for slot, record in slots if record is not None and record.state is SlotState.KEPT]
    assert [(slot.path / "inner" / ".git").is_dir() for slot in kept] == [True]


def test_a_run_gives_up_and_says_so_once_when_an_agent_has_deleted_main(shell_yard: Yard) -> None:
    add(shell_yard, f"git -C {shell_yard.top} update-ref -d refs/heads/main; echo a > a; git add a; git commit -qm a")
    late = shell_yard.add_all([{"brief": "echo b", "engine": "sh", "after": ["t1"]}, {"brief": "c", "engine": "sh"}])[1]
    said = shell_yard.run("--max", "1", env={"PADDOCK_FENCE_LEVEL": "none"}, code=1)
    problem = "there is no branch `main` to start from"
    assert said.count("gave up starting agents: no commit to start from") == 1
    troubled = [record for record in shell_yard.records(DaemonTroubled) if problem in record.event.problem]  # type: ignore[attr-defined]
    assert len(troubled) == 1
    assert problem in shell_yard.paddock("status")
    assert shell_yard.task(late).phase == "ready"


def test_the_agents_of_a_deleted_repository_are_ended_with_it(shell_yard: Yard) -> None:
    task, trace = add(shell_yard, "sleep 600"), shell_yard.folder / "trace"
    daemon = shell_yard.start("run", env={"PADDOCK_TEST_TRACE": str(trace)})
    shell_yard.await_that(lambda: len(shell_yard.processes()) > 1, "the agent")
    # One that is still starting its agent finds the turn's files gone first, and ends the agent for that.
    shell_yard.await_that(lambda: "turn.followed" in trace.read_text(), "the daemon at rest")
    marker = shell_yard.marker
    shutil.rmtree(shell_yard.top)
    assert daemon.wait() == 0
    assert "is gone: there is nothing left to run; ended" in daemon.words, task
    assert not find_marked(marker)


def test_agents_start_from_the_main_of_a_remote_with_a_relative_address(shell_yard: Yard, tmp_path: Path) -> None:
    shell_yard.git("init", "-q", "--bare", "-b", "main", str(tmp_path / "hub.git"))
    shell_yard.git("remote", "add", "hub", "../hub.git")
    shell_yard.git("push", "-q", "hub", "main")
    newer = shell_yard.git("commit-tree", "main^{tree}", "-p", "main", "-m", "From elsewhere")
    shell_yard.git("push", "-q", "hub", f"{newer}:refs/heads/main")
    shell_yard.git("update-ref", "-d", "refs/remotes/hub/main")
    task = add(shell_yard, "git log --format=%s; echo a > a; git add a; git commit -qm a")
    shell_yard.run(env={"PADDOCK_LAND_REMOTE": "hub"}, code=0)
    assert shell_yard.attempt(task).base == newer


def test_a_remote_that_cannot_be_reached_is_told_once_and_work_goes_on(shell_yard: Yard) -> None:
    shell_yard.git("remote", "add", "hub", "../nowhere.git")
    names = [add(shell_yard, f"echo a > a{number}; git add .; git commit -qm a") for number in range(2)]
    shell_yard.run("--max", "1", env={"PADDOCK_LAND_REMOTE": "hub"})
    assert [shell_yard.attempt(name).outcome for name in names] == ["delivered"] * 2
    told = [record.event for record in shell_yard.records(DaemonTroubled)]
    assert [event.what for event in told if isinstance(event, DaemonTroubled)] == ["fetching main"]


def test_the_output_of_a_setup_that_failed_is_kept_for_its_attempt(shell_yard: Yard) -> None:
    task = add(shell_yard, "true", attempts=2)
    setup = "echo says $(cat /proc/sys/kernel/random/uuid) >&2; exit 7"
    shell_yard.run(env={"PADDOCK_WORKTREES_SETUP": setup}, code=1)
    assert f"(exit 7); `paddock tail {task}.2` shows its output" in shell_yard.attempt(task).reason
    first, second = (shell_yard.paddock("tail", f"{task}.{number}") for number in (1, 2))
    assert "says" in first
    assert "says" in second
    assert first != second
    assert json.loads(shell_yard.paddock("tail", task, "--json"))["text"] == second.strip()
