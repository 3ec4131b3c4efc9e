"""`paddock engines`: which agent CLIs are here, and whether they answer."""

import click
import msgspec

from paddock.cli.options import prints_json
from paddock.cli.terminal.text import cut, paint, print_document
from paddock.cli.workspace import open_workspace
from paddock.engines.protocol import Probe
from paddock.fleet.service.engine_check import CHECK_SECONDS, check_engine, probe_engines
from paddock.views.fleet.engines import view_engine

LEAST_SECONDS = 1.0


@click.group("engines", invoke_without_command=True)
@prints_json
@click.pass_context
def engines_command(ctx: click.Context, as_json: bool) -> None:
    """List the engines: whether each is installed, its version, and whether it is logged in."""
    if ctx.invoked_subcommand is not None:
        return
    config = open_workspace(ctx).config
    probes = probe_engines(config.engines)
    if as_json:
        print_document(engines=[view_engine(probe) for probe in probes])
        return
    for probe in probes:
        click.echo(_line(probe))
    if config.mcp.agents and (without := [probe.engine for probe in probes if not probe.mcp]):
        click.echo(f"\n[mcp] agents has no effect on {', '.join(without)}: they take no MCP server for a turn")


@engines_command.command("check")
@click.argument("name")
@click.option(
    "--timeout", type=click.FloatRange(LEAST_SECONDS), default=CHECK_SECONDS, show_default=True, help="Seconds to wait."
)
@prints_json
@click.pass_context
def check_command(ctx: click.Context, name: str, timeout: float, as_json: bool) -> None:
    """Check that engine NAME works: ask it for one word, in a worktree. This spends a few tokens."""
    checked = check_engine(open_workspace(ctx), name, timeout)
    probe, answer, problem = checked.probe, checked.answer, checked.problem
    if as_json:
        row = msgspec.structs.asdict(view_engine(probe))
        print_document(**row, answer=answer, problem=problem, worktree=checked.where)
    else:
        click.echo(_line(probe))
        click.echo(f"  answer: {cut(answer, 100)}" if not problem else f"  no answer: {cut(problem, 300)}")
        hints = (*probe.hints, *((f"`--timeout {timeout * 3:g}` waits longer",) if "within" in problem else ()))
        for hint in hints if problem else ():
            click.echo(f"  hint: {hint}")
    ctx.exit(1 if problem else 0)


def _line(probe: Probe) -> str:
    if not probe.installed:
        return f"{probe.engine:<10} {paint('not installed', dim=True)}  {'; '.join(probe.hints[:1])}".rstrip()
    login = probe.login or "login unknown"
    return f"{probe.engine:<10} {paint('installed', 'green')}  {probe.version or '?'}  {login}  {probe.path}"
