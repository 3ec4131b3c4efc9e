"""Commands that have commands of their own, each of which is imported when it runs."""

from collections.abc import Mapping
from importlib import import_module
from typing import ClassVar

import click


class SubcommandGroup(click.Group):
    """`subcommands` has by name the module in `cli/commands` that defines `NAME_command`, in the order of help."""

    subcommands: ClassVar[Mapping[str, str]]

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.subcommands)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.subcommands:
            return None
        module = import_module(f"paddock.cli.commands.{self.subcommands[cmd_name]}")
        command = getattr(module, f"{cmd_name}_command")
        assert isinstance(command, click.Command)
        return command
