"""The pages of the selected row, with their tabs above them."""

from collections.abc import Callable, Sequence

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Container

from paddock.fleet.workspace import Workspace
from paddock.tui.details import TABS, Page
from paddock.tui.lines import LinesView
from paddock.tui.page_reader import PageReader, is_moving
from paddock.tui.seen_versions import SeenVersions
from paddock.tui.tabs import tab_line
from paddock.tui.text_lines import TextLines
from paddock.views.board.rows import TaskRow

FROM_THEIR_END = ("preview", "events")
Work = Callable[[Callable[[], Page], Callable[[Page], None]], None]
"""Runs the first in a thread, and the second with its result in the thread of the screen."""


class RowPages(Container):
    """`versions` are those whose patch was shown."""

    def __init__(self, workspace: Callable[[], Workspace], work: Work) -> None:
        super().__init__(id="side")
        self._reader = PageReader(workspace, lambda read: work(read, self._take))
        self._tabs, self._facts, self._lines = TextLines(id="tabs"), TextLines(id="facts"), LinesView(id="page")
        self._tab = 0
        self._row: TaskRow | None = None
        self._shown: tuple[str, str] | None = None
        self.versions = SeenVersions()

    def compose(self) -> ComposeResult:
        yield self._tabs
        yield self._facts
        yield self._lines

    def show_row(self, row: TaskRow | None, nothing: Sequence[Text] = ()) -> None:
        """`nothing` is said where there is no row."""
        if row is None or self._row is None or row.id != self._row.id:
            self._lines.follows = False
        self._row = row
        if row is None:
            self._shown = None
            self._facts.show(())
            self._lines.show(nothing, wraps=True, is_new=True)
        self._reader.want(row, TABS[self._tab])

    def show_where(self, where: str) -> None:
        self._tabs.show([tab_line(TABS, self._tab, where, self._tabs.size.width or self.app.size.width)])

    def look_again(self, *, anyway: bool = False) -> None:
        """At what may have moved without a word in the log."""
        if self._row is not None and (anyway or is_moving(self._row, TABS[self._tab])):
            self._reader.want(self._row, TABS[self._tab], again=True)

    def choose(self, tab: int | str, *, follows: bool = False) -> None:
        self._tab = tab % len(TABS) if isinstance(tab, int) else TABS.index(tab)
        self._lines.follows = follows
        self._reader.want(self._row, TABS[self._tab])

    def turn(self, by: int) -> None:
        self.choose(self._tab + by)

    def scroll_lines(self, by: int) -> None:
        self._lines.follows = False
        self._lines.scroll_relative(y=by, animate=False)

    def scroll_page(self, by: int) -> None:
        self.scroll_lines(by * max(1, self._lines.size.height - 1))

    def go(self, place: int) -> None:
        """To the first line, or to the last where it is negative."""
        self._lines.scroll_to(y=0 if place >= 0 else self._lines.max_scroll_y, animate=False)

    def _take(self, page: Page) -> None:
        if not self._reader.take(page):
            return
        if page.head is not None:
            self.versions.show(page.task, page.head)
        place, before = (page.task, page.tab), self._shown
        self._shown = place
        self._facts.show(page.facts)
        self._lines.show(page.lines, wraps=page.wraps, is_new=place != before, at_end=page.tab in FROM_THEIR_END)


def nothing_lines(words: str) -> list[Text]:
    """What is said where no row is shown; `words` are those of the filter."""
    if words:
        return [Text("no row has all of these words; esc shows all again", "dim")]
    return [Text("no tasks yet"), Text(), Text('add one: paddock add "what to do"')]
