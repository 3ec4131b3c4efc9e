"""`paddock top`: the fleet on one screen, by who needs a person, with the keys that act on it."""

import time
from collections import deque
from collections.abc import Callable
from typing import ClassVar

from textual import on
from textual.binding import BindingType
from textual.message import Message
from textual.worker import get_current_worker

from paddock.fleet.workspace import Workspace
from paddock.tui.alerts import acknowledge, alert_lines, chosen_alerts, offered_keys
from paddock.tui.bindings import REQUESTS
from paddock.tui.dialogs import ShowLines, help_lines
from paddock.tui.feed import Seen, follow
from paddock.tui.fleet_screen import FleetScreen
from paddock.tui.request_flow import RequestFlow
from paddock.tui.working_app import WorkingApp


class PaddockTop(WorkingApp):
    """Follows the log in a thread, and makes requests in others."""

    CSS_PATH = "paddock.tcss"
    AUTO_FOCUS = None
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = REQUESTS

    class FeedMoved(Message):
        """There is something new in the mailbox."""

    def __init__(self, workspace: Workspace, clock: Callable[[], float] = time.time) -> None:
        super().__init__(ansi_color=True)
        self.theme = "ansi-dark"
        self._workspace = workspace
        self._clock = clock
        self._mailbox: deque[Seen] = deque(maxlen=1)
        self.fleet = FleetScreen(self.new_workspace, self.work, clock)
        self.requests = RequestFlow(self)

    def get_default_screen(self) -> FleetScreen:
        return self.fleet

    def on_mount(self) -> None:
        self.run_worker(self._feed, thread=True, group="feed")

    def new_workspace(self) -> Workspace:
        """For one thread: what it opens is its own, and the configuration is read again."""
        return Workspace(self._workspace.repo, self._workspace.settings)

    def _feed(self) -> None:
        worker = get_current_worker()
        follow(self.new_workspace(), self._post, lambda: worker.is_cancelled)

    def _post(self, seen: Seen) -> None:
        """In the thread of the feed: the screen takes the newest when it has time, and skips the others."""
        self._mailbox.append(seen)
        self.post_message(self.FeedMoved())

    @on(FeedMoved)
    def _take_seen(self) -> None:
        if self._mailbox:
            self.fleet.take(self._mailbox.popleft())

    def action_ask(self, action: str) -> None:
        if rows := self.fleet.rows:
            self.requests.ask(action, rows)

    def action_look(self, action: str) -> None:
        row = self.fleet.row
        if row is not None and self.requests.may_look(action, row, self.fleet.seen.engines):
            self.fleet.open_page("diff" if action == "diff" else "preview", follows=action == "follow")

    def action_alerts(self) -> None:
        view = self.fleet.seen.view
        alerts = view.alerts if view is not None else []

        def take(pressed: str | None) -> None:
            if pressed is not None:
                names = chosen_alerts(alerts, pressed)
                self.work(lambda: acknowledge(self.new_workspace(), names), self.tell)

        lines = alert_lines(alerts, self._clock())
        self.open_dialog(ShowLines("alerts", lines, offered_keys(alerts)), take)

    def action_help(self) -> None:
        self.push_screen(ShowLines("paddock top", help_lines(), {}))
