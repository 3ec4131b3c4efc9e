"""What is asked before a request is made: a text, a yes. Each gives its answer to whoever opened it, None if left."""

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static, TextArea

from paddock.tui.keys import LOOKS, MOVES, OTHERS, REQUESTS, sign
from paddock.tui.lines import LinesView
from paddock.tui.style import safe


class MessageField(TextArea):
    """Enter sends; a line break is Ctrl-J, or comes with what is pasted."""

    async def type_key(self, event: events.Key) -> None:
        """One that was pressed before this had the focus."""
        event.stop()
        event.prevent_default()
        await self._on_key(event)

    async def _on_key(self, event: events.Key) -> None:
        if event.key == "enter":
            event.stop()
            event.prevent_default()
            self.screen.dismiss(self.text)
        elif event.key == "ctrl+j":
            event.stop()
            event.prevent_default()
            self.insert("\n")
        else:
            await super()._on_key(event)


class AskText(ModalScreen[str | None]):
    """A message or a comment."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,ctrl+c", "dismiss(None)", show=False, priority=True)]

    def __init__(self, title: str, hint: str) -> None:
        super().__init__()
        self._title, self._hint = title, hint

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(Text(safe(self._title, 200), "bold"), classes="question")
            yield MessageField(compact=True, soft_wrap=True)
            yield Static(Text(f"{self._hint}\nenter sends · ctrl+j starts a line · esc goes back", "dim"))

    def on_mount(self) -> None:
        self.set_focus(self.query_one(MessageField))

    async def on_key(self, event: events.Key) -> None:
        """The field stops those that it gets itself."""
        if event.is_printable or event.key in ("enter", "ctrl+j"):
            await self.query_one(MessageField).type_key(event)


class AskYes(ModalScreen[bool]):
    """`y` or enter is yes; anything else that leaves is no."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y,enter", "dismiss(True)", show=False),
        Binding("n,escape,q,ctrl+c", "dismiss(False)", show=False),
    ]

    def __init__(self, question: str, lines: Sequence[str]) -> None:
        super().__init__()
        self._question, self._lines = question, lines

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(Text(safe(self._question, 300), "bold"), classes="question")
            yield Static(Text("\n".join(safe(line, 200) for line in self._lines)))
            yield Static(Text("y yes · n no", "dim"))


class ShowLines(ModalScreen[str | None]):
    """Something to read. The keys of `offers` close it and are its answer; so does esc, which is none. A key without a
    word is not listed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,ctrl+c", "dismiss(None)", show=False),
        Binding("j,down", "scroll(1)", show=False),
        Binding("k,up", "scroll(-1)", show=False),
        Binding("space,pagedown", "scroll(10)", show=False),
        Binding("pageup", "scroll(-10)", show=False),
    ]

    def __init__(self, title: str, lines: Sequence[Text], offers: dict[str, str], *, wraps: bool = True) -> None:
        super().__init__()
        self._title, self._lines, self._offers, self._wraps = title, lines, offers, wraps

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog tall"):
            yield Static(Text(safe(self._title, 300), "bold"), classes="question")
            yield LinesView()
            yield Static(self._keys(), id="offers")

    def on_mount(self) -> None:
        self.call_after_refresh(self._fill)

    def _fill(self) -> None:
        lines = self.query_one(LinesView)
        lines.show(self._lines, wraps=self._wraps, is_new=True)
        if lines.hidden_below:
            self.query_one("#offers", Static).update(self._keys("↓ more"))

    def _keys(self, more: str = "") -> Text:
        offers = [f"{key} {word}" for key, word in {**self._offers, "esc": "close"}.items() if word]
        return Text(" · ".join([*offers, more] if more else offers), "dim")

    def action_scroll(self, by: int) -> None:
        self.query_one(LinesView).scroll_relative(y=by, animate=False)

    def on_key(self, event: events.Key) -> None:
        if event.character in self._offers:
            event.stop()
            self.dismiss(event.character)


def help_lines() -> list[Text]:
    lines = [_help(keys, words) for keys, words in MOVES]
    lines += [_help(sign(key), key.effect) for key in (*REQUESTS, *LOOKS, *OTHERS)]
    return [*lines, Text("The last line has the keys that are legal now; others say why not.", "dim")]


def _help(keys: str, words: str) -> Text:
    return Text.assemble((f"{keys:<14}", "bold"), words)
