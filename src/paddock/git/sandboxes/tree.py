"""The files of a CI sandbox: an exact checkout, and a git repository inside it that is nobody else's.

    control/     our git directory for the checkout; CI has no business there
    tree/        the working tree, where CI runs
    tree/.git/   a throw-away repository for CI: own refs, config and hooks; objects through alternates
    home/ tmp/   HOME and TMPDIR

A linked worktree would share refs, config and hooks with the main repository. Here CI may move refs, write
config or delete `.git`: all of it is gone before the next run, and the index our checkout trusts is not in it.
"""

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from paddock.core.errors import PaddockError
from paddock.core.ids import recordable
from paddock.git.command import GitResult, run_git
from paddock.git.disk import make_writable, remove_tree
from paddock.git.filters import filters_of
from paddock.git.lock import Lock
from paddock.git.repo import Repo

CHECKOUT_TIMEOUT_SECONDS = 900.0
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
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
    "GIT_LFS_SKIP_DOWNLOAD_ERRORS": "1",
    "GIT_DEFAULT_REF_FORMAT": "files",
}


@dataclass(frozen=True, slots=True)
class Sandbox:
    """A place to run CI: `name` is usually the slot's. Its folder need not exist yet."""

    repo: Repo
    root: Path
    name: str

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise PaddockError(f"`{self.name}` is not a name for a sandbox")

    @property
    def path(self) -> Path:
        return self.root / self.name

    @property
    def record_path(self) -> Path:
        return self.root / f"{self.name}.json"

    @property
    def lock_path(self) -> Path:
        return self.root / f"{self.name}.lock"

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
            env={**_ENVIRONMENT, **filters_of(self.repo.common_dir)},
            inherit=lock.inherit,
        )


def damage_of(sandbox: Sandbox) -> str | None:
    """Why the sandbox cannot be switched to another commit, None when it can."""
    for folder in (sandbox.path, sandbox.control, sandbox.tree):
        if folder.is_symlink() or not folder.is_dir():
            return f"`{folder.name}` is gone or not a folder"
    alternates = sandbox.control / "objects" / "info" / "alternates"
    if not alternates.is_file() or not (sandbox.control / "HEAD").is_file():
        return "its git directory is damaged"
    return None


def build(sandbox: Sandbox, lock: Lock) -> None:
    """An empty sandbox; whatever was there must be gone."""
    for folder in (sandbox.tree, sandbox.home, sandbox.tmp):
        folder.mkdir(parents=True)
    sandbox.control.mkdir()
    hash_name = sandbox.repo.git("rev-parse", "--show-object-format").text
    sandbox.git(lock, "init", "--quiet", "--template=", f"--object-format={hash_name}")
    _share_objects(sandbox.repo, sandbox.control)
    storage = str(sandbox.repo.common_dir / "lfs")
    sandbox.git(lock, "config", "lfs.storage", storage)


def switch(sandbox: Sandbox, commit: str, keep: tuple[str, ...], lock: Lock) -> None:
    """Make the tree exactly `commit`, plus what `keep` (patterns as in .gitignore) lets stay."""
    remove_tree(sandbox.tree / ".git")
    (sandbox.control / "index.lock").unlink(missing_ok=True)
    _copy_shallow(sandbox.repo, sandbox.control)
    (sandbox.control / "HEAD").write_text(f"{commit}\n")
    kept = tuple(part for pattern in keep for part in ("-e", pattern))
    for args in (("reset", "--hard", "--quiet", commit), ("clean", "-ffdxq", *kept)):
        if not sandbox.git(lock, *args, check=False).ok:
            make_writable(sandbox.tree)
            sandbox.git(lock, *args)
    _empty_submodules(sandbox, lock)


def furnish(sandbox: Sandbox, commit: str, refs: tuple[tuple[str, str], ...], keep_home: bool) -> None:
    """The repository CI sees, and fresh folders of its own."""
    own = sandbox.tree / ".git"
    for folder in (own / "objects" / "pack", own / "refs" / "heads"):
        folder.mkdir(parents=True)
    _share_objects(sandbox.repo, own)
    _copy_shallow(sandbox.repo, own)
    core = (sandbox.control / "config").read_text().partition("[lfs]")[0]
    core = "".join(line for line in core.splitlines(keepends=True) if "worktree" not in line)
    (own / "config").write_text(core + _CONFIG)
    (own / "packed-refs").write_text("".join(f"{sha} {ref}\n" for ref, sha in sorted(refs)))
    shutil.copyfile(sandbox.control / "index", own / "index")
    (own / "HEAD").write_text(f"{commit}\n")
    _renew(sandbox.tmp)
    if not keep_home or sandbox.home.is_symlink() or not sandbox.home.is_dir():
        _renew(sandbox.home)
        (sandbox.home / ".gitconfig").write_text(_HOME_CONFIG)


def untracked(sandbox: Sandbox, lock: Lock) -> tuple[str, ...]:
    """Top-most paths git does not track, as patterns for `keep`. A name that cannot be written down is not kept."""
    listed = sandbox.git(lock, "ls-files", "--others", "--directory", "--no-empty-directory", "-z").records
    paths = [path.rstrip("/") for path in listed if path == recordable(path)]
    return tuple(f"/{_escape(path)}" for path in paths if path != ".git")


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


def _empty_submodules(sandbox: Sandbox, lock: Lock) -> None:
    """`git clean` does not look into submodules, so what CI checked out there is removed by hand."""
    if not (sandbox.tree / ".gitmodules").exists():
        return
    staged = (record.partition("\t") for record in sandbox.git(lock, "ls-files", "--stage", "-z").records)
    for facts, _, path in staged:
        folder = sandbox.tree / path
        if facts.startswith("160000 ") and folder.is_dir() and any(folder.iterdir()):
            _renew(folder)


def _renew(folder: Path) -> None:
    remove_tree(folder)
    folder.mkdir()


def _escape(path: str) -> str:
    return "".join(f"\\{char}" if char in "\\*?[!# " else char for char in path)
