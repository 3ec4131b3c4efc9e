"""Conversations that were collected, one a record: the records of each as a list, and what else is known beside it."""

from collections.abc import Callable, Iterator, Mapping

from msgspec.structs import replace

from paddock.insight.formats.claude import ClaudeReader, looks_like_claude
from paddock.insight.formats.codex import CodexReader, looks_like_codex
from paddock.insight.formats.gemini import GeminiReader, looks_like_gemini
from paddock.insight.formats.neutral import read_neutral
from paddock.insight.formats.opencode import OpencodeReader, looks_like_opencode
from paddock.insight.formats.qwen import QwenReader, looks_like_qwen
from paddock.insight.formats.reader import ConversationReader, NotARun, Record
from paddock.insight.trace import EndState, Result, Trace

_LISTS = ("events", "transcript", "records", "lines", "entries", "messages", "items", "trajectory", "session", "log")
_LOOKED_AT = 30
_READERS: tuple[tuple[Callable[[Record], bool], Callable[[str], ConversationReader]], ...] = (
    (looks_like_qwen, QwenReader),
    (looks_like_claude, ClaudeReader),
    (looks_like_codex, CodexReader),
    (looks_like_opencode, OpencodeReader),
    (looks_like_gemini, GeminiReader),
)
_NAMES = ("run", "task", "kind", "label", "host", "account", "model", "engine_version")


def looks_packed(record: Record) -> bool:
    return _packed_in(record) is not None


def _packed_in(record: Record) -> tuple[str, Callable[[str], ConversationReader]] | None:
    """The field that has the records, and who reads them."""
    for name in _LISTS:
        value = record.get(name)
        if not isinstance(value, list):
            continue
        for one in value[:_LOOKED_AT]:
            if isinstance(one, dict):
                for looks_so, reader in _READERS:
                    if looks_so(one):
                        return name, reader
    return None


class PackedReader:
    def __init__(self, name: str) -> None:
        self._name = name

    def take(self, record: Record, number: int) -> Iterator[Trace]:
        found = _packed_in(record)
        if found is None:
            raise NotARun("has no conversation in it")
        field, make = found
        reader = make(f"{self._name}:{number}")
        runs: list[Trace] = []
        events = record[field]
        for one in events if isinstance(events, list) else ():
            if isinstance(one, Mapping):
                runs += reader.take(one, number)
        runs += reader.close()
        if not runs:
            raise NotARun("has no message of a conversation")
        beside = {name: value for name, value in record.items() if name != field}
        meta = beside.pop("meta", None)
        if isinstance(meta, Mapping):
            beside = {**meta, **beside}
        whole = runs[0] if len(runs) == 1 else max(runs, key=lambda run: len(run.steps))
        yield _with(whole, beside, number)

    def close(self) -> Iterator[Trace]:
        return iter(())


def _with(run: Trace, beside: Mapping[str, object], number: int) -> Trace:
    """What is said beside it wins where the conversation cannot know it."""
    told = read_neutral(beside, number)
    names = {name: value for name in _NAMES if (value := getattr(told, name)) and name not in ("run", "model")}
    if not told.run.startswith("line "):
        names["run"] = told.run
    if told.model and not run.model:
        names["model"] = told.model
    return replace(
        run,
        **names,
        outcome=told.outcome if told.outcome is not Result.UNKNOWN else run.outcome,
        end_state=told.end_state if told.end_state is not EndState.UNKNOWN else run.end_state,
        error=told.error or run.error,
        tests=told.tests or run.tests,
        facts=told.facts,
        attributes={**told.attributes, **run.attributes},
    )
