"""kill -9 at every step of an update: nothing of the user's is lost, and the next one finishes."""

import os
import signal

import pytest

from paddock.git.repo import discover
from paddock.git.usertree.checkouts import catch_up
from paddock.git.usertree.notes import CheckoutNotes, StaleTree, write_notes
from paddock.git.usertree.update import LeftAlone
from tests.git.checkpoints import UPDATE_CHECKPOINTS
from tests.git.conftest import git, write
from tests.git.usertree.crash_driver import update_checkout
from tests.git.usertree.desk import Desk
from tests.warm import run_apart

TWICE = ("sync.taken", "sync.put")
POINTS = [*(f"{point}#1" for point in UPDATE_CHECKPOINTS), *(f"{point}#2" for point in TWICE)]
LANDED: dict[str, str | None] = {
    "README.md": "landed\n",
    "src/app.py": "landed\n",
    "new/file.txt": "landed\n",
    "src/deep/er.txt": None,
}


def kill_at(desk: Desk, at: str, point: str) -> None:
    code, complaints = run_apart(update_checkout, str(desk.top), at, point)
    assert code == -signal.SIGKILL, f"{point} was never reached: {complaints}"


def note_stale(desk: Desk, at: str) -> None:
    """As landing does before main moves."""
    entry = StaleTree(os.fsencode(desk.top), at, desk.main)
    write_notes(desk.repo, CheckoutNotes((entry,)))


@pytest.mark.parametrize("point", POINTS)
def test_a_kill_anywhere_is_made_good_by_the_next_one(desk: Desk, point: str) -> None:
    write(desk.top, {"run.sh": "mine\n", "mine.txt": "mine\n"})
    old, _ = desk.land(LANDED)
    note_stale(desk, old)
    kill_at(desk, old, point)
    (report,) = catch_up(desk.repo, "main")
    assert report.is_current, report
    assert desk.status() == [" M run.sh", "?? mine.txt"]
    assert (desk.top / "run.sh").read_text() == (desk.top / "mine.txt").read_text() == "mine\n"
    assert not (desk.top / ".git" / "index.lock").exists()
    assert not (desk.top / ".git" / "paddock-sync").exists()
    git(desk.top, "commit", "--quiet", "-am", "the user goes on")


@pytest.mark.parametrize("point", POINTS)
def test_what_somebody_writes_after_the_kill_is_kept(desk: Desk, point: str) -> None:
    old, _ = desk.land(LANDED)
    note_stale(desk, old)
    kill_at(desk, old, point)
    write(desk.top, {"README.md": "written after the kill\n", "new/file.txt": "this, too\n"})
    (report,) = catch_up(desk.repo, "main")
    assert (desk.top / "README.md").read_text() == "written after the kill\n"
    assert (desk.top / "new" / "file.txt").read_text() == "this, too\n"
    assert not (desk.top / ".git" / "index.lock").exists()
    if isinstance(report.result, LeftAlone):
        assert set(report.result.files) == {"README.md", "new/file.txt"}
        assert (desk.top / "src" / "deep" / "er.txt").read_text() == "deeper\n"
        write(desk.top, {"README.md": "hello\n"})
        (desk.top / "new" / "file.txt").unlink()
        (again,) = catch_up(discover(desk.top), "main")
        assert again.is_current
        assert desk.status() == [""]
    else:
        assert desk.status() == [" M README.md", " M new/file.txt"]
