"""The formats that there are, and which of them a record is in."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from paddock.insight.formats.chat import TauReader, looks_like_tau
from paddock.insight.formats.claude import ClaudeReader, looks_like_claude
from paddock.insight.formats.codex import CodexReader, looks_like_codex
from paddock.insight.formats.copilot import CopilotReader, looks_like_copilot
from paddock.insight.formats.gemini import GeminiReader, looks_like_gemini
from paddock.insight.formats.neutral import looks_neutral
from paddock.insight.formats.neutral_fields import RUN_FIELDS, RUN_NAMES
from paddock.insight.formats.neutral_reader import NeutralReader
from paddock.insight.formats.opencode import OpencodeReader, looks_like_opencode
from paddock.insight.formats.openinference import SpanReader
from paddock.insight.formats.packed import PackedReader, looks_packed
from paddock.insight.formats.qwen import QwenReader, looks_like_qwen
from paddock.insight.formats.reader import Record, RunReader
from paddock.insight.formats.spans import looks_like_spans
from paddock.insight.formats.swe_agent import looks_like_swe_agent
from paddock.insight.formats.terminal_bench import TerminalBenchReader, TrajectoryReader, looks_like_terminal_bench
from paddock.insight.formats.words import plain_key

AUTO = "auto"
NEUTRAL = "jsonl"
OWN_NAMES = 4
"""A record with so many fields under our own names is a neutral line, whatever else it looks like."""
LOOKED_AT = 20
_CONTAINERS = ("results", "runs", "trials", "simulations", "traces", "sessions", "trajectories", "data", "attempts")


@dataclass(frozen=True, slots=True)
class Format:
    """`is_stream`: a file is one run or a few, and a record means nothing alone. `shares` is a format some of whose
    records it has too."""

    name: str
    what: str
    looks_so: Callable[[Record], bool]
    reader: Callable[[str], RunReader]
    is_stream: bool = False
    shares: str = ""


PACKED = Format("packed", "conversations, one a record", looks_packed, PackedReader)
FORMATS: dict[str, Format] = {
    one.name: one
    for one in (
        Format(NEUTRAL, "neutral JSON lines, one run a line", looks_neutral, NeutralReader),
        Format("claude", "Claude Code: session files and stream-json", looks_like_claude, ClaudeReader, True),
        Format("codex", "codex: rollout files and `exec --json`", looks_like_codex, CodexReader, True),
        Format("opencode", "opencode: `run --format json` and `export`", looks_like_opencode, OpencodeReader, True),
        Format("gemini", "gemini: chat files and stream-json", looks_like_gemini, GeminiReader, True),
        Format("qwen", "qwen: chat files and stream-json", looks_like_qwen, QwenReader, True, "claude"),
        Format("copilot", "copilot: what it prints as JSON, and its events", looks_like_copilot, CopilotReader, True),
        Format("swe-agent", "SWE-agent and mini-SWE-agent trajectories", looks_like_swe_agent, TrajectoryReader),
        Format("openinference", "spans: OpenInference, OpenTelemetry, OTLP JSON", looks_like_spans, SpanReader),
        Format("terminal-bench", "Terminal-Bench results", looks_like_terminal_bench, TerminalBenchReader),
        Format("tau-bench", "tau-bench results", looks_like_tau, TauReader),
    )
}
_ORDER = (
    *(
        "openinference",
        "packed",
        "qwen",
        "claude",
        "codex",
        "opencode",
        "gemini",
        "copilot",
        "terminal-bench",
        "tau-bench",
    ),
    *("swe-agent", NEUTRAL),
)


def detect(record: Record) -> Format | None:
    if sum(name in record for name in RUN_FIELDS) >= OWN_NAMES and looks_neutral(record):
        return FORMATS[NEUTRAL]
    return next((one for name in _ORDER if (one := FORMATS.get(name, PACKED)).looks_so(record)), None)


def detect_within(stream: Format, record: Record) -> Format:
    """What a record is in that follows others of a stream. What nobody knows belongs to the stream; so does what has a
    type, unless another stream knows it."""
    if stream.looks_so(record):
        return stream
    found = detect(record)
    if found is None or found.name == stream.shares or ("type" in record and not found.is_stream):
        return stream
    return found


def records_in(record: Record) -> list[Record] | None:
    """Those of a document that holds several."""
    for name in _CONTAINERS:
        value = record.get(name)
        if isinstance(value, list) and value and isinstance(value[0], Mapping) and detect(value[0]) is not None:
            return [one for one in value if isinstance(one, Mapping)]
    return _runs_by_name(record)


def _runs_by_name(record: Record) -> list[Record] | None:
    """Of a document in which the name of a run, or of its task, is the key."""
    named: list[Record] = []
    for key, value in record.items():
        if not isinstance(value, Mapping) or (len(named) < LOOKED_AT and not _tells_a_run(value)):
            return None
        named.append({"run": key, "task": key, **value})
    return named if len(named) > 1 else None


def _tells_a_run(value: Record) -> bool:
    """A report of many runs has lists of those that did well."""
    told = [(field, one) for key, one in value.items() if (field := RUN_NAMES.get(plain_key(key)))]
    known = {field for field, one in told if field != "outcome" or not isinstance(one, list)}
    return "outcome" in known or len(known) > 1
