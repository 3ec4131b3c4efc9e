"""What is done on the host about causes, and for how long; and who takes turns."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.core.causes.measures import Measure, host_measures, turns_of
from paddock.core.causes.strikes import (
    CONTENTION_SECONDS,
    FORGOTTEN_SECONDS,
    NETWORK_BASE_SECONDS,
    NETWORK_CAP_SECONDS,
    RECOVERY_SECONDS,
    network_ends,
    slots_borne,
)
from paddock.core.causes.vocabulary import FailureCause
from paddock.core.ids import TaskId
from paddock.core.intent.causes import clear_causes
from paddock.core.tasks.vocabulary import Outcome
from paddock.core.trace import TroubleKind
from paddock.fleet.dispatch.failures import contested_by, unheard_refusals
from tests.core.causes.ward import Ward

NETWORK, SATURATION, CONTENTION = FailureCause.NETWORK, FailureCause.SATURATION, FailureCause.CONTENTION


def measures(ward: Ward, later: float = 0.0, host: str = "box") -> tuple[Measure, ...]:
    return host_measures(ward.board.causes, host, ward.board.at + later)


def test_nothing_starts_for_a_while_when_the_network_fails_several_tasks() -> None:
    ward = Ward()
    names = ward.tasks(2)
    ward.diagnose(NETWORK, ward.fail(names[0]))
    assert measures(ward) == (), "one task may talk to a server of its own"
    ward.diagnose(NETWORK, ward.fail(names[1]))
    [measure] = measures(ward)
    assert (measure.agents, measure.cause, measure.cure) == (0, "c1", "paddock failures clear c1")
    assert "network trouble (c1: it broke): starts pause until" in measure.reason
    assert measures(ward, NETWORK_BASE_SECONDS) == (), "it ends by itself"
    assert measures(ward, host="other") == ()
    assert measures(ward, -3600.0) == (), "somebody has set the clock back"
    ward.write(*clear_causes(ward.board, ["c1"]))
    assert measures(ward) == ()


def test_a_pause_doubles_when_the_trouble_comes_back_and_begins_again_when_it_was_forgotten() -> None:
    ward = Ward()
    names = ward.tasks(2)
    lengths = []
    for _ in range(7):
        failed = [ward.fail(name, counted=False) for name in names]
        ward.diagnose(NETWORK, *failed)
        lengths.append(network_ends(ward.cause()) - ward.cause().struck)
        ward.waited_seconds += lengths[-1]
    assert lengths[:4] == [NETWORK_BASE_SECONDS * 2**number for number in range(4)]
    assert lengths[-1] == NETWORK_CAP_SECONDS
    ward.waited_seconds += FORGOTTEN_SECONDS
    ward.diagnose(NETWORK, ward.fail(names[0], counted=False))
    assert network_ends(ward.cause()) - ward.cause().struck == NETWORK_BASE_SECONDS


def test_a_saturated_host_has_fewer_agents_and_gets_them_back_evenly() -> None:
    ward = Ward()
    failed = [ward.fail(name) for name in ward.tasks(2)]
    ward.diagnose(SATURATION, *failed, at_work=dict.fromkeys(failed, 10))
    agents = [found[0].agents if (found := measures(ward, RECOVERY_SECONDS * part / 4)) else None for part in range(5)]
    assert agents == [7, 7, 8, 9, None]
    assert "the host was saturated (c1: it broke): 7 agents for now, all again at" in measures(ward)[0].reason
    ward.waited_seconds += RECOVERY_SECONDS / 2
    more = [ward.fail(name, counted=False) for name in ("t1", "t2")]
    ward.diagnose(SATURATION, *more, at_work=dict.fromkeys(more, 10))
    assert measures(ward)[0].agents == 5, "it comes back: fewer than it had just borne"


def test_a_host_of_which_nobody_knows_how_many_it_had_keeps_its_agents() -> None:
    ward = Ward()
    ward.diagnose(SATURATION, *(ward.fail(name) for name in ward.tasks(2)))
    assert measures(ward) == ()


@given(st.integers(1, 500), st.lists(st.floats(0.0, 2 * RECOVERY_SECONDS), max_size=6))
def test_slots_are_never_fewer_than_one_nor_more_than_there_were(at_work: int, gaps: list[float]) -> None:
    ward = Ward()
    names = ward.tasks(2, attempts=9)
    for gap in [0.0, *gaps]:
        ward.waited_seconds += gap
        failed = [ward.fail(name, counted=False) for name in names]
        ward.diagnose(SATURATION, *failed, at_work=dict.fromkeys(failed, at_work))
        slots = slots_borne(ward.cause(), ward.board.at)
        assert slots is None or 1 <= slots <= at_work


def test_those_that_fought_over_a_resource_take_turns_and_nobody_else() -> None:
    ward = Ward()
    names = ward.tasks(3)
    ward.diagnose(CONTENTION, *(ward.fail(name) for name in names[:2]), resource="port:8080")
    taken = [contested_by(ward.board, ward.task(name), ward.board.at) for name in names]
    assert taken == [{"turn:port:8080": "port:8080 (c1)"}] * 2 + [{}]
    causes, later = ward.board.causes, ward.board.at + CONTENTION_SECONDS
    assert list(turns_of(causes, TaskId("t1"), later)) == [], "nobody remembers it for ever"
    ward.write(*clear_causes(ward.board, ["c1"]))
    assert contested_by(ward.board, ward.task("t1"), ward.board.at) == {}


@pytest.mark.parametrize("resource", ["", "port:99999", " padded", "a\nb", "x" * 500])
def test_what_nobody_can_name_is_still_taken_in_turns(resource: str) -> None:
    ward = Ward()
    ward.diagnose(CONTENTION, ward.fail(ward.add()), resource=resource)
    assert contested_by(ward.board, ward.task("t1"), ward.board.at) == {"turn:cause:f1": "cause:f1 (c1)"}


@pytest.mark.parametrize(
    ("cause", "kind"),
    [(FailureCause.RATE_LIMIT, TroubleKind.PER_MINUTE), (FailureCause.OVERLOAD, TroubleKind.OVERLOAD)],
)
def test_what_a_provider_refused_unheard_reaches_the_clocks_of_its_account_once(
    cause: FailureCause, kind: TroubleKind
) -> None:
    ward = Ward()
    names = ward.tasks(2)
    ward.diagnose(cause, ward.fail(names[0], Outcome.TIMEOUT))
    now = ward.board.at
    assert [(account, one.kind) for account, one in unheard_refusals(ward.board, now - 60, now)] == [("claude", kind)]
    assert list(unheard_refusals(ward.board, now, now)) == [], "it was heard"
    ward.diagnose(cause, ward.fail(names[1], Outcome.THROTTLED, counted=False))
    assert list(unheard_refusals(ward.board, now - 60, ward.board.at)) == [], "the engine itself said so at the time"
