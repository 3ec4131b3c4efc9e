"""The drill: a machine is lost in the middle of everything, and nothing that was committed or recorded goes with it."""

import json
import shutil
from functools import partial
from pathlib import Path
from tempfile import mkdtemp

from msgspec import structs

from paddock.core.events import MessageSent, TurnStarted
from paddock.core.ids import TaskId
from paddock.sessions.identity import ProcessIdentity
from paddock.sessions.sweep import sweep
from tests.fleet.conftest import MakeYard
from tests.fleet.yard import Step, Yard, commit, play, write


def begin(yard: Yard, name: str, *steps: Step) -> tuple[Step, ...]:
    """Does the steps, says that it has, and waits until it may go on."""
    ready, gate = yard.folder / f"{name}.ready", yard.folder / "gate"
    return (*steps, {"run": ["touch", str(ready)]}, {"wait_for": str(gate)})


def kill_everything(yard: Yard) -> None:
    for daemon in yard.daemons:
        daemon.kill()
    sweep({process.mark for process in yard.processes()})
    assert not yard.processes()


def reboot(yard: Yard, attempt: str) -> None:
    """The process is one of an earlier boot."""
    for path in yard.attempt_folder(attempt).glob("turn-*.pid"):
        identity = ProcessIdentity.from_text(path.read_text())
        assert identity is not None
        path.write_text(structs.replace(identity, boot="an-earlier-boot").as_text())


def wipe(folder: Path) -> None:
    shutil.rmtree(folder)
    assert not folder.exists()


def subjects(yard: Yard, name: str) -> list[str]:
    return yard.git("log", "--reverse", "--format=%s", f"main..{yard.task(name).head}").splitlines()


def run_until_lost(yard: Yard) -> None:
    """Four agents at work: two with commits, one of these with more that is not committed, one that has only begun and
    has a message waiting, one that was done."""
    yard.add(*begin(yard, "one", write("a.txt"), commit("Add a")), write("b.txt"), commit("Add b"))
    yard.add(*begin(yard, "two", write("c.txt"), commit("Add c"), write("dirty.txt")), write("d.txt"), commit("Add d"))
    yard.add(*begin(yard, "three"))
    yard.add(write("e.txt"), commit("Add e"))
    yard.start("run")
    for name in ("one", "two", "three"):
        yard.await_that((yard.folder / f"{name}.ready").exists, f"agent {name}")
    yard.await_board(lambda board: board.tasks[TaskId("t4")].phase == "approval", "the fourth")
    for name in ("t1", "t2"):
        yard.await_that(partial(yard.git, "for-each-ref", f"refs/paddock/changes/{name}.1"), "its commits so far")
    told = play({"append": "told.txt", "text": "once\n"}, commit("Heard it"))
    yard.paddock("message", "t3", told)
    kill_everything(yard)
    (yard.folder / "gate").touch()


def assert_all_went_on(yard: Yard) -> None:
    for name in ("t1", "t2", "t3"):
        first, second = yard.task(name).attempts
        assert first.outcome == "lost", first
        assert (second.outcome, second.continues, second.new_conversation) == ("delivered", first.id, "")
        assert (second.session, second.worktree) == (first.session, first.worktree)
        assert yard.task(name).counted == 0, "it costs the task nothing"
    assert subjects(yard, "t1") == ["Add a", "Add b"]
    assert subjects(yard, "t2") == ["Add c", "Add d"], "what was not committed is gone with its folder"
    assert subjects(yard, "t4") == ["Add e"]
    assert yard.git("show", f"{yard.task('t3').head}:told.txt") == "once"
    told = [one.event.messages for one in yard.records(TurnStarted, "t3") if isinstance(one.event, TurnStarted)]
    [message] = yard.records(MessageSent)
    assert told == [(), (message.seq,)]
    assert not yard.task("t3").inbox
    yard.assert_nothing_is_left()
    assert not yard.unreachable_commits()


def test_what_a_lost_machine_interrupted_goes_on_where_it_was(make_yard: MakeYard) -> None:
    yard = make_yard(TMPDIR=mkdtemp())
    run_until_lost(yard)
    wipe(Path(yard.env["TMPDIR"]))
    wipe(yard.worktrees.path)
    reboot(yard, "t1.1")
    wipe(yard.attempt_folder("t2.1"))
    wipe(yard.attempt_folder("t3.1"))

    seen = yard.paddock("resurrect", "--dry-run")
    expected = [f"t{n}    goes on from t{n}.1  (Task 1)" for n in (1, 2, 3)]
    assert seen.splitlines()[:3] == expected
    assert seen.endswith("nothing was changed\n")
    assert len(yard.board().live) == 3
    told = json.loads(yard.paddock("resurrect", "t2-t3", "--json"))["tasks"]
    assert [(one["id"], one["how"], one["lost"]) for one in told] == [("t2", "resumed", ""), ("t3", "resumed", "")]
    assert "`paddock up` lets them go on" in yard.paddock("resurrect")
    yard.run(code=0)
    assert_all_went_on(yard)
    assert "nothing was lost" in yard.paddock("resurrect")


def test_work_on_a_host_that_is_gone_for_good_is_taken_over_once_a_person_says_so(make_yard: MakeYard) -> None:
    yard = make_yard()
    yard.env["PADDOCK_HOST"] = "lost"
    run_until_lost(yard)
    yard.env["PADDOCK_HOST"] = "here"
    wipe(yard.worktrees.path)
    assert "is taken over from host `lost`, and goes on from t1.1" in yard.paddock("resurrect", "--dry-run")
    said = yard.paddock("resurrect", code=2)
    assert "this would take over from `lost`, which cannot be reached from here" in said
    assert len(yard.board().live) == 3, "nobody has said that it is gone"
    yard.paddock("resurrect", "--yes")
    assert not yard.board().live
    yard.run(code=0)
    assert_all_went_on(yard)


def test_without_a_word_of_a_person_the_next_daemon_goes_on_with_what_is_certainly_lost(make_yard: MakeYard) -> None:
    yard = make_yard()
    run_until_lost(yard)
    wipe(yard.worktrees.path)
    for name in ("t1.1", "t2.1", "t3.1"):
        wipe(yard.attempt_folder(name))
    yard.run(code=0)
    assert_all_went_on(yard)


def test_who_asks_for_the_fleet_is_told_that_it_is_up(make_yard: MakeYard) -> None:
    yard = make_yard()
    try:
        said = yard.paddock("resurrect", "--up")
    finally:
        yard.paddock("down")
    assert said.startswith("nothing was lost: there is nothing to bring back\n\nthe fleet is up (pid ")
