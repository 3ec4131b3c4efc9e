"""Which key does what on the screen; `tui/keys.py` says which of them are offered."""

from textual.binding import Binding, BindingType

from paddock.tui import keys

REQUESTS: list[BindingType] = [
    *(Binding(key.press, f"ask('{key.action}')", show=False) for key in keys.REQUESTS),
    *(Binding(key.press, f"look('{key.action}')", show=False) for key in keys.LOOKS),
    Binding("exclamation_mark", "alerts", show=False),
    Binding("question_mark,h", "help", show=False),
    Binding("q,ctrl+c,ctrl+q", "quit", show=False, priority=False),
    Binding("ctrl+z", "suspend_process", show=False, priority=True),
]
MOVES: list[BindingType] = [
    *(Binding(key, f"tab({number})", show=False) for number, key in enumerate("12345")),
    Binding("left", "turn(-1)", show=False),
    Binding("right", "turn(1)", show=False),
    Binding("j,down", "move(1)", show=False),
    Binding("k,up", "move(-1)", show=False),
    Binding("pagedown", "page(1)", show=False),
    Binding("pageup", "page(-1)", show=False),
    Binding("g,home", "go(0)", show=False),
    Binding("G,end", "go(-1)", show=False),
    Binding("J,space", "scroll(5)", show=False),
    Binding("K", "scroll(-5)", show=False),
    Binding("enter", "open", show=False),
    Binding("escape", "leave", show=False),
    Binding("x", "choose", show=False),
    Binding("X", "choose_all", show=False),
    Binding("slash", "filter", show=False),
]
