"""Distinguishes a CI that cannot run from one that fails, and names what is missing so that a person can provide it.

Only how a command exited and the last lines it printed are looked at. Nothing is decided here: that main cannot be
tested is news about the machine or the configuration, while a change that brings it about is at fault like any other.
"""

import re

LOOKED_AT_LINES = 40
LONGEST_NAME = 80
_EXITS = {127: "a command was not found", 126: "a command is not executable"}
_RECIPE_EXIT = re.compile(r"^make(?:\[\d+\])?: \*\*\* \[.*\] Error (\d+)$")
_SHELL = r"(?:^|/)(?:ba|da|z|k)?sh: (?:line )?(?:\d+: )?"

# What a shell, or make in its place, says of a command. A script may do without one, so the exit has to agree.
_COMMAND_SIGNS = (
    (_SHELL + r"([^\s:]+): (?:command )?not found$", "`{}` was not found"),
    (_SHELL + r"([^\s:]+): No such file or directory$", "`{}` was not found"),
    (_SHELL + r"([^\s:]+): Permission denied$", "`{}` is not executable"),
    (r"^make(?:\[\d+\])?: ([^\s:]+): No such file or directory$", "`{}` was not found"),
    (r"^make(?:\[\d+\])?: ([^\s:]+): Permission denied$", "`{}` is not executable"),
    (r"^zsh:\d+: command not found: (\S+)$", "`{}` was not found"),
    (r"^env: [‘']?([^\s:’']+)[’']?: No such file or directory$", "`{}` was not found"),
)
# What tools say when they find nothing to do their work with or on.
_TOOL_SIGNS = (
    (r"^make(?:\[\d+\])?: \*\*\* No rule to make target [`']([^']+)'\.", "make has no target `{}`"),
    (r"^make(?:\[\d+\])?: \*\*\* (No targets)\b.*no makefile found", "there is no makefile"),
    (r"\bNo module named ['\"]?([\w.]+)", "the Python module `{}` is not installed"),
    (r"\bCannot find (?:module|package) ['\"]([^'\"]+)['\"]", "the Node module `{}` is not installed"),
    (r"^npm (?:ERR!|error) Missing script: \"?([^\"\s]+)\"?", "package.json has no script `{}`"),
    (r"^npm (?:ERR!|error) .*Could not read (package\.json)", "there is no {}"),
    (r"^error: could not find [`'](Cargo\.toml)['`]", "there is no {}"),
    (r"^go: (?:cannot find main module|(go\.mod) file not found)", "there is no go.mod"),
    (_SHELL + r"(?:cannot|[Cc]an't) open ([^\s:]+)(?:: |$)", "`{}` was not found"),
)


def why_cannot_run(exit: int | None, output: str) -> str:
    """Why a failed command never got to its work; empty if it did, or if that is unknown.

    `output` is the end of what it printed, without control characters.
    """
    if not exit:
        return ""
    lines = [line.strip() for line in output.splitlines()[-LOOKED_AT_LINES:]]
    recipes = [int(found[1]) for line in lines if (found := _RECIPE_EXIT.search(line))]
    by_exit = _EXITS.get(recipes[-1] if recipes else exit, "")
    signs = (*_COMMAND_SIGNS, *_TOOL_SIGNS) if by_exit else _TOOL_SIGNS
    return _named(lines, signs) or by_exit


def _named(lines: list[str], signs: tuple[tuple[str, str], ...]) -> str:
    """The last sign counts: what ended the command is at the end."""
    for line in reversed(lines):
        for pattern, words in signs:
            if found := re.search(pattern, line):
                return words.format(_shortened(found[1] or ""))
    return ""


def _shortened(name: str) -> str:
    """The end of a long path, which names the file."""
    return name if len(name) <= LONGEST_NAME else f"…{name[1 - LONGEST_NAME :]}"
