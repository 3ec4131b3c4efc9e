"""What a report is made of, looked up: the log, the dataset of traces, and the settings."""

import heapq
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from paddock.core.alerts.events import AlertRaised
from paddock.core.board import Board
from paddock.core.events import Record
from paddock.insight.costs.context_files import find_context_files
from paddock.insight.costs.reading import brief_sizes, read_fleet_costs
from paddock.insight.costs.report import report_costs
from paddock.insight.costs.waste import fates_of
from paddock.insight.costs.weeks import weekly_costs
from paddock.insight.dataset.current import open_current
from paddock.insight.dataset.dataset import Dataset
from paddock.insight.dataset.headers import FLEET
from paddock.insight.failures.batch import diagnose_batch
from paddock.insight.fleet_batches import latest_in_batches
from paddock.insight.report import checks
from paddock.insight.report.batches import judge_last
from paddock.insight.report.findings import DriftPart, FailurePart, sum_alerts, sum_failures
from paddock.insight.report.landings import count_landings
from paddock.insight.report.offenders import find_offenders
from paddock.insight.report.phase_times import MOST_RECORDS, TimeUse, clock_phases, time_use
from paddock.insight.report.report import Report
from paddock.insight.selection import Selection
from paddock.store.protocol import Ask, Query, Store

if TYPE_CHECKING:
    from paddock.fleet.workspace import Workspace


def read_report(workspace: "Workspace", began: float | None, now: float) -> Report:
    """Of all of the log where `began` is None. Raises DatasetUnusable."""
    from pathlib import Path

    since = began or 0.0
    with open_current(workspace) as dataset:
        failures = read_failures(dataset, began, now)
        drift = read_drift(dataset, began, now)
    with closing(workspace.read()) as store:
        board = store.board()
        costs = read_fleet_costs(workspace, board, store.records)
        fates = fates_of(board, costs)
        time, problem = read_time_use(store, board, since)
        slow = checks.find_slow_checks(in_order(store.records, checks.KINDS, board, began))
        briefs = brief_sizes(store.records)
        # The board has the last that ended.
        raised = sum(1 for _ in in_order(store.records, (AlertRaised.kind,), board, began))
    files = find_context_files(workspace.top, Path.home(), workspace.config)
    return Report(
        repository=workspace.repo.name,
        began=began,
        ended=now,
        landings=count_landings(board, began, now),
        costs=report_costs(board, costs, now, since, files=files, brief_bytes=briefs),
        weeks=tuple(weekly_costs(board, costs, fates, now)),
        time=time,
        time_problem=problem,
        failures=failures,
        causes=board.causes,
        drift=drift,
        alerts=sum_alerts(board.alerts, raised),
        checks=tuple(slow),
        offenders=find_offenders(board, costs, fates, since),
    )


def read_failures(dataset: Dataset, began: float | None, now: float, label: str = FLEET) -> FailurePart:
    """Those of the fleet until now, those of an imported batch until its last."""
    batch = diagnose_batch(dataset, Selection(label=label, since=began))
    ends = batch.ends.values()
    first = min(ends, default=now) if began is None else began
    return sum_failures(batch, first, now if label == FLEET else max(ends, default=now))


def read_drift(dataset: Dataset, began: float | None, now: float) -> DriftPart:
    return judge_last(latest_in_batches(dataset), dataset.symbols, now, began or 0.0)


def read_time_use(store: Store, board: Board, since: float) -> tuple[TimeUse | None, str]:
    """And why it is not told, if so."""
    if board.seq > MOST_RECORDS:
        return None, f"the log has more than {MOST_RECORDS:,} records, so times are not counted"
    return time_use(clock_phases(store.records(Query(until=board.seq))), since), ""


def in_order(ask: Ask, kinds: Sequence[str], board: Board, since: float | None) -> Iterator[Record]:
    queries = (Query(kind=kind, until=board.seq, since=since) for kind in kinds)
    return heapq.merge(*map(ask, queries), key=lambda record: record.seq)
