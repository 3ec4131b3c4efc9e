"""Appends events as a busy fleet would, at a steady pace, for `bench.web` and `bench.terminal`.

Every other event gives a task on the screen a title with a mark such as `§12§`; the rest are turns that end and
begin. Once a second the agents' steps are told, as a daemon does. Prints when each mark was appended.
"""

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from bench.seeded_agents import glance_at
from paddock.core import events as ev
from paddock.core.board import Board
from paddock.core.ids import TaskId
from paddock.core.tasks.task import FINISHED, Attempt
from paddock.fleet.glance import write_glance
from paddock.store.protocol import Author
from paddock.store.sqlite import SqliteStore

DAEMON = Author("daemon@harbor")


def append_events(top: Path, seconds: float, rate: float, on_screen: Sequence[str]) -> dict[int, float]:
    """By another process. When each mark was appended, in milliseconds since the epoch."""
    told = {"top": str(top), "seconds": seconds, "rate": rate, "tasks": list(on_screen)}
    command = (sys.executable, "-m", "bench.web_writer")
    done = subprocess.run(command, input=json.dumps(told), check=True, stdout=subprocess.PIPE, text=True)
    return {int(mark): at for mark, at in json.loads(done.stdout).items()}


def main() -> None:
    told = json.load(sys.stdin)
    top = Path(told["top"])
    store = SqliteStore(top / ".git" / "paddock" / "log.db")
    marks: dict[int, float] = {}
    count = round(told["seconds"] * told["rate"])
    tasks = store.board().tasks
    on_screen = [name for name in map(TaskId, told["tasks"]) if tasks[name].phase not in FINISHED]
    began = time.monotonic()
    for number in range(count):
        time.sleep(max(0.0, began + number / told["rate"] - time.monotonic()))
        if number % 2:
            store.append(lambda board, n=number: turn_over(board, n), DAEMON)  # type: ignore[misc]
        else:
            task = on_screen[number // 2 % len(on_screen)]
            edited = ev.TaskEdited(title=f"§{number}§ Parse what is left of the durations")
            store.append(lambda _, task=task, edited=edited: [ev.Draft(edited, task=task)], DAEMON)  # type: ignore[misc]
            marks[number] = 1000 * time.time()
        if number % round(told["rate"]) == 0:
            write_glance(top / ".git" / "paddock", glance_at(top, time.time(), number))
    store.close()
    json.dump(marks, sys.stdout)


def turn_over(board: Board, number: int) -> list[ev.Draft]:
    """An agent's turn ends, and its next one begins."""
    live: list[Attempt] = [found for name in board.live if (found := board.tasks[name].live_attempt) is not None]
    attempt = live[number * 7 % len(live)]
    task = TaskId(attempt.id.split(".")[0])
    if not attempt.turn_open:
        return [ev.Draft(ev.TurnStarted(attempt.turn + 1), task=task, attempt=attempt.id)]
    ended = ev.TurnEnded(attempt.turn, exit=0, steps=4, output_tokens=900, cost_usd=0.03, cost_source="engine")
    return [ev.Draft(ended, task=task, attempt=attempt.id)]


if __name__ == "__main__":
    main()
