"""One badge for each phase, the same wherever it is shown: a symbol that tells it without colour, and the colour."""

from paddock.core.tasks.task import Phase

BADGES: dict[Phase, tuple[str, str]] = {
    Phase.WAITING: ("·", "bright_black"),
    Phase.READY: ("○", "cyan"),
    Phase.RUNNING: ("●", "blue"),
    Phase.REVIEWING: ("◐", "magenta"),
    Phase.APPROVAL: ("◆", "yellow"),
    Phase.QUEUED: ("»", "cyan"),
    Phase.LANDED: ("✓", "green"),
    Phase.BLOCKED: ("!", "yellow"),
    Phase.FAILED: ("✗", "red"),
    Phase.CANCELLED: ("-", "bright_black"),
    Phase.NOOP: ("=", "green"),
    Phase.DONE: ("✓", "cyan"),
}
