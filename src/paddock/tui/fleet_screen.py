"""The screen of `paddock top`: the fleet in a few lines, its tasks in rows, and the pages of the selected row."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.screen import Screen
from textual.widgets import Input

from paddock.core.tasks.task import Phase
from paddock.fleet.workspace import Workspace
from paddock.tui.bindings import MOVES
from paddock.tui.feed import Seen
from paddock.tui.filter_field import FilterField, mistake_line
from paddock.tui.header import header_lines, trouble_lines
from paddock.tui.keys import key_bar
from paddock.tui.row_pages import RowPages, Work, nothing_lines
from paddock.tui.shown_rows import ShownRows
from paddock.tui.style import safe
from paddock.tui.tabs import place_words
from paddock.tui.task_list import TaskList
from paddock.tui.text_lines import TextLines
from paddock.views.board.rows import TaskRow

WIDE_COLUMNS = 140
SMALL_LINES = 16
TICK_SECONDS = 1.0


class FleetScreen(Screen[None], inherit_bindings=False):
    HORIZONTAL_BREAKPOINTS: list[tuple[int, str]] | None = [(0, "is-narrow"), (WIDE_COLUMNS, "is-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS: list[tuple[int, str]] | None = [(0, "is-small"), (SMALL_LINES, "is-tall")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = MOVES

    def __init__(self, workspace: Callable[[], Workspace], work: Work, clock: Callable[[], float]) -> None:
        super().__init__()
        self._clock = clock
        self._rows = ShownRows(clock)
        self.seen = Seen()
        self._top, self._keys = TextLines(id="top"), TextLines(id="keys")
        self._list, self.pages = TaskList(clock), RowPages(workspace, work)
        self._filter, self._mistake = FilterField(), TextLines(id="mistake")

    def compose(self) -> ComposeResult:
        yield self._top
        yield Container(self._list, self.pages, id="body")
        yield self._filter
        yield self._mistake
        yield self._keys

    def on_mount(self) -> None:
        self.set_interval(TICK_SECONDS, self._tick)

    # -- what is shown ----------------------------------------------------------------------------------------

    def take(self, seen: Seen) -> None:
        """While the log cannot be read, what was seen last stays."""
        before, self.seen = self.seen, seen.after(self.seen)
        if seen.view is not None:
            self._rows.take(seen.view.tasks)
            self._fill()
            if before.trouble:
                self.pages.look_again(anyway=True)
        self._show_top()

    @property
    def row(self) -> TaskRow | None:
        return self._rows.tasks.get(self._list.current or "")

    @property
    def rows(self) -> list[TaskRow]:
        """Those that keys apply to: the selected ones, else the one with the cursor."""
        chosen = [name for name in self._list.order if name in self._list.chosen and name in self._rows.tasks]
        return [self._rows.tasks[name] for name in chosen] or ([row] if (row := self.row) is not None else [])

    def head_shown(self, row: TaskRow) -> str | None:
        """The version that the person has seen: of the patch that was read, else what the row tells of. None where
        no version waits for a decision."""
        return self.pages.versions.of(row.id) or row.head if row.phase == Phase.APPROVAL else None

    def leave_rows(self, tasks: Sequence[str]) -> None:
        """A request is made for them."""
        self._rows.leave(tasks)
        self._list.chosen.clear()
        self._list.redraw()

    def _fill(self) -> None:
        self._list.show(self._rows.tasks, self._rows.order, stay=self._rows.has_left(self._list.current))
        self._show_row()

    @on(TaskList.Moved)
    def _show_row(self) -> None:
        self.pages.show_row(self.row, nothing_lines(self._rows.words) if self.seen.view is not None else ())
        self._show_bars()

    def _show_top(self) -> None:
        width, height = self.app.size
        most = 4 if height >= 20 else 2 if height >= SMALL_LINES else 1
        lines = [Text("reading the log", "dim")]
        if (view := self.seen.view) is not None:
            lines = header_lines(view, self.seen.quotas, width, most, self._clock())
        if self.seen.trouble:
            lines = [*trouble_lines(self.seen.trouble, self.seen.hint), *lines]
        self._top.show(lines[:most])

    def _show_bars(self) -> None:
        width = self.app.size.width
        has_alerts = self.seen.view is not None and bool(self.seen.view.alerts)
        bar = key_bar(self.rows, len(self._list.chosen), self.seen.engines, width, has_alerts=has_alerts)
        self._keys.show([bar])
        self.pages.show_where(self._where())

    def _where(self) -> str:
        if self._is_open and (row := self.row) is not None:
            return f"{row.id} {safe(row.title, 40)}"
        older = self.seen.view.older if self.seen.view is not None else 0
        return place_words(self._list.place, len(self._list.order), self._list.hidden_below, older, self._rows.words)

    def _tick(self) -> None:
        """Ages, and what moves without a word in the log."""
        if self.seen.trouble:
            return
        self._list.redraw()
        self._show_top()
        self.pages.look_again()

    @on(TextLines.Resized)
    def _resized(self) -> None:
        self._show_top()
        self._show_bars()

    # -- moving -----------------------------------------------------------------------------------------------

    def action_move(self, by: int) -> None:
        if self._is_open:
            self.pages.scroll_lines(by)
        else:
            self._list.move(by)

    def action_page(self, by: int) -> None:
        if self._is_open:
            self.pages.scroll_page(by)
        else:
            self._list.move(by * max(1, self._list.size.height - 1))

    def action_go(self, place: int) -> None:
        if self._is_open:
            self.pages.go(place)
        else:
            self._list.move_to(place if place >= 0 else len(self._list.order) - 1)

    def action_scroll(self, by: int) -> None:
        self.pages.scroll_lines(by)

    @property
    def _is_open(self) -> bool:
        return self.has_class("is-open")

    @on(TaskList.Opened)
    def action_open(self) -> None:
        if self.row is not None:
            self._set_open(is_open=True)

    def open_page(self, tab: str, *, follows: bool) -> None:
        """Of the row with the cursor, on the whole screen."""
        self.pages.choose(tab, follows=follows)
        self._set_open(is_open=True)
        self.pages.go(-1 if follows else 0)

    def _set_open(self, *, is_open: bool) -> None:
        self.set_class(is_open, "is-open")
        self.call_after_refresh(self._show_bars)

    def action_leave(self) -> None:
        """One step at a time: from the open row, the selection, the filter."""
        if self._is_open:
            self._set_open(is_open=False)
        elif self._list.chosen:
            self._list.chosen.clear()
            self._list.redraw()
        elif self._rows.words:
            self._filter_rows("")
        self._show_bars()

    def action_tab(self, number: int) -> None:
        self.pages.choose(number)
        self._show_bars()

    def action_turn(self, by: int) -> None:
        self.pages.turn(by)
        self._show_bars()

    # -- selecting --------------------------------------------------------------------------------------------

    def action_choose(self) -> None:
        if (current := self._list.current) is not None:
            self._list.choose([current])
            self._list.move(1)
            self._show_bars()

    def action_choose_all(self) -> None:
        self._list.choose(self._list.order)
        self._show_bars()

    def action_filter(self) -> None:
        self._set_open(is_open=False)
        self._filter.open(self._rows.words)

    @on(Input.Changed, "#words")
    def _filter_typed(self, event: Input.Changed) -> None:
        self._filter_rows(event.value)

    def _filter_rows(self, words: str) -> None:
        self._rows.filter(words)
        mistake = self._rows.mistake
        self._mistake.show([mistake_line(words, mistake, self.app.size.width)] if mistake is not None else [])
        self._fill()
