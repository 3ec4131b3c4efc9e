"""codex: the rollout that it keeps of a conversation, and what `codex exec --json` prints."""

from collections.abc import Iterator

from paddock.engines.codex_jsonl import CodexParser
from paddock.engines.codex_session import CodexSessionParser
from paddock.engines.jsonline import Node
from paddock.insight.formats.assembly import RunAssembly
from paddock.insight.formats.entries import EntryTaker
from paddock.insight.formats.reader import Record
from paddock.insight.formats.words import read_time
from paddock.insight.trace import Trace

ENGINE = "codex"
_PRINTED = ("thread.", "turn.", "item.")
_KEPT = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "token_usage_record", "compacted"})
_TELLING = frozenset({"thread_id", "item", "usage", "error"})


def looks_like_codex(record: Record) -> bool:
    kind = record.get("type")
    if not isinstance(kind, str):
        return False
    if kind in _KEPT:
        return isinstance(record.get("payload"), dict)
    return kind.startswith(_PRINTED) and bool(
        {"thread_id", "item", "usage", "error"} & record.keys() or kind == "turn.started"
    )


class CodexReader:
    """A `thread.started` begins a run, and so does a `session_meta` that is younger than what came before it: in a
    conversation that was forked, an older one is that of the original."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._run: RunAssembly | None = None

    def take(self, record: Record, number: int) -> Iterator[Trace]:
        event = Node(record)
        kind, at = event.word("type"), read_time(event.at("timestamp").value)
        if self._run is None or kind == "thread.started" or (kind == "session_meta" and self._is_new(event, at)):
            yield from self.close()
            self._begin(printed=kind.startswith(_PRINTED))
        run = self._run
        assert run is not None
        if looks_like_codex(record):
            # What nobody knows may be another conversation's, mixed with this one.
            run.hear(at)
        self._name_run(event, kind)
        run.reasoning = _reasoning(event) or run.reasoning
        for entry in self._parser.read_event(event):
            self._taker.take(entry, at)

    def close(self) -> Iterator[Trace]:
        run, self._run = self._run, None
        if run is not None and not (run.is_empty and not run.run):
            run.run = run.run or self._name
            if run.is_working:
                run.end_state = None
                run.attributes.setdefault("end", "in the middle of its work")
            yield run.finish()

    def _begin(self, *, printed: bool) -> None:
        self._run = RunAssembly(engine=ENGINE, ends_itself=True)
        self._parser: CodexParser = CodexParser() if printed else CodexSessionParser()
        self._taker = EntryTaker(self._run)

    def _is_new(self, event: Node, at: float | None) -> bool:
        run = self._run
        if run is None or not run.run or event.word("payload", "id") == run.run:
            return run is None
        began = read_time(event.at("payload", "timestamp").value) or at
        return began is None or run.ended is None or began >= run.ended

    def _name_run(self, event: Node, kind: str) -> None:
        run, payload = self._run, event.at("payload")
        assert run is not None
        if kind == "session_meta" and not run.engine_version:
            run.engine_version = payload.word("cli_version")
            run.folder = payload.text("cwd")
            run.attributes.update(
                {name: value for name in ("cwd", "originator", "model_provider") if (value := payload.word(name))}
            )
        elif kind == "turn_context":
            run.model = payload.word("model") or run.model
            if effort := payload.word("effort"):
                run.attributes["effort"] = effort


def _reasoning(event: Node) -> int:
    """The total that was told last."""
    total = event.at("payload", "info", "total_token_usage").count("reasoning_output_tokens")
    return total or event.at("usage").count("reasoning_output_tokens")
