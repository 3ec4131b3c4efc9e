"""`paddock store schema`: the SQL for whoever owns the database."""

import click

from paddock.cli.workspace import open_workspace
from paddock.config.addresses import login_of
from paddock.core.errors import Misuse
from paddock.core.ids import printable
from paddock.store.location import postgres_store


@click.command("schema")
@click.option("--role", metavar="NAME", help="The role that Paddock will log in as. Default: the one in [store] url.")
@click.pass_context
def schema_command(ctx: click.Context, role: str | None) -> None:
    """Print SQL for whoever owns the database.

    It creates the tables of a log, and a role that may add records and nothing else: `paddock store schema | psql
    DATABASE`. Then `paddock init` needs no right to create anything. This connects to nothing and changes nothing.
    """
    postgres_store()
    from paddock.store.postgres_schema import schema_as_text

    workspace = open_workspace(ctx)
    user, database = login_of(workspace.config.store.url)
    name = role if role is not None else user or "paddock"
    if not name or "\0" in name or len(name.encode()) > 63:
        raise Misuse(f"--role: `{printable(name, 80)}` cannot be the name of a role", "at most 63 bytes")
    click.echo(schema_as_text(workspace.config.store.schema, database or "paddock", name), nl=False)
