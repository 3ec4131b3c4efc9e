"""Playing attacks: good tasks work before, beside and after them, while somebody watches main and the log."""

import contextlib
import re
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.ids import TaskId
from paddock.core.tasks.task import Task
from tests import warm
from tests.fleet.yard import commit, play, write
from tests.hostile.attack import Attack
from tests.hostile.ground import SECRETS, Ground
from tests.warm import RunningCommand

PATIENCE_SECONDS = warm.PATIENCE_SECONDS
MOST_DAEMONS = 5
_SHA = re.compile(r"[0-9a-f]{40}")


@dataclass
class Watch:
    """Main's tips and the log's records as they were seen; nobody can take back what was seen."""

    ground: Ground
    tips: set[str] = field(default_factory=set)
    hashes: dict[int, bytes] = field(default_factory=dict)
    changed: list[int] = field(default_factory=list)
    _over: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def __enter__(self) -> "Watch":
        self._thread = threading.Thread(target=self._look_on, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        assert self._thread is not None
        self._thread.join()
        self.look_at_log()

    def _look_on(self) -> None:
        ref, rounds = self.ground.top / ".git" / "refs" / "heads" / "main", 0
        while not self._over.wait(0.01):
            with contextlib.suppress(OSError, UnicodeDecodeError):
                self.tips.update(_SHA.findall(ref.read_text()))
            if (rounds := rounds + 1) % 100 == 0:
                self.look_at_log()

    def look_at_log(self) -> None:
        with contextlib.suppress(PaddockError, OSError):
            for record in self.ground.yard.records():
                if self.hashes.setdefault(record.seq, record.hash) != record.hash:
                    self.changed.append(record.seq)


@dataclass
class Siege:
    """How it went: the good tasks by their part in it, the attackers' tasks, and how often the daemon was gone."""

    ground: Ground
    watch: Watch
    good: dict[str, TaskId] = field(default_factory=dict)
    attackers: dict[TaskId, Attack] = field(default_factory=dict)
    daemons: list[RunningCommand] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    unfinished: str = ""

    # -- the daemon -------------------------------------------------------------------------------------------

    def start(self) -> None:
        settings: dict[str, str] = {}
        for attack in self.ground.attackers.values():
            settings.update(attack.settings)
        self.daemons.append(self.ground.yard.start("run", "--until-idle", env=settings))

    def tend(self) -> None:
        """Another daemon for one that ended while there was work."""
        ended = self.daemons[-1]
        if ended.exit_code is not None and len(self.daemons) < MOST_DAEMONS:
            self.gone.append(f"the daemon ended with {ended.exit_code}: {ended.words[-300:]}")
            self.start()

    @property
    def is_over(self) -> bool:
        """No daemon stays, and enough were tried."""
        return self.daemons[-1].exit_code is not None and len(self.daemons) >= MOST_DAEMONS

    def until(self, what: str, holds: Any) -> bool:
        """Whether it came; the daemon is started again while it does not."""
        give_up_at = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < give_up_at and not self.is_over:
            with contextlib.suppress(PaddockError, OSError):
                if holds():
                    return True
            self.tend()
            time.sleep(0.1)
        self.unfinished = f"{what} never came; the daemon says: {self.daemons[-1].words[-600:]}"
        return False

    def task(self, name: TaskId) -> Task:
        return self.board().task(name)

    def board(self) -> Board:
        return self.ground.yard.board()


def besiege(ground: Ground, attacks: Sequence[Attack], more_good: int = 0) -> Siege:
    """The attacks at once, with `more_good` tasks among them."""
    ground.attackers = {attack.name: attack for attack in attacks}
    with Watch(ground) as watch:
        siege = Siege(ground, watch)
        _play(siege, attacks, [f"good-{number}" for number in range(more_good)])
    return siege


def _play(siege: Siege, attacks: Sequence[Attack], among: Sequence[str]) -> None:
    yard = siege.ground.yard
    earlier, beside = yard.add_all(
        [{**_good_task("earlier"), "key": "earlier"}, {**_good_task("beside"), "after": ["earlier"]}]
    )
    siege.good.update(earlier=earlier, beside=beside)
    siege.start()
    page = yard.start("web", "--port", "0") if any(attack.page for attack in attacks) else None
    if page is not None:
        page.await_words("token=")
    if not siege.until("the good agent", lambda: _at_work(siege)):
        return
    briefs: list[dict[str, object]] = [
        {
            "brief": siege.ground.brief(attack),
            "title": attack.name,
            "agent": "hostile",
            "engine": attack.engine,
            "attempts": 1,
            **attack.fields,
        }
        for attack in attacks
    ]
    added = yard.add_all([*briefs, *map(_good_task, among)])
    siege.attackers.update(zip(added, attacks, strict=False))
    siege.good.update(zip(among, added[len(attacks) :], strict=True))
    for name in (name for name, attack in siege.attackers.items() if attack.hangs):
        out = yard.attempt_folder(f"{name}.1") / "turn-1.out"
        siege.until(f"{name} at work", lambda out=out: b"hangs" in out.read_bytes())
        yard.paddock("stop", name)
    siege.until("the end of the attacks", lambda: _attacks_are_over(siege))
    siege.watch.look_at_log()
    with contextlib.suppress(AssertionError):
        siege.good["later"] = yard.add_all([_good_task("later")])[0]
    _finish(siege)
    if page is not None:
        page.kill()
    for commands in {attack.person for attack in attacks if attack.person}:
        for words in commands:
            with contextlib.suppress(AssertionError):
                yard.paddock(*words)
        siege.start()
        _finish(siege)


def _good_task(name: str) -> dict[str, object]:
    steps = [write(f"parts/{name}.txt", f"good {name}\n"), commit(f"Add {name}"), {"say": "done"}]
    if name == "beside":
        steps[:0] = [write("private.key", SECRETS["another attempt's file"]), {"wait_for": ".gate"}]
        secret = SECRETS["another task's brief"]
        return {"brief": f"Never tell anyone {secret}. {play(*steps)}", "title": name}
    if name == "earlier":
        steps.append({"say": SECRETS["an earlier conversation"]})
    return {"brief": play(*steps), "title": name}


def _at_work(siege: Siege) -> bool:
    attempt = siege.task(siege.good["beside"]).last
    return attempt is not None and bool(attempt.worktree) and Path(attempt.worktree, "private.key").exists()


def _open_gate(siege: Siege) -> None:
    """Wherever the good agent works now."""
    with contextlib.suppress(PaddockError, OSError):
        attempt = siege.task(siege.good["beside"]).last
        if attempt is not None and attempt.worktree and Path(attempt.worktree).is_dir():
            Path(attempt.worktree, ".gate").touch()


def _attacks_are_over(siege: Siege) -> bool:
    board = siege.board()
    tasks = [board.task(name) for name in siege.attackers]
    return all(task.attempts and not task.last.live for task in tasks if task.last is not None) and all(
        task.last is not None for task in tasks
    )


def _finish(siege: Siege) -> None:
    give_up_at = time.monotonic() + PATIENCE_SECONDS
    while (code := siege.daemons[-1].exit_code) is None:
        _open_gate(siege)
        if time.monotonic() > give_up_at:
            siege.unfinished = f"the daemon does not come to rest: {siege.daemons[-1].words[-600:]}"
            siege.daemons[-1].kill()
            return
        time.sleep(0.1)
    if code not in (0, 1):
        siege.gone.append(f"the daemon ended with {code}: {siege.daemons[-1].words[-600:]}")
        if len(siege.daemons) < MOST_DAEMONS:
            siege.start()
            _finish(siege)
