"""Work that began on a main that was put back: its own commits, on main, and nothing of what was taken away."""

from paddock.git.landing.stranded import lost_ground, rebase_own
from paddock.git.repo import Repo
from paddock.git.worktrees.checkout import hold_commit
from tests.git.conftest import git
from tests.git.landing.lab import Lab


def red_main(lab: Lab) -> tuple[str, str]:
    """Main, and the commit of somebody else that it was moved to and has lost again."""
    good = lab.main
    red = lab.on_main({"red.txt": "red\n"}, "Not tested")
    git(lab.top, "reset", "--quiet", "--hard", good)
    return good, red


def lost(repo: Repo, main: str, head: str, began: str) -> tuple[str, ...]:
    return lost_ground(repo, main, head, began, sure=True)


def test_its_own_commits_are_written_again_one_by_one_with_their_authors(lab: Lab) -> None:
    good, red = red_main(lab)
    first = lab.branch("t9", {"own.txt": "own\n"}, start=red).member.head
    head = lab.grow("t9", ("commit", "-q", "--allow-empty", "-m", "Nothing yet"), start="t9").member.head
    assert lost(lab.repo, good, head, red) == (red,)

    rebased = rebase_own(lab.repo, good, head, (red,), "Own work")
    assert rebased is not None
    assert git(lab.top, "rev-list", f"{good}..{rebased}").count("\n") + 1 == 2
    assert set(lab.ls(rebased)) == {*lab.ls(good), "own.txt"}
    for old, new in ((head, rebased), (first, f"{rebased}^")):
        assert lab.show("%an %ae %s%n%b", old) == lab.show("%an %ae %s%n%b", new)
    assert rebase_own(lab.repo, good, head, (red,), "Own work") == rebased, "after a crash it is the same commit"


def test_work_that_needs_what_is_gone_is_not_rebased(lab: Lab) -> None:
    good, red = red_main(lab)
    head = lab.branch("t9", {"red.txt": "red no more\n"}, start=red).member.head
    assert rebase_own(lab.repo, good, head, (red,), "Repair it") is None


def test_work_with_a_merge_that_changed_something_becomes_one_commit(lab: Lab) -> None:
    good, red = red_main(lab)
    lab.branch("side", {"side.txt": "side\n"}, start=red)
    lab.branch("t9", {"own.txt": "own\n"}, start=red)
    merge = (("merge", "-q", "--no-commit", "side"), ("mv", "own.txt", "mine.txt"), ("commit", "-q", "-m", "Merged"))
    head = lab.grow("t9", *merge, start="t9").member.head
    rebased = rebase_own(lab.repo, good, head, (red,), "Own work")
    assert rebased is not None
    assert lab.show("%P %s", rebased) == f"{good} Own work"
    assert set(lab.ls(rebased)) == {*lab.ls(good), "mine.txt", "side.txt"}


def test_what_is_still_in_main_is_not_lost(lab: Lab) -> None:
    began = lab.main
    head = lab.branch("t9", {"own.txt": "own\n"}).member.head
    main = lab.on_main({"b.txt": "b\n"})
    assert lost(lab.repo, main, head, began) == ()


def test_with_a_remote_only_what_was_put_back_counts_as_lost(lab: Lab) -> None:
    """There an agent may begin on commits of the local main that were never pushed: those are wanted."""
    good, red = red_main(lab)
    head = lab.branch("t9", {"own.txt": "own\n"}, start=red).member.head
    assert lost_ground(lab.repo, good, head, red, sure=False) == ()
    hold_commit(lab.repo, red, "main")
    assert lost_ground(lab.repo, good, head, red, sure=False) == (red,)
