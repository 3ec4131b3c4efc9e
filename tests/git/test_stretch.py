"""What a branch has beyond main, and where it leaves main."""

from pathlib import Path

import pytest

from paddock.git.facts import DiffStat, diffstat, read_stretch, read_work
from paddock.git.repo import Repo
from paddock.git.worktrees.rescue import count_rescued
from tests.git.conftest import commit, git

MAIN = "refs/heads/main"


@pytest.fixture
def base(top: Path) -> str:
    sha = git(top, "rev-parse", "HEAD")
    git(top, "checkout", "-q", "-b", "work")
    return sha


def move_main(top: Path) -> str:
    git(top, "checkout", "-q", "main")
    moved = commit(top, {"main": "1"}, "Move main")
    git(top, "checkout", "-q", "work")
    return moved


def test_a_branch_with_nothing_of_its_own_has_no_commits(repo: Repo, base: str) -> None:
    stretch = read_stretch(repo, MAIN, base, base)
    assert (stretch.base, stretch.commits, stretch.subject) == (base, (), "")


def test_commits_come_newest_first_with_all_they_stand_on(repo: Repo, top: Path, base: str) -> None:
    first = commit(top, {"a": "1"}, "One\n\nmore words")
    second = commit(top, {"b": "1"}, "Two  words\n\n- a list\n>and a quote")
    move_main(top)
    stretch = read_stretch(repo, MAIN, base, second)
    assert (stretch.base, stretch.commits, stretch.subject) == (base, (second, first), "Two  words")
    assert stretch.known == {second, first, base}


def test_a_rebased_branch_leaves_main_where_it_was_put(repo: Repo, top: Path, base: str) -> None:
    commit(top, {"a": "1"})
    moved = move_main(top)
    git(top, "rebase", "-q", "main")
    head = git(top, "rev-parse", "HEAD")
    stretch = read_stretch(repo, MAIN, base, head)
    assert (stretch.base, stretch.commits) == (moved, (head,))


def test_a_branch_that_merged_main_leaves_it_at_the_merge(repo: Repo, top: Path, base: str) -> None:
    own = commit(top, {"a": "1"})
    moved = move_main(top)
    git(top, "merge", "-q", "--no-edit", "main")
    head = git(top, "rev-parse", "HEAD")
    stretch = read_stretch(repo, MAIN, base, head)
    assert (stretch.base, set(stretch.commits)) == (moved, {head, own})
    assert stretch.known == {head, own, base, moved}


def test_without_a_main_the_base_counts(repo: Repo, top: Path, base: str) -> None:
    head = commit(top, {"a": "1"}, "One")
    stretch = read_stretch(repo, "refs/heads/gone", base, head)
    assert (stretch.base, stretch.commits, stretch.subject) == (base, (head,), "One")


def test_a_commit_without_words_is_read(repo: Repo, top: Path, base: str) -> None:
    git(top, "commit", "-q", "--allow-empty", "--allow-empty-message", "-m", "")
    head = git(top, "rev-parse", "HEAD")
    stretch = read_stretch(repo, MAIN, base, head)
    assert (stretch.commits, stretch.subject) == ((head,), "")


def test_an_agent_that_borrows_the_words_of_a_rescue_rescued_nothing(repo: Repo, top: Path) -> None:
    head = commit(top, {"a": "1"}, "Rescue 3 uncommitted files\n\nby hand")
    assert count_rescued(repo, head, "Rescue 3 uncommitted files") == 0


@pytest.mark.parametrize("commits", [0, 1, 2])
@pytest.mark.parametrize("moves_main", [False, True])
def test_work_is_the_stretch_and_what_it_changes(
    repo: Repo, top: Path, base: str, commits: int, moves_main: bool
) -> None:
    for number in range(commits):
        (top / "both\tkinds").write_bytes(bytes(range(number + 200)))
        commit(top, {"a": "1\n" * (number + 2), f"new {number}": ""}, f"Change\t{number}")
    if moves_main:
        move_main(top)
    head = git(top, "rev-parse", "work")
    stretch = read_stretch(repo, MAIN, base, head)
    assert read_work(repo, MAIN, base, head) == (stretch, diffstat(repo, base, head))
    assert len(stretch.commits) == commits


def test_the_work_of_a_merge_is_all_it_brings(repo: Repo, top: Path, base: str) -> None:
    commit(top, {"a": "1\n"})
    move_main(top)
    git(top, "merge", "-q", "--no-edit", "main")
    git(top, "branch", "-q", "-f", "main", "main~1")
    head = git(top, "rev-parse", "HEAD")
    assert read_work(repo, MAIN, base, head)[1] == DiffStat(files=2, insertions=2)
