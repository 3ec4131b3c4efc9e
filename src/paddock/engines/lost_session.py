"""How agent CLIs say that they do not have the conversation they were asked to resume."""

import re

from paddock.core.trace import STEP_LIMIT, one_line

# As seen with the versions in docs/engines.md; claude, gemini (exit 42) and qwen look only in the folder they are in.
_WORDS = (
    "No conversation found with session ID",  # claude
    "no rollout found for thread id",  # codex
    "Session not found",  # opencode
    "No previous sessions found for this project",  # gemini
    "Invalid session identifier",  # gemini, where the folder has other sessions
    "No saved session found with ID",  # qwen
    "No session, task, or name matched",  # copilot
)
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_LOST = re.compile("|".join(map(re.escape, _WORDS)), re.IGNORECASE)


def find_lost_session(said: str) -> str:
    """The line of a CLI's output that says so, empty when none does."""
    lines = _COLOUR.sub("", said).splitlines()
    return next((one_line(line, STEP_LIMIT) for line in lines if _LOST.search(line)), "")
