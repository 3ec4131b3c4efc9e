"""The difference of two commits or trees: which files, how many lines, and git's patch of them as it comes."""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from paddock.core.errors import Misuse
from paddock.core.ids import printable
from paddock.git.repo import Repo, is_partial_clone
from paddock.git.stream import stream_git

TIMEOUT_SECONDS = 60.0
# Said in full, because what a repository configures would change it.
_WAY = ("--no-color", "-M", "-l1000", "--ignore-submodules=none", "--submodule=short", "--no-relative", "-O/dev/null")
_PATCH = ("-p", "-U3", "--inter-hunk-context=0", "--no-function-context", "--ws-error-highlight=none")
_HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_LONGEST_HEADER = 1 << 16
_ESCAPED = re.compile(rb"\\(?:([0-7]{3})|(.))", re.DOTALL)
_SHORT = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r"}
_LONG = {value: key.decode() for key, value in _SHORT.items()} | {b'"': '"', b"\\": "\\"}


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """`status` is git's letter: A M D R T. Lines are None of what is not text. Paths are as the file system has them:
    bytes that are not UTF-8 are surrogates."""

    status: str
    path: str
    old_path: str | None
    old_mode: str
    new_mode: str
    insertions: int | None
    deletions: int | None


def list_changes(repo: Repo, before: str, after: str) -> list[ChangedFile]:
    """In the order of the patch."""
    told = repo.git("diff", *_WAY, "-z", "--raw", "--numstat", before, after, timeout=TIMEOUT_SECONDS).records
    rows: list[tuple[str, str, str, str, str | None]] = []
    at = 0
    while at < len(told) and told[at].startswith(":"):
        old_mode, new_mode, _, _, status = told[at].lstrip(":").split(" ")
        moved = status[0] in "RC"
        old_path, path = (told[at + 1], told[at + 2]) if moved else (None, told[at + 1])
        rows.append((status[0], old_mode, new_mode, path, old_path))
        at += 3 if moved else 2
    counts = _counts(told[at:])
    return [
        ChangedFile(status, path, old_path, old_mode, new_mode, *counts.get(path, (0, 0)))
        for status, old_mode, new_mode, path, old_path in rows
    ]


def _counts(told: Sequence[str]) -> dict[str, tuple[int | None, int | None]]:
    """By path. A file that moved has an empty name, and its two paths follow."""
    found: dict[str, tuple[int | None, int | None]] = {}
    fields = iter(told)
    for field in fields:
        if not field:
            continue
        plus, minus, path = field.split("\t", 2)
        if not path:
            next(fields)
            path = next(fields)
        found[path] = (None if plus == "-" else int(plus), None if minus == "-" else int(minus))
    return found


def stream_patch(repo: Repo, before: str, after: str, only: Sequence[ChangedFile] = ()) -> Iterator[bytes]:
    """git's patch in pieces, of all files or of these."""
    paths = [path for one in only for path in (one.old_path, one.path) if path is not None]
    words = ("diff", *_WAY, *_PATCH, before, after, "--", *paths)
    place = (f"--git-dir={repo.common_dir}", "--literal-pathspecs")
    lazy = is_partial_clone(repo.common_dir)
    return stream_git(repo.common_dir, *place, *words, timeout=TIMEOUT_SECONDS, lazy=lazy)


def changed_lines(repo: Repo, before: str, after: str) -> dict[str, list[range]]:
    """By path, the lines of `after` that differ from `before`, with those next to them; none where git compares no
    lines. Paths as in `ChangedFile`."""
    found: dict[str, list[range]] = {}
    path, old, new = "", 0, 0
    for line in _lines(stream_patch(repo, before, after)):
        if old > 0 or new > 0:
            old -= line[:1] in (b" ", b"-", b"")
            new -= line[:1] in (b" ", b"+", b"")
        elif line.startswith(b"+++ "):
            path = _name_in_patch(line[4:])
        elif (hunk := _HUNK.match(line)) is not None:
            old, new = (int(count) if count is not None else 1 for count in (hunk[1], hunk[3]))
            found.setdefault(path, []).append(range(int(hunk[2]), int(hunk[2]) + new))
    return found


def _lines(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Each cut to what a header may need: the rest of a line of any length is dropped."""
    rest = b""
    for piece in pieces:
        *whole, rest = (rest + piece).split(b"\n")
        yield from whole
        rest = rest[:_LONGEST_HEADER]
    if rest:
        yield rest


def _name_in_patch(name: bytes) -> str:
    text = os.fsdecode(name.removesuffix(b"\t"))
    return unquote_path(text).removeprefix("b/") if text.startswith('"') else text.removeprefix("b/")


def quote_path(path: str) -> str:
    """A file's name as text that does nothing: what cannot be printed becomes escapes between quotation marks, as git
    writes them, so that no two names look the same."""
    if path.isprintable() and not path.startswith('"'):
        return path
    return '"' + "".join(map(_quoted, path)) + '"'


def _quoted(character: str) -> str:
    if character.isprintable() and character not in '"\\':
        return character
    data = os.fsencode(character)
    return f"\\{_LONG[data]}" if data in _LONG else "".join(f"\\{byte:03o}" for byte in data)


def unquote_path(text: str) -> str:
    """The name that `quote_path` wrote. Raises Misuse if it wrote no such thing."""
    if not text.startswith('"'):
        return text
    try:
        inner = text[1:-1].encode()
        path = os.fsdecode(_ESCAPED.sub(_unescaped, inner))
    except (ValueError, UnicodeEncodeError):
        path = ""
    if quote_path(path) != text:
        raise Misuse(f"`{printable(text, 80)}` is no file's name", "take it from the list of changed files")
    return path


def _unescaped(found: re.Match[bytes]) -> bytes:
    if found[1]:
        return bytes((int(found[1], 8),))
    return _SHORT.get(found[2], found[2])
