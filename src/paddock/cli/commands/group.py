"""`paddock group`: the repositories that share accounts with this one."""

import time

import click

from paddock.cli.options import prints_json
from paddock.cli.pages.group import group_lines, marker_in_group
from paddock.cli.terminal.text import cut, plural, print_document, print_json
from paddock.cli.workspace import open_workspace
from paddock.config.group import group_file_of
from paddock.core.errors import PaddockError
from paddock.fleet.group.place import GroupPlace, group_of
from paddock.fleet.group.roll import forget_member, known_groups, read_roll
from paddock.fleet.workspace import Workspace
from paddock.views.fleet.group import view_group

JOIN = 'set `name = "NAME"` under [group] in paddock.toml, the same in each repository'


@click.group("group")
def group_command() -> None:
    """The repositories that share accounts, limits and pauses.

    A repository joins with [group] name in its paddock.toml; the limits of all of them together are in
    ~/.config/paddock/groups/NAME.toml.
    """


@group_command.command("show")
@click.argument("name", required=False)
@prints_json
@click.pass_context
def show_command(ctx: click.Context, name: str | None, as_json: bool) -> None:
    """Show the repositories of this one's group, or of group NAME: what each has running and has spent, and what is
    left."""
    workspace = open_workspace(ctx)
    roll = read_roll(_place(workspace, name), time.time())
    view = view_group(roll, marker_in_group(workspace))
    if as_json:
        print_json(view)
        return
    for line in group_lines(roll, view):
        click.echo(line)
    if roll.trouble:
        raise PaddockError(f"group `{roll.place.name}` cannot be reached: {roll.trouble}", roll.hint or None)


@group_command.command("forget")
@click.argument("repository")
@prints_json
@click.pass_context
def forget_command(ctx: click.Context, repository: str, as_json: bool) -> None:
    """Forget a repository that is gone for good: its agents and what it has spent today no longer count.

    REPOSITORY is its name or its path, as `paddock group show` tells them.
    """
    workspace = open_workspace(ctx)
    place = _place(workspace, None)
    entry = forget_member(place, repository, time.time())
    if as_json:
        print_document(group=place.name, forgotten=entry.place, agents=entry.running)
        return
    agents = f", of which {plural(entry.running, 'agent')} may have been at work" if entry.running else ""
    click.echo(f"group `{place.name}` has forgotten `{entry.place}`{agents}")


def _place(workspace: Workspace, name: str | None) -> GroupPlace:
    if name is not None:
        if not (group_file_of(name).exists() or workspace.config.group.name == name):
            known = ", ".join(f"`{one}`" for one in known_groups())
            raise PaddockError(
                f"there is no group `{cut(name, 64)}`", f"known here: {known}" if known else f"to make one, {JOIN}"
            )
        return GroupPlace(name, group_file_of(name))
    place = group_of(workspace.config)
    if place is None:
        raise PaddockError("this repository is in no group", f"to join one, {JOIN}")
    return place
