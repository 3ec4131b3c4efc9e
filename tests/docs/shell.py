"""A shell that plays the transcripts of the documentation, as a person on a fresh machine would."""

import os
import re
import subprocess
import sys
from pathlib import Path
from types import TracebackType

from paddock.sessions.bubblewrap import fencing_ability
from tests.docs.markdown import Command

_END = "--end-of-command--"

# What differs from one machine, day or run to the next, and what is as good.
_VARYING = (
    (r"pid \d+ on \S+,", r"pid \\d+ on \\S+,"),
    (r"\d{4}-\d\d-\d\d", r"\\d{4}-\\d\\d-\\d\\d"),
    (r"\d\d:\d\d:\d\d", r"\\d\\d:\\d\\d:\\d\\d"),
    (r"\b(?=[a-f]*\d)[0-9a-f]{7,40}\b", r"[0-9a-f]{7,40}"),
    (r"\b\d+[smhd]\b", r"\\d+[smhd]"),
    (r"/tmp/", r"/\\S*"),
    (r"\.paddock/w\d+", r"\\.paddock/w\\d+"),
    (r"\b\d+ records", r"\\d+ records"),
    (r"fence     files", r"fence     (files|none)"),
    (r"fence: files", r"(fence: files|no fence)"),
    (r"\bCI run r\d+", r"CI run r\\d+"),
    ("…", ".*"),
)


class Shell:
    """One bash for a whole page. `paddock` is on its PATH and its HOME is empty."""

    def __init__(self, folder: Path) -> None:
        tools, home = folder / "bin", folder / "home"
        self.place = folder / "work"
        for path in (tools, home, self.place):
            path.mkdir()
        script = tools / "paddock"
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m paddock "$@"\n')
        script.chmod(0o755)
        env = {
            "PATH": f"{tools}:{os.environ['PATH']}",
            "HOME": str(home),
            "USER": "you",
            "LANG": "C.UTF-8",
            "GIT_CONFIG_NOSYSTEM": "1",
            # `init` says where there is none; the pages show a machine that has one.
            **({"PADDOCK_FENCE_LEVEL": "none", "PADDOCK_LAND_FENCE": "none"} if fencing_ability().problem else {}),
        }
        self._process = subprocess.Popen(
            ["bash", "--norc", "--noprofile"],
            cwd=self.place,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
        )

    def __enter__(self) -> "Shell":
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        for log in self.place.glob("*/.git/paddock"):
            self.type(f"paddock -C '{log.parent.parent}' down --now")
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(timeout=20)
        self._process.stdout.close()

    def type(self, text: str) -> list[str]:
        """What is printed until the command has ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{text}\necho {_END}\n")
        self._process.stdin.flush()
        lines = []
        for line in self._process.stdout:
            if line.rstrip("\n").endswith(_END):
                break
            lines.append(line.rstrip("\n").rstrip())
        return lines


def as_promised(command: Command, printed: list[str]) -> bool:
    """Line by line; a line `…` stands for any number of lines."""
    parts = []
    for line in command.output:
        parts.append("(?:.*\n)*" if line == "…" else f"{_pattern(line)}\n")
    return re.fullmatch("".join(parts), "".join(f"{line}\n" for line in printed)) is not None


def _pattern(line: str) -> str:
    pieces = [line]
    for varying, instead in _VARYING:
        cut: list[str] = []
        for index, piece in enumerate(pieces):
            # Odd pieces are patterns already.
            cut += [piece] if index % 2 else _cut(piece, varying, instead)
        pieces = cut
    return "".join(piece if index % 2 else re.escape(piece) for index, piece in enumerate(pieces))


def _cut(text: str, varying: str, instead: str) -> list[str]:
    """Text, pattern, text, …: always an odd number of pieces."""
    plain = re.split(varying, text)
    return [piece for part in plain for piece in (part, instead.replace("\\\\", "\\"))][:-1]
