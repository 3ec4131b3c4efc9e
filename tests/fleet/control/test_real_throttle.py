"""The real claude and codex under a provider's limit: nobody fails, and warm sessions are really resumed."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from paddock.core.events import AttemptStarted
from tests.engines.real.fixtures import mock_model, provider_of, real_cli
from tests.fleet.conftest import MakeYard
from tests.fleet.control.throttled import Watch, add_tasks, prepare, starts_by_engine, tally
from tests.mockmodel import MockModel, Settings, play

__all__ = ["mock_model", "real_cli"]

LIMIT = 4
Cli = Callable[[str], Path]
pytestmark = pytest.mark.xdist_group("real-engines")


@pytest.mark.engine("claude")
@pytest.mark.engine("codex")
@pytest.mark.parametrize("tasks", [4, pytest.param(6, marks=pytest.mark.slow)])
def test_more_agents_than_the_provider_bears_all_deliver_in_the_end(
    make_yard: MakeYard, real_cli: Cli, tasks: int
) -> None:
    programs = {name: real_cli(name) for name in ("claude", "codex")}
    yard = make_yard()
    with MockModel(Settings(max_concurrent=1, latency_seconds=0.7)) as model:
        prepare(yard, model, programs, most=LIMIT)
        add_tasks(yard, tasks, calls=2, engines=tuple(programs))
        with Watch(yard, model) as watch:
            yard.run(code=0)
        found = tally(yard, model, watch.samples)
    board = yard.board()
    assert {board.tasks[name].phase.value for name in board.tasks} == {"approval"}
    assert set(found.outcomes) <= {"delivered", "throttled"}
    assert found.outcomes["delivered"] == tasks
    assert found.counted == 0
    assert (found.rejected > 0, found.most_in_flight) == (True, 1), "the limit was felt"
    assert set(starts_by_engine(yard)) == {"claude", "codex"}
    assert "shared" in yard.paddock("limits")


@pytest.mark.slow
@pytest.mark.engine("claude")
@pytest.mark.engine("codex")
def test_twenty_four_tasks_settle_at_the_limit(make_yard: MakeYard, real_cli: Cli) -> None:
    """`bench/admission_real.py` measures the same and keeps the figures."""
    programs = {name: real_cli(name) for name in ("claude", "codex")}
    yard = make_yard()
    with MockModel(Settings(max_concurrent=LIMIT, latency_seconds=1.5)) as model:
        prepare(yard, model, programs, most=12)
        add_tasks(yard, 24, calls=6, engines=tuple(programs))
        with Watch(yard, model) as watch:
            fleet = yard.start("run", "--until-idle")
            assert fleet.wait(1500.0) == 0, fleet.words
        found = tally(yard, model, watch.samples)
    assert (found.outcomes["delivered"], found.counted) == (24, 0)
    assert found.most_in_flight <= LIMIT
    assert LIMIT / 2 <= found.settled_agents <= 2 * LIMIT


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.engine(name)) for name in ("claude", "codex")])
def test_a_warm_session_goes_on_in_its_own_folder_on_another_branch(
    make_yard: MakeYard, real_cli: Cli, mock_model: MockModel, name: str
) -> None:
    yard = make_yard(PADDOCK_LIMITS_INLINE="true", **dict(provider_of(name, mock_model.base_url)))
    model = 'model = "mock"\n' if name == "codex" else ""
    (yard.top / "paddock.toml").write_text(
        f'engine = "{name}"\n[engines.{name}]\nprogram = "{real_cli(name)}"\n{model}'
    )
    tasks = []
    for word in ("first", "second"):
        work = {"commit": {"path": f"{word}.txt", "content": "x\n", "message": f"Add {word}"}}
        tasks.append({"title": f"The {word}", "brief": f"Do the {word} thing. {play(work, {'text': 'done'})}"})
    file = yard.folder / "convoy.json"
    file.write_text(json.dumps({"convoy": "pair", "tasks": tasks}))
    yard.paddock("add", "--file", str(file))
    yard.run("--max", "1", code=0)
    first, second = yard.attempt("t1"), yard.attempt("t2")
    assert (second.outcome, second.session) == ("delivered", first.session)
    started = yard.records(AttemptStarted, "t2")[0].event
    assert isinstance(started, AttemptStarted)
    assert started.inlined == "in the session of t1.1: no slot is free for another agent"
    said = mock_model.exchanges[-1].user_texts
    assert any("Do the first thing." in text for text in said), "it remembers"
    assert any("Do the second thing." in text for text in said)
    assert second.worktree == first.worktree != ""
    heads = [yard.git("log", "--format=%s", f"main..{yard.task(task).head}") for task in ("t1", "t2")]
    assert heads == ["Add first", "Add second"]
    assert second.input_tokens == first.input_tokens, "the first one's tokens are not charged again"
