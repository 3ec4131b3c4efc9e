"""The ways that work takes: courses counted, none of them lost, and drawn without overlaps."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from paddock.core import events as ev
from paddock.core.ids import attempt_id
from paddock.core.tasks.vocabulary import Outcome, Role, Step
from paddock.views.insight.ways import Ways, find_ways
from paddock.views.insight.ways_picture import PLACE_GAP, draw_ways
from tests.core.ledger import Ledger
from tests.views.test_board import begin_queue, enqueue, finish, land

ENDS = (
    (Outcome.DELIVERED, Step.APPROVAL),
    (Outcome.CRASHED, Step.RETRY),
    (Outcome.EMPTY, Step.FAIL),
    (Outcome.NEVER_RAN, Step.BLOCK),
    (Outcome.NOOP, Step.NOOP),
)


def ways_of(ledger: Ledger) -> Ways:
    return find_ways(ledger.board, ledger.records)


def bands_of(ways: Ways) -> dict[tuple[str, str], int]:
    return {(ways.places[band.source].name, ways.places[band.target].name): band.count for band in ways.bands}


def test_a_task_that_is_tried_again_and_lands_leaves_two_courses() -> None:
    ledger = Ledger()
    begin_queue(ledger)
    task = ledger.add()
    attempt = ledger.start(task)
    ledger.write(ev.Draft(ev.AttemptEnded(Outcome.CRASHED, Step.RETRY, True), task=task, attempt=attempt))
    finish(ledger, task)
    ledger.write(ev.Draft(ev.TaskApproved("c" * 40), task=task))
    enqueue(ledger, task)
    land(ledger, task, "r2", "m0", "m1")
    ways = ways_of(ledger)
    assert (ways.tasks, ways.attempts, ways.again) == (1, 2, 1)
    assert bands_of(ways) == {
        ("added", "attempts"): 1,
        ("attempts", "delivered"): 1,
        ("attempts", "crashed"): 1,
        ("crashed", "tried again"): 1,
        ("delivered", "no review"): 1,
        ("no review", "approved"): 1,
        ("approved", "queued"): 1,
        ("queued", "landed"): 1,
    }
    assert {band.attempts for band in ways.bands} == {("t1.1",), ("t1.2",)}


def test_a_reviewers_attempt_is_no_course_of_its_own() -> None:
    ledger = Ledger()
    task = ledger.add()
    attempt = ledger.start(task)
    delivered = ev.AttemptEnded(Outcome.DELIVERED, Step.REVIEW, False, head="c" * 40, base="b" * 40)
    ledger.write(ev.Draft(delivered, task=task, attempt=attempt))
    reading = ev.AttemptStarted("scripted", "c" * 40, "", agent="critic", role=Role.REVIEW)
    ledger.write(ev.Draft(reading, task=task, attempt=attempt_id(task, 2)))
    assert [(place.name, place.count) for place in ways_of(ledger).places] == [
        ("added", 1),
        ("attempts", 1),
        ("delivered", 1),
    ]


def test_no_work_is_no_picture() -> None:
    picture = draw_ways(ways_of(Ledger()))
    assert (picture.places, picture.bands, picture.columns) == ((), (), ())


@given(st.lists(st.sampled_from(ENDS), max_size=12))
def test_what_goes_into_a_place_is_what_is_there_and_places_never_overlap(ends: list[tuple[Outcome, Step]]) -> None:
    ledger = Ledger()
    for outcome, step in ends:
        task = ledger.add()
        attempt = ledger.start(task)
        head = "c" * 40 if outcome is Outcome.DELIVERED else None
        ended = ev.AttemptEnded(outcome, step, False, head=head, base="b" * 40)
        ledger.write(ev.Draft(ended, task=task, attempt=attempt))
    ways = ways_of(ledger)
    into: Counter[int] = Counter()
    for band in ways.bands:
        into[band.target] += band.count
    for number, place in enumerate(ways.places):
        assert place.count == (into[number] or ways.tasks)
    picture = draw_ways(ways)
    for above, below in zip(picture.places, picture.places[1:], strict=False):
        assert above.x < below.x or above.y + above.height + PLACE_GAP <= below.y + 0.2
    assert all(place.y + place.height <= picture.height for place in picture.places)
