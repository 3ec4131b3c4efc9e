"""How much a running turn has changed, as its edits tell: an estimate, because nobody has asked git yet.

An edit counts once its call has ended well. Bounded: a few open edits, and a number for each of the first files.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from zlib import crc32

from paddock.core.trace import End, FileEdit, ToolResult, ToolStatus, TraceEntry

KEPT_OPEN_EDITS = 64
KEPT_FILES = 512


@dataclass(frozen=True, slots=True)
class EditTally:
    """`open` are edits whose call has not ended, by its id; `files` tells apart the first `KEPT_FILES`."""

    insertions: int = 0
    deletions: int = 0
    files: frozenset[int] = frozenset()
    open: Mapping[str, tuple[FileEdit, ...]] = field(default_factory=dict)

    def plus(self, other: "EditTally") -> "EditTally":
        """Both, without what is still open."""
        files = self.files | other.files if len(self.files) < KEPT_FILES else self.files
        return EditTally(self.insertions + other.insertions, self.deletions + other.deletions, files)


def count_edits(tally: EditTally, entry: TraceEntry) -> EditTally:
    """Take one more entry of the turn into account."""
    match entry:
        case FileEdit():
            return _open(tally, entry)
        case ToolResult(call_id=call) if call in tally.open:
            left = {name: edits for name, edits in tally.open.items() if name != call}
            made = tally.open[call] if entry.status is ToolStatus.OK else ()
            return replace(_count(tally, made), open=left)
        case End() if tally.open:
            # Calls that were never seen to end: most have done what they were asked for.
            for edits in tally.open.values():
                tally = _count(tally, edits)
            return replace(tally, open={})
        case _:
            return tally


def _open(tally: EditTally, edit: FileEdit) -> EditTally:
    opened = {**tally.open, edit.call_id: (*tally.open.get(edit.call_id, ()), edit)[:KEPT_OPEN_EDITS]}
    while len(opened) > KEPT_OPEN_EDITS:
        oldest = next(iter(opened))
        tally = _count(tally, opened.pop(oldest))
    return replace(tally, open=opened)


def _count(tally: EditTally, edits: tuple[FileEdit, ...]) -> EditTally:
    for edit in edits:
        path = crc32(edit.path.encode("utf-8", "replace"))
        files = tally.files | {path} if len(tally.files) < KEPT_FILES else tally.files
        tally = EditTally(tally.insertions + edit.insertions, tally.deletions + edit.deletions, files, tally.open)
    return tally
