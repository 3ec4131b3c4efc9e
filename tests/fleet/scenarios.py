"""Short lives of tasks, each played by a fleet whose daemon may be killed at a named point on the way."""

import signal
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from paddock.core.events import AttemptEnded, Event, TurnEnded, TurnStarted
from tests.fleet.yard import PATIENCE_SECONDS, RunningCommand, Step, Yard, commit, play, write

SECOND_TIME = 2


class Relay:
    """Daemons one after the other: when the first is killed at its point, the next one takes over."""

    def __init__(self, yard: Yard, crash_at: str | None, trace: Path | None) -> None:
        self.yard = yard
        self.killed = False
        env = {"PADDOCK_TEST_CRASH_AT": crash_at} if crash_at else {}
        self._daemon = self._start(env | ({"PADDOCK_TEST_TRACE": str(trace)} if trace else {}))

    def _start(self, env: dict[str, str]) -> RunningCommand:
        return self.yard.start("run", "--until-idle", env=env)

    def tend(self) -> bool:
        """Starts the next daemon if one was killed. False once a daemon has ended by itself."""
        code = self._daemon.process.poll()
        if code is None:
            return True
        if code != -signal.SIGKILL:
            return False
        assert not self.killed, "only the first daemon is killed"
        self.killed = True
        self._daemon = self._start({})
        return True

    def until(self, path: Path) -> None:
        """Until an agent has made this file."""
        give_up_at = time.monotonic() + PATIENCE_SECONDS
        while not path.exists():
            assert self.tend(), f"the fleet ended before {path.name} came:\n{self._daemon.words}"
            assert time.monotonic() < give_up_at, f"{path.name} never came:\n{self._daemon.words}"
            time.sleep(0.02)

    def finish(self) -> None:
        give_up_at = time.monotonic() + PATIENCE_SECONDS
        while self.tend():
            assert time.monotonic() < give_up_at, f"it never came to rest:\n{self._daemon.words}"
            time.sleep(0.02)
        assert self._daemon.wait() in (0, 1), self._daemon.words
        assert "error:" not in self._daemon.words, self._daemon.words


@dataclass(frozen=True)
class Life:
    """How a task has to end: its phase, the outcomes of its attempts, the turns of each, the files at its head."""

    phase: str
    outcomes: tuple[str, ...]
    turns: tuple[int, ...]
    files: tuple[str, ...]


def no_interference(_relay: Relay) -> None:
    """Nobody says anything."""


@dataclass(frozen=True)
class Scenario:
    """`tasks` are made from the step with which an agent tells that it has started."""

    tasks: Callable[[Yard, Step], list[dict[str, object]]]
    expected: tuple[Life, ...]
    interfere: Callable[[Relay], None] = no_interference
    settings: dict[str, str] = field(default_factory=dict)


def brief(*steps: Step) -> dict[str, object]:
    return {"brief": play(*steps)}


def _work(_yard: Yard, hello: Step) -> list[dict[str, object]]:
    return [
        brief(hello, write("a.txt"), commit("Add a"), {"say": "done"}),
        brief(hello, write("b.txt"), commit("Add b"), write("c.txt"), {"orphan": 600}, {"say": "forgot c"}),
    ]


def _follow_up(yard: Yard, hello: Step) -> list[dict[str, object]]:
    hello_again = {**hello, "turn": 2}
    gate = {"wait_for": str(yard.folder / "gate")}
    ready = {"run": ["touch", str(yard.folder / "ready")]}
    more = ({**write("b.txt"), "turn": 2}, {**commit("Add b"), "turn": 2})
    return [brief(hello, write("a.txt"), commit("Add a"), ready, gate, hello_again, *more)]


def _send_message(relay: Relay) -> None:
    relay.until(relay.yard.folder / "ready")
    relay.yard.paddock("message", "t1", "Now b, please.")
    (relay.yard.folder / "gate").touch()


def _stop(yard: Yard, hello: Step) -> list[dict[str, object]]:
    ready = {"run": ["touch", str(yard.folder / "ready")]}
    return [brief(hello, write("a.txt"), commit("Add a"), write("b.txt"), ready, {"hang": 600})]


def _send_stop(relay: Relay) -> None:
    relay.until(relay.yard.folder / "ready")
    relay.yard.paddock("stop", "t1")


def _retry(_yard: Yard, hello: Step) -> list[dict[str, object]]:
    return [
        brief(
            hello,
            {**write("bad.txt"), "attempt": 1},
            {**commit("Add bad"), "attempt": 1},
            {"crash": 1, "attempt": 1},
            {"rate_limited": 0.1, "attempt": 2},
            {**hello, "attempt": 3},
            write("a.txt"),
            commit("Add a"),
        )
    ]


def _timeout(_yard: Yard, hello: Step) -> list[dict[str, object]]:
    return [{**brief(hello, write("a.txt"), commit("Add a"), write("b.txt"), {"hang": 600}), "attempts": 1}]


def _furnished(yard: Yard, hello: Step) -> list[dict[str, object]]:
    (yard.top / ".git" / "info" / "exclude").write_text("secret.env\nbuilt\n")
    (yard.top / "secret.env").write_text("key\n")
    (yard.top / ".worktreeinclude").write_text("secret.env\n")
    return [brief(hello, {"run": ["sh", "-c", "cat secret.env built > copy.txt"]}, commit("Copy"))]


BOTH = ("README.md", "a.txt", "b.txt", "paddock.toml")
ONLY_A = ("README.md", "a.txt", "paddock.toml")
SCENARIOS = {
    "work": Scenario(
        _work,
        (
            Life("approval", ("delivered",), (1,), ONLY_A),
            Life("approval", ("unsaved",), (1,), ("README.md", "b.txt", "c.txt", "paddock.toml")),
        ),
    ),
    "follow-up": Scenario(_follow_up, (Life("approval", ("delivered",), (2,), BOTH),), _send_message),
    "stop": Scenario(_stop, (Life("blocked", ("killed",), (1,), BOTH),), _send_stop),
    "retry": Scenario(
        _retry,
        (Life("approval", ("crashed", "throttled", "delivered"), (1, 1, 1), ONLY_A),),
    ),
    "timeout": Scenario(
        _timeout,
        (Life("failed", ("stalled",), (1,), BOTH),),
        settings={"PADDOCK_TIMEOUTS_SILENCE": "4s"},
    ),
    "furnished": Scenario(
        _furnished,
        (Life("approval", ("delivered",), (1,), ("README.md", "copy.txt", "paddock.toml")),),
        settings={"PADDOCK_WORKTREES_SETUP": "echo built > built"},
    ),
}


def play_scenario(yard: Yard, scenario: Scenario, crash_at: str | None = None, trace: Path | None = None) -> None:
    """Plays it to the end and checks that it ended as expected, whatever happened to the daemon on the way."""
    started = yard.folder / "started"
    hello: Step = {"run": ["sh", "-c", f'echo "$PADDOCK_ATTEMPT" >> "{started}"']}
    yard.env.update(scenario.settings)
    yard.add_all(scenario.tasks(yard, hello))
    relay = Relay(yard, crash_at, trace)
    scenario.interfere(relay)
    relay.finish()
    assert relay.killed == (crash_at is not None), f"nothing passed {crash_at}"
    lives = tuple(life_of(yard, f"t{number}") for number in range(1, len(scenario.expected) + 1))
    assert lives == scenario.expected
    assert_recorded_once(yard)
    assert_started_once(yard, started)
    yard.assert_nothing_is_left()
    assert not yard.unreachable_commits()


def life_of(yard: Yard, name: str) -> Life:
    task = yard.task(name)
    head = task.head or (task.last.head if task.last is not None else None) or "main"
    return Life(
        task.phase.value,
        tuple(attempt.outcome or "" for attempt in task.attempts),
        tuple(attempt.turn for attempt in task.attempts),
        tuple(yard.git("ls-tree", "--name-only", "-r", head).splitlines()),
    )


def assert_recorded_once(yard: Yard) -> None:
    """Every turn has begun and ended once in the log, every attempt has been judged once."""
    kinds: tuple[type[Event], ...] = (TurnStarted, TurnEnded, AttemptEnded)
    for kind in kinds:
        seen = Counter((record.attempt, getattr(record.event, "turn", 0)) for record in yard.records(kind))
        assert not [key for key, count in seen.items() if count != 1], kind.kind


def assert_started_once(yard: Yard, started: Path) -> None:
    """Agents wrote their attempt's name down when a turn of theirs began."""
    turns = Counter(record.attempt for record in yard.records(TurnStarted))
    assert Counter(started.read_text().split()) == turns
