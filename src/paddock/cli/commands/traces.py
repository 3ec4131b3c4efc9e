"""`paddock traces`: what every attempt did, step by step, as a dataset."""

from typing import ClassVar

import click

from paddock.cli.subcommands import SubcommandGroup


class TracesGroup(SubcommandGroup):
    subcommands: ClassVar = {
        "list": "traces_list",
        "show": "traces_show",
        "diff": "traces_diff",
        "import": "traces_import",
        "export": "traces_export",
        "rebuild": "traces_rebuild",
        "forget": "traces_forget",
        "crosscheck": "traces_crosscheck",
    }


@click.group("traces", cls=TracesGroup)
def traces_command() -> None:
    """Show what agents did, step by step: the fleet's own attempts, and runs from elsewhere.

    Traces are normalised: the same symbols, whichever agent it was. They are made from the log and from what the turns
    have written, and `paddock traces rebuild` makes them again from there at any time.
    """
