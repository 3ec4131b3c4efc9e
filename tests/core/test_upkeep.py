"""Judging what was seen: what is at work or unknown is never swept, and each leftover is dealt with once."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from paddock.core import events as ev
from paddock.core.board import Board
from paddock.core.events import Draft
from paddock.core.leases import decisions, lease
from paddock.core.merge import events as qe
from paddock.core.merge.model import Purpose, Result
from paddock.core.tasks.conversations import Homes
from paddock.core.tasks.vocabulary import Outcome, Step
from paddock.core.upkeep.findings import (
    EndProcesses,
    ExpireLease,
    Leftover,
    ReleaseSandbox,
    ReleaseUnit,
    RemoveOutput,
    RemoveSandbox,
    RemoveWorktree,
    ReturnWorktree,
    What,
)
from paddock.core.upkeep.judge import (
    FRESH_UNIT_SECONDS,
    Allowed,
    collect,
    has_ended,
    judge,
    live_owners,
)
from paddock.core.upkeep.survey import (
    MemorySeen,
    OutputSeen,
    ProcessSeen,
    SandboxClaim,
    SlotState,
    Survey,
    UnitSeen,
    WorktreeSeen,
)
from tests.core.ledger import START, Ledger

NOW = START + 10_000
ALLOWED = Allowed(sandboxes=2, output_age_seconds=86400.0, output_megabytes=1.0, memory_megabytes=1.0)
RUN = ("m0", "tree0", (), "tree0")


def build_board() -> Board:
    """`t1.1` has ended; `t1.2` and `t2.1` are at work; the run r1 is over, r2 goes on. `port:1` is held too long.
    The change of `t3` is under review."""
    ledger = Ledger()
    first, second = ledger.add(), ledger.add()
    ledger.attempt(first, "retry")
    ledger.start(first)
    ledger.start(second)
    ledger.attempt(ledger.add(), "review", head="a" * 40)
    held = decisions.acquire(ledger.board.leases, "port:1", lease.Holder("ana"), 10.0, START)
    assert isinstance(held, decisions.Granted)
    ledger.write(
        Draft(qe.RunStarted("r1", Purpose.BASELINE, *RUN, "m0", "ci")),
        Draft(qe.RunEnded("r1", Result.PASS)),
        Draft(qe.RunStarted("r2", Purpose.BASELINE, *RUN, "m0", "ci")),
        *(Draft(event) for event in held.events),
    )
    return ledger.board


BOARD = build_board()
AT_WORK = frozenset({"t1.2", "t2.1", "run-r2", f"run-t3-{'a' * 10}-12345678"})
ENDED = frozenset({"t1.1", "t3.1", "run-r1", f"run-t3-{'b' * 10}-12345678", f"run-t1-{'a' * 10}-12345678"})
STRANGERS = ("t1.3", "t9.1", "t1.²", "run-r3", "run-x", f"run-t9-{'a' * 10}-12345678", "run-1", "", ".", "t1", "nobody")
OWNERS = st.sampled_from([*AT_WORK, *ENDED, *STRANGERS])
ATTEMPTS = st.one_of(OWNERS, st.sampled_from(["t1.resolve", "t7.resolve"]))
AGES = st.one_of(st.floats(0, 100), st.floats(0, 1e7))
SLOTS = st.integers(1, 40)


@st.composite
def worktrees(draw: st.DrawFn) -> tuple[WorktreeSeen, ...]:
    numbers = draw(st.lists(SLOTS, unique=True, max_size=8).map(sorted))
    made = []
    for number in numbers:
        state = draw(st.sampled_from([None, *SlotState]))
        unowned = state in (None, SlotState.MAKING, SlotState.IDLE)
        attempt = "" if unowned else draw(ATTEMPTS)
        present, busy = draw(st.booleans()), draw(st.booleans())
        made.append(WorktreeSeen(number, f"/pool/w{number}", state, attempt, "why", present, busy))
    return tuple(made)


SURVEYS = st.builds(
    Survey,
    processes=st.lists(st.builds(ProcessSeen, OWNERS, st.just("pid 7"), AGES, st.just("sh")), max_size=5).map(tuple),
    worktrees=worktrees(),
    sandboxes=st.lists(
        st.builds(SandboxClaim, SLOTS.map(lambda n: f"ci{n}"), st.sampled_from([None, "r1", "r2", "r7", "mine", "1"])),
        unique_by=lambda box: box.name,
        max_size=6,
    ).map(tuple),
    units=st.lists(st.builds(UnitSeen, st.sampled_from(["m0", "c1", "c2"]), AGES), max_size=3).map(tuple),
    outputs=st.lists(
        st.builds(OutputSeen, OWNERS, st.integers(1, 99).map(lambda n: f"/out/{n}"), AGES, st.integers(0, 2**21)),
        unique_by=lambda output: output.path,
        max_size=6,
    ).map(tuple),
)


@given(SURVEYS)
def test_nothing_at_work_or_unknown_is_ever_given_a_remedy(seen: Survey) -> None:
    states = {one.number: one for one in seen.worktrees}
    for found in judge(BOARD, seen, ALLOWED, NOW):
        match found.remedy:
            case None:
                assert found.what is What.UNKNOWN
            case EndProcesses(owner=owner):
                assert owner in ENDED
            case ReturnWorktree(attempt=attempt):
                assert attempt in ENDED
            case RemoveWorktree(slot=slot):
                one = states[slot]
                assert not one.busy
                assert one.attempt == ""
                assert one.state in (SlotState.MAKING, SlotState.RETURNING) or not one.present
            case ReleaseSandbox(run=run):
                assert run == "r1"
            case RemoveSandbox(name=name):
                assert SandboxClaim(name, None) in seen.sandboxes
            case ReleaseUnit(commit=commit):
                assert commit != "m0"
            case RemoveOutput(path=path):
                [owner] = [output.owner for output in seen.outputs if output.path == path]
                assert owner in ENDED
            case ExpireLease():
                assert found.name == "port:1"


@given(SURVEYS)
def test_every_process_and_claimed_worktree_that_is_not_at_work_is_told_of(seen: Survey) -> None:
    told = {(found.what, found.name) for found in judge(BOARD, seen, ALLOWED, NOW)}
    for process in seen.processes:
        expected = What.PROCESS if process.owner in ENDED else What.UNKNOWN
        assert process.owner in AT_WORK or (expected, process.owner) in told
    for one in seen.worktrees:
        if one.state in (SlotState.CLAIMED, SlotState.READY) and not one.attempt.endswith(".resolve"):
            expected = What.ABANDONED if one.attempt in ENDED else What.UNKNOWN
            assert one.attempt in AT_WORK or (expected, one.attempt) in told


@given(SURVEYS, st.frozensets(OWNERS))
def test_what_a_drive_still_clears_up_after_is_left_to_it(seen: Survey, driven: frozenset[str]) -> None:
    everything = judge(BOARD, seen, ALLOWED, NOW)
    left = judge(BOARD, seen, replace(ALLOWED, driven=driven), NOW)
    assert left == [found for found in everything if found.name not in driven]


@given(SURVEYS)
def test_by_a_board_that_knows_nothing_nothing_of_anybodys_is_swept(seen: Survey) -> None:
    """A log that lost its end, or another log: unknown is not dead."""
    owned = (EndProcesses, ReturnWorktree, ReleaseSandbox, RemoveOutput)
    assert not [found for found in judge(Board(), seen, ALLOWED, NOW) if isinstance(found.remedy, owned)]


@given(SURVEYS)
def test_output_that_stays_fits_unless_it_is_at_work_or_unknown(seen: Survey) -> None:
    swept = {f.remedy.path for f in judge(BOARD, seen, ALLOWED, NOW) if isinstance(f.remedy, RemoveOutput)}
    stays = [output for output in seen.outputs if output.path not in swept]
    removable = [output for output in stays if output.owner in ENDED]
    assert all(output.age_seconds <= ALLOWED.output_age_seconds for output in removable)
    for output in removable:
        newer = sum(other.size_bytes for other in stays if other.age_seconds < output.age_seconds)
        assert newer + output.size_bytes <= ALLOWED.output_megabytes * 2**20


@given(worktrees(), st.frozensets(ATTEMPTS), st.integers(0, 5), st.booleans(), st.sets(SLOTS))
def test_gc_takes_neither_the_live_nor_the_busy_and_leaves_the_pool_its_size(
    seen: tuple[WorktreeSeen, ...], live: frozenset[str], pool: int, force: bool, lived_in: set[int]
) -> None:
    homes = Homes(kept=tuple(f"/pool/w{number}" for number in sorted(lived_in)))
    removed = {r.slot: f for f in collect(seen, live, pool, homes, force=force) if (r := slot_of(f)) is not None}
    for one in seen:
        if one.number not in removed:
            continue
        found = removed[one.number]
        assert found.remedy == RemoveWorktree(one.number, one.state, one.attempt, one.present)
        if one.state in (SlotState.CLAIMED, SlotState.READY, SlotState.KEPT):
            assert one.attempt not in live
        if one.state in (SlotState.MAKING, SlotState.RETURNING):
            assert not one.busy
        if one.state is SlotState.KEPT or (one.state is None and one.present):
            assert force
        assert force or one.state is not SlotState.IDLE or one.path not in homes.kept
    idle = [one for one in seen if one.state is SlotState.IDLE and (force or one.path not in homes.kept)]
    assert len([one for one in idle if one.number not in removed]) == min(pool, len(idle))


def slot_of(found: Leftover) -> RemoveWorktree | None:
    return found.remedy if isinstance(found.remedy, RemoveWorktree) else None


def test_owners_are_live_ended_or_unknown() -> None:
    assert {has_ended(BOARD, owner) for owner in ENDED} == {True}
    assert {has_ended(BOARD, owner) for owner in AT_WORK} == {False}
    assert {has_ended(BOARD, owner) for owner in STRANGERS} == {None}
    assert live_owners(BOARD) == {"t1.2", "t2.1"}


def test_a_person_who_resolves_a_blocked_task_keeps_the_folder_from_gc() -> None:
    ledger = Ledger()
    task = ledger.add()
    ledger.attempt(task, "block")
    assert live_owners(ledger.board) == {f"{task}.resolve"}


def test_fresh_refs_are_left_for_whoever_is_making_them() -> None:
    seen = Survey(units=(UnitSeen("new", FRESH_UNIT_SECONDS), UnitSeen("old", FRESH_UNIT_SECONDS + 1)))
    found = judge(Board(), seen, ALLOWED, NOW)
    assert [(one.what, one.name) for one in found] == [(What.REF, "old")]


MEGABYTE = 1024 * 1024


def test_conversations_stay_as_long_as_a_task_may_go_on_with_them_and_the_largest_go_first() -> None:
    ledger = Ledger()
    for name, step in (("large", "approval"), ("small", "approval"), ("t3.1-3", "noop"), ("live", "")):
        task = ledger.add()
        attempt = ledger.start(task)
        ledger.write(ev.Draft(ev.TurnStarted(1, memory=name), task, attempt))
        if step:
            ledger.write(ev.Draft(ev.TurnEnded(1, exit=0), task, attempt))
            ended = ev.AttemptEnded(Outcome.DELIVERED, Step(step), counted=False, head="c" * 40, base="b" * 40)
            ledger.write(ev.Draft(ended, task, attempt))
    sizes = {"live": 5, "large": 3, "small": 0.5, "t3.1-3": 0.3, "t3.1": 1, "t3.1-2": 1, "t4.1": 1, "somebody's": 9}
    seen = Survey(memories=tuple(MemorySeen(name, f"/m/{name}", int(n * MEGABYTE)) for name, n in sizes.items()))
    limits = replace(ALLOWED, memory_megabytes=6.0)
    now = max(task.since for task in ledger.board.tasks.values()) + 60
    found = {one.name: one for one in judge(ledger.board, seen, limits, now)}
    assert found.keys() == {"large", "t3.1", "t3.1-2"}, "nobody is made to forget by what another keeps"
    assert {one.what for one in found.values()} == {What.CONVERSATION}
    assert "more than 6 MB" in found["large"].evidence
    assert found["large"].remedy == RemoveOutput("/m/large")
    later = {one.name: one.evidence for one in judge(ledger.board, seen, limits, now + 3 * 86400.0)}
    assert later["t3.1-3"] == "its task finished 3 days ago"
    tight = {one.name: one.evidence for one in judge(ledger.board, seen, replace(limits, memory_megabytes=5.6), now)}
    assert tight["t3.1-3"] == "its task has finished, and more than 5.6 MB are kept"


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(1, 30)), max_size=12), st.integers(1, 60))
def test_of_finished_conversations_the_newest_are_kept_as_far_as_there_is_room(
    tasks: list[tuple[int, int]], room: int
) -> None:
    ledger = Ledger()
    for _ in tasks:
        task = ledger.add()
        attempt = ledger.start(task)
        ledger.write(ev.Draft(ev.TurnStarted(1, memory=attempt), task, attempt))
        ledger.write(ev.Draft(ev.TaskCancelled(), task), ev.Draft(ev.TurnEnded(1), task, attempt))
        ledger.write(ev.Draft(ev.AttemptEnded(Outcome.KILLED, Step.BLOCK, counted=False), task, attempt))
    names = [f"t{number}.1" for number, _ in enumerate(tasks, 1)]
    sizes = dict(zip(names, (size for _, size in tasks), strict=True))
    seen = Survey(memories=tuple(MemorySeen(name, name, size * MEGABYTE) for name, size in sizes.items()))
    limits = replace(ALLOWED, memory_megabytes=float(room))
    gone = {
        one.name
        for one in judge(ledger.board, seen, limits, max((t.since for t in ledger.board.tasks.values()), default=0.0))
    }
    stay = [name for name in names if name not in gone]
    assert sum(sizes[name] for name in stay) <= room
    for name in gone:
        newer = [one for one in stay if names.index(one) > names.index(name)]
        assert sum(sizes[one] for one in newer) + sizes[name] > room, "it would have had room"
