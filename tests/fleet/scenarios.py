"""Short lives of tasks, each played by a fleet whose daemons may be killed at named points on the way."""

import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from paddock.cli.workspace import workspace_at
from paddock.core.board import Board
from paddock.core.causes.events import CauseFound
from paddock.core.events import Draft, MessagesDelivered, MessageSent, Record, TurnEnded
from paddock.core.ids import TaskId
from paddock.core.intent.holds import Seat, hand_back, hold_task, open_terminal
from paddock.sessions.host import sign_of_life, this_process
from tests.fleet.relay import Relay
from tests.fleet.yard import Step, Yard, commit, play, write
from tests.warm import PATIENCE_SECONDS


@dataclass(frozen=True)
class Life:
    """How a task has to end: its phase, the outcomes of its attempts, the turns of each, the commits at its head with
    the files they bring, the tokens it has used (None where they depend on the moment of a stop)."""

    phase: str
    outcomes: tuple[str, ...]
    turns: tuple[int, ...]
    subjects: tuple[str, ...]
    files: tuple[str, ...]
    tokens: int | None = None


def no_interference(_relay: Relay) -> None:
    """Nobody says anything."""


@dataclass(frozen=True)
class Scenario:
    """`tasks` are made from the step with which an agent tells that it has started."""

    tasks: Callable[[Yard, Step], list[dict[str, object]]]
    expected: tuple[Life, ...]
    interfere: Callable[[Relay], None] = no_interference
    convoy: str = ""
    settings: dict[str, str] = field(default_factory=dict)
    check: Callable[[Yard], None] = lambda _yard: None


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


def _talk(yard: Yard, hello: Step) -> list[dict[str, object]]:
    """It hears two messages while it works, and is told a third one, for which it does not listen, in its next turn."""
    heard = {"listen": 600, "messages": 2, "to": str(yard.folder / "heard")}
    ready = {"run": ["touch", str(yard.folder / "ready")]}
    again = {"run": ["sh", "-c", f'echo again >> "{yard.folder / "heard"}"'], "turn": 2}
    done = {"run": ["touch", str(yard.folder / "done")]}
    sent = {"wait_for": str(yard.folder / "sent")}
    return [brief(hello, write("a.txt"), commit("Add a"), ready, heard, done, sent, {**hello, "turn": 2}, again)]


def _say_three_things(relay: Relay) -> None:
    relay.until(relay.yard.folder / "ready")
    relay.yard.paddock("message", "t1", "one")
    relay.yard.paddock("message", "t1", "two", "--now")
    relay.until(relay.yard.folder / "done")
    relay.yard.paddock("message", "t1", "three")
    (relay.yard.folder / "sent").touch()


def _heard_each_once(yard: Yard) -> None:
    heard = (yard.folder / "heard").read_text().splitlines()
    sent = [record.seq for record in yard.records(MessageSent)]
    assert [line for line in heard if line != "again"] == [f'[{sent[0]}, "one"]', f'[{sent[1]}, "two"]']
    assert heard.count("again") == 1, "the third began one turn, and no other"
    told = [seq for record in yard.records(MessagesDelivered) for seq in record.event.messages]  # type: ignore[attr-defined]
    assert sorted(told) == sent
    assert not yard.task("t1").untold


def _hold(yard: Yard, hello: Step) -> list[dict[str, object]]:
    ready = {"run": ["touch", str(yard.folder / "ready")]}
    on = ({**hello, "turn": 2}, {**write("b.txt"), "turn": 2}, {**commit("Add b"), "turn": 2})
    return [brief(hello, write("a.txt"), commit("Add a"), ready, {"hang": 600, "turn": 1}, *on)]


def _open_terminal(board: Board) -> list[Draft]:
    """In the conversation of the turn that was ended for it, whose name is known by then."""
    held = board.task(TaskId("t1")).live_attempt
    assert held is not None
    return open_terminal(board, held.id, worktree=held.worktree, fence=held.fence, session=held.session)


def _take_over_and_hand_back(relay: Relay) -> None:
    """Somebody's terminal, for a moment."""
    yard = relay.yard
    relay.until(yard.folder / "ready")
    here = this_process("seat")
    seat = Seat(here.host, here.host_id, sign_of_life())
    workspace = workspace_at(str(yard.top))
    workspace.record(lambda board: hold_task(board, TaskId("t1"), seat))
    give_up_at = time.monotonic() + PATIENCE_SECONDS
    opened: list[Record] = []
    while not opened:
        assert time.monotonic() < give_up_at, "its turn was never ended"
        relay.tend()
        opened = workspace.record(_open_terminal)
        time.sleep(0.02)
    with (yard.folder / "started").open("a") as started:
        started.write("t1.1\n")
    ended = TurnEnded(2, exit=0)
    by = workspace.author.name
    workspace.record(lambda board: hand_back(board, TaskId("t1"), by, "Now b, please.", ended))
    relay.start_again()


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


def _resumed(_yard: Yard, hello: Step) -> list[dict[str, object]]:
    crash = {"crash": 1, "attempt": 1}
    return [brief(hello, write("a.txt"), commit("Add a"), crash, hello, write("b.txt"), commit("Add b"))]


def _timeout(_yard: Yard, hello: Step) -> list[dict[str, object]]:
    deaf: Step = {"ignore_sigterm": True}
    return [{**brief(hello, write("a.txt"), commit("Add a"), write("b.txt"), deaf, {"hang": 600}), "attempts": 1}]


def _strayed(_yard: Yard, hello: Step) -> list[dict[str, object]]:
    """Commits on a branch that is gone, and HEAD away from the task's own."""
    return [
        brief(
            hello,
            {"run": ["git", "checkout", "-q", "-b", "other"]},
            write("other.txt"),
            commit("Add other"),
            {"run": ["git", "checkout", "-q", "-"]},
            {"run": ["git", "branch", "-q", "-D", "other"]},
            write("a.txt"),
            commit("Add a"),
            {"run": ["git", "checkout", "-q", "--detach"]},
            write("b.txt"),
        )
    ]


def _down(yard: Yard, hello: Step) -> list[dict[str, object]]:
    ready = {"run": ["touch", str(yard.folder / "ready")], "attempt": 1}
    orphan = {"orphan": 600, "own_session": True, "attempt": 1}
    hang = {"hang": 600, "attempt": 1}
    # What a second attempt goes on with comes after the step during which the first one ended.
    return [brief(hello, write("a.txt"), commit("Add a"), orphan, ready, hang, hello, write("b.txt"), commit("Add b"))]


def _send_down(relay: Relay) -> None:
    relay.until(relay.yard.folder / "ready")
    relay.yard.paddock("down", "--now")
    relay.start_again()


def _budget(yard: Yard, hello: Step) -> list[dict[str, object]]:
    """More is reserved as it goes, until the fleet has no more."""
    _configure(yard, '[prices."scripted"]\ninput = 1000\noutput = 1000\n')
    yard.paddock("budget", "set", "fleet", "--usd", "12")
    return [brief(hello, write("a.txt"), commit("Add a"), {"chatter": 600, "every": 0.3})]


def _owned(yard: Yard, hello: Step) -> list[dict[str, object]]:
    """Two agents that own the same paths: one works after the other."""
    _configure(yard, '[agents.api]\nowns = ["src/**"]\nlease_owned = true\n')
    tasks = [brief(hello, write(f"src/{name}.txt"), commit(f"Add {name}")) for name in "ab"]
    return [{**task, "agent": "api"} for task in tasks]


def _inlined(_yard: Yard, hello: Step) -> list[dict[str, object]]:
    return [brief(hello, write(f"{name}.txt"), commit(f"Add {name}")) for name in "ab"]


def _review(yard: Yard, hello: Step) -> list[dict[str, object]]:
    """A defect that a check lets pass is found, fixed in the same conversation, and looked for again."""
    noted = 'echo "$PADDOCK_ATTEMPT" >> "$0"; exec "$@"'
    critic = ["sh", "-c", noted, str(yard.folder / "started"), sys.executable, str(CRITIC), "{prompt}"]
    _configure(yard, f"[engines.critic]\ncommand = {critic}\n[agents.critic]\nrole = 'reviewer'\nengine = 'critic'\n")
    _configure(yard, '[review]\nreviewers = ["critic"]\n[[review.checks]]\nname = "lint"\nrun = "test -e a.py"\n')
    fixing = ({**step, "turn": 2} for step in (hello, write("a.py", "one\n"), commit("Fix a")))
    return [brief(hello, write("a.py", "one\nBUG\n"), commit("Add a"), *fixing)]


def _read(_yard: Yard, hello: Step) -> list[dict[str, object]]:
    """A report, and a review of what is there whose first answer nobody can use."""
    found = {"head": "${HEAD}", "findings": [{"claim": "it is short", "severity": "note", "path": "README.md"}]}
    again = ({**hello, "turn": 2}, {"answer": found, "turn": 2})
    return [
        {**brief(hello, {"answer": "All is well."}), "role": "report"},
        {**brief(hello, {"answer": "It looks good."}, *again), "role": "review"},
    ]


def _causes(_yard: Yard, hello: Step) -> list[dict[str, object]]:
    """Neither has an attempt left, but for what was not its failure."""
    fought = {"fail": "listen EADDRINUSE: address already in use 127.0.0.1:8080", "attempt": 1}
    steps = (brief(hello, fought, hello, write(f"{name}.txt"), commit(f"Add {name}")) for name in "ab")
    return [{**step, "attempts": 1} for step in steps]


def _each_cause_once(yard: Yard) -> None:
    found = Counter(record.attempt for record in yard.records(CauseFound))
    assert found == {"t1.1": 1, "t2.1": 1}
    assert [yard.task(name).counted for name in ("t1", "t2")] == [0, 0]


def _configure(yard: Yard, text: str) -> None:
    config = yard.top / "paddock.toml"
    config.write_text(config.read_text() + text)


def _furnished(yard: Yard, hello: Step) -> list[dict[str, object]]:
    (yard.top / ".git" / "info" / "exclude").write_text("secret.env\nbuilt\n")
    (yard.top / "secret.env").write_text("key\n")
    (yard.top / ".worktreeinclude").write_text("secret.env\n")
    return [brief(hello, {"run": ["sh", "-c", "cat secret.env built > copy.txt"]}, commit("Copy"))]


CRITIC = Path(__file__).with_name("critic.py")
RESCUE = "Rescue 1 uncommitted files"
A_AND_RESCUE = (RESCUE, "Add a")
SCENARIOS = {
    "work": Scenario(
        _work,
        (
            Life("approval", ("delivered",), (1,), ("Add a",), ("a.txt",), 1200),
            Life("approval", ("unsaved",), (1,), (RESCUE, "Add b"), ("b.txt", "c.txt"), 1250),
        ),
    ),
    "follow-up": Scenario(
        _follow_up,
        (Life("approval", ("delivered",), (2,), ("Add b", "Add a"), ("a.txt", "b.txt"), 2350),),
        _send_message,
    ),
    "talk": Scenario(
        _talk,
        (Life("approval", ("delivered",), (2,), ("Add a",), ("a.txt",)),),
        _say_three_things,
        check=_heard_each_once,
    ),
    "hold": Scenario(
        _hold,
        (Life("approval", ("delivered",), (3,), ("Add b", "Add a"), ("a.txt", "b.txt")),),
        _take_over_and_hand_back,
    ),
    "stop": Scenario(_stop, (Life("blocked", ("killed",), (1,), A_AND_RESCUE, ("a.txt", "b.txt"), 5005),), _send_stop),
    "retry": Scenario(
        _retry,
        (Life("approval", ("crashed", "throttled", "delivered"), (1, 1, 1), ("Add a",), ("a.txt",), 5203),),
        settings={"PADDOCK_LIMITS_FRESH": "true"},
    ),
    "resumed": Scenario(
        _resumed,
        (Life("approval", ("crashed", "delivered"), (1, 1), ("Add b", "Add a"), ("a.txt", "b.txt"), 4153),),
    ),
    "timeout": Scenario(
        _timeout,
        (Life("failed", ("stalled",), (1,), A_AND_RESCUE, ("a.txt", "b.txt"), 4004),),
        settings={"PADDOCK_TIMEOUTS_SILENCE": "4s"},
    ),
    "furnished": Scenario(
        _furnished,
        (Life("approval", ("delivered",), (1,), ("Copy",), ("copy.txt",), 1150),),
        settings={"PADDOCK_WORKTREES_SETUP": "echo built > built"},
    ),
    "strayed": Scenario(_strayed, (Life("approval", ("unsaved",), (1,), A_AND_RESCUE, ("a.txt", "b.txt"), 1500),)),
    "down": Scenario(
        _down,
        (Life("approval", ("killed", "delivered"), (1, 1), ("Add b", "Add a"), ("a.txt", "b.txt"), 5154),),
        _send_down,
    ),
    "causes": Scenario(
        _causes,
        (
            Life("approval", ("crashed", "delivered"), (1, 1), ("Add a",), ("a.txt",)),
            Life("approval", ("crashed", "delivered"), (1, 1), ("Add b",), ("b.txt",)),
        ),
        settings={"PADDOCK_INSIGHT_FOLLOW": "true"},
        check=_each_cause_once,
    ),
    "budget": Scenario(_budget, (Life("blocked", ("over_budget",), (1,), ("Add a",), ("a.txt",)),)),
    "owned": Scenario(
        _owned,
        (
            Life("approval", ("delivered",), (1,), ("Add a",), ("src/a.txt",), 1150),
            Life("approval", ("delivered",), (1,), ("Add b",), ("src/b.txt",), 1150),
        ),
    ),
    "inlined": Scenario(
        _inlined,
        (
            Life("approval", ("delivered",), (1,), ("Add a",), ("a.txt",), 1150),
            Life("approval", ("delivered",), (1,), ("Add b",), ("b.txt",), 1150),
        ),
        convoy="small",
        settings={"PADDOCK_LIMITS_INLINE": "true", "PADDOCK_LIMITS_MAX_AGENTS": "1"},
    ),
    "review": Scenario(
        _review,
        (
            Life(
                "approval",
                ("delivered", "answered", "delivered", "answered"),
                (1, 1, 1, 1),
                ("Fix a", "Add a"),
                ("a.py",),
                2300,
            ),
        ),
    ),
    "read": Scenario(
        _read,
        (
            Life("done", ("answered",), (1,), (), (), 1100),
            Life("done", ("answered",), (2,), (), (), 2200),
        ),
    ),
}
