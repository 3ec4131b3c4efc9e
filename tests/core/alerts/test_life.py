"""The life of alerts under anything: whatever comes, goes, is acknowledged, and whatever the clocks do."""

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.core.alerts import events as al
from paddock.core.alerts.condition import Condition
from paddock.core.alerts.decide import MORE, decide_alerts
from paddock.core.alerts.model import KEPT_ENDED, AlertState
from paddock.core.alerts.policy import AlertPolicy
from paddock.core.errors import IllegalTransition
from paddock.core.events import Draft
from tests.core.alerts.siren import RULES, Siren, condition, kinds
from tests.core.ledger import fold, fold_from_snapshot

KEYS = [f"failures:c{number}" for number in range(6)] + ["stuck:t1.1", "stuck:t2.1"]
SMALL = AlertPolicy(most_open=4, most_new=6)
HOUR, DAY = 3600.0, 86400.0

seen = st.builds(
    condition,
    st.sampled_from(KEYS),
    st.sampled_from(["page", "ticket", "notice"]),
    count=st.integers(1, 50),
    lasting=st.booleans(),
)
clocks = st.one_of(st.floats(0.1, 120.0), st.sampled_from([HOUR, DAY, 8 * DAY, -HOUR, -DAY, -400 * DAY, 400 * DAY]))
looks = st.tuples(
    st.just("look"),
    st.lists(seen, max_size=8, unique_by=lambda one: one.key),
    clocks,
    st.sampled_from([RULES, frozenset({"stuck"}), frozenset()]),
    st.sampled_from([frozenset(), frozenset({"stuck"})]),
)
steps = st.lists(st.one_of(looks, st.tuples(st.just("ack"), st.integers(0, 9)), st.just(("restart",))), max_size=40)


def play(siren: Siren, step: Sequence[object]) -> None:
    match step:
        case ("look", list() as conditions, float() as after, frozenset() as judged, frozenset() as off):
            here = [one for one in conditions if one.rule in judged and one.rule not in off]
            siren.look(*here, after=after, judged=judged, off=off)
            assert_settled(siren, here, judged, off)
        case ("ack", int() as place) if opened := siren.open():
            siren.ack(opened[place % len(opened)].id)
        case ("restart",):
            siren.restart()


def assert_settled(siren: Siren, here: list[Condition], judged: frozenset[str], off: frozenset[str]) -> None:
    """What was recorded is all there was to record: whoever decides it again records nothing."""
    from paddock.core.alerts.condition import Observation

    absent = {key: one for key, one in siren.absences.items() if one.looks < siren.policy.gone_looks - 1}
    again = decide_alerts(siren.alerts, Observation(tuple(here), judged, off), absent, siren.now, siren.policy)
    assert [draft.event for draft in again.drafts if not isinstance(draft.event, al.AlertRaised)] == []
    assert all(isinstance(draft.event, al.AlertRaised) for draft in again.drafts)
    assert len(again.drafts) <= sum(isinstance(one, al.AlertResolved | al.AlertExpired) for one in last(siren))


def last(siren: Siren) -> list[object]:
    """The events of the last look."""
    return [record.event for record in siren.records if record.at == siren.now]


def assert_sound(siren: Siren) -> None:
    alerts = siren.alerts
    assert len(siren.open()) <= siren.policy.most_open
    assert all(key == alert.key for key, alert in alerts.standing.items())
    assert not any(alert.state is AlertState.RESOLVED for alert in alerts.standing.values())
    assert all(alert.state is AlertState.RESOLVED for alert in alerts.ended)
    assert len(alerts.ended) <= KEPT_ENDED


@given(steps)
def test_never_more_than_the_ceiling_and_never_two_for_one_cause(told: list[tuple[object, ...]]) -> None:
    siren = Siren(SMALL)
    standing: dict[str, str] = {}
    for step in told:
        play(siren, step)
        assert_sound(siren)
    for record in siren.records:
        match record.event:
            case al.AlertRaised(id=name, key=key):
                assert key not in standing.values()
                standing[name] = key
            case al.AlertResolved(id=name):
                del standing[name]
            case al.AlertGrown(id=name) | al.AlertEscalated(id=name) | al.AlertExpired(id=name):
                assert name in standing
    assert set(standing.values()) == set(siren.alerts.standing)


@given(steps, st.data())
def test_what_is_gone_is_resolved_in_the_end(told: list[tuple[object, ...]], data: st.DataObject) -> None:
    siren = Siren(SMALL)
    for step in told:
        play(siren, step)
    while opened := siren.open():
        siren.ack(*(alert.id for alert in opened))
        siren.look()
    siren.looks(130)
    assert siren.standing() == []
    assert siren.looks(10) == []
    again = data.draw(st.sampled_from(KEYS))
    siren.look(condition(again), after=2 * HOUR)
    assert [alert.key for alert in siren.open()] == [again]


@given(steps, st.integers(0, 200))
def test_a_log_of_alerts_folds_to_the_same_from_any_snapshot(told: list[tuple[object, ...]], cut: int) -> None:
    siren = Siren(SMALL)
    for step in told:
        play(siren, step)
    replayed = fold_from_snapshot(siren.records, min(cut, len(siren.records)))
    assert replayed.alerts == fold(siren.records).alerts == siren.alerts
    assert replayed.standing_alerts == siren.alerts.standing


everything = st.lists(st.sets(st.sampled_from(KEYS)), min_size=60, max_size=200)


@given(everything)
def test_an_hour_has_no_more_new_alerts_than_it_may(seen_at: list[set[str]]) -> None:
    siren = Siren(AlertPolicy(most_open=5, most_new=3, gone_seconds=60.0, gone_looks=1))
    for keys in seen_at:
        siren.look(*map(condition, sorted(keys)), after=60.0)
    raised = [record.at for record in siren.records if getattr(record.event, "key", MORE) != MORE]
    for at in raised:
        assert sum(1 for other in raised if at <= other < at + HOUR) <= 3
    assert len(siren.records) <= 4 * len(seen_at)


def most_episodes(policy: AlertPolicy, seconds: float) -> int:
    """How often one cause can come back, if it is gone for no longer than it must be each time."""
    episodes, left = 1, seconds
    while (left := left - policy.absence_needed(episodes)) >= 0:
        episodes += 1
    return episodes


@pytest.mark.parametrize("pause", [30.0, 60.0])
def test_what_comes_and_goes_all_day_is_told_a_few_times(pause: float) -> None:
    siren, gone = Siren(), False
    while siren.now < siren.records[0].at + DAY if siren.records else True:
        told = siren.look(*(() if gone else (condition(),)), after=pause)
        gone = "resolved" not in kinds(told)
    bound = most_episodes(siren.policy, DAY)
    assert bound == 28
    assert 20 < len(siren.raised()) <= bound


@given(st.lists(st.booleans(), min_size=100, max_size=400))
def test_however_it_flaps_it_is_told_no_more_often(there: list[bool]) -> None:
    siren = Siren()
    for is_there in there:
        siren.look(*((condition(),) if is_there else ()), after=60.0)
    assert len(siren.raised()) <= most_episodes(siren.policy, 60.0 * len(there))


@given(st.lists(st.integers(1, 10**6), min_size=10, max_size=150))
def test_growing_counts_are_told_by_doubling_and_not_each_time(counts: list[int]) -> None:
    siren = Siren()
    for count in counts:
        siren.look(condition(count=count), after=60.0)
    told = [record.event for record in siren.records if isinstance(record.event, al.AlertGrown)]
    assert len(told) <= min(20, len(counts) // 10 + 1)
    assert Counter(kinds(record.event for record in siren.records))["raised"] == 1


RAISED = al.AlertRaised("a1", "failures:c1", "failures", al.AlertSeverity.TICKET, "it fails")
FOLLOWING = (
    al.AlertGrown("a1", 2, "more"),
    al.AlertEscalated("a1", al.AlertSeverity.PAGE, 2, "worse"),
    al.AlertAcknowledged("a1"),
    al.AlertExpired("a1"),
    al.AlertResolved("a1"),
)
ILLEGAL: dict[str, set[type]] = {
    "unknown": {type(event) for event in FOLLOWING},
    "open": set(),
    "acknowledged": {al.AlertAcknowledged},
    "expired": {al.AlertGrown, al.AlertEscalated, al.AlertAcknowledged, al.AlertExpired},
    "resolved": {type(event) for event in FOLLOWING},
}
BEFORE = {
    "acknowledged": al.AlertAcknowledged("a1"),
    "expired": al.AlertExpired("a1"),
    "resolved": al.AlertResolved("a1"),
}


@pytest.mark.parametrize("state", ILLEGAL)
@pytest.mark.parametrize("event", FOLLOWING, ids=lambda event: event.kind)
def test_an_event_happens_in_its_states_and_in_no_other(state: str, event: al.AlertEvent) -> None:
    siren = Siren()
    if state != "unknown":
        siren.write([Draft(RAISED), *([Draft(BEFORE[state])] if state in BEFORE else [])])
    if type(event) in ILLEGAL[state]:
        with pytest.raises(IllegalTransition):
            siren.write([Draft(event)])
        return
    siren.write([Draft(event)])


def test_no_number_is_given_twice_and_no_cause_raised_twice() -> None:
    siren = Siren()
    siren.write([Draft(RAISED)])
    for again in (
        RAISED,
        al.AlertRaised("a2", "failures:c1", "failures", al.AlertSeverity.TICKET, "the same cause"),
        al.AlertRaised("a1", "failures:c2", "failures", al.AlertSeverity.TICKET, "the same number"),
        al.AlertRaised("x", "failures:c2", "failures", al.AlertSeverity.TICKET, "no number"),
    ):
        with pytest.raises(IllegalTransition):
            siren.write([Draft(again)])
    siren.write([Draft(al.AlertResolved("a1"))])
    with pytest.raises(IllegalTransition):
        siren.write([Draft(RAISED)])


def test_nothing_escalates_to_what_it_is_or_less() -> None:
    siren = Siren()
    siren.write([Draft(RAISED)])
    for severity in (al.AlertSeverity.TICKET, al.AlertSeverity.NOTICE):
        with pytest.raises(IllegalTransition):
            siren.write([Draft(al.AlertEscalated("a1", severity, 1, "the same"))])


def test_what_agents_write_is_bounded_on_the_board() -> None:
    siren = Siren()
    evil = "\x1b[31m" + "x" * 5000
    siren.write([Draft(al.AlertRaised("a1", "k", "r", al.AlertSeverity.TICKET, evil, evil, (evil,) * 50, evil))])
    [alert] = siren.open()
    assert max(map(len, (alert.title, alert.subject, alert.run, *alert.evidence))) <= 200
    assert len(alert.evidence) == 6
    assert all(text.isprintable() for text in (alert.title, alert.subject, alert.run, *alert.evidence))
