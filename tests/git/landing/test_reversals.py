"""Which branches take landed work back: every way an agent has been seen to do it, and what only looks like it."""

from collections.abc import Callable

import pytest

from paddock.git.landing.audit import Move
from paddock.git.landing.compose import Policy
from paddock.git.landing.land import Landed, land
from paddock.git.landing.reversals import find_reversals
from tests.git.conftest import git
from tests.git.landing.lab import Lab, part
from tests.git.landing.test_compose import poem


def landed(lab: Lab, name: str, files: dict[str, str], policy: Policy = Policy.MERGE) -> str:
    """A change that the queue lands; returns main."""
    one = lab.branch(name, files)
    move = lab.move(one, policy=policy)
    assert isinstance(land(lab.repo, move), Landed)
    return move.new


def words(lab: Lab, head: str, own: str = "t9", started_from: str = "") -> list[str]:
    return [one.words for one in find_reversals(lab.repo, head, lab.main, own, started_from)]


def start(lab: Lab, files: dict[str, str] | None = None) -> str:
    """An agent's branch from main as it is, with a commit of its own."""
    return lab.branch("t9", files or {"own.txt": "own\n"}).member.head


def merge_main(lab: Lab, *options: str) -> str:
    return lab.grow("t9", ("merge", "-q", "--no-edit", *options, "main"), start="t9").member.head


@pytest.mark.parametrize("policy", list(Policy))
def test_a_merge_that_takes_its_own_side_takes_back_what_landed(lab: Lab, policy: Policy) -> None:
    start(lab)
    landed(lab, "t1", {"a.py": "landed\n", "poem.txt": poem(3, "three")}, policy)
    head = merge_main(lab, "-s", "ours")
    assert words(lab, head) == ["t1: a.py, poem.txt"]


def test_own_edits_in_the_same_file_do_not_hide_it(lab: Lab) -> None:
    start(lab, {"poem.txt": poem(30, "thirty")})
    landed(lab, "t1", {"poem.txt": poem(3, "three")})
    assert words(lab, merge_main(lab, "-s", "ours")) == ["t1: poem.txt"]


def test_an_ordinary_merge_after_it_does_not_hide_it(lab: Lab) -> None:
    start(lab)
    landed(lab, "t1", {"poem.txt": poem(3, "three")})
    merge_main(lab, "-s", "ours")
    landed(lab, "t2", {"b.py": "b\n"})
    assert words(lab, merge_main(lab)) == ["t1: poem.txt"]


def test_an_old_tree_on_a_new_main_is_found_by_where_its_work_began(lab: Lab) -> None:
    """Parents in the other order: by its first parents it began on the new main, and it edited the file besides."""
    began = lab.main
    start(lab, {"poem.txt": poem(30, "thirty")})
    landed(lab, "t1", {"poem.txt": poem(3, "three")})
    head = git(lab.top, "commit-tree", "t9^{tree}", "-p", "main", "-p", "t9", "-m", "merge")
    assert words(lab, head, started_from=began) == ["t1: poem.txt"]


def test_each_change_of_a_train_answers_for_its_own_files(lab: Lab) -> None:
    start(lab)
    one, two = lab.branch("t1", {"a.py": "a\n"}), lab.branch("t2", {"b.py": "b\n"})
    assert isinstance(land(lab.repo, lab.move(one, two)), Landed)
    assert words(lab, merge_main(lab, "-s", "ours")) == ["t1: a.py", "t2: b.py"]


def test_a_persons_own_commit_is_named_by_its_commit(lab: Lab) -> None:
    start(lab)
    by_hand = lab.on_main({"poem.txt": poem(3, "three")})
    assert words(lab, merge_main(lab, "-s", "ours")) == [f"commit {by_hand[:10]}: poem.txt"]


Case = Callable[[Lab], str]


def revert_commit(lab: Lab) -> str:
    return lab.grow("t9", ("revert", "--no-edit", "-m", "1", "main")).member.head


def old_file(lab: Lab) -> str:
    return lab.grow("t9", ("checkout", "-q", "main~1", "--", "poem.txt"), ("commit", "-qm", "old")).member.head


def old_tree(lab: Lab) -> str:
    return git(lab.top, "commit-tree", "main~1^{tree}", "-p", "main", "-m", "old tree")


@pytest.mark.parametrize("case", [revert_commit, old_file, old_tree])
def test_a_file_as_it_was_before_takes_the_landing_back(lab: Lab, case: Case) -> None:
    landed(lab, "t1", {"poem.txt": poem(3, "three")})
    assert words(lab, case(lab)) == ["t1: poem.txt"]


@pytest.mark.parametrize("left", ["", "\n", " \n\t\n"])
def test_a_landed_file_of_which_only_blanks_are_left_takes_the_landing_back(lab: Lab, left: str) -> None:
    landed(lab, "t1", {"new.txt": "new\n"})
    assert words(lab, start(lab, {"new.txt": left})) == ["t1: new.txt"]
    assert words(lab, lab.branch("t8", {"new.txt": "x\n"}).member.head, "t8") == [], "to rewrite it is an edit"


def test_what_the_same_task_landed_before_is_its_own(lab: Lab) -> None:
    landed(lab, "t9", {"poem.txt": poem(3, "three")})
    assert words(lab, old_file(lab)) == []


# -- what only looks like it ------------------------------------------------------------------------------------


def test_an_ordinary_merge_of_main_takes_nothing_back(lab: Lab) -> None:
    start(lab, {"poem.txt": poem(30, "thirty")})
    landed(lab, "t1", {"poem.txt": poem(3, "three"), "a.py": "a\n"})
    assert words(lab, merge_main(lab)) == []


def test_a_resolved_conflict_takes_nothing_back(lab: Lab) -> None:
    start(lab, {"poem.txt": poem(3, "drei")})
    landed(lab, "t1", {"poem.txt": poem(3, "three")})
    git(lab.top, "switch", "-q", "t9")
    (lab.top / "poem.txt").write_text(poem(3, "three and drei"))
    git(lab.top, "commit", "-qam", "both")
    git(lab.top, "merge", "-q", "--no-edit", "-s", "ours", "main")
    head = git(lab.top, "rev-parse", "HEAD")
    git(lab.top, "switch", "-q", "main")
    assert words(lab, head) == []


def test_a_later_edit_of_landed_lines_takes_nothing_back(lab: Lab) -> None:
    start(lab)
    landed(lab, "t1", {"poem.txt": poem(3, "three"), "a.py": "one\ntwo\n"})
    merge_main(lab)
    head = lab.branch("t9", {"poem.txt": poem(3, "three, better"), "a.py": "one\n2\n"}, start="t9").member.head
    assert words(lab, head) == []


def test_a_branch_that_does_not_know_the_landing_takes_nothing_back(lab: Lab) -> None:
    head = start(lab, {"poem.txt": poem(30, "thirty")})
    landed(lab, "t1", {"poem.txt": poem(3, "three")})
    assert words(lab, head) == []


def test_a_file_that_is_moved_or_superfluous_takes_nothing_back(lab: Lab) -> None:
    landed(lab, "t1", {"a.py": "".join(f"{n}\n" for n in range(50)), "b.py": "b\n"})
    moved = lab.grow("t9", ("mv", "a.py", "c.py"), ("commit", "-qm", "moved")).member.head
    assert words(lab, moved) == []
    removed = lab.grow("t9", ("rm", "-q", "b.py"), ("commit", "-qm", "removed")).member.head
    assert words(lab, removed) == []


def test_lines_that_are_moved_within_their_file_take_nothing_back(lab: Lab) -> None:
    start(lab)
    landed(lab, "t1", {"poem.txt": poem(3, "three")})
    merge_main(lab)
    lines = poem(3, "three").splitlines(keepends=True)
    head = lab.branch("t9", {"poem.txt": "".join(lines[:2] + lines[3:] + lines[2:3])}, start="t9").member.head
    assert words(lab, head) == []


def test_a_stack_on_what_has_landed_takes_nothing_back(lab: Lab) -> None:
    one = lab.branch("t1", {"poem.txt": poem(3, "three")})
    two = lab.branch("t2", {"poem.txt": poem(3, "three"), "b.py": "b\n"}, start="t1")
    move = lab.move(one, policy=Policy.SQUASH)
    assert isinstance(land(lab.repo, move), Landed)
    assert words(lab, two.member.head, "t2") == []


def test_the_landing_itself_refuses_what_nobody_approved(lab: Lab) -> None:
    landed(lab, "t1", {"poem.txt": poem(3, "three")})
    one = part("t9", old_file(lab))
    move = lab.move(one)
    result = land(lab.repo, move)
    assert "undoes t1: poem.txt" in str(result)
    assert git(lab.top, "rev-parse", "main") == move.old
    allowed = Move(move.branch, move.old, move.new, move.tree, move.members, move.policy, frozenset({"t9"}))
    assert isinstance(land(lab.repo, allowed), Landed)


def test_a_file_of_its_own_that_looks_alike_does_not_hide_what_is_gone(lab: Lab) -> None:
    start(lab, {"parts/t9": "good\n"})
    landed(lab, "t1", {"parts/t1": "good\n"})
    assert words(lab, merge_main(lab, "-s", "ours")) == ["t1: parts/t1"]


def test_an_edit_that_a_merge_carries_to_the_new_name_of_its_file_is_not_lost(lab: Lab) -> None:
    lab.grow("t9", ("mv", "poem.txt", "verse.txt"), ("commit", "-qm", "renamed"))
    landed(lab, "t1", {"poem.txt": poem(3, "three")})
    assert words(lab, merge_main(lab)) == []
    git(lab.top, "branch", "-f", "t9", "t9~1")
    assert words(lab, merge_main(lab, "-s", "ours")) == ["t1: poem.txt"]


def test_a_file_that_both_sides_removed_is_not_lost(lab: Lab) -> None:
    lab.grow("t9", ("rm", "-q", "poem.txt"), ("commit", "-qm", "gone"))
    lab.grow("t1", ("rm", "-q", "poem.txt"), ("commit", "-qm", "gone"))
    move = lab.move(part("t1", git(lab.top, "rev-parse", "t1")))
    assert isinstance(land(lab.repo, move), Landed)
    assert words(lab, merge_main(lab)) == []
