"""A line of text as the screen draws it."""

from rich.style import Style
from rich.text import Text
from textual.strip import Strip
from textual.widget import Widget


def draw_text(widget: Widget, text: Text, width: int, start: int = 0) -> Strip:
    """`width` columns of it, from the column `start` on."""
    base = text.style if isinstance(text.style, Style) else widget.app.console.get_style(text.style or "none")
    # `render` itself leaves the style of the whole text out where no part of it has one of its own.
    strip = Strip(text.render(widget.app.console)).apply_style(base).crop(start, start + width)
    return strip.adjust_cell_length(width).apply_style(widget.rich_style)
