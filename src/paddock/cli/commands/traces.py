"""`paddock traces`: what every attempt did, step by step, as a dataset."""

from importlib import import_module

import click

SUBCOMMANDS: dict[str, str] = {
    "list": "traces_list",
    "show": "traces_show",
    "diff": "traces_diff",
    "import": "traces_import",
    "export": "traces_export",
    "rebuild": "traces_rebuild",
    "forget": "traces_forget",
    "crosscheck": "traces_crosscheck",
}
"""By name the module, which has it as `NAME_command`, in the order in which help lists them."""


class TracesGroup(click.Group):
    """Each command is imported when it runs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(SUBCOMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in SUBCOMMANDS:
            return None
        module = import_module(f"paddock.cli.commands.{SUBCOMMANDS[cmd_name]}")
        command = getattr(module, f"{cmd_name}_command")
        assert isinstance(command, click.Command)
        return command


@click.group("traces", cls=TracesGroup)
def traces_command() -> None:
    """Show what agents did, step by step: the fleet's own attempts, and runs from elsewhere.

    Traces are normalised: the same symbols, whichever agent it was. They are made from the log and from what the turns
    have written, and `paddock traces rebuild` makes them again from there at any time.
    """
