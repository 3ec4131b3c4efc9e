"""git's patch in parts: which file, and lines of a hunk with their signs. For any text, in linear time.

Only the numbers in a hunk's header tell where it ends, because its lines may look like anything.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

LINE_BYTES = 4_000
PART_LINES = 5_000
PATH_CHARS = 400
_HUNK = re.compile(rb"@@ -\d{1,9}(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@")
_HEADER = b"diff --git "
_ESCAPED = re.compile(rb"\\(?:([0-3][0-7]{2})|(.))")
_SHORT = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r"}

Line = tuple[str, str]
"""A sign, which is `+`, `-` or a space, and the text without its end."""


@dataclass(frozen=True, slots=True)
class PatchedFile:
    """`path` is its name after the change, before it if the file is `deleted`; `old_path` is None if it is new."""

    path: str
    old_path: str | None
    added: bool = False
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class PatchPart:
    """Lines of one hunk, at most `PART_LINES`. Each file comes once without lines, before its hunks."""

    file: PatchedFile
    lines: tuple[Line, ...] = ()


def read_parts(pieces: Iterable[bytes]) -> Iterator[PatchPart]:
    return _PatchReader().read(_lines(pieces))


class _PatchReader:
    def __init__(self) -> None:
        self._file: PatchedFile | None = None
        self._told = False
        self._kept: list[Line] = []
        self._left = 0
        self._right = 0

    def read(self, lines: Iterable[bytes]) -> Iterator[PatchPart]:
        for line in lines:
            if self._left > 0 or self._right > 0:
                if self._take(line):
                    if len(self._kept) >= PART_LINES:
                        yield from self._flush()
                    continue
                self._left = self._right = 0
            yield from self._flush()
            yield from self._head(line)
        yield from self._flush()
        yield from self._tell()

    def _take(self, line: bytes) -> bool:
        """Whether the line belongs to the open hunk; an empty one stands for an unchanged empty line."""
        sign = line[:1] or b" "
        if sign == b"\\":
            return True
        if sign not in (b"+", b"-", b" "):
            return False
        self._left -= sign != b"+"
        self._right -= sign != b"-"
        self._kept.append((sign.decode(), line[1:].decode("utf-8", "replace")))
        return True

    def _flush(self) -> Iterator[PatchPart]:
        if self._kept and self._file is not None:
            yield PatchPart(self._file, tuple(self._kept))
        self._kept = []

    def _tell(self) -> Iterator[PatchPart]:
        if self._file is not None and not self._told:
            self._told = True
            yield PatchPart(self._file)

    def _head(self, line: bytes) -> Iterator[PatchPart]:
        if line.startswith(_HEADER):
            yield from self._tell()
            name = _common_name(line[len(_HEADER) :])
            self._file, self._told = PatchedFile(name, name), False
        elif line.startswith((b"--- ", b"+++ ")):
            yield from self._name(line)
        elif (hunk := _HUNK.match(line)) is not None and self._file is not None:
            yield from self._tell()
            self._left, self._right = (int(count) if count is not None else 1 for count in hunk.groups())
        elif self._file is not None and not self._told:
            self._file = _with_header(self._file, line)

    def _name(self, line: bytes) -> Iterator[PatchPart]:
        """A patch without git's own headers names its files in these two lines only."""
        name, is_old = _side(line[4:]), line.startswith(b"-")
        if is_old and (self._file is None or self._told):
            yield from self._tell()
            self._file, self._told = PatchedFile(name or "", name), False
        elif self._file is None:
            return
        elif name is None:
            file = self._file
            self._file = (
                replace(file, old_path=None, added=True)
                if is_old
                else replace(file, path=file.old_path or file.path, deleted=True)
            )
        elif is_old:
            self._file = replace(self._file, old_path=name, path=self._file.path or name)
        else:
            self._file = replace(self._file, path=name, added=self._file.added or self._file.old_path is None)


def _with_header(file: PatchedFile, line: bytes) -> PatchedFile:
    word, _, rest = line.partition(b" ")
    match word:
        case b"new" if rest.startswith(b"file"):
            return replace(file, old_path=None, added=True)
        case b"deleted":
            return replace(file, deleted=True)
        case b"rename" if rest.startswith(b"from "):
            return replace(file, old_path=_name(rest[5:]))
        case b"rename" | b"copy" if rest.startswith(b"to "):
            return replace(file, path=_name(rest[3:]))
        case b"copy" if rest.startswith(b"from "):
            return replace(file, old_path=None, added=True)
        case _:
            return file


def _side(name: bytes) -> str | None:
    """None for no file at all."""
    plain = name.split(b"\t", 1)[0].rstrip()
    return None if plain == b"/dev/null" else _name(plain, prefixed=True)


def _name(name: bytes, *, prefixed: bool = False) -> str:
    """git writes a name with odd characters in it between quotation marks, with escapes."""
    if name.startswith(b'"'):
        name = _ESCAPED.sub(_unescaped, name.strip(b'"'))
    if prefixed and name[:2] in (b"a/", b"b/"):
        name = name[2:]
    return name.decode("utf-8", "replace")[:PATH_CHARS]


def _unescaped(found: re.Match[bytes]) -> bytes:
    return bytes((int(found[1], 8),)) if found[1] else _SHORT.get(found[2], found[2])


def _common_name(names: bytes) -> str:
    """Of `a/NAME b/NAME`; where the two differ, other headers tell them."""
    half = len(names) // 2
    first, second = names[:half], names[half + 1 :]
    if first.strip(b'"')[2:] != second.strip(b'"')[2:]:
        second = names.rsplit(b" ", 1)[-1]
    return _name(second, prefixed=True)


def _lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Without their ends, each cut to `LINE_BYTES`: a line may be longer than memory."""
    kept = bytearray()
    for piece in pieces:
        start = 0
        while (end := piece.find(b"\n", start)) >= 0:
            kept += piece[start : min(end, start + max(0, LINE_BYTES - len(kept)))]
            yield bytes(kept.removesuffix(b"\r"))
            kept.clear()
            start = end + 1
        kept += piece[start : start + max(0, LINE_BYTES - len(kept))]
    if kept:
        yield bytes(kept.removesuffix(b"\r"))
