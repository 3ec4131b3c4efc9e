"""The live view of a fleet: what of a scene is shown on how many lines and columns.

Pure: `lay_out` never gives more lines or columns than there are. What does not fit is counted in the heading above it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from paddock.cli.pages.scene import AgentRow, NeedRow, Scene
from paddock.cli.terminal.screen import Span, StyledLine
from paddock.cli.terminal.text import cut
from paddock.core.columns import columns
from paddock.core.ids import printable
from paddock.core.tasks.task import Phase
from paddock.views.badges import BADGES

ONE_LINE_COLUMNS = 120
"""From here on a need, its reason and its command have room on one line."""
COMMAND_COLUMNS = 50
STEP_COLUMNS = 40
"""For what an agent did last, where titles want all the room there is."""
SECTION_LINES = 3
LAST_LINES = 8
NOTHING_YET = 'no tasks yet; add one: paddock add "what to do"'


@dataclass(frozen=True, slots=True)
class RowBlock:
    """Rows of one or two lines below a heading; a row is drawn only if it is shown."""

    heading: str
    rows: Sequence[Callable[[], list[StyledLine]]]
    lines_each: int

    @property
    def all_lines(self) -> int:
        return 1 + len(self.rows) * self.lines_each

    def draw(self, room: int) -> list[StyledLine]:
        """In `room` lines, at least one."""
        shown = min(len(self.rows), (room - 1) // self.lines_each)
        hidden = len(self.rows) - shown
        count = f"{shown:,} of {len(self.rows):,} shown, {hidden:,} more" if hidden else f"{len(self.rows):,}"
        lines: list[StyledLine] = [((f"{self.heading}  ", "bold"), (count, "dim"))]
        for row in self.rows[:shown]:
            lines += row()
        return lines


def lay_out(scene: Scene, width: int, height: int, footer: str = "") -> list[StyledLine]:
    """At most `height` lines of at most `width` columns each, safe for a terminal."""
    if width < 1 or height < 1:
        return []
    sections = [section for section in (_needs(scene, width), _agents(scene, width)) if section.rows]
    top = _top(scene, width)[: height // 3 + 1]
    while len(top) > 1 and len(top) + len(sections) > height:
        top.pop()
    if len(top) + len(sections) > height:
        # Not even their headings fit.
        hidden = ", ".join(f"{section.heading} {len(section.rows):,}" for section in sections)
        return [_fit(line, width) for line in [*top, ((f"{hidden}: not shown", ""),)][-height:]]
    lines = [*top, *_below(scene, sections, height - len(top), footer, width)]
    return [_fit(line, width) for line in lines]


def _below(scene: Scene, sections: list[RowBlock], room: int, footer: str, width: int) -> list[StyledLine]:
    """Sections first, what has happened lately where room is left; blank lines only where all is shown."""
    given = _share(sections, room)
    left = room - sum(given)
    told = scene.history[-min(LAST_LINES, left) :] if left > 0 else ()
    spare = left - len(told)
    foot: list[StyledLine] = [((footer, "dim"),)] if footer and spare > 0 else []
    spare -= len(foot)
    lines: list[StyledLine] = []
    for section, lines_given in zip(sections, given, strict=True):
        if spare > 0:
            lines.append(())
            spare -= 1
        lines += section.draw(lines_given)
    if told and spare > 0:
        lines.append(())
        spare -= 1
    lines += [((cut(line, width), "dim"),) for line in told]
    if foot and spare > 0:
        lines.append(())
    return [*lines, *foot]


def _share(sections: list[RowBlock], room: int) -> list[int]:
    """Lines for each: all it wants, or a fair part of what there is, and what one does not need for the next."""
    given = []
    for number, section in enumerate(sections):
        later = sections[number + 1 :]
        reserved = sum(min(one.all_lines, max(1, min(SECTION_LINES + room // 3, room - room // 2))) for one in later)
        lines = max(1, min(section.all_lines, room - reserved))
        given.append(lines - (lines - 1) % section.lines_each)  # what is left of a row is for the next section
        room -= given[-1]
    return given


def _top(scene: Scene, width: int) -> list[StyledLine]:
    """Counts; the page's address; then the daemon and the money; what holds up the start of more; the merge queue."""
    page = _page(scene.page, width)
    if not scene.counts:
        return [((f"{cut(scene.name, 40)}  ", "bold"), (NOTHING_YET, "")), *page, *_flow(scene.standing, width, 2)]
    lines = [_counts(scene, width), *page, *_flow(scene.standing, width, 2)]
    if scene.limit:
        lines.append(((cut(scene.limit, width), "yellow"),))
    return [*lines, *_flow(scene.queue, width, 2)]


def _page(address: str, width: int) -> list[StyledLine]:
    """Whole, so that it can be clicked, or where to get it."""
    if not address:
        return []
    fits = columns(address) <= width
    return [((address, "cyan"),) if fits else (("`paddock web` prints the address of the page", "dim"),)]


def _counts(scene: Scene, width: int) -> StyledLine:
    """With the name and in words; as symbols where that does not fit."""
    done = (f"{scene.done:,}/{scene.total:,} done", "bold")
    name = (f"{cut(scene.name, 30)}  ", "bold")
    worded = [(f"{_symbol(phase)} {count:,} {phase.value}  ", BADGES[phase][1]) for phase, count in scene.counts]
    short = [(f"{_symbol(phase)} {count:,}  ", BADGES[phase][1]) for phase, count in scene.counts]
    for line in ((name, *worded, done), (*worded, done), (name, *short, done)):
        if _columns(line) <= width:
            return line
    return (*short, done)


def _symbol(phase: Phase) -> str:
    return BADGES[phase][0]


def _flow(parts: Sequence[Span], width: int, most: int) -> list[StyledLine]:
    """One after another on at most so many lines, and how many are left out."""
    lines: list[list[Span]] = []
    for number, (text, look) in enumerate(parts):
        word = cut(text, width)
        between = [(" · ", "dim")] if lines and lines[-1] else []
        is_last = number == len(parts) - 1
        left = f" · +{len(parts) - number}"
        room = width - (0 if is_last or len(lines) < most else len(left))
        if lines and _columns((*lines[-1], *between)) + columns(word) <= room:
            lines[-1] += [*between, (word, look)]
        elif len(lines) < most:
            lines.append([(word, look)])
        else:
            lines[-1].append((left, "dim"))
            break
    return [tuple(line) for line in lines]


def _needs(scene: Scene, width: int) -> RowBlock:
    is_wide = width >= ONE_LINE_COLUMNS
    draw = _wide_need if is_wide else _narrow_need
    return RowBlock("needs you", [partial(draw, row, width) for row in scene.needs], 1 if is_wide else 2)


def _narrow_need(row: NeedRow, width: int) -> list[StyledLine]:
    lead, room = _lead(row), width - _columns(_lead(row))
    told: StyledLine = (("  run: ", "dim"), (cut(row.command, max(2, width - 7)), "dim")) if row.command else ()
    return [(*lead, *_title_and_reason(row, room)), told]


def _wide_need(row: NeedRow, width: int) -> list[StyledLine]:
    lead = _lead(row)
    command = cut(row.command, COMMAND_COLUMNS)
    room = width - _columns(lead) - columns(command) - 2
    words = _title_and_reason(row, room)
    gap = " " * max(2, room - _columns(words) + 2)
    return [(*lead, *words, (gap, ""), (command, "cyan"))]


def _lead(row: NeedRow) -> StyledLine:
    if not row.id:
        return ((f"  {row.symbol} ", row.colour),)
    return ((f"  {row.symbol} {row.what:<7} ", row.colour), (f"{row.id:<5} ", ""))


def _title_and_reason(row: NeedRow, room: int) -> StyledLine:
    """If both do not fit, the reason is shortened first, then the title."""
    after = f" · {row.age}" if row.age else ""
    left = room - columns(after)
    wanted = min(columns(row.reason), 24) + 3 if row.reason else 0
    title = cut(row.title, max(min(20, left), left - wanted))
    left -= columns(title)
    reason = f" · {cut(row.reason, left - 3)}" if row.reason and left > 8 else ""
    return ((title, ""), (reason, "dim"), (after, "dim"))


def _agents(scene: Scene, width: int) -> RowBlock:
    grid = _Grid.of(scene.agents, width)
    return RowBlock("agents", [partial(grid.draw, row) for row in scene.agents], 1)


@dataclass(frozen=True, slots=True)
class _Grid:
    """Columns of the agents' rows: each as wide as its widest, the rest shared by title and last step."""

    id: int
    age: int
    cost: int
    change: int
    title: int
    step: int

    @classmethod
    def of(cls, rows: Sequence[AgentRow], width: int) -> "_Grid":
        if not rows:
            return cls(0, 0, 0, 0, 0, 0)
        names = max(len(row.id) for row in rows)
        age = max(len(row.age) for row in rows)
        cost = max(len(row.cost) for row in rows) if width >= 50 else 0
        change = max(len(row.change) for row in rows) if width >= 70 else 0
        taken = 2 + names + sum(1 + wide for wide in (age, cost, change) if wide)
        room = max(0, width - taken - 4)
        longest = max(min(columns(row.title), room) for row in rows)
        title = min(longest, max(room - STEP_COLUMNS, room * 2 // 5, min(12, room)))
        return cls(names, age, cost, change, title, max(0, room - title))

    def draw(self, row: AgentRow) -> list[StyledLine]:
        title = cut(row.title, self.title) if self.title >= 2 else ""
        numbers = "".join(
            f" {text:>{wide}}"
            for text, wide in ((row.age, self.age), (row.cost, self.cost), (row.change, self.change))
            if wide
        )
        stuck = f"{cut(row.stuck, self.step)} " if row.stuck and self.step >= 4 else ""
        left = self.step - columns(stuck)
        step = cut(row.step, left) if left >= 4 else ""
        padding = " " * (self.title - columns(title))
        name = f"  {row.id:<{self.id}}  "
        told = ((title + padding, ""), (numbers, "dim"), ("  ", ""), (stuck, "yellow"), (step, "dim"))
        return [((name, "blue"), *told)]


def _columns(line: Sequence[Span]) -> int:
    return sum(columns(text) for text, _ in line)


def _fit(line: StyledLine, width: int) -> StyledLine:
    """The line in at most so many columns, and without anything that would steer a terminal."""
    safe = [(printable(text, len(text) + 1), look) for text, look in line]
    if _columns(safe) <= width:
        return tuple(safe)
    fitted: list[Span] = []
    left = width
    for text, look in safe:
        if columns(text) > left:
            fitted.append(("…" if left == 1 else cut(text, left) if left > 1 else "", look))
            break
        fitted.append((text, look))
        left -= columns(text)
    return tuple(fitted)
