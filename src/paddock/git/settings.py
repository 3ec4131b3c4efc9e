"""The user's own configuration of their repository, as one plain file for the git directories made for others.

Read from the user's files once, and again when one of them has changed; never from a directory that somebody else can
write. So filters, LFS, line endings, signing, sparse checkouts, partial clones and remotes work as in their own tree.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from paddock.git.command import run_git
from paddock.git.disk import FileIdentity, identity_of

NO_PUSH = "echo 'nothing is pushed from here: commit, and Paddock delivers the branch' >&2; exit 1; :"
_DROPPED = frozenset(
    {
        "core.alternaterefscommand",
        "core.bare",
        "core.repositoryformatversion",
        "core.worktree",
        "extensions.refstorage",
        "extensions.relativeworktrees",
        "extensions.worktreeconfig",
        "lfs.storage",
    }
)
_INCLUDES = ("include.", "includeif.")
_DROPPED_SECTIONS = ("branch.", "gc.", *_INCLUDES, "maintenance.", "paddock.", "worktree.")
# What such files include, they may include for this repository only, by its place, and a fence does not show it.
_OF_INCLUDED_FILES = ("core.autocrlf", "core.eol", "core.safecrlf", "filter.", "user.email", "user.name")
_PUSHING = (".pushurl", ".receivepack")
# How files come to be as they are on this file system; git finds it out when it makes a repository.
_FILE_SYSTEM = frozenset(
    {"core.filemode", "core.ignorecase", "core.precomposeunicode", "core.symlinks", "extensions.objectformat"}
)

Setting = tuple[str, str | None]
_Stamps = tuple[tuple[str, FileIdentity | None], ...]


@dataclass(frozen=True, slots=True)
class Settings:
    """Names as git lists them: only the middle part may have capitals. None is a name without a value.

    `lfs` is where the user's git-lfs keeps files; `is_lfs_apart`: elsewhere than in the repository.
    """

    values: tuple[Setting, ...]
    lfs: str = ""
    is_lfs_apart: bool = False

    def get(self, name: str) -> str | None:
        return next((value for key, value in reversed(self.values) if key == name), None)

    def render(self, *more: Setting) -> str:
        """A configuration file for a directory of ours. Which filters run there is said with every call."""
        return _render((*(pair for pair in self.values if not pair[0].startswith("filter.")), *self._storage(), *more))

    def render_for_others(self, *more: Setting) -> str:
        """One for a directory of somebody who must not push, and keeps what it throws away.

        What its git-lfs makes stays there, too; that finds the user's beside the objects it borrows, and not elsewhere.
        """
        remotes = dict.fromkeys(key.rpartition(".")[0] for key, _ in self.values if key.startswith("remote."))
        pushing = {f"{remote}{word}" for remote in remotes for word in _PUSHING}
        kept = [pair for pair in self.values if pair[0] not in pushing]
        for remote in remotes:
            if remote != "remote":
                kept += [(f"{remote}.pushurl", "paddock"), (f"{remote}.receivepack", NO_PUSH)]
        own = (("core.logallrefupdates", "true"), ("gc.auto", "0"), ("maintenance.auto", "false"))
        storage = self._storage() if self.is_lfs_apart else ()
        return _render((*kept, ("core.alternaterefscommand", "true"), *storage, *own, *more))

    def _storage(self) -> tuple[Setting, ...]:
        return (("lfs.storage", self.lfs),) if self.lfs else ()

    def of_file_system(self) -> "Settings":
        return Settings(tuple(pair for pair in self.values if pair[0] in _FILE_SYSTEM))


_known: dict[Path, tuple[_Stamps, Settings]] = {}


def read_settings(common_dir: Path) -> Settings:
    """GitFailed where git cannot read the user's configuration."""
    stamps, settings = _known.get(common_dir, ((), None))
    if settings is None or _stamp(path for path, _ in stamps) != stamps:
        # Stamped before it is read: what changes meanwhile is read again the next time.
        own = (str(common_dir / "config"), str(common_dir / "config.worktree"))
        before = dict(_stamp((*own, *_files_for_all_repositories())))
        pairs, origins = _list(common_dir)
        stamps = (*before.items(), *_stamp(sorted(origins - before.keys())))
        storage = Settings(tuple(pairs)).get("lfs.storage") or "lfs"
        settings = Settings(tuple(_applicable(pairs)), str(common_dir / storage), is_lfs_apart=storage != "lfs")
        _known[common_dir] = stamps, settings
    return settings


def _list(common_dir: Path) -> tuple[list[Setting], set[str]]:
    pairs: list[Setting] = []
    origins: set[str] = set()
    found_anyway = _files_for_all_repositories()
    words = ("config", "--includes", "--show-scope", "--show-origin", "--list", "-z")
    records = run_git(common_dir, f"--git-dir={common_dir}", *words).records
    for scope, origin, entry in zip(records[::3], records[1::3], records[2::3], strict=True):
        if scope not in ("global", "local", "worktree"):
            continue
        file = os.path.normpath(common_dir / origin.removeprefix("file:"))
        name, has_value, value = entry.partition("\n")
        if scope != "global" or (file not in found_anyway and name.startswith(_OF_INCLUDED_FILES)):
            pairs.append((name, value if has_value else None))
        origins.add(file)
        if name.startswith(_INCLUDES):  # it may be written later
            origins.add(os.path.normpath(Path(file).parent / os.path.expanduser(value)))
    return pairs, origins


def _files_for_all_repositories() -> tuple[str, ...]:
    """Whatever git directory git runs with, it reads these."""
    if named := os.environ.get("GIT_CONFIG_GLOBAL"):
        return (os.path.normpath(named),)
    folder = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return (os.path.normpath(f"{folder}/git/config"), os.path.expanduser("~/.gitconfig"))


def _applicable(pairs: list[Setting]) -> Iterable[Setting]:
    return (pair for pair in pairs if pair[0] not in _DROPPED and not pair[0].startswith(_DROPPED_SECTIONS))


def _stamp(paths: Iterable[str]) -> _Stamps:
    return tuple((path, identity_of(path)) for path in paths)


def _render(values: Iterable[Setting]) -> str:
    pairs = tuple(values)
    version = int(any(name.startswith("extensions.") for name, _ in pairs))
    lines = [f"[core]\n\trepositoryformatversion = {version}\n\tbare = false\n"]
    section = ""
    for name, value in pairs:
        folder, _, key = name.rpartition(".")
        if folder != section:
            lines.append(f"[{_heading(folder)}]\n")
            section = folder
        lines.append(f"\t{key}\n" if value is None else f"\t{key} = {_quote(value)}\n")
    return "".join(lines)


def _heading(folder: str) -> str:
    section, has_more, rest = folder.partition(".")
    escaped = rest.replace("\\", "\\\\").replace('"', '\\"')
    return f'{section} "{escaped}"' if has_more else section


def _quote(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped}"'.replace("\b", "\\b")
