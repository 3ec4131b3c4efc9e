"""`paddock engines`: which agent CLIs are here, and whether they answer."""

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

import click

from paddock.cli.text import SCHEMA, cut, paint, print_json
from paddock.cli.workspace import open_workspace
from paddock.core.errors import PaddockError
from paddock.core.events import Draft, LimitsReset
from paddock.core.trace import Final
from paddock.engines.probe import ROUND_TRIP_PROMPT, run_round_trip
from paddock.engines.protocol import Engine, Probe, TurnRequest
from paddock.engines.registry import engine_names, load_engine
from paddock.engines.settings import EngineSettings
from paddock.git.command import run_git

ROUND_TRIP_SECONDS = 120.0


@click.group("engines", invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_context
def engines_command(ctx: click.Context, as_json: bool) -> None:
    """List the engines: installed? which version? logged in?"""
    if ctx.invoked_subcommand is not None:
        return
    workspace = open_workspace(ctx)
    settings = workspace.config.engines
    probes = [_probe(name, settings) for name in engine_names(settings)]
    if as_json:
        print_json({"schema": SCHEMA, "engines": [_row(probe) for probe in probes]})
        return
    for probe in probes:
        click.echo(_line(probe))


@engines_command.command("check")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_context
def check_command(ctx: click.Context, name: str, as_json: bool) -> None:
    """Probe engine NAME and let it answer one word. This spends a few tokens."""
    workspace = open_workspace(ctx)
    engine = load_engine(name, workspace.config.engines)
    probe = engine.probe(os.environ)
    answer, problem = round_trip(engine) if probe.installed else ("", "it is not installed")
    if as_json:
        print_json({"schema": SCHEMA, **_row(probe), "answer": answer, "problem": problem})
    else:
        click.echo(_line(probe))
        click.echo(f"  answer: {cut(answer, 100)}" if not problem else f"  no answer: {cut(problem, 300)}")
        for hint in probe.hints if problem else ():
            click.echo(f"  hint: {hint}")
    if not problem and workspace.log_path.exists():
        workspace.record(lambda _board: [Draft(LimitsReset(name))])
    ctx.exit(1 if problem else 0)


def round_trip(engine: Engine) -> tuple[str, str]:
    """The engine's answer to a one-word question, or what went wrong, in an empty repository of its own."""
    with tempfile.TemporaryDirectory(prefix="paddock-check-") as scratch:
        folder, worktree = Path(scratch) / "side", Path(scratch) / "work"
        folder.mkdir()
        worktree.mkdir()
        run_git(worktree, "init", "--quiet")
        request = TurnRequest(
            prompt=ROUND_TRIP_PROMPT,
            task_text="echo ready",
            worktree=worktree,
            folder=folder,
            base_env=os.environ,
            common_dir=worktree / ".git",
        )
        try:
            trip = run_round_trip(engine, request, ROUND_TRIP_SECONDS)
        except OSError as error:
            return "", str(error.strerror)
    summary = trip.summary
    if trip.exit_code is None:
        return "", f"no answer within {ROUND_TRIP_SECONDS:.0f} s"
    if trip.exit_code == 0 and summary.trouble is None and summary.final is not Final.ERROR:
        return summary.last_step or "(nothing)", ""
    said = summary.last_error or summary.final_reason or trip.stderr_tail.strip()[-300:]
    return "", f"exit {trip.exit_code}: {said}"


def _probe(name: str, settings: Mapping[str, EngineSettings]) -> Probe:
    """One that cannot be loaded says why and hides none of the others."""
    try:
        return load_engine(name, settings).probe(os.environ)
    except PaddockError as error:
        return Probe(name, name, None, hints=(error.message, *([error.hint] if error.hint else [])))


def _row(probe: Probe) -> dict[str, object]:
    return {
        "name": probe.engine,
        "installed": probe.installed,
        "version": probe.version,
        "path": str(probe.path) if probe.path else None,
        "authenticated": probe.authenticated,
        "hints": list(probe.hints),
    }


def _line(probe: Probe) -> str:
    if not probe.installed:
        return f"{probe.engine:<10} {paint('not installed', dim=True)}  {'; '.join(probe.hints[:1])}".rstrip()
    login = {True: "logged in", False: "not logged in", None: "login unknown"}[probe.authenticated]
    return f"{probe.engine:<10} {paint('installed', 'green')}  {probe.version or '?'}  {login}  {probe.path}"
