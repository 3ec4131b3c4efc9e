"""docs/contracts.md names every key of the live board and every metric."""

import re

import msgspec
import pytest

from paddock.core.admission.host import HostSample
from paddock.views.board.convoys import ConvoyRow
from paddock.views.board.pace import LandedView
from paddock.views.board.page import AgentsView, BoardView, DaemonState, MainView, SpendView
from paddock.views.board.rows import TaskRow
from paddock.views.board.strip import NextLanding, StripRun, StripView
from paddock.views.metrics import LiveMetrics
from tests.core.ledger import START, Ledger
from tests.docs.markdown import ROOT
from tests.views.eyes import LedgerEye, workspace_in

TEXT = (ROOT / "docs" / "contracts.md").read_text()
BOARD = TEXT.partition("### The live board")[2].partition("## Metrics")[0]
METRICS = TEXT.partition("## Metrics")[2]
KINDS = (
    *(BoardView, TaskRow, ConvoyRow, AgentsView, SpendView, StripView, StripRun, NextLanding),
    *(LandedView, MainView, DaemonState),
)


@pytest.mark.parametrize("kind", KINDS)
def test_every_key_of_the_board_is_named(kind: type[msgspec.Struct]) -> None:
    fields = set(kind.__struct_fields__) - {"schema"}
    assert {name for name in fields if f"`{name}`" not in BOARD} == set()


def test_every_metric_is_named_and_no_other(tmp_path_factory: pytest.TempPathFactory) -> None:
    eye = LedgerEye(workspace_in(tmp_path_factory.mktemp("metrics")), Ledger())
    host = HostSample(at=START, busy=0.5, free_memory_bytes=1, free_disk_bytes=1, free_inodes=None, cores=2)
    found = re.findall(r"^# TYPE (\S+)", LiveMetrics().look(eye.sight(), host), re.MULTILINE)
    assert sorted(found) == sorted(re.findall(r"`(paddock_\w+)`", METRICS))
