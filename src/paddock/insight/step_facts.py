"""What the steps of a run tell about its work: tests after the last edit, and rules that were evaded."""

from collections.abc import Iterable

from msgspec.structs import replace

from paddock.insight.phases import Phase, phase_of
from paddock.insight.trace import Facts, Step, StepStatus, Trace

_EDITS = frozenset({Phase.EDIT.value, Phase.CREATE.value})
_DOC = ":doc"


class StepTally:
    """Takes steps as they come. A document needs no test, and what was denied has not happened."""

    def __init__(self) -> None:
        self._steps = 0
        self._tests = 0
        self._verified: bool | None = None
        self._no_verify = False
        self._forced = False

    def take(self, steps: Iterable[Step]) -> None:
        for step in steps:
            self._steps += 1
            if step.status is StepStatus.DENIED:
                continue
            phase = phase_of(step.activity)
            if phase == Phase.TEST:
                self._tests += 1
                self._verified = None if self._verified is None else True
            elif phase in _EDITS and step.status is not StepStatus.ERROR and not step.activity.endswith(_DOC):
                self._verified = False
            elif phase == Phase.GIT_WRITE:
                self._no_verify |= "--no-verify" in step.target
                self._forced |= step.target.startswith("git push") and "--force" in step.target

    def onto(self, facts: Facts) -> Facts:
        """The facts with those of the steps, as far as these are not known yet; without any step nothing is known."""
        if not self._steps:
            return facts
        return replace(
            facts,
            verified_last_edit=self._verified if facts.verified_last_edit is None else facts.verified_last_edit,
            tests_run=self._tests if facts.tests_run is None else facts.tests_run,
            no_verify=self._no_verify if facts.no_verify is None else facts.no_verify,
            force_push=self._forced if facts.force_push is None else facts.force_push,
        )


def with_step_facts(trace: Trace) -> Trace:
    tally = StepTally()
    tally.take(trace.steps)
    return replace(trace, facts=tally.onto(trace.facts))
