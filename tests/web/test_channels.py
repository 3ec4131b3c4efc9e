"""Live views made for all pages at once: one that cannot be made is nobody else's trouble."""

from pathlib import Path

import pytest

from paddock.core.errors import NotFound
from paddock.web.channels import Channel, Channels
from tests.core.ledger import Ledger
from tests.views.eyes import LedgerEye, workspace_in


def test_a_task_that_another_log_does_not_have_keeps_no_other_view_from_being_told(tmp_path: Path) -> None:
    channels, sight = Channels(), LedgerEye(workspace_in(tmp_path), Ledger()).sight
    task = Channel("task:t1")
    channels._channels["task:t1"] = task
    board = channels.open("board", sight)
    task.watchers = board.watchers = 1
    channels.forget()
    assert channels.look(sight())
    assert b'"tasks":{}' in b"".join(board.since(None))
    assert task.since(None) == []
    with pytest.raises(NotFound):
        Channels().open("task:t1", sight)


def test_a_mark_with_an_endless_number_gets_the_whole(tmp_path: Path) -> None:
    ledger = Ledger()
    board = Channels().open("board", LedgerEye(workspace_in(tmp_path), ledger).sight)
    series, _, _ = board.mark.partition(".")
    assert b'"whole"' in b"".join(board.since(f"{series}.{'9' * 5000}"))
