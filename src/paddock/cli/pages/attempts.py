"""What `paddock show` says about an attempt's work: where, which files and tools, what it used, how it failed."""

from collections.abc import Iterator

from paddock.cli.terminal.amounts import money_words, token_words
from paddock.cli.terminal.text import cut
from paddock.core.intent.obstacles import since_words
from paddock.core.tasks.task import Attempt
from paddock.core.tasks.vocabulary import USEFUL, Outcome
from paddock.fleet.attempts.evidence import Evidence

GOOD_ENDS = USEFUL | {Outcome.UNCHANGED}
SHOWN_FILES = 8
SHOWN_TOOLS = 8
ERROR_LINES = 6
INDENT = " " * 10


def usage_words(attempt: Attempt) -> list[str]:
    """Tokens and cost; empty for an attempt that has not called a model yet."""
    tokens_in = attempt.input_tokens + attempt.cache_write_tokens + attempt.cache_read_tokens
    uncounted = attempt.uncounted_calls
    if not tokens_in and not attempt.output_tokens and not uncounted and attempt.cost_usd is None:
        return []
    if uncounted and not tokens_in and not attempt.output_tokens:
        return ["tokens and cost unknown"]
    tokens = f"{token_words(tokens_in, uncounted)} tokens in, {token_words(attempt.output_tokens, uncounted)} out"
    return [tokens, money_words(attempt.cost_usd, uncounted=0 if attempt.cost_usd is None else uncounted)]


def work_lines(attempt: Attempt, work: Evidence, stopped: str) -> Iterator[str]:
    hold = attempt.held
    for name, value in (
        ("held", f"by {hold.by} since {since_words(hold.since)}" if hold is not None else ""),
        ("worktree", work.worktree),
        ("fence", attempt.fence),
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
