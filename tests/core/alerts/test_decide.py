"""What follows from what rules have seen, one look at a time."""

from dataclasses import replace

import pytest

from paddock.core.alerts.condition import Condition, Observation, one_per_cause
from paddock.core.alerts.decide import MORE
from paddock.core.alerts.events import (
    AlertAcknowledged,
    AlertEscalated,
    AlertExpired,
    AlertGrown,
    AlertRaised,
    AlertResolved,
)
from paddock.core.alerts.model import AlertState
from paddock.core.alerts.policy import AlertPolicy
from tests.core.alerts.siren import Siren, condition, kinds

HOUR, DAY = 3600.0, 86400.0


@pytest.fixture
def siren() -> Siren:
    return Siren()


def test_a_cause_is_told_once_however_often_it_is_seen(siren: Siren) -> None:
    assert kinds(siren.look(condition())) == ["raised"]
    assert siren.looks(50, condition()) == []
    [alert] = siren.open()
    assert (alert.id, alert.key, alert.rule, alert.episode) == ("a1", "failures:c1", "failures", 1)


def test_two_causes_are_two_alerts_and_the_graver_one_is_raised_first(siren: Siren) -> None:
    siren.look(condition("stuck:t1.1", "notice"), condition("failures:c1", "page"))
    assert [(alert.id, alert.key) for alert in siren.open()] == [("a1", "failures:c1"), ("a2", "stuck:t1.1")]


def test_much_more_of_it_is_told_and_a_little_more_is_not(siren: Siren) -> None:
    siren.look(condition(count=3))
    assert siren.look(condition(count=5), after=HOUR) == []
    [grown] = siren.look(condition(count=6, title="6 fail"))
    assert isinstance(grown, AlertGrown)
    assert (siren.open()[0].count, siren.open()[0].title) == (6, "6 fail")
    assert siren.look(condition(count=600)) == [], "so soon after it was told"
    assert kinds(siren.look(condition(count=600), after=600.0)) == ["grown"]


def test_what_gets_worse_escalates_at_once_and_never_back(siren: Siren) -> None:
    siren.look(condition(severity="notice"))
    [first] = siren.look(replace(condition(severity="page"), rule="stuck", run="paddock show t1"))
    assert isinstance(first, AlertEscalated)
    assert siren.look(condition(severity="notice")) == []
    [alert] = siren.open()
    assert (alert.severity, alert.rule, alert.run) == ("page", "stuck", "paddock show t1")


def test_what_is_gone_long_enough_is_resolved(siren: Siren) -> None:
    siren.look(condition())
    assert siren.looks(4, after=30.0) == [], "not yet two minutes"
    [resolved] = siren.look()
    assert isinstance(resolved, AlertResolved)
    assert resolved.why == "not seen for 2m"
    assert siren.standing() == []
    assert [(old.key, old.state) for old in siren.alerts.ended] == [("failures:c1", AlertState.RESOLVED)]


def test_few_looks_are_not_enough_however_long_they_took(siren: Siren) -> None:
    siren.look(condition())
    assert siren.looks(2, after=HOUR) == []
    assert kinds(siren.look(after=1.0)) == ["resolved"]


def test_what_is_seen_again_meanwhile_was_never_gone(siren: Siren) -> None:
    siren.look(condition())
    for _ in range(10):
        assert siren.looks(4) == []
        assert siren.look(condition()) == []
    assert len(siren.raised()) == 1


def test_what_nobody_could_judge_is_neither_gone_nor_there(siren: Siren) -> None:
    siren.look(condition())
    for _ in range(100):
        assert siren.look(judged=frozenset({"stuck"})) == []
    assert siren.looks(4) == []
    assert siren.look(judged=frozenset({"stuck"}), after=HOUR) == []
    assert kinds(siren.look()) == ["resolved"]


def test_another_keeper_resolves_later_never_sooner(siren: Siren) -> None:
    siren.look(condition())
    siren.looks(4)
    siren.restart()
    assert siren.looks(4) == []
    assert kinds(siren.look()) == ["resolved"]


def test_a_rule_that_is_turned_off_takes_its_alerts_along(siren: Siren) -> None:
    siren.look(condition(), condition("stuck:t1.1"))
    [resolved] = siren.look(condition("stuck:t1.1"), judged=frozenset({"stuck"}), off=frozenset({"failures"}))
    assert isinstance(resolved, AlertResolved)
    assert resolved.why == "its rule was turned off"
    assert [alert.key for alert in siren.open()] == ["stuck:t1.1"]


def test_what_comes_back_is_another_episode_that_must_be_gone_for_longer(siren: Siren) -> None:
    siren.look(condition())
    siren.looks(5)
    [back] = siren.look(condition())
    assert isinstance(back, AlertRaised)
    assert (back.id, back.episode) == ("a2", 2)
    assert siren.looks(8) == [], "four minutes now"
    assert kinds(siren.look()) == ["resolved"]


def test_what_comes_back_after_a_day_begins_again(siren: Siren) -> None:
    siren.look(condition())
    siren.looks(5)
    [back] = siren.look(condition(), after=DAY)
    assert isinstance(back, AlertRaised)
    assert back.episode == 1


def test_an_acknowledged_alert_is_not_raised_again_and_resolves_by_itself(siren: Siren) -> None:
    siren.look(condition())
    siren.ack("a1", note="the registry is down")
    [alert] = siren.standing()
    assert (alert.state, alert.by, alert.note) == (AlertState.ACKNOWLEDGED, "ana@host", "the registry is down")
    assert siren.looks(20, condition()) == []
    assert kinds(siren.looks(5)) == ["resolved"]


def test_what_has_happened_stays_until_somebody_knows(siren: Siren) -> None:
    siren.look(condition(lasting=True))
    assert siren.looks(50) == []
    siren.ack("a1")
    assert kinds(siren.look()) == ["resolved"]


@pytest.mark.parametrize("acknowledged", [False, True])
def test_what_nobody_minds_expires_and_is_not_raised_again_before_it_was_gone(
    siren: Siren, *, acknowledged: bool
) -> None:
    siren.look(condition())
    if acknowledged:
        siren.ack("a1")
    assert siren.look(condition(), after=7 * DAY - 1) == []
    [expired] = siren.look(condition(), after=1.0)
    assert isinstance(expired, AlertExpired)
    assert expired.why == (
        "ana@host acknowledged it 7d ago, and it still holds"
        if acknowledged
        else "nobody has acknowledged it for 7d, and it still holds"
    )
    assert siren.looks(100, condition(severity="page", count=900), after=HOUR) == []
    assert kinds(siren.looks(5)) == ["resolved"]
    assert kinds(siren.look(condition())) == ["raised"]


def test_a_clock_that_is_set_back_resolves_nothing_early(siren: Siren) -> None:
    siren.look(condition())
    siren.looks(4)
    assert siren.look(after=-DAY) == []
    assert siren.looks(3) == []
    assert kinds(siren.look()) == ["resolved"]


class TestCeiling:
    """At most so many alerts, and one about all the others."""

    @pytest.fixture
    def siren(self) -> Siren:
        return Siren(AlertPolicy(most_open=4, most_new=100))

    def causes(self, count: int, severity: str = "ticket") -> list[Condition]:
        return [condition(f"failures:c{number:03}", severity) for number in range(count)]

    def test_what_is_too_much_is_one_alert(self, siren: Siren) -> None:
        siren.look(*self.causes(3))
        assert [alert.key for alert in siren.open()] == ["failures:c000", "failures:c001", "failures:c002"]
        siren.look(*self.causes(10), condition("stuck:t1.1", "notice"))
        more = siren.alerts.standing[MORE]
        assert len(siren.open()) == 4
        assert more.title == "8 more alerts above the limit: failures 7, stuck 1"
        assert (more.count, more.severity, more.run) == (8, "ticket", "paddock alerts test")
        assert more.evidence[0] == "failures:c003 fails"
        assert siren.looks(20, *self.causes(10), condition("stuck:t1.1", "notice")) == []

    def test_it_is_as_grave_as_the_gravest_of_them(self, siren: Siren) -> None:
        siren.look(*self.causes(10, "notice"))
        assert siren.alerts.standing[MORE].severity == "notice"
        [told] = siren.look(*self.causes(10, "notice"), condition("stuck:t1.1", "page"))
        assert isinstance(told, AlertEscalated)
        assert told.id == siren.alerts.standing[MORE].id

    def test_it_resolves_when_there_is_room_again(self, siren: Siren) -> None:
        siren.look(*self.causes(4))
        assert len(siren.open()) == 4
        told = siren.looks(5, *self.causes(3))
        assert kinds(told) == ["resolved"]
        assert [alert.key for alert in siren.open()] == ["failures:c000", "failures:c001", "failures:c002"]

    def test_what_waited_is_told_when_another_is_acknowledged(self, siren: Siren) -> None:
        siren.look(*self.causes(4))
        siren.ack("a1")
        [told] = siren.look(*self.causes(4))
        assert isinstance(told, AlertRaised)
        assert told.key == "failures:c003"

    def test_an_hour_has_room_for_so_many_new_ones(self) -> None:
        siren = Siren(AlertPolicy(most_open=50, most_new=3))
        siren.look(*self.causes(5))
        assert len(siren.raised()) == 4
        assert siren.look(*self.causes(5), after=3000.0) == []
        told = siren.look(*self.causes(5), after=600.0)
        assert kinds(told) == ["raised", "raised"]

    def test_it_expires_like_any_other(self, siren: Siren) -> None:
        siren.look(*self.causes(10))
        for alert in siren.open():
            siren.ack(alert.id)
        siren.look(*self.causes(50), after=30.0)
        told = siren.look(*self.causes(50), after=7 * DAY)
        assert MORE in {alert.key for alert in siren.standing(AlertState.EXPIRED)}
        assert "expired" in kinds(told)

    def test_all_that_stand_are_bounded_too(self) -> None:
        siren = Siren(AlertPolicy(most_open=20, most_new=1000))
        for number in range(30):
            siren.look(*self.causes(10 * (number + 1)), after=2 * HOUR)
            if siren.open():
                siren.ack(*(alert.id for alert in siren.open()))
        assert len(siren.standing()) == 200


def test_two_rules_that_have_seen_the_same_cause_are_one_condition() -> None:
    first = Condition("failures:c1", "new-failure", condition().severity, "new", evidence=("a", "b"), count=3)
    second = Condition("failures:c1", "alike", condition(severity="page").severity, "alike", evidence=("b", "c"))
    [joined] = one_per_cause([first, second])
    assert (joined.rule, joined.title, joined.evidence, joined.count) == ("alike", "alike", ("b", "c", "a"), 3)
    assert one_per_cause([first, condition("stuck:t1.1")]) == (first, condition("stuck:t1.1"))


def test_nothing_seen_and_nothing_known_is_nothing_to_record(siren: Siren) -> None:
    assert siren.look() == []
    assert Observation() == Observation((), frozenset(), frozenset())
    assert siren.board.alert_part.is_nothing
    assert siren.board.standing_alerts == {}


def test_all_are_those_that_wait_when_it_is_recorded_also_none(siren: Siren) -> None:
    first, second = condition("failures:c1"), condition("stuck:t1.1")
    siren.look(first, second)
    siren.looks(30, second)
    assert [event.id for event in siren.ack_all() if isinstance(event, AlertAcknowledged)] == ["a2"]
    assert siren.ack_all() == []
