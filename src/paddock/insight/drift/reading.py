"""The report on drift, looked up: from the dataset, with the self-test of its baseline."""

import time
from typing import TYPE_CHECKING

from msgspec.structs import replace

from paddock.insight.dataset.current import open_current
from paddock.insight.drift.judge import judge_drift
from paddock.insight.drift.report import DriftReport
from paddock.insight.drift.sides import Question, pick_sides
from paddock.insight.extra import require_numpy

if TYPE_CHECKING:
    from paddock.fleet.workspace import Workspace


def read_drift(workspace: "Workspace", question: Question, now: float | None = None) -> DriftReport:
    """Raises PaddockError where numpy is missing, and as `pick_sides` and `open_current` do."""
    require_numpy("a verdict on drift")
    from paddock.insight.drift.self_test import check_itself

    with open_current(workspace) as dataset:
        sides = pick_sides(dataset, question, time.time() if now is None else now)
        symbols, lacks = dataset.symbols, tuple(filter(None, (dataset.behind, dataset.lack)))
    report = judge_drift(
        sides.batch, sides.baseline, symbols, batch_name=sides.batch_name, baseline_name=sides.baseline_name
    )
    return replace(report, self_test=check_itself(sides.baseline, symbols), warnings=(*report.warnings, *lacks))
