"""The list of rows. Only rows on the screen are drawn, and of those only the ones that look different now."""

import time
from collections.abc import Callable, Mapping, Sequence

from rich.text import Text
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.reactive import var
from textual.scroll_view import ScrollView
from textual.strip import Strip

from paddock.tui.row import Layout, draw_row
from paddock.tui.strips import draw_text
from paddock.views.board.rows import TaskRow

Clock = Callable[[], float]


class TaskList(ScrollView, can_focus=False):
    """Keys apply to the `current` row; the `chosen` ones are selected for a request to several.

    The current row is known by its task: wherever that moves, the cursor is on it.
    """

    current: var[str | None] = var(None, init=False)

    class Moved(Message):
        """Another row is the current one; None where there is no row."""

        def __init__(self, task: str | None) -> None:
            super().__init__()
            self.task = task

    class Opened(Message):
        """A row was clicked twice."""

    def __init__(self, clock: Clock = time.time) -> None:
        super().__init__()
        self._clock = clock
        self._rows: Mapping[str, TaskRow] = {}
        self._order: Sequence[str] = ()
        self._places: dict[str, int] = {}
        self._drawn: dict[int, Text] = {}
        self._layout = Layout.of(80, 3)
        self.chosen: set[str] = set()

    # -- what it shows ----------------------------------------------------------------------------------------

    @property
    def order(self) -> Sequence[str]:
        return self._order

    @property
    def hidden_below(self) -> int:
        return max(0, len(self._order) - self.scroll_offset.y - self.size.height)

    @property
    def place(self) -> int:
        """Of the current row, from 0; -1 where there is none."""
        return self._places.get(self.current or "", -1)

    def show(self, rows: Mapping[str, TaskRow], order: Sequence[str], *, stay: bool = False) -> None:
        """`stay`: the cursor keeps its place on the screen instead of its task."""
        before = self.place
        self._rows = rows
        if (new := tuple(order)) != self._order:
            self._order = new
            self._places = {name: at for at, name in enumerate(self._order)}
            self.chosen &= self._places.keys()
            self._lay_out()
        if stay or self.current not in self._places:
            at = min(max(before, 0), len(self._order) - 1)
            self.current = self._order[at] if self._order else None
        self.redraw()

    def redraw(self) -> None:
        """Draws again what looks different now: of a thousand rows the few that have changed."""
        top = self.scroll_offset.y
        for line in range(self.size.height):
            at = top + line
            if self._drawn.get(at) != self._text(at):
                self.refresh_line(at)

    def choose(self, names: Sequence[str]) -> None:
        """Adds them, or takes them out where all of them are in already."""
        if self.chosen.issuperset(names):
            self.chosen.difference_update(names)
        else:
            self.chosen.update(names)
        self.redraw()

    # -- the cursor -------------------------------------------------------------------------------------------

    def move(self, by: int) -> None:
        self.move_to(self.place + by)

    def move_to(self, place: int) -> None:
        if self._order:
            self.current = self._order[min(max(place, 0), len(self._order) - 1)]

    def watch_current(self, _before: str | None, now: str | None) -> None:
        self._keep_in_sight()
        self.redraw()
        self.post_message(self.Moved(now))

    def _keep_in_sight(self) -> None:
        place, height = self.place, self.size.height
        if place < 0 or not height:
            return
        if place < self.scroll_offset.y:
            self.scroll_to(y=place, animate=False)
        elif place >= self.scroll_offset.y + height:
            self.scroll_to(y=place - height + 1, animate=False)

    def on_click(self, event: events.Click) -> None:
        self.move_to(event.y + self.scroll_offset.y)
        if event.chain == 2:
            self.post_message(self.Opened())

    # -- drawing ----------------------------------------------------------------------------------------------

    def on_resize(self, _event: events.Resize) -> None:
        self._lay_out()
        self._keep_in_sight()

    def _lay_out(self) -> None:
        width = self.scrollable_content_region.width or self.size.width
        titles = max((len(self._rows[name].title) for name in self._order), default=0)
        self._layout = Layout.of(width, max(map(len, self._order), default=3), titles)
        self.virtual_size = Size(width, len(self._order))
        self._drawn.clear()
        self.refresh()

    def _text(self, at: int) -> Text | None:
        if not 0 <= at < len(self._order):
            return None
        name = self._order[at]
        return draw_row(
            self._rows[name],
            self._layout,
            self._clock(),
            is_chosen=name in self.chosen,
            is_current=name == self.current,
        )

    def render_line(self, y: int) -> Strip:
        at = self.scroll_offset.y + y
        text = self._text(at)
        if text is None:
            self._drawn.pop(at, None)
            return Strip.blank(self.size.width, self.rich_style)
        self._drawn[at] = text
        return draw_text(self, text, self.size.width)
