"""Stashing what is in the way of main, bringing the checkout up to date, and applying it again.

`git stash` would save the difference to the new main, and with it the removal of all that has landed. The stash made
here is based on the main the checkout shows, so `git stash pop` merges the edits and nothing else.
"""

import tempfile
import time
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

from paddock.core.catchup import UNMERGED
from paddock.core.ids import recordable
from paddock.git.landing.workbench import Clash, CommitDraft, open_workbench, paddock_at
from paddock.git.repo import Repo
from paddock.git.usertree.checkouts import TreeReport
from paddock.git.usertree.facts import TreeFacts, read_versions
from paddock.git.usertree.notes import hold_checkouts, read_notes, write_notes
from paddock.git.usertree.places import UserTree, fingerprint
from paddock.git.usertree.update import IN_THE_WAY, LeftAlone, UpToDate, clashing_paths, update_tree
from paddock.git.usertree.versions import ENTER_VERSIONS, index_rows


@dataclass(frozen=True, slots=True)
class StashReport:
    """`commit` is the stash; `applied` says that the edits are back in the files and the stash is gone."""

    report: TreeReport
    commit: str | None = None
    applied: bool = False


def catch_up_with_stash(repo: Repo, report: TreeReport) -> StashReport:
    """For a checkout that `catch_up` has left alone because of uncommitted work."""
    if not isinstance(report.result, LeftAlone) or report.result.reason != IN_THE_WAY:
        return StashReport(report)
    tree, at, main = report.tree, report.at, report.main
    with hold_checkouts(repo):
        facts, clashes = clashing_paths(tree, at, main)
        stuck = [name for path in clashes for name in facts.blocked_by.get(path, ())]
        if stuck:
            names = tuple(recordable(name) for name in stuck)
            why = LeftAlone("these are in the way and cannot be stashed: move them elsewhere", names)
            return StashReport(replace(report, result=why))
        commit = _make_stash(repo, tree, at, facts, clashes)
        if any(fingerprint(tree.path / path) != facts.prints[path] for path in clashes):
            return StashReport(report)
        words = f"On {tree.branch}: paddock sync: edits of {', '.join(map(recordable, clashes[:3]))}"
        tree.git("stash", "store", "--quiet", "-m", words + (" …" if len(clashes) > 3 else ""), commit)
        result = update_tree(tree, at, main, saved={path: facts.prints[path] for path in clashes})
        if not isinstance(result, UpToDate):
            _drop(tree, commit)
            return StashReport(replace(report, result=result))
        write_notes(repo, read_notes(repo).without_stale(tree.path))
        applied = _merges(repo, main, commit) and _pop(tree, commit)
        return StashReport(replace(report, result=result), commit, applied)


def _make_stash(repo: Repo, tree: UserTree, at: str, facts: TreeFacts, paths: Collection[str]) -> str:
    """The commit `git stash` would make of these paths in a checkout of `at`."""
    staged = {
        one.path: one.old if one.staged == one.new else one.staged
        for one in facts.paths
        if one.path in paths and one.staged != UNMERGED
    }
    bench = open_workbench(repo)
    signed = paddock_at(int(time.time()))
    with tempfile.TemporaryDirectory() as folder:
        index = Path(folder) / "index"
        tree.git("read-tree", at, index=index)
        index_tree = _write_tree(tree, index, staged)
        draft = CommitDraft(index_tree, (at,), signed, signed, b"index of a paddock sync\n")
        index_commit = bench.write_commit(draft)
        work_tree = _write_tree(tree, index, read_versions(tree, paths, store=True))
    return bench.write_commit(CommitDraft(work_tree, (at, index_commit), signed, signed, b"paddock sync\n"))


def _write_tree(tree: UserTree, index: Path, versions: dict[str, str | None]) -> str:
    tree.git(*ENTER_VERSIONS, index=index, input=index_rows(versions))
    return tree.git("write-tree", index=index).text


def _merges(repo: Repo, main: str, commit: str) -> bool:
    return not isinstance(open_workbench(repo).merge(main, commit), Clash)


def _is_newest(tree: UserTree, commit: str) -> bool:
    return tree.git("rev-parse", "--verify", "--quiet", "refs/stash", check=False).text == commit


def _pop(tree: UserTree, commit: str) -> bool:
    """With what was staged staged again where git can; the stash stays when it cannot be applied at all."""
    if not _is_newest(tree, commit):
        return False
    return any(tree.git("stash", "pop", "--quiet", *how, check=False).ok for how in (("--index",), ()))


def _drop(tree: UserTree, commit: str) -> None:
    if _is_newest(tree, commit):
        tree.git("stash", "drop", "--quiet", check=False)
