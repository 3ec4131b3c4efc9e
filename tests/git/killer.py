"""A git that dies by SIGKILL at one of its calls: before it did anything, or after all of it, its answer unheard.

A wrapper on PATH, so that every git of the process under test passes through it, and of those it starts.
"""

import os
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path

# `mkdir` counts: of several calls at once each gets a number of its own.
_WRAPPER = """\
#!/bin/sh
here={here}
case "$*" in {pattern}) ;; *) exec {git} "$@" ;; esac
number=1
while ! mkdir "$here/calls/$number" 2>/dev/null; do number=$((number + 1)); done
case " {deadly} " in
*" $number "* | *" all "*)
    {before}
    kill -9 $$ ;;
esac
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
        return len(list((self.folder / "calls").iterdir()))

    def arm(self, *numbers: int | str, pattern: str = "*", before: str = ":", after: bool = False) -> None:
        """Of the calls from now on that match `pattern`, those with these numbers die; `all` is every one.

        `before` is done first; with `after`, the real git runs to its end and is not heard.
        """
        calls = self.folder / "calls"
        shutil.rmtree(calls, ignore_errors=True)
        calls.mkdir(parents=True)
        real = shlex.quote(str(shutil.which("git", path=os.environ["PATH"].replace(str(self.folder), ""))))
        text = _WRAPPER.format(
            here=shlex.quote(str(self.folder)),
            git=real,
            pattern=pattern,
            deadly=" ".join(map(str, numbers)),
            before=f'{real} "$@" >/dev/null' if after else before,
        )
        draft = self.folder / "git.new"
        draft.write_text(text)
        draft.chmod(0o755)
        os.replace(draft, self.folder / "git")
