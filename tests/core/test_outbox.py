"""Everything is told once, together, and never twice within a minute; whatever fails, dies or goes away meanwhile."""

from itertools import pairwise

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from paddock.core.notify.outbox import (
    FLIGHT_SECONDS,
    GATHER_SECONDS,
    LEAST_SECONDS,
    LONGEST_PAUSE_SECONDS,
    MOST_TRIES,
    Flight,
    Outbox,
    arrive,
    due_at,
    fail,
    last_chance,
    look,
    reopen,
    retry_pause,
    take,
)

START = 1_800_000_000.0


def test_what_comes_one_after_another_is_one_notification() -> None:
    box = look(Outbox(), {"a"}, START)
    assert due_at(box, 60.0) == START + GATHER_SECONDS
    box, flight = take(look(box, {"a", "b"}, START + 5), START + GATHER_SECONDS)
    assert set(flight.waited) == {"a", "b"}
    box = arrive(box, flight.number, START + 11)
    box = look(box, {"a", "b", "c"}, START + 12)
    assert (list(box.waiting), due_at(box, 0.0)) == (["c"], START + 11 + LEAST_SECONDS)
    assert due_at(box, 600.0) == START + 11 + 600.0


def test_what_goes_away_before_it_is_told_is_dropped() -> None:
    box = look(look(Outbox(), {"a", "b"}, START), {"b"}, START + 1)
    assert list(take(box, START + 20)[1].waited) == ["b"]
    assert due_at(look(box, set(), START + 2), 60.0) is None


def test_a_state_that_comes_back_is_not_told_again() -> None:
    box, flight = take(look(Outbox(), {"budget"}, START), START)
    box = arrive(box, flight.number, START)
    box = look(look(box, set(), START + 100), {"budget"}, START + 200)
    assert not box.waiting
    assert look(look(box, set(), START + 100_000), {"budget"}, START + 100_001).waiting


def test_a_service_that_fails_is_tried_ever_more_rarely_and_then_left_alone_until_there_is_news() -> None:
    box, now, pauses = look(Outbox(), {"a"}, START), START, []
    while (at := due_at(box, 60.0)) is not None:
        pauses.append(at - now)
        now = at
        box, flight = take(box, now)
        box = fail(box, flight.number, "500", now)
    assert pauses == [GATHER_SECONDS, 60.0, 120.0, 240.0, 480.0, 960.0]
    assert len(pauses) == MOST_TRIES
    box = look(box, {"a", "b"}, now + 5)
    at = due_at(box, 60.0)
    assert at is not None
    assert set(take(box, at)[1].waited) == {"a", "b"}
    assert due_at(reopen(box, now + 5), 60.0) == now + 60.0, "another daemon tries again"


def test_nothing_is_sent_while_something_is_under_way() -> None:
    box, flight = take(look(Outbox(), {"a"}, START), START)
    box = look(box, {"a", "b"}, START + 100)
    assert due_at(box, 60.0) is None
    assert due_at(arrive(box, flight.number, START + 101), 60.0) == START + 101 + LEAST_SECONDS


def test_what_comes_long_after_the_last_notification_is_gathered_all_the_same() -> None:
    box, flight = take(look(Outbox(), {"a"}, START), START)
    box = arrive(box, flight.number, START + 1)
    assert due_at(look(box, {"a", "b"}, START + 5000), 60.0) == START + 5000 + GATHER_SECONDS
    assert last_chance(look(box, {"a", "b"}, START + 5000), START + 5001) == START + 5001


def test_an_end_that_nobody_waits_for_changes_nothing_and_each_end_is_that_of_its_own_flight() -> None:
    box, first = take(look(Outbox(), {"a"}, START), START)
    box, second = take(look(box, {"a", "b"}, START + 1), START + 60)
    assert arrive(box, 7, START + 2) is box
    assert fail(box, 7, "no", START + 2) is box
    told = arrive(box, second.number, START + 61)
    assert (list(told.told), told.flights, told.arrived_at) == (["b"], (first,), START + 60)
    assert arrive(told, first.number, START + 70).arrived_at == START + 60, "the newest that has arrived"
    failed = fail(box, second.number, "no", START + 61)
    assert (list(failed.waiting), failed.flights, failed.ended_at) == (["b"], (first,), START + 61)
    assert fail(failed, first.number, "no", START + 50).ended_at == START + 61
    assert arrive(failed, first.number, START + 50).ended_at == START + 61


def test_what_is_still_so_stays_told_however_long_ago_that_was() -> None:
    box, flight = take(look(Outbox(), {"a"}, START), START)
    box = arrive(box, flight.number, START)
    assert not look(look(box, {"a"}, START + 10 * 86400.0), {"a"}, START + 20 * 86400.0).waiting


def test_pauses_grow_and_have_a_bound() -> None:
    assert [retry_pause(failures) for failures in (0, 1, 2, 3)] == [0.0, 60.0, 120.0, 240.0]
    assert retry_pause(50) == retry_pause(10**6) == LONGEST_PAUSE_SECONDS


def test_who_ends_sends_nothing_to_who_was_given_up() -> None:
    box = look(Outbox(failures=MOST_TRIES, sent_at=START), {"a"}, START)
    assert last_chance(box, START + 5000) is None


def test_a_clock_that_was_set_back_keeps_nobody_waiting_for_long() -> None:
    box, _ = take(look(Outbox(), {"a"}, START), START)
    back = START - 86400.0
    again = reopen(look(box, {"a", "b"}, START + 5), back)
    ahead = back + FLIGHT_SECONDS + LEAST_SECONDS
    assert (again.sent_at, again.waiting, again.flights[0].at) == (back, {"b": back}, ahead)
    same = reopen(look(box, {"a", "b"}, START + 5), START + 9)
    assert (same.sent_at, same.waiting, same.flights[0].at) == (START, {"b": START + 5}, START)


def test_who_ends_sends_what_waits_but_not_within_a_minute() -> None:
    assert last_chance(Outbox(), START) is None
    box = look(Outbox(), {"a"}, START)
    assert last_chance(box, START) == START
    box, flight = take(box, START)
    box = look(box, {"a", "b"}, START + 3)
    assert last_chance(box, START + 3) == START + FLIGHT_SECONDS + LEAST_SECONDS, "the first may yet arrive"
    assert last_chance(arrive(box, flight.number, START + 2), START + 3) == START + 2 + LEAST_SECONDS
    box, second = take(box, START + 100)
    assert (list(flight.waited), list(second.waited)) == (["a"], ["b"])


class Telling(RuleBasedStateMachine):
    """`true` is a clock that nobody sets; the outbox sees it with an offset that a restart may make smaller."""

    def __init__(self) -> None:
        super().__init__()
        self.box, self.true, self.offset, self.number = Outbox(), START, 0.0, 0
        self.present: set[str] = set()
        self.sent: list[tuple[float, Flight]] = []
        self.accepted: list[str] = []
        self.arrivals: list[float] = []
        self.repeatable: set[str] = set()
        self.every = 60.0

    @property
    def now(self) -> float:
        return self.true + self.offset

    @rule(count=st.integers(1, 3))
    def appear(self, count: int) -> None:
        for _ in range(count):
            self.number += 1
            self.present.add(f"k{self.number}")
        self.poll()

    @precondition(lambda self: self.present)
    @rule(data=st.data())
    def go_away(self, data: st.DataObject) -> None:
        self.present.discard(data.draw(st.sampled_from(sorted(self.present))))
        self.poll()

    @rule(seconds=st.sampled_from([0.0, 1.0, 9.0, 11.0, 59.0, 61.0, 500.0, 5000.0]))
    def pass_time(self, seconds: float) -> None:
        self.true += seconds
        self.poll()

    @rule(every=st.sampled_from([0.0, 60.0, 300.0]))
    def configure(self, every: float) -> None:
        self.every = every

    def poll(self) -> None:
        self.box = look(self.box, self.present, self.now)
        at = due_at(self.box, self.every)
        if at is not None and at <= self.now:
            self.box, flight = take(self.box, self.now)
            assert set(flight.waited) <= self.present, "what is gone is not told"
            assert flight.waited
            self.sent.append((self.true, flight))

    @precondition(lambda self: self.box.flights)
    @rule()
    def succeed(self) -> None:
        flight = self.box.flights[0]
        self.box = arrive(self.box, flight.number, self.now)
        self.accepted += flight.waited
        self.arrivals.append(self.true)

    @precondition(lambda self: self.box.flights)
    @rule()
    def refuse(self) -> None:
        self.box = fail(self.box, self.box.flights[0].number, "500", self.now)

    @precondition(lambda self: self.box.flights)
    @rule(arrived=st.booleans())
    def lose_the_receipt(self, arrived: bool) -> None:
        flight = self.box.flights[0]
        self.box = fail(self.box, flight.number, "unknown", self.now)
        if arrived:
            self.accepted += flight.waited
            self.arrivals.append(self.true)
            self.repeatable |= set(flight.waited)

    @rule(back=st.sampled_from([0.0, 30.0, 4000.0]))
    def restart(self, back: float) -> None:
        self.offset -= back
        self.box = reopen(self.box, self.now)

    @invariant()
    def never_two_within_a_minute(self) -> None:
        for times in ([at for at, _ in self.sent], self.arrivals):
            assert all(later - earlier >= LEAST_SECONDS for earlier, later in pairwise(times))

    @invariant()
    def nothing_is_told_twice_that_is_known_to_have_arrived(self) -> None:
        certain = [key for key in self.accepted if key not in self.repeatable]
        assert len(certain) == len(set(certain))

    def teardown(self) -> None:
        """However it went: once services answer, whatever still needs a person has been told."""
        self.restart(0.0)
        for _ in range(4):
            while self.box.flights:
                self.succeed()
            self.true += 4000.0
            self.poll()
        assert self.present <= set(self.accepted)


TestTelling = Telling.TestCase
TestTelling.settings = settings(max_examples=150, stateful_step_count=30, deadline=None)
