"""`paddock queue restore`: landed work that a commit from an older checkout undid returns through the queue."""

import click

from paddock.cli.options import prints_json
from paddock.cli.terminal.text import print_document
from paddock.cli.workspace import open_workspace
from paddock.fleet.landing.restoration import contested_words, find_undone, how_to_settle, make_branch


@click.command("restore")
@click.argument("commit")
@click.option("--dismiss", is_flag=True, help="The commit was intended: do not mention it again.")
@prints_json
@click.pass_context
def restore_command(ctx: click.Context, commit: str, dismiss: bool, as_json: bool) -> None:
    """Restore landed work that COMMIT undid.

    COMMIT was made from an older checkout. A branch with the landed lines and all later edits is queued; it lands when
    its tests pass, like any other. Landed lines that COMMIT replaced with its own are left to you.
    """
    workspace = open_workspace(ctx)
    work = find_undone(workspace, commit, dismiss=dismiss)
    if dismiss:
        if as_json:
            print_document(dismissed=work.commit)
        else:
            click.echo(f"{work.commit[:10]} will not be mentioned again")
        return
    from paddock.cli.commands.land import queue_all
    from paddock.cli.selection import Wanted
    from paddock.core.intent.selection import Selection

    wanted = Wanted(Selection(), yes=True, as_json=as_json)
    queue_all(ctx, wanted, (make_branch(workspace, work),))
    if work.contested and not as_json:
        click.echo(f"\n{contested_words(work)}\n{how_to_settle(work)}")
