"""kill -9 at every named point between taking a change and having landed it; a second run converges."""

import shutil
import signal
from pathlib import Path

import pytest

from paddock.git.landing.compose import Policy
from paddock.git.landing.held import held_units
from paddock.git.repo import discover
from tests.git.checkpoints import (
    COMPOSE_CHECKPOINTS,
    FOLLOW_CHECKPOINTS,
    HOLD_CHECKPOINTS,
    LAND_CHECKPOINTS,
    REMOTE_LAND_CHECKPOINTS,
    UPDATE_CHECKPOINTS,
)
from tests.git.conftest import git
from tests.git.landing.auditor import audit_history
from tests.git.landing.crash_driver import land_changes
from tests.git.landing.lab import Lab
from tests.warm import run_apart

# Nothing is taken away where files are only added.
CREATING = tuple(point for point in UPDATE_CHECKPOINTS if point != "sync.taken")
BEFORE = (*HOLD_CHECKPOINTS, *COMPOSE_CHECKPOINTS, "unit.held")


def drive(top: Path, policy: Policy, start: str, remote: str, point: str, changes: list[str]) -> int:
    code, complaints = run_apart(land_changes, str(top), policy.value, start, remote, point, *changes)
    assert code in (0, -signal.SIGKILL), complaints
    return code


def sweep(lab: Lab, tmp_path: Path, policy: Policy, remote: str, points: tuple[str, ...]) -> None:
    start = lab.main
    parts = [lab.branch(name, {f"{name}.txt": "x\n"}) for name in ("t1", "t2")]
    changes = [f"{part.member.id}={part.member.head}" for part in parts]
    (lab.top / "README.md").write_text("being edited\n")
    outcomes: dict[str, str] = {}
    for point in ("-", *points):
        copy = tmp_path / f"copy-{point}" / "app"
        shutil.copytree(lab.top, copy, symlinks=True)
        if remote != "-":
            hub = copy.with_name("hub.git")
            git(tmp_path, "clone", "--quiet", "--bare", str(copy), str(hub))
            git(copy, "remote", "add", "origin", str(hub))
            git(copy, "switch", "--quiet", "--detach")  # a branch that is checked out does not follow
        killed = drive(copy, policy, start, remote, point, changes) if point != "-" else 0
        assert killed == (0 if point == "-" else -signal.SIGKILL), f"{point} was never reached"
        drive(copy, policy, start, remote, "-", changes)
        outcomes[point] = git(copy, "rev-parse", "refs/heads/main")
        assert held_units(discover(copy)) == ()
        assert not [lock for lock in (copy / ".git").rglob("*.lock") if lock.name != "checkouts.lock"]
        if remote == "-":
            assert git(copy, "status", "--porcelain") == " M README.md", point
            assert (copy / "README.md").read_text() == "being edited\n"
            assert not (copy / ".git" / "paddock-sync").exists()
        if remote != "-":
            assert git(hub, "rev-parse", "refs/heads/main") == outcomes[point]
    assert len(set(outcomes.values())) == 1, outcomes
    assert audit_history(copy, start, outcomes["-"], policy.value).complaints == ()
    assert start not in outcomes.values()


def test_a_kill_anywhere_ends_in_the_same_main(lab: Lab, tmp_path: Path) -> None:
    sweep(lab, tmp_path, Policy.MERGE, "-", (*BEFORE, *LAND_CHECKPOINTS, *FOLLOW_CHECKPOINTS, *CREATING))


@pytest.mark.parametrize("policy", [Policy.SQUASH, Policy.REBASE])
def test_a_kill_under_a_linear_policy_ends_in_the_same_main(lab: Lab, tmp_path: Path, policy: Policy) -> None:
    sweep(lab, tmp_path, policy, "-", ("compose.committed", "land.moved"))


def test_a_kill_while_landing_on_a_remote_ends_in_the_same_main(lab: Lab, tmp_path: Path) -> None:
    sweep(lab, tmp_path, Policy.MERGE, "origin", REMOTE_LAND_CHECKPOINTS)
