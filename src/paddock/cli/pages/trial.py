"""A trial of CI in words: what `paddock doctor --ci` and `paddock init` say about the command they ran."""

import sys

import click

from paddock.cli.terminal.text import cut
from paddock.core.merge.model import Result
from paddock.fleet.landing.ci_trial import Trial, try_ci
from paddock.fleet.workspace import Workspace
from paddock.git.sandboxes.ci import define_ci

SHOWN_LINES = 10


def try_once(workspace: Workspace, at_most_seconds: float | None = None) -> Trial | None:
    """Runs CI on main's tip; None when no command is configured. Progress goes to standard error."""
    config = workspace.config
    definition = define_ci(config.land, config.land.keep)
    if definition is None:
        return None
    site = workspace.site
    seconds = config.land.timeout if at_most_seconds is None else at_most_seconds
    names = ", ".join(check.command for check in definition.checks)
    words = f"trying `{cut(names, 60)}` in a sandbox, for at most {seconds:.0f} s; Ctrl-C stops it"
    live = sys.stderr.isatty()
    click.echo(words, err=True, nl=not live)

    def beat(passed: float) -> None:
        if live:
            click.echo(f"\r{words} … {passed:.0f} s", err=True, nl=False)

    trial = try_ci(site, site.main_tip(), seconds, beat)
    if live:
        click.echo("\r\x1b[K", err=True, nl=False)
    return trial


def tell_trial(trial: Trial) -> str:
    """The result, in one honest sentence."""
    took = f"{trial.seconds:.1f} s"
    ended = trial.ended
    if ended.cannot_run:
        return f"CI cannot run on {trial.commit[:10]}: {ended.cannot_run}"
    match ended.result:
        case Result.PASS:
            words = f"passes, in {took}"
        case Result.TIMEOUT:
            words = f"starts, but had not finished after {took}"
        case Result.CANCELLED:
            words = f"was stopped by you after {took}"
        case Result.INFRA:
            words = f"got no verdict: {ended.note}"
        case _:
            words = f"does not pass: {ended.note}"
    return f"CI on {trial.commit[:10]} {words}"


def cure_of_trial(trial: Trial) -> str:
    """What to do about it; empty when nothing is wrong."""
    if trial.ended.cannot_run:
        return "edit `[land]` in paddock.toml (ci, checks, setup), or install what is missing"
    match trial.ended.result:
        case Result.FAIL:
            return "fix main, or the command in `[land]` of paddock.toml: nothing lands until it passes"
        case Result.TIMEOUT:
            return "`paddock doctor --ci` runs it for up to `[land] timeout`; raise that if it needs longer"
        case _:
            return ""


def end_of_trial(trial: Trial) -> list[str]:
    """The last lines of one that did not pass."""
    if trial.ended.result in (Result.PASS, Result.CANCELLED):
        return []
    return [f"  {cut(line, 200)}" for line in trial.output.splitlines()[-SHOWN_LINES:]]
