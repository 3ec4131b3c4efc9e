"""Many lines of text to scroll through, words or a patch. Only lines on the screen are drawn."""

from collections.abc import Sequence

from rich.text import Text
from textual import events
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from paddock.tui.strips import draw_text

MOST_LINES = 20_000


class LinesView(ScrollView, can_focus=False):
    """`wraps`: long lines go on below; else they are cut, and can be scrolled sideways. While it follows, it stays at
    its end as lines come."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines: Sequence[Text] = ()
        self._laid: list[Text] = []
        self._wraps = True
        self._wide = 0
        self._is_low = False
        self.follows = False

    @property
    def plain(self) -> str:
        return "\n".join(line.plain for line in self._lines)

    def show(self, lines: Sequence[Text], *, wraps: bool, is_new: bool, at_end: bool = False) -> None:
        """`is_new`: it is another thing to look at, from its beginning or `at_end`; else its place is kept, and the end
        where that is in sight."""
        if not is_new and wraps == self._wraps and lines == self._lines:
            return
        if is_new:
            self._is_low = at_end or self.follows
        self._lines, self._wraps = lines[:MOST_LINES], wraps
        self._lay_out()
        if is_new and not self._is_low:
            self.scroll_to(x=0, y=0, animate=False)

    def watch_scroll_y(self, before: float, now: float) -> None:
        super().watch_scroll_y(before, now)
        self._is_low = round(now) >= self.max_scroll_y

    @property
    def hidden_below(self) -> int:
        return max(0, len(self._laid) - self.scroll_offset.y - self.size.height)

    def on_resize(self, _event: events.Resize) -> None:
        if self.size.width != self._wide:
            self._lay_out()
        elif self._is_low:
            self._go_low()

    def _go_low(self) -> None:
        self.scroll_to(y=self.max_scroll_y, animate=False, force=True)
        self._is_low = True

    def _lay_out(self) -> None:
        self._wide = self.size.width
        width = max(10, self.scrollable_content_region.width or self._wide)
        if self._wraps:
            self._laid = [part for line in self._lines for part in _wrapped(self, line, width)]
        else:
            self._laid = list(self._lines)
        longest = width if self._wraps else max((line.cell_len for line in self._laid), default=0)
        self.virtual_size = Size(max(width, longest), len(self._laid))
        self.refresh()
        if self._is_low or self.follows:
            self._go_low()

    def render_line(self, y: int) -> Strip:
        offset_x, offset_y = self.scroll_offset
        at, width = offset_y + y, self.size.width
        if at >= len(self._laid):
            return Strip.blank(width, self.rich_style)
        return draw_text(self, self._laid[at], width, offset_x)


def _wrapped(view: LinesView, line: Text, width: int) -> Sequence[Text]:
    """Continued below its own beginning, so that times and marks at the left stay apart."""
    if line.cell_len <= width:
        return (line,)
    return list(line.wrap(view.app.console, width))
