"""Some attacks of every kind, ten to a yard: what `make test` plays of the arsenal."""

import pytest

from paddock.core.fence import Level
from tests.hostile.arsenal import ALL
from tests.hostile.conftest import MakeGround
from tests.hostile.holes import hole_of
from tests.hostile.levels import available_levels
from tests.hostile.test_fleets import hold

BY_NAME = {attack.name: attack for attack in ALL}
REPOSITORY = (
    *("main-moved", "main-deleted", "branches-deleted", "paddock-refs-deleted", "worktrees-pruned", "collected"),
    *("replaced", "grafted", "filter", "hooks", "textconv", "merge-driver"),
)
OBJECTS = (
    *("dot-git-entry", "dot-dot-entry", "hidden-in-history", "alternates", "index-of-noise", "head-is-a-fifo"),
    *("dot-git-is-a-folder", "dot-git-names-another", "symlinks-out", "submodule-trick", "case-clash", "no-rights"),
)
CHANGES = (
    *("ci-script-exit", "settings-edited", "attributes-eol", "merged-ours", "reverted", "large-leftover", "bad-part"),
    *("trailers-forged", "escapes", "escapes-in-a-diff", "odd-names", "marked-children", "nested-repository"),
)
WORLD = (
    *("daemonised", "forked-twice", "user-repository-removed", "reads-ssh-key", "reads-environment", "reads-the-log"),
    *("log-removed", "wal-truncated", "kills-the-daemon", "red-main-by-path", "home-written", "main-moved", "filter"),
)
"""Only a fence stops these, so they can share a yard behind one."""
GROUPS = [(Level.NONE, REPOSITORY), (Level.NONE, OBJECTS), (Level.NONE, CHANGES), (Level.FILES, WORLD)]


@pytest.mark.parametrize(("level", "names"), GROUPS, ids=["repository", "objects", "changes", "world"])
def test_attacks_that_share_a_yard_break_nothing_and_hold_nobody_up(
    make_ground: MakeGround, level: Level, names: tuple[str, ...]
) -> None:
    if level not in available_levels():
        pytest.skip(f"no fence `{level}` on this machine")
    attacks = [BY_NAME[name] for name in names]
    assert not [attack.name for attack in attacks if attack.gaps_at(level)]
    hold(make_ground, level, [attack for attack in attacks if not hole_of(attack, level)])
