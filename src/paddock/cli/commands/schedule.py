"""`paddock schedule`: work that comes back by the clock."""

from importlib import import_module

import click

SUBCOMMANDS: dict[str, str] = {
    "add": "schedule_add",
    "list": "schedule_list",
    "show": "schedule_list",
    "forecast": "schedule_list",
    "run": "schedule_change",
    "pause": "schedule_change",
    "resume": "schedule_change",
    "remove": "schedule_change",
}
"""By name the module, which has it as `NAME_command`, in the order in which help lists them."""


class ScheduleGroup(click.Group):
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


@click.group("schedule", cls=ScheduleGroup)
def schedule_command() -> None:
    """Add tasks, plans or workflows by the clock, and know before what a day of them may cost.

    The daemon fires what is due: `paddock up` starts it. Times that went by without one are made up for as
    `--catch-up` says.
    """
