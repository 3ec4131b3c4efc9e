"""What the user configured for their own repository holds in the worktrees made of it."""

import subprocess
from pathlib import Path

import pytest

from paddock.git.enclosure.residence import shown_refs
from paddock.git.repo import Repo, discover
from paddock.git.settings import read_settings
from paddock.git.worktrees.delivery import save_attempt
from paddock.git.worktrees.prepare import WorktreeOrder, prepare, release
from paddock.git.worktrees.slots import WorktreeRoot
from tests.git.conftest import commit, git, write

BRANCH = "paddock/t1-work"


def order(start: str) -> WorktreeOrder:
    return WorktreeOrder("t1.1", BRANCH, start)


def test_a_filter_of_the_users_works_both_ways(root: WorktreeRoot, top: Path) -> None:
    git(top, "config", "filter.rot.clean", "tr a-z b-za")
    git(top, "config", "filter.rot.smudge", "tr b-za a-z")
    start = commit(top, {".gitattributes": "*.rot filter=rot\n", "x.rot": "hello\n"})
    assert git(top, "show", "HEAD:x.rot") == "ifmmp"
    tree = prepare(root, order(start)).worktree
    assert (tree.path / "x.rot").read_text() == "hello\n"
    write(tree.path, {"y.rot": "world\n"})
    git(tree.path, "add", ".")
    git(tree.path, "commit", "-qm", "by the agent")
    write(tree.path, {"z.rot": "rescue\n"})
    release(root, "t1.1", "test")
    assert [git(top, "show", f"{BRANCH}:{name}.rot") for name in "yz"] == ["xpsme", "sftdvf"]


def test_line_endings_excludes_and_identity_are_the_users(root: WorktreeRoot, repo: Repo, top: Path) -> None:
    git(top, "config", "core.autocrlf", "true")
    git(top, "config", "user.name", 'Ada "The" Countess\\')
    write(top, {".git/info/exclude": "*.mine\n"})
    tree = prepare(root, order(git(top, "rev-parse", "main"))).worktree
    assert (tree.path / "README.md").read_bytes() == b"hello\r\n"
    write(tree.path, {"x.mine": "1"})
    assert git(tree.path, "status", "--porcelain") == ""
    assert git(tree.path, "config", "user.name") == 'Ada "The" Countess\\'
    assert release(root, "t1.1", "test").saved is not None
    assert repo.refs("refs/heads/paddock") == {}


def test_included_files_are_read_once_and_again_when_they_change(repo: Repo, top: Path) -> None:
    write(top.parent, {"extra": "[user]\n\tname = Ada\n"})
    git(top, "config", "include.path", str(top.parent / "extra"))
    assert read_settings(repo.common_dir).get("user.name") == "Ada"
    first = read_settings(repo.common_dir)
    assert read_settings(repo.common_dir) is first
    write(top.parent, {"extra": "[user]\n\tname = Grace Hopper\n"})
    assert read_settings(repo.common_dir).get("user.name") == "Grace Hopper"


@pytest.mark.parametrize("condition", ["include", 'includeIf "gitdir:{top}/"'])
def test_what_is_included_for_this_repository_by_its_place_holds_in_its_worktrees(
    root: WorktreeRoot, top: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, condition: str
) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "global"))
    write(
        tmp_path,
        {
            "global": f"[user]\n\tname = Ada\n[{condition.format(top=top)}]\n\tpath = work\n",
            "work": "[user]\n\temail = ada@work\n"
            '[filter "rot"]\n\tsmudge = tr b-za a-z\n[http]\n\textraHeader = secret\n',
        },
    )
    start = commit(top, {".gitattributes": "*.rot filter=rot\n", "x.rot": "ifmmp\n"})
    tree = prepare(root, order(start)).worktree
    assert (tree.path / "x.rot").read_text() == "hello\n"
    assert [git(tree.path, "config", f"user.{name}") for name in ("name", "email")] == ["Ada", "ada@work"]
    assert "secret" not in (tree.git_dir / "config").read_text()
    assert "Ada" not in (tree.git_dir / "config").read_text(), "git finds it anyway"
    write(tmp_path, {"work": "[user]\n\temail = ada@home\n"})
    assert read_settings(root.repo.common_dir).get("user.email") == "ada@home"


def test_hooks_of_the_users_run_for_the_agent(root: WorktreeRoot, top: Path) -> None:
    hook = top / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho no >&2\nexit 1\n")
    hook.chmod(0o755)
    tree = prepare(root, order(git(top, "rev-parse", "main"))).worktree
    write(tree.path, {"a": "1"})
    git(tree.path, "add", ".")
    with pytest.raises(AssertionError, match="no"):
        git(tree.path, "commit", "-qm", "x")


@pytest.mark.parametrize("cone", ["--cone", "--no-cone"])
def test_a_sparse_checkout_is_cut_as_the_users(root: WorktreeRoot, repo: Repo, top: Path, cone: str) -> None:
    start = commit(top, {"docs/a": "1", "src/b": "2"})
    git(top, "sparse-checkout", "set", cone, "src" if cone == "--cone" else "/src/")
    tree = prepare(root, order(start)).worktree
    assert (tree.path / "src/b").exists()
    assert not (tree.path / "docs").exists()
    assert git(tree.path, "status", "--porcelain") == ""
    head = commit(tree.path, {"src/b": "3"})
    saved = save_attempt(root, "t1.1", "test")
    assert saved is not None
    assert (saved.head, saved.commit) == (head, None)
    assert repo.changed_paths(start, head) == ("src/b",)
    git(top, "sparse-checkout", "disable")
    release(root, "t1.1", "test")
    again = prepare(root, WorktreeOrder("t2.1", "paddock/t2", start)).worktree
    assert (again.path / "docs/a").exists()


def test_a_partial_clone_fetches_what_it_lacks(tmp_path: Path, top: Path) -> None:
    start = commit(top, {"only-here": "content\n", "old": "1"})
    git(top, "config", "uploadpack.allowFilter", "true")
    git(top, "config", "uploadpack.allowAnySHA1InWant", "true")
    git(tmp_path, "clone", "-q", "--filter=blob:none", "--no-checkout", f"file://{top}", "partial")
    partial = discover(tmp_path / "partial")
    root = WorktreeRoot(partial, tmp_path / "partial.paddock")
    tree = prepare(root, order(start)).worktree
    assert (tree.path / "only-here").read_text() == "content\n"
    head = commit(tree.path, {"new": "1"})
    write(tree.path, {"dirty": "2"})
    assert release(root, "t1.1", "test").kept == ""
    assert git(tmp_path / "partial", "log", "--format=%H", f"{BRANCH}~1", "-1") == head


def test_a_shallow_clone_is_worked_in(tmp_path: Path, top: Path) -> None:
    commit(top, {"a": "1"})
    start = commit(top, {"a": "2"})
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{top}", "shallow")
    root = WorktreeRoot(discover(tmp_path / "shallow"), tmp_path / "shallow.paddock")
    tree = prepare(root, order(start)).worktree
    head = commit(tree.path, {"new": "1"})
    assert git(tree.path, "rev-list", "HEAD").split() == [head, start]
    assert release(root, "t1.1", "test").kept == ""
    assert git(tmp_path / "shallow", "rev-list", BRANCH).split() == [head, start]


def test_tags_remotes_and_branches_are_shown_and_those_of_other_attempts_are_not(root: WorktreeRoot, top: Path) -> None:
    git(top, "tag", "-a", "v1", "-m", "one")
    git(top, "branch", "mine")
    git(top, "branch", "paddock/t9-other")
    git(top, "pack-refs", "--all")
    git(top, "branch", "loose")
    git(top, "update-ref", "refs/remotes/origin/main", "main")
    git(top, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    tree = prepare(root, order(git(top, "rev-parse", "main"))).worktree
    shown = git(tree.path, "for-each-ref", "--format=%(refname)").split()
    assert shown == [
        *("refs/heads/loose", "refs/heads/main", "refs/heads/mine", f"refs/heads/{BRANCH}"),
        *("refs/remotes/origin/HEAD", "refs/remotes/origin/main", "refs/tags/v1"),
    ]
    assert git(tree.path, "describe") == "v1"
    assert git(tree.path, "symbolic-ref", "refs/remotes/origin/HEAD") == "refs/remotes/origin/main"


def test_the_next_attempt_is_shown_the_refs_as_they_are_then(repo: Repo, top: Path) -> None:
    git(top, "branch", "old")
    git(top, "pack-refs", "--all")
    assert "refs/heads/old" in shown_refs(repo).lines
    git(top, "branch", "-D", "old")
    git(top, "branch", "new")
    git(top, "pack-refs", "--all")
    head = commit(top, {"moved": "1"})
    assert {name: line.split(" ")[0] for name, line in shown_refs(repo).lines.items()} == {
        "refs/heads/main": head,
        "refs/heads/new": git(top, "rev-parse", "new"),
    }


def test_commits_are_signed_as_the_user_configured(root: WorktreeRoot, top: Path, tmp_path: Path) -> None:
    key = tmp_path / "key"
    subprocess.run(("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)), check=True)
    write(tmp_path, {"signers": f"test@example.invalid {key.with_suffix('.pub').read_text()}"})
    signing = {"gpg.format": "ssh", "user.signingKey": str(key), "commit.gpgSign": "true"}
    for name, value in {**signing, "gpg.ssh.allowedSignersFile": str(tmp_path / "signers")}.items():
        git(top, "config", name, value)
    tree = prepare(root, order(git(top, "rev-parse", "main"))).worktree
    head = commit(tree.path, {"a": "1"})
    assert release(root, "t1.1", "test").kept == ""
    assert git(top, "rev-parse", BRANCH) == head
    git(top, "verify-commit", head)


def test_a_submodule_comes_from_where_the_user_has_it(root: WorktreeRoot, top: Path, tmp_path: Path) -> None:
    lib = tmp_path / "lib"
    subprocess.run(("git", "init", "-q", "-b", "main", str(lib)), check=True)
    first = commit(lib, {"inner": "1\n"})
    git(top, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(lib), "lib")
    git(top, "config", "--file", ".gitmodules", "submodule.lib.url", "https://unreachable.invalid/lib")
    start = commit(top, {})
    second = commit(lib, {"inner": "2\n"})
    tree = prepare(root, order(start)).worktree
    assert list((tree.path / "lib").iterdir()) == []
    git(tree.path, "-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init")
    assert git(tree.path / "lib", "rev-parse", "HEAD") == first
    git(tree.path / "lib", "pull", "-q", "origin", "main")
    head = commit(tree.path, {"outer": "1"})
    saved = save_attempt(root, "t1.1", "test")
    assert saved is not None
    assert (saved.head, saved.commit, saved.links) == (head, None, ("lib",))
    assert git(top, "rev-parse", f"{BRANCH}:lib") == second
    assert "submodules were checked out" in release(root, "t1.1", "test").kept
