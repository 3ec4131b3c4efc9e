"""An agent asks, a person answers, and the conversation goes on: after its turn, or in the middle of it."""

import json

from paddock.core.events import MessagesRead, TurnStarted
from paddock.core.tasks.task import Phase
from tests.fleet.conftest import MakeYard
from tests.fleet.test_workers import shell
from tests.fleet.yard import Yard, commit, play, write


def test_a_question_ends_the_turn_and_its_answer_begins_the_next_one(make_yard: MakeYard) -> None:
    yard = make_yard()
    said = yard.folder / "said"
    yard.add(write("a.txt"), commit("Add a"), write("half.txt"), shell(f"PADDOCK ask 'Which entity?' > '{said}'"))
    yard.run(code=1)
    assert said.read_text() == "asked; end your turn: the answer comes as your next message\n"
    row = yard.row("t1")
    assert (row["phase"], row["reason"]) == ("blocked", "asks: Which entity?")
    assert 'run: paddock message t1 "…"' in yard.paddock("status")
    assert "asks: Which entity?" in yard.paddock("log")
    assert yard.paddock("show", "t1").count("\nquestion\n") == 1
    assert yard.git("branch", "--list", "paddock/t1*"), "its work is safe"
    yard.paddock("message", "t1", play({"say": "thanks"}, write("b.txt"), commit("Add b")))
    yard.run(code=0)
    task = yard.task("t1")
    assert (task.phase, task.counted, [one.outcome for one in task.attempts]) == (
        Phase.APPROVAL,
        0,
        ["asked", "delivered"],
    )
    assert task.attempts[1].session == task.attempts[0].session
    assert set(yard.git("diff", "--name-only", "main...paddock/t1-task-1").split()) == {"a.txt", "b.txt", "half.txt"}


def test_an_answer_that_is_waited_for_reaches_the_agent_once(make_yard: MakeYard) -> None:
    yard: Yard = make_yard()
    said = yard.folder / "said"
    yard.add(shell(f"cd / && PADDOCK ask 'Which?' --wait 10m --json > '{said}'"), write("a.txt"), commit())
    fleet = yard.start("run", "--until-idle")
    yard.await_board(lambda board: board.tasks["t1"].question, "the question")  # type: ignore[index]
    assert yard.row("t1")["reason"] == "asks: Which?"
    assert "needs you" in yard.paddock("status")
    yard.paddock("message", "t1", "the second")
    assert fleet.wait() == 0
    assert json.loads(said.read_text())["answer"] == "the second"
    task = yard.task("t1")
    assert (task.phase, task.inbox, task.attempts[0].turn) == (Phase.APPROVAL, (), 1)
    assert len(yard.records(MessagesRead)) == 1
    assert [record.event.messages for record in yard.records(TurnStarted)] == [()]  # type: ignore[attr-defined]


def test_a_declared_noop_needs_no_word_in_the_answer(make_yard: MakeYard) -> None:
    yard = make_yard()
    yard.add(shell("PADDOCK noop 'it is there already'"))
    yard.run(code=0)
    task = yard.task("t1")
    assert (task.phase, task.reason) == (Phase.NOOP, "it is there already")
