"""Long text on a terminal, as git shows it: in the pager and the colours that git would use.

The pager comes from GIT_PAGER, `core.pager`, PAGER, else `less`. The repository's own configuration is not asked for
it: agents can write that, and a pager is a command.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import cached_property

from paddock.core.ids import harmless
from paddock.git.repo import Repo

_DEFAULTS = {"meta": "bold", "frag": "cyan", "old": "red", "new": "green"}
# By the start of a patch line; the first match counts.
_SLOTS = {
    "diff --git ": "meta",
    "index ": "meta",
    "+++ ": "meta",
    "--- ": "meta",
    "@@ ": "frag",
    "+": "new",
    "-": "old",
}
_RESET = "\x1b[m"
_NOT_RUN = (126, 127)


class DiffColours:
    """As `color.diff` and `color.diff.*` say; none where NO_COLOR is set or the terminal is dumb."""

    def __init__(self, repo: Repo) -> None:
        self._repo = repo

    @cached_property
    def wanted(self) -> bool:
        if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
            return False
        return self._repo.git("config", "--get-colorbool", "color.diff", "true", check=False).text == "true"

    @cached_property
    def codes(self) -> dict[str, str]:
        if not self.wanted:
            return {}
        asked = {
            slot: self._repo.git("config", "--get-color", f"color.diff.{slot}", usual, check=False)
            for slot, usual in _DEFAULTS.items()
        }
        return {slot: answer.text for slot, answer in asked.items() if answer.ok}

    def paint(self, patch: str) -> str:
        """The author of a change must not be able to hide part of it from its reviewer."""
        return "".join(self._lines(harmless(patch).removesuffix("\n").split("\n")))

    def _lines(self, lines: list[str]) -> Iterator[str]:
        for line in lines:
            slot = next((slot for start, slot in _SLOTS.items() if line.startswith(start)), "")
            code = self.codes.get(slot, "")
            yield f"{code}{line}{_RESET}\n" if code else f"{line}\n"


def page(repo: Repo, text: str) -> None:
    """Shows the text until the person has seen enough."""
    command = find_pager(repo)
    if command in ("", "cat"):
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    env = {"LESS": "FRX", "LV": "-c", **os.environ}
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the pager
    try:
        ended = subprocess.run(("sh", "-c", command), input=text.encode(errors="replace"), env=env, check=False)
    finally:
        signal.signal(signal.SIGINT, before)
    if ended.returncode in _NOT_RUN:
        sys.stdout.write(text)
        sys.stdout.flush()


def find_pager(repo: Repo) -> str:
    """A shell command; empty: none."""
    own = _configured(repo, "pager.diff")
    if own in ("false", "no", "off", "0"):
        return ""
    if own not in (None, "true", "yes", "on", "1"):
        return own or ""
    for found in (os.environ.get("GIT_PAGER"), _configured(repo, "core.pager"), os.environ.get("PAGER")):
        if found is not None:
            return found
    return "less"


def _configured(repo: Repo, key: str) -> str | None:
    for scope in ("--global", "--system"):
        answer = repo.git("config", scope, "--get", key, check=False)
        if answer.ok:
            return answer.text
    return None
