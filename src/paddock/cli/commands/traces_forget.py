"""`paddock traces forget`: a batch that nobody needs any more."""

import click

from paddock.cli.options import prints_json
from paddock.cli.terminal.text import plural, print_document
from paddock.cli.workspace import open_workspace
from paddock.core.errors import Misuse, NotFound
from paddock.core.ids import printable
from paddock.insight.dataset.headers import FLEET
from paddock.insight.dataset.imports import read_imports
from paddock.insight.dataset.location import dataset_folder, dataset_path
from paddock.insight.dataset.writer import DatasetWriter
from paddock.insight.formats.kept_input import kept_folder, remove_unwanted


@click.command("forget")
@click.argument("label")
@prints_json
@click.pass_context
def forget_command(ctx: click.Context, label: str, as_json: bool) -> None:
    """Remove a batch of imported runs from the dataset. A rebuild leaves them out from then on. What they were imported
    from stays as it is: to have them back, import it again."""
    if label == FLEET:
        raise Misuse(f"`{FLEET}` are the fleet's own attempts: they are made from the log", "name an imported batch")
    workspace = open_workspace(ctx)
    workspace.board()
    path = dataset_path(workspace.state_dir)
    with DatasetWriter.open(path) as writer:
        removed = writer.remove(label)
    if removed is None:
        raise _unknown(label)
    remove_unwanted(kept_folder(dataset_folder(workspace.state_dir)), [one.path for one in read_imports(path)])
    if as_json:
        print_document(label=label, runs=removed)
    else:
        click.echo(f"forgot {plural(removed, 'run')} of `{printable(label)}`")


def _unknown(label: str) -> NotFound:
    return NotFound(
        f"there is no batch `{printable(label)}`", "run `paddock traces list --labels` to see those there are"
    )
