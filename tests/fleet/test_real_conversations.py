"""Every real CLI goes on with its conversation in the folder it began in: its commits are on the right branch, and
no other worktree changes."""

import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from paddock.core.events import MessagesDelivered
from paddock.core.ids import TaskId
from paddock.core.tasks.task import Attempt
from paddock.engines.registry import load_engine
from paddock.git.worktrees.slots import list_slots
from tests.engines.real.agents import seed_home
from tests.engines.real.fixtures import engine_table, mock_model, provider_of, real_cli
from tests.engines.real.install import ADAPTED
from tests.fleet.conftest import MakeYard
from tests.fleet.yard import Yard
from tests.fleet.yard import play as play_script
from tests.mockmodel import MockModel, play
from tests.warm import RunningCommand

__all__ = ["mock_model", "real_cli"]

DONE = {"text": "all done"}
SOON = {"retry-after": "1"}
# A CLI of 1 GB on a machine that nine others use.
SETTINGS = {"PADDOCK_TIMEOUTS_SILENCE": "180s", "PADDOCK_TIMEOUTS_START": "180s", "PADDOCK_LIMITS_MAX_AGENTS": "2"}

pytestmark = pytest.mark.xdist_group("real-engines")
every_engine = pytest.mark.parametrize(
    "stage", [pytest.param(name, marks=pytest.mark.engine(name)) for name in ADAPTED], indirect=True
)


def add_file(name: str) -> dict[str, object]:
    return {"commit": {"path": f"{name}.txt", "content": f"{name}\n", "message": f"Add {name}"}}


@dataclass
class Stage:
    """A yard whose engine is the test's; tasks and messages carry what the model is to do."""

    engine: str
    yard: Yard
    model: MockModel

    @property
    def resumes(self) -> bool:
        return load_engine(self.engine, {}).capabilities.resume

    def run_decoy(self) -> tuple[RunningCommand, Path]:
        """Another agent, at work in a worktree of its own until the file it waits for is there."""
        gate, ready = self.yard.folder / "gate", self.yard.folder / "ready"
        script = play_script({"run": ["touch", str(ready)]}, {"wait_for": str(gate)}, {"noop": "only looked"})
        self.yard.add_all([{"brief": script, "engine": "scripted", "title": "Decoy"}])
        fleet = self.yard.start("run")
        self.yard.await_that(ready.exists, "the other agent")
        return fleet, gate

    def await_approval(self, attempts: int) -> Attempt:
        """Until the first task has been judged that often; its last attempt."""

        def is_there(board: object) -> bool:
            task = board.tasks[TaskId("t1")]  # type: ignore[attr-defined]
            assert task.phase not in ("failed", "blocked"), (task.reason, self.yard.daemons[-1].words)
            return bool(task.started >= attempts and task.phase == "approval")

        self.yard.await_board(is_there, f"attempt {attempts}")
        return self.yard.attempt()

    def subjects(self, name: str = "t1") -> list[str]:
        return self.yard.git("log", "--format=%s", f"main..{self.yard.attempt(name).branch}").splitlines()

    def others(self, *paths: str) -> dict[str, tuple[str, str]]:
        """The person's own tree and `paths`, each with its HEAD and what is not committed there."""
        look = self.yard.git
        return {
            path: (look("-C", path, "rev-parse", "HEAD"), look("-C", path, "status", "--porcelain"))
            for path in (str(self.yard.top), *paths)
        }

    def dirt(self) -> str:
        """What is not committed in any worktree."""
        root = self.yard.worktrees
        places = [root.enclosure(slot) for slot in list_slots(root)]
        mine = self.yard.git("-C", str(self.yard.top), "status", "--porcelain")
        return mine + "".join(place.git("status", "--porcelain").text for place in places)


@pytest.fixture
def stage(
    make_yard: MakeYard, mock_model: MockModel, real_cli: Callable[[str], Path], request: pytest.FixtureRequest
) -> Stage:
    name = request.param
    program = real_cli(name)
    yard = make_yard(**SETTINGS, **dict(provider_of(name, mock_model.base_url)))
    seed_home(Path(yard.env["HOME"]))
    table = engine_table(name, program, mock_model.base_url, yard.folder)
    (yard.top / "paddock.toml").write_text(f'engine = "{name}"\n[land]\napproval = "human"\n{table}')
    yard.git("commit", "-qam", "Configure")
    return Stage(name, yard, mock_model)


@every_engine
def test_message_reject_and_a_dead_daemon_leave_the_conversation_in_its_folder(stage: Stage) -> None:
    yard = stage.yard
    yard.add_all([{"brief": f"Add the first file. {play(add_file('a'), DONE)}", "title": "Real work"}])
    yard.run(code=0)
    first = yard.attempt()
    assert (first.outcome, stage.subjects()) == ("delivered", ["Add a"])
    fleet, gate = stage.run_decoy()
    decoy = yard.attempt("t2").worktree
    assert (decoy != first.worktree) or not stage.resumes
    others = stage.others(decoy)

    yard.paddock("message", "t1", f"Now another. {play(add_file('b'), DONE)}")
    told = stage.await_approval(2)
    assert (told.outcome, stage.subjects()) == ("delivered", ["Add b", "Add a"])

    yard.paddock("reject", "t1", "-m", f"One is missing. {play(add_file('c'), DONE)}")
    rejected = stage.await_approval(3)
    assert (rejected.outcome, stage.subjects()) == ("delivered", ["Add c", "Add b", "Add a"])

    calls = len(stage.model.exchanges)
    yard.paddock("message", "t1", f"And the last. {play({'gate': 'dead'}, add_file('d'), DONE)}")
    assert stage.model.wait_until(lambda ledger: ledger.in_flight > 0 and len(ledger.exchanges) >= calls, 180.0)
    fleet.kill()
    stage.model.open_gate("dead")
    fleet = yard.start("run")
    last = stage.await_approval(4)
    assert (last.outcome, stage.subjects()[0]) == ("delivered", "Add d")

    assert stage.others(decoy) == others
    if stage.resumes:
        attempts = yard.task().attempts
        assert len({attempt.session for attempt in attempts}) == 1
        assert {attempt.worktree for attempt in attempts} == {first.worktree}
        assert {attempt.new_conversation for attempt in attempts} == {""}
        assert any("Add the first file." in text for text in stage.model.exchanges[-1].user_texts)
    gate.touch()
    yard.await_board(lambda board: not board.live, "the end of the other agent")
    fleet.send(signal.SIGTERM)
    fleet.wait()
    yard.assert_nothing_is_left()


@every_engine
def test_a_retry_after_throttling_goes_on_in_its_folder(stage: Stage) -> None:
    yard = stage.yard
    refused = {"status": 429, "headers": SOON, "until": "healed"}
    steps: list[dict[str, Any]] = (
        [add_file("a"), refused, add_file("b"), DONE] if stage.resumes else [refused, add_file("a"), DONE]
    )
    yard.add_all([{"brief": f"Add files. {play(*steps)}", "title": "Real work"}])
    fleet = yard.start("run", "--until-idle")
    yard.await_board(lambda board: (last := board.tasks[TaskId("t1")].last) is not None and last.outcome, "a verdict")
    stage.model.open_gate("healed")
    assert fleet.wait() == 0, fleet.words
    task = yard.task()
    outcomes = [attempt.outcome for attempt in task.attempts]
    assert (outcomes[0], set(outcomes[:-1]), outcomes[-1]) == ("throttled", {"throttled"}, "delivered")
    assert task.counted == 0
    assert stage.subjects() == (["Add b", "Add a"] if stage.resumes else ["Add a"])
    if stage.resumes:
        assert len({(attempt.session, attempt.worktree) for attempt in task.attempts}) == 1
    assert not stage.dirt()
    yard.assert_nothing_is_left()


@every_engine
def test_tasks_done_in_one_session_keep_to_their_branches(stage: Stage) -> None:
    yard = stage.yard
    tasks = [{"brief": f"Add {name}. {play(add_file(name), DONE)}", "title": f"Add {name}"} for name in "ab"]
    yard.add_all(tasks, convoy="files")
    fleet = yard.start("run", "--until-idle", env={"PADDOCK_LIMITS_INLINE": "true", "PADDOCK_LIMITS_MAX_AGENTS": "1"})
    assert fleet.wait() == 0, fleet.words
    first, second = yard.attempt("t1"), yard.attempt("t2")
    assert (stage.subjects("t1"), stage.subjects("t2")) == (["Add a"], ["Add b"])
    assert not stage.dirt()
    if stage.resumes:
        assert second.inlined
        assert (second.session, second.worktree, second.new_conversation) == (first.session, first.worktree, "")
    yard.assert_nothing_is_left()


@pytest.mark.parametrize(
    "stage", [pytest.param(name, marks=pytest.mark.engine(name)) for name in ("claude", "codex")], indirect=True
)
def test_a_message_whose_turn_was_ended_before_the_first_answer_is_told_once(stage: Stage) -> None:
    """The CLI has it in its session file, and says so when it is resumed: nobody repeats it."""
    yard = stage.yard
    yard.add_all([{"brief": f"Add the first file. {play(add_file('a'), DONE)}", "title": "Real work"}])
    yard.run(code=0)
    fleet = yard.start("run")
    yard.paddock("message", "t1", f"Unheard as yet. {play({'gate': 'never'}, DONE)}")
    assert stage.model.wait_until(lambda ledger: ledger.in_flight > 0, 180.0)
    yard.paddock("stop", "t1")
    yard.await_board(lambda board: not board.live, "the end of the turn")
    stage.model.open_gate("never")
    assert yard.task().untold, "nothing shows that it was heard"
    yard.paddock("message", "t1", f"And this. {play(add_file('b'), DONE)}")
    last = stage.await_approval(3)
    assert (last.outcome, stage.subjects()) == ("delivered", ["Add b", "Add a"])
    told = [text for text in stage.model.exchanges[-1].user_texts if "Unheard as yet." in text]
    assert len(told) == 1
    receipts = [record.event for record in yard.records(MessagesDelivered)]
    assert getattr(receipts[0], "evidence", "").startswith("the session file of ")
    assert yard.task().untold == ()
    fleet.send(signal.SIGTERM)
    fleet.wait()
