"""What people say about alerts: that they know. Workers may read them, and acknowledge none (`workers.EVENTS`)."""

from collections.abc import Sequence

from paddock.core.alerts.events import AlertAcknowledged
from paddock.core.alerts.model import Alert, AlertState, alert_number, by_urgency
from paddock.core.board import Board
from paddock.core.errors import Misuse, NotFound, PaddockError
from paddock.core.events import Draft
from paddock.core.ids import printable

NOTE_CHARS = 200


def open_alerts(board: Board) -> list[Alert]:
    """Those that wait for somebody, the gravest first."""
    return sorted((alert for alert in board.standing_alerts.values() if alert.is_open), key=by_urgency)


def acknowledge_alerts(board: Board, names: Sequence[str], note: str = "") -> list[Draft]:
    """One that is acknowledged already stays as it is. Raises PaddockError for what cannot be acknowledged."""
    if not names:
        raise Misuse("no alert was named", "`paddock alerts` lists them; `paddock alerts ack --all` takes all of them")
    if len(note) > NOTE_CHARS:
        raise Misuse(f"the note has {len(note)} characters; the limit is {NOTE_CHARS}", "say it in fewer words")
    alerts = [_named(board, name) for name in dict.fromkeys(map(_id, names))]
    if over := [alert for alert in alerts if alert.state in (AlertState.RESOLVED, AlertState.EXPIRED)]:
        one = over[0]
        hint = "`paddock alerts list --all` lists those that ended"
        raise PaddockError(f"alert `{one.id}` is {one.state.value} already: {one.why}", hint)
    return [Draft(AlertAcknowledged(alert.id, note)) for alert in alerts if alert.is_open]


def acknowledge_all(board: Board, note: str = "") -> list[Draft]:
    """Those that wait for somebody now: one that is resolved meanwhile keeps no other from it."""
    names = [alert.id for alert in open_alerts(board)]
    return acknowledge_alerts(board, names, note) if names else []


def _id(name: str) -> str:
    word = name.strip().lower()
    if not alert_number(word):
        raise Misuse(f"`{printable(name, 40)}` is not an alert", "alerts look like `a7`; `paddock alerts` lists them")
    return f"a{alert_number(word)}"


def _named(board: Board, name: str) -> Alert:
    found = board.alerts.find(name)
    if found is None:
        is_old = alert_number(name) <= board.alerts.newest
        raise NotFound(
            f"there is no alert `{name}`" + (" any more: it ended long ago" if is_old else ""),
            "`paddock alerts` lists them",
        )
    return found
