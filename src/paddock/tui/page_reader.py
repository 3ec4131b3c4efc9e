"""Which page of the selected row is read when: one at a time, in a thread, and again once something has changed."""

from collections.abc import Callable

from paddock.core.ids import TaskId
from paddock.fleet.workspace import Workspace
from paddock.tui.details import Page, read_page
from paddock.views.board.rows import TaskRow

Place = tuple[str, str]
"""A task and a tab."""


class PageReader:
    """`start` runs a function in a thread and has its result given to `take`, in the thread of the screen."""

    def __init__(self, workspace: Callable[[], Workspace], start: Callable[[Callable[[], Page]], None]) -> None:
        self._workspace, self._start = workspace, start
        self._wanted: Place | None = None
        self._stamp: object = None
        self._is_reading = False
        self._is_due = False

    def want(self, row: TaskRow | None, tab: str, *, again: bool = False) -> None:
        """`again`: also if nothing that the row tells has changed."""
        if row is None:
            self._wanted, self._stamp = None, None
            return
        place, stamp = (row.id, tab), _stamp(row, tab)
        if place == self._wanted and stamp == self._stamp and not again:
            return
        self._wanted, self._stamp, self._is_due = place, stamp, True
        self._read()

    def take(self, page: Page) -> bool:
        """Whether it is still the page that is wanted."""
        self._is_reading = False
        self._read()
        return (page.task, page.tab) == self._wanted

    def _read(self) -> None:
        if self._is_reading or not self._is_due or self._wanted is None:
            return
        self._is_reading, self._is_due = True, False
        task, tab = self._wanted
        self._start(lambda: read_page(self._workspace(), TaskId(task), tab))


def _stamp(row: TaskRow, tab: str) -> object:
    """What a page depends on: a patch is composed by git, and not again for each step of an agent."""
    if tab == "diff":
        return row.phase, row.head, row.attempt, row.insertions, row.deletions
    return row


def is_moving(row: TaskRow, tab: str) -> bool:
    """Whether its page may change without a word in the row."""
    return row.phase in {"preview": ("running", "reviewing"), "CI": ("queued",)}.get(tab, ())
