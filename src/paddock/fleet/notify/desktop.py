"""Notifications on the desktop of whoever runs the fleet, with a program that is there anyway."""

import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

Which = Callable[[str], str | None]
_SCRIPT = (
    "on run argv",
    "display notification (item 2 of argv) with title (item 1 of argv)",
    "end run",
)
_MARKUP = str.maketrans({"&": "＆", "<": "‹", ">": "›"})
"""Desktops read the body as markup, or do not: letters that look alike mean nothing to either."""


@dataclass(frozen=True, slots=True)
class Desktop:
    """`program` shows notifications here; empty where none can, and `why` tells the reason."""

    program: str = ""
    why: str = ""

    def argv(self, title: str, body: str) -> tuple[str, ...]:
        words = (title.translate(_MARKUP), body.translate(_MARKUP))
        if Path(self.program).name == "osascript":
            script = [part for line in _SCRIPT for part in ("-e", line)]
            return (self.program, *script, "--", *words)
        return (self.program, "--app-name=Paddock", "--", *words)


def find_desktop(environment: Mapping[str, str], which: Which = shutil.which, platform: str = sys.platform) -> Desktop:
    """A graphical session of this user, on this machine."""
    if environment.get("CI"):
        return Desktop(why="this is CI")
    if environment.get("SSH_CONNECTION") or environment.get("SSH_TTY"):
        return Desktop(why="this is a remote session")
    if platform == "darwin":
        found = which("osascript")
        return Desktop(found) if found else Desktop(why="osascript is not on PATH")
    if not environment.get("WAYLAND_DISPLAY") and not environment.get("DISPLAY"):
        return Desktop(why="there is no graphical session")
    bus = Path(environment.get("XDG_RUNTIME_DIR") or "/nonexistent") / "bus"
    if not environment.get("DBUS_SESSION_BUS_ADDRESS") and not bus.exists():
        return Desktop(why="the graphical session has no D-Bus")
    found = which("notify-send")
    return Desktop(found) if found else Desktop(why="notify-send is not on PATH (package libnotify-bin or libnotify)")
