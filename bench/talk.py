"""Talking to a whole fleet: one message to 50 agents at work, to 50 that have ended, and to one in person.

    python -m bench.talk [--quick]

Prints a table and writes bench/out/talk.json. The agents are scripted and listen. A message counts as taken when its
receipt is in the log, which each agent's own output is the evidence for. The same 50 messages are delivered as tools
around tmux do it: a buffer, a bracketed paste and an Enter for each agent, one after the other, until all have shown
that they read it. mngr, which works that way, was measured at 3.4 s for the command to 50 agents.
"""

import argparse
import contextlib
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median, quantiles

import psutil

from bench.fleet import CONFIG, Yard, make_yard, running_turns
from bench.measure import Line, print_table, write_json
from bench.terminal_pane import Pane
from paddock.bridges import claude_input
from paddock.core.events import MessagesDelivered, MessageSent
from paddock.core.tasks.task import Phase
from paddock.sessions.mailbox import Letter, make_mailbox, post
from paddock.store.protocol import Query

MNGR_SECONDS = 3.4
MNGR_AGENTS = 50
PATIENCE_SECONDS = 120.0
SETTINGS = CONFIG.replace('engine = "sh"\n', 'engine = "scripted"\n')
READER = 'while IFS= read -r line; do echo "read $line"; done'
SHELL = "#!/bin/sh\necho first screen\nexec cat\n"


@dataclass(frozen=True, slots=True)
class Sizes:
    agents: int
    rounds: int


FULL = Sizes(50, 7)
QUICK = Sizes(2, 1)


@dataclass(frozen=True, slots=True)
class Delivery:
    """Seconds: of the command, from its start until the last receipt is in the log, of a processor, and of each
    message from its record to its receipt's."""

    command: float
    all_taken: float
    processor: float
    each: list[float]


def play(*steps: dict[str, object]) -> str:
    return f"<<SCRIPT {json.dumps(list(steps))} SCRIPT>>"


@contextlib.contextmanager
def listening_fleet(agents: int) -> Iterator[Yard]:
    with make_yard(SETTINGS) as yard:
        yard.add([play({"say": "ready"}, {"listen": 3600}) for _ in range(agents)])
        with yard.daemon("--max", str(agents)):
            yard.await_board(lambda board: running_turns(board) == agents)
            attempts = yard.log_path.parent / "attempts"
            await_that(lambda: sum(b'"ready"' in path.read_bytes() for path in attempts.rglob("*.out")) == agents)
            yield yard


def await_that(holds: Callable[[], bool]) -> None:
    give_up_at = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        if time.monotonic() > give_up_at:
            raise TimeoutError("nothing came")
        time.sleep(0.005)


def send_to_all(yard: Yard, agents: int) -> Delivery:
    with yard.log() as log:
        before = log.board().seq
        started, used = time.perf_counter(), children_seconds()
        yard.run("message", "--phase", "running", "Please use tabs from now on.")
        command, used = time.perf_counter() - started, children_seconds() - used
        receipts: dict[int, float] = {}
        sent: dict[int, float] = {}

        def all_taken() -> bool:
            for record in log.records(Query(after=before)):
                if isinstance(record.event, MessageSent):
                    sent[record.seq] = record.at
                if isinstance(record.event, MessagesDelivered):
                    receipts.update((message, record.at) for message in record.event.messages)
            return len(receipts) == agents

        await_that(all_taken)
        everything = time.perf_counter() - started
    return Delivery(command, everything, used, [receipts[number] - sent[number] for number in sent])


def children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Terminals:
    """As many panes of a tmux server of their own, each with a program that says what it reads."""

    def __init__(self, folder: Path, agents: int) -> None:
        self._folder = folder
        self._rounds = 0
        self.panes = [self._pane(number) for number in range(agents)]

    def tmux(self, *words: str, text: str | None = None) -> str:
        argv = ("tmux", "-S", str(self._folder / "tmux"), "-f", "/dev/null", *words)
        return subprocess.run(argv, check=True, capture_output=True, text=True, input=text).stdout

    def _pane(self, number: int) -> str:
        words = ("new-session", "-d", "-P", "-F", "#{pane_id}", "-s", f"agent{number}", "sh", "-c", READER)
        return self.tmux(*words).strip()

    def send_to_all(self) -> Delivery:
        self._rounds += 1
        message = f"Please use tabs from now on, {self._rounds}."
        started, used = time.perf_counter(), children_seconds()
        for pane in self.panes:
            self.tmux("load-buffer", "-b", "message", "-", text=message)
            self.tmux("paste-buffer", "-p", "-d", "-b", "message", "-t", pane)
            self.tmux("send-keys", "-t", pane, "Enter")
        command, used = time.perf_counter() - started, children_seconds() - used
        for pane in self.panes:
            await_that(partial(self._shows, pane, f"read {message}"))
        return Delivery(command, time.perf_counter() - started, used, [])

    def _shows(self, pane: str, words: str) -> bool:
        return words in self.tmux("capture-pane", "-p", "-t", pane)

    def close(self) -> None:
        self.tmux("kill-server")


def measure_running(sizes: Sizes) -> list[Line]:
    agents = sizes.agents
    ours: list[Delivery] = []
    theirs: list[Delivery] = []
    has_tmux = shutil.which("tmux") is not None
    with listening_fleet(agents) as yard, tempfile.TemporaryDirectory(prefix="paddock-tmux-") as folder:
        terminals = Terminals(Path(folder), agents) if has_tmux else None
        try:
            for _ in range(sizes.rounds):
                ours.append(send_to_all(yard, agents))
                theirs += [terminals.send_to_all()] if terminals is not None else []
        finally:
            if terminals is not None:
                terminals.close()
    command, taken = median(each.command for each in ours), median(each.all_taken for each in ours)
    used = median(each.processor for each in ours)
    waits = sorted(wait * 1000 for each in ours for wait in each.each)
    spread = quantiles(waits, n=100)
    mngr = f"mngr's {MNGR_SECONDS} s for {MNGR_AGENTS}"
    lines = [
        Line(f"message to {agents} at work: the command", command, "s", mngr, MNGR_SECONDS, goal=0.1),
        Line("… until all have taken it", taken, "s", mngr, MNGR_SECONDS),
        Line("record to receipt: p50", spread[49], "ms"),
        Line("record to receipt: p99", spread[98], "ms"),
    ]
    if theirs:
        pasted, read = median(each.command for each in theirs), median(each.all_taken for each in theirs)
        pasted_used = median(each.processor for each in theirs)
        lines += [
            Line("the command, against pastes", command, "s", "tmux, a paste for each", pasted),
            Line("the command's processor time", used, "s", "tmux, without its server's", pasted_used),
            Line("all have taken it, against pastes", taken, "s", "tmux, until all have read it", read),
        ]
    return lines


def measure_ended(sizes: Sizes) -> list[Line]:
    with make_yard(f'{SETTINGS}[land]\napproval = "human"\n') as yard:
        yard.add([play({"write": f"new{number}.txt"}, {"commit": "Add it"}) for number in range(sizes.agents)])
        with yard.daemon("--max", "8"):
            yard.await_board(lambda board: all(task.phase is Phase.APPROVAL for task in board.tasks.values()))
        started = time.perf_counter()
        yard.run("message", "--phase", "approval", "Please look again.")
        command = time.perf_counter() - started
        screen = median(first_screen(yard) for _ in range(sizes.rounds))
        with yard.log() as log:
            queued = sum(len(task.inbox) for task in log.board().tasks.values())
    if queued != sizes.agents:
        raise RuntimeError(f"{queued} of {sizes.agents} messages are queued")
    return [
        Line(f"message to {sizes.agents} that have ended: the command", command, "s"),
        Line("`connect --here --shell` to its first screen", screen, "s"),
    ]


def first_screen(yard: Yard) -> float:
    shell = yard.top.parent / "shell"
    shell.write_text(SHELL)
    shell.chmod(0o755)
    env = [f"{name}={value}" for name, value in {**yard.env, "SHELL": str(shell)}.items()]
    started = time.time()
    with Pane(("env", *env, *yard.argv("connect", "t1", "--here", "--shell")), yard.top) as pane:
        return pane.wait_for("first screen") - started


def measure_mailboxes(sizes: Sizes) -> list[Line]:
    """What a turn that listens has beside others: a folder and a pipe; claude a process between it and its output."""
    with tempfile.TemporaryDirectory(prefix="paddock-mail-") as name:
        folder, count = Path(name), sizes.agents * 10
        started = time.perf_counter()
        for number in range(count):
            make_mailbox(folder / str(number))
        made = (time.perf_counter() - started) / count * 1e6
        started = time.perf_counter()
        for number in range(count):
            post(folder / str(number), Letter(number, "Please use tabs from now on."))
        posted = (time.perf_counter() - started) / count * 1e6
        memory = bridge_megabytes(folder)
    return [
        Line("a mailbox: to make", made, "µs"),
        Line("a letter: to post", posted, "µs"),
        Line("the process in front of claude: memory (PSS)", memory, "MB", goal=15.0),
    ]


def bridge_megabytes(folder: Path) -> float:
    order = folder / "order.json"
    order.write_text(json.dumps({"argv": ["cat"], "prompt": "x", "mailbox": str(folder / "0")}))
    argv = (sys.executable, "-I", "-S", claude_input.__file__, str(order))
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as bridge:
        assert bridge.stdout is not None
        bridge.stdout.readline()
        size = psutil.Process(bridge.pid).memory_full_info().pss
        bridge.terminate()
    return float(size / 2**20)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="2 agents: shows that it runs")
    quick = parser.parse_args().quick
    sizes = QUICK if quick else FULL
    lines = [*measure_running(sizes), *measure_ended(sizes), *measure_mailboxes(sizes)]
    print_table("Talking to a fleet", lines)
    write_json("talk-quick" if quick else "talk", lines)
    return 0 if quick or all(line.met is not False for line in lines) else 1


if __name__ == "__main__":
    sys.exit(main())
