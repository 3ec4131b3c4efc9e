"""Nothing an agent wrote gets lost: rescue commits for files, refs for commits.

All of it works beside the worktree's own index and never runs porcelain, so it does not matter what state the
agent left behind. The caller knows that no process of the attempt is alive any more.
"""

import os
import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from paddock.core.errors import PaddockError
from paddock.git.checkpoints import Checkpoint, no_checkpoint
from paddock.git.repo import ABSENT, GitFailed, GitResult, Repo, branch_of, run_git
from paddock.git.worktrees.checkout import (
    ALL_REFS,
    drop_stale_locks,
    forget_operation,
    hold_commit,
    operation_in_progress,
)

LARGEST_RESCUED_BYTES = 100 * 1024 * 1024
_MOST_REFLOG_ENTRIES = 2_000
_TIMEOUT_SECONDS = 600.0
_SUBJECT = re.compile(r"Rescue (?P<files>\d+) uncommitted files")
_NOT_THE_AGENT = "Paddock made this commit, not the agent"
_REFLOG_LINE = re.compile(rb"[0-9a-f]{40,64} ([0-9a-f]{40,64}) ")
_FALLBACK_NAME, _FALLBACK_EMAIL = "Paddock", "paddock@localhost"


@dataclass(frozen=True, slots=True)
class Rescued:
    """What became of a worktree's uncommitted files.

    `commit` is the rescue commit, None when there was nothing to save. `ref` holds it: the attempt's branch, or one of
    our own when HEAD had left the branch for another history; then the branch stays as it was.
    `left` names what could not be saved (nested repositories, files too large). `head` is where HEAD was found (None
    on an unborn branch); `spotless` says that not even an ignored file lay about there.
    """

    commit: str | None
    ref: str
    files: int = 0
    left: tuple[str, ...] = ()
    head: str | None = None
    spotless: bool = False


@dataclass(frozen=True, slots=True)
class DirtyFiles:
    paths: tuple[str, ...]
    nested: tuple[str, ...]  # repositories inside the worktree that git would only record as a link
    head: str | None = None  # None on an unborn branch
    has_ignored: bool = False


def dirty_files(worktree: Path) -> DirtyFiles:
    """Changed, conflicted, staged and untracked paths; ignored ones are no one's work."""
    told = _status(worktree, {})
    if not told.ok:  # an index git cannot read: compare with HEAD through one of our own
        with tempfile.TemporaryDirectory() as folder:
            env = {"GIT_INDEX_FILE": f"{folder}/index"}
            _index_from_head(worktree, env)
            told = _status(worktree, env)
    if not told.ok:
        raise GitFailed(told)
    fields_before_path = {"1": 8, "u": 10, "?": 1}
    paths: list[str] = []
    nested: list[str] = []
    head: str | None = None
    has_ignored = False
    for line in told.records:
        if line.startswith("# branch.oid "):
            head = line.removeprefix("# branch.oid ")
        has_ignored |= line[0] == "!"
        if line[0] not in fields_before_path:
            continue
        path = line.split(" ", fields_before_path[line[0]])[-1]
        is_submodule = line[0] == "1" and line.split(" ")[2].startswith("S")
        if path.endswith("/") or is_submodule:
            nested.append(path.rstrip("/"))
        paths.append(path.rstrip("/"))
    return DirtyFiles(tuple(paths), tuple(nested), None if head == "(initial)" else head, has_ignored)


def rescue(
    repo: Repo, worktree: Path, admin: Path, branch: str, why: str, checkpoint: Checkpoint = no_checkpoint
) -> Rescued:
    """Commit all dirty files of `worktree` to `branch`, leaving the worktree clean and on it.

    A merge or rebase in progress is forgotten: what it had done so far is in the commit.
    """
    ref = f"refs/heads/{branch}"
    drop_stale_locks(admin)
    dirty = dirty_files(worktree)
    if not dirty.paths:
        return Rescued(None, ref, head=dirty.head, spotless=not dirty.has_ignored)
    too_large = [path for path in dirty.paths if _is_too_large(worktree / path)]
    left = tuple(dict.fromkeys((*dirty.nested, *too_large)))
    index = admin / "paddock-rescue.index"
    try:
        tree = _write_tree(worktree, admin, index, left)
        checkpoint("rescue.written")
        head, tip = _head_of(worktree), repo.resolve(ref)
        parent = head or tip
        if parent is not None and tree == repo.tree_of(parent):
            return Rescued(None, ref, left=left, head=head)
        made = tip if tip != parent and _is_commit_of(repo, tip, tree, parent) else None
        commit = made or _commit_tree(repo, tree, parent, _message(admin, dirty, left, why))
        checkpoint("rescue.committed")
        if tip in (None, parent, made) or (parent is not None and repo.is_ancestor(str(tip), parent)):
            _move(repo, ref, commit, tip)
            checkpoint("rescue.moved")
            run_git(worktree, "symbolic-ref", "-m", "paddock: rescue", "HEAD", ref)
        else:
            ref = hold_commit(repo, commit, branch.removeprefix("paddock/"))
            run_git(worktree, "update-ref", "--no-deref", "-m", "paddock: rescue", "HEAD", commit)
        checkpoint("rescue.switched")
        os.replace(index, admin / "index")
        checkpoint("rescue.indexed")
        forget_operation(admin)
        return Rescued(commit, ref, len(dirty.paths) - len(left), left)
    finally:
        for leftover in (index, admin / "paddock-rescue.index.lock"):
            leftover.unlink(missing_ok=True)


def loose_commits(repo: Repo, worktree: Path, admin: Path) -> tuple[str, ...]:
    """Tips of commits made or visited in this worktree that no ref holds, newest first.

    Found through HEAD and its reflog, so also what the agent left behind on deleted branches.
    """
    seen = [sha for sha in (_head_of(worktree), *reflog_commits(admin)) if sha and sha.strip("0")]
    if not seen:
        return ()
    listed = "\n".join((*dict.fromkeys(seen), ""))
    branch = branch_of(admin)
    if branch is not None and not _loose(repo, listed, f"refs/heads/{branch}"):
        return ()  # the usual case, told without reading every ref there is
    rows = _loose(repo, listed, ALL_REFS)
    inner = {parent for row in rows for parent in row[1:]}
    return tuple(row[0] for row in rows if row[0] not in inner)


def _loose(repo: Repo, listed: str, held_by: str) -> list[list[str]]:
    """Those of the listed commits, and their ancestors, that `held_by` does not hold, each with its parents."""
    words = ("rev-list", "--ignore-missing", "--parents", "--stdin", "--not", held_by)
    return [line.split() for line in repo.git(*words, input=listed).lines]


def hold_loose_commits(repo: Repo, worktree: Path, admin: Path, label: str) -> tuple[str, ...]:
    """Give every loose commit a ref under refs/paddock/kept; returns those refs."""
    return tuple(hold_commit(repo, commit, label) for commit in loose_commits(repo, worktree, admin))


def count_rescued(repo: Repo, commit: str, subject: str) -> int:
    """How many files the rescue commit saved; 0 for a commit of the agent's own."""
    said = _SUBJECT.fullmatch(subject)
    if said is None:
        return 0
    body = repo.git("cat-file", "commit", commit).text.partition("\n\n")[2].partition("\n\n")[2]
    return int(said["files"]) if body.startswith(_NOT_THE_AGENT) else 0


def _write_tree(worktree: Path, admin: Path, index: Path, left: tuple[str, ...]) -> str:
    env = {"GIT_INDEX_FILE": str(index)}
    try:
        # With its time: git reads a file again that is as old as its index, so a later one would hide a late change.
        shutil.copy2(admin / "index", index)
        return _add_all(worktree, env, left)
    except (FileNotFoundError, GitFailed):
        index.unlink(missing_ok=True)
        _index_from_head(worktree, env)
        return _add_all(worktree, env, left)


def _add_all(worktree: Path, env: dict[str, str], left: tuple[str, ...]) -> str:
    spared = [f":(top,exclude,literal){path}" for path in left]
    run_git(
        worktree,
        "-c",
        "core.safecrlf=false",
        "-c",
        "advice.addEmbeddedRepo=false",
        "add",
        "--all",
        "--pathspec-from-file=-",
        "--pathspec-file-nul",
        input="\0".join((":(top)", *spared)),
        env=env,
        timeout=_TIMEOUT_SECONDS,
    )
    return run_git(worktree, "write-tree", env=env).text


def _is_commit_of(repo: Repo, commit: str | None, tree: str, parent: str | None) -> bool:
    """Whether the branch has the rescue already: its maker died before HEAD followed."""
    told = repo.git("log", "-1", "--format=%T %P", commit, "--", check=False) if commit else None
    return told is not None and told.ok and told.text == f"{tree} {parent or ''}".rstrip()


def _commit_tree(repo: Repo, tree: str, parent: str | None, message: str) -> str:
    parents = ("-p", parent) if parent else ()
    return repo.git("commit-tree", tree, *parents, "-F", "-", input=message, env=_identity(repo)).text


def _identity(repo: Repo) -> dict[str, str]:
    """Who the user is, as far as the environment does not say so already; a stand-in where git does not know it."""
    identity = {}
    for role in ("AUTHOR", "COMMITTER"):
        if not os.environ.get(f"GIT_{role}_NAME"):
            identity[f"GIT_{role}_NAME"] = repo.config("user.name") or _FALLBACK_NAME
        if not os.environ.get(f"GIT_{role}_EMAIL"):
            email = repo.config("user.email") or os.environ.get("EMAIL")
            identity[f"GIT_{role}_EMAIL"] = email or _FALLBACK_EMAIL
    return identity


def _message(admin: Path, dirty: DirtyFiles, left: tuple[str, ...], why: str) -> str:
    operation = operation_in_progress(admin)
    lines = [
        f"Rescue {len(dirty.paths) - len(left)} uncommitted files",
        "",
        f"{_NOT_THE_AGENT}: {why}.",
        "The files are as they were found; nobody has checked them.",
    ]
    if operation:
        lines.append(f"A {operation} was in progress, so they may hold conflict markers.")
    lines += [f"Not saved: {path}" for path in left]
    return "\n".join(lines) + "\n"


def _move(repo: Repo, ref: str, commit: str, tip: str | None) -> None:
    if not repo.update_ref(ref, commit, tip or ABSENT, "paddock: rescue"):
        # Somebody moved the branch meanwhile; the commit must not hang in the air.
        kept = hold_commit(repo, commit, ref.removeprefix("refs/heads/").removeprefix("paddock/"))
        raise PaddockError(f"`{ref}` moved while files were rescued to it; they are in `{kept}`")


def _head_of(worktree: Path) -> str | None:
    found = run_git(worktree, "rev-parse", "--verify", "--quiet", "HEAD^{commit}", check=False)
    return found.text if found.ok else None


def _status(worktree: Path, env: dict[str, str]) -> GitResult:
    return run_git(
        worktree,
        "status",
        "--porcelain=v2",
        "-z",
        "--branch",
        "--no-ahead-behind",
        "--untracked-files=all",
        "--ignored=matching",
        "--ignore-submodules=none",
        "--no-renames",
        check=False,
        env=env,
        timeout=_TIMEOUT_SECONDS,
    )


def _index_from_head(worktree: Path, env: dict[str, str]) -> None:
    """Of nothing at all on an unborn branch."""
    run_git(worktree, "read-tree", "HEAD" if _head_of(worktree) else "--empty", env=env)


def _is_too_large(path: Path) -> bool:
    try:
        return path.lstat().st_size > LARGEST_RESCUED_BYTES
    except OSError:
        return False


def reflog_commits(admin: Path) -> list[str]:
    """Where the worktree's HEAD has been, newest first, as far back as is looked."""
    try:
        lines = (admin / "logs" / "HEAD").read_bytes().splitlines()[-_MOST_REFLOG_ENTRIES:]
    except FileNotFoundError:
        return []
    # An agent, or a crash, may have written anything at all here.
    found = (_REFLOG_LINE.match(line) for line in reversed(lines))
    return [match[1].decode() for match in found if match]
