"""What a command of git does, and whether it evades a rule."""

import re
from collections.abc import Sequence

from paddock.insight.command_words import GIT_BOTH, GIT_READS, GIT_VALUES
from paddock.insight.phases import Activity, Phase, of_family, on_file

_COMMAND = re.compile(r"[a-z][a-z-]{1,30}\Z")


def activity_of_git(words: Sequence[str]) -> Activity:
    """The target of one that evades a rule names how: `git commit --no-verify`, `git push --force`."""
    settings, rest = _split_settings(words)
    command = rest[0] if rest else ""
    arguments = rest[1:]
    if command == "grep":
        return of_family(Phase.SEARCH, "git grep")
    if command == "apply":
        looks = any(word in arguments for word in ("--check", "--stat", "--numstat"))
        return of_family(Phase.GIT_READ, "git apply") if looks else on_file(Phase.EDIT, "")
    if command in GIT_BOTH:
        writes = any(word in GIT_BOTH[command] for word in arguments) or (command == "stash" and not arguments)
        return of_family(Phase.GIT_WRITE if writes else Phase.GIT_READ, "git", command)
    if command in GIT_READS or not _COMMAND.match(command):
        return of_family(Phase.GIT_READ, "git", command if command in GIT_READS else "")
    return of_family(Phase.GIT_WRITE, "git", command, *_evasions(command, arguments, settings))


def _split_settings(words: Sequence[str]) -> tuple[list[str], list[str]]:
    settings: list[str] = []
    rest = list(words)
    while rest and rest[0].startswith("-") and rest[0] not in GIT_READS:
        taken = 2 if rest[0] in GIT_VALUES else 1
        settings += rest[:taken]
        rest = rest[taken:]
    return settings, rest


def _evasions(command: str, arguments: list[str], settings: list[str]) -> list[str]:
    found = []
    if (
        any(word.startswith("core.hookspath=") for word in map(str.lower, settings))
        or "--no-verify" in arguments
        or (command == "commit" and any(_short_flag(word, "n") for word in arguments))
    ):
        found.append("--no-verify")
    forced = any(word.startswith(("--force", "+")) or _short_flag(word, "f") for word in arguments)
    if command == "push" and forced:
        found.append("--force")
    return found


def _short_flag(word: str, letter: str) -> bool:
    """Whether it is among short options written together; what follows one with a value is that value."""
    if not word.startswith("-") or word.startswith("--"):
        return False
    flags = re.split(r"[mFCcto]", word[1:], maxsplit=1)[0]
    return letter in flags
