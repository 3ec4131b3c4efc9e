"""Commits made from a tree that showed an older main: what had landed since is missing from them.

Somebody commits what an old checkout has, on top of the new main. Whatever landed between the two is taken back without
anybody having meant it. A file lacks landed work when merging that work into it again changes it.
"""

import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from paddock.core.catchup import GITLINK, SYMLINK
from paddock.core.ids import recordable
from paddock.git.command import run_git
from paddock.git.compose import Signature
from paddock.git.history import read_landed
from paddock.git.repo import Repo
from paddock.git.usertree.notes import CheckoutNotes, StaleTree, UndoneWork
from paddock.git.usertree.versions import DIFFERENCES, Change, index_row, parse_differences
from paddock.git.workbench import CommitDraft, open_workbench

MOST_MERGED = 200  # files of which the lines are compared; beyond that only whole files are


@dataclass(frozen=True, slots=True)
class Loss:
    """`content` is the file with the landed work in it again; None: exactly `version`, which None removes."""

    path: str
    version: str | None
    content: bytes | None = None


def notice_undone(repo: Repo, branch: str, notes: CheckoutNotes) -> CheckoutNotes:
    """The notes after a look at main; costs nothing while main is where it was."""
    main = repo.resolve(f"refs/heads/{branch}")
    if main is None or (not notes.undone and all(entry.main == main for entry in notes.stale)):
        return notes
    undone = list(_still_undone(repo, notes, main))
    stale = []
    for entry in notes.stale:
        if entry.main != main and (found := _examine(repo, entry, main)) is not None:
            known = any(one.commit == found.commit for one in undone)
            undone += [] if known else [found]
        stale.append(replace(entry, main=main))
    return CheckoutNotes(tuple(stale), tuple(undone), main)


def _still_undone(repo: Repo, notes: CheckoutNotes, main: str) -> tuple[UndoneWork, ...]:
    if notes.main == main:
        return notes.undone
    kept = []
    for one in notes.undone:
        if not repo.resolve(one.commit) or not repo.is_ancestor(one.commit, main):
            continue
        if losses := find_losses(repo, one.base, one.landed, main):
            kept.append(replace(one, files=tuple(recordable(loss.path) for loss in losses)))
    return tuple(kept)


def _examine(repo: Repo, entry: StaleTree, main: str) -> UndoneWork | None:
    if not all(map(repo.resolve, (entry.at, entry.main))) or not repo.is_ancestor(entry.main, main):
        return None
    losses = find_losses(repo, entry.at, entry.main, main)
    if not losses:
        return None
    paths = [loss.path for loss in losses]
    literal = [f":(literal,top){path}" for path in paths[:MOST_MERGED]]
    listed = repo.git("rev-list", "--first-parent", "--reverse", f"{entry.main}..{main}", "--", *literal).lines
    commit = listed[0] if listed else main
    files = tuple(recordable(path) for path in paths)
    return UndoneWork(commit, entry.at, entry.main, files, _whose(repo, entry, set(paths)))


def _whose(repo: Repo, entry: StaleTree, paths: set[str]) -> tuple[str, ...]:
    names: dict[str, None] = {}
    for tip in read_landed(open_workbench(repo), entry.main, entry.at):
        if paths.intersection(repo.changed_paths(f"{tip.commit}^1", tip.commit)):
            names |= dict.fromkeys(member.id for member in tip.members)
    return tuple(names)


def find_losses(repo: Repo, base: str, landed: str, main: str) -> tuple[Loss, ...]:
    """Where `main` lacks what `landed` had over `base`."""
    brought, since = _changes(repo, base, landed), _changes(repo, landed, main)
    losses = []
    for number, path in enumerate(path for path in brought if path in since):
        old, new = brought[path]
        now = since[path][1]
        if now == old:
            losses.append(Loss(path, new))
        elif number < MOST_MERGED and (content := _merge_again(repo, now, old, new)) is not None:
            losses.append(Loss(path, now, content))
    return tuple(losses)


def _changes(repo: Repo, one: str, other: str) -> dict[str, Change]:
    return parse_differences(repo.git(*DIFFERENCES, one, other).records)


def _merge_again(repo: Repo, now: str | None, old: str | None, new: str | None) -> bytes | None:
    """The lines of `now` with what `new` has over `old`; None when nothing is missing or lines do not tell.

    Where both changed the same lines, those of `now` count: somebody wrote them.
    """
    if now is None or old is None or new is None:
        return None
    if any(version.startswith((SYMLINK, GITLINK)) for version in (now, old, new)):
        return None
    contents = [repo.git("cat-file", "blob", version.split(" ")[1]).stdout for version in (now, old, new)]
    with tempfile.TemporaryDirectory() as folder:
        for name, content in zip(("now", "old", "new"), contents, strict=True):
            (Path(folder) / name).write_bytes(content)
        merged = run_git(Path(folder), "merge-file", "-p", "--ours", "now", "old", "new", check=False)
    return merged.stdout if merged.ok and merged.stdout != contents[0] else None


def restore_commit(repo: Repo, work: UndoneWork, branch: str, main: str) -> str | None:
    """A commit on `main` that brings the landed work back, held by the new branch; None when nothing is missing."""
    losses = find_losses(repo, work.base, work.landed, main)
    if not losses:
        return None
    with tempfile.TemporaryDirectory() as folder:
        env = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
        repo.git("read-tree", main, env=env)
        rows = b"".join(_index_row(repo, loss) for loss in losses)
        repo.git("update-index", "-z", "--add", "--replace", "--index-info", input=rows, env=env)
        tree = repo.git("write-tree", env=env).text
    names = f" ({', '.join(work.changes)})" if work.changes else ""
    files = "".join(f"\n- {recordable(loss.path)}" for loss in losses)
    message = f"Restore what {work.commit[:10]} took back{names}\n\nIt was committed from an older checkout.\n{files}\n"
    signed = Signature().at(int(time.time()))
    commit = open_workbench(repo).write_commit(CommitDraft(tree, (main,), signed, signed, message.encode()))
    ref = f"refs/heads/{branch}"
    repo.git("update-ref", "-m", "paddock: restore", ref, commit)
    return commit


def _index_row(repo: Repo, loss: Loss) -> bytes:
    version = loss.version
    if loss.content is not None:
        assert version is not None
        sha = repo.git("hash-object", "-w", "--stdin", input=loss.content).text
        version = f"{version.split(' ')[0]} {sha}"
    return index_row(os.fsencode(loss.path), version)
