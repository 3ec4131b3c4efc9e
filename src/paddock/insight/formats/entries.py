"""What an engine's own parser makes of a line, as parts of a run."""

from msgspec.structs import replace

from paddock.core import trace as entries
from paddock.core.trace import ToolStatus, TroubleKind
from paddock.engines.trouble import classify
from paddock.insight.formats.assembly import RunAssembly
from paddock.insight.formats.words import read_end_state
from paddock.insight.trace import EndState, StepStatus

STATUS_OF_TOOL = {
    ToolStatus.OK: StepStatus.OK,
    ToolStatus.ERROR: StepStatus.ERROR,
    ToolStatus.DENIED: StepStatus.DENIED,
}
END_OF_TROUBLE = {
    TroubleKind.PER_MINUTE: EndState.THROTTLED,
    TroubleKind.WINDOW: EndState.THROTTLED,
    TroubleKind.OVERLOAD: EndState.OVERLOADED,
    TroubleKind.AUTH: EndState.REFUSED,
}
END_OF_FAULT = {
    entries.RequestFault.CONTENT: EndState.REFUSED,
    entries.RequestFault.TOO_LONG: EndState.BUDGET,
}


class EntryTaker:
    """Feeds a run with the entries of its turns."""

    def __init__(self, run: RunAssembly) -> None:
        self._run = run
        self._trouble: EndState | None = None

    def take(self, entry: entries.TraceEntry, at: float | None) -> None:
        run = self._run
        match entry:
            case entries.SessionStarted():
                run.run = run.run or entry.session_id
                run.model = run.model or entry.model
            case entries.ToolCall():
                self._trouble = None
                run.call_tool(entry.call_id, entry.tool, entry.argument, at)
            case entries.ToolResult():
                status = STATUS_OF_TOOL[entry.status]
                run.end_tool(entry.call_id, status, entry.output, exit_code=entry.exit_code, at=at)
            case entries.Text():
                self._speak(entry)
            case entries.Usage():
                self._count(entry, at)
            case entries.RateLimited():
                self.meet(entry, at)
            case entries.Error():
                run.error = entry.message
                run.say(entry.message)
                if entry.fault is not None:
                    # Only a provider that was asked finds fault with what it is asked.
                    run.was_asked = True
                    self._trouble = END_OF_FAULT.get(entry.fault)
            case entries.End():
                self.end(success=entry.success, reason=entry.reason, refused=entry.refused)
            case _:
                pass

    def meet(self, refusal: entries.RateLimited, at: float | None) -> None:
        self._trouble = END_OF_TROUBLE[refusal.kind]
        message = refusal.message or f"refused by the provider: {refusal.kind.value}"
        self._run.error = message
        self._run.refuse(refusal.status, refusal.retry_after, at, message)

    def end(self, *, success: bool, reason: str, refused: bool = False) -> None:
        """A turn is over; another may follow."""
        run = self._run
        run.is_working = False
        if success and not refused:
            run.end_state, run.error = EndState.OK, ""
            self._trouble = None
            return
        run.say(reason)
        run.error = run.error or reason
        run.end_state = EndState.REFUSED if refused else self._trouble or end_of_words(reason)

    def _speak(self, text: entries.Text) -> None:
        if text.model_spoke:
            self._trouble = None
            self._run.is_working = self._run.was_asked = True
        self._run.say(text.text)

    def _count(self, usage: entries.Usage, at: float | None) -> None:
        if usage.scope is entries.UsageScope.DELTA:
            self._run.answer("", usage.tokens, model=self._run.model, at=at)
        elif usage.tokens.input_total or usage.tokens.output:
            # What a model without a price is said to cost is nothing.
            self._run.told_usage = usage.tokens if usage.tokens.cost_usd else replace(usage.tokens, cost_usd=None)


def end_of_words(reason: str) -> EndState:
    """Of a run that did not end well, from what was said of it."""
    refusal = classify(reason)
    if refusal is not None:
        return END_OF_TROUBLE[refusal.kind]
    return read_end_state(reason) or EndState.CRASHED
