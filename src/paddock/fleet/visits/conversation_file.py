"""What a turn in a terminal has used, read from the file in which its engine keeps the conversation."""

from dataclasses import dataclass

from paddock.core.summary import TurnSummary, observe
from paddock.core.tasks.task import Attempt
from paddock.engines.protocol import Engine, Launch
from paddock.fleet.site import Site
from paddock.sessions.protocol import OutputReader, Turn

MOST_READS = 10_000


@dataclass
class ConversationFile:
    """Made when the turn is about to begin: a conversation that goes on has a file with what was before."""

    site: Site
    engine: Engine
    attempt: Attempt
    launch: Launch
    before: int = 0

    def note_start(self, session: str) -> None:
        reader = self._find(session) if session else None
        self.before = reader.size() if reader is not None else 0

    def read(self, session: str) -> TurnSummary | None:
        """None where the engine keeps none that can be read."""
        parser, reader = self.engine.session_parser(), self._find(session)
        if parser is None or reader is None:
            return None
        summary = TurnSummary()
        for _ in range(MOST_READS):
            for line in reader.read():
                entries = tuple(parser.feed(line.text.encode()))
                for entry in entries if line.offset >= self.before else ():
                    summary = observe(summary, entry)
            if reader.at_end:
                break
        for entry in parser.close():
            summary = observe(summary, entry)
        return summary

    def _find(self, session: str) -> OutputReader | None:
        """Of a conversation that has just begun, and whose name only its engine knows, the newest: in a fence there is
        no other."""
        pattern = self.launch.session_log
        if not pattern or (not session and self.attempt.fence in ("", "none")):
            return None
        turn = Turn(self.attempt.id, self.attempt.turn)
        return self.site.sessions.find_log(turn, pattern.replace("{session}", session or "*"))
