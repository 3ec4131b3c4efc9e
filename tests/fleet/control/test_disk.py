"""A disk without room holds the fleet up, says so, and is nobody's failure."""

import shutil

import pytest

from tests.fleet.conftest import MakeYard
from tests.fleet.control.test_clocks import WORK, leave, verdicts

FULL_FLOOR_MB = str(2**40)


@pytest.mark.parametrize("adapts", ["true", "false"])
def test_below_the_floor_nothing_starts_whether_or_not_the_load_is_looked_at(make_yard: MakeYard, adapts: str) -> None:
    yard = make_yard(PADDOCK_WORKTREES_DISK_FLOOR_MB=FULL_FLOOR_MB, PADDOCK_LIMITS_ADAPT_TO_LOAD=adapts)
    yard.add(*WORK, attempts=1)
    fleet = yard.start("run", "--until-idle")
    reason = yard.await_that(lambda: yard.row("t1")["reason"], "the reason")
    assert reason.startswith("disk nearly full: ")
    leave(fleet)
    assert yard.task().started == 0
    yard.env["PADDOCK_WORKTREES_DISK_FLOOR_MB"] = "1"
    yard.run(code=0)
    assert verdicts(yard, "t1") == [("delivered", False)]


def test_a_disk_that_fills_up_while_a_worktree_is_made_uses_up_no_attempt(make_yard: MakeYard) -> None:
    yard = make_yard(PADDOCK_WORKTREES_POOL="0", PADDOCK_LIMITS_MAX_AGENTS="1")
    full = yard.folder / "full"
    full.touch()
    git = yard.folder / "bin" / "git"
    git.parent.mkdir()
    git.write_text(
        "#!/bin/sh\n"
        f'if [ -e "{full}" ]; then case "$*" in *" reset --hard "*)\n'
        '  echo "fatal: cannot create directory: No space left on device" >&2; exit 128;;\n'
        "esac; fi\n"
        f'exec {shutil.which("git")} "$@"\n'
    )
    git.chmod(0o755)
    yard.env["PATH"] = f"{git.parent}:{yard.env['PATH']}"
    yard.add(*WORK, attempts=1)
    yard.add(*WORK)
    fleet = yard.start("run", "--until-idle")
    yard.await_that(lambda: "No space left on device" in yard.row("t2")["reason"], "the reason of the other")
    leave(fleet)
    assert (verdicts(yard, "t1"), yard.task().counted) == ([("no_space", False)], 0)
    assert yard.task("t2").started == 0
    full.unlink()
    yard.run(code=0)
    assert verdicts(yard, "t1") == [("no_space", False), ("delivered", False)]
    assert verdicts(yard, "t2") == [("delivered", False)]
