"""What landed on one main and is not in another."""

import pytest

from paddock.git.landing.compose import Policy
from paddock.git.landing.land import land
from paddock.git.landing.lost import MainsCompared, compare_landed
from tests.git.conftest import git
from tests.git.landing.lab import Lab


@pytest.mark.parametrize("policy", list(Policy))
def test_what_main_was_rewound_over_is_lost_and_found_again(lab: Lab, policy: Policy) -> None:
    land(lab.repo, lab.move(lab.branch("t1", {"t1.txt": "x\n"}), policy=policy))
    kept = lab.main
    land(lab.repo, lab.move(lab.branch("t2", {"t2.txt": "x\n"}), policy=policy))
    whole = lab.main
    assert compare_landed(lab.repo, whole, kept) == MainsCompared(lost=("t2",))
    assert compare_landed(lab.repo, kept, whole) == MainsCompared(found=("t2",))
    assert compare_landed(lab.repo, whole, whole) == MainsCompared()


def test_a_commit_on_top_loses_nothing(lab: Lab) -> None:
    land(lab.repo, lab.move(lab.branch("t1", {"t1.txt": "x\n"})))
    known = lab.main
    assert compare_landed(lab.repo, known, lab.on_main({"t1.txt": "changed\n"})) == MainsCompared()


def test_a_main_whose_commits_were_only_rewritten_has_lost_nothing(lab: Lab) -> None:
    start = lab.main
    for name in ("t1", "t2"):
        land(lab.repo, lab.move(lab.branch(name, {f"{name}.txt": "x\n"})))
    known = lab.main
    git(lab.top, "commit", "--quiet", "--amend", "--no-edit", "--reset-author")
    assert compare_landed(lab.repo, known, lab.main).lost == ()
    git(lab.top, "rebase", "--quiet", "--force-rebase", start)
    assert compare_landed(lab.repo, known, lab.main) == MainsCompared()
    git(lab.top, "reset", "--quiet", "--hard", "HEAD~1")
    assert compare_landed(lab.repo, known, lab.main) == MainsCompared(lost=("t2",))


def test_a_main_that_has_the_commits_themselves_without_their_merge_has_lost_nothing(lab: Lab) -> None:
    change = lab.branch("t1", {"t1.txt": "x\n"})
    land(lab.repo, lab.move(change))
    known = lab.main
    git(lab.top, "reset", "--quiet", "--hard", change.member.head)
    assert compare_landed(lab.repo, known, lab.main) == MainsCompared()


def test_of_a_commit_that_is_gone_nothing_is_told(lab: Lab) -> None:
    assert compare_landed(lab.repo, "d" * 40, lab.main) == MainsCompared()
