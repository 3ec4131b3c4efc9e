"""From a key to a request: which rows it is for, what is asked first, and how the answer is told."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from paddock.core.ids import TaskId
from paddock.core.tasks.task import FINISHED
from paddock.tui.connection import Connection, find_connection
from paddock.tui.details import compare_versions
from paddock.tui.dialogs import AskText, AskYes, ShowLines
from paddock.tui.keys import LOOKS, is_offered, legal
from paddock.tui.requests import Answer, Request, StaleVersion, explain, perform
from paddock.tui.row import word_of
from paddock.tui.style import safe
from paddock.views.board.rows import TaskRow

if TYPE_CHECKING:
    from paddock.tui.app import PaddockTop

SHOWN_ROWS = 8
PATIENCE_SECONDS = 2.0
"""Without an answer a person is told that the request is still being made."""
_HARMLESS_RETRIES = ("failed", "blocked", "cancelled", "ready")
_HINTS = {
    "reject": "What should be different? Without a comment a new attempt starts.",
    "message": "It is delivered as its next turn.",
}


class RequestFlow:
    def __init__(self, app: "PaddockTop") -> None:
        self._app = app

    def ask(self, action: str, rows: Sequence[TaskRow]) -> None:
        """Asks what must be known first, then makes the request. A key that is not legal says why."""
        can, cannot = legal(action, rows)
        if not can:
            self._explain(action, rows)
            return
        if action in _HINTS:
            title = f"{action} {_named(can)}" if action == "reject" else f"message to {_named(can)}"
            self._app.open_dialog(
                AskText(title, _left_out(cannot) + _HINTS[action]), lambda text: self._send(action, can, text)
            )
        elif question := _question(action, can):
            lines = [f"{row.id}  {word_of(row)}  {row.title}" for row in can[:SHOWN_ROWS]]
            lines += [f"and {len(can) - SHOWN_ROWS} more"] if len(can) > SHOWN_ROWS else []
            lines += [_left_out(cannot)] if cannot else []
            self._app.open_dialog(AskYes(question, lines), lambda yes: self._send(action, can, "" if yes else None))
        else:
            self._send(action, can, "")

    def may_look(self, action: str, row: TaskRow, engines: Collection[str]) -> bool:
        """Whether to show it in the page of the row; a command to connect has a dialog of its own."""
        key = next(key for key in LOOKS if key.action == action)
        if not is_offered(key, [row], engines):
            self._say_why_not(action, row)
            return False
        if action == "connect":
            name = TaskId(row.id)
            self._app.work(lambda: find_connection(self._app.new_workspace(), name), self._show_connection)
        return action != "connect"

    def _say_why_not(self, action: str, row: TaskRow) -> None:
        if action == "diff":
            self._explain(action, [row])
        elif row.attempt is None:
            self._app.tell(f"{row.id} has had no agent yet: there is nothing to {action}", is_bad=True)
        else:
            why = "it is finished" if row.phase in FINISHED else f"{row.engine} has no interface for people"
            self._app.tell(f"{row.id} cannot be connected to: {why}", is_bad=True)

    def _show_connection(self, found: Connection) -> None:
        lines = [Text(safe(found.command)), Text(), *(Text(f"! {safe(note)}", "yellow") for note in found.notes)]

        def done(pressed: str | None) -> None:
            if pressed is not None:
                self._app.copy_to_clipboard(found.command)
                self._app.tell("copied, if your terminal allows it (OSC 52)")

        self._app.open_dialog(ShowLines("run this in another terminal:", lines, {"y": "copy"}), done)

    def take(self, answer: Answer) -> None:
        """Tells what became of it; versions that were outdated are shown, one after the other."""
        if words := answer.words:
            self._app.tell(words)
        outdated = {one.task for one in answer.outdated}
        for message, hint in answer.refused if not outdated else ():
            self._app.tell(message, hint, is_bad=True)
        self._show_outdated(answer, list(answer.outdated))

    def _send(self, action: str, rows: Sequence[TaskRow], text: str | None) -> None:
        if text is None:
            return
        if action == "message" and not text.strip():
            self._app.tell("nothing was sent: the message is empty")
            return
        heads = {TaskId(row.id): head for row in rows if (head := self._app.fleet.head_shown(row)) is not None}
        self.request(Request(action, tuple(TaskId(row.id) for row in rows), text, heads))

    def request(self, request: Request) -> None:
        self._app.fleet.leave_rows(request.tasks)
        patience = self._app.set_timer(PATIENCE_SECONDS, lambda: self._app.tell(_still_trying(request)))

        def take(answer: Answer) -> None:
            patience.stop()
            self.take(answer)

        self._app.work(lambda: perform(self._app.new_workspace(), request), take)

    def _explain(self, action: str, rows: Sequence[TaskRow]) -> None:
        names = [TaskId(row.id) for row in rows]
        self._app.work(lambda: explain(self._app.new_workspace(), action, names), self._tell_why)

    def _tell_why(self, reasons: list[str]) -> None:
        if reasons:
            more = f"; nor can {len(reasons) - 1} others of those selected" if len(reasons) > 1 else ""
            self._app.tell(f"{reasons[0]}{more}", is_bad=True)

    def _show_outdated(self, answer: Answer, left: list[StaleVersion]) -> None:
        if not left:
            return
        one, *rest = left
        action = answer.request.action

        def decide(pressed: str | None) -> None:
            if pressed is not None:
                self.request(Request(action, (TaskId(one.task),), answer.request.text, {TaskId(one.task): one.now}))
            self._show_outdated(answer, rest)

        def show(lines: list[Text]) -> None:
            versions = f"you saw {one.seen[:10]}, it is at {one.now[:10]} now"
            title = f"{one.task} was not {_PAST[action]}: {versions}. What is new:"
            self._app.open_dialog(ShowLines(title, lines, {action[0]: f"{action} {one.now[:10]}"}, wraps=False), decide)

        self._app.work(lambda: compare_versions(self._app.new_workspace(), TaskId(one.task), one.seen, one.now), show)


_PAST = {"approve": "approved", "reject": "rejected"}


def _question(action: str, rows: Sequence[TaskRow]) -> str:
    """Empty where nothing needs to be asked: one row, and nothing that is lost."""
    if len(rows) > 1:
        return f"{action} {len(rows)} tasks?"
    row = rows[0]
    if action == "stop":
        return f"stop {row.attempt or row.id}? Its commits stay."
    if action == "retry" and row.phase not in _HARMLESS_RETRIES:
        return f"retry {row.id} although it {'is running' if row.phase == 'running' else 'has a result'}?"
    return ""


def _still_trying(request: Request) -> str:
    more = len(request.tasks) - 1
    return f"{request.action} {request.tasks[0]}{f' and {more} more' if more else ''}: still waiting for the log or git"


def _named(rows: Sequence[TaskRow]) -> str:
    return f"{rows[0].id} {rows[0].title}" if len(rows) == 1 else f"{len(rows)} tasks"


def _left_out(rows: Sequence[TaskRow]) -> str:
    if not rows:
        return ""
    names = ", ".join(row.id for row in rows[:SHOWN_ROWS])
    return f"not possible for {len(rows)} of those selected: {names}. "
