"""Text as every part of the screen draws it: harmless, cut to its room, coloured by state and by nothing else."""

from rich.cells import cell_len
from rich.text import Text

from paddock.core.ids import printable
from paddock.core.tasks.task import Phase
from paddock.views.badges import BADGES

BAR_CELLS = 8
LEAST_CELLS = 14
"""Fewer of a part that is cut tell nothing."""
BETWEEN = " · "
MOST_CHARS = 2_000
"""Of a line that others wrote: what follows is never on a screen."""


def safe(text: str, limit: int = MOST_CHARS) -> str:
    """One line without control characters; what is beyond `limit` is cut before anything looks at it."""
    return printable(text[: limit + 1], limit)


def fit(text: str, width: int) -> str:
    """Exactly `width` columns: cut with an ellipsis, or padded."""
    line = Text(safe(text, max(width, 1) + 1), no_wrap=True, end="")
    line.truncate(width, overflow="ellipsis", pad=True)
    return line.plain


def fit_right(text: str, width: int) -> str:
    shown = safe(text)
    return " " * (width - cell_len(shown)) + shown if cell_len(shown) <= width else fit(shown, width)


def badge_of(phase: str) -> tuple[str, str]:
    """Its symbol and its colour, as `paddock status` has them."""
    try:
        return BADGES[Phase(phase)]
    except ValueError:
        return "?", ""


def bar(share: float, cells: int = BAR_CELLS) -> str:
    """Readable without colour: filled as far as `share` goes, and never empty nor full before it is."""
    filled = round(max(0.0, min(share, 1.0)) * cells)
    if 0.0 < share < 1.0:
        filled = min(max(filled, 1), cells - 1)
    return f"[{'█' * filled}{'░' * (cells - filled)}]"


def joined(parts: list[Text], width: int, between: str = BETWEEN, *, least: int = LEAST_CELLS) -> Text:
    """One line; what does not fit is left out from the end. The last part is cut where it still has `least` columns."""
    line = Text(no_wrap=True, end="")
    for index, part in enumerate(parts):
        room = width - line.cell_len - (cell_len(between) if index else 0)
        if index and part.cell_len > room and room < least:
            break
        line.append(between if index else "", "dim")
        line.append_text(part)
        if line.cell_len > width:
            break
    line.truncate(width, overflow="ellipsis")
    return line
