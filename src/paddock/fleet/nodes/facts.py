"""What a node's machine has and how it is doing, for `paddock nodes`."""

import os
import platform
import re
import subprocess
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from shutil import disk_usage

import msgspec
import psutil

from paddock import __version__
from paddock.core.ids import printable
from paddock.fleet.clock import SYSTEM_CLOCK
from paddock.fleet.nodes.home import NodeHome
from paddock.fleet.nodes.messages import NodeFacts
from paddock.fleet.nodes.order import NodeOrder
from paddock.git.worktrees.slots import SlotRecord

TOOLS_SECONDS = 600.0
ANSWER_SECONDS = 20.0
_NUMBER = re.compile(r"v?\d[\w.+-]*")
CLIS = ("claude", "codex", "aider", "gemini", "opencode", "qwen", "copilot", "cn", "bwrap", "node")


@dataclass
class NodeLook:
    """Asks the tools for their versions now and then only: some take a second to say."""

    home: NodeHome
    _tools: dict[str, str] = field(default_factory=dict, init=False)
    _asked_at: float = field(default=float("-inf"), init=False)

    def facts(self, order: NodeOrder, *, deputy: bool, problem: str) -> NodeFacts:
        memory = psutil.virtual_memory()
        folder = self.home.folder if self.home.folder.is_dir() else os.sep
        return NodeFacts(
            node=self.home.node,
            version=__version__,
            deputy=deputy,
            problem=problem,
            tools=self._versions(),
            cores=os.cpu_count() or 1,
            load=round(os.getloadavg()[0], 2),
            free_memory_bytes=memory.available,
            memory_bytes=memory.total,
            free_disk_bytes=disk_usage(folder).free,
            worktrees=self._worktrees(order),
        )

    def _versions(self) -> dict[str, str]:
        if SYSTEM_CLOCK.boottime() - self._asked_at > TOOLS_SECONDS:
            self._asked_at = SYSTEM_CLOCK.boottime()
            found = {name: version for name in ("git", *CLIS) if (version := _version_of(name))}
            self._tools = {"os": platform.system().lower(), "python": platform.python_version(), **found}
        return self._tools

    def _worktrees(self, order: NodeOrder) -> dict[str, int]:
        """Read from the slots' records, without git."""
        states: Counter[str] = Counter()
        root = self.home.folder / f"{order.name}.paddock"
        for record in root.glob(".slots/*/record.json"):
            with suppress(OSError, msgspec.DecodeError):
                states[msgspec.json.decode(record.read_bytes(), type=SlotRecord).state.value] += 1
        return dict(states)


def _version_of(name: str) -> str:
    """Empty where there is none. The number in its first line, or that line where it has none."""
    try:
        done = subprocess.run(
            (name, "--version"), capture_output=True, timeout=ANSWER_SECONDS, stdin=subprocess.DEVNULL, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    words = done.stdout.decode("utf-8", "replace").strip().splitlines()
    if not words:
        return ""
    number = _NUMBER.search(words[0])
    return printable(number[0] if number is not None else words[0], 60)
