"""`paddock config check|show`."""

import click

from paddock.cli.options import prints_json
from paddock.cli.terminal.text import cut, paint, plural, print_document
from paddock.cli.workspace import open_workspace
from paddock.config.fields import fields_of
from paddock.config.load import FILE_NAME, Loaded, Setting, unknown_setting
from paddock.config.schema import Config
from paddock.core.durations import format_duration
from paddock.fleet.workspace import Workspace


@click.group("config")
def config_command() -> None:
    """Show and check the effective configuration."""


@config_command.command("check")
@prints_json
@click.pass_context
def check_command(ctx: click.Context, as_json: bool) -> None:
    """Check paddock.toml and the environment."""
    from paddock.fleet.service.config_check import config_findings

    workspace = open_workspace(ctx)
    loaded = workspace.load()
    findings = [*loaded.warnings, *config_findings(loaded.config)]
    if as_json:
        print_document(file=str(loaded.path) if loaded.path else None, warnings=findings)
    else:
        for finding in findings:
            click.echo(f"warning: {finding}", err=True)
        where = FILE_NAME if loaded.path else f"no {FILE_NAME}; using the defaults"
        click.echo(f"{where}: {'ok' if not findings else plural(len(findings), 'warning')}")


@config_command.command("show")
@click.argument("key", required=False)
@prints_json
@click.pass_context
def show_command(ctx: click.Context, key: str | None, as_json: bool) -> None:
    """Print every key with its value and source, or only KEY and the keys below it."""
    workspace = open_workspace(ctx)
    loaded = workspace.load()
    shown = [setting for setting in loaded.settings if key is None or _below(setting.key, key)]
    if key is not None and not shown and key not in fields_of(Config):
        raise unknown_setting("config show", key)
    if as_json:
        print_document(settings=shown)
        return
    _print_settings(workspace, loaded, shown)


def _below(key: str, wanted: str) -> bool:
    return key == wanted or key.startswith(wanted + ".")


def _print_settings(workspace: Workspace, loaded: Loaded, shown: list[Setting]) -> None:
    longest = max((len(setting.key) for setting in shown), default=0)
    for setting in shown:
        value = _value(setting)
        source = paint(setting.source, dim=setting.source == "default")
        click.echo(f"{setting.key:<{longest}}  {cut(value, 60):<24}  {source}")
    if loaded.path is None:
        click.echo(f"\nno {FILE_NAME} in {workspace.top}: `paddock init` writes one", err=True)


def _value(setting: Setting) -> str:
    section, _, name = setting.key.rpartition(".")
    parent = fields_of(Config).get(section.partition(".")[0])
    struct = parent.section if parent is not None and parent.section is not None else Config
    field = fields_of(struct).get(name)
    if field is not None and field.is_duration and isinstance(setting.value, float):
        return format_duration(setting.value)
    if isinstance(setting.value, bool):
        return str(setting.value).lower()
    if isinstance(setting.value, dict):
        return ", ".join(f"{name}={value}" for name, value in setting.value.items())
    return str(setting.value) if not isinstance(setting.value, tuple) else ", ".join(map(str, setting.value))
