"""A few lines that are always there: the head of the screen, the tabs, the keys."""

from collections.abc import Sequence

from rich.text import Text
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from paddock.tui.strips import draw_text


class TextLines(Widget):
    """As high as it has lines; gone without any."""

    class Resized(Message):
        """There is another width to fill."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._lines: Sequence[Text] = ()

    @property
    def plain(self) -> str:
        return "\n".join(line.plain for line in self._lines)

    def show(self, lines: Sequence[Text]) -> None:
        before, self._lines = self._lines, lines
        if len(before) != len(lines):
            self.styles.height = len(lines)
        if list(before) != list(lines):
            self.refresh()

    def on_resize(self, _event: events.Resize) -> None:
        self.post_message(self.Resized())

    def render_line(self, y: int) -> Strip:
        if y >= len(self._lines):
            return Strip.blank(self.size.width, self.rich_style)
        line = self._lines[y]
        if line.cell_len > self.size.width:
            line = line.copy()
            line.truncate(self.size.width, overflow="ellipsis")
        return draw_text(self, line, self.size.width)
