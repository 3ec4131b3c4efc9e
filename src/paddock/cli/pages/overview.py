"""The overview: counts, state, convoys and tasks, what needs a person. Imports only what is needed."""

import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from paddock.cli.terminal.text import age, badge, cut, paint, plural, say, width
from paddock.core.board import Board
from paddock.core.columns import columns
from paddock.core.ids import TaskId, task_number
from paddock.core.money.spending import day_of
from paddock.core.review.open_count import open_words
from paddock.core.tasks.needs import needs_of, next_command
from paddock.core.tasks.task import FINISHED, SATISFIED, Phase, Task
from paddock.fleet.landing.unseen_loss import tell_lost_work
from paddock.fleet.outlook import Outlook, look_around
from paddock.fleet.service.presence import Presence
from paddock.fleet.workspace import Workspace
from paddock.sessions.host import is_here
from paddock.views.notices import Notice, find_notices
from paddock.views.standing import reason_of

if TYPE_CHECKING:
    from paddock.core.filter.tasks import TaskFilter
    from paddock.views.status import StatusView

ROWS = 40  # of one group
SCREEN = 400  # of all groups together


class Surroundings(NamedTuple):
    """What rows are made from."""

    workspace: Workspace
    board: Board
    outlook: Outlook


def show_status(
    workspace: Workspace,
    *,
    as_json: bool = False,
    convoy: str | None = None,
    where: "TaskFilter | None" = None,
    show_all: bool = False,
) -> None:
    board = workspace.board()
    if convoy is not None:
        from paddock.core.intent.selection import require_convoy

        require_convoy(board, convoy)
    tell_lost_work(workspace, board)
    if as_json:
        from paddock.cli.terminal.text import print_json

        print_json(read_status(workspace, board, convoy, where))
        return
    outlook = look_around(workspace, board, time.time())
    seen, notices = Surroundings(workspace, board, outlook), find_notices(board, outlook)
    if where is None:
        lines = render(seen, notices, convoy, show_all=show_all)
    else:
        found = where.pick(board, board.members[convoy] if convoy is not None else None)
        lines = render_found(seen, found, show_all=show_all)
    say("\n".join(lines))


def read_status(
    workspace: Workspace, board: Board, convoy: str | None, where: "TaskFilter | None" = None
) -> "StatusView":
    """What `paddock status --json` prints."""
    from paddock.views.status import view_status

    outlook = look_around(workspace, board, time.time())
    notices = find_notices(board, outlook)
    found = where.pick(board, board.members[convoy] if convoy is not None else None) if where is not None else None
    needy = _needy(board, convoy) if found is None else needs_of(board, set(found))
    return view_status(workspace, board, outlook, needy=needy, notices=notices, convoy=convoy, only=found)


def render_found(seen: Surroundings, found: Collection[TaskId], *, show_all: bool) -> list[str]:
    """The tasks that match a filter, whatever their phase, and what they need a person for."""
    board = seen.board
    if not found:
        return ["no task matches"]
    counts = Counter(board.tasks[name].phase for name in found)
    needy = needs_of(board, set(found))
    lines = _count_phases(counts, len(needy), "matches" if len(found) == 1 else "match")
    lines += _groups_of_rows(seen, dict.fromkeys(name for name in found if name not in needy), [], show_all=show_all)
    listed = needy if show_all else needy[:ROWS]
    return lines + _needs(seen, listed, []) + _rest(len(needy) - len(listed))


def render(seen: Surroundings, notices: list[Notice], convoy: str | None, *, show_all: bool) -> list[str]:
    """Counts and state, then the work, and last what needs a person."""
    board, outlook = seen.board, seen.outlook
    if not board.tasks:
        nothing = ["no tasks yet", "", 'add one: paddock add "what to do"']
        return [*_standing(board, outlook), *nothing, *_needs(seen, [], notices)]
    needy = _needy(board, convoy)
    lines = [*_counts(board, convoy, len(needy) + len(notices)), *_standing(board, outlook)]
    lines += _work(seen, convoy, needy, show_all=show_all)
    hidden = sum(board.counts.get(phase, 0) for phase in FINISHED)
    hidden -= sum(board.tasks[name].phase in FINISHED for name in needy)
    if hidden and not show_all and convoy is None:
        them = "it" if hidden == 1 else "them"
        told = f"{plural(hidden, 'finished task')} not shown; `paddock status --all` shows {them}"
        lines += ["", paint(told, dim=True)]
    listed = needy if show_all else needy[:ROWS]
    return lines + _needs(seen, listed, notices) + _rest(len(needy) - len(listed))


def render_convoy(seen: Surroundings, convoy: str) -> list[str]:
    """All its tasks as one tree, those that need a person among them."""
    return [*_counts(seen.board, convoy, 0), *_work(seen, convoy, [], show_all=True)]


def _work(seen: Surroundings, convoy: str | None, needy: list[TaskId], *, show_all: bool) -> list[str]:
    """Tasks by convoy, without those that are listed under what needs a person."""
    return _groups_of_rows(seen, _chosen(seen.board, convoy, show_all=show_all), needy, show_all=show_all)


def _groups_of_rows(seen: Surroundings, shown: Collection[TaskId], needy: list[TaskId], *, show_all: bool) -> list[str]:
    board = seen.board
    lines: list[str] = []
    apart = set(needy)
    room = len(board.tasks) if show_all else SCREEN
    for name, group in _groups(board, shown):
        rows = [task for task in group if task not in apart]
        if name is None and not rows:
            continue
        listed = rows if show_all else _limited(board, rows, min(ROWS, room))
        room -= len(listed)
        lines += ["", _heading(board, name)]
        lines += [_row(seen, task, depth) for task, depth in _tree([board.tasks[task] for task in listed])]
        lines += _rest(len(rows) - len(listed))
    return lines


def _counts(board: Board, convoy: str | None, needs: int) -> list[str]:
    return _count_phases(board.counts if convoy is None else board.convoy_counts[convoy], needs)


def _count_phases(counts: Mapping[Phase, int], needs: int, verb: str = "") -> list[str]:
    total = f"{plural(sum(counts.values()), 'task')} {verb}".rstrip()
    parts = [f"{counts[phase]:,} {phase.value}" for phase in Phase if counts.get(phase)]
    if needs:
        parts[-1] += f"; {needs:,} {'needs' if needs == 1 else 'need'} you"
    first, *rest = _flow(f"{total}: ", parts, ", ")
    return [paint(total, bold=True) + first.removeprefix(total), *rest]


def _flow(lead: str, parts: list[str], between: str, indent: str = "  ") -> list[str]:
    """The parts one after another, on as many lines as the screen needs."""
    lines = [lead]
    for index, part in enumerate(parts):
        word = part + (between.rstrip() if index < len(parts) - 1 else "")
        if lines[-1].strip() and columns(lines[-1]) + columns(word) > width():
            lines.append(indent)
        lines[-1] += word + between[len(between.rstrip()) :]
    return [line.rstrip() for line in lines]


def _standing(board: Board, outlook: Outlook) -> list[str]:
    """The daemon, a stopped queue, and what today has cost so far."""
    parts = [daemon_words(outlook), *_fence_words(outlook)]
    if outlook.nodes is not None:
        parts.append(cut(outlook.nodes.words, 80))
    if (state := board.queue_switches.state) != "open":
        parts.append(f"merge queue {state}")
    if (cost := board.cost_of_day(day_of(outlook.now))) is not None:
        parts.append(f"${cost.known:.2f} today" + (" plus unknown costs" if cost.assumed else ""))
    return [paint(line, dim=True) for line in _flow("", parts, " · ")] if board.tasks or parts[1:] else []


def daemon_words(outlook: Outlook) -> str:
    seen = outlook.daemon
    match seen.presence:
        case Presence.NONE:
            return "no daemon is running (`paddock up` starts one)"
        case Presence.GONE:
            return "the daemon is gone"
        case Presence.SILENT:
            return "the daemon is silent"
    lease = seen.lease
    where = f" on {cut(lease.holder.host, 40)}" if lease and not is_here(lease.holder) else ""
    return f"daemon running for {age(lease.since)}{where}" if lease else "daemon running"


def _fence_words(outlook: Outlook) -> list[str]:
    """What shuts in the agents of the daemon that runs, and CI where that differs."""
    note = outlook.fence
    if note is None:
        return []
    words = "no fence" if note.agents == "none" else f"fence: {note.agents}"
    if note.why:
        return [f"{words} ({note.why})"]
    return [words if note.ci == note.agents else f"{words}, CI: {note.ci}"]


def _chosen(board: Board, convoy: str | None, *, show_all: bool) -> Collection[TaskId]:
    if convoy is not None:
        return dict.fromkeys(board.members[convoy])
    return board.tasks if show_all else board.open


def _needy(board: Board, convoy: str | None) -> list[TaskId]:
    return needs_of(board, set(board.members[convoy]) if convoy is not None else None)


def _groups(board: Board, shown: Collection[TaskId]) -> Iterator[tuple[str | None, list[TaskId]]]:
    """By convoy, without a look into the tasks: only those that get a row are decoded."""
    grouped: set[TaskId] = set()
    for name in sorted(board.members):
        if group := [task for task in board.members[name] if task in shown]:
            grouped.update(group)
            yield name, group
    if len(grouped) < len(shown):
        yield None, sorted((task for task in shown if task not in grouped), key=task_number)


def _limited(board: Board, group: list[TaskId], room: int) -> list[TaskId]:
    """What runs comes first among those that get a row."""
    if len(group) <= room:
        return group
    running = [task for task in group if task in board.live][:room]
    rest = [task for task in group if task not in board.live][: room - len(running)]
    return sorted(running + rest, key=task_number)


def _rest(left: int) -> list[str]:
    return [paint(f"  … and {left:,} more; `paddock status --all` shows them", dim=True)] if left > 0 else []


def _heading(board: Board, convoy: str | None) -> str:
    if convoy is None:
        return paint("tasks", bold=True)
    members, counts = board.members[convoy], board.convoy_counts[convoy]
    done = sum(counts.get(phase, 0) for phase in SATISFIED)
    title = board.convoys[convoy].title
    words = f"  {cut(title, 60)}" if title else ""
    return paint(f"convoy {convoy}", bold=True) + f"  {done}/{len(members)} done{words}"


def _tree(tasks: list[Task]) -> list[tuple[Task, int]]:
    """Every task below the last of its dependencies that is shown; the depth is bounded."""
    shown = {task.id for task in tasks}
    children: dict[TaskId | None, list[Task]] = {}
    for task in tasks:
        parents = [name for name in task.after if name in shown]
        children.setdefault(max(parents, key=task_number) if parents else None, []).append(task)
    order: list[tuple[Task, int]] = []
    stack = [(task, 0) for task in reversed(children.get(None, []))]
    while stack:
        task, depth = stack.pop()
        order.append((task, depth))
        stack += [(child, min(depth + 1, 8)) for child in reversed(children.get(task.id, []))]
    return order


def _row(seen: Surroundings, task: Task, depth: int = 0) -> str:
    """One line of the screen. If it does not fit, the reason is shortened first, then the title."""
    indent = "  " * depth
    lead = f"  {badge(task.phase)} {indent}{task.id:<5} "
    room = width() - 15 - len(indent) - max(5, len(task.id)) - len("  ")
    before, reason, after = _details(seen, task)
    fixed = sum(columns(word) + 3 for word in (*before, *after)) - 3
    title = cut(task.title, max(20, room - fixed - (min(columns(reason), 24) + 3 if reason else 0)))
    left = room - columns(title) - fixed
    words = (*before, *([cut(reason, left - 3)] if reason and left > 8 else []), *after)
    detail = cut(" · ".join(words), room - columns(title))
    return f"{lead}{title}  {paint(detail, dim=True)}".rstrip()


def _details(seen: Surroundings, task: Task) -> tuple[list[str], str, list[str]]:
    """Words before the reason, the reason, and words after it."""
    before, after = [], []
    if (attempt := task.live_attempt) is not None:
        before.append(f"{attempt.id} {attempt.engine}")
        if attempt.stop_requested:
            before.append("stopping")
        if attempt.inlined:
            before.append(f"inlined {cut(attempt.inlined, 30)}")
    elif task.agent or task.engine:
        before.append(cut("/".join(part for part in (task.agent, task.engine) if part), 30))
    if task.inbox:
        before.append(f"{plural(len(task.inbox), 'message')} queued")
    if found := open_words(seen.board, task):
        before.append(found)
    if task.phase is Phase.READY and (left := task.not_before - seen.outlook.now) > 0:
        after.append(f"retry in {age(0.0, left)}")
    reason = reason_of(seen.workspace, seen.board, seen.outlook, task)
    return before, cut(reason, 100) if reason else "", [*after, age(task.since)]


def _needs(seen: Surroundings, needy: list[TaskId], notices: list[Notice]) -> list[str]:
    lines = ["", paint("needs you", bold=True)] if needy or notices else []
    for notice in notices:
        lines += _flow("  ! ", cut(notice.text, 300).split(" "), " ", indent="    ")
        lines.append(paint(f"    run: {cut(notice.run, 300)}", dim=True))
    for name in needy:
        task = seen.board.tasks[name]
        lines.append(_row(seen, task))
        if command := cut(task.unblock or next_command(task), 300):
            indent = " " * (20 if columns(command) + 25 <= width() else 4)
            lines.append(paint(f"{indent}run: {command}", dim=True))
    return lines
