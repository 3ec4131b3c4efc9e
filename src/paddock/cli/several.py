"""Commands that do the same in each of several repositories: what fails in one holds up none of the others."""

import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from paddock.cli.terminal.complaint import complain
from paddock.cli.terminal.text import paint, print_document
from paddock.cli.workspace import find_named, open_workspace
from paddock.core.errors import PaddockError
from paddock.core.intent.workers import NotForWorkers
from paddock.fleet.workspace import Workspace

T = TypeVar("T")

takes_repositories = click.option(
    "--repo",
    "places",
    multiple=True,
    metavar="PATH",
    help="The repository, by any path in it; several times for several. Default: the current one.",
)


def do_in_each(
    ctx: click.Context,
    places: Sequence[str],
    work: Callable[[Workspace], T],
    say: Callable[[T], None],
    fields_of: Callable[[T], dict[str, Any]] | None,
) -> None:
    """`say` tells what came of `work`; `fields_of` makes JSON of it, where that is wanted. Exits 1 if it failed in any.
    Raises what `work` raises where there is one repository alone."""
    named = find_named(ctx, places)
    if len(named) < 2:
        done = work(open_workspace(ctx, place=named[0].path if named else None))
        print_document(**fields_of(done)) if fields_of is not None else say(done)
        return
    rows: list[dict[str, Any]] = []
    for number, one in enumerate(named):
        if fields_of is None:
            click.echo(("\n" if number else "") + paint(one.said, bold=True))
        try:
            done = work(open_workspace(ctx, place=one.path))
        except NotForWorkers:
            raise
        except PaddockError as error:
            rows.append({"repository": str(one.path), "error": {"message": error.message, "hint": error.hint}})
            if fields_of is None:
                sys.stdout.flush()
                complain(error.message, error.hint)
            continue
        rows.append({"repository": str(one.path), "error": None, **(fields_of(done) if fields_of is not None else {})})
        if fields_of is None:
            say(done)
    if fields_of is not None:
        print_document(repositories=rows)
    ctx.exit(1 if any(row["error"] for row in rows) else 0)
