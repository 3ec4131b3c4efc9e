"""Comments on lines that wait to be sent."""

from collections.abc import Sequence

import msgspec

from paddock.core.ids import harmless
from paddock.core.intent.drafted_comments import DraftedComment
from paddock.views.document import iso


class CommentView(msgspec.Struct, frozen=True):
    """`number` is what `--drop` takes. `outdated`: the task has another version by now than `head`, the one that this
    is about."""

    number: int
    path: str
    line: int
    side: str
    text: str
    quote: str
    head: str
    outdated: bool
    by: str
    at: str


def view_comments(drafted: Sequence[DraftedComment], head: str | None) -> list[CommentView]:
    """`head` is the task's newest version."""
    return [
        CommentView(
            number=number,
            path=one.comment.path,
            line=one.comment.line,
            side=one.comment.side,
            text=harmless(one.comment.text),
            quote=harmless(one.comment.quote),
            head=one.comment.head,
            outdated=one.comment.head != head,
            by=one.by,
            at=iso(one.at),
        )
        for number, one in enumerate(drafted, 1)
    ]
