"""What there is to do: counts, what needs a person, then convoys and tasks. Loads nothing that is not needed."""

import time
from collections.abc import Collection, Iterator
from pathlib import Path

from paddock.cli.text import age, badge, cut, paint, plural, say, width
from paddock.cli.workspace import Workspace
from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.ids import TaskId, task_number
from paddock.core.task import FINISHED, SATISFIED, Phase, Task
from paddock.fleet.waiting import StoppedEngine, read_stopped

ROWS = 40  # of one group
SCREEN = 400  # of all groups together


def show_status(
    workspace: Workspace, *, as_json: bool = False, convoy: str | None = None, show_all: bool = False
) -> None:
    board = workspace.board()
    if convoy is not None and convoy not in board.convoys:
        raise PaddockError(f"there is no convoy `{convoy}`", "`paddock convoy list` lists them")
    if board.ready:
        tell_why_waiting(board, workspace.state_dir)
    stopped = read_stopped(workspace.state_dir)
    if as_json:
        _print_json(board, convoy, stopped)
    else:
        say("\n".join(render(board, convoy, show_all=show_all, stopped=stopped)))


def _print_json(board: Board, convoy: str | None, stopped: list[StoppedEngine]) -> None:
    from paddock.cli.text import print_json
    from paddock.cli.views import view_status

    names = board.members[convoy] if convoy is not None else board.tasks
    convoys = [convoy] if convoy is not None else list(board.convoys)
    print_json(view_status(board, [board.tasks[name] for name in names], convoys, stopped))


def tell_why_waiting(board: Board, state_dir: Path) -> None:
    """Ready tasks get the reason the daemon last had for not starting them; only this reader's board changes."""
    from msgspec.structs import replace

    from paddock.fleet.waiting import read_waiting

    for name, reason in read_waiting(state_dir).items():
        if (task := TaskId(name)) in board.ready:
            board.tasks.put(replace(board.tasks[task], reason=reason))


def render(board: Board, convoy: str | None, *, show_all: bool, stopped: Collection[StoppedEngine] = ()) -> list[str]:
    halted = _halted(board)
    if not board.tasks:
        return ["no tasks yet", *halted, "", 'add one: paddock add "what to do"']
    lines = [_counts(board, convoy), *halted]
    shown = _chosen(board, convoy, show_all=show_all)
    needy = _needy(board, convoy)
    if needy or stopped:
        lines += ["", paint("needs you", bold=True)]
        lines += [row for engine in stopped for row in _stopped_rows(engine)]
        listed = needy if show_all else needy[:ROWS]
        lines += [row for name in listed for row in _needy_rows(board.tasks[name])]
        lines += _rest(len(needy) - len(listed))
    room = len(board.tasks) if show_all else SCREEN
    for name, group in _groups(board, shown):
        listed = group if show_all else _limited(board, group, min(ROWS, room))
        room -= len(listed)
        lines += ["", _heading(board, name)]
        lines += [_row(task, depth) for task, depth in _tree([board.tasks[task] for task in listed])]
        lines += _rest(len(group) - len(listed))
    hidden = sum(board.counts.get(phase, 0) for phase in FINISHED)
    if hidden and not show_all and convoy is None:
        lines += [
            "",
            paint(f"{plural(hidden, 'finished task')} not shown; `paddock status --all` shows them", dim=True),
        ]
    return lines


def _halted(board: Board) -> list[str]:
    if (halted := board.halted) is None:
        return []
    from paddock.cli.halts import halt_lines

    return ["", *halt_lines(halted)]


def _counts(board: Board, convoy: str | None) -> str:
    counts = board.counts if convoy is None else board.convoy_counts[convoy]
    parts = [f"{counts[phase]:,} {phase.value}" for phase in Phase if counts.get(phase)]
    return paint(plural(sum(counts.values()), "task"), bold=True) + ": " + ", ".join(parts)


def _chosen(board: Board, convoy: str | None, *, show_all: bool) -> Collection[TaskId]:
    if convoy is not None:
        return dict.fromkeys(board.members[convoy])
    return board.tasks if show_all else board.open


def _needy(board: Board, convoy: str | None) -> list[TaskId]:
    inside = set(board.needy) if convoy is None else set(board.members[convoy])
    return sorted((name for name in board.needy if name in inside), key=task_number)


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
    """Every task below the last of its dependencies that is shown; depth is bounded so that lines stay lines."""
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


def _row(task: Task, depth: int) -> str:
    indent = "  " * depth
    lead = f"  {badge(task.phase)} {indent}{task.id:<5} "
    detail = _detail(task)
    room = width() - 20 - len(indent) - len(detail)
    return f"{lead}{cut(task.title, max(room, 20))}  {paint(detail, dim=True)}".rstrip()


def _detail(task: Task) -> str:
    words = []
    if (attempt := task.live_attempt) is not None:
        words.append(f"{attempt.id} {attempt.engine}")
        if attempt.stop_requested:
            words.append("stopping")
        if attempt.inlined:
            words.append(f"inlined {cut(attempt.inlined, 100)}")
    elif task.agent or task.engine:
        words.append("/".join(part for part in (task.agent, task.engine) if part))
    if task.reason:
        words.append(cut(task.reason, 100))
    if task.phase is Phase.READY and (left := task.not_before - time.time()) > 0:
        words.append(f"tried again in {age(0.0, left)}")
    words.append(age(task.since))
    return " · ".join(words)


def _needy_rows(task: Task) -> list[str]:
    rows = [_row(task, 0)]
    command = task.unblock or _next_command(task)
    if command:
        rows.append(" " * 20 + paint(f"run: {command}", dim=True))
    return rows


def _stopped_rows(stopped: StoppedEngine) -> list[str]:
    lead = "  " + paint("■ stopped  ", "red")
    return [
        f"{lead} {cut(stopped.reason, max(width() - 14, 40))}",
        " " * 20 + paint(f"run: {stopped.unblock}", dim=True),
    ]


def _next_command(task: Task) -> str:
    match task.phase:
        case Phase.APPROVAL:
            return f"paddock diff {task.id}, then paddock land {task.id}"
        case Phase.FAILED | Phase.BLOCKED:
            return f"paddock show {task.id}, then paddock retry {task.id}"
        case _:
            return ""
