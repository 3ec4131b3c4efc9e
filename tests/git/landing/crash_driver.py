"""Lands changes in a process of its own that kills itself at a named point; running it again is the recovery.

The remote and the point may be `-`. It remembers nothing: what has landed is read from main.
"""

import os
import signal
from pathlib import Path

from paddock.core.merge.model import Member
from paddock.git.landing.audit import Move
from paddock.git.landing.compose import Composed, Policy, Unit, compose
from paddock.git.landing.held import Held, hold_change, hold_unit, release_unit
from paddock.git.landing.history import read_landed
from paddock.git.landing.land import Landed, follow_remote, land
from paddock.git.landing.messages import NamedMember
from paddock.git.landing.publish import read_remote
from paddock.git.landing.workbench import open_workbench
from paddock.git.repo import Repo, discover
from paddock.git.usertree.checkouts import catch_up


def land_changes(top: str, policy: str, start: str, remote: str, point: str, *changes: str) -> None:
    def checkpoint(name: str) -> None:
        if name == point:
            os.kill(os.getpid(), signal.SIGKILL)

    repo = discover(Path(top))
    bench = open_workbench(repo)
    where = None if remote == "-" else remote
    base = current_main(repo, where)
    landed = {member for tip in read_landed(bench, base, start) for member in tip.members}
    wanted = [Member(name, 1, head) for name, _, head in (change.partition("=") for change in changes)]
    members = tuple(member for member in wanted if member not in landed)
    if not members:
        finish_landing(repo, where, base)
        return
    for member in members:
        assert isinstance(hold_change(repo, member, base, checkpoint), Held)
    built = compose(bench, Unit(base, tuple(NamedMember(member) for member in members), Policy(policy)), checkpoint)
    assert isinstance(built, Composed), built
    hold_unit(repo, built.commit)
    checkpoint("unit.held")
    move = Move("main", base, built.commit, built.tree, members, Policy(policy))
    result = land(repo, move, where, checkpoint=checkpoint)
    assert isinstance(result, Landed), result
    release_unit(repo, built.commit)


def current_main(repo: Repo, remote: str | None) -> str:
    if remote is None:
        commit = repo.resolve("refs/heads/main")
    else:
        seen = read_remote(repo, remote, "main")
        assert isinstance(seen, str), seen
        commit = seen
    assert commit is not None
    return commit


def finish_landing(repo: Repo, remote: str | None, tip: str) -> None:
    if remote is not None:
        follow_remote(repo, "main", tip)
    else:
        catch_up(repo, "main")
    release_unit(repo, tip)
