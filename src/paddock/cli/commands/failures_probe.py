"""`paddock failures probe`: what failed is repeated, with one thing changed each time, to tell which class it is."""

import click

from paddock.cli.options import prints_json
from paddock.cli.terminal.text import print_document
from paddock.cli.workspace import open_workspace


@click.command("probe", short_help="Settle a tie: repeat a failed task.")
@click.argument("name", metavar="CAUSE")
@prints_json
@click.pass_context
def probe_command(ctx: click.Context, name: str, as_json: bool) -> None:
    """Settle a tie by trying: repeat one of the failed tasks unchanged, with another account, and on another host.

    Where this fleet has no other account or host, that repeat is left out, and you are told. Each repeat is one attempt
    of a task of its own, which lands only if you want it to. When all have ended, what they show settles the cause.
    """
    from paddock.fleet.failure_probes import probe_failure

    probed = probe_failure(open_workspace(ctx), name)
    if as_json:
        tasks = {repeat.value: task for repeat, task in probed.tasks.items()}
        print_document(id=probed.cause, attempt=probed.attempt, tasks=tasks, skipped=list(probed.skipped))
        return
    for repeat, task in probed.tasks.items():
        click.echo(f"{task} repeats {probed.attempt}: {repeat.value.replace('-', ' ')}")
    for words in probed.skipped:
        click.echo(f"not tried: {words}")
    how_far = "`paddock status` shows how far they are"
    click.echo(f"when they have ended, {probed.cause} is settled if they tell its class; {how_far}")
