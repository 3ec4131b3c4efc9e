"""`paddock messages`: what people told agents, and what became of it."""

from contextlib import closing

import click

from paddock.cli.options import prints_json
from paddock.cli.selection import parse_tasks
from paddock.cli.terminal.text import cut, paint, print_document, width
from paddock.cli.workspace import open_workspace
from paddock.fleet.message_log import read_answers, read_messages
from paddock.views.messages import MessageView, view_messages

MOST_SHOWN = 10_000
_COLOURS = {"queued": "yellow", "told": "yellow", "delivered": "green", "answered": "green", "dropped": "bright_black"}


@click.command("messages")
@click.argument("tasks", nargs=-1)
@click.option(
    "-n",
    "--last",
    "most",
    type=click.IntRange(1, MOST_SHOWN),
    default=30,
    show_default=True,
    help="How many; the newest.",
)
@prints_json
@click.pass_context
def messages_command(ctx: click.Context, tasks: tuple[str, ...], most: int, as_json: bool) -> None:
    """Show the messages to the agents of TASKS, or to all: sent, delivered, answered."""
    workspace = open_workspace(ctx)
    names = parse_tasks(tasks)
    with closing(workspace.read()) as store:
        board = store.board()
        for name in names:
            board.task(name)
        found = read_messages(store, board, names, most)
        seen = view_messages(found, read_answers(workspace.site, board, found))
    if as_json:
        print_document(messages=seen.messages)
        return
    if not seen.messages:
        click.echo(f"no message was sent{' to ' + ', '.join(names) if names else ''}", err=True)
    for one in seen.messages:
        _print_message(one)


def _print_message(one: MessageView) -> None:
    how = " at once" if one.now else ""
    again = f", like {one.like}" if one.like else ""
    state = paint(one.state.value, _COLOURS[one.state])
    click.echo(f"{one.id}  {one.task}  {state}  {one.at[:10]} {one.at[11:16]} by {one.by}{how}{again}")
    room = max(20, width() - 4)
    click.echo(f"    {cut(one.text, room)}")
    if one.evidence:
        click.echo(paint(f"    {cut(one.evidence, room)}", "bright_black"))
    if one.answer:
        click.echo(f"    → {cut(one.answer, room - 2)}")
