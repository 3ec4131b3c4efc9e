"""Quota windows as the provider tells them: five hours, a week. One that is nearly used up takes no new agent.

Calls stop at the end of a window, whoever made them. So work goes on at full speed until little is left, and that is
for the agents at work: spreading calls over the window would do no more of them, only later.
"""

import msgspec

from paddock.core.admission.clocks import WINDOW_LONGEST_SECONDS
from paddock.core.durations import format_duration
from paddock.core.trace import WindowsTold, WindowUse

MOST_USED = 0.95
# Two calls may be told the same reset some seconds apart.
SAME_SECONDS = 60.0


class Windows(msgspec.Struct, frozen=True):
    """By name, as last told. `extra`: what goes beyond them is paid for, so they stop nothing."""

    told: dict[str, WindowUse] = {}
    extra: bool = False


def note_windows(windows: Windows, told: WindowsTold, now: float) -> Windows:
    """A window that is not told of again stays as it was, until its reset. One with an earlier reset than is known was
    told before: an agent that goes on with a conversation may repeat it."""
    kept = {window.name: window for window in windows_open(windows, now)}
    for window in told.windows:
        known = kept.get(window.name)
        if _is_open(window, now) and (known is None or window.resets_at > known.resets_at - SAME_SECONDS):
            kept[window.name] = window
    return Windows(kept, told.extra)


def windows_open(windows: Windows, now: float) -> list[WindowUse]:
    """Those that still count."""
    return [window for window in windows.told.values() if _is_open(window, now)]


def _is_open(window: WindowUse, now: float) -> bool:
    """A reset further away than any window is long is a mistake of somebody's clock."""
    return 0 < window.resets_at - now <= WINDOW_LONGEST_SECONDS


def full_window(windows: Windows, most_used: float, now: float) -> WindowUse | None:
    """The window that keeps new agents from starting; of several the one that is reset last."""
    if windows.extra:
        return None
    full = [window for window in windows_open(windows, now) if window.used >= most_used]
    return max(full, key=lambda window: window.resets_at, default=None)


def describe_window(window: WindowUse, now: float) -> str:
    return f"{window.used:.0%} of the {window.name} window used, resets in {format_duration(window.resets_at - now)}"
