"""`paddock schedule`: work that comes back by the clock."""

from typing import ClassVar

import click

from paddock.cli.subcommands import SubcommandGroup


class ScheduleGroup(SubcommandGroup):
    subcommands: ClassVar = {
        "add": "schedule_add",
        "list": "schedule_list",
        "show": "schedule_list",
        "forecast": "schedule_list",
        "run": "schedule_change",
        "pause": "schedule_change",
        "resume": "schedule_change",
        "remove": "schedule_change",
    }


@click.group("schedule", cls=ScheduleGroup)
def schedule_command() -> None:
    """Add tasks, plans or workflows by the clock, and know before what a day of them may cost.

    The daemon fires what is due: `paddock up` starts it. Times that went by without one are made up for as
    `--catch-up` says.
    """
