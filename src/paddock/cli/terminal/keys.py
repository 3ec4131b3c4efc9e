"""One key of a person at a terminal."""

import os
import sys
import termios
import tty

_MOST_BYTES = 32
"""More than the longest sequence that one key sends."""


def ask_key(question: str) -> str:
    """The key that was pressed, in lower case; empty if the terminal is gone. What was typed before the question could
    be read is thrown away: nobody can have meant it as the answer."""
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    try:
        tty.setcbreak(descriptor, termios.TCSAFLUSH)
        sys.stdout.write(question)
        sys.stdout.flush()
        try:
            pressed = os.read(descriptor, _MOST_BYTES).decode(errors="replace")[:1]
        except OSError:
            pressed = ""
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
    sys.stdout.write(f"{pressed if pressed.isprintable() else ''}\n")
    sys.stdout.flush()
    return pressed.lower()
