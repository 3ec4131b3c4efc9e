"""What the scripted agent remembers. Imported by scripted.py, so it is as light."""

import json
import os

from paddock.engines.scripted_plays import Step


class Conversation:
    """What is remembered between turns, in one small file; found only in the folder it began in, as with most CLIs."""

    def __init__(self, folder: str, session: str) -> None:
        self.path = os.path.join(folder, f"scripted-{session}.json")
        self.session = session
        self.script: list[Step] = []
        self.next = 0
        self.turn = 0

    def load(self, copied: str | None = None) -> bool:
        """With `copied`, that conversation goes on under this one's name, wherever it began."""
        path = os.path.join(os.path.dirname(self.path), f"scripted-{copied}.json") if copied else self.path
        try:
            with open(path, encoding="utf-8") as file:
                kept = json.load(file)
        except (OSError, ValueError):
            return False
        if not copied and kept.get("folder", os.getcwd()) != os.getcwd():
            return False
        self.script, self.next, self.turn = kept["script"], kept["next"], kept["turn"]
        return True

    def save(self) -> None:
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        with open(self.path + ".new", "w", encoding="utf-8") as file:
            kept = {"script": self.script, "next": self.next, "turn": self.turn, "folder": os.getcwd()}
            json.dump(kept, file)
        os.replace(self.path + ".new", self.path)


def new_session() -> str:
    text = os.urandom(16).hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))
