"""A shell command line as an activity: what its first meaningful command does, and to what.

Two sorts of commands win over those before them, because a line that has one is about it: what evades a rule of git,
and tests.
"""

import re
from collections.abc import Sequence

from paddock.insight.command_families import family_of, inner_command
from paddock.insight.command_words import WEAK
from paddock.insight.phases import Activity, Phase, of_family, on_file, phase_of
from paddock.insight.shell_command import ShellCommand, split_commands
from paddock.insight.tool_names import EDITOR_COMMANDS, EDITOR_TOOLS, tool_key

MOST_NESTED = 3
_SUBMISSIONS = ("COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", "MINI_SWE_AGENT_FINAL_OUTPUT")
_PATCHED = re.compile(r"\*\*\* (Update|Add|Delete) File: ([^\n]{1,300})")
_DIFFED = re.compile(r"^\+\+\+ (?:b/)?([^\t\n]{1,300})", re.MULTILINE)
EVASIONS = ("--no-verify", "--force")


def activity_of_shell(text: str) -> Activity:
    """RUN where nothing better can be said; OTHER for a text that is no command at all."""
    if any(word in text[:2000] for word in _SUBMISSIONS):
        return of_family(Phase.SUBMIT)
    return _weigh(list(_activities(text, MOST_NESTED)))


def activity_of_patch(text: str) -> Activity:
    """Of a patch in git's form or in that of `apply_patch`."""
    told = _PATCHED.search(text)
    if told:
        return on_file(Phase.CREATE if told[1] == "Add" else Phase.EDIT, told[2].strip())
    diffed = _DIFFED.search(text)
    return on_file(Phase.EDIT, diffed[1] if diffed else "")


def _activities(text: str, nested: int) -> list[tuple[Activity, bool]]:
    """Each command's, and whether it is weak."""
    found: list[tuple[Activity, bool]] = []
    for command in split_commands(text):
        words, script = inner_command(command.words)
        if script and nested:
            found += _activities(script, nested - 1)
        elif words or command.writes:
            found.append(_of_command(words, command))
    return found


def _of_command(words: Sequence[str], command: ShellCommand) -> tuple[Activity, bool]:
    name = words[0].rpartition("/")[2] if words else ""
    if name in ("apply_patch", "applypatch"):
        return activity_of_patch(command.document or " ".join(words[1:])), False
    if len(words) > 1 and words[1] in EDITOR_COMMANDS and tool_key(name) in EDITOR_TOOLS:
        return on_file(EDITOR_COMMANDS[words[1]], " ".join(words[2:3])), False
    activity = family_of(words, command.document)
    quiet = phase_of(activity.symbol) in (Phase.READ, Phase.SEARCH, Phase.CREATE) or name in WEAK or not name
    if command.writes and quiet:
        return on_file(Phase.EDIT if command.appends else Phase.CREATE, command.writes), False
    return activity, name in WEAK


def _weigh(found: list[tuple[Activity, bool]]) -> Activity:
    if not found:
        return of_family(Phase.OTHER)
    evading = [activity for activity, _ in found if activity.symbol == Phase.GIT_WRITE and _evasions(activity)]
    if evading:
        words = dict.fromkeys(word for activity in evading for word in _evasions(activity))
        return of_family(Phase.GIT_WRITE, *evading[-1].target.split()[:2], *words)
    for activity, _ in found:
        if activity.symbol == Phase.TEST:
            return activity
    return next((activity for activity, weak in found if not weak), found[0][0])


def _evasions(activity: Activity) -> list[str]:
    return [word for word in EVASIONS if word in activity.target]
