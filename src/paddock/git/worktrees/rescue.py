"""What lies in a worktree uncommitted, told and saved in a commit.

All of it goes through our own git directory and index, so it does not matter what the agent made of its own. The caller
knows that no process of the attempt is alive any more where something is saved.
"""

import os
import re
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path

from paddock.git.enclosure.enclosure import GITLINK_MODE, Enclosure, set_head
from paddock.git.repo import Repo
from paddock.git.worktrees.checkout import operation_in_progress

_TIMEOUT_SECONDS = 600.0
_MOST_INDEX_BYTES = 512 * 1024 * 1024
_SUBJECT = re.compile(r"Rescue (?P<files>\d+) uncommitted files")
_NOT_THE_AGENT = "Paddock made this commit, not the agent"
_FALLBACK_NAME, _FALLBACK_EMAIL = "Paddock", "paddock@localhost"
_HINTS = "agent.index"


@dataclass(frozen=True, slots=True)
class DirtyFiles:
    """Changed, conflicted and untracked paths against a commit; ignored ones are no one's work, unless staged
    (`forced`)."""

    paths: tuple[str, ...] = ()
    nested: tuple[str, ...] = ()  # repositories inside the worktree that git would only record as a link
    forced: tuple[str, ...] = ()
    links: tuple[str, ...] = ()  # submodules that are checked out
    has_ignored: bool = False

    @property
    def is_spotless(self) -> bool:
        return not self.paths and not self.has_ignored


@dataclass(frozen=True, slots=True)
class RescueCommit:
    """`commit` is None when there was nothing to save. `left` names what could not be saved (nested repositories, files
    too large)."""

    commit: str | None
    files: int = 0
    left: tuple[str, ...] = ()


def dirty_files(enclosure: Enclosure, head: str) -> DirtyFiles:
    """What is in the worktree besides the commit `head`; our index is at that commit afterwards."""
    set_head(enclosure, head)
    (enclosure.control / "index.lock").unlink(missing_ok=True)
    enclosure.git("read-tree", "--reset", head)
    return _look(enclosure, {})


def peek_at_files(enclosure: Enclosure, head: str, index: Path) -> DirtyFiles:
    """dirty_files, with an index for this look only: somebody may be at work."""
    shutil.copy2(enclosure.index, index)
    env = {"GIT_INDEX_FILE": str(index)}
    try:
        enclosure.git("read-tree", "--reset", head, env=env)
        return _look(enclosure, env, compare_with_head=False)
    finally:
        index.unlink(missing_ok=True)


def _look(enclosure: Enclosure, env: dict[str, str], *, compare_with_head: bool = True) -> DirtyFiles:
    lines = _status(enclosure, env)
    has_ignored = any(line[0] == "!" for line in lines)
    forced: tuple[str, ...] = ()
    if has_ignored or any(line[0] == "1" and "D" in line[2:4] for line in lines):
        hidden, forced = _hints(enclosure, env, has_ignored=has_ignored)
        if hidden:
            words = ("update-index", "--skip-worktree", "-z", "--stdin")
            enclosure.git(*words, input="".join(f"{name}\0" for name in hidden), env=env)
            lines = _status(enclosure, env)
    if not compare_with_head:
        lines = [line for line in lines if line[0] != "1" or line[3] != "."]
    nested = [path for path, is_nested in map(_read_line, lines) if path and is_nested]
    paths = [path for path, _ in map(_read_line, lines) if path]
    links = _checked_out_links(enclosure, env)
    return DirtyFiles(tuple(dict.fromkeys((*paths, *forced))), tuple(nested), forced, links, has_ignored)


def _read_line(line: str) -> tuple[str, bool]:
    """The path, "" where it is nobody's work, and whether it is a repository."""
    fields_before_path = {"1": 8, "u": 10, "?": 1}
    if line[0] not in fields_before_path:
        return "", False
    path = line.split(" ", fields_before_path[line[0]])[-1]
    is_submodule = line[0] == "1" and line.split(" ", 3)[2].startswith("S")
    return path.rstrip("/"), path.endswith("/") or is_submodule


def _checked_out_links(enclosure: Enclosure, env: dict[str, str]) -> tuple[str, ...]:
    """Submodules, and what looks like one, with a repository in it. What it holds cannot be told: git would have to run
    with its configuration."""
    index = Path(env.get("GIT_INDEX_FILE", enclosure.index))
    if not index.is_file() or GITLINK_MODE not in index.read_bytes():
        return ()
    staged = (record.partition("\t") for record in enclosure.git("ls-files", "--stage", "-z", env=env).records)
    links = [path for facts, _, path in staged if facts.startswith("160000 ")]
    return tuple(path for path in links if os.path.lexists(enclosure.tree / path / ".git"))


def _hints(enclosure: Enclosure, env: dict[str, str], *, has_ignored: bool) -> tuple[list[str], tuple[str, ...]]:
    """Names out of a copy of the agent's index, and nothing else: files it had left out of its checkout, and ignored
    ones it had staged."""
    copy = enclosure.control / _HINTS
    try:
        if not _copy_index(enclosure.own / "index", copy):
            return [], ()
        words, theirs = ("ls-files", "-z", "--full-name"), {"GIT_INDEX_FILE": str(copy)}
        marked = enclosure.git(*words, "-t", env=theirs, check=False)
        named = [line[2:] for line in marked.records if line.startswith("S ")] if marked.ok else []
        missing = {name for name in named if not os.path.lexists(enclosure.tree / name)}
        tracked = enclosure.git(*words, env=env).records if missing else []
        hidden = [name for name in tracked if name in missing]
        if not has_ignored:
            return hidden, ()
        ignored = ("--cached", "--ignored", "--exclude-standard")
        staged = enclosure.git(*words, *ignored, env=theirs, check=False)
        forced = {name for name in (staged.records if staged.ok else []) if os.path.lexists(enclosure.tree / name)}
        forced.difference_update(enclosure.git(*words, *ignored, env=env).records if forced else ())
        return hidden, tuple(sorted(forced))
    finally:
        copy.unlink(missing_ok=True)


def unmerged_in(enclosure: Enclosure) -> tuple[str, ...]:
    """The paths that conflict, as the index of whoever works there says."""
    copy = enclosure.control / _HINTS
    try:
        if not _copy_index(enclosure.own / "index", copy):
            return ()
        rows = enclosure.git("ls-files", "--unmerged", "-z", env={"GIT_INDEX_FILE": str(copy)}, check=False).records
        return tuple(dict.fromkeys(row.partition("\t")[2] for row in rows))
    finally:
        copy.unlink(missing_ok=True)


def _copy_index(source: Path, target: Path) -> bool:
    """False where it is no plain file."""
    try:
        descriptor = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return False
    with open(descriptor, "rb") as file:
        content = file.read(_MOST_INDEX_BYTES)
    target.write_bytes(content)
    return content[:4] == b"DIRC"


def rescue(enclosure: Enclosure, head: str, dirty: DirtyFiles, why: str, made: str = "") -> RescueCommit:
    """Commit all dirty files on top of `head`. The worktree and the agent's own directory stay as they are.

    `made` is the commit an earlier try made, which is used again if it is the same.
    """
    too_large = [path for path in dirty.paths if _size(enclosure.tree / path) > enclosure.largest_file_bytes]
    left = tuple(dict.fromkeys((*dirty.nested, *too_large)))
    tree = _write_tree(enclosure, dirty, left)
    repo = enclosure.repo
    if tree == repo.tree_of(head):
        return RescueCommit(None, left=left)
    is_same = bool(made) and _is_commit_of(repo, made, tree, head)
    commit = made if is_same else _commit_tree(repo, tree, head, _message(enclosure, dirty, left, why))
    return RescueCommit(commit, len(dirty.paths) - len(left), left)


def count_rescued(repo: Repo, commit: str, subject: str) -> int:
    """How many files the rescue commit saved; 0 for a commit of the agent's own."""
    said = _SUBJECT.fullmatch(subject)
    if said is None:
        return 0
    body = repo.git("cat-file", "commit", commit).text.partition("\n\n")[2].partition("\n\n")[2]
    return int(said["files"]) if body.startswith(_NOT_THE_AGENT) else 0


def _write_tree(enclosure: Enclosure, dirty: DirtyFiles, left: tuple[str, ...]) -> str:
    quiet = ("-c", "core.safecrlf=false", "-c", "advice.addEmbeddedRepo=false")
    chosen = "\0".join((":(top)", *(f":(top,exclude,literal){path}" for path in left)))
    files = ("--pathspec-from-file=-", "--pathspec-file-nul", "--sparse")
    enclosure.git(*quiet, "add", "--all", *files, input=chosen, timeout=_TIMEOUT_SECONDS)
    if forced := [path for path in dirty.forced if path not in left]:
        words = ("update-index", "--add", "-z", "--stdin")
        enclosure.git(*quiet, *words, input="".join(f"{path}\0" for path in forced), timeout=_TIMEOUT_SECONDS)
    return enclosure.git("write-tree").text


def _is_commit_of(repo: Repo, commit: str, tree: str, parent: str) -> bool:
    told = repo.git("log", "-1", "--format=%T %P", commit, "--", check=False)
    return told.ok and told.text == f"{tree} {parent}"


def _commit_tree(repo: Repo, tree: str, parent: str, message: str) -> str:
    return repo.git("commit-tree", tree, "-p", parent, "-F", "-", input=message, env=_identity(repo)).text


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


def _message(enclosure: Enclosure, dirty: DirtyFiles, left: tuple[str, ...], why: str) -> str:
    operation = operation_in_progress(enclosure.own)
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


def _status(enclosure: Enclosure, env: dict[str, str]) -> list[str]:
    words = ("status", "--porcelain=v2", "-z", "--untracked-files=all", "--ignored=matching", "--no-renames")
    # Not into submodules: git would run there with their configuration.
    return enclosure.git(*words, "--ignore-submodules=dirty", env=env, timeout=_TIMEOUT_SECONDS).records


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        return 0
