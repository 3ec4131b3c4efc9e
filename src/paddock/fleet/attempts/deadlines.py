"""The clock of one running turn: which of its deadlines has passed, and when to look again.

What an engine reports decides which deadlines apply. One that prints nothing before its model answers has no start-up
deadline; one that does not report tool starts is checked for running tools before it counts as silent.
"""

from collections.abc import Callable
from dataclasses import replace

from paddock.core.tasks.deadlines import Steady, TurnLimits, TurnTimes, next_expiry, passed_deadline
from paddock.core.tasks.repetition import ToolUse
from paddock.core.tasks.standstill import QUIET_SECONDS
from paddock.core.tasks.vocabulary import EndedBy
from paddock.engines.protocol import Capabilities
from paddock.sessions.protocol import Running

CHILD_SECONDS = 60.0
LOOK_SECONDS = 15.0  # between two checks for a running tool that was not reported


class SteadyTurn:
    """A running turn as a clock shows it that nobody sets and that stands still while the machine sleeps."""

    def __init__(self) -> None:
        self._steady = Steady()

    def view(self, state: Running, wall: float, steady: float) -> Running:
        """Looked at often: what has come since the last look counts as just said."""
        started = self._steady.moment("start", state.started_at, wall, steady)
        if state.last_output_at is None:
            self._steady.watch("output")
            return Running(started, None, state.output_bytes)
        spoke = self._steady.moment("output", state.last_output_at, wall, steady, state.output_bytes)
        return Running(started, spoke, state.output_bytes)


class TurnClock:
    """`runs_child` says whether anything the turn's command started after a given moment is still running."""

    def __init__(
        self,
        limits: TurnLimits,
        can: Capabilities,
        tools: Callable[[], ToolUse],
        runs_child: Callable[[float], bool],
    ) -> None:
        self._limits = replace(
            limits,
            startup_seconds=limits.startup_seconds if can.greets or not can.model else None,
            silence_seconds=limits.silence_seconds if can.streams else None,
        )
        self._may_hide_tools = can.model and not can.tool_starts
        self._streams = can.streams
        self._tools = tools
        self._runs_child = runs_child
        self._tool_seen_at: float | None = None
        self._child: tuple[float, bool] | None = None

    def passed(self, state: Running, now: float) -> EndedBy | None:
        times = self._times(state, now)
        passed = passed_deadline(self._limits, times, now)
        if passed is not EndedBy.SILENCE or not self._may_hide_tools:
            return passed
        if not self._runs_child(times.last_output_at or state.started_at):
            return passed
        self._tool_seen_at = now
        return passed_deadline(self._limits, self._times(state, now), now)

    def quiet_seconds(self, state: Running, now: float) -> float | None:
        """How long it has written nothing; None while a tool runs, and for an engine that writes only at its end."""
        if not self._streams or self._tools().is_running:
            return None
        quiet = now - (state.last_output_at or state.started_at)
        return None if quiet >= QUIET_SECONDS and self._hides_tool(now - quiet, now) else quiet

    def _hides_tool(self, since: float, now: float) -> bool:
        """Looked for now and then only: it means walking through processes."""
        if not self._may_hide_tools:
            return False
        if self._child is None or now - self._child[0] >= CHILD_SECONDS:
            self._child = now, self._runs_child(since)
        return self._child[1]

    def look_again_at(self, state: Running, now: float) -> float | None:
        """When the next deadline passes if nothing more happens; None when there is none."""
        expiry = next_expiry(self._limits, self._times(state, now))
        moments = [] if expiry is None else [expiry.at]
        if self._tool_seen_at is not None and self._is_tool_seen(now):
            moments.append(self._tool_seen_at + LOOK_SECONDS)
        return min(moments, default=None)

    def _times(self, state: Running, now: float) -> TurnTimes:
        return TurnTimes(
            state.started_at,
            has_output=state.output_bytes > 0,
            last_output_at=state.last_output_at,
            tool_runs=self._tools().is_running or self._is_tool_seen(now),
            tool_ran_at=self._tool_seen_at,
        )

    def _is_tool_seen(self, now: float) -> bool:
        return self._tool_seen_at is not None and now - self._tool_seen_at < LOOK_SECONDS
