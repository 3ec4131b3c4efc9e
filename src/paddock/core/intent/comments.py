"""Comments on lines of a change, told to its agent as one message, or as why the change is rejected."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from paddock.core import events as ev
from paddock.core.board import Board
from paddock.core.errors import Misuse
from paddock.core.ids import TaskId, harmless, printable
from paddock.core.intent.landing import reject_task
from paddock.core.intent.messages import send_message

MOST_COMMENTS = 200
PATH_CHARS = 1_000
QUOTE_CHARS = 300
TEXT_CHARS = 20_000
LAST_LINE = 10**9
_INDENT = "   "


class LineComment(msgspec.Struct, frozen=True):
    """`path` is as the list of changed files names it. `line` is of the file after the change, or with `side` old
    before it. `quote` is that line, as it was shown. `head` is the version it is about, where that is known."""

    path: str
    line: int
    text: str
    side: Literal["new", "old"] = "new"
    quote: str = ""
    head: str = ""


class CommentsRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`head` is the version that the comments are about. `message` is said before them."""

    comments: tuple[LineComment, ...]
    head: str | None = None
    then: Literal["message", "reject"] = "message"
    message: str = ""


def comment_on(board: Board, name: TaskId, request: CommentsRequest) -> list[ev.Draft]:
    """Raises PaddockError if the task cannot be told, or not be rejected."""
    text = word_comments(request)
    if request.then == "reject":
        return reject_task(board, name, text, request.head)
    return send_message(board, (name,), text)


def word_comments(request: CommentsRequest) -> str:
    """All of them in one text, by file and line. Each begins with its number at the margin; its words are indented, so
    that nothing in them can pass for another. Raises Misuse."""
    comments = request.comments
    if not comments:
        raise Misuse("there is no comment to send", "comment on a line first")
    if len(comments) > MOST_COMMENTS:
        raise Misuse(f"{len(comments)} comments are more than {MOST_COMMENTS}", "send them in parts")
    for comment in comments:
        check_comment(comment)
    ordered = sorted(comments, key=lambda one: (one.path, one.line, one.side))
    version = f" at {printable(request.head, 64)[:10]}" if request.head else ""
    count = "One comment" if len(comments) == 1 else f"{len(comments)} comments"
    first = [_worded(request.message)] if request.message.strip() else []
    told = [_tell(number, comment, request.head or "") for number, comment in enumerate(ordered, 1)]
    return "\n\n".join([*first, f"{count} on your change{version}:", *told])


def check_comment(comment: LineComment) -> None:
    """Raises Misuse."""
    if not comment.path or len(comment.path) > PATH_CHARS or not comment.path.isprintable():
        raise Misuse(f"`{printable(comment.path, 80)}` is no changed file", "take it from the list of changed files")
    if not 1 <= comment.line <= LAST_LINE:
        raise Misuse(f"`{comment.path}` has no line {comment.line}", "lines are counted from 1")
    if not comment.text.strip():
        raise Misuse(f"the comment on `{comment.path}:{comment.line}` is empty", "say what should change there")
    if len(comment.text) > TEXT_CHARS:
        raise Misuse(
            f"the comment on `{comment.path}:{comment.line}` has {len(comment.text):,} characters; "
            f"the limit is {TEXT_CHARS:,}",
            "say it in less",
        )


def _tell(number: int, comment: LineComment, head: str) -> str:
    where = " (before your change)" if comment.side == "old" else ""
    if comment.head and head and comment.head != head:
        where += f" (in your earlier version {printable(comment.head, 64)[:10]})"
    quote = _cut(" ".join(harmless(comment.quote).split("\n")).strip())
    lines = [f"{number}. `{comment.path}:{comment.line}`{where}", *([f"{_INDENT}> {quote}"] if quote else [])]
    return "\n".join([*lines, *_indented(_worded(comment.text))])


def _worded(text: str) -> str:
    return harmless(text.replace("\r\n", "\n")).strip()


def _indented(text: str) -> Sequence[str]:
    return [f"{_INDENT}{line}".rstrip() for line in text.split("\n")]


def _cut(text: str) -> str:
    return text if len(text) <= QUOTE_CHARS else f"{text[: QUOTE_CHARS - 1]}…"
