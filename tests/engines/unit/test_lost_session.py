"""What the pinned CLIs say when they are asked to resume a conversation they do not have."""

import re

import pytest

from paddock.engines.lost_session import find_lost_session

ID = "11111111-2222-4333-8444-555555555555"
SAID = {
    "claude": f"No conversation found with session ID: {ID}",
    "codex": f"Error: thread/resume: thread/resume failed: no rollout found for thread id {ID} (code -32600)",
    "opencode": "\x1b[91m\x1b[1mError: \x1b[0mSession not found",
    "gemini": "Error resuming session: No previous sessions found for this project.",
    "gemini, another": f'Error resuming session: Invalid session identifier "{ID}".',
    "qwen": f"No saved session found with ID {ID}. Run `qwen --resume` without an ID to choose from existing sessions.",
    "copilot": f"Error: No session, task, or name matched '{ID}'.",
}


@pytest.mark.parametrize("name", SAID)
def test_each_clis_words_are_recognised_among_others(name: str) -> None:
    said = f"Warning: something else\n{SAID[name]}\n\nTo resume by name: --resume=<name>\n"
    assert find_lost_session(said) == re.sub(r"\x1b\[\d+m", "", SAID[name]), "without colours"


@pytest.mark.parametrize("said", ["", "error: 404 model not found", "the session was saved", "rate limit"])
def test_other_words_are_not(said: str) -> None:
    assert find_lost_session(said) == ""
