"""What a record of an alert tells, in one line."""

from typing import assert_never

from paddock.core.alerts import events as al
from paddock.core.board import Board
from paddock.core.ids import printable

WORDS_CHARS = 140


def tell_of_alert(event: al.AlertEvent, board: Board, by: str) -> str:
    """`by` is whoever wrote it."""
    match event:
        case al.AlertRaised(id=name, severity=severity, title=title):
            return f"alert {name} ({severity}): {printable(title, WORDS_CHARS)}"
        case al.AlertGrown(id=name, title=title):
            return f"alert {name} goes on: {printable(title, WORDS_CHARS)}"
        case al.AlertEscalated(id=name, severity=severity, title=title):
            return f"alert {name} is a {severity} now: {printable(title, WORDS_CHARS)}"
        case al.AlertAcknowledged(id=name, note=note):
            return f"alert {name} acknowledged by {by}{_because(note)}"
        case al.AlertExpired(id=name, why=why):
            return f"alert {name} expired{_because(why)}"
        case al.AlertResolved(id=name, why=why):
            return f"alert {name} resolved{_titled(board, name)}{_because(why)}"
        case _:
            assert_never(event)


def _titled(board: Board, name: str) -> str:
    alert = board.alerts.find(name)
    return f" ({printable(alert.title, 80)})" if alert is not None else ""


def _because(why: str) -> str:
    return f": {printable(' '.join(why.split()), WORDS_CHARS)}" if why else ""
