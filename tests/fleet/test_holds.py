"""Holds meet whatever else people ask for: cancellations, landings, forks, commands, restarts and lost terminals."""

import json
import os
import signal

from paddock.core.ids import TaskId
from paddock.core.tasks.task import Phase
from tests.fleet.conftest import MakeYard
from tests.fleet.seated import WORK, add, begin_endless, field, person, subjects, work_done
from tests.fleet.tmux_screen import Person, people
from tests.fleet.yard import Yard

__all__ = ["field", "person"]

T1 = TaskId("t1")


def sit_down(person: Person, *words: str) -> None:
    person.start("connect", "t1", *(words or ("--here",)), keep=True)
    person.await_screen("terminal of")


def commit_by_hand(person: Person) -> None:
    person.say("commit")
    person.await_screen("committed")


def seat_of(yard: Yard) -> int:
    held = yard.attempt().held
    assert held is not None
    return int(held.process.split()[0])


def test_a_cancelled_convoy_ends_its_holds_and_the_waits_for_it(field: Yard, person: Person) -> None:
    begun = field.folder / "begun"
    endless = f"{WORK}; touch {begun}; while :; do sleep 1; done"
    field.add_all([{"brief": endless, "key": "one"}, {"brief": WORK, "after": ["one"]}], convoy="types")
    field.start("run")
    field.await_that(begun.exists, "its commit")
    sit_down(person)
    commit_by_hand(person)
    waiting = field.start("wait", "--convoy", "types", "--json")
    field.paddock("cancel", "--convoy", "types", "--yes")
    assert person.await_end() == 0
    assert "left t1.1 (t1 was cancelled)" in person.screen()
    assert waiting.wait() == 1
    told = json.loads(waiting.words)
    assert [(one["id"], one["standing"]) for one in told["tasks"]] == [("t1", "elsewhere"), ("t2", "elsewhere")]
    field.await_board(lambda board: not board.live, "the end of all")
    assert field.task().phase is Phase.CANCELLED
    assert subjects(field) == ["By hand", "Work"], "what was committed stays"
    assert not field.processes()


def test_a_stop_ends_a_terminal_and_leaves_the_task_to_be_tried_again(field: Yard, person: Person) -> None:
    begin_endless(field)
    sit_down(person)
    commit_by_hand(person)
    field.paddock("stop", "t1", "--message", "lunch")
    assert person.await_end() == 0
    assert "left t1.1 (it was stopped by tester@" in person.screen()
    board = field.await_board(lambda board: board.task(T1).live_attempt is None, "its end")
    assert (board.task(T1).phase, board.task(T1).unblock) == (Phase.BLOCKED, "paddock retry t1")
    assert subjects(field) == ["By hand", "Work"]
    assert not field.processes()


def test_what_a_person_holds_is_not_approved_and_lands_once_they_have_left(field: Yard, person: Person) -> None:
    field.env["PADDOCK_LAND_CI"] = "true"
    work_done(field)
    before = field.git("rev-parse", "main")
    sit_down(person)
    commit_by_hand(person)
    for command in ("land", "approve"):
        assert "task `t1` is running: there is nothing to land" in field.paddock(command, "t1", code=1)
    assert field.paddock("land", "--all", "--yes").startswith("no task to land")
    assert "is running: there is nothing to reject" in field.paddock("reject", "t1", "-m", "no", code=1)
    person.say("quit")
    assert person.await_end() == 0
    field.run()
    field.paddock("land", "t1")
    field.run(code=0)
    assert field.task().phase is Phase.LANDED
    assert field.git("log", "--format=%s", "--no-merges", f"{before}..main").splitlines() == ["By hand", "Work"]


def test_a_fork_of_a_held_attempt_begins_at_what_its_holder_has_committed(field: Yard, person: Person) -> None:
    begin_endless(field)
    sit_down(person)
    commit_by_hand(person)
    field.paddock("fork", "t1", "git commit -q --allow-empty -m Forked")
    field.await_board(lambda board: board.task(TaskId("t2")).phase is Phase.APPROVAL, "the fork")
    told = field.git("log", "--format=%s", f"main..{field.attempt('t2').branch}").splitlines()
    assert told == ["Forked", "By hand", "Work"]
    assert field.attempt("t2").worktree != field.attempt("t1").worktree
    assert field.attempt().held is not None, "the holder is not disturbed"
    person.say("still here")
    person.await_screen("you said <still here>")


def test_a_lost_connection_keeps_the_seat_and_a_hangup_ends_it(field: Yard) -> None:
    work_done(field)
    with people(field, 2) as [lost, again]:
        sit_down(lost, "--")
        lost.say("one")
        lost.await_screen("you said <one>")
        lost.close_terminal()
        sit_down(again, "--")
        again.await_screen("you said <one>")
        assert field.attempt().held is not None
        assert field.attempt().id == "t1.2"
        os.kill(seat_of(field), signal.SIGHUP)
        assert again.await_end() == 0
    assert field.attempt().left_by
    assert not field.processes()


def test_a_lost_machine_takes_a_persons_seat_along_and_not_their_commits(field: Yard, person: Person) -> None:
    begin_endless(field)
    sit_down(person)
    commit_by_hand(person)
    field.await_that(lambda: "By hand" in field.git("log", "--all", "--format=%s") or None, "its commits so far")
    field.daemons[-1].kill()
    os.kill(seat_of(field), signal.SIGKILL)
    person.close_terminal()
    field.await_that(lambda: not field.processes(), "the end of its processes")
    told = f"was held by tester@{os.uname().nodename}, whose terminal is gone: what is there in t1.1 is judged"
    assert field.paddock("resurrect").splitlines()[0] == f"t1    {told}  (Work)"
    field.run()
    assert field.attempt().outcome == "delivered"
    assert subjects(field) == ["By hand", "Work"]
    field.assert_nothing_is_left()


def test_a_command_beside_an_agent_keeps_its_worktree_until_it_has_ended(field: Yard) -> None:
    ready, late, second = (field.folder / name for name in ("ready", "late", "second"))
    add(field, f"touch {ready}; while :; do sleep 1; done")
    field.start("run")
    field.await_that(ready.exists, "the agent")
    script = f"touch {late}; until [ -e {late}.go ]; do sleep 0.05; done; echo mine >stray.txt; pwd"
    running = field.start("exec", "t1", "--", "sh", "-c", script)
    field.await_that(late.exists, "the command")
    field.paddock("cancel", "t1")
    field.await_board(lambda board: board.task(T1).live_attempt is None, "its end")
    add(
        field,
        f"touch {second}; until [ -e {second}.go ]; do sleep 0.05; done; {WORK}; git add -A; git commit -qm All || :",
    )
    field.await_that(second.exists, "the next agent")
    assert field.attempt("t2").worktree != field.attempt("t1").worktree
    late.with_name("late.go").touch()
    assert running.wait() == 0
    second.with_name("second.go").touch()
    board = field.await_board(lambda board: board.task(TaskId("t2")).phase is Phase.APPROVAL, "the second")
    assert "stray.txt" not in field.git("ls-tree", "--name-only", str(board.task(TaskId("t2")).head))
    field.await_that(lambda: not field.claimed_worktrees(), "both worktrees in the pool")


def test_whoever_visits_a_task_over_its_budget_leaves_it_as_it_was(make_yard: MakeYard) -> None:
    yard = make_yard()
    yard.env["SHELL"] = "/bin/sh"
    yard.paddock("budget", "set", "attempt", "--tokens", "3000")
    yard.add({"chatter": 600, "every": 0.05})
    yard.run(code=1)
    before = yard.task()
    assert (before.phase, yard.attempt().outcome) == (Phase.BLOCKED, "over_budget")
    with people(yard) as [person]:
        person.start("connect", "t1", "--shell", "--here", keep=True)
        person.await_that(lambda: "open" if yard.attempt().interactive else "", "a shell")
        person.say("exit")
        assert person.await_end() == 0
    yard.run(code=1)
    after = yard.task()
    assert (after.phase, after.reason, after.unblock) == (before.phase, before.reason, before.unblock)
    assert (yard.attempt().outcome, after.counted) == ("left", before.counted)
    yard.assert_nothing_is_left()
