"""What repeats of a failed attempt tell, and when that is recorded."""

import pytest

from paddock.core.causes.events import CauseLeftOpen, CauseSettled
from paddock.core.causes.model import Cause
from paddock.core.causes.probing import PROBE, Repeat, end_probes, settle_probed
from paddock.core.causes.vocabulary import FailureCause
from paddock.core.errors import PaddockError
from paddock.core.events import Draft, TaskCancelled
from paddock.core.ids import TaskId
from paddock.core.intent.causes import probe_cause, settle_cause
from paddock.core.intent.landing import is_approved_by_policy
from paddock.core.intent.tasks import Known, TaskSpec
from paddock.core.tasks.task import Phase
from paddock.core.tasks.vocabulary import Outcome
from tests.core.causes.ward import Ward

KNOWN = Known(frozenset(), frozenset({"claude", "other"}))
UNKNOWN, NETWORK, DEPENDENCY = FailureCause.UNKNOWN, FailureCause.NETWORK, FailureCause.DEPENDENCY
SAME, HOST, ACCOUNT = Repeat.UNCHANGED, Repeat.HOST, Repeat.ACCOUNT


@pytest.mark.parametrize(
    ("tied", "ended", "told"),
    [
        ((NETWORK, DEPENDENCY), {SAME: True}, NETWORK),
        ((NETWORK, DEPENDENCY), {SAME: False}, DEPENDENCY),
        ((NETWORK, DEPENDENCY), {SAME: False, ACCOUNT: False}, DEPENDENCY),
        ((NETWORK, DEPENDENCY), {SAME: False, HOST: True}, NETWORK),
        ((FailureCause.RATE_LIMIT, DEPENDENCY), {SAME: False, ACCOUNT: True}, FailureCause.RATE_LIMIT),
        ((FailureCause.SATURATION, DEPENDENCY), {SAME: False, HOST: True}, FailureCause.SATURATION),
        ((DEPENDENCY, FailureCause.TASK), {SAME: True}, None),
        ((), {SAME: True}, None),
        ((), {SAME: False}, None),
        ((), {SAME: False, ACCOUNT: True}, FailureCause.RATE_LIMIT),
        ((), {SAME: False, HOST: True}, None),
        ((NETWORK,), {}, None),
    ],
)
def test_what_goes_well_and_what_fails_again_tells_the_class_or_nothing(
    tied: tuple[FailureCause, ...], ended: dict[Repeat, bool], told: FailureCause | None
) -> None:
    over = end_probes(Cause("c1", "f1:unknown", UNKNOWN, 0.0, 0.0, tied=tied), ended)
    assert (over.cause if isinstance(over, CauseSettled) else None) is told
    assert len(over.evidence) == len(ended)


def probed(ward: Ward) -> list[TaskId]:
    ward.diagnose(UNKNOWN, *(ward.fail(name) for name in ward.tasks(2)), tied=(NETWORK, DEPENDENCY))
    repeats = [TaskSpec("do it", engine="claude", attempts=1, labels=(PROBE, one.label)) for one in (SAME, ACCOUNT)]
    ward.write(*probe_cause(ward.board, "c1", repeats, ["another host: there is none"], KNOWN))
    return list(ward.cause().probes)


def test_a_cause_is_settled_once_when_all_its_probes_are_over_and_what_they_made_is_dropped() -> None:
    ward = Ward()
    first, second = probed(ward)
    assert ward.cause().skipped == ("another host: there is none",)
    with pytest.raises(PaddockError, match=f"is being probed already, by {first}, {second}"):
        probe_cause(ward.board, "c1", [], [], KNOWN)
    ward.fail(first, Outcome.DELIVERED, counted=False)
    assert not is_approved_by_policy(ward.board, ward.task(first), "none"), "it lands only if a person wants it"
    assert settle_probed(ward.board) == []
    ward.fail(second)
    ward.write(*settle_probed(ward.board))
    assert (ward.cause().cause, ward.cause().is_settled) == (NETWORK, True)
    assert [ward.task(name).phase for name in (first, second)] == [Phase.CANCELLED] * 2
    assert settle_probed(ward.board) == []
    with pytest.raises(PaddockError, match="is settled already: network"):
        probe_cause(ward.board, "c1", [], [], KNOWN)


@pytest.mark.parametrize("outcome", [Outcome.KILLED, Outcome.THROTTLED, Outcome.AUTH, Outcome.NEVER_RAN, Outcome.LOST])
def test_a_probe_that_was_kept_from_repeating_anything_has_not_failed_again(outcome: Outcome) -> None:
    ward = Ward()
    first, second = probed(ward)
    ward.fail(first, outcome)
    ward.write(Draft(TaskCancelled("no"), task=first))
    ward.fail(second, Outcome.DELIVERED, counted=False)
    over = settle_probed(ward.board)
    assert over[0].event == CauseLeftOpen("c1", ("repeated with another account, it went well",))


def test_probes_that_were_cancelled_tell_nothing() -> None:
    ward = Ward()
    ward.write(*(Draft(TaskCancelled("no"), task=name) for name in probed(ward)))
    [event] = [draft.event for draft in settle_probed(ward.board)]
    assert event == CauseLeftOpen("c1")


def test_a_cause_that_no_probe_has_told_stays_tied_until_it_is_diagnosed_or_probed_again() -> None:
    ward = Ward()
    for name in probed(ward):
        ward.write(Draft(TaskCancelled("no"), task=name))
    ward.write(*settle_probed(ward.board))
    assert (ward.cause().is_settled, ward.cause().tied) == (False, (NETWORK, DEPENDENCY))
    assert settle_probed(ward.board) == [], "told once"
    again = TaskSpec("do it", engine="claude", attempts=1, labels=(PROBE, SAME.label))
    ward.write(*probe_cause(ward.board, "c1", [again], [], KNOWN))
    assert len(ward.cause().probes) == 1
    ward.diagnose(NETWORK, ward.fail(ward.add()))
    assert ward.cause("c2").cause is NETWORK


def test_what_an_older_log_settled_as_unknown_a_person_can_settle() -> None:
    ward = Ward()
    probed(ward)
    ward.write(Draft(CauseSettled("c1", UNKNOWN)))
    ward.write(*settle_cause(ward.board, "c1", "task"))
    assert ward.cause().cause is FailureCause.TASK


def test_what_a_probe_failed_for_is_no_cause_of_its_own() -> None:
    ward = Ward()
    first, _ = probed(ward)
    assert ward.diagnose(NETWORK, ward.fail(first), signature="f2") == []


def test_a_person_who_knows_need_not_wait_for_probes() -> None:
    ward = Ward()
    probed(ward)
    ward.write(*settle_cause(ward.board, "c1", "task"))
    assert settle_probed(ward.board) == []
    assert isinstance(ward.board.causes.standing["f1:unknown"], Cause)
    assert settle_probed(Ward().board) == list[Draft]()
