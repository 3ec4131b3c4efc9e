"""What is wrong with a filter: the words, and a caret under the spot."""

from paddock.core.columns import columns, shorten
from paddock.core.errors import Misuse
from paddock.core.ids import printable

MOST_BEFORE = 60
"""Columns shown of the line in front of the spot; the rest of it becomes an `…`."""
MOST_SPOT = 60
MOST_BEHIND = 30
_INDENT = "    "


class FilterError(Misuse):
    """`problem` is one line; `start` and `end` say which characters of the text it is about."""

    def __init__(self, problem: str, text: str, start: int, end: int, hint: str | None = None) -> None:
        super().__init__(f"{problem}\n\n{draw_spot(text, start, end)}", hint)
        self.problem, self.start, self.end = problem, start, end


def draw_spot(text: str, start: int, end: int) -> str:
    """The line of the text with the spot in it, and a second one that marks it. At least one column is marked."""
    line_start = max(text.rfind(mark, 0, start) for mark in "\n\r") + 1
    line_end = min((found for mark in "\n\r" if (found := text.find(mark, start)) >= 0), default=len(text))
    before, spot = _shown(text[line_start:start]), _shown(text[start : min(end, line_end)])
    behind = _shown(text[min(end, line_end) : line_end])
    lead = before if columns(before) <= MOST_BEFORE else "…" + _last_columns(before, MOST_BEFORE - 1)
    marked = shorten(spot, MOST_SPOT)
    rest = "" if marked != spot else shorten(behind, MOST_BEHIND)
    carets = "^" * max(1, columns(marked))
    return f"{_INDENT}{lead}{marked}{rest}\n{_INDENT}{' ' * columns(lead)}{carets}"


def _shown(text: str) -> str:
    """One line in which every character takes a known place: joiners and the like would not."""
    return printable(text.replace("\t", " "), len(text) + 1)


def _last_columns(text: str, room: int) -> str:
    start = max(0, len(text) - room)
    while columns(text[start:]) > room:
        start += 1
    return text[start:]
