"""Playing a scenario to its end, and seeing that it ended as it has to, whoever was killed on the way."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from paddock.core.events import (
    AnswerRefused,
    AttemptEnded,
    DaemonTroubled,
    Event,
    ReportGiven,
    TurnEnded,
    TurnStarted,
)
from paddock.core.money.spending import tokens_of
from paddock.core.review.events import ReviewGiven
from tests.fleet.relay import Relay
from tests.fleet.scenarios import Life, Scenario
from tests.fleet.yard import Step, Yard


def play_scenario(
    yard: Yard,
    scenario: Scenario,
    kills: Sequence[str] = (),
    trace: Path | None = None,
    start: Callable[[], Relay] | None = None,
) -> int:
    """How many daemons were killed on the way; each of `kills` that nothing passes kills nobody. `start` starts them
    in another way."""
    started = yard.folder / "started"
    hello: Step = {"run": ["sh", "-c", f'echo "$PADDOCK_ATTEMPT" >> "{started}"']}
    yard.env.update(scenario.settings)
    yard.add_all(scenario.tasks(yard, hello), scenario.convoy)
    relay = Relay(yard, kills, trace) if start is None else start()
    scenario.interfere(relay)
    relay.finish()
    for number, life in enumerate(scenario.expected, 1):
        lived = life_of(yard, f"t{number}", life)
        assert lived == life, "\n".join((f"{lived}, not {life}", *(str(record) for record in yard.records())))
    scenario.check(yard)
    assert_recorded_once(yard)
    assert_started_once(yard, started)
    assert_all_is_settled(yard)
    return relay.killed


def life_of(yard: Yard, name: str, like: Life) -> Life:
    task = yard.task(name)
    head = task.head or (task.last.head if task.last is not None else None) or "main"
    return Life(
        task.phase.value,
        tuple(attempt.outcome or "" for attempt in task.attempts),
        tuple(attempt.turn for attempt in task.attempts),
        tuple(yard.git("log", "--format=%s", f"main..{head}").splitlines()),
        tuple(yard.git("diff", "--name-only", "main", head).splitlines()),
        sum(map(tokens_of, task.attempts)) if like.tokens is not None else None,
    )


def assert_recorded_once(yard: Yard) -> None:
    """Every turn has begun and ended once in the log, every attempt has been judged once, with an answer refused once
    at most and taken once at most, and nothing went wrong."""
    kinds: tuple[type[Event], ...] = (TurnStarted, TurnEnded, AttemptEnded, AnswerRefused, ReportGiven, ReviewGiven)
    for kind in kinds:
        seen = Counter((record.attempt, getattr(record.event, "turn", 0)) for record in yard.records(kind))
        assert not [key for key, count in seen.items() if count != 1], kind.kind
    assert [record.event for record in yard.records(DaemonTroubled)] == []


def assert_started_once(yard: Yard, started: Path) -> None:
    """Agents wrote their attempt's name down when a turn of theirs began."""
    turns = Counter(record.attempt for record in yard.records(TurnStarted))
    assert Counter(started.read_text().split()) == turns


def assert_all_is_settled(yard: Yard) -> None:
    yard.assert_nothing_is_left()
    assert not yard.unreachable_commits()
    board = yard.board()
    assert not [task.id for task in board.tasks.values() if task.inbox]
    assert yard.paddock("log", "verify")
