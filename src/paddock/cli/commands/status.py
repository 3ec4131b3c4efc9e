"""`paddock status` with options; without any, `main` answers it directly."""

from typing import TYPE_CHECKING

import click

from paddock.cli.pages.overview import show_status
from paddock.cli.selection import takes_where
from paddock.cli.several import do_in_each, takes_repositories
from paddock.cli.workspace import open_workspace
from paddock.core.errors import Misuse
from paddock.fleet.workspace import Workspace

if TYPE_CHECKING:
    from paddock.core.filter.tasks import TaskFilter


@click.command("status")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@click.option("--convoy", help="Only the tasks of this convoy.")
@takes_where
@click.option("--all", "show_all", is_flag=True, help="Include finished tasks, and show every row.")
@takes_repositories
@click.option("--watch", "stay", is_flag=True, help="Stay and show it live, as `paddock watch` does.")
@click.pass_context
def status_command(
    ctx: click.Context,
    as_json: bool,
    convoy: str | None,
    where: "TaskFilter | None",
    show_all: bool,
    places: tuple[str, ...],
    stay: bool,
) -> None:
    """Show the tasks, what is running, and what needs you."""
    if places:
        if stay:
            raise Misuse("--watch shows one repository", "for several: `paddock web --repo A --repo B`")
        _show_each(ctx, places, convoy, where, as_json=as_json, show_all=show_all)
        return
    if not stay:
        show_status(open_workspace(ctx), as_json=as_json, convoy=convoy, where=where, show_all=show_all)
        return
    if where is not None:
        raise Misuse("--watch does not take --where", "`paddock top` shows a fleet live, and / filters it")
    if show_all and not as_json:
        raise Misuse("--watch shows what fits on the screen: --all does not go with it", "omit one of the two")
    from paddock.cli.commands.watch import watch

    ctx.exit(watch(open_workspace(ctx, "watch"), convoy, as_json=as_json))


def _show_each(
    ctx: click.Context,
    places: tuple[str, ...],
    convoy: str | None,
    where: "TaskFilter | None",
    *,
    as_json: bool,
    show_all: bool,
) -> None:
    from msgspec.structs import asdict

    from paddock.cli.pages.overview import read_status

    def fields_of(workspace: Workspace) -> dict[str, object]:
        seen = asdict(read_status(workspace, workspace.board(), convoy, where))
        return {name: value for name, value in seen.items() if name != "schema"}

    def show(workspace: Workspace) -> None:
        show_status(workspace, convoy=convoy, where=where, show_all=show_all)

    def look(workspace: Workspace) -> Workspace:
        workspace.board()
        return workspace

    do_in_each(ctx, places, look, show, fields_of if as_json else None)
