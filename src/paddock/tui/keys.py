"""What each key asks for, and which of them are offered for the rows they would apply to."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from rich.text import Text

from paddock.core.tasks.task import FINISHED, Phase
from paddock.tui.style import joined
from paddock.views.board.rows import TaskRow


@dataclass(frozen=True, slots=True)
class Key:
    """`effect` is for the help page; `press` is what the terminal calls the key."""

    press: str
    action: str
    word: str
    effect: str


REQUESTS = (
    Key("a", "approve", "approve", "approve the version shown; it lands when tests pass"),
    Key("r", "reject", "reject", "reject it, with a comment for its agent"),
    Key("m", "message", "message", "send its agent a message, for its next turn"),
    Key("t", "retry", "retry", "try it again"),
    Key("s", "stop", "stop", "stop its agent; its commits stay"),
)
LOOKS = (
    Key("d", "diff", "diff", "show what would land"),
    Key("f", "follow", "follow", "follow what its agent says and does"),
    Key("c", "connect", "connect", "the command that opens its conversation"),
)
OTHERS = (
    Key("enter", "open", "open", "open the row on the whole screen; esc goes back"),
    Key("x", "choose", "select", "select it for a request to several; X all shown"),
    Key("slash", "filter", "filter", "only rows with all the words you type; esc all"),
    Key("exclamation_mark", "alerts", "alerts", "what is wrong with the fleet as a whole, and that you know"),
    Key("question_mark", "help", "help", "this page"),
    Key("q", "quit", "quit", "leave; the fleet goes on"),
)
MOVES = (
    ("↑ ↓ j k", "move"),
    ("PgUp PgDn g G", "by a page, to the first, to the last"),
    ("1 … 5 ← →", "preview, diff, CI, events, review"),
    ("J K space", "scroll what is below the list"),
)
SIGNS = {"slash": "/", "question_mark": "?", "exclamation_mark": "!"}


def sign(key: Key) -> str:
    return SIGNS.get(key.press, key.press)


def may_connect(row: TaskRow, engines: Collection[str]) -> bool:
    """`engines` are those with an interface for people."""
    return row.attempt is not None and row.engine in engines and row.phase not in FINISHED


def is_offered(key: Key, rows: Sequence[TaskRow], engines: Collection[str]) -> bool:
    """Whether it is legal for at least one of the rows: the others are named when it is pressed."""
    match key.action:
        case "connect":
            return len(rows) == 1 and may_connect(rows[0], engines)
        case "follow":
            return len(rows) == 1 and rows[0].attempt is not None
        case "diff":
            return len(rows) == 1 and "diff" in rows[0].may
        case action:
            return any(action in row.may for row in rows)


def legal(action: str, rows: Iterable[TaskRow]) -> tuple[list[TaskRow], list[TaskRow]]:
    """Those it applies to, and those it does not."""
    found = list(rows)
    return [row for row in found if action in row.may], [row for row in found if action not in row.may]


def key_bar(
    rows: Sequence[TaskRow], chosen: int, engines: Collection[str], width: int, *, has_alerts: bool = False
) -> Text:
    """The keys that are legal now; help is there at any width."""
    always = _named(next(key for key in OTHERS if key.action == "help"))
    parts = [Text(f"{chosen} selected:", "bold")] if chosen else []
    parts += [_named(key) for key in (*_by_use(rows), *LOOKS) if is_offered(key, rows, engines)]
    parts += [_named(key) for key in OTHERS if key.action != "help" and _is_of_use(key, rows, has_alerts=has_alerts)]
    line = joined(parts, max(4, width - always.cell_len - 2), "  ", least=100)
    line.append(" " * max(1, width - line.cell_len - always.cell_len))
    line.append_text(always)
    return line


def _is_of_use(key: Key, rows: Sequence[TaskRow], *, has_alerts: bool) -> bool:
    return has_alerts if key.action == "alerts" else bool(rows) or key.action == "quit"


def _by_use(rows: Iterable[TaskRow]) -> Sequence[Key]:
    """An approval comes last where none is waited for: git may know that there is nothing to land."""
    if any(row.phase == Phase.APPROVAL for row in rows):
        return REQUESTS
    return sorted(REQUESTS, key=lambda key: key.action == "approve")


def _named(key: Key) -> Text:
    return Text.assemble((sign(key), "bold"), (f" {key.word}", "dim"), no_wrap=True, end="")
