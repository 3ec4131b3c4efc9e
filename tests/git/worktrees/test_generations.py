"""A worktree belongs to the daemon that touched it last: an older one prepares, returns, cleans and removes nothing."""

from dataclasses import dataclass, replace

import pytest

from paddock.core.lead import ByHand, Succeeded
from paddock.core.upkeep.survey import SlotState
from paddock.git.sandboxes.sandbox import (
    PreparedSandbox,
    SandboxOrder,
    prepare_sandbox,
    release_sandbox,
    remove_sandbox,
    reserve_sandbox,
)
from paddock.git.sandboxes.sandbox import read_record as read_sandbox
from paddock.git.sandboxes.tree import Sandbox
from paddock.git.worktrees.delivery import save_attempt
from paddock.git.worktrees.pool import fill
from paddock.git.worktrees.prepare import WorktreeOrder, prepare, release
from paddock.git.worktrees.slots import SlotRecord, WorktreeRoot, list_slots, read_record
from tests.git.conftest import git, write


@dataclass
class Generation(ByHand):
    """One that nobody has told yet that it is succeeded: only what is on disk can."""

    generation: int = 0
    leads: bool = False

    def reassert(self) -> None:
        if not self.leads:
            raise Succeeded("by the log another leads")


def led_by(root: WorktreeRoot, generation: int) -> WorktreeRoot:
    return replace(root, repo=root.repo.led_by(Generation(generation)))


def order(tip: str) -> WorktreeOrder:
    return WorktreeOrder("t1.1", "paddock/t1-work", tip)


def record_of(root: WorktreeRoot) -> SlotRecord:
    (slot,) = list_slots(root)
    record = read_record(slot)
    assert record is not None
    return record


def snapshot(root: WorktreeRoot) -> dict[str, bytes]:
    files = [path for path in root.path.rglob("*") if path.is_file() and not path.is_symlink()]
    return {str(path): path.read_bytes() for path in files}


def test_who_prepares_a_worktree_or_goes_on_with_one_makes_it_its_own(root: WorktreeRoot, tip: str) -> None:
    prepare(led_by(root, 1), order(tip))
    assert record_of(root).generation == 1
    prepare(led_by(root, 3), order(tip))
    assert (record_of(root).generation, record_of(root).state) == (3, SlotState.READY)


def test_a_former_daemon_touches_nothing_of_what_a_later_one_has(root: WorktreeRoot, tip: str) -> None:
    former, later = led_by(root, 1), led_by(root, 2)
    prepare(former, order(tip))
    made = prepare(later, order(tip))
    write(made.worktree.path, {"unsaved.txt": "work\n"})
    before = snapshot(root)
    for effect in (
        lambda: prepare(former, order(tip)),
        lambda: release(former, "t1.1", "it ended"),
        lambda: save_attempt(former, "t1.1", "it ended"),
    ):
        with pytest.raises(Succeeded):
            effect()
    assert snapshot(root) == before
    assert git(made.worktree.path, "symbolic-ref", "--short", "HEAD") == "paddock/t1-work"


def test_a_former_daemon_takes_no_idle_worktree_and_fills_no_pool(root: WorktreeRoot, tip: str) -> None:
    later = led_by(root, 2)
    fill(later, tip, 1)
    before = snapshot(root)
    with pytest.raises(Succeeded):
        prepare(led_by(root, 1), order(tip))
    with pytest.raises(Succeeded):
        fill(led_by(root, 1), tip + "0", 1)
    assert snapshot(root) == before


def test_a_person_may_clear_away_what_a_daemon_left_and_its_generation_stays(root: WorktreeRoot, tip: str) -> None:
    prepare(led_by(root, 2), order(tip))
    release(root, "t1.1", "a person cleared it away")
    assert (record_of(root).state, record_of(root).generation) == (SlotState.IDLE, 2)
    with pytest.raises(Succeeded):
        prepare(led_by(root, 1), order(tip))


@pytest.fixture
def sandbox(root: WorktreeRoot) -> Sandbox:
    return Sandbox(root.repo, root.path / ".ci", "ci1")


def test_a_former_daemon_touches_no_sandbox_of_a_later_one(sandbox: Sandbox, tip: str) -> None:
    former, later = (replace(sandbox, repo=sandbox.repo.led_by(Generation(n))) for n in (1, 2))
    reserve_sandbox(former, "r1", fresh=False)
    wanted = SandboxOrder("r1", tip)
    assert isinstance(prepare_sandbox(later, wanted), PreparedSandbox)
    before = read_sandbox(sandbox)
    assert before is not None
    assert before.generation == 2
    for effect in (
        lambda: prepare_sandbox(former, wanted),
        lambda: reserve_sandbox(former, "r2", fresh=True),
        lambda: release_sandbox(former, "r1"),
        lambda: remove_sandbox(former),
    ):
        with pytest.raises(Succeeded):
            effect()
    assert read_sandbox(sandbox) == before
    assert release_sandbox(sandbox, "r1"), "a person's janitor may"
    kept = read_sandbox(sandbox)
    assert kept is not None
    assert kept.generation == 2


def test_one_that_leads_by_a_log_begun_again_goes_on_where_the_former_log_left_off(
    root: WorktreeRoot, tip: str
) -> None:
    prepare(led_by(root, 7), order(tip))
    again = replace(root, repo=root.repo.led_by(Generation(1, leads=True)))
    release(again, "t1.1", "it ended")
    assert (record_of(root).state, record_of(root).generation) == (SlotState.IDLE, 1)
