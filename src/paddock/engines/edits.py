"""What a tool call is about to change in a file, read from its arguments whatever the CLI calls them."""

import difflib
from collections.abc import Iterator

from paddock.core.trace import ARGUMENT_LIMIT, DIFF_LIMIT, FileEdit, clip
from paddock.engines.jsonline import Node

DIFF_LINES = 14
CONTEXT_LINES = 1
_PATHS = ("file_path", "filePath", "path", "absolute_path", "notebook_path")
_OLD = ("old_string", "oldString", "old_str")
_NEW = ("new_string", "newString", "new_str")
_WHOLE = ("content", "file_text", "contents")
# What is compared of each side: an edit of a generated file may be megabytes.
TEXT_LIMIT = 40_000


def read_edits(call_id: str, arguments: Node) -> Iterator[FileEdit]:
    """One for every replacement in the call; none for a call that writes no file, or only tells which."""
    path = _first(arguments, _PATHS, ARGUMENT_LIMIT)
    if not path:
        return
    several = list(arguments.items("edits"))
    for part in several or [arguments]:
        old, new = _first(part, _OLD, TEXT_LIMIT), _first(part, _NEW, TEXT_LIMIT)
        if old or new:
            yield describe_edit(call_id, path, old, new)
    whole = "" if several else _first(arguments, _WHOLE, TEXT_LIMIT)
    if whole:
        yield describe_edit(call_id, path, "", whole)


def describe_edit(call_id: str, path: str, old: str, new: str) -> FileEdit:
    """`old` and `new` are the text before and after; of long ones only a part is compared."""
    old, new = clip(old, TEXT_LIMIT), clip(new, TEXT_LIMIT)
    lines = _differences(old, new)
    added, removed = (sum(line.startswith(sign) for line in lines) for sign in "+-")
    return FileEdit(call_id, path, _small(lines), added, removed)


def _differences(old: str, new: str) -> list[str]:
    """The lines taken out and put in, with `-` and `+`, and a few around them."""
    compared = difflib.unified_diff(old.splitlines(), new.splitlines(), n=CONTEXT_LINES, lineterm="")
    return [line for line in compared if not line.startswith(("---", "+++", "@@"))]


def _small(lines: list[str]) -> str:
    """The first of them, and how many more there are."""
    shown = lines if len(lines) <= DIFF_LINES else lines[: DIFF_LINES - 1]
    rest = [f"… {len(lines) - len(shown)} more lines"] if len(lines) > len(shown) else []
    return "\n".join((*shown, *rest))[:DIFF_LIMIT]


def _first(node: Node, names: tuple[str, ...], limit: int) -> str:
    return next((text for name in names if (text := node.text(name, limit=limit))), "")
