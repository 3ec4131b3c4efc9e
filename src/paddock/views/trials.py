"""A trial of CI as JSON."""

import msgspec

from paddock.fleet.landing.ci_trial import Trial


class TrialView(msgspec.Struct, frozen=True):
    commit: str
    result: str
    exit: int | None
    note: str
    cannot_run: str
    seconds: float
    output: list[str]


def view_trial(trial: Trial) -> TrialView:
    ended = trial.ended
    told = (ended.result.value, ended.exit, ended.note, ended.cannot_run)
    return TrialView(trial.commit, *told, round(trial.seconds, 1), trial.output.splitlines())
