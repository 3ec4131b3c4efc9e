"""A turn for people: what was asked, what was said and done, with times; partial answers as they are written."""

import time

from paddock.cli.terminal.text import cut, paint
from paddock.core import trace
from paddock.core.ids import harmless

TIME_WIDTH = 9
TEXT_CHARS = 2000
RESULT_LINES = 6
ERROR_LINES = 12


def render_entry(entry: trace.TraceEntry) -> str:
    match entry:
        case trace.SessionStarted(session_id=session, model=model) if session:
            return paint(f"── session {cut(session, 40)} {cut(model, 40)}".rstrip(), dim=True)
        case trace.Text(text=text):
            return "\n".join(cut(line, TEXT_CHARS) for line in text.splitlines())
        case trace.ToolCall(tool=tool, argument=argument):
            return paint(f"▸ {cut(tool, 30)}", "cyan") + f" {cut(' '.join(argument.split()), 160)}"
        case trace.FileEdit(diff=diff):
            return "\n".join(map(_diff_line, diff.splitlines()))
        case trace.ToolResult(status=status, output=output):
            return _result(status, output.strip().splitlines())
        case trace.Usage() | trace.Uncounted():
            return _usage(entry)
        case trace.RateLimited(kind=kind, message=message):
            return paint(f"! {kind.value}: {_several(message)}", "yellow")
        case trace.Error(message=message):
            return paint(f"! {_several(message)}", "red")
        case trace.End(success=success, reason=reason):
            return paint(f"── {'done' if success else 'failed'}: {cut(reason, 140)}".rstrip(": "), bold=True)
        case _:
            return ""


def _diff_line(line: str) -> str:
    colour = {"+": "green", "-": "red"}.get(line[:1])
    return paint(f"    {cut(line, 160)}", colour, dim=colour is None)


def _result(status: trace.ToolStatus, lines: list[str]) -> str:
    """The first line of a success; the last lines of a failure, where the reason is."""
    if status is trace.ToolStatus.OK or len(lines) <= 1:
        first = cut(lines[0], 140) if lines else ""
        more = f"  (+{len(lines) - 1} lines)" if len(lines) > 1 else ""
        words = f"  {status.value}: {first}{more}".rstrip(": ")
        return paint(words, dim=True) if status is trace.ToolStatus.OK else paint(words, "red")
    left = len(lines) - RESULT_LINES
    head = f"  {status.value}:" + (f"  ({left} lines before)" if left > 0 else "")
    return "\n".join(paint(line, "red") for line in (head, *(f"    {cut(one, 160)}" for one in lines[-RESULT_LINES:])))


def _usage(entry: trace.Usage | trace.Uncounted) -> str:
    if isinstance(entry, trace.Uncounted):
        return paint(f"  tokens unknown: {cut(entry.why, 140)}", dim=True) if entry.why else ""
    tokens = entry.tokens
    if entry.scope is trace.UsageScope.DELTA and tokens.cost_usd is None:
        return ""
    cost = f", ${tokens.cost_usd:.4f}" if tokens.cost_usd is not None else ""
    return paint(f"  {tokens.input_total:,} tokens in, {tokens.output:,} out{cost}", dim=True)


def _several(message: str) -> str:
    lines = [cut(line, 200) for line in message.splitlines() if line.strip()][:ERROR_LINES]
    return "\n  ".join(lines)


def stamp(at: float | None, words: str) -> str:
    """With the local time before the first line, and the others indented below it."""
    if at is None:
        return words
    first, *rest = words.split("\n")
    shown = time.strftime("%H:%M:%S", time.localtime(at))
    return "\n".join((f"{paint(shown, dim=True)} {first}", *(" " * TIME_WIDTH + line for line in rest)))


class PartialText:
    """The answer being written: shown in pieces to a follower, otherwise only if it was never finished."""

    def __init__(self) -> None:
        self._pending = ""
        self._shown = 0

    def add(self, piece: str) -> None:
        self._pending = f"{self._pending}{piece}"[: trace.TEXT_LIMIT]

    def fresh(self) -> str:
        """What has come since it was last shown."""
        piece, self._shown = self._pending[self._shown :], len(self._pending)
        return harmless(piece)

    def settle(self, text: str) -> str | None:
        """The answer is complete: what is left to show after the pieces, None if none was shown."""
        shown = self._pending[: self._shown]
        self._pending, self._shown = "", 0
        if not shown:
            return None
        return harmless(text[len(shown) :]) if text.startswith(shown) else f"\n{harmless(text)}"

    def unfinished(self) -> str:
        """What was begun and has no end, if none of it was shown yet; told once."""
        text = self._pending if not self._shown else ""
        self._pending, self._shown = "", 0
        return harmless(text.strip())
