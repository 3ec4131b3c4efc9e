"""A fleet whose git dies by SIGKILL at any call of a task's whole life: nothing is lost and nobody is blamed."""

from pathlib import Path

import pytest

from paddock.core.events import AttemptEnded, TaskBlocked
from paddock.core.merge import events as qe
from tests.fleet.conftest import MakeYard, OneOfMany
from tests.fleet.yard import Yard, commit, write
from tests.git.killer import OURS, GitKiller

BLAME = (TaskBlocked, qe.ChangeConflicted, qe.ChangeRejected, qe.QueueHalted, qe.CompositionRefused)
LAND = {"PADDOCK_LAND_APPROVAL": "none", "PADDOCK_LAND_CI": "test -e README.md"}
STRIDE = 12


def live(yard: Yard, killer: GitKiller) -> None:
    """Two tasks, one of which leaves a file uncommitted, from their worktrees to main."""
    yard.add(write("a.txt"), commit("Add a"))
    yard.add(write("b.txt"), commit("Add b"), write("c.txt"))
    yard.run(env={"PATH": killer.path})


def assert_all_landed(yard: Yard) -> None:
    told = "\n".join(f"{record.seq} {record.event}" for record in yard.records())
    for name in ("t1", "t2"):
        assert yard.task(name).phase.value == "landed", told
    ended = [record.event for record in yard.records(AttemptEnded) if isinstance(record.event, AttemptEnded)]
    assert sorted(event.outcome.value for event in ended) == ["delivered", "unsaved"], told
    assert not [record.event for record in yard.records() if isinstance(record.event, BLAME)], told
    assert set(yard.git("ls-tree", "-r", "--name-only", "main").split()) >= {"a.txt", "b.txt", "c.txt"}
    assert yard.git("status", "--short") == ""
    assert not yard.unreachable_commits()
    yard.assert_nothing_is_left()


@pytest.mark.parametrize("first", [0, STRIDE // 2])
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_git_killed_again_and_again_loses_nothing(make_yard: MakeYard, tmp_path: Path, first: int, after: bool) -> None:
    yard, killer = make_yard(**LAND), GitKiller(tmp_path / "killer")
    killer.arm_every(STRIDE, first, after=after)
    live(yard, killer)
    assert killer.calls > STRIDE * 3
    assert_all_landed(yard)


@pytest.mark.slow
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_git_killed_at_any_call_loses_nothing(
    one_of_many: OneOfMany, tmp_path: Path, subtests: pytest.Subtests, after: bool
) -> None:
    """Every twelfth in one life, the next ones in another; then each kind of call that was spared."""
    killer = GitKiller(tmp_path / "killer")

    def play(what: str) -> None:
        with subtests.test(what), one_of_many(**LAND) as yard:
            live(yard, killer)
            assert_all_landed(yard)

    killer.arm(pattern=OURS)
    play("undisturbed")
    kinds = killer.heard
    for first in range(STRIDE):
        killer.arm_every(STRIDE, first, after=after)
        play(f"{first}, then every {STRIDE}th")
    for kind in sorted(kinds - killer.killed):
        killer.arm(1, 3, pattern=kind, after=after)  # the first may be of a kind that this pattern includes
        play(kind)
    assert not kinds - killer.killed
