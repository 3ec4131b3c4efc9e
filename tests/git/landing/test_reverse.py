"""The reverse of a landed change, however it landed."""

import pytest

from paddock.git.landing.audit import Move
from paddock.git.landing.compose import Policy
from paddock.git.landing.land import Landed, land
from paddock.git.landing.messages import NamedMember
from paddock.git.landing.reverse import NoReverse, find_span, write_reverse
from paddock.git.landing.workbench import paddock_at
from tests.git.conftest import git
from tests.git.landing.lab import Lab, part
from tests.git.landing.test_compose import poem

AUTHOR = paddock_at(1_700_000_000)


def land_train(lab: Lab, policy: Policy, *parts: NamedMember) -> Move:
    move = lab.move(*parts, policy=policy)
    assert isinstance(land(lab.repo, move), Landed)
    git(lab.top, "reset", "--hard", "--quiet", "main")
    return move


def two_commits(lab: Lab, name: str) -> NamedMember:
    """Adds lines in one file and then a file."""
    lab.branch(name, {"poem.txt": poem(3, f"as {name} has it")})
    return lab.grow(
        name,
        ("commit", "--allow-empty", "-qm", "an empty one"),
        ("rm", "-q", "README.md"),
        ("commit", "-qm", "No README"),
        start=name,
    )


def reverse(lab: Lab, name: str) -> str | NoReverse:
    span = find_span(lab.bench, lab.main, name)
    assert span is not None
    return write_reverse(lab.bench, lab.main, span, AUTHOR, f"Revert {name}\n")


@pytest.mark.parametrize("policy", list(Policy))
def test_it_undoes_all_commits_of_the_change_and_nothing_else(lab: Lab, policy: Policy) -> None:
    before = lab.ls(lab.main)
    land_train(lab, policy, lab.branch("t1", {"1.txt": "1\n"}))
    land_train(lab, policy, two_commits(lab, "t2"))
    lab.on_main({"mine.txt": "a person's own\n", "poem.txt": poem(30, "thirty", poem(3, "as t2 has it"))})
    head = reverse(lab, "t2")
    assert isinstance(head, str)
    found = lab.ls(head)
    assert found["README.md"] == before["README.md"]
    assert {"1.txt", "mine.txt"} <= found.keys()
    assert git(lab.top, "show", f"{head}:poem.txt").split("\n") == poem(30, "thirty").strip().split("\n")
    assert lab.show("%P", head) == lab.main


@pytest.mark.parametrize("policy", list(Policy))
def test_one_of_a_train_is_taken_out_of_it(lab: Lab, policy: Policy) -> None:
    parts = (lab.branch("t1", {"1.txt": "1\n"}), two_commits(lab, "t2"), lab.branch("t3", {"3.txt": "3\n"}))
    start = lab.main
    land_train(lab, policy, *parts)
    for name, left in (("t1", {"3.txt"}), ("t2", {"1.txt", "3.txt", "README.md"}), ("t3", {"1.txt"})):
        head = reverse(lab, name)
        assert isinstance(head, str)
        assert left <= lab.ls(head).keys()
        assert f"{name[1:]}.txt" not in lab.ls(head)
    spans = [find_span(lab.bench, lab.main, name) for name in ("t1", "t2", "t3")]
    assert spans[0] is not None
    assert spans[0].before == start


def test_the_newest_landing_counts_and_what_is_not_in_main_has_none(lab: Lab) -> None:
    land_train(lab, Policy.SQUASH, lab.branch("t1", {"1.txt": "1\n"}))
    again = land_train(lab, Policy.SQUASH, part("t1", lab.branch("t1", {"1.txt": "1\n2\n"}).member.head, version=2))
    span = find_span(lab.bench, lab.main, "t1")
    assert span is not None
    assert (span.after, span.before) == (again.new, again.old)
    assert find_span(lab.bench, lab.main, "t9") is None


def test_later_work_in_the_same_lines_is_named_and_so_is_nothing_left(lab: Lab) -> None:
    land_train(lab, Policy.MERGE, lab.branch("t1", {"poem.txt": poem(3, "three")}))
    taken = reverse(lab, "t1")
    assert isinstance(taken, str)
    lab.on_main({"poem.txt": poem(3, "III")})
    assert reverse(lab, "t1") == NoReverse(("poem.txt",))
    lab.on_main({"poem.txt": poem(3, "line 3")})
    assert reverse(lab, "t1") == NoReverse()
