"""From a step to the words or the tool call that the asking CLI understands."""

from __future__ import annotations

import os
import shlex

from tests.mockmodel.playlist import (
    Commit,
    FaultEntry,
    Say,
    Shell,
    Step,
    UseTool,
    due_at,
    find_playlist,
    steps_of,
)
from tests.mockmodel.wire import Ask, Json, Reply, ToolCall

CLOSING_WORDS = "Done."
SIDE_CALL_WORDS = "Mock session"
FENCE = "```"


def plan_reply(ask: Ask) -> tuple[Reply, tuple[FaultEntry, ...]]:
    """The answer to `ask` and the faults that stand before it; raises BadPlaylist."""
    playlist = find_playlist(ask.prompt)
    if playlist is None:
        return Reply(CLOSING_WORDS), ()
    if wants_commit_message(ask):
        messages = [step.message for step in steps_of(playlist) if isinstance(step, Commit)]
        return Reply(messages[0] if messages else "Apply the edit"), ()
    due = due_at(playlist, ask.rounds)
    return reply_to(ask, due.step), due.faults


def reply_to(ask: Ask, step: Step | None) -> Reply:
    match step:
        case None:
            return Reply(CLOSING_WORDS)
        case Say(text):
            return Reply(text)
        case UseTool(name, arguments):
            return Reply("", ToolCall(name, arguments))
        case Shell(command):
            return _call_shell(ask, command)
        case Commit() if ask.tools:
            return _call_shell(ask, commit_command(step))
        case Commit():
            return Reply(_edit_block(ask, step))


def is_side_call(ask: Ask) -> bool:
    """Titles, classifiers and the like: they quote the user's prompt but must not play its steps.

    Only aider works without tools, and it is known by its edit formats.
    """
    return not ask.tools and not _wants_edit_blocks(ask) and not wants_commit_message(ask)


def wants_commit_message(ask: Ask) -> bool:
    return not ask.tools and "commit message" in ask.instructions.lower()


def commit_command(step: Commit) -> str:
    # No $(…): gemini refuses to run command substitutions.
    path, folder = shlex.quote(step.path), shlex.quote(os.path.dirname(step.path) or ".")
    return (
        f"mkdir -p {folder} && printf %s {shlex.quote(step.content)} > {path}"
        f" && git add -- {path} && git commit -q -m {shlex.quote(step.message)}"
    )


def _wants_edit_blocks(ask: Ask) -> bool:
    return "SEARCH/REPLACE" in ask.instructions or "file listing" in ask.instructions


def _edit_block(ask: Ask, step: Commit) -> str:
    body = step.content if step.content.endswith("\n") else f"{step.content}\n"
    if "SEARCH/REPLACE" in ask.instructions:
        body = f"<<<<<<< SEARCH\n=======\n{body}>>>>>>> REPLACE\n"
    return f"{step.path}\n{FENCE}\n{body}{FENCE}\n"


def _call_shell(ask: Ask, command: str) -> Reply:
    described = {"command": command, "description": "Run the mock's step"}
    arguments: dict[str, Json] = {
        "Bash": described,
        "bash": described,
        "run_shell_command": described,
        "shell_command": {"command": command},
        "exec_command": {"cmd": command},
        "shell": {"command": ["bash", "-lc", command]},
    }
    for name in ask.tools:
        if name in arguments:
            return Reply("", ToolCall(name, arguments[name]))
    return Reply(f"mock: no shell among the tools offered: {', '.join(ask.tools) or 'none'}")
