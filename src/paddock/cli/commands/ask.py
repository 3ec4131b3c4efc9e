"""`paddock ask` and `paddock noop`: what agents say about their own task in the middle of their work."""

import sys

import click

from paddock.cli.options import DURATION, prints_json
from paddock.cli.terminal.text import print_document
from paddock.cli.workspace import open_workspace
from paddock.core.durations import format_duration
from paddock.core.errors import Misuse
from paddock.core.intent.questions import LONGEST_WAIT_SECONDS, declare_noop

END_TURN = "end your turn: the answer comes as your next message"


@click.command("ask")
@click.argument("question")
@click.option("--wait", type=DURATION, default=0.0, help="Wait this long for the answer, 10m at most, and print it.")
@prints_json
@click.pass_context
def ask_command(ctx: click.Context, question: str, wait: float, as_json: bool) -> None:
    """Put QUESTION to a person; for agents, inside their attempt.

    The task is shown as one that needs an answer. Once the agent has ended its turn, a message from a person,
    `paddock message t3 "…"`, continues the conversation.
    """
    workspace = open_workspace(ctx)
    if wait > LONGEST_WAIT_SECONDS:
        raise Misuse(
            f"--wait {format_duration(wait)} is longer than {format_duration(LONGEST_WAIT_SECONDS)}",
            f"ask without it, and {END_TURN}",
        )
    from paddock.fleet.questions import AskedQuestion, ask

    def tell(asked: AskedQuestion) -> None:
        if as_json:
            print_document(task=asked.task, attempt=asked.attempt, question=asked.question, answer=asked.answer)
        elif asked.answer is not None:
            click.echo(asked.answer)
        else:
            click.echo(f"asked; {END_TURN}" if not wait else f"nobody has answered yet; {END_TURN}")
        sys.stdout.flush()

    ask(workspace, question, wait, tell)


@click.command("noop")
@click.argument("reason")
@prints_json
@click.pass_context
def noop_command(ctx: click.Context, reason: str, as_json: bool) -> None:
    """Declare that the task needs no change, because of REASON; for agents, inside their attempt."""
    workspace = open_workspace(ctx)
    [record] = workspace.record(lambda board: declare_noop(board, workspace.worker, reason))
    if as_json:
        print_document(task=record.task, attempt=record.attempt)
    else:
        click.echo("noted; end your turn without a commit")
