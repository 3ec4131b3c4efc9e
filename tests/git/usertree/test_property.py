"""Whatever a checkout looks like: no byte of uncommitted work changes, and `git status` shows what it showed."""

import os
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paddock.git.repo import discover
from paddock.git.usertree.update import LeftAlone, UpToDate
from tests.git.conftest import commit, git, write
from tests.git.usertree.desk import Desk

NAMES = ("a", "b", "d/a", "d/b", "d/e/f", "x", "y/z")
TEXTS = ("one\n", "two\n", "three\n")
Tree = dict[str, str]
trees = st.dictionaries(st.sampled_from(NAMES), st.sampled_from(TEXTS), max_size=len(NAMES)).map(
    lambda tree: {name: text for name, text in tree.items() if not any(o.startswith(f"{name}/") for o in tree)}
)
works = st.lists(
    st.tuples(
        st.sampled_from(NAMES), st.sampled_from(("write", "delete", "chmod", "add", "rm")), st.sampled_from(TEXTS)
    ),
    max_size=4,
)


def make_tree(top: Path, tree: Tree) -> None:
    for entry in top.iterdir():
        if entry.name != ".git":
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    write(top, {**tree, "keep": "always here\n"})


def do_work(top: Path, name: str, what: str, text: str) -> None:
    path = top / name
    if any(parent.is_file() for parent in path.parents) or path.is_dir():
        return
    if what == "write":
        write(top, {name: text})
    elif what == "delete":
        path.unlink(missing_ok=True)
    elif what == "chmod" and path.exists():
        path.chmod(0o755)
    elif what == "add" and path.exists():
        git(top, "add", name)
    elif what == "rm" and git(top, "ls-files", name):
        git(top, "rm", "--quiet", "--cached", name)


def own_work(desk: Desk, commit: str) -> dict[str, tuple[object, str]]:
    """Each path the user has changed against `commit`: what is on disk, what is staged."""
    base = {row.split("\t")[1]: row.split()[2] for row in git(desk.top, "ls-tree", "-r", commit).splitlines()}
    modes = {row.split("\t")[1]: row.split()[0] for row in git(desk.top, "ls-tree", "-r", commit).splitlines()}
    staged = {row.split("\t")[1]: row.split("\t")[0] for row in git(desk.top, "ls-files", "-s").splitlines()}
    disk = {name: value for name, value in desk.contents().items() if name != ".git/index"}
    mine = {}
    for name in {*base, *staged, *disk}:
        wanted = f"{modes.get(name)} {base.get(name)} 0" if name in base else None
        version = None
        if name in disk:
            mode = "100755" if os.access(desk.top / name, os.X_OK) else "100644"
            version = f"{mode} {git(desk.top, 'hash-object', name)} 0"
        if staged.get(name) != wanted or version != wanted:
            mine[name] = disk.get(name), staged.get(name, "")
    return mine


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(old=trees, new=trees, work=works)
def test_no_uncommitted_work_ever_changes(
    old: Tree, new: Tree, work: list[tuple[str, str, str]], repo_template: Path
) -> None:
    with TemporaryDirectory() as folder:
        top = Path(folder).resolve() / "app"
        shutil.copytree(repo_template, top, symlinks=True)
        make_tree(top, old)
        first = commit(top, {}, "old")
        make_tree(top, new)
        second = commit(top, {}, "new")
        git(top, "reset", "--quiet", "--hard", first)
        for step in work:
            do_work(top, *step)
        desk = Desk(discover(top), top)
        mine, before = own_work(desk, first), desk.contents()
        git(top, "update-ref", "refs/heads/main", second)

        result = desk.update((first, second))

        landed = set(git(top, "diff", "--no-renames", "--name-only", first, second).splitlines())
        if isinstance(result, LeftAlone):
            assert desk.contents() == before
            assert result.files
            assert mine
        else:
            assert isinstance(result, UpToDate)
            after = own_work(desk, second)
            assert after == {name: kept for name, kept in mine.items() if name in after}
            # What is no longer an edit is exactly what landed.
            assert {*mine} - {*after} <= landed
        assert not (top / ".git" / "index.lock").exists()
        assert not (top / ".git" / "paddock-sync").exists()
