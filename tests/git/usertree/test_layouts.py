"""Submodules, sparse checkouts, linked worktrees, worktrees on another disk."""

import os
from pathlib import Path

import pytest

from paddock.git.repo import Repo, discover
from paddock.git.usertree.places import trees_on
from paddock.git.usertree.update import LeftAlone, UpToDate, update_tree
from tests.git.conftest import MakeRepo, commit, git, write
from tests.git.usertree.desk import Desk


@pytest.fixture
def library(make_repo: MakeRepo) -> Path:
    found = make_repo("library", {"lib.txt": "one\n"}).top
    assert found is not None
    return found


def add_submodule(place: Path, library: Path) -> None:
    git(place, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library), "lib")


class TestSubmodules:
    def test_a_new_one_gets_an_empty_folder_as_git_would_make_it(self, desk: Desk, library: Path) -> None:
        move = desk.land(act=lambda place: add_submodule(place, library))
        assert isinstance(desk.update(move), UpToDate)
        assert desk.status() == [""]
        assert os.listdir(desk.top / "lib") == []

    def test_what_one_has_checked_out_is_never_touched(self, desk: Desk, library: Path) -> None:
        add_submodule(desk.top, library)
        git(desk.top, "commit", "--quiet", "-m", "a submodule")
        write(desk.top, {"lib/lib.txt": "mine\n"})
        newer = commit(library, {"lib.txt": "two\n"})

        def point_on(place: Path) -> None:
            git(place, "update-index", "--cacheinfo", f"160000,{newer},lib")
            git(place, "commit", "--quiet", "-m", "newer library")
            (place / "lib").rmdir()

        old, new = desk.land({"README.md": "landed\n"}, act=point_on)
        # `add --all` in the other worktree saw the missing folder, so point main at the commit before.
        new = git(desk.top, "rev-parse", f"{new}^")
        git(desk.top, "update-ref", "refs/heads/main", new)
        assert isinstance(desk.update((old, new)), UpToDate)
        assert (desk.top / "lib" / "lib.txt").read_text() == "mine\n"
        assert git(desk.top, "ls-files", "-s", "lib").split()[1] == newer

    def test_one_that_main_has_removed_stays_on_disk(self, desk: Desk, library: Path) -> None:
        add_submodule(desk.top, library)
        git(desk.top, "commit", "--quiet", "-m", "a submodule")

        def remove(place: Path) -> None:
            git(place, "rm", "--quiet", "--cached", "lib")

        move = desk.land(act=remove)
        assert isinstance(desk.update(move), UpToDate)
        assert (desk.top / "lib" / "lib.txt").exists()

    def test_a_file_does_not_replace_one_that_has_files(self, desk: Desk, library: Path) -> None:
        add_submodule(desk.top, library)
        git(desk.top, "commit", "--quiet", "-m", "a submodule")

        def replace(place: Path) -> None:
            git(place, "rm", "--quiet", "-f", "lib")
            write(place, {"lib": "a file\n"})

        before = desk.contents()
        assert isinstance(desk.update(desk.land(act=replace)), LeftAlone)
        assert desk.contents() == before


@pytest.mark.parametrize(
    "setting", ["core.splitIndex=true", "feature.manyFiles=true", "core.untrackedCache=true", "core.checkStat=minimal"]
)
def test_every_kind_of_index_follows(desk: Desk, setting: str) -> None:
    git(desk.top, "config", *setting.split("="))
    git(desk.top, "update-index", "--force-write-index")
    write(desk.top, {"src/app.py": "staged\n", "run.sh": "mine\n"})
    git(desk.top, "add", "src/app.py")
    move = desk.land({"README.md": "landed\n", "new.txt": "landed\n"})
    assert desk.update(move) == UpToDate(2)
    assert desk.status() == [" M run.sh", "M  src/app.py"]
    git(desk.top, "commit", "--quiet", "-am", "the user goes on")
    git(desk.top, "fsck", "--strict")


@pytest.mark.parametrize("cone", ["--cone", "--no-cone"])
class TestSparse:
    def test_what_is_left_out_stays_out_and_the_rest_follows(self, desk: Desk, cone: str) -> None:
        commit(desk.top, {"docs/one.md": "1\n", "docs/two.md": "2\n"})
        git(desk.top, "sparse-checkout", "set", cone, "src" if cone == "--cone" else "/src/")
        write(desk.top, {"src/deep/er.txt": "mine\n"})
        move = desk.land({"docs/one.md": "landed\n", "docs/new.md": "landed\n", "src/app.py": "landed\n"})
        assert isinstance(desk.update(move), UpToDate)
        assert desk.status() == [" M src/deep/er.txt"]
        assert not (desk.top / "docs").exists()
        assert (desk.top / "src" / "app.py").read_text() == "landed\n"
        git(desk.top, "sparse-checkout", "disable")
        assert (desk.top / "docs" / "new.md").read_text() == "landed\n"

    def test_a_file_that_is_there_although_it_is_left_out_is_not_touched(self, desk: Desk, cone: str) -> None:
        commit(desk.top, {"docs/one.md": "1\n"})
        git(desk.top, "sparse-checkout", "set", cone, "src" if cone == "--cone" else "/src/")
        write(desk.top, {"docs/one.md": "mine\n"})
        before = desk.contents()
        result = desk.update(desk.land({"docs/one.md": "landed\n", "src/app.py": "landed\n"}))
        assert isinstance(result, LeftAlone)
        assert result.files == ("docs/one.md",)
        assert desk.contents() == before


class TestWorktrees:
    def test_every_worktree_that_has_main_follows(self, desk: Desk, tmp_path: Path) -> None:
        other = tmp_path / "an other one"
        git(desk.top, "worktree", "add", "--quiet", "--force", str(other), "main")
        move = desk.land({"README.md": "landed\n"})
        for tree in trees_on(desk.repo, "main"):
            assert isinstance(update_tree(tree, *move), UpToDate)
        assert git(other, "status", "--porcelain") == git(desk.top, "status", "--porcelain") == ""
        assert (other / "README.md").read_text() == "landed\n"

    def test_worktrees_of_a_bare_repository_are_found(self, desk: Desk, tmp_path: Path) -> None:
        bare, linked = tmp_path / "bare.git", tmp_path / "linked"
        git(tmp_path, "clone", "--quiet", "--bare", str(desk.top), str(bare))
        git(bare, "worktree", "add", "--quiet", str(linked), "main")
        assert [tree.path for tree in trees_on(discover(linked), "main")] == [linked]

    def test_a_worktree_that_is_gone_and_one_of_an_agent_are_none(self, desk: Desk, tmp_path: Path) -> None:
        git(desk.top, "switch", "--quiet", "--detach")
        linked = tmp_path / "linked"
        git(desk.top, "worktree", "add", "--quiet", str(linked), "main")
        (desk.top / ".git" / "worktrees" / "linked" / "skip-auto-rebase-watcher").touch()
        assert trees_on(desk.repo, "main") == ()
        (desk.top / ".git" / "worktrees" / "linked" / "skip-auto-rebase-watcher").unlink()
        (linked / ".git").unlink()
        assert trees_on(desk.repo, "main") == ()

    def test_a_worktree_on_another_file_system_follows(self, desk: Desk, repo: Repo) -> None:
        here, places = desk.top.stat().st_dev, (Path("/dev/shm"), Path("/var/tmp"))
        elsewhere = next((place for place in places if place.is_dir() and place.stat().st_dev != here), None)
        if elsewhere is None:
            pytest.skip("there is one file system only")
        git(desk.top, "switch", "--quiet", "--detach")
        linked = elsewhere / f"paddock-{os.getpid()}"
        git(desk.top, "worktree", "add", "--quiet", str(linked), "main")
        try:
            (tree,) = trees_on(repo, "main")
            move = desk.land({"README.md": "landed\n", "new.txt": "landed\n"})
            assert update_tree(tree, *move) == UpToDate(2)
            assert git(linked, "status", "--porcelain", "--ignored") == ""
        finally:
            git(desk.top, "worktree", "remove", "--force", str(linked))
