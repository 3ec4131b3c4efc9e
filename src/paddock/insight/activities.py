"""A tool call as an activity: a symbol that means the same whichever agent made the call.

Tables say what tools do (`tool_names.py`) and what commands do (`commands.py`). A tool in neither is understood by the
verb in its name; what is left is OTHER, of which more than 5 % of a batch is a sign that a table is too short.
"""

from collections.abc import Mapping
from functools import lru_cache

import msgspec

from paddock.insight.command_words import PHASE_OF_COMMAND
from paddock.insight.commands import activity_of_patch, activity_of_shell
from paddock.insight.phases import Activity, Phase, of_family, on_file
from paddock.insight.tool_names import (
    EDITOR_COMMANDS,
    EDITOR_TOOLS,
    PATCH_TOOLS,
    PHASE_OF_TOOL,
    PHASE_OF_VERB,
    SHELL_TOOLS,
    bare_name,
    tool_key,
    words_of_name,
)

__all__ = ["Activity", "activity_of"]

ARGUMENT_CHARS = 8_000
_TOOL_CHARS = 200
_CACHED_CHARS = 400
_COMMANDS = (
    "command",
    "cmd",
    "commandLine",
    "command_line",
    "script",
    "code",
    "commands",
    "input",
    "bash_command",
    "keystrokes",
)
_FILES = (
    *("file_path", "filePath", "path", "filename", "file", "notebook_path", "absolute_path", "target_file", "paths"),
    *("relative_path", "file_name", "relative_workspace_path", "uri", "TargetFile", "AbsolutePath", "dir_path"),
)
_OTHERS = ("pattern", "query", "url", "name", "skill", "subagent_type", "description")
_PATCHES = ("patch", "diff", "patchText", "input", "changes")


def activity_of(tool: str, argument: str | Mapping[str, object] = "") -> Activity:
    """`argument` is what the tool was called with: all of it, or the one that matters, such as a path or a command."""
    if not isinstance(argument, str):
        return _of_call(tool[:_TOOL_CHARS], argument)
    if len(argument) <= _CACHED_CHARS and len(tool) <= _TOOL_CHARS:
        return _cached(tool, argument)
    return _of_text(tool[:_TOOL_CHARS], argument[:ARGUMENT_CHARS])


@lru_cache(maxsize=16_384)
def _cached(tool: str, argument: str) -> Activity:
    return _of_text(tool, argument)


@lru_cache(maxsize=1024)
def _key(tool: str) -> str:
    return tool_key(bare_name(tool))


def _of_call(tool: str, arguments: Mapping[str, object]) -> Activity:
    key = _key(tool)
    if key in EDITOR_TOOLS:
        return on_file(EDITOR_COMMANDS.get(_first(arguments, ("command",)), Phase.EDIT), _first(arguments, _FILES))
    if key in PATCH_TOOLS and (patch := _first(arguments, _PATCHES)):
        return activity_of_patch(patch)
    names = (*_COMMANDS, *_FILES) if _runs_commands(key) else (*_FILES, *_COMMANDS, *_OTHERS)
    return activity_of(tool, _first(arguments, names))


def _first(arguments: Mapping[str, object], names: tuple[str, ...]) -> str:
    for name in names:
        value = arguments.get(name)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
            return _joined(value)
    return ""


def _joined(words: list[str]) -> str:
    """A command that is given as its arguments: the script of `bash -lc SCRIPT`, or all of them."""
    if len(words) == 3 and words[1].startswith("-") and "c" in words[1]:
        return words[2]
    return " ".join(words[:80])


def _of_text(tool: str, argument: str) -> Activity:
    key = _key(tool)
    if argument.startswith("{") and argument.rstrip().endswith("}") and (arguments := _object(argument)):
        return _of_call(tool, arguments)
    if _runs_commands(key):
        return activity_of_shell(argument) if argument.strip() else of_family(Phase.RUN)
    if key in PATCH_TOOLS:
        return activity_of_patch(argument) if "\n" in argument else on_file(Phase.EDIT, argument)
    if key in EDITOR_TOOLS:
        verb, _, path = argument.partition(" ")
        return on_file(EDITOR_COMMANDS.get(verb, Phase.EDIT), path or argument)
    phase = PHASE_OF_TOOL.get(key)
    if phase is not None:
        return on_file(phase, _line(argument))
    return _of_stranger(tool, key, argument)


def _runs_commands(key: str) -> bool:
    return key in SHELL_TOOLS


def _of_stranger(tool: str, key: str, argument: str) -> Activity:
    """A command in place of a tool's name, or a tool that is known by the verb in its name."""
    first, _, rest = tool.strip().partition(" ")
    if rest or first.rpartition("/")[2] in PHASE_OF_COMMAND or key.endswith(("pytest", "python", "python3", "git")):
        return activity_of_shell(f"{tool} {argument}")
    words = words_of_name(bare_name(tool))
    if "browser" in words or "playwright" in words:
        return of_family(Phase.NET, tool)
    phase = next((PHASE_OF_VERB[word] for word in words if word in PHASE_OF_VERB), Phase.OTHER)
    return of_family(phase, tool)


def _line(argument: str) -> str:
    return argument.strip().partition("\n")[0]


def _object(text: str) -> Mapping[str, object] | None:
    try:
        value = msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
    return value if isinstance(value, dict) and value else None
