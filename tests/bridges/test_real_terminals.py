"""The real claude and codex in a real tmux: every message arrives once, as the model's server sees it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from paddock.bridges.wording import core_of, pasteable
from paddock.core.trace import End, MessagesTaken
from paddock.engines.protocol import TurnRequest
from paddock.engines.registry import load_engine
from paddock.engines.settings import EngineSettings
from tests.bridges.live import LiveBridge, start_bridge
from tests.bridges.shapes import NOTHING_TO_SAY, SHAPES
from tests.engines.real.agents import Workplace, build_workplace, session_of
from tests.engines.real.fixtures import MODELS, provider_of, real_cli
from tests.mockmodel import MockModel, Settings, play

__all__ = ["real_cli"]

pytestmark = pytest.mark.xdist_group("real-engines")
FEW = (*SHAPES[3:5], *SHAPES[8:12], SHAPES[13], SHAPES[24], SHAPES[27], SHAPES[30], SHAPES[31], SHAPES[34])
ARRIVAL_SECONDS = 90.0


@pytest.fixture
def mock_model() -> Iterator[MockModel]:
    with MockModel(Settings(whole_texts=True)) as model:
        yield model


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    return build_workplace(tmp_path)


def trust(name: str, place: Workplace) -> None:
    """What somebody has answered once for good."""
    if name == "claude":
        (place.home / ".claude").mkdir()
        (place.home / ".claude" / "settings.json").write_text('{"skipDangerousModePermissionPrompt": true}')
        trusted = {str(path): {"hasTrustDialogAccepted": True} for path in (place.worktree, place.repository)}
        approved = {"customApiKeyResponses": {"approved": ["mock-key"]}, "projects": trusted}
        (place.home / ".claude.json").write_text(json.dumps({"hasCompletedOnboarding": True, **approved}))
    else:
        (place.home / ".codex").mkdir()
        table = f'[projects.{json.dumps(str(place.worktree))}]\ntrust_level = "trusted"\n'
        (place.home / ".codex" / "config.toml").write_text(table)


def request_of(name: str, place: Workplace, model: MockModel, prompt: str, turn: int = 1) -> TurnRequest:
    return TurnRequest(
        prompt=prompt,
        worktree=place.worktree,
        folder=place.folder,
        new_session_id=session_of(turn),
        model=MODELS.get(name),
        turn=turn,
        git_dir=place.git_dir,
        base_env={**place.environment, **dict(provider_of(name, model.base_url))},
        mailbox=place.folder / f"turn-{turn}.mail",
        messages=(1,),
    )


def settings_of(name: str, real_cli: Callable[[str], Path]) -> EngineSettings:
    return EngineSettings(program=str(real_cli(name)))


def said_at_server(model: MockModel) -> list[str]:
    """Everything the user has said in the conversation that the last request carried, as one text each."""
    asked = [exchange for exchange in model.exchanges if exchange.outcome == "answered"]
    return [core_of(text) for text in asked[-1].user_texts] if asked else []


def times_at_server(model: MockModel, text: str) -> int:
    core = core_of(pasteable(text))
    return sum(said.count(core) for said in said_at_server(model))


def taken(bridge: LiveBridge) -> list[int]:
    return [number for entry in bridge.all(MessagesTaken) for number in entry.messages]


def deliver(name: str, shapes: tuple[str, ...], place: Workplace, model: MockModel, settings: EngineSettings) -> None:
    trust(name, place)
    engine = load_engine(name, {name: settings})
    gate = {"gate": "over"}
    prompt = f"Begin with /this. {play({'shell': 'echo begun'}, gate, {'text': 'well'})}"
    with start_bridge(engine, settings, request_of(name, place, model, prompt)) as bridge:
        bridge.wait_for(lambda: 1 in taken(bridge), "receipt of the prompt")
        # While it is at work, and then one after the other.
        for number, text in enumerate(shapes, 2):
            bridge.send(number, text)
            if number == 3:
                model.open_gate("over")
        count = len(shapes) + 1
        bridge.wait_for(lambda: len(taken(bridge)) >= count, f"{count} receipts", ARRIVAL_SECONDS + 5 * count)
        assert bridge.finish() == 0, bridge.words()
    assert sorted(taken(bridge)) == list(range(1, count + 1))
    assert [entry.success for entry in bridge.all(End)] == [True]
    wrong = [text[:60] for text in shapes if times_at_server(model, text) != 1]
    assert wrong == []
    assert not bridge.socket.exists()


every_engine = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.engine(name)) for name in ("claude", "codex")]
)


@every_engine
def test_messages_of_many_shapes_reach_the_server_once_each(
    name: str, place: Workplace, mock_model: MockModel, real_cli: Callable[[str], Path]
) -> None:
    """Half of the shapes to each; all of them in the soak."""
    shapes = FEW[::2] if name == "claude" else FEW[1::2]
    deliver(name, shapes, place, mock_model, settings_of(name, real_cli))


@pytest.mark.slow
@every_engine
def test_forty_messages_reach_the_server_once_each(
    name: str, place: Workplace, mock_model: MockModel, real_cli: Callable[[str], Path]
) -> None:
    deliver(name, (*SHAPES, NOTHING_TO_SAY), place, mock_model, settings_of(name, real_cli))
