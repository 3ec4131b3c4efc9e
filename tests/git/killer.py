"""A git that dies by SIGKILL at some of its calls: before it did anything, or after all of it, its answer unheard.

A wrapper on PATH, so that every git of the process under test passes through it, and of those it starts.
"""

import os
import re
import shlex
import shutil
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

OURS = "*core.hooksPath=/dev/null*"
"""Calls of Paddock's, not of agents."""
_PLAIN = re.compile("[a-z:-]+")
_WRAPPER = """\
#!/bin/sh
case "$*" in {pattern}) ;; *) exec {git} "$@" ;; esac
printf x >> {calls}
printf '%s\\0' "$*" >> {heard}
number=$(wc -c < {calls})
if [ {deadly} ]; then
    printf '%s\\0' "$*" >> {killed}
    {before}
    kill -9 $$
fi
exec {git} "$@"
"""


@dataclass(frozen=True, slots=True)
class GitKiller:
    folder: Path

    @property
    def path(self) -> str:
        """The PATH with this git first."""
        return f"{self.folder}{os.pathsep}{os.environ['PATH']}"

    @property
    def calls(self) -> int:
        return (self.folder / "calls").stat().st_size

    @property
    def heard(self) -> set[str]:
        """A pattern for each kind of calls that came, however often this one was armed."""
        return _kinds(self.folder / "heard")

    @property
    def killed(self) -> set[str]:
        """The same for those that died."""
        return _kinds(self.folder / "killed")

    def arm(self, *numbers: int, pattern: str = "*", before: str = ":", after: bool = False) -> None:
        """Of the calls from now on that match `pattern`, those with these numbers die.

        `before` is done first; with `after`, the real git runs to its end and is not heard.
        """
        self._arm(" -o ".join(f"$number -eq {number}" for number in numbers) or "", pattern, before, after)

    def arm_always(self, pattern: str = "*") -> None:
        self._arm("1 -eq 1", pattern, ":", after=False)

    def arm_every(self, stride: int, first: int, pattern: str = OURS, after: bool = False) -> None:
        """The call `first`, and then about every one that comes `stride` later, out of step with what is repeated."""
        self._arm(f"$((number % {2 * stride + 1} % {stride})) -eq {first % stride}", pattern, ":", after)

    def _arm(self, deadly: str, pattern: str, before: str, after: bool) -> None:
        self.folder.mkdir(exist_ok=True)
        (self.folder / "calls").write_bytes(b"")
        elsewhere = os.environ["PATH"].replace(str(self.folder), "")
        real = shlex.quote(str(shutil.which("git", path=elsewhere)))
        text = _WRAPPER.format(
            git=real,
            pattern=pattern,
            **{name: shlex.quote(str(self.folder / name)) for name in ("calls", "heard", "killed")},
            deadly=deadly or "1 -eq 0",
            before=f'{real} "$@" >/dev/null' if after else before,
        )
        draft = self.folder / "git.new"
        draft.write_text(text)
        draft.chmod(0o755)
        os.replace(draft, self.folder / "git")


def _kinds(calls: Path) -> set[str]:
    return {_kind(call) for call in calls.read_text().split("\0")[:-1]} if calls.exists() else set()


def _kind(call: str) -> str:
    """The command, and those of its words that are the same in every life."""
    words = call.split()
    while words[0].startswith("-"):
        del words[: 2 if words[0] in ("-C", "-c") else 1]
    plain = [word if _PLAIN.fullmatch(word) else "*" for word in words]
    return f"{OURS}\\ " + "\\ ".join(word for word, _ in groupby(plain))
