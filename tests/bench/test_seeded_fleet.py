"""The seeded fleet is one that could have been: folded, hashed, and with commits behind what it says."""

import subprocess
from pathlib import Path

import pytest
from bench.seeded_fleet import HERD, THOUSAND, Herd, seed_fleet

from paddock.core.tasks.task import Phase
from paddock.store.sqlite import SqliteStore


@pytest.mark.parametrize("herd", [HERD, THOUSAND, Herd(landed=0, hours=3.0)], ids=["usual", "thousand", "first day"])
def test_every_phase_holds_as_many_tasks_as_were_asked_for(tmp_path: Path, herd: Herd) -> None:
    assert seed_fleet(tmp_path / "app", herd) == len(herd.phases)
    store = SqliteStore(tmp_path / "app" / ".git" / "paddock" / "log.db", read_only=True)
    board = store.board()
    store.close()
    assert {phase: board.counts.get(phase, 0) for phase in Phase} == {
        phase: getattr(herd, phase.value) for phase in Phase
    }
    assert len(board.queue.running) == 3
    assert board.queue.main is not None
    main = git(tmp_path / "app", "rev-parse", "main")
    assert (board.queue.main.commit, board.queue.main.verified_by is not None) == (main, True)


def test_what_waits_for_approval_can_be_shown_and_counts_right(tmp_path: Path) -> None:
    seed_fleet(tmp_path / "app")
    store = SqliteStore(tmp_path / "app" / ".git" / "paddock" / "log.db", read_only=True)
    tasks = [task for task in store.board().tasks.values() if task.phase is Phase.APPROVAL]
    verified = store.verify()
    store.close()
    assert verified.bad is None
    for task in tasks:
        assert task.last is not None
        shown = git(tmp_path / "app", "diff", "--numstat", f"{task.base}..{task.head}")
        assert shown.split()[:2] == [str(task.last.insertions), str(task.last.deletions)]


def git(top: Path, *words: str) -> str:
    return subprocess.run(("git", *words), cwd=top, check=True, capture_output=True, text=True).stdout.strip()
