"""What `paddock show` tells of an attempt's work: where, which files and tools, what it used, how it failed."""

from collections.abc import Iterator, Mapping

from paddock.cli.amounts import money_words, token_words
from paddock.cli.text import cut
from paddock.core.events import StopRequested
from paddock.core.ids import harmless
from paddock.core.tasks.task import Attempt, Task
from paddock.core.tasks.vocabulary import USEFUL, Outcome
from paddock.fleet.attempts.evidence import Evidence, gather
from paddock.fleet.workspace import Workspace
from paddock.store.protocol import Query

GOOD_ENDS = USEFUL | {Outcome.UNCHANGED}
SHOWN_FILES = 8
SHOWN_TOOLS = 8
ERROR_LINES = 6
INDENT = " " * 10


def look_into(workspace: Workspace, task: Task) -> dict[str, Evidence]:
    """By attempt. An engine, a folder or a commit that is gone hides none of the rest."""

    return {attempt.id: gather(workspace.site, attempt) for attempt in task.attempts}


def stop_reasons(workspace: Workspace, task: Task) -> dict[str, str]:
    """By attempt: who asked for its end, and the words given with it."""
    found: dict[str, str] = {}
    for record in workspace.records(Query(task=task.id, kind=StopRequested.kind)):
        if isinstance(record.event, StopRequested) and record.attempt is not None:
            found[record.attempt] = f"by {record.actor}" + (f": {record.event.reason}" if record.event.reason else "")
    return found


def usage_words(attempt: Attempt) -> list[str]:
    """Tokens and cost; nothing of an attempt that has called no model yet."""
    tokens_in = attempt.input_tokens + attempt.cache_write_tokens + attempt.cache_read_tokens
    uncounted = attempt.uncounted_calls
    if not tokens_in and not attempt.output_tokens and not uncounted and attempt.cost_usd is None:
        return []
    if uncounted and not tokens_in and not attempt.output_tokens:
        return ["tokens and cost unknown"]
    tokens = f"{token_words(tokens_in, uncounted)} tokens in, {token_words(attempt.output_tokens, uncounted)} out"
    return [tokens, money_words(attempt.cost_usd, uncounted=0 if attempt.cost_usd is None else uncounted)]


def work_lines(attempt: Attempt, work: Evidence, stopped: str) -> Iterator[str]:
    for name, value in (
        ("worktree", work.worktree),
        ("files", _files(work)),
        ("tools", _tools(work)),
        ("stopped", stopped),
    ):
        if value:
            yield f"{INDENT}{name:<9} {cut(value, 200)}"
    if attempt.outcome is None or attempt.outcome in GOOD_ENDS:
        return
    if work.last_error and work.last_error not in attempt.reason:
        yield from _block("error", work.last_error.splitlines()[-ERROR_LINES:])
    if work.stderr:
        yield from _block("stderr", work.stderr)


def view_work(work: Evidence, stopped: str) -> dict[str, object]:
    """For `show --json`, beside the attempt's own figures."""
    return {
        "worktree": work.worktree or None,
        "files": [{"how": file.how, "path": file.path} for file in work.files],
        "tool_calls": dict(work.tools),
        "last_error": harmless(work.last_error),
        "stderr": [harmless(line) for line in work.stderr],
        "stopped": stopped,
    }


def view_all_work(works: Mapping[str, Evidence], stopped: Mapping[str, str]) -> dict[str, object]:
    return {attempt: view_work(work, stopped.get(attempt, "")) for attempt, work in works.items()}


def _files(work: Evidence) -> str:
    shown = ", ".join(f"{file.how} {file.path}" for file in work.files[:SHOWN_FILES])
    left = len(work.files) - SHOWN_FILES
    return f"{shown} and {left:,} more" if left > 0 else shown


def _tools(work: Evidence) -> str:
    shown = ", ".join(f"{tool} ×{count:,}" for tool, count in work.tools[:SHOWN_TOOLS])
    left = sum(count for _, count in work.tools[SHOWN_TOOLS:])
    return f"{shown} and {left:,} other calls" if left else shown


def _block(name: str, lines: Iterator[str] | tuple[str, ...] | list[str]) -> Iterator[str]:
    for number, line in enumerate(lines):
        yield f"{INDENT}{name if not number else '':<9} {cut(line, 200)}"
