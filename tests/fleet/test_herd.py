"""Many agents at once, some of them misbehaving in every way they know: each ends where it belongs."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from paddock.core.events import AttemptEnded, TurnEnded
from paddock.sessions.bubblewrap import fencing_ability
from tests.fleet.conftest import MakeYard
from tests.fleet.yard import Step, Yard, commit, play, write

# Long enough for as many interpreters to start on two cores that others use too.
# Counted from an agent's start, and the first ones wait for the last: fifty on a stalled machine for half a minute.
SIZES = [
    pytest.param(24, 20, 27, id="24 agents"),
    pytest.param(50, 35, 45, id="50 agents", marks=pytest.mark.slow),
]
TROUBLED_ENGINES = ("limited", "overloaded", "locked", "absent")


@dataclass(frozen=True)
class Case:
    """One task: what its agent does once all are there, how its attempts are judged, where the task ends."""

    steps: tuple[Step, ...]
    outcomes: tuple[str, ...]
    phase: str
    engine: str = "scripted"
    attempts: int = 1


def bad_cases(note: Step) -> dict[str, Case]:
    """`note` writes the newest commit's name down, outside of the worktree."""
    hard = {"ignore_sigterm": True}
    hang = {"hang": 600}
    work = (write("a.txt"), commit(), note)
    return {
        "crash": Case((*work, {"crash": 3, "always": True}), ("crashed", "crashed"), "failed", attempts=2),
        "segfault": Case((*work, {"crash": "SIGSEGV"}), ("crashed",), "failed"),
        "fail with exit 0": Case((*work, {"fail": "lost my way"}), ("crashed",), "failed"),
        "hang": Case((*work, hang), ("stalled",), "failed"),
        "hang and ignore SIGTERM": Case((*work, hard, hang), ("stalled",), "failed"),
        "talk for ever": Case((*work, {"chatter": 600}), ("timeout",), "failed"),
        "flood": Case(({"flood": 9_000_000}, {"flood": 4_000_000, "as": "garbage"}, *work), ("delivered",), "approval"),
        "claim done": Case(({"say": "all done"},), ("empty", "empty"), "failed", attempts=2),
        "forget to commit": Case((*work, write("b.txt"), {"say": "done"}), ("unsaved",), "approval"),
        "leave an orphan": Case((*work, {"orphan": 600}, {"say": "done"}), ("delivered",), "approval"),
        "leave a deaf orphan in its own session": Case(
            (*work, {"orphan": 600, "own_session": True, "ignore_sigterm": True}), ("delivered",), "approval"
        ),
        "rate limited": Case(
            ({"rate_limited": 0.1, "attempt": 1}, *work), ("throttled", "delivered"), "approval", "limited"
        ),
        "overloaded": Case(
            ({"overloaded": 0.1, "attempt": 1}, *work), ("overloaded", "delivered"), "approval", "overloaded"
        ),
        "locked out": Case(({"auth_failed": True},), ("auth",), "blocked", "locked"),
        "do nothing on purpose": Case(({"noop": "it is there already"},), ("noop",), "noop"),
        "refuse": Case(({"refuse": "I would rather not"},), ("refused",), "blocked"),
        "be denied": Case(({"deny": "Bash"}, {"say": "could not"}), ("refused",), "blocked"),
    }


def build_herd(yard: Yard, gate: Path, made: Path, at_once: int) -> dict[str, Case]:
    note = {"run": ["sh", "-c", f"git rev-parse HEAD >> '{made}'"]}
    bad = bad_cases(note)
    good = Case((write("a.txt"), commit(), note, {"say": "done"}), ("delivered",), "approval")
    cases = [*bad.values(), *[good] * (at_once - len(bad))]
    wait = {"wait_for": str(gate), "seconds": 600}
    tasks = [
        {"brief": play(wait, *case.steps), "engine": case.engine, "attempts": case.attempts, "title": f"Case {number}"}
        for number, case in enumerate(cases)
    ]
    return dict(zip(yard.add_all(tasks), cases, strict=True))


def configure(yard: Yard) -> None:
    engines = "".join(f'[engines.{name}]\nlike = "scripted"\n' for name in TROUBLED_ENGINES)
    config = yard.top / "paddock.toml"
    config.write_text(f"{config.read_text()}\n{engines}")


@pytest.mark.xdist_group("herd")
@pytest.mark.parametrize(("at_once", "silence_seconds", "turn_seconds"), SIZES)
def test_many_agents_at_once_all_end_where_they_belong(
    make_yard: MakeYard, at_once: int, silence_seconds: int, turn_seconds: int
) -> None:
    yard = make_yard(
        PADDOCK_TIMEOUTS_SILENCE=f"{silence_seconds}s",
        PADDOCK_TIMEOUTS_TURN=f"{turn_seconds}s",
        PADDOCK_LIMITS_OUTPUT_MB="4",
        PADDOCK_WORKTREES_POOL="2",
    )
    configure(yard)
    gate, made = yard.folder / "gate", yard.folder / "made"
    herd = build_herd(yard, gate, made, at_once)
    fleet = yard.start("run", "--until-idle", "--max", str(at_once))
    yard.await_board(lambda board: len(board.live) == at_once, "all agents at once")
    gate.touch()
    assert fleet.wait() == 1, fleet.words

    assert judged(yard) == {name: (case.outcomes, case.phase) for name, case in herd.items()}
    yard.assert_nothing_is_left()
    assert set(made.read_text().split()) <= set(yard.git("rev-list", "--all").split())
    assert not yard.unreachable_commits()
    swept = [record.event.swept for record in yard.records(TurnEnded) if isinstance(record.event, TurnEnded)]
    # What a fenced command leaves ends with it.
    left = [("sleep 600",)] * 2 if fencing_ability().problem else []
    assert [words for words in swept if words] == left
    assert largest_output(yard) <= 5 * 1024 * 1024


def judged(yard: Yard) -> dict[str, tuple[tuple[str, ...], str]]:
    board = yard.board()
    outcomes: dict[str, tuple[str, ...]] = {}
    for record in yard.records(AttemptEnded):
        assert isinstance(record.event, AttemptEnded)
        assert record.task is not None
        outcomes[record.task] = (*outcomes.get(record.task, ()), record.event.outcome)
    return {name: (outcomes.get(name, ()), task.phase.value) for name, task in board.tasks.items()}


def largest_output(yard: Yard) -> int:
    outputs = (yard.log_path.parent / "attempts").rglob("*.out")
    return max(path.stat().st_blocks * 512 for path in outputs)


def test_a_setup_that_fails_keeps_the_engine_from_starting(make_yard: MakeYard) -> None:
    yard = make_yard(PADDOCK_WORKTREES_SETUP="echo no compiler; exit 7")
    started = yard.folder / "started"
    yard.add({"run": ["touch", str(started)]}, attempts=2)
    yard.run(code=1)
    task = yard.task()
    assert [attempt.outcome for attempt in task.attempts] == ["setup_failed", "setup_failed"]
    assert task.phase == "failed"
    assert "exit 7" in task.reason
    assert not started.exists()
    yard.assert_nothing_is_left()


def test_an_engine_that_never_starts_is_given_up_without_costing_attempts(make_yard: MakeYard) -> None:
    yard = make_yard()
    yard.add({"never_start": 127}, attempts=1)
    yard.run(code=1)
    task = yard.task()
    assert {attempt.outcome for attempt in task.attempts} == {"never_ran"}
    assert task.counted == 0
    assert task.phase == "blocked"
    assert task.unblock == "paddock engines check scripted, then paddock retry t1"
