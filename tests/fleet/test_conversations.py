"""A conversation goes on in the folder it began in, or another one begins and says so.

The scripted agent finds its conversation only in its own folder, as gemini and qwen do.
"""

import json
from pathlib import Path

import pytest

from paddock.core.events import AttemptStarted, MessagesDelivered, MessageSent, ReportGiven, TurnStarted
from paddock.core.tasks.task import Attempt
from paddock.core.upkeep.survey import SlotState
from paddock.git.worktrees.slots import SlotRecord, hold_slot, slot_at, write_record
from tests.fleet.conftest import MakeYard
from tests.fleet.yard import Step, Yard, commit, play, write

MORE = play(write("more.txt"), commit("Add more"), {"say": "added more"})
WORK: tuple[Step, ...] = (write("a.txt"), commit("Add a"), {"say": "added a, and looked at b"})


def folders(yard: Yard, name: str = "t1") -> list[str]:
    """The folder of every turn of the task."""
    events = [record.event for record in yard.records(TurnStarted, name)]
    return [Path(event.worktree).name for event in events if isinstance(event, TurnStarted)]


def subjects(yard: Yard, name: str = "t1") -> list[str]:
    return yard.git("log", "--format=%s", f"main..{yard.attempt(name).branch}").splitlines()


def assert_went_on(yard: Yard, folder: str = "w1") -> None:
    """The last two attempts of the first task are one conversation in one folder."""
    first, second = yard.task().attempts[-2:]
    assert (second.continues, second.session, second.new_conversation) == (first.id, first.session, "")
    assert set(folders(yard)) == {folder}
    yard.assert_nothing_is_left()


def begin_another(yard: Yard) -> Path:
    """A second task that is at work until the file it waits for is there."""
    gate, ready = yard.folder / "gate", yard.folder / "ready"
    yard.add({"run": ["touch", str(ready)]}, {"wait_for": str(gate)}, *WORK)
    yard.start("run", "--until-idle")
    yard.await_that(ready.exists, "the other agent")
    return gate


@pytest.mark.parametrize("words", [("message", "t1", MORE), ("reject", "t1", "-m", MORE)])
def test_a_follow_up_goes_on_in_its_folder_while_others_work(yard: Yard, words: tuple[str, ...]) -> None:
    yard.add(*WORK)
    yard.run(code=0)
    gate = begin_another(yard)
    yard.paddock(*words)
    yard.await_board(lambda board: board.tasks["t1"].started == 2 and board.tasks["t1"].phase == "approval")  # type: ignore[index]
    gate.touch()
    assert yard.daemons[-1].wait() == 0, yard.daemons[-1].words
    assert_went_on(yard)
    assert folders(yard, "t2") == ["w2"], "a new task keeps out of a folder that may be wanted"
    assert (subjects(yard), subjects(yard, "t2")) == (["Add more", "Add a"], ["Add a"])


def test_a_retry_after_a_refusal_goes_on_in_its_folder(yard: Yard) -> None:
    yard.add(write("a.txt"), commit("Add a"), {"rate_limited": 1, "attempt": 1}, write("b.txt"), commit("Add b"))
    yard.add(*WORK)
    yard.add(*WORK)
    yard.run(code=0)
    assert [attempt.outcome for attempt in yard.task().attempts] == ["throttled", "delivered"]
    assert_went_on(yard, folders(yard)[0])
    assert subjects(yard) == ["Add b", "Add a"]


def test_a_reader_that_goes_on_is_told_so_and_where_its_answer_belongs(yard: Yard) -> None:
    copy = """tr '\\0' '\\n' < /proc/$PPID/cmdline > "$PADDOCK_ANSWER" """
    yard.add({"rate_limited": 1, "attempt": 1}, {"run": ["sh", "-c", copy]}, role="report")
    yard.run(code=0)
    assert [attempt.outcome for attempt in yard.task().attempts] == ["throttled", "answered"]
    assert_went_on(yard, folders(yard)[0])
    (given,) = yard.records(ReportGiven)
    assert isinstance(given.event, ReportGiven)
    assert "Your last turn was interrupted." in given.event.text
    assert str(yard.attempt_folder("t1.2") / "answers" / "turn-1") in given.event.text


def test_tasks_done_in_one_session_are_done_in_one_folder(make_yard: MakeYard) -> None:
    yard = make_yard(PADDOCK_LIMITS_INLINE="true", PADDOCK_LIMITS_MAX_AGENTS="1")
    yard.add_all([{"brief": play(write(name), commit(f"Add {name}"))} for name in "abc"], convoy="c")
    yard.run(code=0)
    yard.paddock("message", "t1", MORE)
    yard.run(code=0)
    attempts = [yard.attempt(name) for name in ("t1", "t2", "t3")]
    assert len({attempt.session for attempt in attempts}) == 1
    assert {attempt.new_conversation for attempt in attempts} == {""}
    assert {folder for name in ("t1", "t2", "t3") for folder in folders(yard, name)} == {"w1"}
    assert subjects(yard) == ["Add more", "Add a"]
    assert [subjects(yard, name) for name in ("t2", "t3")] == [["Add b"], ["Add c"]]
    yard.assert_nothing_is_left()


def test_a_message_that_interrupts_a_task_in_anothers_session_is_for_that_task_alone(make_yard: MakeYard) -> None:
    yard = make_yard(PADDOCK_LIMITS_INLINE="true", PADDOCK_LIMITS_MAX_AGENTS="1")
    ready = yard.folder / "ready"
    never: tuple[Step, ...] = ({"run": ["touch", str(ready)]}, {"wait_for": str(yard.folder / "never")})
    yard.add_all([{"brief": play(*WORK)}, {"brief": play(*never)}], convoy="c")
    fleet = yard.start("run", "--until-idle")
    yard.await_that(ready.exists, "the second task")
    yard.paddock("message", "t2", "--now", MORE)
    assert fleet.wait() == 0, fleet.words
    first, second = yard.attempt("t1"), yard.attempt("t2")
    assert second.session == first.session
    assert (second.outcome, subjects(yard, "t2")) == ("delivered", ["Add more"])
    assert (len(yard.task("t1").attempts), subjects(yard, "t1")) == (1, ["Add a"])
    [receipt] = yard.records(MessagesDelivered)
    assert receipt.attempt == "t2.1"
    yard.assert_nothing_is_left()


def test_a_daemon_that_died_in_between_changes_nothing(yard: Yard) -> None:
    yard.add(*WORK)
    yard.run(code=0)
    ready = yard.folder / "back"
    waits = {"wait_for": str(yard.folder / "never"), "turn": 2}
    yard.paddock("message", "t1", play({"run": ["touch", str(ready)]}, waits, write("more.txt"), commit("Add more")))
    fleet = yard.start("run")
    yard.await_that(ready.exists, "the agent's second turn")
    fleet.kill()
    (yard.folder / "never").touch()
    yard.run(code=0)
    assert_went_on(yard)
    assert subjects(yard) == ["Add more", "Add a"]


def test_a_folder_in_use_is_waited_for_and_status_says_so(make_yard: MakeYard) -> None:
    yard = make_yard(PADDOCK_WORKTREES_MOST="1")
    yard.add(*WORK)
    yard.run(code=0)
    gate = begin_another(yard)
    assert folders(yard, "t2") == ["w1"], "there may be only one"
    yard.paddock("message", "t1", MORE)
    yard.await_that(lambda: yard.row("t1")["reason"] == "its folder w1 is in use by t2.1", "the reason")
    gate.touch()
    assert yard.daemons[-1].wait() == 0, yard.daemons[-1].words
    assert_went_on(yard)
    assert yard.attempt().started >= (yard.attempt("t2").ended or 0.0)


def test_a_folder_that_gc_removed_is_made_again(yard: Yard) -> None:
    yard.add(*WORK)
    yard.run(code=0)
    assert yard.paddock("gc") == "nothing to remove\n", "a conversation may come back to it"
    assert "w1" in yard.paddock("gc", "--force")
    yard.add(*WORK)
    yard.run(code=0)
    assert folders(yard, "t2") == ["w2"]
    yard.paddock("message", "t1", MORE)
    yard.run(code=0)
    assert_went_on(yard)


def assert_began_anew(yard: Yard, words: str, said: str) -> None:
    attempt = yard.attempt()
    assert (attempt.outcome, yard.task().counted) == ("delivered", 0)
    assert words in attempt.new_conversation
    assert attempt.session != yard.task().attempts[0].session
    assert f"starts a new conversation: {attempt.new_conversation[:60]}" in said
    assert f"started a new conversation: {attempt.new_conversation[:60]}" in yard.paddock("show", "t1")
    assert json.loads(yard.paddock("show", "t1", "--json"))["attempts"][-1]["new_conversation"]
    assert subjects(yard) == ["Add more", "Add a"]


@pytest.mark.parametrize(
    ("record", "why"),
    [
        (SlotRecord(SlotState.KEPT, attempt="t1.1", reason="a container's files"), "it is kept for you: a container's"),
        (SlotRecord(SlotState.READY, attempt="t7.resolve"), "t7 is being resolved there"),
    ],
    ids=["kept", "resolved"],
)
def test_where_the_folder_is_in_other_hands_for_good_another_conversation_begins(
    yard: Yard, record: SlotRecord, why: str
) -> None:
    yard.add(*WORK)
    yard.run(code=0)
    slot = slot_at(yard.worktrees, 1)
    with hold_slot(slot) as lock:
        write_record(slot, record, lock)
    yard.paddock("message", "t1", MORE)
    said = yard.run(code=0)
    assert_began_anew(yard, f"cannot be used: {why}", said)
    assert folders(yard) == ["w1", "w2"]


def test_where_worktrees_have_moved_another_conversation_begins(yard: Yard) -> None:
    yard.add(*WORK)
    yard.run(code=0)
    yard.paddock("message", "t1", MORE)
    said = yard.run(code=0, env={"PADDOCK_WORKTREES_ROOT": str(yard.folder / "elsewhere")})
    assert_began_anew(yard, f"worktrees are in {yard.folder / 'elsewhere'} now", said)


def forget(yard: Yard, attempt: Attempt) -> None:
    [memory] = (yard.log_path.parent / "memory").rglob(f"scripted-{attempt.session}.json")
    memory.unlink()


def test_an_engine_that_lost_the_conversation_begins_another_in_the_same_attempt(yard: Yard) -> None:
    yard.add(*WORK)
    yard.run(code=0)
    forget(yard, yard.attempt())
    yard.paddock("message", "t1", MORE)
    said = yard.run(code=0)
    assert_began_anew(yard, "scripted no longer has the previous one: No conversation found", said)
    assert (yard.task().started, yard.attempt().turn) == (2, 2)
    assert folders(yard) == ["w1", "w1", "w1"]
    outcomes = [attempt.outcome for attempt in yard.task().attempts]
    assert outcomes == ["delivered", "delivered"], "nothing that the engine's breaker would hear of"


def test_a_task_to_be_done_in_a_session_that_is_lost_is_told_all_of_it(make_yard: MakeYard) -> None:
    yard = make_yard(PADDOCK_LIMITS_INLINE="true", PADDOCK_LIMITS_MAX_AGENTS="1")
    memory = yard.log_path.parent / "memory"
    forgets: Step = {"run": ["sh", "-c", f"(sleep 0.3; find {memory} -name '*.json' -delete) & true"]}
    yard.add_all(
        [{"brief": play(write("a"), commit("Add a"), forgets)}, {"brief": play(write("b"), commit("Add b"))}], "c"
    )
    yard.run(code=0)
    assert yard.attempt("t2").outcome == "delivered"
    assert subjects(yard, "t2") == ["Add b"]


def test_after_a_crash_the_work_goes_on_and_with_fresh_it_starts_over(make_yard: MakeYard) -> None:
    steps = (write("a.txt"), commit("Add a"), {"crash": 3, "attempt": 1}, write("b.txt"), commit("Add b"))
    yard = make_yard()
    yard.add(*steps)
    yard.run(code=0)
    assert [attempt.outcome for attempt in yard.task().attempts] == ["crashed", "delivered"]
    assert_went_on(yard)
    assert subjects(yard) == ["Add b", "Add a"]
    fresh = make_yard("fresh", PADDOCK_LIMITS_FRESH="true")
    fresh.add(*steps, {"say": "once more"})
    fresh.run(code=0)
    first, second = fresh.task().attempts
    assert (first.outcome, second.outcome, second.continues) == ("crashed", "delivered", None)
    assert first.session != second.session


def test_a_follow_up_that_leaves_nothing_new_is_not_a_delivery(yard: Yard) -> None:
    yard.add(*WORK)
    yard.run(code=0)
    head = yard.task().head
    yard.paddock("message", "t1", play({"say": "I had reasons."}))
    said = yard.run(code=0)
    task = yard.task()
    assert [attempt.outcome for attempt in task.attempts] == ["delivered", "unchanged"]
    assert (task.phase, task.head, task.counted) == ("approval", head, 0)
    assert "unchanged: nothing new; the earlier delivery of 1 commit still stands" in said


READER = """
[engines.reader]
command = ["sh", "-c", "cat {prompt_file} >> %s; test -e %s && git commit -q --allow-empty -m Done; touch %s"]
"""


def test_after_nothing_was_committed_the_next_prompt_says_so(yard: Yard) -> None:
    prompts, second = yard.folder / "prompts", yard.folder / "second"
    with (yard.top / "paddock.toml").open("a") as file:
        file.write(READER % (prompts, second, second))
    yard.add_all([{"brief": "Do it.", "engine": "reader"}])
    yard.run(code=0)
    assert [attempt.outcome for attempt in yard.task().attempts] == ["empty", "delivered"]
    first, _, rest = prompts.read_text().partition("# Done so far")
    assert "nothing was committed" not in first
    assert "You said that you were done, but nothing was committed on branch `paddock/t1-task-1`" in rest


def test_what_a_turn_that_never_began_was_told_is_told_again(yard: Yard) -> None:
    yard.add(*WORK)
    yard.run(code=0)
    yard.paddock("message", "t1", play({"never_start": 127, "attempt": 2}, write("more.txt"), commit("Add more")))
    yard.run(code=0)
    assert [attempt.outcome for attempt in yard.task().attempts][::2] == ["delivered", "delivered"]
    assert subjects(yard) == ["Add more", "Add a"]
    assert "the previous one could not be resumed: exit 127" in yard.attempt().new_conversation
    assert len(yard.records(MessageSent)) == 1
    starts = [record.event for record in yard.records(AttemptStarted)]
    assert [event.continues for event in starts if isinstance(event, AttemptStarted)] == [None, "t1.1", "t1.2"]
