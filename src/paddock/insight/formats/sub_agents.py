"""Claude's files of sub-agents, `agent-ID.jsonl`, and the conversations that they are parts of."""

from itertools import islice
from pathlib import Path

from paddock.insight.formats.decode import NotJson, decode_json
from paddock.insight.formats.lines import NotReadable, open_bytes, split_lines

_PATTERN = "agent-*.jsonl"
MOST_PARTS = 1_000


class SubAgentFiles:
    """What is found is remembered while one import goes on."""

    def __init__(self) -> None:
        self._folders: dict[Path, dict[str, tuple[Path, ...]]] = {}

    def parts_of(self, file: Path) -> tuple[Path, ...]:
        """Those of a conversation, in the order of their names: in a folder of its own, or beside it."""
        if file.suffix != ".jsonl" or file.match(_PATTERN):
            return ()
        own = sorted((file.with_suffix("") / "subagents").glob(_PATTERN))
        beside = self._by_session(file.parent).get(file.stem, ())
        return tuple([*own, *beside][:MOST_PARTS])

    def is_part(self, file: Path) -> bool:
        """Whether it is read together with the conversation that it belongs to."""
        if not file.match(_PATTERN):
            return False
        if file.parent.name == "subagents":
            return file.parent.parent.with_suffix(".jsonl").is_file()
        sessions = self._by_session(file.parent).items()
        return any(file in parts and (file.parent / f"{session}.jsonl").is_file() for session, parts in sessions)

    def _by_session(self, folder: Path) -> dict[str, tuple[Path, ...]]:
        """The files of sub-agents in a folder, by the conversation that each names in its first line."""
        if folder not in self._folders:
            found: dict[str, tuple[Path, ...]] = {}
            for file in sorted(folder.glob(_PATTERN)):
                if session := _session_of(file):
                    found[session] = (*found.get(session, ()), file)
            self._folders[folder] = found
        return self._folders[folder]


def _session_of(file: Path) -> str:
    try:
        for line in islice(split_lines(open_bytes(file)), 1):
            record = decode_json(line.data or b"{}")
            session = record.get("sessionId") if isinstance(record, dict) else None
            return session if isinstance(session, str) else ""
    except (OSError, NotReadable, NotJson):
        pass
    return ""
