"""People in the terminals of real CLIs: connected to a running, an ended and a cleared-away attempt, in real tmux."""

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from paddock.core.events import TurnEnded, TurnStarted
from paddock.core.ids import TaskId
from tests.engines.real.fixtures import engine_table, mock_model, provider_of, real_cli
from tests.fleet.conftest import MakeYard
from tests.fleet.tmux_screen import Person, people
from tests.fleet.yard import Yard
from tests.mockmodel import MockModel, play

__all__ = ["mock_model", "real_cli"]

pytestmark = pytest.mark.xdist_group("real-engines")
READY = {"claude": "bypass permissions on", "codex": "Ask Codex to do anything"}


def add_file(name: str) -> dict[str, object]:
    return {"commit": {"path": f"{name}.txt", "content": f"{name}\n", "message": f"Add {name}"}}


def accept_once(name: str, home: Path, repository: Path) -> None:
    """As a person has it who has used the CLI in the repository, and trusts that."""
    if name == "claude":
        known = {
            "hasCompletedOnboarding": True,
            "customApiKeyResponses": {"approved": ["mock-key"]},
            "projects": {str(repository): {"hasTrustDialogAccepted": True}},
            # What it offers to everybody once, and would stand between us and the prompt.
            "fullscreenUpsellSeenCount": 99,
        }
        (home / ".claude.json").write_text(json.dumps(known))
        (home / ".claude").mkdir()
        (home / ".claude" / "settings.json").write_text(json.dumps({"skipDangerousModePermissionPrompt": True}))
    else:
        (home / ".codex").mkdir()
        (home / ".codex" / "config.toml").write_text(f'[projects."{repository}"]\ntrust_level = "trusted"\n')


@dataclass
class Scene:
    engine: str
    yard: Yard
    person: Person
    model: MockModel

    def connect(self) -> None:
        self.person.close_terminal()
        self.person.start("connect", "t1", keep=True)
        self.person.await_that(self._is_ready, "its prompt")

    def _is_ready(self) -> str:
        shown = self.person.screen()
        if "Try the new fullscreen renderer?" in shown:  # an offer, not a dialog about permission
            self.person.type("Escape")
        assert "trust" not in shown.lower(), shown
        return shown if READY[self.engine] in shown else ""

    def say(self, words: str, answer: str) -> None:
        self.person.tmux("send-keys", "-t", "p", "-l", f"{words} {play({'text': answer})}")
        self.person.await_screen(f'"{answer}"')
        self.person.await_that(lambda: self._heard(answer), answer)

    def _heard(self, answer: str) -> str:
        """An Enter that follows text at once counts as a part of it, as in a paste: it is pressed until it does not."""
        shown = self.person.screen()
        if any(line.strip(" •●⏺") == answer for line in shown.splitlines()):
            return shown
        self.person.type("Enter")
        return ""

    def leave(self) -> str:
        """By the CLI's own command. Ctrl-C, pressed once too often, keeps claude from saving its last words."""
        self.person.type("/", "e", "x", "i", "t")
        self.person.await_screen("/exit")

        def press() -> str:
            if "detaches, and it stays held" in self.person.screen():
                self.person.type("Enter")
            return "left" if self.person.has_ended() else ""

        self.person.await_that(press, "its end")
        return self.person.await_screen("left t1.")


@pytest.fixture
def scene(
    make_yard: MakeYard, mock_model: MockModel, real_cli: Callable[[str], Path], request: pytest.FixtureRequest
) -> Iterator[Scene]:
    name = request.param
    yard = make_yard(**dict(provider_of(name, mock_model.base_url)))
    table = engine_table(name, real_cli(name), mock_model.base_url, yard.folder)
    (yard.top / "paddock.toml").write_text(f'engine = "{name}"\n[land]\napproval = "human"\n{table}')
    yard.git("commit", "-qam", "Configure")
    accept_once(name, Path(yard.env["HOME"]), yard.top)
    with people(yard) as [person]:
        yield Scene(name, yard, person, mock_model)


@pytest.mark.parametrize(
    "scene", [pytest.param(name, marks=pytest.mark.engine(name)) for name in ("claude", "codex")], indirect=True
)
def test_a_person_goes_on_in_the_conversation_of_a_real_agent(scene: Scene) -> None:
    yard = scene.yard
    brief = f"Add a file. {play(add_file('a'), {'gate': 'busy'}, {'text': 'never said'})}"
    yard.add_all([{"brief": brief, "title": "Real work"}])
    yard.start("run")
    assert scene.model.wait_until(lambda ledger: ledger.in_flight > 0 and len(ledger.exchanges) > 0, 180.0)

    scene.connect()  # while it runs
    running = yard.attempt()
    assert (running.id, running.interactive) == ("t1.1", True)
    scene.say("Are you there?", "I am here")
    assert "left t1.1" in scene.leave()
    scene.model.open_gate("busy")
    yard.await_board(lambda board: board.task(TaskId("t1")).live_attempt is None, "its verdict")
    ended = yard.task()
    session = yard.attempt().session

    scene.connect()  # after it has ended
    scene.say("And now?", "still here")
    assert "left t1.2" in scene.leave()
    yard.await_board(lambda board: board.task(TaskId("t1")).live_attempt is None, "its verdict")
    assert (yard.task().phase, yard.task().head) == (ended.phase, ended.head), "it is as it was"

    yard.paddock("gc", "--force")
    assert not Path(running.worktree).exists()
    scene.connect()  # after its worktree was cleared away
    scene.person.await_screen("still here")  # the conversation is back
    scene.say("And after that?", "for ever")
    inner = {**os.environ, "TMUX": "", "TMUX_TMPDIR": str(scene.person.inner)}
    os.spawnvpe(os.P_WAIT, "tmux", ["tmux", "kill-server"], inner)
    yard.await_board(lambda board: board.task(TaskId("t1")).live_attempt is None, "its verdict")

    turns = [record.event for record in yard.records(TurnStarted)]
    sat = [one for one in turns if isinstance(one, TurnStarted) and one.interactive]
    assert [one.session for one in sat] == [session] * 3
    assert {one.worktree for one in sat} == {running.worktree}
    told = [record.event for record in yard.records(TurnEnded)]
    used = [one.output_tokens for one in told if isinstance(one, TurnEnded)]
    assert len(used) == 4
    assert all(used[1:]), "what terminals used is counted"
