"""Some attacks of every kind, ten to a yard: what `make test` plays of the arsenal."""

import pytest

from paddock.core.fence import Level
from tests.hostile.arsenal import ALL
from tests.hostile.attack import Kind
from tests.hostile.conftest import MakeGround
from tests.hostile.holes import hole_of
from tests.hostile.levels import available_levels
from tests.hostile.test_fleets import hold

BY_NAME = {attack.name: attack for attack in ALL}
REPOSITORY = (
    *("main-moved", "branches-deleted", "paddock-refs-deleted", "worktrees-pruned", "collected", "replaced"),
    *("grafted", "filter", "hooks", "merge-driver", "branch-in-the-way", "exit-is-a-folder"),
)
OBJECTS = (
    *("dot-git-entry", "hidden-in-history", "case-clash", "submodule-trick", "symlinks-out", "alternates"),
    *("head-is-a-fifo", "dot-git-is-a-folder", "dot-git-names-another", "no-rights", "tree-bomb"),
    *("worktree-is-a-symlink",),
)
CHANGES = (
    *("ci-script-exit", "settings-edited", "attributes-eol", "merged-ours", "reverted", "large-leftover", "bad-part"),
    *("nested-repository", "escapes", "escapes-in-a-diff", "marked-children", "down-in-a-loop", "approves-itself"),
    *("answer-takes-for-ever", "answer-with-escapes", "accept-through-a-link"),
    *("bridge-lines-of-none", "bridge-lines-of-noise", "dialog-with-escapes"),
)
WORLD = (
    *("daemonised", "user-repository-removed", "home-written", "reads-ssh-key", "reads-environment", "reads-the-log"),
    *("sends-out", "log-removed", "kills-the-daemon", "red-main-by-path", "ci-moves-main", "ci-daemonises"),
    *("forged-attempt",),
)
"""Only a fence stops these, so they can share a yard behind one."""
GROUPS = [
    (Level.NONE, REPOSITORY),
    (Level.NONE, OBJECTS),
    (Level.NONE, CHANGES),
    (Level.FILES_AND_NETWORK, WORLD),
]


def test_there_are_attacks_of_every_kind_and_none_is_played_twice() -> None:
    names = [name for _, group in GROUPS for name in group]
    assert {BY_NAME[name].kind for name in names} == set(Kind)
    assert len(set(names)) == len(names) == 56


@pytest.mark.parametrize(("level", "names"), GROUPS, ids=["repository", "objects", "changes", "world"])
def test_attacks_that_share_a_yard_break_nothing_and_hold_nobody_up(
    make_ground: MakeGround, level: Level, names: tuple[str, ...]
) -> None:
    if level not in available_levels():
        pytest.skip(f"no fence `{level}` on this machine")
    attacks = [BY_NAME[name] for name in names]
    assert not [attack.name for attack in attacks if attack.gaps_at(level)]
    hold(make_ground, level, [attack for attack in attacks if not hole_of(attack, level)])
