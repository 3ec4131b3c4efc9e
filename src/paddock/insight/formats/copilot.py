"""copilot: what `--output-format json` prints, and the events that it keeps of a session."""

from collections.abc import Iterator

from paddock.engines.copilot_json import CopilotParser
from paddock.engines.jsonline import Node
from paddock.insight.formats.assembly import RunAssembly
from paddock.insight.formats.entries import EntryTaker
from paddock.insight.formats.reader import Record
from paddock.insight.formats.words import read_time
from paddock.insight.trace import Trace

ENGINE = "copilot"
_KINDS = ("session.", "assistant.", "model.", "tool.execution_", "user.message")


def looks_like_copilot(record: Record) -> bool:
    kind = record.get("type")
    return isinstance(kind, str) and kind.startswith(_KINDS) and isinstance(record.get("data"), dict)


class CopilotReader:
    """A file is one run."""

    def __init__(self, name: str) -> None:
        self._run = RunAssembly(engine=ENGINE, ends_itself=True)
        self._name = name
        self._parser = CopilotParser()
        self._taker = EntryTaker(self._run)

    def take(self, record: Record, number: int) -> Iterator[Trace]:
        event, run = Node(record), self._run
        at = read_time(event.at("timestamp").value)
        run.hear(at)
        run.run = run.run or event.word("data", "sessionId")
        run.engine_version = run.engine_version or event.word("data", "copilotVersion")
        if event.word("type") == "model.call_start":
            run.model = event.word("data", "model") or run.model
            run.was_asked = True
        for entry in self._parser.read_event(event):
            self._taker.take(entry, at)
        return iter(())

    def close(self) -> Iterator[Trace]:
        for entry in self._parser.close():
            self._taker.take(entry, None)
        self._run.run = self._run.run or self._name
        yield self._run.finish()
