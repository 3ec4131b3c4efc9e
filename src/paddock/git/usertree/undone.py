"""Commits made from a tree that showed an older main: what had landed since is missing from them.

Somebody commits what an old checkout has, on top of the new main. Whatever landed between the two is taken back without
anybody having meant it. A file lacks landed work when merging that work into it again changes it.
"""

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from paddock.core.catchup import GITLINK, SYMLINK
from paddock.core.ids import recordable
from paddock.git.command import run_git
from paddock.git.landing.history import read_landed
from paddock.git.landing.workbench import CommitDraft, open_workbench, paddock_at
from paddock.git.repo import RefMove, Repo
from paddock.git.usertree.notes import CheckoutNotes, StaleTree, UndoneWork
from paddock.git.usertree.versions import DIFFERENCES, ENTER_VERSIONS, Change, index_rows, parse_differences

MOST_MERGED = 200  # files of which the lines are compared; beyond that only whole files are


@dataclass(frozen=True, slots=True)
class Loss:
    """`content` is the file with the landed work in it again; None: exactly `version`, which None removes.

    `contested`: landed lines were replaced by others. Those stay, for somebody wrote them.
    """

    path: str
    version: str | None
    content: bytes | None = None
    contested: bool = False

    @property
    def can_be_restored(self) -> bool:
        return self.content is not None or not self.contested


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
        settled = set(repo.changed_paths(one.commit, main))
        losses = find_losses(repo, one.base, one.landed, main)
        if losses := tuple(loss for loss in losses if loss.can_be_restored or loss.path not in settled):
            kept.append(replace(one, files=_paths(losses), contested=_contested(losses)))
    return tuple(kept)


def _examine(repo: Repo, entry: StaleTree, main: str) -> UndoneWork | None:
    if not all(map(repo.resolve, (entry.at, entry.main))) or not repo.is_ancestor(entry.main, main):
        return None
    losses = _not_of_the_queue(repo, entry.main, main, find_losses(repo, entry.at, entry.main, main))
    if not losses:
        return None
    paths = [loss.path for loss in losses]
    literal = [f":(literal,top){path}" for path in paths[:MOST_MERGED]]
    listed = repo.git("rev-list", "--first-parent", "--reverse", f"{entry.main}..{main}", "--", *literal).lines
    commit = listed[0] if listed else main
    whose = _whose(repo, entry, set(paths))
    return UndoneWork(commit, entry.at, entry.main, _paths(losses), whose, _contested(losses))


def _not_of_the_queue(repo: Repo, landed: str, main: str, losses: tuple[Loss, ...]) -> tuple[Loss, ...]:
    """Without lines that were replaced by what landed later: that was made from a main that had them."""
    if all(loss.can_be_restored for loss in losses):
        return losses
    tips = {tip.commit for tip in read_landed(open_workbench(repo), main, landed)}
    by_hand = [line for line in repo.git("rev-list", "--first-parent", f"{landed}..{main}").lines if line not in tips]
    edited = {path for commit in by_hand for path in repo.changed_paths(f"{commit}^1", commit)}
    return tuple(loss for loss in losses if loss.can_be_restored or loss.path in edited)


def _paths(losses: tuple[Loss, ...]) -> tuple[str, ...]:
    return tuple(recordable(loss.path) for loss in losses)


def _contested(losses: tuple[Loss, ...]) -> tuple[str, ...]:
    return tuple(recordable(loss.path) for loss in losses if loss.contested)


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
        elif number < MOST_MERGED and (loss := _merge_again(repo, path, now, brought[path])) is not None:
            losses.append(loss)
    return tuple(losses)


def _changes(repo: Repo, one: str, other: str) -> dict[str, Change]:
    return parse_differences(repo.git(*DIFFERENCES, one, other).records)


def _merge_again(repo: Repo, path: str, now: str | None, landed: Change) -> Loss | None:
    """The lines of `now` with what landed; None when nothing is missing or the file is gone.

    Where both changed the same lines, those of `now` count: somebody wrote them.
    """
    old, new = landed
    if now is None or new is None or now == new:
        return None
    if old is None or any(version.startswith((SYMLINK, GITLINK)) for version in (now, old, new)):
        return Loss(path, now, contested=True)
    contents = [repo.git("cat-file", "blob", version.split(" ")[1]).stdout for version in (now, old, new)]
    with tempfile.TemporaryDirectory() as folder:
        for name, content in zip(("now", "old", "new"), contents, strict=True):
            (Path(folder) / name).write_bytes(content)
        merged, both = (
            run_git(Path(folder), "merge-file", "-p", side, "now", "old", "new", check=False)
            for side in ("--ours", "--union")
        )
    if not merged.ok:
        return Loss(path, now, contested=True)
    again = merged.stdout if merged.stdout != contents[0] else None
    contested = both.stdout != merged.stdout
    return Loss(path, now, again, contested) if again is not None or contested else None


def restore_commit(repo: Repo, work: UndoneWork, branch: str, main: str) -> str | None:
    """A commit on `main` that brings the landed work back, held by the new branch; None when nothing is missing."""
    losses = [loss for loss in find_losses(repo, work.base, work.landed, main) if loss.can_be_restored]
    if not losses:
        return None
    with tempfile.TemporaryDirectory() as folder:
        env = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
        repo.git("read-tree", main, env=env)
        rows = index_rows({loss.path: _restored(repo, loss) for loss in losses})
        repo.git(*ENTER_VERSIONS, input=rows, env=env)
        tree = repo.git("write-tree", env=env).text
    names = f" ({', '.join(work.changes)})" if work.changes else ""
    files = "".join(f"\n- {recordable(loss.path)}" for loss in losses)
    message = f"Restore what {work.commit[:10]} undid{names}\n\nIt was committed from an older checkout.\n{files}\n"
    signed = paddock_at(int(time.time()))
    commit = open_workbench(repo).write_commit(CommitDraft(tree, (main,), signed, signed, message.encode()))
    repo.move_refs((RefMove(f"refs/heads/{branch}", commit),), "paddock: restore")
    return commit


def _restored(repo: Repo, loss: Loss) -> str | None:
    if loss.content is None or loss.version is None:
        return loss.version
    sha = repo.git("hash-object", "-w", "--stdin", input=loss.content).text
    return f"{loss.version.split(' ')[0]} {sha}"
