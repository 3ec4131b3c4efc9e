"""The field for the words that a row must have: there only while somebody types them."""

from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.widgets import Input


class FilterField(Input):
    """What is typed counts at once. Enter keeps it, esc shows all rows again."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "show_all", show=False)]

    def __init__(self) -> None:
        words = 'words that a row must have, such as "phase:running parser"; esc shows all again'
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
