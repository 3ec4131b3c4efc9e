"""What a person makes of a plan in a terminal: accept, edit, talk about it, drop it, or leave it for later."""

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import click

from paddock.cli.pages.plan import render_plan
from paddock.cli.plan_text import read_yaml, write_yaml
from paddock.cli.terminal.text import cut, print_json, say
from paddock.core.errors import PaddockError
from paddock.core.events import TaskAdded
from paddock.core.ids import TaskId, printable
from paddock.core.intent.messages import send_message
from paddock.core.intent.plan import drop_plan
from paddock.core.intent.tasks import added_in
from paddock.core.plan.plan import Plan
from paddock.fleet.plan_context import plan_limits
from paddock.fleet.plan_preview import OpenPlan, open_plan, preview_plan, record_acceptance
from paddock.fleet.service.presence import Presence, look_for_daemon
from paddock.fleet.workspace import Workspace
from paddock.views.plan import view_preview

QUESTION = "[a]ccept, [e]dit, [c]hat, [d]rop, or decide [l]ater?"
CHAT_QUESTION = "say what should be different, or accept, edit, drop, later"
WORDS = {
    "accept": "accept", "a": "accept", "edit": "edit", "e": "edit", "chat": "chat", "c": "chat",
    "drop": "drop", "d": "drop", "later": "later", "l": "later", "q": "later", "quit": "later", "": "later",
}  # fmt: skip
IN_FULL = frozenset({"accept", "edit", "drop", "later", "quit", ""})
"""What counts as a choice in the middle of a conversation: any other word is said to the planner."""


def show_plan(opened: OpenPlan, ids: Sequence[str] = (), *, as_json: bool = False) -> None:
    view = view_preview(opened.proposed, opened.preview, tuple(ids))
    if as_json:
        print_json(view)
        return
    for line in render_plan(view):
        say(line)


def accept(workspace: Workspace, opened: OpenPlan, *, quiet: bool = False) -> list[str]:
    """Adds its tasks. Raises PaddockError if the plan is not the newest any more, or was decided about."""
    records = record_acceptance(workspace, opened)
    for record in records if not quiet else ():
        if isinstance(record.event, TaskAdded):
            after = f"  after {', '.join(record.event.after)}" if record.event.after else ""
            agent = f"  for {printable(record.event.agent, 40)}" if record.event.agent else ""
            say(f"added {record.task}  {cut(record.event.title, 80)}{agent}{after}")
    if not quiet and look_for_daemon(workspace.board(), time.time()).presence is not Presence.RUNNING:
        click.echo("no daemon is running: `paddock up` starts one", err=True)
    return added_in(records)


def drop(workspace: Workspace, name: TaskId) -> None:
    workspace.record(lambda board: drop_plan(board, name))
    click.echo(f"dropped the plan of {name}; nothing was added", err=True)


def tell_later(name: TaskId) -> None:
    click.echo(
        f"nothing was added; `paddock plan --accept {name}` adds these tasks, "
        f"`--edit {name}` changes them first, `--drop {name}` drops them",
        err=True,
    )


def decide(workspace: Workspace, opened: OpenPlan, *, chat: bool, plan_again: Callable[[TaskId], None]) -> None:
    """Asks until the plan is accepted, dropped or left. `plan_again` waits for the planner after something was said."""
    name = opened.proposed.task
    while True:
        match _ask(chat=chat):
            case "accept":
                accept(workspace, opened)
                return
            case "drop":
                drop(workspace, name)
                return
            case "later":
                tell_later(name)
                return
            case "edit":
                opened = edit(workspace, opened)
                show_plan(opened)
            case "chat":
                chat = True
            case words:
                _tell_planner(workspace, name, words)
                plan_again(name)
                opened = open_plan(workspace, name, opened.convoy)
                show_plan(opened)


def _tell_planner(workspace: Workspace, name: TaskId, words: str) -> None:
    workspace.record(lambda board: send_message(board, [name], words))


def _ask(*, chat: bool) -> str:
    """A choice, or in a conversation what is said to the planner."""
    while True:
        click.echo(f"\n{CHAT_QUESTION if chat else QUESTION}", err=True)
        click.echo("> ", nl=False, err=True)
        try:
            line = sys.stdin.readline()
        except KeyboardInterrupt:
            click.echo(err=True)
            return "later"
        said = line.strip()
        if not line or (chat and said.lower() in IN_FULL):
            return WORDS[said.lower()]
        if chat:
            return said
        if said.lower() in WORDS:
            return WORDS[said.lower()]
        click.echo(f"`{printable(said, 40)}` is none of these", err=True)


def edit(workspace: Workspace, opened: OpenPlan) -> OpenPlan:
    """In the person's editor, again and again until it can be used; as it was if they give up."""
    text, known = write_yaml(opened.plan), workspace.known
    while True:
        try:
            changed = click.edit(text, extension=".yaml")
        except click.ClickException as error:
            click.echo(f"{error.format_message()}; set EDITOR to an editor of yours", err=True)
            return opened
        if changed is None or changed == text:
            return opened
        text = changed
        board = workspace.board()
        limits = plan_limits(workspace.config, board, board.task(opened.proposed.task))
        found = read_yaml(text, limits)
        if isinstance(found, Plan):
            try:
                return replace(opened, preview=preview_plan(workspace.site, board, found, known, edited=True))
            except PaddockError as refusal:
                found = [refusal.message]
        for problem in found[:20]:
            click.echo(f"  {cut(problem, 300)}", err=True)
        if not click.confirm("edit it again?", default=True, err=True):
            return opened
