"""The page about importing traces: its tables are made by the code that reads them."""

from collections.abc import Collection, Mapping
from pathlib import Path

from paddock.insight.formats.bounds import MOST_ATTRIBUTES, MOST_CALLS, MOST_STEPS
from paddock.insight.formats.decode import PLAIN_BYTES
from paddock.insight.formats.detection import FORMATS
from paddock.insight.formats.lines import LONGEST_LINE
from paddock.insight.formats.neutral_fields import CALL_FIELDS, FACT_FIELDS, RUN_FIELDS, STEP_FIELDS
from paddock.insight.formats.words import (
    END_WORDS,
    FAILURE_WORDS,
    STEP_DENIED_WORDS,
    STEP_OK_WORDS,
    STEP_UNKNOWN_WORDS,
    SUCCESS_WORDS,
)
from paddock.insight.phases import Phase
from paddock.insight.trace import TAIL_LINES

PAGE = Path(__file__).with_name("trace_page.md")
EXAMPLE = (
    '{"run": "r-17", "task": "fix-login", "kind": "bugfix", "engine": "claude", "model": "claude-opus-5",'
    ' "label": "nightly", "host": "ci-3", "account": "team-a", "started": "2026-11-15T10:00:00Z",'
    ' "ended": "2026-11-15T10:06:30Z", "outcome": "failure", "end_state": "timeout",'
    ' "error": "agent timed out after 390s", "usage": {"input_tokens": 90, "cache_read_input_tokens": 48000,'
    ' "cache_creation_input_tokens": 9000, "output_tokens": 2100, "cost_usd": 0.41}, "steps": ['
    '{"tool": "Read", "target": "src/login.py", "time": "2026-11-15T10:00:05Z"},'
    ' {"tool": "Bash", "argument": "pytest -q tests/test_login.py", "status": "error", "exit": 1,'
    ' "error": "1 failed, 11 passed", "time": "2026-11-15T10:01:40Z", "seconds": 4.2}],'
    ' "tests": {"test_login": false, "test_logout": true}}'
)
RUN_ABOUT = {
    "run": "the name of the run",
    "task": "what it was to do; the same for runs that were to do the same, which are then compared as pairs",
    "kind": "the sort of task",
    "agent": "the agent's role",
    "engine": "the agent's program",
    "engine_version": "its version",
    "model": "the model",
    "label": "the batch",
    "host": "the machine it ran on",
    "account": "the account that it used at the provider",
    "started": "when it started",
    "ended": "when it ended",
    "outcome": "whether it did what it was for: see below",
    "end_state": "how it ended: see below",
    "error": "what its harness, its provider or its environment said of the failure",
    "tail": "the last lines before its end: of its terminal, or of its log",
    "model_spoke": "whether any call of a model was seen",
    "usage": "tokens and cost: see below",
    "reasoning_tokens": "output that was reasoning",
    "cost_source": "`told`, `priced` or `estimated`; `told` where a cost is given",
    "startup_tokens": "all that the first call of the model read",
    "startup_cached": "those of them that a cache had",
    "waited_seconds": "how long it waited for a provider that refused",
    "model_calls": "how many calls of the model were answered",
    "steps": "its calls of tools, in order: see below",
    "calls": "its calls of the model: see below",
    "facts": "what git and the gate say of the work: see below",
    "tests": "results of hidden tests by name, or a list of objects with `name` and `passed`, or lists of names under"
    " `passed` and `failed`",
    "source": "where it is from; the file and line where nothing is said",
    "attributes": "anything else, as an object",
    "as_exported": "`true` in what `paddock traces export` writes: nothing that is left out follows from the rest",
}
STEP_ABOUT = {
    "tool": "the tool's name",
    "activity": "what the step does, if you know better than the tables",
    "target": "the file, or the first words of the command",
    "argument": "what the tool was called with: a command, a path, or an object of arguments",
    "status": "whether it went well: see below",
    "success": "the same as a boolean",
    "is_error": "the opposite as a boolean",
    "error": "what a failed step said",
    "output": "what the tool gave back",
    "exit": "the exit status",
    "at": "when it began",
    "seconds": "how long it took, in seconds",
    "milliseconds": "how long it took, in milliseconds",
    "agent": "the sub-agent that made the call",
    "turn": "the number of the turn",
}
CALL_ABOUT = {
    "id": "the provider's name for the answer",
    "model": "the model that answered",
    "usage": "its tokens, as above",
    "at": "when it was made",
    "seconds": "how long it took",
    "status": "the HTTP status of a call that was refused",
    "retry_after": "how many seconds the provider asked to wait",
}
FACT_ABOUT = {
    "files": "the files that were changed",
    "insertions": "lines added",
    "deletions": "lines removed",
    "tests_added": "tests added",
    "tests_deleted": "tests deleted",
    "tests_skipped": "tests that are skipped now",
    "asserts_removed": "assertions removed",
    "verified_last_edit": "whether tests ran after the last edit",
    "tests_run": "how often tests were run",
    "no_verify": "whether hooks were bypassed",
    "force_push": "whether a branch was pushed by force",
    "new_dependency": "whether a dependency was added",
    "outside": "changed files outside the paths that the task was given; `[]` for none, or only whether or how many",
    "ci": "changed files that define CI, told in the same ways",
    "gate": "`green` or `red`",
    "diff": "a digest of the whole patch",
}


def lines(made: str) -> list[str]:
    tables = {
        "MADE": made,
        "EXAMPLE": EXAMPLE,
        "FORMATS": "\n".join(f"| `{one.name}` | {one.what} |" for one in FORMATS.values()),
        "RUN_FIELDS": _fields(RUN_FIELDS, RUN_ABOUT),
        "STEP_FIELDS": _fields(STEP_FIELDS, STEP_ABOUT),
        "CALL_FIELDS": _fields(CALL_FIELDS, CALL_ABOUT),
        "FACT_FIELDS": _fields(FACT_FIELDS, FACT_ABOUT),
        "OUTCOMES": _words({"success": SUCCESS_WORDS, "failure": FAILURE_WORDS}),
        "ENDS": _words({state.value: words.split() for state, words in END_WORDS.items()}),
        "STATUSES": _words({"ok": STEP_OK_WORDS, "denied": STEP_DENIED_WORDS, "unknown": STEP_UNKNOWN_WORDS}),
        "PHASES": ", ".join(f"`{phase}`" for phase in Phase),
        "LINE_MB": str(LONGEST_LINE >> 20),
        "PLAIN_MB": str(PLAIN_BYTES >> 20),
        "STEPS": f"{MOST_STEPS:,}",
        "CALLS": f"{MOST_CALLS:,}",
        "TAIL_LINES": str(TAIL_LINES),
        "ATTRIBUTES": str(MOST_ATTRIBUTES),
    }
    page = PAGE.read_text("utf-8")
    for name, text in tables.items():
        page = page.replace(f"{{{name}}}", text)
    return page.split("\n")


def _fields(fields: Mapping[str, str], about: Mapping[str, str]) -> str:
    rows = (f"| `{name}` | {about[name]} | {_quoted(others.split())} |" for name, others in fields.items())
    return "\n".join(rows)


def _words(words: Mapping[str, Collection[str]]) -> str:
    """In the order of the code where it has one."""
    rows = ((name, known if isinstance(known, list) else sorted(known)) for name, known in words.items())
    return "\n".join(f"| `{name}` | {_quoted(known)} |" for name, known in rows)


def _quoted(words: Collection[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)
