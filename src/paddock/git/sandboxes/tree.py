"""The files of a CI sandbox: an exact checkout, and a git repository inside it that is nobody else's.

    control/     our git directory for the checkout; CI has no business there
    tree/        the working tree, where CI runs
    tree/.git/   a throw-away repository for CI: own refs, config and hooks; objects through alternates
    home/ tmp/   HOME and TMPDIR

A linked worktree would share refs, config and hooks with the main repository. Here CI may move refs, write
config or delete `.git`: all of it is gone before the next run, and the index our checkout trusts is not in it.
"""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from paddock.core.ids import recordable
from paddock.git.command import GitResult, run_git
from paddock.git.disk import make_writable, remove_tree
from paddock.git.lock import Lock
from paddock.git.repo import Repo

CHECKOUT_TIMEOUT_SECONDS = 900.0
_CONFIG = """\
[gc]
	auto = 0
[maintenance]
	auto = false
[advice]
	detachedHead = false
[user]
	name = Paddock CI
	email = ci@localhost
"""
_HOME_CONFIG = """\
[user]
	name = Paddock CI
	email = ci@localhost
[init]
	defaultBranch = main
"""
# Bytes as they are in the tree, whatever the person's own settings; nothing to flush, it can be made again.
_OPTIONS = (
    "core.autocrlf=false",
    "core.trustctime=true",
    "core.checkStat=default",
    "core.fsync=none",
    "core.untrackedCache=false",
    "core.splitIndex=false",
    "core.sparseCheckout=false",
    "core.excludesFile=/dev/null",
    "checkout.workers=4",
    "advice.detachedHead=false",
)
# The refs are written as files below, whatever git would choose for a new repository.
_ENVIRONMENT = {
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_LFS_SKIP_DOWNLOAD_ERRORS": "1",
    "GIT_DEFAULT_REF_FORMAT": "files",
}


@dataclass(frozen=True, slots=True)
class Layout:
    repo: Repo
    path: Path

    @property
    def control(self) -> Path:
        return self.path / "control"

    @property
    def tree(self) -> Path:
        return self.path / "tree"

    @property
    def home(self) -> Path:
        return self.path / "home"

    @property
    def tmp(self) -> Path:
        return self.path / "tmp"

    def git(self, lock: Lock, *args: str, check: bool = True) -> GitResult:
        options = tuple(part for option in _OPTIONS for part in ("-c", option))
        return run_git(
            self.tree,
            f"--git-dir={self.control}",
            f"--work-tree={self.tree}",
            *options,
            *args,
            check=check,
            timeout=CHECKOUT_TIMEOUT_SECONDS,
            env=_ENVIRONMENT,
            inherit=lock.inherit,
        )


def damage_of(layout: Layout) -> str | None:
    """Why the sandbox cannot be switched to another commit, None when it can."""
    for folder in (layout.path, layout.control, layout.tree):
        if folder.is_symlink() or not folder.is_dir():
            return f"`{folder.name}` is gone or not a folder"
    alternates = layout.control / "objects" / "info" / "alternates"
    if not alternates.is_file() or not (layout.control / "HEAD").is_file():
        return "its git directory is damaged"
    return None


def build(layout: Layout, lock: Lock) -> None:
    """An empty sandbox; whatever was there must be gone."""
    for folder in (layout.tree, layout.home, layout.tmp):
        folder.mkdir(parents=True)
    layout.control.mkdir()
    hash_name = layout.repo.git("rev-parse", "--show-object-format").text
    layout.git(lock, "init", "--quiet", "--template=", f"--object-format={hash_name}")
    _share_objects(layout.repo, layout.control)
    storage = str(layout.repo.common_dir / "lfs")
    layout.git(lock, "config", "lfs.storage", storage)


def switch(layout: Layout, commit: str, keep: tuple[str, ...], lock: Lock) -> None:
    """Make the tree exactly `commit`, plus what `keep` (patterns as in .gitignore) lets stay."""
    remove_tree(layout.tree / ".git")
    (layout.control / "index.lock").unlink(missing_ok=True)
    _copy_shallow(layout.repo, layout.control)
    (layout.control / "HEAD").write_text(f"{commit}\n")
    kept = tuple(part for pattern in keep for part in ("-e", pattern))
    for args in (("reset", "--hard", "--quiet", commit), ("clean", "-ffdxq", *kept)):
        if not layout.git(lock, *args, check=False).ok:
            make_writable(layout.tree)
            layout.git(lock, *args)
    _empty_submodules(layout, lock)


def furnish(layout: Layout, commit: str, refs: tuple[tuple[str, str], ...], keep_home: bool) -> None:
    """The repository CI sees, and fresh folders of its own."""
    own = layout.tree / ".git"
    for folder in (own / "objects" / "pack", own / "refs" / "heads"):
        folder.mkdir(parents=True)
    _share_objects(layout.repo, own)
    _copy_shallow(layout.repo, own)
    core = (layout.control / "config").read_text().partition("[lfs]")[0]
    core = "".join(line for line in core.splitlines(keepends=True) if "worktree" not in line)
    (own / "config").write_text(core + _CONFIG)
    (own / "packed-refs").write_text("".join(f"{sha} {ref}\n" for ref, sha in sorted(refs)))
    shutil.copyfile(layout.control / "index", own / "index")
    (own / "HEAD").write_text(f"{commit}\n")
    _renew(layout.tmp)
    if not keep_home or layout.home.is_symlink() or not layout.home.is_dir():
        _renew(layout.home)
        (layout.home / ".gitconfig").write_text(_HOME_CONFIG)


def untracked(layout: Layout, lock: Lock) -> tuple[str, ...]:
    """Top-most paths git does not track, as patterns for `keep`. A name that cannot be written down is not kept."""
    listed = layout.git(lock, "ls-files", "--others", "--directory", "--no-empty-directory", "-z").records
    paths = [path.rstrip("/") for path in listed if path == recordable(path)]
    return tuple(f"/{_escape(path)}" for path in paths if path != ".git")


def differing(layout: Layout, lock: Lock) -> tuple[str, ...]:
    """Tracked files that are not as the commit has them, also those an index flag would hide."""
    flagged = [line for line in layout.git(lock, "ls-files", "-v", "-z").records if not line.startswith("H ")]
    told = layout.git(lock, "status", "--porcelain", "-z", "--no-renames", "--untracked-files=no", check=False)
    if not told.ok:
        return ("the git directory",)
    return tuple(sorted({line[2:] for line in flagged} | {record[3:] for record in told.records}))


def _share_objects(repo: Repo, git_dir: Path) -> None:
    info = git_dir / "objects" / "info"
    info.mkdir(parents=True, exist_ok=True)
    place = os.fsencode(repo.common_dir / "objects")
    if b"\n" in place:  # a line of this file is a path, or one quoted as in C
        quoted = place.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
        place = b'"' + quoted + b'"'
    (info / "alternates").write_bytes(place + b"\n")


def _copy_shallow(repo: Repo, git_dir: Path) -> None:
    source = repo.common_dir / "shallow"
    if source.is_file():
        shutil.copyfile(source, git_dir / "shallow")
    else:
        (git_dir / "shallow").unlink(missing_ok=True)


def _empty_submodules(layout: Layout, lock: Lock) -> None:
    """`git clean` does not look into submodules, so what CI checked out there is removed by hand."""
    if not (layout.tree / ".gitmodules").exists():
        return
    staged = (record.partition("\t") for record in layout.git(lock, "ls-files", "--stage", "-z").records)
    for facts, _, path in staged:
        folder = layout.tree / path
        if facts.startswith("160000 ") and folder.is_dir() and any(folder.iterdir()):
            _renew(folder)


def _renew(folder: Path) -> None:
    remove_tree(folder)
    folder.mkdir()


def _escape(path: str) -> str:
    return "".join(f"\\{char}" if char in "\\*?[!# " else char for char in path)
