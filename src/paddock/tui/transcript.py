"""A turn as lines of a screen: what was asked, what was said and done, with times."""

import time
from collections.abc import Iterator

from rich.text import Text

from paddock.core import trace
from paddock.fleet.attempts.excerpts import Excerpt
from paddock.fleet.attempts.openings import Opening
from paddock.tui.style import safe

TEXT_LINES = 60
"""Of one thing that was said: the rest is told by number, and `paddock tail` has it."""
ASKED_LINES, ASKED_CHARS = 4, 300
RESULT_LINES = 4
_MARGIN = " " * 9


def opening_lines(attempt: str, turn: int, opening: Opening | None) -> list[Text]:
    at = f" at {_clock(opening.at)}" if opening is not None else ""
    lines = [Text(f"── {attempt} turn {turn}{at}", "bold")]
    for one in opening.said if opening is not None else ():
        lines.append(Text(f"{safe(one.what, 40)} from {safe(one.by, 60)}:", "dim"))
        lines += [Text(f"│ {safe(line, ASKED_CHARS)}") for line in _cut(one.text, ASKED_LINES)]
    return lines


def excerpt_lines(part: Excerpt) -> list[Text]:
    lines = [Text("… earlier steps: paddock tail has all of them", "dim")] if part.more_before else []
    for placed in part.entries:
        lines += _stamped(placed.at, _entry_lines(placed.entry))
    for entry in part.aside:
        lines += _stamped(None, _entry_lines(entry))
    if part.unfinished.strip():
        lines += [Text(f"{_MARGIN}{line} …", "dim") for line in _cut(part.unfinished.strip(), 8)]
    return lines


def _entry_lines(entry: trace.TraceEntry) -> Iterator[Text]:
    match entry:
        case trace.SessionStarted(session_id=session, model=model) if session:
            yield Text(safe(f"── session {session[:40]} {model[:40]}"), "dim")
        case trace.Text(text=text):
            yield from map(Text, _cut(text, TEXT_LINES))
        case trace.ToolCall(tool=tool, argument=argument):
            yield Text.assemble((f"▸ {safe(tool, 30)}", "cyan"), f" {safe(' '.join(argument.split()), 400)}")
        case trace.FileEdit(diff=diff):
            for line in _cut(diff, TEXT_LINES):
                yield Text(f"    {line}", {"+": "green", "-": "red"}.get(line[:1], "dim"))
        case trace.ToolResult(status=status, output=output):
            yield from _result_lines(status, output)
        case trace.Usage(tokens=tokens):
            cost = f", ${tokens.cost_usd:.4f}" if tokens.cost_usd is not None else ""
            yield Text(f"  {tokens.input_total:,} tokens in, {tokens.output:,} out{cost}", "dim")
        case trace.RateLimited(kind=kind, message=message):
            yield from (Text(f"! {kind.value}: {line}", "yellow") for line in _cut(message, 4) or [""])
        case trace.Error(message=message):
            yield from (Text(f"! {line}", "red") for line in _cut(message, TEXT_LINES))
        case trace.End(success=success, reason=reason):
            yield Text(f"── {'done' if success else 'failed'}: {safe(reason, 400)}".rstrip(": "), "bold")
        case _:
            return


def _result_lines(status: trace.ToolStatus, output: str) -> Iterator[Text]:
    """The first line of a success; the last lines of a failure, where the reason is."""
    lines = output.strip().splitlines()
    if status is trace.ToolStatus.OK:
        more = f"  (+{len(lines) - 1} lines)" if len(lines) > 1 else ""
        yield Text(f"  ok: {safe(lines[0], 300) if lines else ''}{more}".rstrip(": "), "dim")
        return
    yield Text(f"  {status.value}:", "red")
    yield from (Text(f"    {safe(line, 400)}", "red") for line in lines[-RESULT_LINES:])


def _cut(text: str, most: int) -> list[str]:
    lines = [safe(line) for line in text.expandtabs(4).split("\n")[: most + 1]]
    if len(lines) <= most:
        return lines
    return [*lines[:most], f"… {text.count(chr(10)) + 1 - most:,} more lines"]


def _stamped(at: float | None, lines: Iterator[Text]) -> Iterator[Text]:
    for number, line in enumerate(lines):
        first = f"{_clock(at)} " if at is not None and not number else _MARGIN
        yield Text.assemble((first, "dim"), line)


def _clock(at: float) -> str:
    return time.strftime("%H:%M:%S", time.localtime(at))
