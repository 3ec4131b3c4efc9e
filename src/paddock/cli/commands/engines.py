"""`paddock engines`: which agent CLIs are here, and whether they answer."""

import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

import click
import msgspec

from paddock.cli.options import prints_json
from paddock.cli.terminal.text import cut, paint, print_document
from paddock.cli.workspace import open_workspace
from paddock.core.errors import PaddockError
from paddock.core.intent.budget import reset_limits
from paddock.engines.protocol import Engine, Probe
from paddock.engines.registry import engine_names, load_engine
from paddock.engines.settings import EngineSettings
from paddock.fleet.service.tryout import Tryout, try_engine
from paddock.fleet.site import Site
from paddock.fleet.workspace import Workspace
from paddock.views.fleet.engines import view_engine

CHECK_SECONDS = 20.0
LEAST_SECONDS = 1.0


@click.group("engines", invoke_without_command=True)
@prints_json
@click.pass_context
def engines_command(ctx: click.Context, as_json: bool) -> None:
    """List the engines: whether each is installed, its version, and whether it is logged in."""
    if ctx.invoked_subcommand is not None:
        return
    workspace = open_workspace(ctx)
    settings = workspace.config.engines
    names = engine_names(settings)
    # Each starts a program to ask for its version; together they take as long as the slowest.
    with ThreadPoolExecutor(len(names)) as pool:
        probes = list(pool.map(lambda name: _probe(name, settings), names))
    if as_json:
        print_document(engines=[view_engine(probe) for probe in probes])
        return
    for probe in probes:
        click.echo(_line(probe))


@engines_command.command("check")
@click.argument("name")
@click.option(
    "--timeout", type=click.FloatRange(LEAST_SECONDS), default=CHECK_SECONDS, show_default=True, help="Seconds to wait."
)
@prints_json
@click.pass_context
def check_command(ctx: click.Context, name: str, timeout: float, as_json: bool) -> None:
    """Check that engine NAME works: ask it for one word, in a worktree. This spends a few tokens."""
    workspace = open_workspace(ctx)
    engine = load_engine(name, workspace.config.engines)
    with ThreadPoolExecutor(1) as pool:
        # At the same time: a cold CLI is slow enough to answer one of them.
        probing = pool.submit(engine.probe, os.environ)
        tried = _try(workspace, engine, timeout)
        probe = probing.result()
    answer, problem = tried.answer, tried.problem if probe.installed else "it is not installed"
    if as_json:
        row = msgspec.structs.asdict(view_engine(probe))
        print_document(**row, answer=answer, problem=problem, worktree=tried.where)
    else:
        click.echo(_line(probe))
        click.echo(f"  answer: {cut(answer, 100)}" if not problem else f"  no answer: {cut(problem, 300)}")
        hints = (*probe.hints, *((f"`--timeout {timeout * 3:g}` waits longer",) if "within" in problem else ()))
        for hint in hints if problem else ():
            click.echo(f"  hint: {hint}")
    if not problem and workspace.has_log:
        workspace.record(lambda _board: reset_limits(name, (name,)))
    ctx.exit(1 if problem else 0)


def _try(workspace: Workspace, engine: Engine, timeout: float) -> Tryout:
    site = Site(workspace.repo, workspace.config, workspace.state_dir, "check")
    return try_engine(site, engine, timeout)


def _probe(name: str, settings: Mapping[str, EngineSettings]) -> Probe:
    """An engine that cannot be loaded says why and does not hide the others."""
    try:
        return load_engine(name, settings).probe(os.environ)
    except PaddockError as error:
        return Probe(name, name, None, hints=(error.message, *([error.hint] if error.hint else [])))


def _line(probe: Probe) -> str:
    if not probe.installed:
        return f"{probe.engine:<10} {paint('not installed', dim=True)}  {'; '.join(probe.hints[:1])}".rstrip()
    login = probe.login or "login unknown"
    return f"{probe.engine:<10} {paint('installed', 'green')}  {probe.version or '?'}  {login}  {probe.path}"
