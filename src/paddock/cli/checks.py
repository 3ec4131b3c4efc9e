"""What `paddock doctor` checks: the checkup of the fleet, and CI if that is asked for."""

from collections.abc import Iterator

from paddock.core.errors import PaddockError
from paddock.fleet.service.checkup import Finding, Health
from paddock.fleet.workspace import Workspace


def examine_ci(workspace: Workspace) -> Iterator[Finding]:
    """Runs CI once on main's tip."""
    from paddock.cli.pages.trial import SHOWN_LINES, cure_of_trial, tell_trial, try_once
    from paddock.core.merge.model import Result

    if not workspace.has_log:
        yield Finding("ci", Health.WARNING, "it was not tried: there is no log", "paddock init")
        return
    try:
        trial = try_once(workspace)
    except PaddockError as error:
        yield Finding("ci", Health.PROBLEM, error.message, error.hint or "")
        return
    if trial is None:
        yield Finding("ci", Health.PROBLEM, "no CI command is configured", 'set `[land] ci = "make test"`')
    elif trial.ended.result is Result.PASS:
        yield Finding("ci", Health.OK, tell_trial(trial))
    else:
        end = tuple(trial.output.splitlines()[-SHOWN_LINES:])
        yield Finding("ci", Health.PROBLEM, tell_trial(trial), cure_of_trial(trial), end)
