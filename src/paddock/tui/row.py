"""A task as one line of the list, whatever the width: columns are dropped, never wrapped and never moved."""

from dataclasses import dataclass

from rich.text import Text

from paddock.core.durations import rough_duration
from paddock.core.review.open_count import findings_words
from paddock.tui.order import moment
from paddock.tui.style import badge_of, fit, fit_right
from paddock.views.board.rows import TaskRow

MARKS = 2
AGE, COST, SIZE, WHO = 4, 6, 9, 16
WORD = 9
LEAST_TITLE, WIDEST_TITLE = 12, 64
MUCH_ROOM = 48
"""Columns for title and detail, from which on a shorter detail still tells enough."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How many columns each part has; 0 is left out."""

    id: int
    word: int
    title: int
    detail: int
    who: int
    age: int
    cost: int
    size: int

    @classmethod
    def of(cls, width: int, longest_id: int, longest_title: int = WIDEST_TITLE) -> "Layout":
        """Titles have as much as they need, up to half of the room, and more of it where there is much."""
        word = WORD if width >= 56 else 0
        who = WHO if width >= 110 else 0
        cost = COST if width >= 76 else 0
        size = SIZE if width >= 66 else 0
        name = max(3, min(longest_id, 8))
        fixed = MARKS + 2 + name + 1 + AGE + 1 + sum(part + 1 for part in (word, who, cost, size) if part)
        left = max(width - fixed, 4)
        if left < 26:
            return cls(name, word, left, 0, who, AGE, cost, size)
        title = min(WIDEST_TITLE, max(longest_title, LEAST_TITLE), left * 3 // 5 if left >= MUCH_ROOM else left // 2)
        return cls(name, word, title, left - title - 1, who, AGE, cost, size)


def draw_row(row: TaskRow, layout: Layout, now: float, *, is_chosen: bool, is_current: bool) -> Text:
    """`is_current` is the one that keys apply to, `is_chosen` one of those selected for a bulk request."""
    symbol, colour = badge_of(row.phase)
    dim = "dim" if row.phase in ("landed", "done", "cancelled", "noop", "waiting") else ""
    line = Text(no_wrap=True, end="", style="reverse" if is_current else "")
    line.append(f"{'›' if is_current else ' '}{'x' if is_chosen else ' '}", "bold")
    badge = f"{symbol} {fit(word_of(row), layout.word)} " if layout.word else f"{symbol} "
    line.append(badge, "" if is_current else colour)
    line.append(f"{fit(row.id, layout.id)} ", "bold" if row.need else "")
    line.append(fit(row.title, layout.title), dim)
    if layout.detail:
        is_bad = bool(row.stuck) and not is_current
        line.append(f" {fit(detail_of(row, now), layout.detail)}", "yellow" if is_bad else "dim")
    for text, width in (
        (who_of(row), layout.who),
        (rough_duration(now - moment(row.since)), layout.age),
        (cost_of(row), layout.cost),
        (size_of(row), layout.size),
    ):
        if width:
            line.append(f" {fit(text, width) if width == WHO else fit_right(text, width)}", dim)
    return line


def word_of(row: TaskRow) -> str:
    return "answer" if row.need == "answer" else row.phase


def detail_of(row: TaskRow, now: float) -> str:
    """The last step of what runs, else the reason; what else a person should know comes before it."""
    words = [f"{row.inbox} unread"] if row.inbox else []
    if row.stuck:
        words.append(row.stuck)
    found = findings_words(row.open_findings, row.blocking_findings)
    words += [found] if found and row.phase != "reviewing" else []
    if row.need == "answer":
        words.append(row.reason)
    elif row.phase == "reviewing":
        words += [row.reason, found, row.step]
    elif row.phase == "running":
        words.append(row.step or row.reason or "starting")
    elif row.phase == "queued":
        words.append(f"place {row.place}" if row.place else row.reason)
        words += [f"lands in about {rough_duration(moment(row.eta) - now)}"] if row.eta is not None else []
    elif row.phase == "ready" and row.not_before and moment(row.not_before) > now:
        words += [f"retry in {rough_duration(moment(row.not_before) - now)}", row.reason]
    elif row.phase == "waiting":
        words.append(row.reason or f"after {', '.join(row.after)}")
    else:
        words.append(row.reason)
    return " · ".join(word for word in words if word)


def who_of(row: TaskRow) -> str:
    return "/".join(dict.fromkeys(part for part in (row.agent, row.engine) if part))


def cost_of(row: TaskRow) -> str:
    if row.cost_usd is None:
        return ""
    return f"${row.cost_usd:,.2f}" if row.cost_usd < 100 else f"${row.cost_usd:,.0f}"


def size_of(row: TaskRow) -> str:
    """As git counts lines; nothing where nothing is known to have changed."""
    if not row.insertions and not row.deletions:
        return ""
    return f"+{row.insertions} −{row.deletions}"
