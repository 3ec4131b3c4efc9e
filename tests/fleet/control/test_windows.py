"""A quota window that is nearly used up: nothing more starts, people are told, and what is at work goes on."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.engines.real.fixtures import engine_table, provider_of, real_cli
from tests.fleet.conftest import MakeYard
from tests.fleet.control.test_clocks import WORK, leave
from tests.fleet.yard import Yard
from tests.mockmodel import MockModel, Settings, play

__all__ = ["real_cli"]

Cli = Callable[[str], Path]
WEEK_SECONDS, HOUR_SECONDS = 7 * 86400, 3600


def await_waiting(yard: Yard, name: str) -> str:
    yard.await_that(lambda: yard.row(name)["reason"], "a reason")
    return str(yard.row(name)["reason"])


def test_a_nearly_used_window_holds_up_the_next_task_and_lets_the_first_go_on(yard: Yard) -> None:
    told, gate = yard.folder / "told", yard.folder / "gate"
    yard.add({"window_used": 96}, {"run": ["touch", str(told)]}, {"wait_for": str(gate)}, *WORK)
    fleet = yard.start("run", "--until-idle")
    yard.await_that(told.exists, "the agent")
    yard.await_that(lambda: "96% of the 5-hour window used, resets in " in yard.paddock("limits"), "what was told")
    yard.add(*WORK)
    assert await_waiting(yard, "t2").startswith("account scripted: 96% of the 5-hour window used, ")
    gate.touch()
    yard.await_that(lambda: yard.task().phase.value == "approval", "the first one's end")
    yard.paddock("limits", "--reset", "scripted")
    yard.await_that(lambda: yard.task("t2").started, "a start, since somebody says that there is more quota")
    assert fleet.wait() == 0, fleet.words


@pytest.mark.xdist_group("real-engines")
@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.engine(name)) for name in ("claude", "codex")])
def test_the_windows_that_a_real_cli_is_told_hold_up_the_next_task(
    make_yard: MakeYard, real_cli: Cli, name: str
) -> None:
    yard = make_yard()
    with MockModel(Settings(headers=quota_headers(name, int(time.time())))) as model:
        yard.env.update(provider_of(name, model.base_url))
        if name == "claude":
            # Only a subscription has windows, and claude reads them only when it is logged in to one.
            del yard.env["ANTHROPIC_API_KEY"]
            yard.env["CLAUDE_CODE_OAUTH_TOKEN"] = "mock-token"
        table = engine_table(name, real_cli(name), model.base_url, yard.folder)
        (yard.top / "paddock.toml").write_text(f'engine = "{name}"\n[land]\napproval = "human"\n{table}')
        work = {"commit": {"path": "a.txt", "content": "x\n", "message": "Add a"}}
        for number in (1, 2):
            yard.paddock("add", f"Number {number}. {play(work, {'text': 'done'})}")
        fleet = yard.start("run", "--until-idle", "--max", "1")
        yard.await_that(lambda: yard.task().phase.value == "approval", "the first one's end")
        yard.await_that(lambda: "window used" in str(yard.row("t2")["reason"]), "the reason of the second")
        assert yard.task("t2").started == 0
        said = yard.paddock("limits")
        assert "97% of the 5-hour window used, resets in " in said
        assert "41% of the 7-day window used, resets in " in said
        leave(fleet)


def quota_headers(name: str, now: int) -> tuple[tuple[str, str], ...]:
    """What each provider sends beside an answer, and its CLI reads."""
    if name == "codex":
        told = {"primary": ("97", 300, now + HOUR_SECONDS), "secondary": ("41", 10080, now + WEEK_SECONDS)}
        return tuple(
            (f"x-codex-{place}-{key}", str(value))
            for place, values in told.items()
            for key, value in zip(("used-percent", "window-minutes", "reset-at"), values, strict=True)
        )
    unified = {
        "status": "allowed_warning",
        "representative-claim": "five_hour",
        "reset": now + HOUR_SECONDS,
        "5h-status": "allowed_warning",
        "5h-utilization": 0.97,
        "5h-surpassed-threshold": 0.9,
        "5h-reset": now + HOUR_SECONDS,
        "7d-status": "allowed",
        "7d-utilization": 0.41,
        "7d-reset": now + WEEK_SECONDS,
    }
    return tuple((f"anthropic-ratelimit-unified-{key}", str(value)) for key, value in unified.items())
