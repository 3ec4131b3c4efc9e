"""What Prometheus is told: text that its own parser reads, and counters that only ever grow."""

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import invariant, run_state_machine_as_test
from prometheus_client.parser import text_string_to_metric_families

from paddock.core import events as ev
from paddock.core.admission.host import HostSample
from paddock.core.ids import TaskId, attempt_id
from paddock.core.tasks.task import Phase
from paddock.fleet.glance import Glance
from paddock.fleet.workspace import Workspace
from paddock.views.log.tally import MOST_ENGINES
from paddock.views.metrics import LiveMetrics
from tests.core.ledger import START, Ledger
from tests.core.test_board_machine import Fleet
from tests.views.eyes import NOBODY, LedgerEye, workspace_in
from tests.views.test_board import begin_queue, enqueue, finish, land

HOST = HostSample(at=START, busy=0.5, free_memory_bytes=2**33, free_disk_bytes=2**40, free_inodes=None, cores=2)
Values = dict[tuple[str, frozenset[tuple[str, str]]], float]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return workspace_in(tmp_path_factory.mktemp("metrics") / "harbor", '[land]\nci = "true"\nslots = 3\n')


@pytest.fixture
def eye(workspace: Workspace) -> LedgerEye:
    return LedgerEye(workspace, Ledger())


def parse(text: str) -> tuple[Values, dict[str, str]]:
    """All samples by name and labels, and the type of each family."""
    families = list(text_string_to_metric_families(text))
    assert all(family.name.startswith("paddock_") and family.documentation for family in families)
    samples = [sample for family in families for sample in family.samples]
    found = {(sample.name, frozenset(sample.labels.items())): float(sample.value) for sample in samples}
    assert len(found) == len(samples), "a series is told once"
    return found, {family.name: family.type for family in families}


def value(values: Values, name: str, **labels: str) -> float:
    return values[f"paddock_{name}", frozenset(labels.items())]


def test_every_family_is_read_by_the_real_parser_and_says_what_it_is(eye: LedgerEye) -> None:
    ledger = eye.ledger
    begin_queue(ledger)
    for number in (1, 2):
        task = ledger.add()
        finish(ledger, task, 0.5)
        enqueue(ledger, task)
        land(ledger, task, f"r{number + 1}", f"m{number - 1}", f"m{number}")
    ledger.start(ledger.add())
    finish(ledger, ledger.add(), None)
    eye.glance = Glance(at=START, cap=7, limit="memory")
    values, types = parse(LiveMetrics().look(eye.sight(), HOST))
    assert value(values, "tasks", phase="landed") == 2
    assert {dict(labels)["phase"] for name, labels in values if name == "paddock_tasks"} == {*Phase}
    assert (value(values, "agents_running"), value(values, "agents_cap")) == (1, 7)
    assert value(values, "agents_limited", limit="memory") == 1
    assert value(values, "agents_limited", limit="disk") == 0
    assert value(values, "tasks_waiting_for_person", need="approve") == 1
    assert value(values, "attempts_total", outcome="delivered") == 3
    assert value(values, "turns_total", engine="claude") == 3
    assert value(values, "unpriced_turns_total", engine="claude") == 1
    assert value(values, "tokens_total", engine="claude", kind="output") == 27
    assert value(values, "cost_usd_total", engine="claude") == 1.0
    assert value(values, "ci_runs_total", purpose="train", result="pass") == 2
    assert value(values, "ci_runs_total", purpose="baseline", result="pass") == 1
    assert value(values, "changes_total", outcome="landed") == 2
    assert value(values, "landing_seconds_count") == 2
    assert value(values, "landing_seconds_bucket", le="30") == 2
    assert value(values, "landing_seconds_sum") == 8.0
    assert value(values, "log_events_total") == ledger.board.seq
    assert (value(values, "daemon_up"), value(values, "main_verified"), value(values, "ci_slots")) == (1, 1, 3)
    assert value(values, "host_disk_free_bytes") == 2**40
    assert types["paddock_landing_seconds"] == "histogram"
    assert types["paddock_attempts"] == "counter"
    assert types["paddock_tasks"] == "gauge"


def test_without_a_daemon_it_says_so(eye: LedgerEye) -> None:
    eye.daemon = NOBODY
    values, _ = parse(LiveMetrics().look(eye.sight()))
    assert value(values, "daemon_up") == 0
    assert not [name for name, _ in values if name.startswith("paddock_host")]


def test_names_are_escaped_and_their_number_is_bounded(eye: LedgerEye) -> None:
    ledger = eye.ledger
    hostile = 'a"b\\c\nd{}é'
    for number in range(MOST_ENGINES + 10):
        task = ledger.add()
        attempt = attempt_id(task, 1)
        engine = hostile if number == 0 else f"engine{number}"
        ledger.write(
            ev.Draft(ev.AttemptStarted(engine, "b" * 40, "x"), task=task, attempt=attempt),
            ev.Draft(ev.TurnStarted(1, session="s"), task=task, attempt=attempt),
            ev.Draft(ev.TurnEnded(1, exit=0), task=task, attempt=attempt),
        )
    values, _ = parse(LiveMetrics().look(eye.sight()))
    assert value(values, "turns_total", engine=hostile) == 1
    assert value(values, "turns_total", engine="other") == 10
    assert len([name for name, _ in values if name == "paddock_turns_total"]) == MOST_ENGINES + 1


class Scraped(Fleet):
    """A fleet that is scraped after every step."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self.eye = LedgerEye(workspace, self.ledger)
        self.live = LiveMetrics()
        self.before: Values = {}

    @invariant()
    def counters_only_grow_and_do_not_depend_on_who_began_when(self) -> None:
        text = self.live.look(self.eye.sight())
        assert text == LiveMetrics().look(self.eye.sight())
        values, _ = parse(text)
        counts = {key: number for key, number in values.items() if key[0].endswith(("_total", "_count", "_bucket"))}
        assert all(counts[key] >= number for key, number in self.before.items())
        self.before = counts
        gone = [name for name in self.board.tasks if self.board.tasks[TaskId(name)].started]
        turns = sum(number for (name, _), number in counts.items() if name == "paddock_turns_total")
        assert turns <= self.board.seq
        assert bool(turns) <= bool(gone)


def test_counters_only_grow_whatever_happens(workspace: Workspace) -> None:
    run_state_machine_as_test(
        lambda: Scraped(workspace),  # type: ignore[arg-type]
        settings=settings(
            max_examples=5, stateful_step_count=20, deadline=None, suppress_health_check=[HealthCheck.too_slow]
        ),
    )


def test_a_log_that_was_begun_again_is_counted_from_its_beginning(eye: LedgerEye) -> None:
    finish(eye.ledger, eye.ledger.add(), 1.0)
    live = LiveMetrics()
    live.look(eye.sight())
    eye.ledger = Ledger()
    eye.ledger.add()
    values, _ = parse(live.look(eye.sight()))
    assert value(values, "attempts_total", outcome="delivered") == 0
