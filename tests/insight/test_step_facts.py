"""What steps tell of the work."""

import pytest

from paddock.insight.step_facts import StepTally
from paddock.insight.trace import Facts, Step, StepStatus

NOTHING = Facts()


def facts(*steps: str | Step, known: Facts = NOTHING) -> Facts:
    tally = StepTally()
    tally.take(step if isinstance(step, Step) else Step(activity=step) for step in steps)
    return tally.onto(known)


@pytest.mark.parametrize(
    ("steps", "verified"),
    [
        (("EDIT:src", "TEST"), True),
        (("TEST", "EDIT:src"), False),
        (("EDIT:src", "TEST", "EDIT:doc"), True),
        (("READ:src", "TEST"), None),
        (("CREATE:test", "RUN"), False),
        (("EDIT:src", Step(activity="TEST", status=StepStatus.ERROR)), True),
        (("EDIT:src", Step(activity="TEST", status=StepStatus.DENIED)), False),
        ((Step(activity="EDIT:src", status=StepStatus.ERROR),), None),
    ],
)
def test_whether_a_test_ran_after_the_last_edit(steps: tuple[str | Step, ...], verified: bool | None) -> None:
    assert facts(*steps).verified_last_edit is verified


def test_rules_that_were_evaded_are_told() -> None:
    quiet = facts("GIT_WRITE", "TEST", "TEST")
    assert (quiet.no_verify, quiet.force_push, quiet.tests_run) == (False, False, 2)
    loud = facts(
        Step(activity="GIT_WRITE", target="git commit --no-verify"),
        Step(activity="GIT_WRITE", target="git push --force"),
    )
    assert (loud.no_verify, loud.force_push) == (True, True)


def test_what_is_known_already_stays_and_without_a_step_nothing_is_known() -> None:
    assert facts("TEST", known=Facts(tests_run=7)).tests_run == 7
    assert facts() == NOTHING
