"""Which page of the selected row is read when: one at a time, in a thread, and again once something has changed."""

import time
from collections.abc import Callable

from paddock.core.ids import TaskId
from paddock.fleet.workspace import Workspace
from paddock.tui.details import Page, read_page
from paddock.views.board.rows import TaskRow

Place = tuple[str, str]
"""A task and a tab."""
PAUSE_SECONDS = 0.05
"""Before a page is read, so that the cursor is drawn first."""


class PageReader:
    """`start` runs a function in a thread and has its result given to `take`, in the thread of the screen."""

    def __init__(self, workspace: Callable[[], Workspace], start: Callable[[Callable[[], Page]], None]) -> None:
        self._workspace, self._start = workspace, start
        self._wanted: Place | None = None
        self._place: Place = ("", "")
        self._stamp: object = None
        self._is_reading = False
        self._is_due = False

    def want(self, row: TaskRow | None, tab: str, *, again: bool = False) -> None:
        """`again`: also if nothing that the row tells has changed."""
        if row is None:
            self._wanted, self._stamp, self._is_due = None, None, False
            return
        place, stamp = (row.id, tab), _stamp(row, tab)
        if place == self._wanted and stamp == self._stamp and not again:
            return
        self._wanted = self._place = place
        self._stamp, self._is_due = stamp, True
        self._read()

    def take(self, page: Page) -> bool:
        """Whether it is still the page that is wanted."""
        self._is_reading = False
        self._read()
        return (page.task, page.tab) == self._wanted

    def _read(self) -> None:
        if not self._is_reading and self._is_due:
            self._is_reading = True
            self._start(self._read_newest)

    def _read_newest(self) -> Page:
        """In the thread, when whoever moves on from row to row may have stopped: the page that is wanted by then."""
        time.sleep(PAUSE_SECONDS)
        self._is_due = False
        task, tab = self._place
        return read_page(self._workspace(), TaskId(task), tab)


def _stamp(row: TaskRow, tab: str) -> object:
    """What a page depends on: a patch is composed by git, and not again for each step of an agent."""
    if tab == "diff":
        return row.phase, row.head, row.attempt, row.insertions, row.deletions
    return row


def is_moving(row: TaskRow, tab: str) -> bool:
    """Whether its page may change without a word in the row."""
    return row.phase in {"preview": ("running", "reviewing"), "CI": ("queued",)}.get(tab, ())
