"""What there is to see of one task, as lines: its last turns, what would land, its CI runs, what happened to it.

These read files and ask git, so they are called in threads, each with a log of its own.
"""

import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

from rich.text import Text

from paddock.core.errors import PaddockError
from paddock.core.ids import TaskId
from paddock.core.review.open_count import open_words
from paddock.core.tasks.task import FINISHED, Attempt, Task
from paddock.fleet.attempts.excerpts import read_end
from paddock.fleet.attempts.openings import find_opening
from paddock.fleet.landing.ci_output import last_lines
from paddock.fleet.workspace import Workspace
from paddock.store.protocol import Store
from paddock.tui.order import moment
from paddock.tui.review_lines import review_lines
from paddock.tui.style import safe
from paddock.tui.transcript import excerpt_lines, opening_lines
from paddock.views.sight import sight_of
from paddock.views.standing import reason_of
from paddock.views.tasks.diff import view_task_diff, view_versions_diff
from paddock.views.tasks.page import LiveTask, TaskRunRow
from paddock.views.tasks.patch import DiffView, FileDiffView

TABS = ("preview", "diff", "CI", "events", "review")
SHOWN_ENTRIES = 60
SHOWN_RUNS = 8
CI_LINES = 60
DIFF_LINES = 8_000


@dataclass(frozen=True, slots=True)
class Page:
    """`facts` stay in sight above the lines. `head` is the version that a patch shows; None where it is no patch, or of
    no version that could land."""

    task: str
    tab: str
    lines: list[Text]
    wraps: bool = True
    head: str | None = None
    facts: tuple[Text, ...] = ()


def read_page(workspace: Workspace, task: TaskId, tab: str) -> Page:
    """What cannot be read is told in its place."""
    read = {"preview": _preview, "diff": _diff, "CI": _ci, "events": _events, "review": _review}[tab]
    try:
        with closing(workspace.read()) as store:
            return read(workspace, store, store.board().task(task))
    except PaddockError as error:
        return Page(task, tab, refusal_lines(error))
    except OSError as error:
        return Page(task, tab, [Text(f"this cannot be read: {safe(str(error), 400)}", "yellow")])


def refusal_lines(error: PaddockError) -> list[Text]:
    lines = [Text(safe(error.message), "yellow")]
    return [*lines, Text(f"hint: {safe(error.hint)}", "dim")] if error.hint else lines


# -- preview --------------------------------------------------------------------------------------------------


def _preview(workspace: Workspace, store: Store, task: Task) -> Page:
    attempt = task.last
    lines = _brief(store, task) if attempt is None else _turns(workspace, store, task, attempt)
    board = store.board()
    told = " · ".join(filter(None, (open_words(board, task), reason_of(workspace, board, None, task))))
    return Page(task.id, "preview", list(lines), facts=tuple(_standing(task, told)))


def _standing(task: Task, told: str) -> Iterator[Text]:
    attempt = task.last
    yield Text(f"{task.id} {safe(task.title, 400)}", "bold")
    when = "at" if task.phase in FINISHED else "since"
    words = [f"{task.phase.words}, {when} {time.strftime('%H:%M:%S', time.localtime(task.since))}"]
    words += [f"run: {task.unblock}"] if task.unblock else []
    if attempt is not None:
        who = attempt.agent if attempt.role.only_reads else task.agent
        what = f"{attempt.id} {attempt.role.value} by" if attempt.role.only_reads else f"{attempt.id} with"
        words.append(f"{what} {'/'.join(part for part in (who, attempt.engine) if part)}")
        words += [attempt.model] if attempt.model else []
    yield Text(safe(" · ".join(words), 400), "dim")
    if told:
        yield Text(safe(told))


def _brief(store: Store, task: Task) -> Iterator[Text]:
    brief = getattr(store.record(task.brief_seq).event, "brief", "")
    lines = (brief if isinstance(brief, str) else "").expandtabs(4).split("\n")
    yield Text("brief:", "dim")
    yield from (Text(f"│ {safe(line)}") for line in lines[:200])


def _turns(workspace: Workspace, store: Store, task: Task, attempt: Attempt) -> Iterator[Text]:
    """The last turn, and the one before it where there is room."""
    if not attempt.turn:
        yield Text(f"{attempt.id} is preparing its worktree" if attempt.live else f"{attempt.id} never began a turn")
        return
    for turn in range(max(1, attempt.turn - 1), attempt.turn + 1):
        part = read_end(workspace.site, attempt, turn, SHOWN_ENTRIES if turn == attempt.turn else SHOWN_ENTRIES // 4)
        opening = find_opening(store, task, attempt, turn)
        yield from opening_lines(attempt.id, turn, opening)
        yield from excerpt_lines(part)
    if not attempt.live and attempt.outcome is not None:
        yield Text(f"── {attempt.id} {attempt.outcome.value}: {safe(attempt.reason, 400)}", "bold")


# -- diff -----------------------------------------------------------------------------------------------------


def _diff(workspace: Workspace, store: Store, task: Task) -> Page:
    view = view_task_diff(workspace.site, store.board(), task)
    return Page(task.id, "diff", diff_lines(view), wraps=False, head=task.head)


def compare_versions(workspace: Workspace, task: TaskId, seen: str, now: str) -> list[Text]:
    """What a version has that the one that was shown had not."""
    try:
        return diff_lines(view_versions_diff(workspace.site, workspace.board().task(task), seen, now))
    except PaddockError as error:
        return refusal_lines(error)


def diff_lines(view: DiffView) -> list[Text]:
    files = f"{view.count} file{'' if view.count == 1 else 's'}"
    lines = [Text(safe(view.note), "yellow")] if view.note else []
    lines.append(
        Text(f"{files}, +{view.insertions:,} −{view.deletions:,}", "bold") if view.count else Text("no change")
    )
    for file in view.files:
        lines += _file_lines(file)
        if len(lines) > DIFF_LINES:
            lines = lines[:DIFF_LINES]
            lines.append(Text("… the rest is longer than this shows: paddock diff has all of it", "yellow"))
            break
    return lines


def _file_lines(file: FileDiffView) -> Iterator[Text]:
    was = f"{safe(file.old_path, 300)} → " if file.old_path else ""
    mode = f" · {safe(file.mode, 60)}" if file.mode else ""
    size = "binary" if file.binary else f"+{file.insertions:,} −{file.deletions:,}"
    yield Text()
    yield Text(f"{file.status} {was}{safe(file.path, 300)}  {size}{mode}", "bold")
    for hunk in file.hunks:
        yield Text(safe(hunk.header), "cyan")
        for line in hunk.lines:
            yield Text(f"{line.k}{safe(line.t.expandtabs(4))}", {"+": "green", "-": "red"}.get(line.k, ""))
    if file.truncated:
        yield Text("… more lines of this file: paddock diff has all of them", "yellow")


# -- CI -------------------------------------------------------------------------------------------------------


def _ci(workspace: Workspace, store: Store, task: Task) -> Page:
    """The newest run first, with the end of what it printed."""
    page = LiveTask(task.id).look(sight_of(workspace, store, time.time()))
    lines: list[Text] = []
    for run in [*page.runs.values()][: -SHOWN_RUNS - 1 : -1]:
        lines += _run_lines(workspace, run)
    return Page(task.id, "CI", lines or [Text(f"no CI run has tested {task.id} yet", "dim")])


def _run_lines(workspace: Workspace, run: TaskRunRow) -> Iterator[Text]:
    colour = {"running": "blue", "pass": "green", "fail": "red", "timeout": "red"}.get(run.state, "yellow")
    members = " ".join(run.members) or "main itself"
    words = f" · {run.purpose} of {safe(members, 200)} at {_clock(run.since)}"
    yield Text.assemble((f"{run.run} ", "bold"), (run.state, colour), words)
    if run.note:
        yield Text(f"  {safe(run.note, 400)}")
    for line in last_lines(workspace.site, run.run, CI_LINES).splitlines():
        yield Text(f"  {safe(line.expandtabs(4))}")
    yield Text()


# -- events ---------------------------------------------------------------------------------------------------


def _events(workspace: Workspace, store: Store, task: Task) -> Page:
    """The newest last, as in a log."""
    rows = LiveTask(task.id).look(sight_of(workspace, store, time.time())).timeline.values()
    lines = [
        Text.assemble((f"{_clock(row.at)} {row.seq:>6}  ", "dim"), safe(row.words, 400)) for row in rows if row.words
    ]
    return Page(task.id, "events", lines)


# -- review ---------------------------------------------------------------------------------------------------


def _review(workspace: Workspace, store: Store, task: Task) -> Page:
    return Page(task.id, "review", review_lines(LiveTask(task.id).look(sight_of(workspace, store, time.time()))))


def _clock(at: str) -> str:
    return time.strftime("%m-%d %H:%M:%S", time.localtime(moment(at)))
