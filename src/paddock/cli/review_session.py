"""A person at a terminal decides about changes, one key each. Every decision names the version that was shown: one
that was replaced meanwhile is refused, and shown again as it is now."""

import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field

import click

from paddock.cli.commands.diff import read_patch
from paddock.cli.commands.land import queued_lines
from paddock.cli.pages.sheet import sheet_lines
from paddock.cli.terminal.complaint import complain
from paddock.cli.terminal.editor import write_words
from paddock.cli.terminal.keys import ask_key
from paddock.cli.terminal.pager import DiffColours, page
from paddock.cli.terminal.text import cut, paint, plural
from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.ids import TaskId
from paddock.core.intent.drafted_comments import send_comments
from paddock.core.intent.landing import Outdated, reject_task
from paddock.core.review.waiting import waiting_changes
from paddock.core.tasks.conversations import find_homes
from paddock.core.tasks.task import Phase
from paddock.fleet.landing.approval import ApprovalRequest, approve
from paddock.fleet.landing.handwork import open_to_edit, take_edited
from paddock.fleet.landing.preview import Preview, preview
from paddock.fleet.landing.sheet import Sheet, make_sheet
from paddock.fleet.workspace import Workspace

HELP = """\
  a  approve: it is queued, and lands when its tests pass
  r  reject, with a comment for its agent; comments on lines that wait go along
  e  edit it in a worktree of its own, then approve what you made of it
  d  show everything again, with the diff
  c  approve everything of its convoy that waits
  s  skip it: nothing is decided
  q  quit"""
MOST_FILES = 50


class Moved(Exception):
    """The version that was shown is not the one that waits any more."""


@dataclass
class ReviewSession:
    workspace: Workspace
    convoy: str | None = None
    approved: list[str] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)

    def run(self, names: list[TaskId]) -> None:
        for number, name in enumerate(names, 1):
            if not self._decide(name, f"{number} of {len(names)}"):
                break
        told = [
            f"{verb} {', '.join(found)}"
            for verb, found in (("approved", self.approved), ("rejected", self.rejected), ("skipped", self.skipped))
            if found
        ]
        click.echo(" · ".join(told) or "nothing decided")

    def _decide(self, name: TaskId, place: str) -> bool:
        """Whether to go on with the next one."""
        while True:
            board = self.workspace.board()
            if name not in {one.task for one in waiting_changes(board)}:
                if name not in self.approved:
                    click.echo(f"{name} {board.task(name).phase.words}: somebody has decided about it meanwhile")
                return True
            sheet = make_sheet(self.workspace, board, board.task(name))
            self._show(board, sheet)
            try:
                return self._ask(sheet, place)
            except Moved:
                continue

    def _show(self, board: Board, sheet: Sheet) -> None:
        shown = preview(self.workspace.site, board, sheet.task)
        page(self.workspace.repo, "\n".join([*sheet_lines(sheet), "", paint("diff", bold=True), self._patch(shown)]))

    def _patch(self, shown: Preview) -> str:
        text = read_patch(self.workspace, shown, ["-p"]).decode("utf-8", "replace")
        return DiffColours(self.workspace.repo).paint(text) if text else "it changes nothing\n"

    def _ask(self, sheet: Sheet, place: str) -> bool:
        """Raises Moved where it has to be shown again."""
        keys: dict[str, Callable[[Sheet], bool]] = {
            "a": self._approve,
            "r": self._reject,
            "e": self._edit,
            "c": self._approve_convoy,
            "s": self._skip,
        }
        while True:
            key = ask_key(_prompt(sheet, place))
            if key in ("q", "\x04", ""):
                return False
            if key == "d":
                raise Moved
            if key not in keys:
                click.echo(HELP)
                continue
            try:
                if keys[key](sheet):
                    return True
            except Outdated as error:
                complain(error.message, "it is shown as it is now")
                raise Moved from None
            except PaddockError as error:
                complain(error.message, error.hint)

    def _approve(self, sheet: Sheet) -> bool:
        undoes = [one.words for one in sheet.examined.unwanted]
        if undoes and not _confirmed(f"it undoes {cut('; '.join(undoes), 100)}: approve it nevertheless?"):
            return False
        name = sheet.task.id
        self._queue(ApprovalRequest((name,), undo=bool(undoes), expected={name: sheet.head}))
        return True

    def _queue(self, request: ApprovalRequest) -> None:
        done = approve(self.workspace, request)
        for line in queued_lines(done):
            click.echo(line)
        for one in done.refused:
            complain(one.error.message, one.error.hint)
        self.approved += [change.id for change in done.changes]

    def _approve_convoy(self, sheet: Sheet) -> bool:
        convoy, board = sheet.task.convoy or self.convoy, self.workspace.board()
        if convoy is None:
            raise PaddockError(f"`{sheet.task.id}` belongs to no convoy", "`a` approves it alone")
        waiting = [board.tasks[one.task] for one in waiting_changes(board, convoy)]
        able = [task for task in waiting if task.phase is Phase.APPROVAL and not board.reviews.blocking_of(task.id)]
        for task in able:
            click.echo(f"  {task.id:<5} {str(task.head)[:10]}  {cut(task.title, 60)}  {cut(task.reason, 60)}")
        if left := len(waiting) - len(able):
            click.echo(f"  {plural(left, 'other')} cannot land as they are")
        if not able or not _confirmed(f"approve {plural(len(able), 'change')} of convoy {cut(convoy, 40)}?"):
            return False
        names = tuple(task.id for task in able)
        self._queue(ApprovalRequest(names, expected={task.id: str(task.head) for task in able}))
        return sheet.task.id in self.approved

    def _reject(self, sheet: Sheet) -> bool:
        name, head = sheet.task.id, sheet.head
        along = f" with {plural(len(sheet.comments), 'comment')} on lines" if sheet.comments else ""
        said = click.prompt(
            f"reject {name}{along}; what to tell its agent (empty: your editor opens)", default="", show_default=False
        )
        message = said.strip() or write_words(f"# Why {name} is rejected.\n")
        if not message and not sheet.comments:
            click.echo("not rejected: there is nothing to tell")
            return False
        if sheet.comments:
            self.workspace.record(
                lambda board: send_comments(board, name, sheet.comments, message=message, rejects=True, seen=head)
            )
        else:
            self.workspace.record(lambda board: reject_task(board, name, message, head))
        click.echo(f"rejected {name}; it will be tried again")
        self.rejected.append(name)
        return True

    def _edit(self, sheet: Sheet) -> bool:
        task, site = sheet.task, self.workspace.site
        if task.phase is not Phase.APPROVAL:
            raise PaddockError(f"task `{task.id}` {task.phase.words}", f"`paddock resolve {task.id}` opens a worktree")
        folder, files = open_to_edit(site, task, sheet.head, find_homes(self.workspace.board()))
        click.echo(f"{folder} is on {task.branch}")
        _run_editor(str(folder), tuple(files)[:MOST_FILES])
        _commit(str(folder), f"Edit {task.id} during its review")
        made = take_edited(site, task)
        if made is None or made == sheet.head:
            click.echo("nothing was changed")
            return False
        page(self.workspace.repo, self._patch(Preview(sheet.head, made)))
        if not _confirmed(f"approve {task.id} with your changes, as {made[:10]}?"):
            click.echo(f"not approved; your commit is on {task.branch}, and `e` opens it again")
            return False
        self._queue(ApprovalRequest((task.id,), expected={task.id: sheet.head}, revised={task.id: made}))
        return True

    def _skip(self, sheet: Sheet) -> bool:
        self.skipped.append(sheet.task.id)
        return True


def _prompt(sheet: Sheet, place: str) -> str:
    convoy = "[c]onvoy " if sheet.task.convoy else ""
    return f"{sheet.task.id} ({place}): [a]pprove [r]eject [e]dit [d]iff {convoy}[s]kip [q]uit [?] "


def _confirmed(question: str) -> bool:
    return ask_key(f"{question} [y/N] ") == "y"


def _run_editor(folder: str, files: tuple[str, ...]) -> None:
    """The person's own, never what the repository's configuration names: agents can write that."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    ended = subprocess.run(("sh", "-c", f'{editor} "$@"', editor, *files), cwd=folder, check=False)
    if ended.returncode:
        raise PaddockError(
            f"the editor `{cut(editor, 60)}` ended with {ended.returncode}", "set EDITOR to one that works"
        )


def _commit(folder: str, message: str) -> None:
    """In the person's name; what they committed there themselves stays as it is."""
    subprocess.run(("git", "-C", folder, "add", "--all"), check=False)
    if subprocess.run(("git", "-C", folder, "diff", "--cached", "--quiet"), check=False).returncode == 0:
        return
    ended = subprocess.run(("git", "-C", folder, "commit", "--quiet", "-m", message), check=False)
    if ended.returncode:
        raise PaddockError(
            "git did not commit what you changed", f"commit it yourself in `{folder}`, then press `e` again"
        )
