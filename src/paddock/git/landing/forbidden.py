"""What no commit that reaches main may contain: paths git or a file system would not take, submodules that are a trap.

Every commit beyond main is looked at, not only the last: a name that came and went is still in main's history, where
a checkout, a bisection or a revert brings it back.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from paddock.core.ids import recordable
from paddock.core.merge.pathnames import clashes, path_problem, with_folders
from paddock.git.landing.workbench import Workbench

SYMLINK = "120000"
GITLINK = "160000"
ABSENT_MODE = "000000"
SHOWN = 5
SHOWN_CHARACTERS = 300
MOST_SUBMODULE_FILES = 200
MOST_PAIRS = 200
_SPECIAL_FILES = (".gitmodules", ".gitattributes", ".gitignore", ".mailmap")


@dataclass(frozen=True, slots=True)
class NewEntry:
    """What a commit put at `path`, as none of its parents had it."""

    commit: str
    path: str
    mode: str
    sha: str
    added: bool


@dataclass(frozen=True, slots=True)
class _Beyond:
    """The commits a branch has beyond main, oldest first and with their parents, and all that they add or change; what
    a merge takes over from a parent is not its own."""

    parents: Mapping[str, tuple[str, ...]]
    entries: tuple[NewEntry, ...]

    @property
    def edges(self) -> set[str]:
        """Where they leave main. If that is one commit only, it is where the histories part."""
        return {parent for above in self.parents.values() for parent in above} - self.parents.keys()


@dataclass
class _Problems:
    """Each path once, with the first commit that has it."""

    words: dict[str, str] = field(default_factory=dict)

    def add(self, path: str, commit: str, why: str) -> None:
        self.words.setdefault(path, f"`{recordable(path)[:SHOWN_CHARACTERS]!a}` {why} (commit {commit[:10]})")


def forbidden_paths(bench: Workbench, head: str, main: str) -> tuple[str, ...]:
    """Why `head` must not be merged into `main`, in words, for what it has beyond it; empty when it may."""
    beyond = _read_beyond(bench, head, main)
    problems = _Problems()
    for entry in beyond.entries:
        why = path_problem(entry.path)
        if why is None and entry.mode == SYMLINK and entry.path.rsplit("/", 1)[-1] in _SPECIAL_FILES:
            why = "is a symbolic link"
        if why is None and entry.mode == GITLINK and entry.path.startswith("-"):
            why = "is a submodule whose path reads as an option"
        if why is not None:
            problems.add(entry.path, entry.commit, why)
    _check_submodules(bench, beyond.entries, problems)
    if not problems.words:
        _check_clashes(bench, head, main, beyond, problems)
    return tuple(problems.words.values())


def some_problems(problems: tuple[str, ...]) -> str:
    more = f" and {len(problems) - SHOWN} more" if len(problems) > SHOWN else ""
    return "; ".join(problems[:SHOWN]) + more


def _read_beyond(bench: Workbench, head: str, main: str) -> _Beyond:
    words = ("--root", "-r", "-c", "-z", "--raw", "--no-renames", "--no-abbrev", "--format=%H %P")
    fields = iter(bench.git("log", "--topo-order", "--reverse", *words, head, f"^{main}").records)
    parents: dict[str, tuple[str, ...]] = {}
    entries, commit = [], ""
    for told in (told.lstrip("\n") for told in fields):
        if not told.startswith(":"):  # a commit, or nothing, which git puts between a merge and its files
            commit, *above = told.split() or (commit,)
            parents.setdefault(commit, tuple(above))
            continue
        count = len(told) - len(told.lstrip(":"))
        facts = told[count:].split(" ")
        mode, sha, path = facts[count], facts[-2], next(fields)
        if mode != ABSENT_MODE:
            entries.append(NewEntry(commit, path, mode, sha, set(facts[:count]) == {ABSENT_MODE}))
    return _Beyond(parents, tuple(entries))


def _check_submodules(bench: Workbench, entries: tuple[NewEntry, ...], problems: _Problems) -> None:
    """What git's own fsck says of `.gitmodules`, also for commits that were never fetched."""
    files = {entry.sha: entry for entry in entries if entry.path.endswith(".gitmodules") and entry.mode != SYMLINK}
    if len(files) > MOST_SUBMODULE_FILES:
        first = next(iter(files.values()))
        return problems.add(first.path, first.commit, f"has {len(files)} versions, {MOST_SUBMODULE_FILES} are checked")
    for sha, entry in files.items():
        if entry.path.rsplit("/", 1)[-1] != ".gitmodules":
            continue
        told = bench.git("config", "--blob", sha, "--no-includes", "--list", "-z", check=False)
        if not told.ok:
            problems.add(entry.path, entry.commit, "cannot be read as a list of submodules")
            continue
        for line in told.records:
            key, _, value = line.partition("\n")
            if (why := _submodule_problem(key, value)) is not None:
                problems.add(entry.path, entry.commit, why)


def _submodule_problem(key: str, value: str) -> str | None:
    section, _, rest = key.partition(".")
    name, _, variable = rest.rpartition(".")
    if section != "submodule":
        return None
    if ".." in name.replace("\\", "/").split("/"):
        return f"has a submodule named `{name!a}`, which leads out of its folder"
    shown = f"`{recordable(value)[:200]!a}`"
    if variable == "url" and (value.startswith(("-", "ext::")) or "\n" in value):
        return f"has a submodule with the address {shown}"
    if variable == "path" and (value.startswith("-") or path_problem(value) is not None):
        return f"has a submodule at {shown}"
    if variable == "update" and value.startswith("!"):
        return f"has a submodule that runs {shown}"
    return None


def _check_clashes(bench: Workbench, head: str, main: str, beyond: _Beyond, problems: _Problems) -> None:
    """Two names of one file in any of the commits, unless both came from main."""
    added = {entry.path: entry.commit for entry in reversed(beyond.entries) if entry.added}
    if not added:
        return
    edges = beyond.edges
    bases = tuple(edges) if len(edges) == 1 else bench.merge_bases(main, head)
    known = {name for base in bases for name in _names_around(bench, base, added)}
    pairs = clashes({*known, *added}, [path for path in added if path not in known])
    if len(pairs) > MOST_PAIRS:
        name = next(iter(added))
        return problems.add(name, added[name], f"is one of more than {MOST_PAIRS} names that differ only in case")
    for other, name in pairs:
        if (at := _first_with_both(bench, tuple(beyond.parents), other, name)) is not None:
            problems.add(name, at, f"and `{recordable(other)!a}` are one file where case and accents do not count")


def clashes_within(bench: Workbench, before: str, tree: str) -> tuple[str, ...]:
    """Names in `tree`, not yet in tree `before`, that clash with others in it; with the names they clash with."""
    told = bench.git("diff-tree", "-r", "-z", "--no-renames", "--name-only", "--diff-filter=A", before, tree)
    pairs = clashes(_names(bench, tree), told.records) if told.stdout else []
    return tuple(name for pair in pairs for name in pair)


def _names(bench: Workbench, tree: str) -> list[str]:
    return bench.git("ls-tree", "-r", "-z", "--name-only", "--full-tree", tree).records


def _names_around(bench: Workbench, commit: str, paths: Iterable[str]) -> list[str]:
    """What the commit has in the folders of the paths: a clash with anything else would be one of the folders."""
    folders = {"", *(name for path in paths for name in with_folders(path) if name != path)}
    if any("\n" in folder for folder in folders):  # git's answers could not be told apart
        return _names(bench, commit)
    listed = sorted(folders)
    asked = "".join(f"{commit}:{folder}\n" for folder in listed).encode("utf-8", "surrogateescape")
    told = bench.git("cat-file", "--batch=%(objecttype) %(objectsize)", input=asked).stdout
    hash_bytes = len(commit) // 2
    found = []
    for folder in listed:
        header, _, told = told.partition(b"\n")
        kind, _, size = header.rpartition(b" ")
        if size == b"missing":
            continue
        if kind == b"tree":
            found += [f"{folder}/{name}".lstrip("/") for name in _entries(told[: int(size)], hash_bytes)]
        told = told[int(size) + 1 :]
    return found


def _entries(tree: bytes, hash_bytes: int) -> Iterator[str]:
    at = 0
    while at < len(tree):
        end = tree.index(b"\0", at)
        yield os.fsdecode(tree[tree.index(b" ", at) + 1 : end])
        at = end + 1 + hash_bytes


def _first_with_both(bench: Workbench, commits: tuple[str, ...], one: str, other: str) -> str | None:
    """The oldest commit that has both names; also one in which only a merge brings them together."""
    if "\n" in one + other:  # git's answers could not be told apart
        return commits[0]
    asked = "".join(f"{commit}:{name}\n" for commit in commits for name in (one, other))
    told = bench.git("cat-file", "--batch-check=%(objecttype)", input=asked.encode("utf-8", "surrogateescape"))
    found = [not line.endswith(" missing") for line in told.lines]
    pairs = zip(commits, found[::2], found[1::2], strict=True)
    return next((commit for commit, first, second in pairs if first and second), None)
