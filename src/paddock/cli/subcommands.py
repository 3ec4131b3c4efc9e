"""Commands that have commands of their own, each of which is imported when it runs."""

from collections.abc import Mapping
from importlib import import_module
from typing import ClassVar

import click

from paddock.core.errors import Misuse
from paddock.core.ids import printable
from paddock.core.wording import nearest


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

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in self.subcommands and not args[0].startswith("-") and not ctx.resilient_parsing:
            group = ctx.command_path
            near = nearest(args[0], self.subcommands)
            hint = f"did you mean `{group} {near}`?" if near else f"`{group} --help` lists its commands"
            raise Misuse(f"there is no command `{group} {printable(args[0], 40)}`", hint)
        return super().resolve_command(ctx, args)
