"""Refs of changes are let go of only when another ref holds their commits, whoever rewinds main and whenever we die."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from paddock.core.upkeep.survey import HeldChanges
from paddock.git.landing.compose import Policy
from paddock.git.landing.held import (
    MAIN,
    hold_delivery,
    release_changes,
    survey_changes,
)
from paddock.git.landing.land import Landed, land
from paddock.git.repo import discover
from tests.git.checkpoints import RELEASE_CHECKPOINTS
from tests.git.conftest import git
from tests.git.landing.lab import Lab

ROOT = Path(__file__).parents[3]
KILLED = """
import os, signal, sys
from pathlib import Path
from paddock.git.landing.held import release_changes
from paddock.git.repo import discover

top, main, point, *refs = sys.argv[1:]
changes = dict(ref.split("=") for ref in refs)
release_changes(discover(Path(top)), main, changes, lambda at: at == point and os.kill(os.getpid(), signal.SIGKILL))
"""


def prune(top: Path) -> None:
    """What no ref holds is gone."""
    git(top, "reflog", "expire", "--expire=now", "--all")
    git(top, "gc", "--quiet", "--prune=now")


def landed(lab: Lab, name: str, policy: Policy = Policy.MERGE) -> str:
    """A change that is in main, and held as a delivery and as a version; its branch is gone."""
    change = lab.branch(name, {f"{name}.txt": "x\n"})
    hold_delivery(lab.repo, f"{name}.1", change.member.head)
    assert isinstance(land(lab.repo, lab.move(change, policy=policy)), Landed)
    git(lab.top, "branch", "-D", name)
    return change.member.head


def test_what_main_has_is_not_loose_and_what_it_has_in_another_shape_is(lab: Lab) -> None:
    landed(lab, "t1")
    squashed = landed(lab, "t2", Policy.SQUASH)
    held = survey_changes(lab.repo, lab.main)
    assert set(held.loose) == {squashed}
    names = {ref.removeprefix("refs/paddock/changes/") for ref in held.refs}
    assert names == {"t1.1", "t1/v1", "t2.1", "t2/v1"}


def test_what_was_let_go_to_a_main_survives_its_rewinding(lab: Lab) -> None:
    start, head = lab.main, landed(lab, "t1")
    old = lab.main
    assert release_changes(lab.repo, old, survey_changes(lab.repo, old).refs)
    assert lab.repo.refs("refs/paddock") == {MAIN: old}
    git(lab.top, "reset", "--quiet", "--hard", start)
    prune(lab.top)
    assert lab.repo.resolve(head) == head, "it is the last main that holds it"

    later = landed(lab, "t2")
    assert release_changes(lab.repo, lab.main, survey_changes(lab.repo, lab.main).refs)
    prune(lab.top)
    assert [lab.repo.resolve(sha) for sha in (head, later)] == [head, later]
    assert sorted(lab.repo.refs("refs/paddock").values()) == sorted([old, lab.main]), "the main of then is kept"


def test_one_ref_that_moved_keeps_all(lab: Lab) -> None:
    landed(lab, "t1")
    refs = survey_changes(lab.repo, lab.main).refs
    hold_delivery(lab.repo, "t1.1", lab.main)
    assert not release_changes(lab.repo, lab.main, refs)
    assert set(lab.repo.refs("refs/paddock/changes")) == set(refs)


def test_a_replaced_commit_does_not_pass_for_one_that_main_has(lab: Lab) -> None:
    change = lab.branch("t1", {"t1.txt": "x\n"})
    lab.held(change)
    git(lab.top, "replace", change.member.head, lab.main)
    assert set(survey_changes(lab.repo, lab.main).loose) == {change.member.head}


def test_a_ref_to_nothing_stops_the_survey(lab: Lab) -> None:
    landed(lab, "t1")
    (lab.repo.common_dir / "refs/paddock/changes/t9.1").write_text(f"{'d' * 40}\n")
    assert survey_changes(lab.repo, lab.main) == HeldChanges(lab.main, {}, {})


@pytest.mark.parametrize("point", RELEASE_CHECKPOINTS)
def test_kill_9_between_any_two_steps_loses_nothing_and_the_next_round_finishes(
    lab: Lab, tmp_path: Path, point: str
) -> None:
    start, first = lab.main, landed(lab, "t1")
    assert release_changes(lab.repo, lab.main, survey_changes(lab.repo, lab.main).refs)
    git(lab.top, "reset", "--quiet", "--hard", start)
    heads = (first, landed(lab, "t2"))
    copy = tmp_path / "copy"
    shutil.copytree(lab.top, copy, symlinks=True)
    repo = discover(copy)
    words = [f"{ref}={sha}" for ref, sha in survey_changes(repo, lab.main).refs.items()]
    argv = (sys.executable, "-c", KILLED, str(copy), lab.main, point, *words)
    assert subprocess.run(argv, cwd=ROOT, env=os.environ, check=False).returncode == -signal.SIGKILL
    prune(copy)
    assert [repo.resolve(head) for head in heads] == list(heads)

    assert release_changes(repo, lab.main, survey_changes(repo, lab.main).refs)
    assert not repo.refs("refs/paddock/changes")
    prune(copy)
    assert [repo.resolve(head) for head in heads] == list(heads)
