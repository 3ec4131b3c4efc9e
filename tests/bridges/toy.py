"""A small terminal program in the manner of agent CLIs, for tests of what drives them: python toy.py LOG [FLAGS].

It takes pasted and typed words, appends what was said to LOG in the format of claude's session files, and does what a
message asks: `work`, or TOY-WORK anywhere, shows that it is busy until the file LOG.go is there, `ask` opens a dialog,
`limit` fails as a provider's refusal does, `die` exits with status 7. `--trust` begins with a dialog; `--deaf` ignores
the first Enter.
"""

import json
import os
import select
import sys
import termios
import time
import tty
from pathlib import Path

LOG = Path(sys.argv[1])
FLAGS = sys.argv[2:]
OPTIONS = ("No, exit", "Yes, I trust this folder", "Yes, always")


class Toy:
    def __init__(self) -> None:
        self.text = ""
        self.mode = "trust" if "--trust" in FLAGS else "input"
        self.marked = 0
        self.deaf = "--deaf" in FLAGS
        self.said: list[str] = []
        self.queued: list[str] = []
        self.is_pasting = False

    def log(self, **entry: object) -> None:
        with LOG.open("a") as file:
            file.write(json.dumps({"sessionId": LOG.stem, **entry}) + "\n")

    def draw(self) -> None:
        rule = "─" * 60
        if self.mode in ("trust", "ask"):
            rows = [f" {'❯' if at == self.marked else ' '} {name}" for at, name in enumerate(OPTIONS)]
            body = [rule, " Is this a folder you trust?", "", *rows, "", " Enter to confirm · Esc to cancel"]
        else:
            first, *more = self.text.split("\n")
            body = [*self.said[-8:], *[f"queued: {words}" for words in self.queued], rule, f"❯ {first}"]
            body += [*(f"  {line}" for line in more), rule, "  esc to interrupt" if self.mode == "busy" else "  ready"]
        sys.stdout.write("\x1b[2J\x1b[H" + "\r\n".join(line[:70] for line in body[-20:]))
        sys.stdout.flush()

    def prompt(self, words: str) -> None:
        origin = {"kind": "human"}
        self.log(type="user", message={"role": "user", "content": words}, origin=origin)
        self.said.append(f"❯ {words[:40]}".replace("\n", " "))
        if words.startswith("work") or "TOY-WORK" in words:
            self.mode = "busy"
        elif words.startswith("ask"):
            self.mode, self.marked = "ask", 0
        elif words.startswith("limit"):
            self.answer("API Error: 429 rate limit", error="rate_limit")
        elif words.startswith("die"):
            sys.exit(7)
        else:
            self.answer("well")

    def answer(self, text: str, error: str = "") -> None:
        content = [{"type": "text", "text": text}]
        usage = {"input_tokens": 100, "output_tokens": 10}
        message = {"id": str(time.time()), "role": "assistant", "content": content, "stop_reason": "end_turn"}
        failed = {"isApiErrorMessage": True, "error": error, "apiErrorStatus": 429} if error else {}
        self.log(type="assistant", message={**message, "usage": usage}, **failed)
        self.said.append(f"● {text}")
        self.mode = "input"

    def press(self, key: str) -> None:
        if self.mode in ("trust", "ask"):
            self.choose(key)
        elif key == "enter":
            words, self.text = self.text, ""
            if self.deaf:
                self.deaf, self.text = False, words
            elif words.strip() and self.mode == "busy":
                self.queued.append(words)
            elif words.strip():
                self.prompt(words)
        elif key == "escape" and self.mode == "busy":
            content = [{"type": "text", "text": "[Request interrupted by user]"}]
            self.log(type="user", message={"role": "user", "content": content})
            self.mode = "input"
        elif len(key) == 1:
            self.text += key

    def choose(self, key: str) -> None:
        if key == "up":
            self.marked = max(0, self.marked - 1)
        elif key == "down":
            self.marked = min(len(OPTIONS) - 1, self.marked + 1)
        elif key == "enter":
            if self.mode == "trust" and self.marked == 0:
                sys.exit(1)
            was, self.mode = self.mode, "input"
            if was == "ask":
                self.answer(f"chose {OPTIONS[self.marked]}")

    def take(self, data: str) -> None:
        keys = {"\x1b[A": "up", "\x1b[B": "down", "\x1bOA": "up", "\x1bOB": "down", "\r": "enter"}
        while data:
            if data.startswith("\x1b[200~"):
                self.is_pasting, data = True, data[6:]
            elif data.startswith("\x1b[201~"):
                self.is_pasting, data = False, data[6:]
            elif self.is_pasting:
                self.text, data = self.text + data[0], data[1:]
            else:
                found = next((sequence for sequence in keys if data.startswith(sequence)), data[0])
                self.press(keys.get(found, "escape" if found == "\x1b" else found))
                data = data[len(found) :]

    def run(self) -> None:
        sys.stdout.write("\x1b[?2004h")
        self.draw()
        while True:
            ready, _, _ = select.select([0], [], [], 0.05)
            if ready:
                self.take(os.read(0, 65536).decode("utf-8", "replace"))
                self.draw()
            if self.mode == "busy" and LOG.with_suffix(".go").exists():
                self.answer("worked")
                if self.queued:
                    self.prompt(self.queued.pop(0))
                self.draw()


if __name__ == "__main__":
    saved = termios.tcgetattr(0)
    tty.setraw(0)
    try:
        Toy().run()
    finally:
        termios.tcsetattr(0, termios.TCSADRAIN, saved)
