import os
import shutil
import subprocess
from pathlib import Path

import pytest

from paddock.core.errors import PaddockError
from paddock.git.landing.history import MainSeen, observe_main
from paddock.git.landing.land import StaleMain, Unsound, land
from paddock.git.repo import discover
from paddock.git.sandboxes.sandbox import (
    InUse,
    NotPrepared,
    PreparedSandbox,
    SandboxOrder,
    list_sandboxes,
    prepare_sandbox,
    release_sandbox,
    remove_sandbox,
    sweep_trash,
)
from paddock.git.sandboxes.tree import Sandbox
from tests.git.conftest import MakeRepo, commit, git
from tests.git.landing.lab import Lab
from tests.git.sandbox.conftest import Yard


def refs_of(yard: Yard) -> dict[str, str]:
    return yard.repo.refs("refs")


class TestPreparing:
    def test_a_repository_in_a_folder_with_an_odd_name_is_tested_too(self, make_repo: MakeRepo, tmp_path: Path) -> None:
        repo = make_repo('new\nline "quoted" \\')
        box = Sandbox(repo, tmp_path / "ci", "s1")
        commit = repo.resolve("main") or ""
        assert isinstance(prepare_sandbox(box, SandboxOrder("r1", commit)), PreparedSandbox)
        assert git(box.tree, "rev-parse", "HEAD") == commit
        assert (box.tree / "README.md").read_text() == "hello\n"

    def test_the_tree_is_exactly_the_commit(self, yard: Yard) -> None:
        first = yard.main
        commit(yard.top, {"new.txt": "n\n", "README.md": "changed\n"}, "second")
        git(yard.top, "rm", "-q", "src/app.py")
        third = commit(yard.top, {}, "third")
        box = yard.sandbox()
        for sha, files in (
            (first, {"README.md", "src"}),
            (third, {"README.md", "new.txt"}),
            (first, {"README.md", "src"}),
        ):
            yard.prepare(box, sha)
            assert {path.name for path in box.tree.iterdir()} == files | {".git"}
            assert git(box.tree, "rev-parse", "HEAD") == sha
            assert git(box.tree, "status", "--porcelain", "--ignored") == ""

    def test_a_commit_no_ref_names_can_be_tested(self, yard: Yard) -> None:
        lab = Lab(yard.repo, yard.top)
        built = lab.composed(lab.branch("t1", {"1.txt": "1\n"}), lab.branch("t2", {"2.txt": "2\n"}))
        box = yard.sandbox()
        yard.prepare(box, built.commit)
        assert (box.tree / "1.txt").exists()
        assert git(box.tree, "rev-parse", "HEAD^{tree}") == built.tree

    def test_the_second_run_finds_the_sandbox_warm(self, yard: Yard) -> None:
        box = yard.sandbox()
        assert yard.prepare(box).rebuilt == "there was none"
        untouched = (box.tree / "README.md").stat().st_ino
        assert yard.prepare(box, commit(yard.top, {"new.txt": "n\n"})).rebuilt == ""
        assert (box.tree / "README.md").stat().st_ino == untouched

    def test_a_fresh_one_can_be_asked_for(self, yard: Yard) -> None:
        box = yard.sandbox()
        yard.prepare(box)
        release_sandbox(box, "r1")
        assert yard.prepare(box, run="r2", fresh=True).rebuilt == "a fresh one was requested"

    def test_what_a_run_left_is_gone_before_the_next(self, yard: Yard) -> None:
        (yard.top / ".gitignore").write_text("*.o\n")
        commit(yard.top, {}, "ignore")
        box = yard.sandbox()
        leave = (
            "echo x > left.o; echo y > left.txt; echo z >> README.md; rm src/app.py; mkdir -p a/b; touch a/b/c;"
            "git init -q nested; touch $HOME/mine $TMPDIR/mine; chmod -x README.md; ln -s /etc link; chmod 0 a/b"
        )
        yard.run(box, leave)
        assert yard.changed_files(box) == ("README.md", "src/app.py")
        yard.prepare(box)
        assert git(box.tree, "status", "--porcelain", "--ignored") == ""
        assert yard.changed_files(box) == ()
        assert not (box.home / "mine").exists()
        assert not (box.tmp / "mine").exists()
        assert os.access("/etc", os.X_OK)

    def test_named_caches_stay_and_nothing_else_does(self, yard: Yard) -> None:
        box = yard.sandbox()
        yard.run(
            box, "mkdir -p node_modules/x build sub/node_modules; touch node_modules/x/y build/z sub/node_modules/q"
        )
        yard.prepare(box, keep=("node_modules",))
        assert (box.tree / "node_modules" / "x" / "y").exists()
        assert (box.tree / "sub" / "node_modules" / "q").exists()
        assert not (box.tree / "build").exists()

    def test_ci_can_compare_with_main(self, yard: Yard) -> None:
        base = yard.main
        head = commit(yard.top, {"new.txt": "n\n"})
        box = yard.sandbox()
        yard.prepare(box, head, refs=(("refs/remotes/origin/main", base),))
        ran = yard.start(box, "git diff --name-only origin/main HEAD && git log --oneline | wc -l")
        assert ran.out.split() == ["new.txt", "2"]

    def test_a_commit_that_is_gone_is_nobodys_fault(self, yard: Yard) -> None:
        result = prepare_sandbox(yard.sandbox(), SandboxOrder("r1", "d" * 40))
        assert isinstance(result, NotPrepared)
        assert "d" * 40 in result.reason

    def test_a_name_that_leads_elsewhere_is_refused(self, yard: Yard) -> None:
        with pytest.raises(PaddockError):
            Sandbox(yard.repo, yard.folder, "../elsewhere")

    def test_lines_symlinks_and_modes_arrive_as_they_are(self, yard: Yard) -> None:
        (yard.top / "dos.txt").write_bytes(b"one\r\ntwo\r\n")
        (yard.top / "run.sh").write_text("#!/bin/sh\n")
        (yard.top / "run.sh").chmod(0o755)
        (yard.top / "link").symlink_to("dos.txt")
        (yard.top / os.fsdecode(b"caf\xe9")).write_text("x\n")
        head = commit(yard.top, {}, "odd things")
        box = yard.sandbox()
        yard.prepare(box, head)
        assert (box.tree / "dos.txt").read_bytes() == b"one\r\ntwo\r\n"
        assert os.readlink(box.tree / "link") == "dos.txt"
        assert os.access(box.tree / "run.sh", os.X_OK)
        assert (box.tree / os.fsdecode(b"caf\xe9")).exists()
        assert yard.changed_files(box) == ()

    def test_a_submodule_is_an_empty_folder_whatever_the_last_run_put_there(self, yard: Yard) -> None:
        git(yard.top, "update-index", "--add", "--cacheinfo", f"160000,{yard.main},vendor/lib")
        (yard.top / ".gitmodules").write_text('[submodule "lib"]\n\tpath = vendor/lib\n\turl = ./nowhere\n')
        git(yard.top, "add", ".gitmodules")
        git(yard.top, "commit", "-qm", "submodule")
        box = yard.sandbox()
        yard.run(box, "touch vendor/lib/left")
        yard.prepare(box)
        assert list((box.tree / "vendor" / "lib").iterdir()) == []

    def test_a_repository_with_sha256_or_shallow_history_can_be_tested(self, yard: Yard, tmp_path: Path) -> None:
        long, shallow = tmp_path / "long", tmp_path / "shallow"
        git(tmp_path, "init", "--quiet", "--object-format=sha256", "-b", "main", str(long))
        commit(long, {"a.txt": "a\n"})
        commit(yard.top, {"second.txt": "2\n"})
        git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{yard.top}", str(shallow))
        for top in (long, shallow):
            other = Yard(discover(top), top, tmp_path / f"{top.name}-yard")
            other.folder.mkdir()
            box = other.sandbox()
            other.prepare(box)
            assert other.start(box, "git log --oneline | wc -l; git status --porcelain").out.strip() == "1"


class TestClaims:
    def test_a_sandbox_has_one_run_until_it_is_released(self, yard: Yard) -> None:
        box = yard.sandbox()
        yard.prepare(box, run="r1")
        assert prepare_sandbox(box, SandboxOrder("r2", yard.main)) == InUse("r1")
        assert remove_sandbox(box) == InUse("r1")
        assert not release_sandbox(box, "r2")
        assert release_sandbox(box, "r1")
        assert isinstance(prepare_sandbox(box, SandboxOrder("r2", yard.main)), PreparedSandbox)

    def test_a_restarted_daemon_finds_which_run_is_where(self, yard: Yard) -> None:
        for name, run in (("s1", "r7"), ("s2", "r8")):
            yard.prepare(yard.sandbox(name), run=run)
        release_sandbox(yard.sandbox("s2"), "r8")
        seen = list_sandboxes(yard.repo, yard.folder / "ci")
        assert {name: record.run for name, record in seen.items()} == {"s1": "r7", "s2": None}
        assert seen["s1"].commit == yard.main

    def test_removing_frees_the_disk_and_leaves_nothing(self, yard: Yard) -> None:
        box = yard.sandbox()
        yard.run(box, "mkdir locked && touch locked/x && chmod 0500 locked")
        freed = remove_sandbox(box)
        assert isinstance(freed, int)
        assert freed > 0
        assert list(box.root.iterdir()) == []
        assert list_sandboxes(yard.repo, box.root) == {}

    def test_rubbish_of_a_killed_removal_is_swept(self, yard: Yard) -> None:
        box = yard.sandbox()
        yard.prepare(box)
        os.rename(box.path, box.root / "s1.trash-1")
        assert yard.prepare(box).rebuilt == "there was none"
        assert not (box.root / "s1.trash-1").exists()
        shutil.copytree(box.tree, box.root / "s9.trash-1")
        assert sweep_trash(box.root) > 0
        assert list(list_sandboxes(yard.repo, box.root)) == ["s1"]


class TestHostileCi:
    def test_moving_and_deleting_refs_does_not_reach_the_repository(self, yard: Yard) -> None:
        before = (refs_of(yard), (yard.repo.common_dir / "config").read_bytes(), (yard.top / ".git/HEAD").read_text())
        hostile = (
            "git update-ref refs/heads/main HEAD~0; git checkout -q -B main; git commit -q --allow-empty -m evil;"
            "git branch -f other; git tag evil; git update-ref -d refs/heads/main; git config core.bare true;"
            "git config --global alias.x y; git update-ref refs/paddock/changes/t1/v1 HEAD; git stash;"
            "git worktree prune; git symbolic-ref HEAD refs/heads/gone; git reflog expire --all --expire=now;"
            "echo evil > .git/hooks/x"
        )
        box = yard.sandbox()
        yard.run(box, hostile)
        after = (refs_of(yard), (yard.repo.common_dir / "config").read_bytes(), (yard.top / ".git/HEAD").read_text())
        assert before == after
        yard.prepare(box)
        assert git(box.tree, "for-each-ref") == ""
        assert git(box.tree, "rev-parse", "HEAD") == yard.main
        assert git(box.tree, "config", "--get", "core.bare") == "false"

    def test_gc_in_the_sandbox_takes_no_object_of_the_repository(self, yard: Yard) -> None:
        lab = Lab(yard.repo, yard.top)
        built = lab.composed(lab.branch("t1", {"1.txt": "1\n"}))
        box = yard.sandbox()
        yard.run(box, "git gc --quiet --prune=now; git prune --expire=now; git repack -adq", built.commit)
        assert git(yard.top, "cat-file", "-t", built.commit) == "commit"
        git(yard.top, "fsck", "--no-dangling")

    def test_new_objects_stay_in_the_sandbox(self, yard: Yard) -> None:
        box = yard.sandbox()
        yard.prepare(box)
        ran = yard.start(box, "echo secret | git hash-object -w --stdin")
        sha = ran.out.strip()
        assert len(sha) == 40
        found = subprocess.run(("git", "-C", str(yard.top), "cat-file", "-e", sha), check=False, capture_output=True)
        assert found.returncode != 0

    @pytest.mark.parametrize(
        "destroy",
        [
            'rm -rf "$PWD"',
            "cd .. && rm -rf tree control home tmp",
            "rm -rf .git",
            "rm -rf ../control/objects",
            'cd .. && rm -rf tree && ln -s "$HOME" tree',
            "cd .. && P=$PWD && cd .. && mv $P elsewhere && ln -s elsewhere $P",
            "echo rubbish > ../control/index",
            "echo '[core' > ../control/config",
            "touch ../control/index.lock",
            "rm -rf .git && ln -s /nowhere .git",
            "rm -rf ../home && ln -s / ../home",
        ],
    )
    def test_a_destroyed_sandbox_is_made_again(self, yard: Yard, destroy: str) -> None:
        box = yard.sandbox()
        before = refs_of(yard)
        yard.run(box, destroy)
        yard.prepare(box)
        assert git(box.tree, "rev-parse", "HEAD") == yard.main
        assert yard.changed_files(box) == ()
        assert not box.home.is_symlink()
        assert refs_of(yard) == before
        assert yard.start(box, "cat README.md").out == "hello\n"

    def test_a_lock_left_behind_costs_no_rebuild(self, yard: Yard) -> None:
        box = yard.sandbox()
        yard.prepare(box)
        (box.control / "index.lock").touch()
        assert yard.prepare(box).rebuilt == ""

    def test_a_hidden_edit_does_not_survive_into_the_next_run(self, yard: Yard) -> None:
        """The flags that make git overlook a file are set in the repository CI sees, which is thrown away."""
        box = yard.sandbox()
        hide = "git update-index --assume-unchanged README.md; git update-index --skip-worktree src/app.py;"
        yard.run(
            box, hide + "touch -r README.md keep; echo HELLO > README.md; touch -r keep README.md; echo > src/app.py"
        )
        yard.prepare(box)
        assert (box.tree / "README.md").read_text() == "hello\n"
        assert (box.tree / "src" / "app.py").read_text() == "print('hello')\n"

    def test_git_does_not_find_a_repository_around_a_sandbox_without_one(self, yard: Yard) -> None:
        git(yard.folder, "init", "--quiet", ".")
        box = yard.sandbox()
        ran = yard.run(box, "rm -rf .git; git rev-parse --show-toplevel")
        assert ran.exited.code == 128
        assert ran.out == ""

    def test_a_daemon_that_ci_forks_is_swept(self, yard: Yard) -> None:
        box = yard.sandbox()
        yard.prepare(box)
        ran = yard.start(box, "setsid sleep 300 >/dev/null 2>&1 & echo started")
        assert (ran.out, ran.swept) == ("started\n", 1)

    def test_ci_that_reaches_into_the_repository_by_path_cannot_get_a_change_landed(self, yard: Yard) -> None:
        lab = Lab(yard.repo, yard.top)
        move = lab.move(lab.branch("t1", {"1.txt": "1\n"}))
        box = yard.sandbox()
        evil = f"git -C {yard.top} update-ref"
        yard.run(box, f"{evil} refs/paddock/changes/t1/v1 $(git -C {yard.top} rev-parse main)")
        assert isinstance(land(yard.repo, move), Unsound)
        yard.run(box, f"{evil} refs/heads/main $(git -C {yard.top} commit-tree -m evil HEAD^{{tree}})")
        assert isinstance(land(yard.repo, move), StaleMain)
        seen = observe_main(yard.repo, "refs/heads/main", move.old)
        assert isinstance(seen, MainSeen)
        assert not seen.descends

    def test_exit_by_signal_and_a_missing_command_are_told_apart(self, yard: Yard) -> None:
        box = yard.sandbox()
        yard.prepare(box)
        assert yard.start(box, "kill -TERM $$").exited.signal == 15
        assert yard.start(box, "no-such-command-at-all").exited.code == 127
        assert yard.start(box, "exit 75").exited.code == 75


class TestDamageByTheMachine:
    def test_a_record_that_cannot_be_read_means_building_anew(self, yard: Yard) -> None:
        box = yard.sandbox()
        yard.prepare(box)
        box.record_path.write_text("{")
        assert yard.prepare(box).rebuilt == "it was left half-finished"

    def test_a_place_that_cannot_be_written_is_nobodys_fault(self, yard: Yard) -> None:
        box = yard.sandbox()
        yard.prepare(box)
        shutil.rmtree(box.path)
        box.path.write_text("a file in the way")
        os.chmod(box.root, 0o500)
        try:
            result = prepare_sandbox(box, SandboxOrder("r1", yard.main))
        finally:
            os.chmod(box.root, 0o700)
        assert isinstance(result, PreparedSandbox if os.geteuid() == 0 else NotPrepared)


def test_a_warm_sandbox_has_the_bytes_that_changed_attributes_ask_for(yard: Yard) -> None:
    """Only the attributes differ between the commits, so that git would leave every other file as it is."""
    plain = commit(yard.top, {"docs/a.txt": "one\n"}, "plain")
    crlf = commit(yard.top, {"docs/.gitattributes": "*.txt text eol=crlf\n"}, "attributes")
    box = yard.sandbox()
    seen = []
    for number, at in enumerate((plain, crlf, plain)):
        ready = yard.prepare(box, at, f"r{number}")
        seen.append(((box.tree / "docs/a.txt").read_bytes(), ready.rebuilt))
        release_sandbox(box, f"r{number}")
    assert seen[1:] == [(b"one\r\n", "`.gitattributes` changed"), (b"one\n", "`.gitattributes` changed")]
