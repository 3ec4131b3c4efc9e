"""The janitor sweeps what has ended, with evidence, and never what is at work or what nobody knows."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

from paddock.config.load import load_config
from paddock.core.events import AttemptEnded, AttemptStarted, DaemonTroubled, Draft, Swept
from paddock.core.ids import AttemptId, TaskId
from paddock.core.leases.lease import LeaseExpired
from paddock.core.merge.events import RunEnded, RunStarted
from paddock.core.merge.model import Purpose, Result
from paddock.core.tasks.vocabulary import Outcome, Step
from paddock.core.upkeep.findings import Leftover, ReleaseSandbox, What
from paddock.core.upkeep.judge import judge
from paddock.core.upkeep.survey import SlotState, Survey
from paddock.fleet.site import Site
from paddock.fleet.upkeep.janitor import allowed, look, sweep
from paddock.git.landing.held import hold_unit
from paddock.git.repo import discover
from paddock.git.sandboxes.sandbox import SandboxRecord, list_sandboxes, reserve_sandbox, write_record
from paddock.git.sandboxes.tree import Sandbox
from paddock.git.worktrees.pool import fill
from paddock.git.worktrees.prepare import WorktreeOrder, find, prepare
from paddock.git.worktrees.slots import SlotRecord, hold_slot, list_slots
from paddock.git.worktrees.slots import write_record as write_slot
from paddock.sessions.marks import Mark
from paddock.store.protocol import Author
from paddock.store.sqlite import SqliteStore
from tests.fleet.conftest import MakeYard
from tests.fleet.yard import Yard, commit, write
from tests.warm import PATIENCE_SECONDS

OLD = 40 * 86400.0


def site_of(yard: Yard) -> Site:
    repo = discover(yard.top)
    config = load_config(yard.top, yard.env).config
    return Site(repo, config, yard.log_path.parent, yard.marker, log_identity=yard.identity)


def record(yard: Yard, *drafts: Draft) -> None:
    store = SqliteStore(yard.log_path)
    store.append(lambda _board: drafts, Author("daemon"))
    store.close()


def begin(yard: Yard, name: str) -> None:
    """An attempt under way, as the log has it."""
    event = AttemptStarted("scripted", yard.git("rev-parse", "main"), f"paddock/{name}")
    record(yard, Draft(event, TaskId(name), AttemptId(f"{name}.1")))


def end(yard: Yard, name: str) -> None:
    record(yard, Draft(AttemptEnded(Outcome.EMPTY, Step.RETRY, counted=True), TaskId(name), AttemptId(f"{name}.1")))


def start_run(yard: Yard, name: str) -> None:
    """A CI run under way, as the log has it."""
    main = yard.git("rev-parse", "main")
    tree = yard.git("rev-parse", "main^{tree}")
    started = RunStarted(name, Purpose.BASELINE, main, tree, (), tree, main, "digest", "folder")
    record(yard, Draft(started))


def janitor(yard: Yard, *words: str) -> dict[str, list[dict[str, str]]]:
    found: dict[str, list[dict[str, str]]] = json.loads(yard.paddock("janitor", "--json", *words))
    return found


def judged(yard: Yard, site: Site, seen: Survey) -> list[Leftover]:
    board = yard.board()
    return judge(board, seen, allowed(site.config), board.at)


def kinds(rows: list[dict[str, str]]) -> list[tuple[str, str]]:
    return [(row["what"], Path(row["name"]).name) for row in rows]


def swept(yard: Yard) -> list[Swept]:
    return [found.event for found in yard.records(Swept) if isinstance(found.event, Swept)]


def spawn_marked(yard: Yard, owner: str) -> "subprocess.Popen[bytes]":
    """A process that carries the mark of an attempt or a run of this log."""
    env = {**yard.env, **Mark(yard.marker, owner).variables()}
    return subprocess.Popen(["sleep", "600"], env=env, start_new_session=True)


def test_processes_of_ended_attempts_are_ended_and_others_are_left(yard: Yard) -> None:
    yard.add(write("a.txt"))
    yard.add(write("b.txt"))
    begin(yard, "t1")
    end(yard, "t1")
    begin(yard, "t2")
    owners = ["t1.1", "t2.1", "t9.1", "run-r7"]
    processes = {owner: spawn_marked(yard, owner) for owner in owners}
    try:
        planned = janitor(yard, "--dry-run")
        assert kinds(planned["swept"]) == [("orphan process", "t1.1")]
        assert processes["t1.1"].poll() is None, "a dry run does nothing"
        assert not swept(yard)
        done = janitor(yard)
        assert kinds(done["swept"]) == [("orphan process", "t1.1")]
        assert sorted(row["name"] for row in done["left"]) == ["run-r7", "t9.1"]
        assert processes["t1.1"].wait(10) == -signal.SIGKILL
        assert [processes[owner].poll() for owner in owners[1:]] == [None, None, None]
        [event] = swept(yard)
        assert event.what == "orphan process: t1.1"
        assert event.evidence.startswith(f"pid {processes['t1.1'].pid}, ")
        assert event.evidence.endswith("s old: sleep 600")
    finally:
        for process in processes.values():
            process.kill()
            process.wait()


def test_a_process_with_a_name_of_its_own_making_is_left_and_reported(yard: Yard) -> None:
    yard.add(write("a.txt"))
    stranger = spawn_marked(yard, "t1.²")
    try:
        assert kinds(janitor(yard)["left"]) == [("unknown", "t1.²")]
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_a_worktree_whose_attempt_has_ended_goes_back_with_its_work_saved(yard: Yard) -> None:
    yard.add(write("a.txt"))
    begin(yard, "t1")
    site, main = site_of(yard), yard.git("rev-parse", "main")
    held = prepare(site.root, WorktreeOrder("t1.1", "paddock/t1", main)).worktree
    (held.path / "precious.txt").write_text("not committed\n")
    assert kinds(janitor(yard)["swept"]) == [], "it is at work"
    end(yard, "t1")
    assert kinds(janitor(yard)["swept"]) == [("worktree of an ended attempt", "t1.1")]
    assert find(site.root, "t1.1") is None
    assert "precious.txt" in yard.git("ls-tree", "--name-only", "paddock/t1").splitlines()
    assert janitor(yard) == {"schema": 1, "dry_run": False, "swept": [], "left": []}


def test_a_worktree_that_does_not_come_back_keeps_no_fleet_from_starting(yard: Yard) -> None:
    yard.add(write("a.txt"))
    site = site_of(yard)
    begin(yard, "t1")
    prepare(site.root, WorktreeOrder("t1.1", "paddock/t1", yard.git("rev-parse", "main")))
    end(yard, "t1")
    [slot] = list_slots(site.root)
    (slot.home / "setup.pid").mkdir()
    yard.add(write("b.txt"), commit())
    yard.run()
    assert yard.task("t2").phase == "approval"
    [trouble] = [record.event for record in yard.records(DaemonTroubled)]
    assert isinstance(trouble, DaemonTroubled)
    assert trouble.what == "sweeping the worktree of an ended attempt t1.1"
    assert "cannot be removed" in trouble.problem


def test_worktrees_nobody_knows_or_a_person_uses_are_left(yard: Yard) -> None:
    yard.add(write("a.txt"))
    begin(yard, "t1")
    end(yard, "t1")
    site, main = site_of(yard), yard.git("rev-parse", "main")
    prepare(site.root, WorktreeOrder("t1.resolve", "paddock/t1-resolve", main))
    prepare(site.root, WorktreeOrder("t7.1", "paddock/t7", main))
    prepare(site.root, WorktreeOrder("t1.1", "paddock/t1", main))
    [kept] = [slot for slot in list_slots(site.root) if slot.number == 3]
    with hold_slot(kept) as lock:
        write_slot(kept, SlotRecord(SlotState.KEPT, "t1.1", "paddock/t1", reason="could not be saved"), lock)
    done = janitor(yard)
    assert done["swept"] == []
    assert {row["name"]: row["evidence"].partition(" ")[2] for row in done["left"]} == {
        "t7.1": "belongs to an attempt that is not in this log",
        "t1.1": "is kept for you: could not be saved",
    }
    assert find(site.root, "t1.resolve") is not None


def test_an_attempt_that_starts_while_the_janitor_looks_keeps_its_worktree(yard: Yard) -> None:
    """The world is seen first and judged by a board read afterwards."""
    yard.add(write("a.txt"))
    site, main = site_of(yard), yard.git("rev-parse", "main")
    before = yard.board()
    begin(yard, "t1")
    prepare(site.root, WorktreeOrder("t1.1", "paddock/t1", main))
    seen = look(site)
    assert judged(yard, site, seen) == []
    # Even by a board that is too old it is unknown, which is not dead.
    assert [found.what for found in judge(before, seen, allowed(site.config), before.at)] == [What.UNKNOWN]


def test_a_sandbox_is_taken_from_an_ended_run_only(yard: Yard) -> None:
    start_run(yard, "r1")
    site = site_of(yard)
    for name, run in (("ci1", "r1"), ("ci2", "r2"), ("ci3", "elsewhere")):
        write_record(Sandbox(site.repo, site.sandbox_root, name), SandboxRecord(run=run))
    seen = look(site)
    assert judged(yard, site, seen) == []
    record(yard, Draft(RunEnded("r1", Result.PASS)))
    found = judged(yard, site, seen)
    assert found == [Leftover(What.SANDBOX, "ci1", "claimed by run r1, which has ended", ReleaseSandbox("ci1", "r1"))]
    # Meanwhile the sandbox was reserved for the next run: it stays that run's.
    write_record(Sandbox(site.repo, site.sandbox_root, "ci1"), SandboxRecord(run="r2"))
    assert [dealt.stale for dealt in sweep(site, found)] == [True]
    assert list_sandboxes(site.repo, site.sandbox_root)["ci1"].run == "r2"
    write_record(Sandbox(site.repo, site.sandbox_root, "ci1"), SandboxRecord(run="r1"))
    assert [dealt.left for dealt in sweep(site, found)] == [""]


def test_sandboxes_beyond_the_slots_go_unless_a_run_takes_one_meanwhile(make_yard: MakeYard) -> None:
    """As many for the checks of changes as for the merge queue."""
    yard = make_yard(PADDOCK_LAND_SLOTS="1")
    site = site_of(yard)
    boxes = {name: Sandbox(site.repo, site.sandbox_root, name) for name in ("ci1", "ci2", "ci3", "ci10")}
    for box in boxes.values():
        box.path.mkdir(parents=True)
        write_record(box, SandboxRecord())
    write_record(boxes["ci1"], SandboxRecord(run="r9"))

    found = judged(yard, site, look(site))
    assert [(item.what, item.name) for item in found] == [(What.SPARE_SANDBOX, "ci3"), (What.SPARE_SANDBOX, "ci10")]
    reserve_sandbox(boxes["ci3"], "r10", fresh=False)
    assert [dealt.leftover.name for dealt in sweep(site, found) if not dealt.left] == ["ci10"]
    assert list(list_sandboxes(site.repo, site.sandbox_root)) == ["ci1", "ci2", "ci3"]
    assert not boxes["ci10"].path.exists()


def test_a_composed_commit_is_let_go_when_no_run_needs_it_and_it_is_not_fresh(yard: Yard) -> None:
    site = site_of(yard)
    needed = yard.git("rev-parse", "main")
    stray = yard.git("commit-tree", "-m", "Composed", "main^{tree}")
    fresh = yard.git("commit-tree", "-m", "Just composed", "main^{tree}")
    start_run(yard, "r1")
    for held in (needed, stray, fresh):
        hold_unit(site.repo, held)
    for held in (needed, stray):
        os.utime(site.repo.common_dir / "refs/paddock/units" / held, (1, 1))
    assert kinds(janitor(yard)["swept"]) == [("ref of an ended run", stray)]
    left = yard.git("for-each-ref", "--format=%(objectname)", "refs/paddock/units").split()
    assert sorted(left) == sorted([needed, fresh])


def test_half_made_worktrees_of_dead_processes_are_removed_and_those_being_made_are_not(yard: Yard) -> None:
    site = site_of(yard)
    fill(site.root, yard.git("rev-parse", "main"), 2)
    first, second = list_slots(site.root)
    for slot in (first, second):
        with hold_slot(slot) as lock:
            write_slot(slot, SlotRecord(SlotState.MAKING), lock)
    with hold_slot(second):
        assert kinds(janitor(yard)["swept"]) == [("half-made worktree", "w1")]
    assert (first.path.exists(), second.path.exists()) == (False, True)
    assert kinds(janitor(yard)["swept"]) == [("half-made worktree", "w2")]


def test_transcripts_go_by_age_and_then_by_size_the_oldest_first(make_yard: MakeYard) -> None:
    yard = make_yard(PADDOCK_JANITOR_TRANSCRIPTS_MB="1")
    for number in range(1, 6):
        yard.add(write("a.txt"))
        begin(yard, f"t{number}")
    for number in (1, 2, 3, 4):
        end(yard, f"t{number}")
    sizes = {"t1.1": 1, "t2.1": 700, "t3.1": 700, "t4.1": 1, "t5.1": 900, "t8.1": 1}
    ages = {"t1.1": OLD, "t2.1": 3000, "t3.1": 2000, "t4.1": 1000, "t5.1": OLD, "t8.1": OLD}
    for owner, kilobytes in sizes.items():
        folder = yard.attempt_folder(owner)
        folder.mkdir(parents=True)
        (folder / "turn-1.out").write_bytes(b"x" * kilobytes * 1024)
        os.utime(folder, (time.time() - ages[owner],) * 2)
    done = janitor(yard)
    assert {row["name"]: row["evidence"] for row in done["swept"]} == {
        str(yard.attempt_folder("t1.1")): "40 days old",
        str(yard.attempt_folder("t2.1")): "more than the limit of 1 MB",
    }
    assert [owner for owner in sizes if yard.attempt_folder(owner).exists()] == ["t3.1", "t4.1", "t5.1", "t8.1"]


def test_expired_leases_are_swept_and_recorded(yard: Yard) -> None:
    yard.paddock("lease", "acquire", "port:1", "--ttl", "50ms")
    yard.paddock("lease", "acquire", "port:2", "--ttl", "1h")
    found = yard.await_that(lambda: janitor(yard, "--dry-run")["swept"], "the end of the lease")
    assert kinds(found) == [("expired lease", "port:1")]
    assert set(yard.board().leases.held) == {"port:1", "port:2"}
    said = yard.paddock("janitor")
    assert said.startswith("swept expired lease: port:1  held by tester@")
    assert set(yard.board().leases.held) == {"port:2"}
    assert [found.event.name for found in yard.records(LeaseExpired) if isinstance(found.event, LeaseExpired)] == [
        "port:1"
    ]
    assert yard.paddock("janitor") == "nothing to sweep\n"


def test_the_daemon_sweeps_when_it_starts_and_spares_who_works(make_yard: MakeYard) -> None:
    yard = make_yard(PADDOCK_JANITOR_EVERY="100ms")
    yard.add(write("a.txt"))
    begin(yard, "t1")
    end(yard, "t1")
    yard.paddock("cancel", "t1")
    yard.paddock("lease", "acquire", "port:1", "--ttl", "1ms")
    stray = spawn_marked(yard, "t1.1")
    ready, gate = yard.folder / "ready", yard.folder / "gate"
    yard.add(write("b.txt"), {"run": ["touch", str(ready)]}, {"orphan": 600}, {"wait_for": str(gate)}, commit("Add b"))
    trace = yard.folder / "trace"
    fleet = yard.start("run", "--until-idle", env={"PADDOCK_TEST_TRACE": str(trace)})
    try:
        assert stray.wait(PATIENCE_SECONDS) == -signal.SIGKILL
    finally:
        stray.kill()
    yard.await_that(ready.exists, "the agent")
    yard.await_that(lambda: swept(yard) and yard.records(LeaseExpired), "what the first round has to tell")
    rounds = trace.read_text().count("janitor.recorded")
    records = len(yard.records())
    yard.await_that(lambda: trace.read_text().count("janitor.recorded") >= rounds + 4, "some more rounds")
    assert not [event for event in swept(yard) if "t2.1" in event.what]
    assert len(yard.records()) <= records + 1, "a round that finds nothing writes nothing"
    gate.touch()
    assert fleet.wait() == 0, fleet.words
    assert yard.attempt("t2").outcome == "delivered"
    assert [event.what for event in swept(yard)] == ["orphan process: t1.1"]
    assert not yard.board().leases.held
    yard.assert_nothing_is_left()


def test_many_agents_come_and_go_under_an_eager_janitor(make_yard: MakeYard) -> None:
    yard = make_yard(PADDOCK_JANITOR_EVERY="10ms", PADDOCK_LIMITS_MAX_AGENTS="6", PADDOCK_LAND_APPROVAL="none")
    config = yard.top / "paddock.toml"
    config.write_text('engine = "scripted"\n[land]\napproval = "none"\nci = "true"\n')
    yard.add_all(
        [
            {"brief": f"Do it. <<SCRIPT {json.dumps([write(f'f{n}.txt'), commit(f'Add {n}')])} SCRIPT>>"}
            for n in range(12)
        ]
    )
    yard.run(code=0)
    board = yard.board()
    assert {board.tasks[name].phase.value for name in board.tasks} == {"landed"}
    assert not [event for event in swept(yard) if "sandbox" in event.what or What.REF in event.what]
    assert not [event for event in swept(yard) if "worktree" in event.what or "process" in event.what]
    yard.assert_nothing_is_left()
