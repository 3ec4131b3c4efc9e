"""What `paddock doctor` checks: the checkup of the fleet, and CI if that is asked for."""

from collections.abc import Iterator

from paddock.core.errors import PaddockError
from paddock.fleet.service.checkup import Health, Symptom
from paddock.fleet.workspace import Workspace


def examine_ci(workspace: Workspace) -> Iterator[Symptom]:
    """Runs CI once on main's tip."""
    from paddock.cli.pages.trial import SHOWN_LINES, cure_of_trial, tell_trial, try_once
    from paddock.core.merge.model import Result

    if not workspace.has_log:
        yield Symptom("ci", Health.WARNING, "it was not tried: there is no log", "paddock init")
        return
    try:
        trial = try_once(workspace)
    except PaddockError as error:
        yield Symptom("ci", Health.PROBLEM, error.message, error.hint or "")
        return
    if trial is None:
        yield Symptom("ci", Health.PROBLEM, "no CI command is configured", 'set `[land] ci = "make test"`')
    elif trial.ended.result is Result.PASS:
        yield Symptom("ci", Health.OK, tell_trial(trial))
    else:
        end = tuple(trial.output.splitlines()[-SHOWN_LINES:])
        yield Symptom("ci", Health.PROBLEM, tell_trial(trial), cure_of_trial(trial), end)
