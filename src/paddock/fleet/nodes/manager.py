"""The manager of a node: a Ray actor, one on each machine, which keeps the node's deputy running and answers for it.

It does nothing that matters. The deputy works without it, so a manager that is killed, or whose Ray has died, costs
nothing but the news; Ray starts another one in a moment. All it says and hears are bytes (`messages.py`), so that the
placer needs nothing of it but its name.
"""

import os
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import msgspec

from paddock.core.errors import PaddockError
from paddock.core.ids import RUN_OWNER, AttemptId, attempt_number, printable, task_of
from paddock.fleet.clock import SYSTEM_CLOCK
from paddock.fleet.nodes.agents_told import agents_of
from paddock.fleet.nodes.facts import NodeLook
from paddock.fleet.nodes.hearsay import Place, read_heard
from paddock.fleet.nodes.home import ATTENDED_SECONDS, DeputyNote, NodeHome
from paddock.fleet.nodes.messages import NodeNews, ReadWish, decode, encode
from paddock.fleet.nodes.order import NodeOrder, require_same_version
from paddock.fleet.nodes.turn_files import read_turns
from paddock.sessions.hints import read_hint
from paddock.sessions.host import is_at_work

UNHEARD_SECONDS = 900.0
"""After that nobody counts on a daemon that comes back: the node has its work ended, and its slots are given back."""
LONGEST_PAUSE_SECONDS = 30.0
STEADY_SECONDS = 20.0
WORDS_BYTES = 400
# The shell ends at once, so the deputy is no child of Ray's: Ray ends those with itself.
_DETACHED = ("/bin/sh", "-c", '"$@" &', "paddock-node")


class NodeManager:
    """`node` is what the log calls this machine."""

    def __init__(self, node: str, order: bytes) -> None:
        self._order = msgspec.json.decode(order, type=NodeOrder)
        self.home = NodeHome.of(self._order, node)
        self._problem = ""
        self._pause = 1.0
        self._started_at = self._start_at = 0.0
        self._heard_at = SYSTEM_CLOCK.boottime()
        self._guard = threading.Lock()
        self._pauses = threading.Event()
        self._look = NodeLook(self.home)
        try:
            require_same_version(self._order)
        except PaddockError as error:
            self._problem = f"{error.message}; {error.hint}"
            return
        self.home.write_order(self._order)
        self._tend()
        threading.Thread(target=self._keep, daemon=True).start()

    def renew(self, order: bytes) -> None:
        """What configures the fleet, as the daemon has it by now."""
        with self._guard:
            new = msgspec.json.decode(order, type=NodeOrder)
            if new != self._order and not self._problem:
                self.home.write_order(new)
            self._order = new

    def news(self, place: bytes) -> bytes:
        """A `NodeNews` since the `Place` of the last."""
        self._heard_at = SYSTEM_CLOCK.boottime()
        heard, after = read_heard(self.home.heard_file, decode(place, Place))
        facts = self._look.facts(self._order, deputy=self._has_deputy(), problem=self._told_problem())
        return encode(NodeNews(facts, agents_of(self.home.folder), heard, after))

    def read(self, wish: bytes) -> bytes:
        """A `ReadAnswer` to a `ReadWish`."""
        return encode(read_turns(self._folder_of, decode(wish, ReadWish)))

    def _folder_of(self, owner: str) -> Path:
        run = owner.removeprefix(RUN_OWNER)
        if run != owner:
            return self.home.runs(self._order) / run
        attempt = AttemptId(owner)
        return self.home.attempts(self._order) / f"{task_of(attempt)}/{attempt_number(attempt)}"

    def _keep(self) -> None:
        while True:
            self._pauses.wait(ATTENDED_SECONDS / 5)
            with suppress(OSError), self._guard:
                if SYSTEM_CLOCK.boottime() - self._heard_at < UNHEARD_SECONDS:
                    self._tend()
                elif not self._has_deputy():
                    retire(self._order.identity)

    def _tend(self) -> None:
        """Says that it is here, and starts a deputy where there is none: less often the sooner it ends again."""
        self.home.attended_file.touch()
        if self._has_deputy():
            if SYSTEM_CLOCK.boottime() - self._started_at > STEADY_SECONDS:
                self._pause = 1.0
            return
        now = SYSTEM_CLOCK.boottime()
        if now < self._start_at:
            return
        self._started_at, self._start_at = now, now + self._pause
        self._pause = min(LONGEST_PAUSE_SECONDS, 2 * self._pause)
        _spawn(self.home)

    def _has_deputy(self) -> bool:
        note = read_hint(self.home.deputy_file, DeputyNote)
        return note is not None and is_at_work(note.process)

    def _told_problem(self) -> str:
        if self._problem or self._has_deputy():
            return self._problem
        return _last_words(self.home.words_file) or "its deputy is starting"


def retire(identity: str) -> None:
    """The end of the manager, and of what Ray keeps on this node for a fleet whose daemon is gone: nothing would ever
    let a machine go that has either."""
    import ray
    from ray.util.placement_group import get_placement_group, placement_group_table, remove_placement_group

    context = ray.get_runtime_context()
    for group in placement_group_table().values():
        nodes = set(group["bundles_to_node_id"].values())
        if (
            group["name"].startswith(f"{identity}:")
            and group["state"] != "REMOVED"
            and nodes <= {context.get_node_id(), ""}
        ):
            with suppress(ValueError):
                remove_placement_group(get_placement_group(group["name"]))
    ray.kill(context.current_actor)


def _spawn(home: NodeHome) -> None:
    argv = (*_DETACHED, sys.executable, "-P", "-m", "paddock.fleet.nodes.deputy_process", str(home.folder), home.node)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("RAY_", "__RAY"))}
    with open(home.words_file, "ab") as words, open(os.devnull, "rb") as nothing:
        subprocess.run(
            argv, cwd=home.folder, env=environment, stdin=nothing, stdout=words, stderr=words,
            start_new_session=True, check=False,
        )  # fmt: skip


def _last_words(file: Path) -> str:
    try:
        with open(file, "rb") as words:
            words.seek(max(0, os.fstat(words.fileno()).st_size - WORDS_BYTES))
            lines = words.read(WORDS_BYTES).decode("utf-8", "replace").strip().splitlines()
    except OSError:
        return ""
    return printable(lines[-1], WORDS_BYTES) if lines else ""
