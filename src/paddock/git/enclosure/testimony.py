"""What a git directory that somebody else can write says of its refs: bounded text, checked, and nothing more.

Git is not asked: the directory's configuration would be obeyed. A link, a pipe or a folder where a file should be, or a
file that is far too large, is a finding.
"""

import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

MOST_REFS = 5_000
MOST_REFLOG_ENTRIES = 2_000
_TOO_MANY = f"it has more than {MOST_REFS:,} refs"
_MOST_HEAD_BYTES = 4096
_MOST_PACKED_BYTES = 64 * 1024 * 1024
_MOST_REFLOG_BYTES = 4 * 1024 * 1024
_SHA = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_PACKED_LINE = re.compile(rb"([0-9a-f]{40}(?:[0-9a-f]{24})?) (refs/[^\0\n]+)")
_REFLOG_LINE = re.compile(rb"[0-9a-f]{40,64} ([0-9a-f]{40,64}) ")
_REFLOGS = ("logs/HEAD", "logs/refs/stash")
_UNSAFE = re.compile(r"(^|/)\.|\.\.|[\0-\x20~^:?*\[\\\x7f]|//|/$|\.lock(/|$)|^(?!refs/)")


class Untrustworthy(Exception):
    """Somebody made something of a git directory that git itself never makes; says what."""


@dataclass(frozen=True, slots=True)
class Testimony:
    """`head` is where HEAD is, None where nothing was committed yet; `branch` the ref it follows, "" when detached.

    `refs` are those that were not given; `visited` are commits HEAD and the stash have been at, newest first. `excess`
    says what was too much to be looked at, "" when everything was.
    """

    head: str | None
    branch: str = ""
    refs: Mapping[str, str] = field(default_factory=dict)
    visited: tuple[str, ...] = ()
    excess: str = ""

    @property
    def tips(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*filter(None, (self.head,)), *self.refs.values(), *self.visited)))


def hear(own: Path, given: str, known: Callable[[], Mapping[str, str]]) -> Testimony:
    """`given` is the digest of the packed refs that are not its own; where they are no longer that, `known` tells which
    of them somebody else has, too. Raises Untrustworthy."""
    head = _read(own / "HEAD", _MOST_HEAD_BYTES)
    if head is None:
        raise Untrustworthy("its HEAD is gone")
    packed = _read(own / "packed-refs", _MOST_PACKED_BYTES) or b""
    is_as_given = hashlib.sha256(packed).hexdigest() == given
    refs, excess = _loose_refs(own)
    if not is_as_given:
        theirs = known()
        refs = {**{name: sha for name, sha in _packed_refs(packed) if theirs.get(name) != sha}, **refs}
        excess = _TOO_MANY if len(refs) > MOST_REFS else excess
    branch, sha = _follow(own, head.strip(), packed, refs)
    visited = tuple(sha for name in _REFLOGS for sha in _reflog(own / name))
    return Testimony(sha, branch, refs, tuple(dict.fromkeys(visited)), excess)


def _follow(own: Path, head: bytes, packed: bytes, refs: Mapping[str, str]) -> tuple[str, str | None]:
    """The ref HEAD follows, "" for none, and the commit; None on a branch that has none yet."""
    if _SHA.fullmatch(head):
        return "", head.decode()
    branch = os.fsdecode(head.removeprefix(b"ref: "))
    if not head.startswith(b"ref: ") or _UNSAFE.search(branch):
        raise Untrustworthy("its HEAD names neither a commit nor a branch")
    sha = refs.get(branch)
    if sha is None and os.path.lexists(own / branch):
        raise Untrustworthy(f"its `{branch}` names no commit")
    return branch, sha or dict(_packed_refs(packed)).get(branch)


def _packed_refs(packed: bytes) -> Iterator[tuple[str, str]]:
    for line in packed.split(b"\n"):
        if (found := _PACKED_LINE.fullmatch(line)) is not None:
            yield os.fsdecode(found[2]), found[1].decode()


def _loose_refs(own: Path) -> tuple[dict[str, str], str]:
    found: dict[str, str] = {}
    folders, seen = [own / "refs"], 0
    if (own / "refs").is_symlink():
        raise Untrustworthy("its `refs` is a link")
    while folders:
        folder = folders.pop()
        try:
            entries = list(_some(folder))
        except OSError:
            continue
        for entry in entries:
            seen += 1
            if seen > MOST_REFS:
                return found, _TOO_MANY
            if entry.is_dir(follow_symlinks=False):
                folders.append(Path(entry.path))
            elif not entry.name.endswith(".lock") and entry.is_file(follow_symlinks=False):
                content = _read(Path(entry.path), _MOST_HEAD_BYTES)
                if content is not None and _SHA.fullmatch(content.strip()):
                    found[os.path.relpath(entry.path, own)] = content.strip().decode()
    return found, ""


def _some(folder: Path) -> Iterator["os.DirEntry[str]"]:
    with os.scandir(folder) as entries:
        for number, entry in enumerate(entries):
            if number > MOST_REFS:
                return
            yield entry


def _reflog(path: Path) -> list[str]:
    """Newest first. An agent, or a crash, may have written anything at all here."""
    try:
        content = _read(path, _MOST_REFLOG_BYTES, tail=True) or b""
    except Untrustworthy:
        return []
    lines = content.splitlines()[-MOST_REFLOG_ENTRIES:]
    matches = (_REFLOG_LINE.match(line) for line in reversed(lines))
    return [match[1].decode() for match in matches if match and match[1].strip(b"0")]


def _read(path: Path, most: int, *, tail: bool = False) -> bytes | None:
    """None where there is nothing. Never waits: what is opened may be a pipe."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Untrustworthy(f"its `{path.name}` cannot be read: {error.strerror}") from error
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        os.close(descriptor)
        raise Untrustworthy(f"its `{path.name}` is not a regular file")
    with open(descriptor, "rb") as file:
        if found.st_size > most and not tail:
            raise Untrustworthy(f"its `{path.name}` is {found.st_size} bytes large, {most} are expected at most")
        if tail:
            file.seek(max(0, found.st_size - most))
        return file.read(most)
