"""The field for the words that a row must have: there only while somebody types them."""

from typing import ClassVar

from rich.text import Text
from textual import on
from textual.binding import Binding, BindingType
from textual.widgets import Input

from paddock.core.columns import columns
from paddock.core.filter.errors import FilterError
from paddock.tui.style import safe


class FilterField(Input):
    """What is typed counts at once. Enter keeps it, esc shows all rows again."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "show_all", show=False)]

    def __init__(self) -> None:
        words = "words that a row must have, or phase=blocked and age>2h; esc shows all again"
        super().__init__(placeholder=words, id="words", compact=True)

    def open(self, words: str) -> None:
        self.value = words
        self.add_class("is-open")
        self.screen.set_focus(self)  # at once: what is typed next is for it

    def action_show_all(self) -> None:
        self.value = ""
        self.close()

    @on(Input.Submitted)
    def close(self) -> None:
        self.remove_class("is-open")
        self.screen.set_focus(None)


def mistake_line(words: str, mistake: FilterError, width: int) -> Text:
    """A caret under the spot, where that is in sight, and what is wrong with it."""
    before = columns(words[: mistake.start])
    carets = "^" * max(1, columns(words[mistake.start : mistake.end]))
    told = f"{' ' * before}{carets} {safe(mistake.problem, 200)}"
    return Text(told if columns(told) <= width else safe(mistake.problem, 200), "yellow")
