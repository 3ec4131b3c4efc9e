"""What happens, in plain lines, for logs and pipes."""

import time

import click

from paddock.core import events as ev
from paddock.core.board import Board
from paddock.views.log.narration import describe


def narrate(record: ev.Record, board: Board) -> None:
    if line := tell(record, board):
        click.echo(line)


def tell(record: ev.Record, board: Board) -> str:
    """Time, subject and words of a record worth showing, or nothing. `board` has folded it already."""
    words = describe(record, board)
    at = time.strftime("%H:%M:%S", time.localtime(record.at))
    return f"{at}  {record.attempt or record.task or '':<7} {words}" if words else ""
