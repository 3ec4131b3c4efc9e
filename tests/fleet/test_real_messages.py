"""Messages to a real claude at work in a fleet whose daemon and processes are killed meanwhile."""

import signal
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from paddock.core.events import MessagesDelivered, TurnStarted
from tests.engines.real.agents import seed_home
from tests.engines.real.fixtures import engine_table, mock_model, provider_of, real_cli
from tests.fleet.conftest import MakeYard
from tests.fleet.yard import Yard
from tests.mockmodel import MockModel, play

__all__ = ["mock_model", "real_cli"]

DONE = {"text": "all done"}
SETTINGS = {"PADDOCK_TIMEOUTS_SILENCE": "180s", "PADDOCK_TIMEOUTS_START": "180s"}

pytestmark = [pytest.mark.xdist_group("real-engines"), pytest.mark.engine("claude")]


@pytest.fixture
def yard(make_yard: MakeYard, mock_model: MockModel, real_cli: Callable[[str], Path]) -> Yard:
    program = real_cli("claude")
    yard = make_yard(**SETTINGS, **dict(provider_of("claude", mock_model.base_url)))
    seed_home(Path(yard.env["HOME"]))
    table = engine_table("claude", program, mock_model.base_url, yard.folder)
    (yard.top / "paddock.toml").write_text(f'engine = "claude"\n[land]\napproval = "human"\n{table}')
    yard.git("commit", "-qam", "Configure")
    return yard


def delivered(yard: Yard) -> list[tuple[tuple[int, ...], int]]:
    events = [record.event for record in yard.records(MessagesDelivered)]
    return [(event.messages, event.turn) for event in events if isinstance(event, MessagesDelivered)]


def told(model: MockModel, word: str) -> int:
    return max(sum(text.count(word) for text in exchange.user_texts) for exchange in model.exchanges)


def await_queued(yard: Yard, letters: int) -> None:
    """Until claude has read so many of them, beside the prompt. It takes them when its tool has ended."""
    output = yard.attempt_folder("t1.1") / "turn-1.out"
    yard.await_that(lambda: output.read_bytes().count(b'"state":"queued"') == 1 + letters, f"letter {letters}")


def kill_bridge(yard: Yard) -> None:
    for found in yard.processes():
        process = psutil.Process(found.identity.pid)
        if any(word.endswith("claude_input.py") for word in process.cmdline()) and process.children():
            process.kill()
            return
    raise AssertionError("no bridge")


def test_messages_reach_a_running_claude_once_though_daemon_and_bridge_are_killed(
    yard: Yard, mock_model: MockModel
) -> None:
    commit = {"commit": {"path": "a.txt", "content": "a\n", "message": "Add a"}}
    gate = yard.folder / "gate"
    wait, wait_on = ({"shell": f"until [ -e '{gate}{more}' ]; do sleep 0.05; done"} for more in ("", "-never"))
    yard.add_all([{"brief": f"Add it. {play(wait, wait_on, DONE)}", "title": "Real work"}])
    fleet = yard.start("run")
    assert mock_model.wait_until(lambda ledger: len(ledger.exchanges) >= 1, 180.0)
    fleet.kill()
    yard.paddock("message", "t1", "first-mark")
    fleet = yard.start("run")
    await_queued(yard, 1)
    gate.touch()
    yard.await_that(lambda: len(delivered(yard)) == 1, "the receipt")
    # Claude repeats a message when it takes it, and asks its model next.
    assert mock_model.wait_until(lambda ledger: len(ledger.exchanges) >= 2, 180.0)
    assert (delivered(yard)[0][1], told(mock_model, "first-mark")) == (1, 1)

    yard.paddock("message", "t1", f"second-mark {play(commit, DONE)}")
    await_queued(yard, 2)
    kill_bridge(yard)
    yard.await_board(lambda board: board.tasks["t1"].phase == "approval", "the work")  # type: ignore[index]
    assert (len(delivered(yard)), told(mock_model, "second-mark")) == (2, 1)
    assert len(yard.records(TurnStarted)) == 2
    fleet.send(signal.SIGTERM)
    fleet.wait()
    yard.assert_nothing_is_left()
