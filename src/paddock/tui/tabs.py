"""The line between the list and the page of a row."""

from collections.abc import Sequence

from rich.text import Text

from paddock.tui.style import joined, safe


def tab_line(names: Sequence[str], current: int, where: str, width: int) -> Text:
    """The tabs, only the current one where there is no room for all; `where` is at the right."""
    tabs = [Text(f" {name} ", "reverse" if at == current else "dim") for at, name in enumerate(names)]
    right = Text(where, "dim")
    if sum(tab.cell_len + 1 for tab in tabs) + right.cell_len > width:
        tabs = [tabs[current], Text(f"{current + 1}/{len(names)}", "dim")]
    line = joined(tabs, max(0, width - right.cell_len - 1), " ", least=width)
    line.append(" " * max(1, width - line.cell_len - right.cell_len))
    line.append_text(right)
    line.truncate(width, overflow="ellipsis")
    return line


def place_words(place: int, rows: int, hidden_below: int, older: int, words: str) -> str:
    """Which row of the list this is, and how many are out of sight; `words` are those of the filter."""
    parts = [f"{place + 1:,} of {rows:,}"] if rows else []
    parts += [f"{hidden_below:,} below"] if hidden_below else []
    parts += [f"{older:,} older: paddock status --all"] if older and not hidden_below else []
    parts += [f"filter: {safe(words, 30)}"] if words else []
    return " · ".join(parts)
