"""What a provider refuses is nobody's failure: four clocks, a breaker, and a reason for who waits."""

import json
import signal

import pytest

from paddock.core.events import AttemptEnded
from tests.fleet.conftest import MakeYard
from tests.fleet.yard import Step, Yard, commit, play, write
from tests.warm import RunningCommand

WORK: tuple[Step, Step] = (write("a.txt"), commit("Add a"))


def verdicts(yard: Yard, name: str) -> list[tuple[str, bool]]:
    events = [record.event for record in yard.records(AttemptEnded, name)]
    return [(event.outcome, event.counted) for event in events if isinstance(event, AttemptEnded)]


def configure(yard: Yard, text: str) -> None:
    config = yard.top / "paddock.toml"
    config.write_text(config.read_text() + text)


def await_noop(yard: Yard, name: str) -> None:
    yard.await_that(lambda: yard.task(name).phase.value == "noop", f"the end of {name}")


def leave(fleet: RunningCommand) -> None:
    fleet.send(signal.SIGTERM)
    assert fleet.wait() == 130, fleet.words


def test_a_throttled_account_holds_up_others_and_says_so(yard: Yard) -> None:
    """The first agent is refused for two minutes: nobody else starts on that account meanwhile."""
    ready, gate = yard.folder / "ready", yard.folder / "gate"
    yard.add({"rate_limited": 120, "recovers": True}, {"run": ["touch", str(ready)]}, {"wait_for": str(gate)}, *WORK)
    fleet = yard.start("run", "--until-idle")
    yard.await_that(ready.exists, "the agent")
    yard.await_that(lambda: "paused: throttled by the provider, " in yard.paddock("limits"), "the clock")
    yard.add(*WORK)
    yard.await_that(lambda: yard.row("t2")["reason"], "a reason")
    reason = yard.row("t2")["reason"]
    assert reason.startswith("account scripted: throttled by the provider, ")
    assert 35 < int(reason.rpartition(", ")[2].removesuffix(" s left")) <= 125, "two minutes and some jitter"
    assert yard.task("t2").started == 0
    gate.touch()
    yard.await_that(lambda: yard.task().phase.value == "approval", "the first one's end")
    leave(fleet)
    assert verdicts(yard, "t1") == [("delivered", False)], "its own call was tried again and went through"


def test_a_used_up_window_is_remembered_by_the_next_daemon(yard: Yard) -> None:
    yard.add({"window_limited": 3600, "attempt": 1}, *WORK, attempts=1)
    fleet = yard.start("run", "--until-idle")
    yard.await_that(lambda: verdicts(yard, "t1"), "the verdict")
    yard.await_that(lambda: "quota window" in yard.paddock("limits"), "the clock")
    leave(fleet)
    assert verdicts(yard, "t1") == [("throttled", False)]
    assert yard.task().counted == 0
    yard.add(*WORK)
    fleet = yard.start("run", "--until-idle")
    reason = yard.await_that(lambda: yard.row("t2")["reason"], "the reason")
    assert reason.startswith("account scripted: quota window used up, 3")
    leave(fleet)
    assert yard.task("t2").started == 0


def test_refused_credentials_stop_the_account_until_somebody_says_it_works(yard: Yard) -> None:
    yard.add({"auth_failed": True, "attempt": 1}, *WORK, attempts=1)
    yard.run(code=1)
    yard.add(*WORK)
    yard.run(code=1)
    assert (verdicts(yard, "t1"), yard.task().phase.value) == ([("auth", False)], "blocked")
    assert yard.task("t2").started == 0
    assert yard.row("t2")["reason"].startswith("account scripted: credentials refused: ")
    assert "answer: " in yard.paddock("engines", "check", "scripted")
    yard.paddock("retry", "t1")
    yard.run(code=0)
    assert [yard.attempt(name).outcome for name in ("t1", "t2")] == ["delivered", "delivered"]


def test_engines_with_one_account_share_its_clocks(yard: Yard) -> None:
    configure(
        yard, '[engines.one]\nlike = "scripted"\naccount = "team"\n[engines.two]\nlike = "scripted"\naccount = "team"\n'
    )
    yard.add({"auth_failed": True}, engine="one")
    yard.run(code=1)
    yard.add(*WORK, engine="two")
    yard.add(*WORK)
    yard.run(code=1)
    assert yard.row("t2")["reason"].startswith("account team: credentials refused: ")
    assert yard.attempt("t3").outcome == "delivered", "another account is not held up"
    yard.paddock("limits", "--reset", "team")
    yard.run(code=1)
    attempt = yard.attempt("t2")
    assert (attempt.outcome, attempt.account) == ("delivered", "team")


def test_three_that_never_ran_in_a_row_stop_the_engine_and_no_other(yard: Yard) -> None:
    configure(yard, '[engines.broken]\ncommand = ["no-such-agent-cli"]\n')
    for _ in range(3):
        yard.add(*WORK, engine="broken")
    yard.add(*WORK)
    yard.run("--max", "1")
    tried = sum(yard.task(f"t{number}").started for number in (1, 2, 3))
    assert tried == 3, "and of two tasks at the least"
    assert yard.attempt("t4").outcome == "delivered"
    waiting = [yard.row(f"t{number}") for number in (1, 2, 3) if yard.task(f"t{number}").phase.value == "ready"]
    assert waiting
    for row in waiting:
        assert row["reason"].startswith("engine broken stopped: 3 attempts in a row, of ")
        assert "no-such-agent-cli" in row["reason"]
    assert f"{tried} attempts in a row never ran" in yard.paddock("limits")
    shown = yard.paddock("status")
    needs_you = shown[shown.index("needs you") :]
    assert "! engine broken stopped: 3 attempts in a row, of" in needs_you
    assert "run: paddock engines check broken, then paddock limits --reset broken" in needs_you
    [stopped] = json.loads(yard.paddock("status", "--json"))["stopped"]
    assert (stopped["engine"], stopped["unblock"]) == (
        "broken",
        "paddock engines check broken, then paddock limits --reset broken",
    )
    (yard.folder / "bin").mkdir()
    cli = yard.folder / "bin" / "no-such-agent-cli"
    cli.write_text("#!/bin/sh\necho 'PADDOCK-NOOP: nothing to do'\n")
    cli.chmod(0o755)
    yard.env["PATH"] = f"{cli.parent}:{yard.env['PATH']}"
    yard.run("--max", "1")
    assert sum(yard.task(f"t{number}").started for number in (1, 2, 3)) == tried, "it stays stopped over a restart"
    yard.paddock("limits", "--reset", "broken")
    yard.run("--max", "1")
    assert json.loads(yard.paddock("status", "--json"))["stopped"] == []
    assert [yard.attempt(row["id"]).outcome for row in waiting] == ["noop"] * len(waiting)


@pytest.mark.parametrize("cure", ["limits", "engines", "retry"])
def test_each_cure_clears_a_breaker_while_the_daemon_runs(make_yard: MakeYard, cure: str) -> None:
    yard = make_yard(PADDOCK_LIMITS_MAX_AGENTS="1")
    program = yard.folder / "late-agent"
    configure(yard, f'[engines.odd]\ncommand = ["{program}"]\n')
    fleet = yard.start("run")
    yard.add_all([{"brief": "Do it.", "engine": "odd", "title": f"T{n}"} for n in range(4)])
    yard.await_that(lambda: "stopped" in yard.row("t4")["reason"], "the breaker")
    assert (yard.task("t3").phase.value, yard.task("t4").phase.value) == ("ready", "ready")
    draft = yard.folder / "draft"
    draft.write_text("#!/bin/sh\necho 'PADDOCK-NOOP: nothing to do'\n")
    draft.chmod(0o755)
    draft.rename(program)
    words = {"limits": "limits --reset odd", "engines": "engines check odd", "retry": "retry t1"}
    yard.paddock(*words[cure].split())
    for name in ("t3", "t4", *(["t1"] if cure == "retry" else [])):
        await_noop(yard, name)
    leave(fleet)


def test_an_adopted_turn_does_not_report_old_refusals_again(yard: Yard) -> None:
    """Its first call was refused and went through later; a new daemon reads the same words."""
    ready, gate = yard.folder / "ready", yard.folder / "gate"
    yard.add({"auth_failed": 0, "recovers": True}, {"run": ["touch", str(ready)]}, {"wait_for": str(gate)}, *WORK)
    fleet = yard.start("run", "--until-idle")
    yard.await_that(ready.exists, "the agent")
    yard.await_that(lambda: "credentials refused" in yard.paddock("limits"), "the clock")
    yard.paddock("limits", "--reset", "scripted")
    yard.await_that(lambda: "credentials refused" not in yard.paddock("limits"), "the reset")
    fleet.kill()
    fleet = yard.start("run", "--until-idle")
    yard.add(*WORK)
    yard.await_that(lambda: yard.task("t2").phase.value == "approval", "the other task's end")
    gate.touch()
    assert fleet.wait() == 0, fleet.words
    assert "credentials refused" not in yard.paddock("limits")


def test_many_throttled_tasks_all_arrive_and_none_is_failed(make_yard: MakeYard) -> None:
    yard = make_yard(PADDOCK_LIMITS_MAX_AGENTS="4")
    yard.add_all(
        [
            {"brief": play({"rate_limited": 0.1, "attempt": [1, 2]}, write(f"{n}.txt"), commit("Add")), "attempts": 1}
            for n in range(3)
        ]
    )
    yard.run(code=0)
    for name in ("t1", "t2", "t3"):
        assert (yard.task(name).phase.value, yard.task(name).counted) == ("approval", 0)


def test_no_agents_allowed_means_nothing_starts_and_the_fleet_rests(yard: Yard) -> None:
    yard.add(*WORK)
    yard.run("--max", "0", code=0)
    assert yard.task().started == 0
    assert yard.row("t1")["reason"] == "agent cap reached (0/0)"
