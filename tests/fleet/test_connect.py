"""A person works in an agent's own terminal: while it runs, after it has ended, and after its worktree is gone."""

import os
import shutil
import signal
from pathlib import Path

import pytest

from paddock.core.events import HoldEnded, MessageSent, TurnEnded, TurnStarted
from paddock.core.ids import TaskId
from tests.fleet.seated import CONFIG, WORK, add, begin_endless, field, person, subjects, work_done
from tests.fleet.tmux_screen import Person, people
from tests.fleet.yard import Yard

__all__ = ["field", "person"]


def hold_of(yard: Yard) -> HoldEnded:
    event = yard.records(HoldEnded)[-1].event
    assert isinstance(event, HoldEnded)
    return event


def kill_seat(yard: Yard) -> None:
    held = yard.attempt().held
    assert held is not None
    os.kill(int(held.process.split()[0]), signal.SIGKILL)


def test_a_running_agent_is_taken_over_and_what_was_left_is_judged(field: Yard, person: Person) -> None:
    begin_endless(field)
    first = field.attempt()
    person.start("connect", "t1", "--here", keep=True)
    person.await_screen("waiting until the turn of t1.1 has ended", f"in {first.worktree}")
    held = field.attempt()
    assert held.held is not None
    assert (held.id, held.interactive, held.held.by) == (first.id, True, f"tester@{os.uname().nodename}")
    assert f"terminal of {held.session} in" in person.screen()
    person.say('it\'s "quoted" $HOME `x` é 🎈')
    person.await_screen('you said <it\'s "quoted" $HOME `x` é 🎈>')
    person.type("C-z")  # the terminal's own affair, and no way out of it
    person.say("size")
    person.await_screen("40 120")
    person.say("commit")
    person.await_screen("committed")
    person.say("stay")
    person.await_screen("stays")
    person.say("quit")
    assert person.await_end() == 0
    assert "left t1.1: the fleet judges it" in person.screen()
    field.await_board(lambda board: board.task(TaskId("t1")).phase == "approval")
    assert subjects(field) == ["By hand", "Work"]
    assert not field.processes()
    turns = [record.event for record in field.records(TurnEnded)]
    assert [(one.turn, one.ended_by, one.exit) for one in turns if isinstance(one, TurnEnded)][-1] == (2, "", 0)


def test_what_a_person_commits_is_there_when_the_agent_goes_on(field: Yard, person: Person) -> None:
    begin_endless(field)
    first = field.attempt()
    person.start("connect", "t1", "--here", keep=True)
    person.await_screen("terminal of")
    person.say("commit")
    person.await_screen("committed")
    field.paddock("handback", "t1", "-m", "git commit -q --allow-empty -m Again")
    assert person.await_end() == 0
    field.await_board(lambda board: board.task(TaskId("t1")).phase == "approval")
    assert subjects(field) == ["Again", "By hand", "Work"]
    assert field.attempt().id == first.id


def test_a_visit_brings_back_a_worktree_that_was_cleared_away_and_leaves_the_task_as_it_was(
    field: Yard, person: Person
) -> None:
    first = work_done(field)
    field.paddock("gc", "--force")
    assert not Path(first.worktree).exists()
    person.start("connect", "t1", "--here", keep=True)
    person.await_screen(f"terminal of {first.session} in {first.worktree}")
    assert "opened for a person" in field.paddock("log")
    field.paddock("gc", "--force")
    field.paddock("janitor")
    person.say("still here")
    person.await_screen("you said <still here>")
    person.say("fail")
    person.await_end()
    assert "left t1.2: no daemon is running, `paddock up` judges it" in person.screen()
    field.run()
    task = field.task()
    assert (task.phase, task.reason, task.head) == ("approval", "1 commit", first.head)
    assert field.attempt().outcome == "left"
    opened = field.records(TurnStarted)[-1].event
    assert isinstance(opened, TurnStarted)
    assert (opened.interactive, opened.session, opened.worktree) == (True, first.session, first.worktree)
    field.assert_nothing_is_left()


def test_that_a_conversation_is_lost_is_read_before_a_terminal_covers_it(field: Yard, person: Person) -> None:
    first = work_done(field)
    shutil.rmtree(field.log_path.parent / "memory")
    person.start("connect", "t1", "--here", keep=True)
    shown = person.await_screen("a new conversation begins: ", "press Enter to open it")
    assert "so-far.md: tell it to read that first" in shown.replace("\n", "")
    assert "terminal of" not in shown
    assert not field.attempt().turn_open
    person.type("Enter")
    person.await_screen("terminal of")
    person.say("quit")
    person.await_end()
    assert field.attempt().session != first.session
    person.close_terminal()
    shutil.rmtree(field.log_path.parent / "memory")
    person.start("connect", "t1", "--here", keep=True)
    person.await_screen("press Enter to open it")
    person.type("C-c")
    assert person.await_end() == 1
    assert "error: you left before the terminal was open" in person.screen()


def test_a_closed_terminal_ends_what_ran_there_and_is_recorded(field: Yard, person: Person) -> None:
    work_done(field)
    person.start("connect", "t1", "--here")
    person.await_screen("terminal of")
    person.say("commit")
    person.await_screen("committed")
    person.close_terminal()
    field.await_that(lambda: field.attempt().held is None, "the end of the hold")
    assert hold_of(field).reason == "the terminal was closed"
    field.await_that(lambda: not field.processes(), "the end of its processes")
    field.run()
    assert (field.task().phase, subjects(field)) == ("approval", ["By hand", "Work"])


def test_ctrl_c_pressed_once_too_often_hides_nothing_that_is_said_on_leaving(field: Yard, person: Person) -> None:
    work_done(field)
    for visit in (2, 3, 4):
        person.close_terminal()
        person.start("connect", "t1", keep=True)
        person.await_screen("terminal of", "detaches")
        person.say("quit")
        while not person.has_ended():
            person.type("C-c")
        assert person.await_end() == 0
        person.await_screen(f"left t1.{visit}: no daemon is running, `paddock up` judges it")
        field.run()


@pytest.mark.parametrize("named", [False, True], ids=["known", "named"])
def test_a_seat_that_is_killed_loses_nothing_and_the_next_one_takes_over(
    field: Yard, person: Person, named: bool
) -> None:
    if named:
        field.env["PADDOCK_HOST"] = "desk"
    work_done(field)
    person.start("connect", "t1", "--here")
    person.await_screen("terminal of")
    person.say("commit")
    person.await_screen("committed")
    kill_seat(field)
    field.await_that(lambda: not field.processes(), "the end of its processes")
    person.close_terminal()
    person.start("connect", "t1", "--here", keep=True)
    person.await_screen("terminal of")
    assert hold_of(field).reason == "its terminal is gone"
    kill_seat(field)
    field.run()
    assert "is gone" in hold_of(field).reason
    assert (field.task().phase, subjects(field)) == ("approval", ["By hand", "Work"])
    field.assert_nothing_is_left()


def test_a_turn_that_nobody_could_end_is_not_interrupted(field: Yard, person: Person) -> None:
    begin_endless(field)
    field.daemons[-1].kill()
    for options in (("--here",), ()):  # where a pane would open, it is said before one does
        person.start("connect", "t1", *options, keep=True)
        assert person.await_end() == 1
        shown = person.screen()
        assert "error: `t1.1` is in a turn, and no daemon is running that could end it" in shown
        assert "hint: `paddock up` starts one" in shown
        assert field.attempt().held is None
        person.close_terminal()


def test_a_worktree_that_somebody_removed_is_said_to_be_gone(field: Yard) -> None:
    begin_endless(field)
    field.daemons[-1].kill()
    shutil.rmtree(field.attempt().worktree)
    said = field.paddock("path", "t1", code=1)
    assert "the worktree of `t1.1` is gone" in said
    assert f"its commits are on `{field.attempt().branch}`; `paddock resurrect --up` brings it back" in said


def test_tmux_keeps_the_seat_for_its_person_and_lets_others_watch(field: Yard) -> None:
    work_done(field)
    with people(field, 3) as [first, again, other]:
        other.env["USER"] = "alice"
        first.start("connect", "t1", keep=True)
        first.await_screen("terminal of", "t1: C-b d detaches, and it stays held")
        first.say("one")
        first.await_screen("you said <one>")
        first.type("C-b", "d")
        assert first.await_end() == 0
        assert "detached: t1.2 stays held by you; `paddock connect t1` comes back" in first.screen()

        again.start("connect", "t1", keep=True)
        again.await_screen("you said <one>")

        other.start("connect", "t1", keep=True)
        assert other.await_end() == 1
        assert f"error: `t1.2` has been held by tester@{os.uname().nodename} since" in other.screen()
        assert "hint: `paddock connect t1 --watch` shows what they do" in other.screen()
        other.close_terminal()
        other.start("connect", "t1", "--watch", keep=True)
        other.await_screen("you said <one>")
        other.say("not for me to say")
        again.say("two")
        other.await_screen("you said <two>")
        assert "not for me to say" not in again.screen()

        field.paddock("handback", "t1", "-m", "git commit -q --allow-empty -m Again")
        assert again.await_end() == 0
        assert "left t1.2: `paddock up` lets its agent go on" in again.screen()
    field.run()
    assert subjects(field) == ["Again", "Work"]
    told = [record.event for record in field.records(MessageSent)]
    assert [one.text for one in told if isinstance(one, MessageSent)] == ["git commit -q --allow-empty -m Again"]
    assert hold_of(field).handback


def test_a_tmux_server_that_is_killed_leaves_a_hold_that_has_ended(field: Yard, person: Person) -> None:
    work_done(field)
    person.start("connect", "t1", keep=True)
    person.await_screen("terminal of", "detaches")
    inner = {**os.environ, "TMUX": "", "TMUX_TMPDIR": str(person.inner)}
    os.spawnvpe(os.P_WAIT, "tmux", ["tmux", "kill-server"], inner)
    person.await_end()
    assert "left t1.2: no daemon is running, `paddock up` judges it" in person.screen()
    assert hold_of(field).reason == "the terminal was closed"
    assert not field.processes()


def test_inside_tmux_a_window_opens_and_closes(field: Yard, person: Person) -> None:
    work_done(field)
    field.env["TMUX_TMPDIR"] = str(person.inner)
    words = " ".join(field.argv("connect", "t1"))
    os.spawnvpe(
        os.P_WAIT,
        "tmux",
        ["tmux", "-f", os.devnull, "new-session", "-d", "-s", "mine", "-x", "120", "-y", "40", "/bin/sh"],
        {**field.env, "TERM": "screen-256color"},
    )
    person.env["PATH"] = field.env["PATH"]
    person.tmux(
        *("new-session", "-d", "-s", "p", "-x", "120", "-y", "41"),
        *("env", "-u", "TMUX", f"TMUX_TMPDIR={person.inner}", "tmux", "attach", "-t", "mine"),
    )
    person.await_screen("mine")
    person.say(words)
    person.await_screen("terminal of", ":t1*")
    person.say("quit")
    person.await_screen("left t1.2")
    assert field.attempt().left_by


def test_a_list_is_offered_most_urgent_first(field: Yard, person: Person) -> None:
    for brief in (WORK, "exit 3", "git commit -q --allow-empty -m Two"):
        add(field, brief)
    field.run()
    person.start("connect", "--here", keep=True)
    shown = person.await_screen("connect to (a number or an id)")
    rows = [line.split()[:3] for line in shown.splitlines() if line.strip()[:1].isdigit()]
    assert rows[0] == ["1", "t2", "failed"]
    assert sorted(row[1:] for row in rows[1:]) == [["t1", "approval"], ["t3", "approval"]]
    person.say("7")
    person.await_screen("`7` is none of them: type 1 to 3, or an id")
    person.say(next(row[0] for row in rows if row[1] == "t1"))
    person.await_screen("terminal of")
    person.say("quit")
    person.await_end()
    assert field.attempt("t1").id == "t1.2"


def test_what_cannot_be_connected_to_says_why_and_what_to_run(field: Yard, person: Person) -> None:
    add(field, WORK)
    said = field.paddock("connect", "t1", code=2)
    assert "error: this needs a terminal, and there is none" in said
    assert "`paddock message t1 …`" in said
    assert "error: there is no task `t9`" in field.paddock("path", "t9", code=1)
    person.start("connect", "t1", "--here", keep=True)
    person.await_end()
    assert "error: task `t1` has no agent yet" in person.screen()
    person.close_terminal()
    field.run()
    (field.top / "paddock.toml").write_text(CONFIG.replace('["sh", "terminal.sh"', '["gone-program"'))
    person.start("connect", "t1", "--here", keep=True, size=(38, 30))
    person.await_end()
    shown = " ".join(person.screen().split())
    assert "error: `gone-program` is not there" in shown
    assert "`paddock engines check mine`" in shown
    (field.top / "paddock.toml").write_text(CONFIG.partition("interactive")[0])
    person.close_terminal()
    person.start("connect", "t1", "--here", keep=True)
    person.await_end()
    assert "engine `mine` has no terminal of its own" in person.screen()
    assert "`paddock connect t1 --shell` opens a shell there" in person.screen()
    assert field.task().newest == 1, "nothing was recorded"


def test_a_shell_a_path_and_commands_in_the_worktree(field: Yard, person: Person) -> None:
    field.env["SHELL"] = "/bin/sh"
    first = work_done(field)
    said = field.paddock("path", "t1", code=1)
    assert "was given back when it ended" in said
    assert "`paddock connect t1 --shell` brings it back" in said
    assert field.paddock("exec", "t1", "--", "git", "log", "-1", "--format=%s") == "Work\n"
    assert field.paddock("exec", "t1", "--", "sh", "-c", 'test -d "$TMPDIR" && exit 42', code=42) == ""
    said = field.paddock("exec", "t1", "--", "no-such-tool", code=127)
    assert said == "error: `no-such-tool` was not found in the worktree of `t1.1`\n"
    assert not field.claimed_worktrees()
    person.start("connect", "t1", "--shell", "--here", size=(39, 9), keep=True)
    person.await_screen("warning: this terminal has 39x9")
    person.say("echo in:$PWD:$PADDOCK_TASK")
    person.await_that(
        lambda: "yes" if f"in:{first.worktree}:t1" in person.screen().replace("\n", "") else "", "a shell"
    )
    assert field.paddock("path", "t1") == f"{first.worktree}\n"
    assert field.paddock("exec", "t1", "--", "pwd") == f"{first.worktree}\n"
    person.say("exit")
    assert person.await_end() == 0
    assert field.task().last is not None


def test_an_editor_opens_on_what_was_done(field: Yard, person: Person) -> None:
    editor = field.folder / "editor"
    editor.write_text('#!/bin/sh\necho edited >>a; git commit -qam "Edited $1 $2"; sleep 0\n')
    editor.chmod(0o755)
    person.env["VISUAL"] = f"{editor} 'two words'"
    work_done(field)
    person.start("open", "t1", keep=True)
    assert person.await_end() == 0
    field.run()
    assert subjects(field) == ["Edited two words .", "Work"]
    assert field.task().phase == "approval"


def test_a_landed_task_goes_on_in_a_new_one_and_vain_visits_leave_nothing_to_do(field: Yard, person: Person) -> None:
    field.env["PADDOCK_LAND_CI"] = "true"
    work_done(field)
    field.paddock("land", "t1")
    field.run()
    assert field.task().phase == "landed"
    person.start("connect", "t1", "--here", keep=True)
    person.await_screen("t1 has landed: its agent goes on in t2", "press Enter to open it")
    person.type("Enter")
    person.await_screen("terminal of")
    person.say("quit")
    person.await_end()
    field.run()
    assert field.task("t2").phase == "cancelled"
    assert field.task("t2").newest == 1, "no agent has begun it"
    person.close_terminal()
    person.start("connect", "t1", "--here", keep=True)
    person.await_screen("its agent goes on in t3", "press Enter to open it")
    person.type("Enter")
    person.await_screen("terminal of")
    person.say("commit")
    person.await_screen("committed")
    person.say("quit")
    person.await_end()
    field.run()
    assert field.task("t3").phase == "approval"
    assert field.git("log", "--format=%s", f"main..{field.attempt('t3').branch}") == "By hand"


def test_a_seat_that_dies_anywhere_leaves_a_task_that_goes_back_to_where_it_was(field: Yard, person: Person) -> None:
    first = work_done(field)
    points = ("held", "prepared", "opened", "over", "swept", "left")
    for number, point in enumerate(points, 2):
        person.env["PADDOCK_TEST_CRASH_AT"] = f"visit.{point}"
        person.start("connect", "t1", "--here", keep=True)
        if point in ("over", "swept", "left"):
            person.await_screen("terminal of")
            person.say("quit")
        assert person.await_end() == 128 + signal.SIGKILL, point
        field.run()
        task = field.task()
        assert (task.phase, task.newest, task.head) == ("approval", number, first.head), point
        assert field.attempt().outcome == "left", point
        field.assert_nothing_is_left()
        person.close_terminal()
