"""The day's money on the fleet's page: right when little is known, and cheap when much is."""

import pytest

from paddock.core import events as ev
from paddock.fleet.workspace import Workspace
from paddock.store.sqlite import SqliteStore
from paddock.views.fleet.page import TURNS_A_SECOND, LiveFleet
from tests.core.ledger import Ledger
from tests.views.eyes import LedgerEye, workspace_in


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    workspace = workspace_in(tmp_path_factory.mktemp("spend") / "harbor")
    workspace.state_dir.mkdir(parents=True)
    SqliteStore(workspace.log.file, create=True).close()
    return workspace


@pytest.fixture
def eye(workspace: Workspace) -> LedgerEye:
    return LedgerEye(workspace, Ledger())


def pay(ledger: Ledger, turns: int) -> None:
    task = ledger.add()
    attempt = ledger.start(task)
    for turn in range(1, turns + 1):
        ended = ev.TurnEnded(turn, exit=0, cost_usd=0.01, cost_source="engine")
        for event in (ev.TurnStarted(turn), ended):
            ledger.write(ev.Draft(event, task=task, attempt=attempt))


def test_each_turn_of_a_quiet_day_is_counted_at_the_next_look(eye: LedgerEye) -> None:
    fleet = LiveFleet()
    pay(eye.ledger, 2)
    assert fleet.look(eye.sight()).spend.cost_usd == 0.02
    pay(eye.ledger, 1)
    assert fleet.look(eye.sight()).spend.cost_usd == 0.03


def test_a_day_of_very_many_turns_is_summed_up_now_and_then_but_a_new_budget_is_shown_at_once(eye: LedgerEye) -> None:
    fleet = LiveFleet()
    pay(eye.ledger, 1000)
    eye.now = eye.sight().now
    first = fleet.look(eye.sight()).spend
    pay(eye.ledger, 1)
    eye.now += 500 / TURNS_A_SECOND
    assert fleet.look(eye.sight()).spend is first
    eye.now += 2000 / TURNS_A_SECOND
    assert fleet.look(eye.sight()).spend.cost_usd == 10.01
    eye.ledger.write(ev.Draft(ev.BudgetSet("day", money=80.0)))
    assert fleet.look(eye.sight()).spend.budget_usd == 80.0
