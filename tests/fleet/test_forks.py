"""A fork goes on with a copy of another task's branch and conversation; the other keeps its own."""

import json
from pathlib import Path

from paddock.core.events import TurnStarted
from tests.fleet.conftest import MakeYard
from tests.fleet.yard import Step, Yard, commit, play, write

WORK: tuple[Step, ...] = (write("a.txt"), commit("Add a"), {"say": "added a"})
MORE = play(write("more.txt"), commit("Add more"), {"say": "added more"})


def subjects(yard: Yard, name: str) -> list[str]:
    return yard.git("log", "--reverse", "--format=%s", f"main..{yard.attempt(name).branch}").splitlines()


def fork(yard: Yard, name: str, brief: str, *words: str) -> str:
    told = json.loads(yard.paddock("fork", name, brief, "--json", *words))
    assert told["forks"].startswith(f"{name}.")
    [new] = told["ids"]
    return str(new)


def kept(yard: Yard, name: str) -> dict[str, bytes]:
    """What is kept of the conversation of the task's first attempt."""
    folder = yard.log_path.parent / "memory" / yard.identity / f"{name}.1"
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def prompt_of(yard: Yard, attempt: str) -> str:
    folder = yard.attempt_folder(attempt)
    return "".join(path.read_text() for path in sorted(folder.glob("*prompt*")))


def test_a_fork_begins_at_what_was_committed_and_leaves_the_original_as_it_is(yard: Yard) -> None:
    yard.add(*WORK)
    yard.run(code=0)
    before = (yard.git("rev-parse", yard.attempt("t1").branch), kept(yard, "t1"), yard.task("t1"))
    assert fork(yard, "t1", MORE) == "t2"
    yard.run(code=0)
    assert (yard.git("rev-parse", yard.attempt("t1").branch), kept(yard, "t1"), yard.task("t1")) == before
    forked, origin = yard.attempt("t2"), yard.attempt("t1")
    assert (forked.outcome, forked.new_conversation) == ("delivered", "")
    assert forked.base == origin.head
    assert forked.session not in (None, origin.session)
    assert forked.worktree != origin.worktree
    assert forked.branch != origin.branch
    assert subjects(yard, "t2") == ["Add a", "Add more"]
    yard.paddock("message", "t1", play(write("b.txt"), commit("Add b")))
    yard.paddock("message", "t2", play(write("c.txt"), commit("Add c")))
    yard.run(code=0)
    assert subjects(yard, "t1") == ["Add a", "Add b"], "each goes on by itself"
    assert subjects(yard, "t2") == ["Add a", "Add more", "Add c"]
    assert {one.new_conversation for name in ("t1", "t2") for one in yard.task(name).attempts} == {""}
    yard.assert_nothing_is_left()


def test_an_agent_at_work_is_forked_without_being_disturbed(yard: Yard) -> None:
    gate, ready = yard.folder / "gate", yard.folder / "ready"
    yard.add(*WORK[:2], {"run": ["touch", str(ready)]}, {"wait_for": str(gate)}, write("b.txt"), commit("Add b"))
    fleet = yard.start("run", "--until-idle")
    yard.await_that(ready.exists, "the agent")
    fork(yard, "t1", MORE)
    yard.await_board(lambda board: board.tasks["t2"].phase == "approval", "the fork")  # type: ignore[index]
    assert yard.task("t1").phase == "running"
    assert subjects(yard, "t2") == ["Add a", "Add more"]
    assert yard.attempt("t2").new_conversation == ""
    gate.touch()
    assert fleet.wait() == 0, fleet.words
    assert subjects(yard, "t1") == ["Add a", "Add b"]
    yard.assert_nothing_is_left()


def test_a_fork_of_what_has_landed_begins_at_main(make_yard: MakeYard) -> None:
    yard = make_yard(PADDOCK_LAND_APPROVAL="none", PADDOCK_LAND_CI="true")
    yard.add(*WORK)
    yard.run(code=0)
    assert yard.task("t1").phase == "landed"
    main = yard.git("rev-parse", "main")
    fork(yard, "t1", MORE, "--title", "More of it")
    yard.run(code=0)
    assert yard.attempt("t2").base == main
    assert yard.attempt("t2").new_conversation == ""
    assert yard.task("t2").phase == "landed"
    assert yard.git("show", "main:more.txt") == "hello"
    assert "t1 has landed: its agent goes on in t3\n" in yard.paddock(
        "message", "t1", play(write("f.txt"), commit("F"))
    )
    yard.run(code=0)
    assert (yard.task("t3").forks, yard.attempt("t3").new_conversation) == ("t1.1", "")
    assert yard.task("t3").phase == "landed"


def test_the_command_says_where_a_fork_begins_and_with_which_conversation(yard: Yard) -> None:
    yard.add(*WORK)
    yard.run(code=0)
    told = yard.paddock("fork", "t1", MORE)
    assert "forks t1.1: it begins at what that has committed, with a copy of its conversation\n" in told


def test_a_fork_that_commits_nothing_has_not_delivered_the_original(yard: Yard) -> None:
    yard.add(*WORK)
    yard.run(code=0)
    fork(yard, "t1", play({"say": "looks good"}), "--attempts", "1")
    yard.run(code=1)
    assert yard.attempt("t2").outcome == "empty"


def test_an_engine_without_the_conversation_is_told_what_was_done(yard: Yard) -> None:
    prompts = yard.folder / "prompts"
    with (yard.top / "paddock.toml").open("a") as file:
        work = f"cat {{prompt_file}} >> {prompts}; git commit -q --allow-empty -m Done"
        file.write(f'[engines.reader]\nresume = ["true"]\ncommand = ["sh", "-c", {json.dumps(work)}]\n')
    yard.add(*WORK, title="Write a")
    yard.run(code=0)
    told = yard.paddock("fork", "t1", "Go on.", "--engine", "reader")
    assert "forks t1.1: it begins at what that has committed, with a new conversation: reader is told what" in told
    yard.run(code=0)
    assert "nothing of the conversation of t1.1 that reader could go on with" in yard.attempt("t2").new_conversation
    told = prompts.read_text()
    assert "t1: Write a" in told
    assert "> - Add a" in told
    assert "> added a" in told


def test_a_fork_is_told_that_it_is_another_task_in_another_folder(yard: Yard) -> None:
    copy = "tr '\\0' '\\n' < /proc/$PPID/cmdline > told"
    yard.add(*WORK, title="Write a")
    yard.run(code=0)
    fork(yard, "t1", play({"run": ["sh", "-c", copy]}, commit("Tell")))
    yard.run(code=0)
    told = yard.git("show", f"{yard.attempt('t2').branch}:told")
    begins = next(record.event for record in yard.records(TurnStarted, "t2"))
    assert isinstance(begins, TurnStarted)
    assert "You have worked on task t1 so far: Write a." in told
    assert f"Your working directory is now `{Path(begins.worktree)}`, on branch `paddock/t2" in told
    assert f"touch nothing in `{yard.attempt('t1').worktree}`" in told


def test_a_script_waits_for_forks_as_for_any_other_task(yard: Yard) -> None:
    gate, ready = yard.folder / "gate", yard.folder / "ready"
    yard.add({"run": ["touch", str(ready)]}, {"wait_for": str(gate)}, *WORK)
    fleet = yard.start("run", "--until-idle")
    yard.await_that(ready.exists, "the agent")
    assert "t1    running" in yard.paddock("wait", "t1", "--until", "running")
    assert "1 task still under way" in yard.paddock("wait", "t1", "--timeout", "1ms", code=124)
    waiting = yard.start("wait", "t1", "--json")
    gate.touch()
    assert waiting.wait() == 0
    assert '"status": "reached"' in waiting.words
    assert fleet.wait() == 0, fleet.words


def test_a_fork_lands_after_the_work_that_it_builds_on_whichever_was_queued_first(make_yard: MakeYard) -> None:
    yard = make_yard(PADDOCK_LAND_CI="true")
    yard.add(*WORK)
    yard.run(code=0)
    fork(yard, "t1", MORE)
    yard.run(code=0)
    delivered = yard.attempt("t2").head
    for name in ("t2", "t1"):
        yard.paddock("land", name)
    yard.run(code=0)
    assert [(one.id, one.outcome) for one in yard.board().queue.decided] == [("t1", "landed"), ("t2", "landed")]
    assert yard.task("t2").head == delivered, "nobody has written its commits again"
    landed = yard.git("log", "--no-merges", "--topo-order", "--format=%s", "main").splitlines()
    assert landed == ["Add more", "Add a", "First commit"]


def test_a_fork_that_lands_alone_takes_along_what_it_was_approved_with(make_yard: MakeYard) -> None:
    yard = make_yard(PADDOCK_LAND_CI="true")
    yard.add(*WORK)
    yard.run(code=0)
    fork(yard, "t1", play(write("a.txt", "hello\nagain\n"), commit("Add to a")))
    yard.run(code=0)
    assert "+again" in yard.paddock("diff", "t2")
    yard.paddock("land", "t2")
    yard.run()
    assert [yard.task(name).phase for name in ("t1", "t2")] == ["approval", "landed"]
    assert yard.git("show", "main:a.txt") == "hello\nagain"
    yard.paddock("land", "t1")
    yard.run(code=0)
    assert (yard.task("t1").phase, yard.task("t1").reason) == ("noop", "main already has everything it changes")
