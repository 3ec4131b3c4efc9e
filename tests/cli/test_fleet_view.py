"""What the fleet's page is made of: limits by the gate's own arithmetic, clocks, money, leases, the hours so far."""

import time

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.core.admission.controls import Account, Controls
from paddock.core.admission.host import HostPace, HostSample
from paddock.core.admission.quota import Quota
from paddock.core.admission.windows import Windows
from paddock.core.board import DAEMON_LEASE
from paddock.core.leases.lease import Holder, Lease
from paddock.core.money.day_rate import forecast_day
from paddock.core.trace import WindowUse
from paddock.fleet.dispatch.gate import LimitsFile
from paddock.fleet.glance import Glance
from paddock.fleet.outlook import Outlook
from paddock.fleet.samples import Sample, SampleFile
from paddock.fleet.service.presence import DaemonSighting, Presence
from paddock.fleet.workspace import Workspace
from paddock.git.repo import discover
from paddock.views.document import iso, to_json
from paddock.views.fleet.page import FleetDocument, LiveFleet
from paddock.views.sight import Sight
from tests.cli.conftest import Cli

NOW = 1_800_000_000.0
RUNNING = DaemonSighting(Presence.RUNNING, Lease(DAEMON_LEASE, 1, Holder("daemon", "hall-1", 1), NOW - 60, NOW + 30))
NOBODY = DaemonSighting(Presence.NONE, None)


@pytest.fixture
def workspace(cli: Cli) -> Workspace:
    return Workspace(discover(cli.top))


def sight_of(
    workspace: Workspace, glance: Glance | None = None, daemon: DaemonSighting = RUNNING, now: float = NOW
) -> Sight:
    told = glance or Glance(at=now, cap=8, most=8)
    return Sight(workspace, workspace.board(), Outlook(now, daemon), told, workspace.records, now)


def keep_limits(workspace: Workspace, **accounts: Account) -> None:
    host = HostSample(NOW, 0.5, 3 * 2**30, 40 * 2**30, cores=8)
    kept = LimitsFile(NOW, Controls(accounts, {}, HostPace(slots=12.0)), {}, host)
    (workspace.state_dir / "limits.json").write_bytes(msgspec.json.encode(kept))


def test_the_limit_that_binds_comes_first_with_the_gates_own_reason(cli: Cli, workspace: Workspace) -> None:
    cli.good("add", "one thing")
    windows = Windows({"5 h": WindowUse("5 h", 0.97, NOW + 600), "7 d": WindowUse("7 d", 0.4, NOW + 86400)})
    keep_limits(workspace, max=Account(windows=windows), free=Account(quota=Quota(target=1e6)))
    reason = "account max: 97% of the 5 h window used, resets in 10m"
    glance = Glance(at=NOW, cap=8, most=0, limit="window", limit_on="max", limit_reason=reason, limit_until=NOW + 600)
    view = LiveFleet().look(sight_of(workspace, glance))
    first = view.limits[0]
    assert (first.name, first.binds, first.words, first.until) == ("account: max", True, reason, iso(NOW + 600))
    assert [row.binds for row in view.limits[1:]] == [False] * (len(view.limits) - 1)
    assert view.words == f"0 of 8 agents. 1 task could start; account: max binds: {reason}."
    account = view.accounts["max"]
    assert account.state == "paused"
    assert [(window.name, window.used) for window in account.windows] == [("5 h", 0.97), ("7 d", 0.4)]
    assert (view.accounts["free"].bears, view.accounts["free"].state) == (None, "room")
    assert view.machine is not None
    assert (view.machine.host, view.machine.cores) == ("hall-1", 8)


def test_without_a_daemon_the_page_says_what_to_run(cli: Cli, workspace: Workspace) -> None:
    cli.good("add", "one thing")
    view = LiveFleet().look(sight_of(workspace, Glance(), NOBODY))
    assert view.words.startswith("No daemon is running, so nothing starts or lands: `paddock up` starts one. 1 task")
    assert (view.daemon, view.machine, view.agents.most, view.agents.cap) == ("none", None, None, 4)
    assert view.nodes == {}
    assert view.spend.cost_usd is None


def test_budgets_of_the_day_and_of_convoys_are_limits(cli: Cli, workspace: Workspace) -> None:
    cli.good("add", "one thing", "--convoy", "docs")
    cli.good("budget", "set", "day", "--usd", "80")
    cli.good("budget", "set", "convoy:docs", "--usd", "6")
    view = LiveFleet().look(sight_of(workspace))
    amounts = {row.name: row.amount for row in view.limits if row.by == "budget"}
    assert amounts == {"budget: day": "$0.00 of $80.00", "budget: convoy:docs": "$0.00 of $6.00"}
    assert view.spend.budget_usd == 80
    assert [(row.name, row.budget_usd) for row in view.spend.convoys] == [("docs", 6.0)]


def test_a_lease_is_shown_with_who_holds_it_and_until_when(cli: Cli, workspace: Workspace) -> None:
    cli.good("lease", "acquire", "port:5432", "--ttl", "10m")
    view = LiveFleet().look(sight_of(workspace, now=time.time()))
    lease = view.leases["port:5432"]
    assert lease.holder.startswith("ana@")
    assert lease.generation == 1
    assert (view.waiting, lease.waits) == (0, ())
    assert lease.expires > lease.since


def test_the_hours_so_far_begin_with_the_first_sample_and_have_gaps_where_nobody_looked(workspace: Workspace) -> None:
    samples = SampleFile(workspace.state_dir)
    for minutes in (*range(60, 40, -1), *range(20, 0, -1)):
        samples.keep(Sample(NOW - 60 * minutes, running=minutes % 5, cap=8, most=6, limit="load"))
    whole = LiveFleet().whole(sight_of(workspace), 6)
    assert msgspec.json.decode(to_json(whole), type=FleetDocument).series == whole.series
    columns = whole.series
    lengths = {len(column) for column in (columns.at, columns.running, columns.most, columns.cap, columns.bound)}
    assert lengths == {240}
    assert columns.running[0] is not None
    assert columns.running[len(columns.running) // 2] is None
    assert columns.bound[-2] == "load"
    assert columns.at == sorted(columns.at)
    assert LiveFleet().whole(sight_of(workspace), 10_000).hours == 168


@given(
    st.lists(st.tuples(st.floats(NOW - 40_000, NOW - 700), st.floats(0.001, 5.0)), min_size=1, max_size=30),
    st.floats(60.0, 40_000.0),
)
def test_a_forecast_is_never_below_what_was_spent_and_between_its_bounds(
    spent: list[tuple[float, float]], left: float
) -> None:
    total = sum(usd for _, usd in spent)
    ahead = forecast_day([*sorted(spent), (NOW - 650, 1.0), (NOW - 10, 1.0)], total, NOW, NOW + left)
    assert ahead is not None
    assert total <= ahead.low <= ahead.expected <= ahead.high


def test_there_is_no_forecast_from_a_few_minutes() -> None:
    assert forecast_day([], 0.0, NOW, NOW + 60) is None
    assert forecast_day([(NOW - 30, 1.0), (NOW, 1.0)], 2.0, NOW, NOW + 60) is None


def test_a_forecast_goes_on_like_the_last_hour() -> None:
    spent = [(NOW - 1800, 3.0), (NOW - 900, 1.0), (NOW - 1, 1.0)]
    ahead = forecast_day(spent, 5.0, NOW, NOW + 3600)
    assert ahead is not None
    assert (ahead.per_hour, ahead.expected) == (4.0, 9.0)
