"""What a change changes, as JSON: git's patch in files, hunks and lines, bounded, and harmless wherever it is shown."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import msgspec

from paddock.core.errors import PaddockError
from paddock.core.ids import harmless
from paddock.git.patches import ChangedFile, list_changes, quote_path, stream_patch, unquote_path
from paddock.git.repo import Repo
from paddock.views.document import Document

LISTED_FILES = 5_000
SHOWN_FILES = 400
SHOWN_LINES = 20_000
SHOWN_CHARS = 4_000_000
FILE_LINES = 5_000
"""Of one file among others, so that none takes the room of all."""
LINE_CHARS = 2_000
HEADER_CHARS = 300
LINE_BYTES = LINE_CHARS * 4
_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_NO_END = "no newline at the end of the file"


class LineView(msgspec.Struct, frozen=True):
    """`k` is a space, `+`, `-`, or a backslash for a remark of git's, which has no numbers."""

    k: str
    old: int | None
    new: int | None
    t: str


class HunkView(msgspec.Struct, frozen=True):
    header: str
    lines: list[LineView]


class FileDiffView(msgspec.Struct, frozen=True):
    """`mode` says how that changed. `truncated`: not all of its lines are here."""

    path: str
    old_path: str | None
    status: str
    binary: bool
    mode: str
    insertions: int
    deletions: int
    truncated: bool
    hunks: list[HunkView]


class DiffView(Document, frozen=True, kw_only=True):
    """`insertions`, `deletions` and `count` are of all files, those that are not listed here included."""

    before: str
    after: str
    note: str
    files: list[FileDiffView]
    count: int
    insertions: int
    deletions: int
    truncated: bool


def view_difference(
    repo: Repo,
    before: str,
    after: str,
    note: str = "",
    path: str | None = None,
    only: Collection[str] | None = None,
) -> DiffView:
    """Between two commits or trees. With `path`, named as `quote_path` does, only that file, and more lines of it; with
    `only`, these files.

    Raises PaddockError if that file does not differ.
    """
    listed = list_changes(repo, before, after)
    if only is not None:
        listed = [one for one in listed if one.path in only or one.old_path in only]
    shown = listed if path is None else [_find(listed, unquote_path(path), path)]
    narrow = shown[:SHOWN_FILES] if only is not None or path is not None else ()
    patch = stream_patch(repo, before, after, narrow) if shown else ()
    files = read_patch(shown, patch, FILE_LINES if path is None else SHOWN_LINES)
    return DiffView(
        before=before,
        after=after,
        note=note,
        files=files,
        count=len(listed),
        insertions=sum(one.insertions or 0 for one in shown),
        deletions=sum(one.deletions or 0 for one in shown),
        truncated=len(shown) > len(files) or any(one.truncated for one in files),
    )


def _find(listed: Iterable[ChangedFile], path: str, said: str) -> ChangedFile:
    found = next((one for one in listed if one.path == path), None)
    if found is None:
        raise PaddockError(f"`{harmless(said)[:200]}` does not differ between the two", "reload the list of files")
    return found


def read_patch(listed: Sequence[ChangedFile], pieces: Iterable[bytes], file_lines: int) -> list[FileDiffView]:
    """`pieces` are of the patch of all that is `listed`, in that order; no more of them is taken than is shown."""
    bodies = [_Body(file_lines) for _ in listed[:SHOWN_FILES]]
    _fill(bodies, listed, pieces)
    bodies += [_Body(0) for _ in listed[SHOWN_FILES:LISTED_FILES]]
    return [_view_file(one, body) for one, body in zip(listed, bodies, strict=False)]


@dataclass(slots=True)
class _Body:
    """What was read of one file's patch. `room` is how many more lines of it are kept; `left` and `right` are what is
    still to come of the open hunk on either side."""

    room: int
    hunks: list[HunkView] = field(default_factory=list)
    lost: bool = False
    left: int = 0
    right: int = 0
    old: int = 0
    new: int = 0

    def open_hunk(self, found: re.Match[bytes], line: bytes) -> None:
        start, count, new_start, new_count = (int(part) if part is not None else 1 for part in found.groups())
        self.left, self.right, self.old, self.new = count, new_count, start, new_start
        if self.room > 0:
            self.hunks.append(HunkView(_text(line, HEADER_CHARS), []))

    def take(self, line: bytes) -> int:
        """A line of the open hunk; an empty one stands for an unchanged empty line. How much is kept of it."""
        sign = line[:1] if line[:1] in (b"+", b"-") else b" "
        old = self.old if sign != b"+" else None
        new = self.new if sign != b"-" else None
        self.left, self.old = self.left - (old is not None), self.old + (old is not None)
        self.right, self.new = self.right - (new is not None), self.new + (new is not None)
        return self.keep(LineView(sign.decode(), old, new, _content(line[1:], changed=sign != b" ")))

    def keep(self, line: LineView) -> int:
        if self.room <= 0:
            self.lost = True
            return 0
        self.hunks[-1].lines.append(line)
        self.room -= 1
        return len(line.t) + 1


def _fill(bodies: list[_Body], listed: Sequence[ChangedFile], pieces: Iterable[bytes]) -> None:
    """Only the numbers in a hunk's header tell where it ends: its lines may look like anything."""
    sections = [body for body, one in zip(bodies, listed, strict=False) for _ in range(2 if one.status == "T" else 1)]
    rest, body = iter(sections), _Body(0)
    lines, chars = SHOWN_LINES, SHOWN_CHARS
    for line in _lines(pieces):
        if line.startswith(b"\\") and body.hunks:
            body.keep(LineView("\\", None, None, _NO_END))
        elif body.left > 0 or body.right > 0:
            kept = body.take(line)
            lines, chars = lines - bool(kept), chars - kept
            if lines <= 0 or chars <= 0:
                body.lost = body.lost or body.left > 0 or body.right > 0
                return
        elif line.startswith(b"diff --git "):
            if (following := next(rest, None)) is None:
                return
            body = following
        elif found := _HUNK.match(line):
            body.open_hunk(found, line)


def _lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Without their ends, and without what goes beyond what is shown of one: a line may be longer than memory."""
    kept = bytearray()
    for piece in pieces:
        start = 0
        while (end := piece.find(b"\n", start)) >= 0:
            kept += piece[start : min(end, start + max(0, LINE_BYTES - len(kept)))]
            if end > start and piece[end - 1] == 13 and kept[-1:] != b"\r":
                kept += b"\r"
            yield bytes(kept)
            kept.clear()
            start = end + 1
        kept += piece[start : start + max(0, LINE_BYTES - len(kept))]
    if kept:
        yield bytes(kept)


def _content(data: bytes, *, changed: bool) -> str:
    """A carriage return before the end is shown where the line changed: it may be all that did."""
    ends = data.endswith(b"\r")
    text = _text(data[:-1] if ends else data, LINE_CHARS)
    return f"{text}␍" if ends and changed else text


def _text(data: bytes, most: int) -> str:
    text = data.decode("utf-8", "replace")
    return harmless(text) if len(text) <= most else f"{harmless(text[: most - 1])}…"


def _view_file(one: ChangedFile, body: _Body) -> FileDiffView:
    binary = one.insertions is None
    told = (one.insertions or 0) + (one.deletions or 0)
    shown = sum(line.k in "+-" for hunk in body.hunks for line in hunk.lines)
    missing = told > 0 and not shown if one.status == "T" else shown != told
    return FileDiffView(
        path=quote_path(one.path),
        old_path=None if one.old_path is None else quote_path(one.old_path),
        status=one.status,
        binary=binary,
        mode=_mode(one),
        insertions=one.insertions or 0,
        deletions=one.deletions or 0,
        truncated=not binary and (body.lost or missing),
        hunks=body.hunks,
    )


def _mode(one: ChangedFile) -> str:
    """Of a new file only if it is no plain one."""
    if one.old_mode == one.new_mode or one.status == "D":
        return ""
    if one.status == "A":
        return {"100755": "executable", "120000": "symbolic link", "160000": "submodule"}.get(one.new_mode, "")
    return f"{one.old_mode} → {one.new_mode}"
