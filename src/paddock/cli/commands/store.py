"""`paddock store`: where the log is kept."""

from typing import ClassVar

import click

from paddock.cli.subcommands import SubcommandGroup


class StoreGroup(SubcommandGroup):
    subcommands: ClassVar = {"show": "store_show", "migrate": "store_migrate", "schema": "store_schema"}


@click.group("store", cls=StoreGroup)
def store_command() -> None:
    """Show where the log is kept, and move it.

    It is in a file of the repository, or in a PostgreSQL database that several machines share: [store] in paddock.toml
    says which.
    """
