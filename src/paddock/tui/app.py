"""`paddock top`: the fleet on one screen, by who needs a person, with the keys that act on it."""

import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.message import Message
from textual.widgets import Input
from textual.worker import get_current_worker

from paddock.core.tasks.task import Phase
from paddock.fleet.workspace import Workspace
from paddock.tui.bindings import BINDINGS
from paddock.tui.dialogs import ShowLines, help_lines
from paddock.tui.feed import Seen, follow
from paddock.tui.header import header_lines, trouble_lines
from paddock.tui.keys import key_bar
from paddock.tui.order import Ranking, matches
from paddock.tui.request_flow import RequestFlow
from paddock.tui.row_pages import RowPages, nothing_lines
from paddock.tui.style import safe
from paddock.tui.tabs import place_words
from paddock.tui.task_list import TaskList
from paddock.tui.text_lines import TextLines
from paddock.tui.working_app import WorkingApp
from paddock.views.board.page import BoardView
from paddock.views.board.rows import TaskRow

WIDE_COLUMNS = 140
SMALL_LINES = 16
TICK_SECONDS = 1.0


class PaddockTop(WorkingApp):
    CSS_PATH = "paddock.tcss"
    AUTO_FOCUS = None
    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS: list[tuple[int, str]] | None = [(0, "is-narrow"), (WIDE_COLUMNS, "is-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS: list[tuple[int, str]] | None = [(0, "is-small"), (SMALL_LINES, "is-tall")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = BINDINGS

    class FeedMoved(Message):
        """There is something new in the mailbox."""

    def __init__(self, workspace: Workspace, clock: Callable[[], float] = time.time) -> None:
        super().__init__(ansi_color=True)
        self.theme = "ansi-dark"
        self._workspace, self._clock = workspace, clock
        self._mailbox: deque[Seen] = deque(maxlen=1)
        self._seen = Seen()
        self._view: BoardView | None = None
        self._engines: frozenset[str] = frozenset()
        self._ranking = Ranking()
        self._filter = ""
        self._leaving: dict[str, int | None] = {}
        self._requests = RequestFlow(self)

    def compose(self) -> ComposeResult:
        yield TextLines(id="top")
        with Container(id="body"):
            yield TaskList(self._clock)
            yield RowPages(self.new_workspace, self.work)
        yield Input(placeholder="words that a row must have; esc shows all again", id="words", compact=True)
        yield TextLines(id="keys")

    def on_mount(self) -> None:
        # Kept, because what a thread or a timer brings may come after the screen is gone.
        self._list, self._side = self.query_one(TaskList), self.query_one(RowPages)
        self._top, self._keys = self.query_one("#top", TextLines), self.query_one("#keys", TextLines)
        self._words = self.query_one("#words", Input)
        self.run_worker(self._feed, thread=True, group="feed")
        self.set_interval(TICK_SECONDS, self._tick)

    # -- threads ----------------------------------------------------------------------------------------------

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
        if not self._mailbox:
            return
        before, self._seen = self._seen, self._mailbox.popleft()
        if (view := self._seen.view) is not None:
            self._view, self._engines = view, self._seen.engines
            self._ranking.take(view.tasks)
            self._fill()
            if before.trouble:
                self._side.look_again(anyway=True)
        self._show_top()

    # -- what is shown ----------------------------------------------------------------------------------------

    @property
    def row(self) -> TaskRow | None:
        return self._view.tasks.get(self._list.current or "") if self._view is not None else None

    @property
    def rows(self) -> list[TaskRow]:
        """Those that keys apply to: the selected ones, else the one with the cursor."""
        chosen = [name for name in self._list.order if name in self._list.chosen]
        if chosen and self._view is not None:
            return [self._view.tasks[name] for name in chosen if name in self._view.tasks]
        return [row] if (row := self.row) is not None else []

    def head_shown(self, row: TaskRow) -> str | None:
        """The version that the person has seen: of the patch that was read, else what the row tells of. None where
        no version waits for a decision."""
        return self._side.versions.of(row.id) or row.head if row.phase == Phase.APPROVAL else None

    def leave_rows(self, tasks: Sequence[str]) -> None:
        """A request is made for them: when they move, the cursor stays for whichever comes next."""
        self._leaving |= {name: self._ranking.group_of(name) for name in tasks}
        self._list.chosen.clear()
        self._list.redraw()

    def _fill(self) -> None:
        view = self._view
        if view is None:
            return
        words, order = self._filter.lower().split(), self._ranking.order
        if words:
            order = [name for name in order if matches(view.tasks[name], words)]
        moved = {name for name, group in self._leaving.items() if self._ranking.group_of(name) != group}
        self._list.show(view.tasks, order, stay=self._list.current in moved)
        self._leaving = {name: group for name, group in self._leaving.items() if name not in moved}
        self._side.show_row(self.row, nothing_lines(self._filter) if self._view is not None else ())
        self._show_bars()

    def _show_top(self) -> None:
        width, height = self.size
        most = 4 if height >= 20 else 2 if height >= SMALL_LINES else 1
        lines = [Text("reading the log", "dim")]
        if self._view is not None:
            lines = header_lines(self._view, self._seen.quotas, width, most, self._clock())
        if self._seen.trouble:
            lines = [*trouble_lines(self._seen.trouble, self._seen.hint), *lines]
        self._top.show(lines[:most])

    def _show_bars(self) -> None:
        width = self.size.width
        self._keys.show([key_bar(self.rows, len(self._list.chosen), self._engines, width)])
        self._side.show_where(self._where())

    def _where(self) -> str:
        if self._is_open and (row := self.row) is not None:
            return f"{row.id} {safe(row.title, 40)}"
        older = self._view.older if self._view is not None else 0
        return place_words(self._list.place, len(self._list.order), self._list.hidden_below, older, self._filter)

    def _tick(self) -> None:
        """Ages, and what moves without a word in the log."""
        if self._seen.trouble:
            return
        self._list.redraw()
        self._show_top()
        self._side.look_again()

    @on(TextLines.Resized)
    def _resized(self) -> None:
        self._show_top()
        self._show_bars()

    # -- moving -----------------------------------------------------------------------------------------------

    @on(TaskList.Moved)
    def _row_changed(self) -> None:
        self._side.show_row(self.row, nothing_lines(self._filter) if self._view is not None else ())
        self._show_bars()

    def action_move(self, by: int) -> None:
        if self._is_open:
            self._side.scroll_lines(by)
        else:
            self._list.move(by)

    def action_page(self, by: int) -> None:
        if self._is_open:
            self._side.scroll_page(by)
        else:
            self._list.move(by * max(1, self._list.size.height - 1))

    def action_go(self, place: int) -> None:
        if self._is_open:
            self._side.go(place)
        else:
            self._list.move_to(place if place >= 0 else len(self._list.order) - 1)

    def action_scroll(self, by: int) -> None:
        self._side.scroll_lines(by)

    @property
    def _is_open(self) -> bool:
        return self.screen.has_class("is-open")

    def action_open(self) -> None:
        if self.row is not None:
            self._set_open(is_open=True)

    @on(TaskList.Opened)
    def _clicked_twice(self) -> None:
        self.action_open()

    def _set_open(self, *, is_open: bool) -> None:
        self.screen.set_class(is_open, "is-open")
        self.call_after_refresh(self._show_bars)

    def action_leave(self) -> None:
        """One step at a time: from the open row, the selection, the filter."""
        if self._is_open:
            self._set_open(is_open=False)
        elif self._list.chosen:
            self._list.chosen.clear()
            self._list.redraw()
        elif self._filter:
            self._filter = ""
            self._fill()
        self._show_bars()

    def action_tab(self, number: int) -> None:
        self._side.choose(number)
        self._show_bars()

    def action_turn(self, by: int) -> None:
        self._side.turn(by)
        self._show_bars()

    # -- asking -----------------------------------------------------------------------------------------------

    def action_ask(self, action: str) -> None:
        if rows := self.rows:
            self._requests.ask(action, rows)

    def action_look(self, action: str) -> None:
        if (row := self.row) is not None and self._requests.may_look(action, row, self._engines):
            self._side.choose("diff" if action == "diff" else "preview", follows=action == "follow")
            self._set_open(is_open=True)
            self._side.go(-1 if action == "follow" else 0)

    def action_choose(self) -> None:
        if (current := self._list.current) is not None:
            self._list.choose([current])
            self._list.move(1)
            self._show_bars()

    def action_choose_all(self) -> None:
        self._list.choose(self._list.order)
        self._show_bars()

    def action_help(self) -> None:
        self.push_screen(ShowLines("paddock top", help_lines(), {}))

    # -- the filter -------------------------------------------------------------------------------------------

    def action_filter(self) -> None:
        self._set_open(is_open=False)
        self._words.value = self._filter
        self._words.add_class("is-open")
        self.set_focus(self._words)

    @on(Input.Changed, "#words")
    def _filter_typed(self, event: Input.Changed) -> None:
        self._filter = event.value
        self._fill()

    @on(Input.Submitted, "#words")
    def _filter_done(self) -> None:
        self._words.remove_class("is-open")
        self.set_focus(None)

    def on_key(self, event: events.Key) -> None:
        if event.key == "escape" and self.focused is not None and self.focused.id == "words":
            event.stop()
            event.prevent_default()
            self._filter = ""
            self._filter_done()
            self._fill()
