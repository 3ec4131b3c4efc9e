"""A trial of CI as JSON."""

import msgspec

from paddock.fleet.landing.ci_trial import Trial
from paddock.views.document import view_of


class TrialView(msgspec.Struct, frozen=True):
    commit: str
    result: str
    exit: int | None
    note: str
    cannot_run: str
    seconds: float
    output: list[str]


def view_trial(trial: Trial) -> TrialView:
    seconds, output = round(trial.seconds, 1), trial.output.splitlines()
    return view_of(TrialView, trial.ended, commit=trial.commit, seconds=seconds, output=output)
