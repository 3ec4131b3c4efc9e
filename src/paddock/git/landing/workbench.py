"""The queue's own git directory over the repository's objects: merging and committing without a worktree.

Agents can write the repository's config, attributes, grafts and replace refs. None of them counts here: the
workbench has a config of its own and only borrows the object directory, so that the same input gives the
same object on every machine. What it writes is flushed to disk before it is named.
"""

import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from paddock.git.command import GitFailed, GitResult, run_git
from paddock.git.repo import Repo

DURABLE = ("-c", "core.fsync=all", "-c", "core.fsyncMethod=fsync")
PLACE = Path("paddock") / "workbench.git"

# Rename detection is what `git merge` does by default, pinned because a person's global config may differ.
_MERGE_CONFIG = """\
[core]
	repositoryformatversion = {version}
	bare = true
	attributesFile = /dev/null
[extensions]{extensions}
[merge]
	default = text
	renames = true
	directoryRenames = conflict
	renormalize = false
	conflictStyle = merge
[diff]
	renames = true
"""
_PLAIN_ENCODING = re.compile(
    r"iso-?8859-([1-9]|1[0-13-6])|latin-?1|(windows-|cp)125[0-8]|koi8-[ru]"
    r"|euc-(jp|kr)|shift_jis|sjis|gbk|gb2312|gb18030|big5"
)
_IDENT = re.compile(rb"[^\n<>\0]*<[^\n<>\0]*> [0-9]{1,18} [+-][0-9]{4}")


@dataclass(frozen=True, slots=True)
class Clash:
    """The two sides do not go together, and where."""

    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CommitFacts:
    """A commit as it is stored. `author` is the whole header value: name, address, time and zone."""

    sha: str
    tree: str
    parents: tuple[str, ...]
    author: bytes
    committed_at: int
    encoding: bytes | None
    message: bytes

    @property
    def text(self) -> str:
        return self.decode(self.message)

    def decode(self, stored: bytes) -> str:
        """In an encoding in which ASCII means itself; of others, whoever wrote them may mean anything."""
        name = (self.encoding or b"").decode("ascii", "replace").lower()
        return stored.decode(name if _PLAIN_ENCODING.fullmatch(name) else "utf-8", "replace")


@dataclass(frozen=True, slots=True)
class CommitDraft:
    """A commit to write; `author` and `committer` are whole header values."""

    tree: str
    parents: tuple[str, ...]
    author: bytes
    committer: bytes
    message: bytes


@dataclass(frozen=True, slots=True)
class Workbench:
    git_dir: Path
    objects: Path
    shallow: Path

    def git(self, *args: str, input: bytes | None = None, check: bool = True) -> GitResult:
        env = {"GIT_OBJECT_DIRECTORY": str(self.objects)}
        if self.shallow.exists():
            env["GIT_SHALLOW_FILE"] = str(self.shallow)
        return run_git(self.git_dir, f"--git-dir={self.git_dir}", *DURABLE, *args, input=input, check=check, env=env)

    def merge(self, ours: str, theirs: str) -> str | Clash:
        """The tree of two commits merged the way `git merge` would; only trees and blobs are written."""
        result = self.git("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs, check=False)
        # git ends with 1 for a conflict and also for a commit it cannot read; only the former prints a tree.
        if result.code not in (0, 1) or not result.stdout:
            raise GitFailed(result)
        tree, *paths = result.records
        return tree if result.ok else Clash(tuple(paths))

    def merge_bases(self, one: str, other: str) -> tuple[str, ...]:
        result = self.git("merge-base", "--all", one, other, check=False)
        return tuple(result.lines) if result.is_yes else ()

    def is_ancestor(self, ancestor: str, descendant: str) -> bool:
        return self.git("merge-base", "--is-ancestor", ancestor, descendant, check=False).is_yes

    def read_commits(self, shas: tuple[str, ...]) -> tuple[CommitFacts | None, ...]:
        """The commits named, in order; None for what is missing or is no commit."""
        if not shas:
            return ()
        listed = self.git("cat-file", "--batch", input="".join(f"{sha}\n" for sha in shas).encode()).stdout
        found: list[CommitFacts | None] = []
        for sha in shas:
            header, _, rest = listed.partition(b"\n")
            words = header.split(b" ")
            if words[-1] == b"missing":
                found.append(None)
                listed = rest
                continue
            size = int(words[2])
            found.append(_parse_commit(sha, rest[:size]) if words[1] == b"commit" else None)
            listed = rest[size + 1 :]
        return tuple(found)

    def write_commit(self, draft: CommitDraft) -> str:
        headers = [b"tree " + draft.tree.encode()]
        headers += [b"parent " + parent.encode() for parent in draft.parents]
        headers += [b"author " + draft.author, b"committer " + draft.committer]
        body = draft.message.replace(b"\0", b"")
        raw = b"\n".join(headers) + b"\n\n" + body
        return self.git("hash-object", "-t", "commit", "-w", "--stdin", input=raw).text


def open_workbench(repo: Repo) -> Workbench:
    """The repository's workbench, made on first use and put right when somebody changed it."""
    place = repo.common_dir / PLACE
    objects = repo.common_dir / "objects"
    config = _config_for(repo)
    for folder in ("refs", "objects"):
        (place / folder).mkdir(parents=True, exist_ok=True)
    _ensure_file(place / "HEAD", "ref: refs/heads/none\n")
    _ensure_file(place / "config", config)
    return Workbench(place, objects, repo.common_dir / "shallow")


def paddock_at(seconds: int) -> bytes:
    """Who commits on the queue's behalf, as a whole header value."""
    return b"Paddock <paddock@localhost> %d +0000" % seconds


def is_plain_identity(value: bytes) -> bool:
    """Whether git will take `value` as an author or committer."""
    return _IDENT.fullmatch(value) is not None


def _config_for(repo: Repo) -> str:
    sha256 = b"sha256" in (repo.common_dir / "config").read_bytes().lower()
    extensions = "\n\tobjectFormat = sha256" if sha256 else ""
    return _MERGE_CONFIG.format(version=int(sha256), extensions=extensions)


def _ensure_file(path: Path, text: str) -> None:
    try:
        if path.read_text() == text:
            return
    except FileNotFoundError:
        pass
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f"{path.name}.")
    with os.fdopen(handle, "w") as file:
        file.write(text)
    os.replace(name, path)


def _parse_commit(sha: str, raw: bytes) -> CommitFacts:
    head, _, message = raw.partition(b"\n\n")
    tree, author, encoding = "", b"", None
    parents: list[str] = []
    committed_at = 0
    for line in head.split(b"\n"):
        name, _, value = line.partition(b" ")
        match name:
            case b"tree":
                tree = value.decode()
            case b"parent":
                parents.append(value.decode())
            case b"author":
                author = value
            case b"committer":
                committed_at = int(value.split()[-2]) if is_plain_identity(value) else 0
            case b"encoding":
                encoding = value
    return CommitFacts(sha, tree, tuple(parents), author, committed_at, encoding, message)
