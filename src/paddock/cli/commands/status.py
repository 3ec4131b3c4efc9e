"""`paddock status` with options; without any, `main` answers it directly."""

import click

from paddock.cli.pages.overview import show_status
from paddock.cli.workspace import open_workspace
from paddock.core.errors import Misuse


@click.command("status")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@click.option("--convoy", help="Only the tasks of this convoy.")
@click.option("--all", "show_all", is_flag=True, help="Include finished tasks, and show every row.")
@click.option("--watch", "stay", is_flag=True, help="Stay and show it live, as `paddock watch` does.")
@click.pass_context
def status_command(ctx: click.Context, as_json: bool, convoy: str | None, show_all: bool, stay: bool) -> None:
    """Show the tasks, what is running, and what needs you."""
    if not stay:
        show_status(open_workspace(ctx), as_json=as_json, convoy=convoy, show_all=show_all)
        return
    if show_all and not as_json:
        raise Misuse("--watch shows what fits on the screen: --all does not go with it", "omit one of the two")
    from paddock.cli.commands.watch import watch

    ctx.exit(watch(open_workspace(ctx, "watch"), convoy, as_json=as_json))
