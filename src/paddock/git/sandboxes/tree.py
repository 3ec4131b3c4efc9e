"""The files of a CI sandbox: an exact checkout, and a git repository inside it that is nobody else's.

    control/     our git directory for the checkout; CI has no business there
    tree/        the working tree, where CI runs
    tree/.git/   a throw-away repository for CI: own refs, config and hooks; objects through alternates
    home/ tmp/   HOME and TMPDIR

A linked worktree would share refs, config and hooks with the main repository. Here CI may move refs, write
config or delete `.git`: all of it is gone before the next run, and the index our checkout trusts is not in it.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import msgspec

from paddock.core.errors import PaddockError
from paddock.core.ids import recordable
from paddock.git.command import GitResult
from paddock.git.disk import remove_tree
from paddock.git.enclosure.enclosure import Enclosure, identify, is_still, make_control, renew, sweep
from paddock.git.enclosure.enclosure import switch as check_out
from paddock.git.enclosure.residence import Residence, ShownRefs, settle
from paddock.git.lock import Lock
from paddock.git.repo import Repo
from paddock.git.settings import read_settings

ATTRIBUTES = ".gitattributes"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_CONFIG = (
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("advice.detachedhead", "false"),
    ("user.name", "Paddock CI"),
    ("user.email", "ci@localhost"),
)
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
    "core.sparseCheckout=false",
    "core.excludesFile=/dev/null",
)
_ENVIRONMENT = {"GIT_LFS_SKIP_DOWNLOAD_ERRORS": "1"}


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

    @property
    def enclosure(self) -> Enclosure:
        return Enclosure(self.repo, self.tree, self.tree / ".git", self.control, _OPTIONS)

    def git(self, lock: Lock, *args: str, check: bool = True) -> GitResult:
        return self.enclosure.git(*args, check=check, env=_ENVIRONMENT, inherit=lock.inherit)


class Identity(msgspec.Struct, frozen=True):
    """The folders of a sandbox, by their inodes: no other folder, and no link, is taken for one of them."""

    path: int
    tree: int
    control: int

    def holds(self, sandbox: Sandbox) -> bool:
        folders = ((sandbox.path, self.path), (sandbox.tree, self.tree), (sandbox.control, self.control))
        return all(is_still(folder, inode) for folder, inode in folders)


def damage_of(sandbox: Sandbox, identity: Identity | None) -> str | None:
    """Why the sandbox cannot be switched to another commit, None when it can."""
    if identity is None:
        return "it was made by an older version"
    if not identity.holds(sandbox):
        return "its folders are not those that were made"
    return None if (sandbox.control / "HEAD").is_file() else "its git directory is damaged"


def build(sandbox: Sandbox) -> Identity:
    """An empty sandbox; whatever was there must be gone."""
    for folder in (sandbox.tree, sandbox.home, sandbox.tmp):
        folder.mkdir(parents=True)
    settings = read_settings(sandbox.repo.common_dir)
    config = settings.of_file_system().render(("lfs.storage", settings.lfs))
    make_control(sandbox.enclosure, config, info=False)  # a person's own, which nobody else has
    return Identity(identify(sandbox.path), identify(sandbox.tree), identify(sandbox.control))


def switch(sandbox: Sandbox, commit: str, keep: tuple[str, ...], lock: Lock) -> None:
    """Make the tree exactly `commit`, plus what `keep` (patterns as in .gitignore) lets stay."""
    remove_tree(sandbox.tree / ".git")
    check_out(sandbox.enclosure, commit, lock.inherit, _ENVIRONMENT)
    sweep(sandbox.enclosure, lock.inherit, "-ffdxq", *(part for pattern in keep for part in ("-e", pattern)))
    _empty_submodules(sandbox, lock)


def furnish(sandbox: Sandbox, commit: str, refs: tuple[tuple[str, str], ...], keep_home: bool) -> None:
    """The repository CI sees, and fresh folders of its own."""
    shown = ShownRefs({ref: f"{sha} {ref}\n" for ref, sha in refs})
    config = read_settings(sandbox.repo.common_dir).of_file_system().render(*_CONFIG)
    settle(sandbox.enclosure, Residence(commit, "", config, shown, hooks=False, info=False))
    renew(sandbox.tmp)
    if not keep_home or sandbox.home.is_symlink() or not sandbox.home.is_dir():
        renew(sandbox.home)
        (sandbox.home / ".gitconfig").write_text(_HOME_CONFIG)


def untracked(sandbox: Sandbox, lock: Lock) -> tuple[str, ...]:
    """Top-most paths git does not track, as patterns for `keep`. A name that cannot be written down is not kept."""
    listed = sandbox.git(lock, "ls-files", "--others", "--directory", "--no-empty-directory", "-z").records
    paths = [path.rstrip("/") for path in listed if path == recordable(path)]
    return tuple(f"/{_escape(path)}" for path in paths if path != ".git")


def _empty_submodules(sandbox: Sandbox, lock: Lock) -> None:
    """`git clean` does not look into submodules, so what CI checked out there is removed by hand."""
    if not (sandbox.tree / ".gitmodules").exists():
        return
    staged = (record.partition("\t") for record in sandbox.git(lock, "ls-files", "--stage", "-z").records)
    for facts, _, path in staged:
        folder = sandbox.tree / path
        if facts.startswith("160000 ") and folder.is_dir() and any(folder.iterdir()):
            renew(folder)


def _escape(path: str) -> str:
    return "".join(f"\\{char}" if char in "\\*?[!# " else char for char in path)
