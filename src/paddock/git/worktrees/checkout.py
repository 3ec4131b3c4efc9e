"""The git side of a slot: creating its worktree, pointing it at a commit, giving it a branch, cleaning it."""

import contextlib
import os
import time
from pathlib import Path

from paddock.core.errors import PaddockError
from paddock.git.disk import make_writable, remove_tree
from paddock.git.lock import Lock, hold
from paddock.git.repo import ABSENT, Repo, branch_of, run_git
from paddock.git.worktrees.slots import Slot, WorktreeRoot

_CHECKOUT_TIMEOUT_SECONDS = 900.0
# More workers than cores pays: they wait for the disk. Above 4 the gain was within noise on 2 cores.
_CHECKOUT_WORKERS = "checkout.workers=4"
_INDEX_WORTH_SHARPENING_BYTES = 200_000  # some 2,000 files; reading fewer takes less than asking
_INDEX_WITH_HIDDEN_FILES = b"DIRC\0\0\0\3"
_HEAD_BYTES = 65_536
WATCHER_MARKER = "skip-auto-rebase-watcher"
_OPERATION_FILES = (
    "MERGE_HEAD",
    "MERGE_MSG",
    "MERGE_MODE",
    "MERGE_RR",
    "AUTO_MERGE",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "REBASE_HEAD",
    "SQUASH_MSG",
    "BISECT_START",
    "BISECT_LOG",
    "BISECT_NAMES",
    "BISECT_TERMS",
    "BISECT_EXPECTED_REV",
    "BISECT_ANCESTORS_OK",
    "BISECT_HEAD",
)
# Not `--all`, which counts the HEAD of every worktree as a holder, also of the one about to be removed.
ALL_REFS = "--glob=refs/*"
KEPT = "refs/paddock/kept"
_OPERATION_FOLDERS = ("rebase-merge", "rebase-apply", "sequencer")
_REFS_ELSEWHERE = b"ref: refs/heads/.invalid"  # what HEAD says where a reftable holds the refs


def admin_dir(repo: Repo, worktree: Path) -> Path | None:
    """The git directory of a linked worktree of `repo`; None when `worktree` is not (or no longer) one.

    Both directions must agree: the worktree's `.git` file and the git directory's `gitdir` file.
    """
    try:
        if (worktree / ".git").is_symlink():
            return None
        kind, _, target = (worktree / ".git").read_text(errors="surrogateescape").partition(": ")
        admin = Path(os.path.normpath(worktree / target.rstrip("\n")))
        if kind != "gitdir" or admin.parent != repo.common_dir / "worktrees":
            return None
        complete = (admin / "HEAD").stat().st_size > 0 and (admin / "commondir").stat().st_size > 0
    except OSError:
        return None
    return admin if complete and worktree_of(admin) == worktree.resolve() else None


def worktree_of(admin: Path) -> Path | None:
    """Where the worktree of a git directory is, or was; None when that is not recorded."""
    try:
        back = (admin / "gitdir").read_text(errors="surrogateescape").rstrip("\n")
    except OSError:
        return None
    return (admin / back).parent.resolve() if back else None


def admin_dirs_of(repo: Repo, worktree: Path) -> list[Path]:
    """All git directories that say they belong to `worktree`, also when it is gone or half made."""
    return [admin for admin in all_admin_dirs(repo) if worktree_of(admin) == worktree.resolve()]


def repair_worktree(repo: Repo, worktree: Path) -> Path | None:
    """admin_dir, after giving back a `.git` file that an agent deleted."""
    admin = admin_dir(repo, worktree)
    if admin is None and worktree.is_dir() and not os.path.lexists(worktree / ".git"):
        claimants = admin_dirs_of(repo, worktree)
        if len(claimants) == 1:
            (worktree / ".git").write_text(f"gitdir: {claimants[0]}\n", errors="surrogateescape")
            admin = admin_dir(repo, worktree)
    return admin


def add_worktree(root: WorktreeRoot, slot: Slot, commit: str, lock: Lock) -> Path:
    """Register an empty worktree, detached at `commit`; whatever is left of an earlier try goes first."""
    remove_worktree(root, slot, lock)
    root.path.mkdir(parents=True, exist_ok=True)
    repo = root.repo
    # `git worktree add` is not safe in parallel: others read a commondir file it has only half written.
    with hold(repo.common_dir / "paddock" / "worktree-add.lock", timeout_seconds=300.0) as adding:
        repo.git(
            "worktree", "add", "--quiet", "--no-checkout", "--detach", str(slot.path), commit, inherit=adding.inherit
        )
    admin = admin_dir(repo, slot.path)
    if admin is None:
        raise PaddockError(f"git made no usable worktree at `{slot.path}`")
    return admin


def check_out(worktree: Path, admin: Path, commit: str, lock: Lock) -> None:
    """Make the tracked files those of `commit`, whatever state the worktree is in."""
    drop_stale_locks(admin)
    run_git(
        worktree,
        "-c",
        _CHECKOUT_WORKERS,
        "reset",
        "--hard",
        "--quiet",
        commit,
        timeout=_CHECKOUT_TIMEOUT_SECONDS,
        inherit=lock.inherit,
    )


def bring_to(worktree: Path, admin: Path, commit: str, lock: Lock) -> bool:
    """check_out, and remove untracked files (ignored ones stay); False when nothing of it was needed."""
    told = run_git(worktree, "status", "--porcelain=v2", "--branch", "-z", "--untracked-files=normal", check=False)
    headers = [line for line in told.records if line.startswith("# ")]
    is_dirty = not told.ok or len(headers) != len(told.records)
    if not is_dirty and f"# branch.oid {commit}" in headers:
        return False
    check_out(worktree, admin, commit, lock)
    if is_dirty:
        run_git(worktree, "clean", "-ffdq", timeout=_CHECKOUT_TIMEOUT_SECONDS, inherit=lock.inherit)
    return True


def sharpen_index(worktree: Path, admin: Path, lock: Lock) -> None:
    """Spare the next `git status` from reading every file.

    Git without sub-second timestamps distrusts what it wrote in the same second as the index, which is most of
    a fresh checkout, until the index is written again in a later second.
    """
    with contextlib.suppress(FileNotFoundError):
        index = (admin / "index").stat()
        if index.st_size < _INDEX_WORTH_SHARPENING_BYTES:
            return
        time.sleep(min(1.0, max(0.0, int(index.st_mtime) + 1 - time.time())))
        args = ("update-index", "-q", "--refresh", "--force-write-index")
        run_git(worktree, *args, check=False, timeout=_CHECKOUT_TIMEOUT_SECONDS, inherit=lock.inherit)


def attach_branch(repo: Repo, worktree: Path, admin: Path, branch: str, start: str, lock: Lock) -> None:
    """Create or move `branch` to `start` and put the worktree, already at `start`, on it.

    Commits only this branch had before stay held by a ref under refs/paddock/kept.
    """
    ref = f"refs/heads/{branch}"
    _require_free_branch(repo, worktree, branch)
    if not repo.update_ref(ref, start, ABSENT, "paddock: start"):
        before = repo.refs(ref)[ref]
        if before != start:
            if not repo.is_ancestor(before, start) and is_loose(repo, before, besides=ref):
                hold_commit(repo, before, branch.removeprefix("paddock/"))
            if not repo.update_ref(ref, start, before, "paddock: start over"):
                raise PaddockError(f"branch `{branch}` moved away from `{before[:10]}` while it was set up")
    if not set_head(admin, f"ref: {ref}"):
        run_git(worktree, "symbolic-ref", "-m", "paddock: start", "HEAD", ref, inherit=lock.inherit)


def start_branch(repo: Repo, worktree: Path, admin: Path, branch: str, start: str, lock: Lock) -> bool:
    """check_out and attach_branch by one process, for a branch that is new; False, with nothing done, if it is not."""
    _require_free_branch(repo, worktree, branch)
    drop_stale_locks(admin)
    words = ("checkout", "--quiet", "--force", "--no-track", "-b", branch, start, "--")
    timeout = _CHECKOUT_TIMEOUT_SECONDS
    done = run_git(worktree, "-c", _CHECKOUT_WORKERS, *words, check=False, timeout=timeout, inherit=lock.inherit)
    return done.ok


def set_head(admin: Path, to: str) -> bool:
    """Point HEAD `to` a branch (`ref: refs/heads/NAME`) or the very commit it is at; False when git has to do it.

    HEAD as a file, changed by way of HEAD.lock, is git's documented layout; where a reftable holds the refs, the
    file only says so. A reflog has no place for a change of name that leaves the commit as it is.
    """
    path, draft = f"{admin}/HEAD", f"{admin}/HEAD.lock"
    with open(path, "rb") as file:
        if file.read(len(_REFS_ELSEWHERE)) == _REFS_ELSEWHERE:
            return False
    with open(draft, "x", encoding="utf-8", errors="surrogateescape") as file:
        file.write(f"{to}\n")
    os.replace(draft, path)
    return True


def detach(worktree: Path, admin: Path, lock: Lock) -> str:
    """Leave the branch, forget any merge or rebase in progress; returns the commit HEAD stays at."""
    drop_stale_locks(admin)
    forget_operation(admin)
    head = run_git(worktree, "rev-parse", "--verify", "HEAD^{commit}", inherit=lock.inherit).text
    if not set_head(admin, head):
        run_git(worktree, "update-ref", "--no-deref", "HEAD", head, inherit=lock.inherit)
    return head


def clean(worktree: Path, keep: tuple[str, ...], lock: Lock) -> None:
    """Remove every file git does not track, except ignored ones whose name is in `keep`."""
    kept = [part for name in keep for part in ("-e", name)]
    # The second pass takes what has a kept name without being ignored.
    passes = (("clean", "-ffdxq", *kept), ("clean", "-ffdq")) if keep else (("clean", "-ffdxq"),)
    for args in passes:
        done = run_git(worktree, *args, check=False, timeout=_CHECKOUT_TIMEOUT_SECONDS, inherit=lock.inherit)
        if not done.ok:
            make_writable(worktree)
            run_git(worktree, *args, timeout=_CHECKOUT_TIMEOUT_SECONDS, inherit=lock.inherit)


def remove_worktree(root: WorktreeRoot, slot: Slot, lock: Lock) -> None:
    """Delete the slot's worktree, files first: as long as files exist, git knows whose they are."""
    assert lock.path == slot.lock_path
    remove_tree(slot.path)
    for admin in admin_dirs_of(root.repo, slot.path):
        remove_tree(admin)


def mark_for_watchers(admin: Path) -> None:
    """Tools that rebase worktrees on their own leave those alone that carry this file."""
    (admin / WATCHER_MARKER).touch()


def is_cut_differently(repo: Repo, admin: Path) -> bool:
    """Whether somebody changed which files this worktree checks out, or hid some from git (`--skip-worktree`).

    Git starts every worktree with what the main one has. It writes version 3 of the index only for hidden files.
    """
    settings = (Path("config.worktree"), Path("info") / "sparse-checkout")
    differs = any(_read_head(admin / name) != _read_head(repo.common_dir / name) for name in settings)
    return differs or _read_head(admin / "index")[:8] == _INDEX_WITH_HIDDEN_FILES


def _read_head(path: Path) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(_HEAD_BYTES)
    except FileNotFoundError:
        return b""


def drop_stale_locks(admin: Path) -> None:
    """For who knows that no process works in this worktree any more."""
    for name in ("index.lock", "HEAD.lock"):
        (admin / name).unlink(missing_ok=True)


def operation_in_progress(admin: Path) -> str | None:
    """merge, rebase, am, cherry-pick, revert or bisect; None when there is none."""
    signs = {
        "rebase-merge": "rebase",
        "rebase-apply/applying": "am",
        "rebase-apply": "rebase",
        "MERGE_HEAD": "merge",
        "CHERRY_PICK_HEAD": "cherry-pick",
        "REVERT_HEAD": "revert",
        "BISECT_LOG": "bisect",
    }
    return next((name for sign, name in signs.items() if (admin / sign).exists()), None)


def forget_operation(admin: Path) -> None:
    present = set(os.listdir(admin))
    for name in present.intersection(_OPERATION_FILES):
        (admin / name).unlink(missing_ok=True)
    for name in present.intersection(_OPERATION_FOLDERS):
        remove_tree(admin / name)


def branch_user(repo: Repo, branch: str) -> Path | None:
    """The working tree that has `branch` checked out, None when none has."""
    if repo.main is not None and branch_of(repo.common_dir) == branch:
        return repo.main
    for admin in all_admin_dirs(repo):
        with contextlib.suppress(OSError):
            if branch_of(admin) == branch:
                return worktree_of(admin)
    return None


def is_loose(repo: Repo, commit: str, besides: str = "") -> bool:
    """Whether no ref (other than `besides`) holds `commit`."""
    others = (f"--exclude={besides}",) if besides else ()
    return repo.git("rev-list", "-n", "1", commit, "--not", *others, ALL_REFS).stdout != b""


def hold_commit(repo: Repo, commit: str, label: str) -> str:
    """Hold `commit` by a ref of its own under refs/paddock/kept; returns the ref."""
    ref = f"{KEPT}/{label}/{commit[:12]}"
    if not repo.update_ref(ref, commit, ABSENT) and repo.refs(ref).get(ref) != commit:
        raise PaddockError(f"`{ref}` already holds a commit other than `{commit}`")
    return ref


def _require_free_branch(repo: Repo, worktree: Path, branch: str) -> None:
    user = branch_user(repo, branch)
    if user is not None and user != worktree.resolve():
        raise PaddockError(
            f"branch `{branch}` is checked out at `{user}`",
            "switch that worktree to another branch, or remove it",
        )
    for parent in Path(branch).parents:
        ref = f"refs/heads/{parent}"
        if str(parent) != "." and (repo.common_dir / ref).is_file():
            raise PaddockError(
                f"branch `{branch}` cannot exist beside the branch `{parent}`",
                f"rename that one: `git branch -m {parent} {parent}-old`",
            )


def all_admin_dirs(repo: Repo) -> list[Path]:
    try:
        return sorted((repo.common_dir / "worktrees").iterdir())
    except FileNotFoundError:
        return []
