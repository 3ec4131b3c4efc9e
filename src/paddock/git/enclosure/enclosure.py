"""An enclosure: a working tree, a git directory for whoever lives in it, and one of ours that nobody else has business
in.

The user's objects are borrowed by both; refs, configuration and hooks are not. Whoever lives in the tree may do to its
own git directory what it likes. Paddock's git never runs with that one: it goes through `control`, whose index and
configuration are ours, and finds the user's objects only.
"""

import os
import shutil
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Unpack

from paddock.git.command import GitOptions, GitResult, run_git
from paddock.git.disk import make_writable, remove_tree
from paddock.git.enclosure.traps import remove_traps
from paddock.git.filters import filters_of
from paddock.git.repo import Repo, is_partial_clone

CHECKOUT_TIMEOUT_SECONDS = 900.0
LARGEST_FILE_MB = 100  # what the usual hosts take
# More workers than cores pays: they wait for the disk. Above 4 the gain was within noise on 2 cores. They take half as
# much CPU time again, which a few thousand files never win back.
_OPTIONS = (
    "checkout.workers=4",
    "checkout.thresholdForParallelism=5000",
    "core.splitIndex=false",
    "core.untrackedCache=false",
    "core.commitGraph=false",
    "index.version=2",
    "advice.detachedHead=false",
)
_INDEX_WITH_HIDDEN_FILES = b"DIRC\0\0\0\3"
_INFO_FILES = ("attributes", "exclude", "sparse-checkout")
GITLINK_MODE = b"\x00\x00\xe0\x00"  # as an index has it


@dataclass(frozen=True, slots=True)
class Enclosure:
    """`own` is the git directory of whoever lives in `tree`, `control` is ours. None of them need exist yet.

    No file above `largest_file_mb` is taken from there, committed or not.
    """

    repo: Repo
    tree: Path
    own: Path
    control: Path
    options: tuple[str, ...] = ()
    largest_file_mb: int = LARGEST_FILE_MB

    @property
    def largest_file_bytes(self) -> int:
        return self.largest_file_mb * 1024**2

    @property
    def objects(self) -> Path:
        return self.repo.common_dir / "objects"

    @property
    def index(self) -> Path:
        return self.control / "index"

    def git(self, *args: str, **options: Unpack[GitOptions]) -> GitResult:
        """Our git on the tree. New objects go to the user's."""
        env: Mapping[str, str] = options.get("env") or {}
        filters = filters_of(self.repo.common_dir)
        options["env"] = {"GIT_OBJECT_DIRECTORY": str(self.objects), **filters, **env}
        options.setdefault("timeout", CHECKOUT_TIMEOUT_SECONDS)
        options.setdefault("lazy", is_partial_clone(self.repo.common_dir))
        settings = tuple(part for option in (*_OPTIONS, *self.options) for part in ("-c", option))
        where = (f"--git-dir={self.control}", f"--work-tree={self.tree}")
        return run_git(self.tree if self.tree.is_dir() else self.control, *where, *settings, *args, **options)

    def head(self) -> str:
        """The commit our checkout is at; "" when it has none yet."""
        try:
            return (self.control / "HEAD").read_text("ascii").strip()
        except FileNotFoundError:
            return ""


def make_control(enclosure: Enclosure, config: str, *, info: bool = True) -> None:
    """An empty checkout of ours, with what the user's `info` folder says. Whatever was there must be gone."""
    for folder in ("objects", "refs", "info"):
        (enclosure.control / folder).mkdir(parents=True)
    (enclosure.control / "config").write_text(config, encoding="utf-8", errors="surrogateescape")
    if info:
        copy_info(enclosure.repo, enclosure.control)
    (enclosure.control / "HEAD").write_text("ref: refs/heads/none\n")


def switch(enclosure: Enclosure, commit: str, inherit: tuple[int, ...], env: Mapping[str, str] | None = None) -> None:
    """Make the tracked files those of `commit`, whatever state the tree is in."""
    (enclosure.control / "index.lock").unlink(missing_ok=True)
    copy_shallow(enclosure.repo, enclosure.control)
    if _has_hidden_files(enclosure.index) and "sparsecheckout" not in (enclosure.control / "config").read_text():
        enclosure.index.unlink()
    remove_traps(enclosure.tree)
    set_head(enclosure, commit)
    words = ("reset", "--hard", "--quiet", commit)
    if not enclosure.git(*words, check=False, inherit=inherit, env=env).ok:
        make_writable(enclosure.tree)
        enclosure.git(*words, inherit=inherit, env=env)


def _has_hidden_files(index: Path) -> bool:
    """Whether git was told to look past some: then it writes version 3 of an index."""
    try:
        with open(index, "rb") as file:
            return file.read(8) == _INDEX_WITH_HIDDEN_FILES
    except FileNotFoundError:
        return False


def set_head(enclosure: Enclosure, commit: str) -> None:
    (enclosure.control / "HEAD").write_text(f"{commit}\n")


def sweep(enclosure: Enclosure, inherit: tuple[int, ...], *options: str) -> None:
    """`git clean` with these options, also where something was left read-only."""
    if not enclosure.git("clean", *options, check=False, inherit=inherit).ok:
        make_writable(enclosure.tree)
        enclosure.git("clean", *options, inherit=inherit)


def share_objects(repo: Repo, git_dir: Path) -> None:
    """The user's objects are to be found from `git_dir`, too."""
    info = git_dir / "objects" / "info"
    info.mkdir(parents=True, exist_ok=True)
    (info / "alternates").write_bytes(alternates(repo))


def alternates(repo: Repo) -> bytes:
    place = os.fsencode(repo.common_dir / "objects")
    return (quote(place) if b"\n" in place else place) + b"\n"


def quote(place: bytes) -> bytes:
    """As in C: how git wants a path that has a newline, a colon or a quote in it."""
    return b'"' + place.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n") + b'"'


def copy_shallow(repo: Repo, git_dir: Path) -> None:
    _copy(repo.common_dir / "shallow", git_dir / "shallow")


def copy_info(repo: Repo, git_dir: Path) -> None:
    """What the user says of their files without committing it."""
    for name in _INFO_FILES:
        _copy(repo.common_dir / "info" / name, git_dir / "info" / name)


def is_cut_as_the_users(enclosure: Enclosure, config: str) -> bool:
    """Whether the user's main tree still checks out the same files in the same way."""
    try:
        ours = (enclosure.control / "config").read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return False
    if _cut(ours) != _cut(config):
        return False
    folders = (enclosure.repo.common_dir / "info", enclosure.control / "info")
    return all(len({_content(folder / name) for folder in folders}) == 1 for name in _INFO_FILES if name != "exclude")


def _cut(config: str) -> list[str]:
    words = ("sparsecheckout", "autocrlf", "eol =", "objectformat")
    return [line for line in config.splitlines() if any(word in line for word in words)]


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


def _copy(source: Path, target: Path) -> None:
    if source.is_file():
        target.parent.mkdir(exist_ok=True)
        shutil.copyfile(source, target)
    else:
        target.unlink(missing_ok=True)


def identify(folder: Path) -> int:
    """What tells a folder from any other that is put in its place, also after the machine was started again."""
    return folder.lstat().st_ino


def is_still(folder: Path, identity: int) -> bool:
    """Whether `folder` is the very folder that was made: no link, no other folder, no mounted one."""
    try:
        found, around = folder.lstat(), folder.parent.stat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_ino == identity and found.st_dev == around.st_dev


def renew(folder: Path) -> None:
    remove_tree(folder)
    folder.mkdir()
