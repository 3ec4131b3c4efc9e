"""What an agent does to its own git directory stays there; what it plants never runs in a git of Paddock's."""

import os
import shutil
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import paddock.git.enclosure.intake
from paddock.core.upkeep.survey import SlotState
from paddock.git.repo import discover
from paddock.git.worktrees.delivery import NotImported, glimpse
from paddock.git.worktrees.prepare import WorktreeOrder, prepare, release
from paddock.git.worktrees.slots import list_slots, read_record
from tests.git.conftest import commit, git, write
from tests.git.enclosure.conftest import BRANCH, Den

MB = 1024**2


@pytest.mark.parametrize(
    "command",
    [
        "update-ref refs/heads/main HEAD",
        "branch -f main HEAD",
        "tag -f v1 HEAD",
        "tag -d v1",
        "branch -D main",
        "worktree prune --expire now",
        "gc --prune=now --quiet",
        "pack-refs --all",
        "config user.name Mallory",
        "config core.hooksPath /tmp/evil",
        "replace HEAD HEAD~1",
        "remote add evil /nowhere",
        "update-ref -d refs/heads/main",
        "reflog expire --expire=now --all",
        "notes add -m x",
        "stash",
        "symbolic-ref HEAD refs/heads/main",
    ],
)
def test_git_commands_stay_inside(den: Den, command: str) -> None:
    den.commit(work="1")
    before = den.users_own()
    den.git(*command.split(" "))
    assert den.users_own() == before
    den.save()
    release(den.root, "t1.1", "test")
    assert den.users_own() == before


def test_hooks_and_folders_of_the_agents_own_do_not_reach_the_user(den: Den) -> None:
    before = den.users_own()
    write(
        den.own,
        {"hooks/post-checkout": f"#!/bin/sh\n{den.trap}\n", "info/exclude": "*\n", "info/attributes": "* text\n"},
    )
    (den.own / "hooks/post-checkout").chmod(0o755)
    den.commit(work="1")
    shutil.rmtree(den.own / "objects" / "info")
    assert den.save().files == 1, "its own excludes hide nothing"
    assert git(den.top, "show", f"{BRANCH}:work") == "1"
    release(den.root, "t1.1", "test")
    assert den.users_own() == before
    assert not den.sprung.exists()


def test_nothing_planted_in_its_configuration_or_attributes_runs(den: Den) -> None:
    """Filters, merge and diff drivers, monitors, remotes with commands of their own, aliases, included files."""
    for name, value in {
        "filter.evil.clean": den.trap,
        "filter.evil.smudge": den.trap,
        "filter.evil.process": den.trap,
        "merge.evil.driver": den.trap,
        "diff.evil.command": den.trap,
        "diff.evil.textconv": den.trap,
        "core.fsmonitor": den.trap,
        "core.sshCommand": den.trap,
        "core.pager": den.trap,
        "core.editor": den.trap,
        "core.alternateRefsCommand": den.trap,
        "core.gitProxy": den.trap,
        "gpg.program": den.trap,
        "commit.gpgSign": "true",
        "uploadpack.packObjectsHook": den.trap,
        "remote.origin.url": str(den.top),
        "remote.origin.uploadpack": den.trap,
        "remote.origin.promisor": "true",
        "extensions.partialClone": "origin",
        "core.repositoryformatversion": "1",
        "url.ext::sh.insteadOf": str(den.top),
    }.items():
        den.git("config", name, value)
    write(den.own, {"info/attributes": "* filter=evil merge=evil diff=evil\n"})
    write(den.tree.path, {".gitattributes": "* filter=evil merge=evil diff=evil\n", "work": "1\n"})
    seen = glimpse(den.root, "t1.1")
    assert seen is not None
    assert set(seen.dirty.paths) == {".gitattributes", "work"}
    saved = den.save()
    assert saved.files == 2
    assert git(den.top, "show", f"{BRANCH}:work") == "1"
    assert release(den.root, "t1.1", "test").kept == ""
    prepare(den.root, WorktreeOrder("t2.1", "paddock/t2", str(saved.head)))
    assert not den.sprung.exists()


def test_a_submodules_configuration_does_not_run(den: Den) -> None:
    nested = den.tree.path / "lib"
    git(den.tree.path, "init", "-q", str(nested))
    inner = commit(nested, {"x": "1"})
    git(nested, "config", "core.fsmonitor", den.trap)
    den.git("update-index", "--add", "--cacheinfo", f"160000,{inner},lib")
    den.git("commit", "-q", "-m", "a link")
    write(nested, {"x": "2"})
    glimpse(den.root, "t1.1")
    den.save()
    assert "submodules" in release(den.root, "t1.1", "test").kept
    assert not den.sprung.exists()


def test_replaced_objects_and_grafts_do_not_count(den: Den) -> None:
    honest = den.commit(work="1")
    forged = git(den.tree.path, "commit-tree", "-m", "forged", f"{den.tree.start}^{{tree}}")
    den.git("replace", den.tree.start, forged)
    write(den.own, {"info/grafts": f"{honest}\n", "shallow": f"{honest}\n"})
    assert den.save().head == honest
    assert git(den.top, "rev-list", BRANCH).split() == [honest, den.tree.start]
    release(den.root, "t1.1", "test")
    assert git(den.top, "for-each-ref", "refs/replace") == ""


def refused(den: Den) -> str:
    """Nothing is delivered, the worktree is kept, and the user's repository is as it was."""
    before = den.users_own()
    objects = sorted(path for path in (den.repo.common_dir / "objects").rglob("*") if path.is_file())
    with pytest.raises(NotImported) as problem:
        den.save()
    assert release(den.root, "t1.1", "test").kept != ""
    record = read_record(list_slots(den.root)[0])
    assert record is not None
    assert record.state is SlotState.KEPT
    assert den.tree.path.exists()
    assert den.users_own() == before
    assert git(den.top, "for-each-ref", "refs/heads/paddock", "refs/paddock") == ""
    assert sorted(path for path in (den.repo.common_dir / "objects").rglob("*") if path.is_file()) == objects
    return str(problem.value)


def object_path(den: Den, sha: str) -> Path:
    return den.own / "objects" / sha[:2] / sha[2:]


def overwrite(path: Path, content: bytes) -> None:
    path.chmod(0o644)
    path.write_bytes(content)


class TestDamagedObjects:
    def test_a_forged_object_is_known_by_its_bytes(self, den: Den) -> None:
        head = den.commit(work="1\n")
        blob = den.git("rev-parse", "HEAD:work")
        overwrite(object_path(den, blob), zlib.compress(b"blob 5\0evil\n"))
        assert "does not accept" in refused(den)
        assert den.repo.resolve(head) is None

    def test_a_forged_commit_is_known_by_its_bytes(self, den: Den) -> None:
        head = den.commit(work="1\n")
        raw = zlib.decompress(object_path(den, head).read_bytes())
        overwrite(object_path(den, head), zlib.compress(raw.replace(b"change", b"chance")))
        assert "commit" in refused(den)

    def test_an_object_of_the_users_cannot_be_replaced(self, den: Den) -> None:
        """The agent writes a file of its own under the name of one the user has."""
        blob = git(den.top, "rev-parse", "main:README.md")
        path = object_path(den, blob)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(zlib.compress(b"blob 5\0evil\n"))
        den.commit(work="1\n")
        den.save()
        assert git(den.top, "cat-file", "blob", blob) == "hello"
        git(den.top, "fsck", "--full", "--strict")

    def test_a_missing_object_is_named(self, den: Den) -> None:
        den.commit(work="1\n")
        object_path(den, den.git("rev-parse", "HEAD:work")).unlink()
        assert "does not accept" in refused(den)

    @pytest.mark.parametrize("name", [".git", "..", "a/b"])
    def test_a_tree_git_would_never_make_is_refused(self, den: Den, name: str) -> None:
        blob = den.git("rev-parse", "HEAD:README.md")
        raw = b"100644 " + name.encode() + b"\0" + bytes.fromhex(blob)
        (den.tree.path / "raw").write_bytes(raw)
        tree = den.git("hash-object", "-w", "-t", "tree", "--literally", "raw")
        (den.tree.path / "raw").unlink()
        den.git("update-ref", "HEAD", den.git("commit-tree", "-m", "x", "-p", "HEAD", tree))
        assert "does not accept" in refused(den)

    def test_names_that_are_one_file_elsewhere_are_refused_wherever_in_the_history(self, den: Den) -> None:
        den.commit(Work="1", work="2")
        den.git("rm", "-q", "work")
        den.commit(other="3")
        with pytest.raises(NotImported, match=r"'work'.* one file where case"):
            den.save()
        assert "one file" in release(den.root, "t1.1", "test").kept
        assert git(den.top, "for-each-ref", "refs/heads/paddock", "refs/paddock") == ""

    def test_too_much_is_not_taken(self, den: Den, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(paddock.git.enclosure.intake, "MOST_BYTES", 10_000)
        (den.tree.path / "big").write_bytes(os.urandom(20_000))
        den.git("add", ".")
        den.git("commit", "-qm", "big")
        assert "more than" in refused(den)

    def test_a_file_that_is_too_large_is_named_and_not_taken(self, den: Den) -> None:
        den = replace(den, root=replace(den.root, largest_file_mb=1))
        den.commit(**{"data/big": "0" * (MB + 1), "small": "1"})
        before = files_of(den.repo.common_dir / "objects")
        assert "`data/big` is larger than 1 MB (`worktrees.largest_file_mb`)" in refused(den)
        assert files_of(den.repo.common_dir / "objects") == before
        den.git("rm", "-q", "data/big")
        den.commit(small="2")
        assert "`data/big`" in refused(den), "it is still in the history"

    def test_a_file_that_is_as_large_as_it_may_be_is_taken(self, den: Den) -> None:
        den = replace(den, root=replace(den.root, largest_file_mb=1))
        head = den.commit(big="0" * MB)
        assert den.save().head == head

    def test_a_large_file_that_the_user_has_already_is_no_obstacle(self, den: Den, top: Path) -> None:
        commit(top, {"big": "0" * (MB + 1)})
        git(top, "rm", "-q", "big")
        commit(top, {"other": "1"})
        den = replace(den, root=replace(den.root, largest_file_mb=1))
        head = den.commit(**{"moved/big": "0" * (MB + 1)})
        assert den.save().head == head

    def test_many_commits_come_as_a_pack(self, den: Den) -> None:
        for number in range(40):
            head = den.commit(**{f"file{number}": f"{number}\n"})
        den.git("gc", "--quiet")
        assert den.save().head == head
        assert list((den.repo.common_dir / "objects" / "pack").glob("*.pack"))
        git(den.top, "fsck", "--full", "--strict")


def files_of(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file()}


def make_fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def make_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def make_huge(path: Path) -> None:
    with open(path, "wb") as file:
        file.truncate(200 * 1024 * 1024)


class TestStrangeFiles:
    @pytest.mark.parametrize("make", [make_fifo, make_folder, make_huge, Path.unlink])
    def test_a_head_that_is_no_file(self, den: Den, make: Callable[[Path], None]) -> None:
        den.commit(work="1")
        make(den.own / "HEAD")
        assert "HEAD" in refused(den)

    @pytest.mark.parametrize("said", ["ref: ../../../etc/passwd", "ref: HEAD", "-x", "", "ref: refs/heads/../../x"])
    def test_a_head_that_names_something_else(self, den: Den, said: str) -> None:
        den.commit(work="1")
        (den.own / "HEAD").write_text(f"{said}\n")
        assert "HEAD" in refused(den)

    def test_a_head_that_is_a_link(self, den: Den) -> None:
        den.commit(work="1")
        (den.own / "HEAD").unlink()
        (den.own / "HEAD").symlink_to(den.top / ".git" / "HEAD")
        assert "HEAD" in refused(den)

    def test_a_branch_that_is_a_link_or_names_another(self, den: Den) -> None:
        den.commit(work="1")
        ref = den.own / "refs" / "heads" / BRANCH
        ref.unlink()
        ref.symlink_to(den.top / ".git" / "refs" / "heads" / "main")
        assert "names no commit" in refused(den)

    @pytest.mark.parametrize("place", ["objects", "objects/pack", "objects/info"])
    def test_objects_that_are_a_link(self, den: Den, place: str) -> None:
        den.commit(work="1")
        away = den.own / "away"
        (den.own / place).mkdir(exist_ok=True)
        (den.own / place).rename(away)
        (den.own / place).symlink_to(away)
        assert place in refused(den)

    def test_an_object_that_is_a_pipe(self, den: Den) -> None:
        den.commit(work="1")
        path = object_path(den, den.git("rev-parse", "HEAD:work"))
        path.unlink()
        os.mkfifo(path)
        assert "not a regular file" in refused(den)

    def test_other_objects_are_not_read_through_it(self, den: Den, tmp_path: Path) -> None:
        """It names objects that it cannot read itself and a commit of theirs."""
        git(tmp_path, "init", "-q", "secret")
        secret = commit(tmp_path / "secret", {"key": "canary"})
        (den.own / "objects/info/alternates").write_text(f"{tmp_path}/secret/.git/objects\n")
        den.git("update-ref", "HEAD", secret)
        refused(den)
        assert den.repo.resolve(secret) is None

    def test_a_hundred_thousand_refs_are_a_finding(self, den: Den) -> None:
        head = den.commit(work="1")
        lines = "".join(f"{head} refs/heads/x{number:06}\n" for number in range(100_000))
        (den.own / "packed-refs").write_text(f"# pack-refs with: sorted \n{lines}")
        assert den.save().head == head
        assert "refs" in release(den.root, "t1.1", "test").kept


class TestPlacesThatAreNotOurs:
    def test_a_worktree_that_became_a_link_is_not_entered(self, den: Den, tmp_path: Path) -> None:
        precious = tmp_path / "precious"
        write(precious, {"file": "1"})
        den.commit(work="1")
        den.tree.path.rename(tmp_path / "away")
        den.tree.path.symlink_to(precious)
        assert "not the folder" in release(den.root, "t1.1", "test").kept
        assert os.listdir(precious) == ["file"]
        assert den.tree.path.is_symlink()

    def test_another_folder_in_its_place_is_not_cleaned(self, den: Den, tmp_path: Path) -> None:
        release(den.root, "t1.1", "test")
        den.tree.path.rename(tmp_path / "away")
        write(den.tree.path, {"precious": "1"})
        again = prepare(den.root, WorktreeOrder("t2.1", "paddock/t2", den.tree.start)).worktree
        assert again.path != den.tree.path
        assert (den.tree.path / "precious").exists()

    def test_another_git_directory_in_its_place_does_not_count(self, den: Den) -> None:
        den.commit(work="1")
        shutil.copytree(den.own, den.own.with_name("copy"), symlinks=True)
        shutil.rmtree(den.own)
        den.own.with_name("copy").rename(den.own)
        assert "not the folder" in refused(den)


def test_a_commit_is_known_as_one_however_many_letters_its_message_has(den: Den) -> None:
    """The more of them there are, the later the text begins in the compressed file."""
    (den.tree.path / "work").write_text("1\n")
    den.git("add", "work")
    den.git("commit", "-q", "-m", "".join(map(chr, range(0x21, 0x600, 3))))
    head = den.git("rev-parse", "HEAD")
    assert den.save().head == head
    assert git(den.top, "show", f"{BRANCH}:work") == "1"


def test_a_worktree_that_vanished_still_delivers_its_commits(den: Den) -> None:
    head = den.commit(work="1")
    shutil.rmtree(den.tree.path)
    assert release(den.root, "t1.1", "test").kept == ""
    assert den.repo.branch_tip(BRANCH) == head
    assert list_slots(den.root) == ()


def test_paddock_in_a_worktree_finds_the_users_repository(den: Den) -> None:
    for is_damaged in (False, True):
        if is_damaged:
            (den.tree.path / ".git").unlink()
        (den.tree.path / "sub").mkdir(exist_ok=True)
        found = discover(den.tree.path / "sub")
        assert (found.common_dir, found.main, found.top) == (den.top / ".git", den.top, den.tree.path)


def test_a_push_is_refused_in_words(den: Den, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--bare", "far.git")
    git(den.top, "remote", "add", "origin", str(tmp_path / "far.git"))
    tree = prepare(den.root, WorktreeOrder("t2.1", "paddock/t2", den.tree.start)).worktree
    with pytest.raises(AssertionError, match="nothing is pushed from here"):
        git(tree.path, "push", "origin", "HEAD")
    assert git(tmp_path / "far.git", "for-each-ref") == ""
    git(tree.path, "fetch", "-q", "origin")
