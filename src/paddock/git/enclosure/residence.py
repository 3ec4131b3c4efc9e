"""The git directory of whoever lives in an enclosure: its own refs, configuration and hooks, written without a process.

Its branch begins at one commit. The user's branches, tags and remote branches are there as they were at that moment,
to compare with and to describe by; the branches of other attempts are not.
"""

import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from paddock.git.disk import FileIdentity, identity_of, remove_tree
from paddock.git.enclosure.enclosure import Enclosure, copy_info, copy_shallow, share_objects
from paddock.git.repo import Repo
from paddock.git.settings import Settings

WATCHER_MARKER = "skip-auto-rebase-watcher"
_SHOWN = ("refs/heads", "refs/remotes", "refs/tags")
_OURS = "refs/heads/paddock"
_MOST_REF_BYTES = 4096
_HEADER = "# pack-refs with: sorted \n"


@dataclass(frozen=True, slots=True)
class ShownRefs:
    """What of the user's refs others may see: `lines` of a packed-refs file by name, `links` from ref to ref."""

    lines: Mapping[str, str] = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=dict)

    def pack(self) -> bytes:
        return os.fsencode(_HEADER + "".join(self.lines[name] for name in sorted(self.lines, key=os.fsencode)))


def shown_refs(repo: Repo) -> ShownRefs:
    """Read from the files git keeps them in; where it keeps them otherwise, git is asked."""
    if (repo.common_dir / "reftable").is_dir():
        return _ask_for_refs(repo)
    packed = repo.common_dir / "packed-refs"
    lines = {**_packed(packed, identity_of(packed))}
    links: dict[str, str] = {}
    for name, value in _loose(repo.common_dir):
        if value.startswith("ref: "):
            links[name] = value.removeprefix("ref: ")
            lines.pop(name, None)
        elif len(value) in (40, 64) and not value.strip("0123456789abcdef"):
            lines[name] = f"{value} {name}\n"
    return ShownRefs(lines, links)


@lru_cache(maxsize=4)
def _packed(path: Path, identity: FileIdentity | None) -> Mapping[str, str]:
    """Read once for each file: git replaces it whole, and it may be large."""
    return dict(_packed_lines(os.fsdecode(path.read_bytes()))) if identity is not None else {}


def _packed_lines(text: str) -> Iterator[tuple[str, str]]:
    """Each with the line behind it that says what a tag points to."""
    name, kept = "", ""
    for line in text.split("\n"):
        if line.startswith("^"):
            kept += f"{line}\n"
            continue
        if kept:
            yield name, kept
        name, kept = line[line.find(" ") + 1 :], f"{line}\n"
        if not name.startswith(_SHOWN) or _is_ours(name) or line.startswith("#"):
            kept = ""


def _loose(common_dir: Path) -> Iterator[tuple[str, str]]:
    for top in _SHOWN:
        for folder, folders, files in os.walk(common_dir / top):
            place = os.path.relpath(folder, common_dir)
            folders[:] = [name for name in folders if not _is_ours(f"{place}/{name}")]
            for name in (f"{place}/{file}" for file in files if not file.endswith(".lock")):
                if not _is_ours(name):
                    yield from _read_loose(common_dir, name)


def _read_loose(common_dir: Path, name: str) -> Iterator[tuple[str, str]]:
    try:
        with open(f"{common_dir}/{name}", "rb") as file:
            yield name, os.fsdecode(file.read(_MOST_REF_BYTES)).strip()
    except OSError:  # deleted in this moment
        return


def _ask_for_refs(repo: Repo) -> ShownRefs:
    listed = repo.git("for-each-ref", "--format=%(objectname) %(refname) %(symref)", *_SHOWN).lines
    rows = [line.split(" ") for line in listed]
    shown = [row for row in rows if not _is_ours(row[1])]
    links = {name: target for _, name, target in shown if target}
    return ShownRefs({name: f"{sha} {name}\n" for sha, name, target in shown if not target}, links)


def _is_ours(name: str) -> bool:
    return name == _OURS or name.startswith(f"{_OURS}/")


@dataclass(frozen=True, slots=True)
class Residence:
    """What is to be found there. `branch` is checked out, at `commit`; "": HEAD is detached. `hooks` and what the
    user's `info` folder says are copied."""

    commit: str
    branch: str
    config: str
    refs: ShownRefs
    hooks: bool = True
    info: bool = True


def settle(enclosure: Enclosure, plan: Residence) -> str:
    """Write the directory; returns the digest of its packed refs. What was there goes first."""
    own, repo = enclosure.own, enclosure.repo
    remove_tree(own)
    for folder in ("", "objects", "refs", "refs/heads", "info"):
        (own / folder).mkdir()
    share_objects(repo, own)
    copy_shallow(repo, own)
    if plan.info:
        copy_info(repo, own)
    packed = plan.refs.pack()
    (own / "packed-refs").write_bytes(packed)
    for name, target in plan.refs.links.items():
        _write(own / name, f"ref: {target}\n")
    if plan.branch:
        _write(own / "refs" / "heads" / plan.branch, f"{plan.commit}\n")
    (own / "config").write_text(plan.config, encoding="utf-8", errors="surrogateescape")
    if plan.hooks:
        _copy_hooks(repo, own)
    # With its time: git reads a file again that is as old as its index, so a later one would hide a late change.
    shutil.copy2(enclosure.index, own / "index")
    (own / WATCHER_MARKER).touch()
    head = f"ref: refs/heads/{plan.branch}\n" if plan.branch else f"{plan.commit}\n"
    (own / "HEAD").write_text(head, encoding="utf-8", errors="surrogateescape")
    _point_to(enclosure)
    return hashlib.sha256(packed).hexdigest()


def user_wants_hooks(settings: Settings) -> bool:
    """Whether they are those in the repository's own folder."""
    return settings.get("core.hookspath") is None


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", errors="surrogateescape")


def _copy_hooks(repo: Repo, own: Path) -> None:
    source = repo.common_dir / "hooks"
    names = os.listdir(source) if source.is_dir() else []
    for name in (name for name in names if not name.endswith(".sample")):
        hook = source / name
        if hook.is_file() and os.access(hook, os.X_OK):
            (own / "hooks").mkdir(exist_ok=True)
            shutil.copy2(hook, own / "hooks" / name)


def _point_to(enclosure: Enclosure) -> None:
    """A directory outside the tree outlives what happens to the tree's `.git`."""
    dot_git = enclosure.tree / ".git"
    if enclosure.own == dot_git:
        return
    remove_tree(dot_git)
    dot_git.write_text(f"gitdir: {enclosure.own}\n", encoding="utf-8", errors="surrogateescape")
