"""Agents kept as Markdown with front matter: `.paddock/agents/*.md`, and `.claude/agents/*.md` as they are.

A file of ours must be right: whatever is wrong with it is refused with file and line. A file of claude's was written
for claude: what Paddock does not know in it is left alone, and one that makes no agent is skipped with a warning.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from paddock.config.convert import seconds_of
from paddock.config.fields import fields_of
from paddock.config.front_matter import FIRST_LINE, FrontMatter, read_front_matter
from paddock.config.needs import needs_in
from paddock.config.schema import Agent, AgentTimeouts
from paddock.core.errors import Misuse
from paddock.core.ids import printable
from paddock.core.nodes.labels import read_needs
from paddock.core.wording import check_name, nearest

OURS, FOREIGN = ".paddock/agents", ".claude/agents"
FOLDERS = (OURS, FOREIGN)
SIZE_LIMIT = 256 * 1024
NAME, BUDGET, BRIEF = "name", "budget", "brief"
_LISTS = ("owns", "kinds", "labels", "needs", "tools")
_NEEDS = "needs"
_ALL_TOOLS = "*"
_COMMA = re.compile(r",(?![^(]*\))")


@dataclass(frozen=True, slots=True)
class AgentFile:
    """`settings` are those of `[agents.NAME]` in `paddock.toml`; `lines` tells where in the file each of them is."""

    name: str
    path: str
    settings: dict[str, Any]
    lines: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BadAgentFile:
    """A file that makes no agent, and why. `fatal`: it is one of ours, and nothing goes on until it is right."""

    path: str
    problem: Misuse
    fatal: bool


def scan_agent_files(top: Path) -> Iterator[AgentFile | BadAgentFile]:
    """Good and bad ones, in order of precedence."""
    for folder in FOLDERS:
        directory = top / folder
        names: dict[str, str] = {}
        for path in sorted(directory.glob("*.md")) if directory.is_dir() else ():
            shown = f"{folder}/{path.name}"
            if not path.is_file():
                continue
            try:
                found = _read(path, shown)
                if (first := names.setdefault(found.name, shown)) != shown:
                    line = found.lines.get(NAME, 1)
                    raise Misuse(f"{shown}:{line}: the name `{found.name}` is that of {first}", "rename one of them")
                yield found
            except Misuse as problem:
                yield BadAgentFile(shown, problem, fatal=folder == OURS)


@lru_cache(maxsize=1)
def agent_keys() -> tuple[str, ...]:
    """What the front matter of an agent file may say."""
    return (NAME, *(key for key in fields_of(Agent) if key != BRIEF), BUDGET)


def _read(path: Path, shown: str) -> AgentFile:
    is_ours = shown.startswith(OURS)
    front = read_front_matter(_text(path, shown), shown, lenient=not is_ours)
    name = front.values.get(NAME)
    name = path.stem if name is None or name == "" else str(name)
    try:
        check_name("agent", name)
    except Misuse as refusal:
        raise Misuse(f"{shown}:{front.lines.get(NAME, 1)}: {refusal.message}", refusal.hint) from None
    if is_ours:
        _check_keys(front, shown)
    settings = _settings(front, shown)
    if not is_ours:
        settings.setdefault("engine", "claude")
    settings[BRIEF] = front.body
    _check_values(settings, front, shown)
    return AgentFile(name, shown, settings, front.lines)


def _text(path: Path, shown: str) -> str:
    try:
        size = path.stat().st_size
        if size > SIZE_LIMIT:
            hint = "an agent's brief is a page at most; put long material in the repository and name it there"
            raise Misuse(f"{shown}:1: it has {size:,} bytes; the limit is {SIZE_LIMIT:,}", hint)
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise Misuse(f"{shown}:1: it cannot be read: {error.strerror}") from None


def _check_keys(front: FrontMatter, shown: str) -> None:
    known = agent_keys()
    for key in front.values:
        place = f"{shown}:{front.lines.get(key, FIRST_LINE)}"
        if key == BRIEF:
            raise Misuse(f"{place}: `brief` is no key here", "the brief is the text below the front matter")
        if key not in known:
            near = nearest(key, known, cutoff=0.5)
            hint = f"did you mean `{near}`?" if near else f"known: {', '.join(known)}"
            raise Misuse(f"{place}: unknown key `{printable(key, 80)}`", hint)
    if BUDGET in front.values and "attempt_usd" in front.values:
        place = f"{shown}:{front.lines[BUDGET]}"
        raise Misuse(f"{place}: `budget` is another name of `attempt_usd`, which is set too", "keep one of them")


def _settings(front: FrontMatter, shown: str) -> dict[str, Any]:
    """As `paddock.toml` would say it."""
    known = fields_of(Agent)
    settings = {key: value for key, value in front.values.items() if key in known and value is not None}
    if (budget := front.values.get(BUDGET)) is not None:
        settings["attempt_usd"] = _dollars(budget)
    if (needs := settings.get(_NEEDS)) is not None:
        settings[_NEEDS] = _needs(needs, front, shown)
    for key in _LISTS:
        if isinstance(value := settings.get(key), str):
            settings[key] = [part.strip() for part in _COMMA.split(value) if part.strip()]
    if _ALL_TOOLS in (settings.get("tools") or ()):
        del settings["tools"]
    if settings.get("model") == "inherit":
        del settings["model"]
    if isinstance(description := settings.get("description"), str):
        settings["description"] = " ".join(description.split())
    if shown.startswith(FOREIGN):
        _read_plain_values(settings)
    return settings


def _needs(value: Any, front: FrontMatter, shown: str) -> list[str]:
    try:
        return list(read_needs(needs_in(value)))
    except ValueError as error:
        problem, hint = str(error), "write it as `needs: gpu, os=linux` or `needs: [gpu, os=linux]`"
    except Misuse as refusal:
        problem, hint = refusal.message, refusal.hint or ""
    raise Misuse(f"{shown}:{front.lines.get(_NEEDS, FIRST_LINE)}: `needs`: {printable(problem, 200)}", hint)


def _read_plain_values(settings: dict[str, Any]) -> None:
    """Front matter that was read line by line has texts only."""
    for key, value in settings.items():
        if isinstance(value, str) and key not in _LISTS:
            try:
                settings[key] = fields_of(Agent)[key].from_text(value)
            except ValueError:
                continue  # the check of the values says what is wrong


def _dollars(value: Any) -> Any:
    text = value.strip().removeprefix("$") if isinstance(value, str) else ""
    return float(text) if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", text) else value


def _check_values(settings: dict[str, Any], front: FrontMatter, shown: str) -> None:
    """Turns durations into seconds. Raises Misuse naming the line of the first value that is not what it should be."""
    deadlines = settings.get("timeouts")
    if isinstance(deadlines, dict):
        settings["timeouts"] = {str(key): _deadline(str(key), value, front, shown) for key, value in deadlines.items()}
    try:
        msgspec.convert(settings, Agent)
    except msgspec.ValidationError as error:
        problem, _, place = str(error).partition(" - at `$.")
        key = re.split(r"[.\[`]", place)[0]
        choices = fields_of(Agent)[key].choices if key in fields_of(Agent) else ()
        if problem.startswith("Invalid enum value ") and choices:
            given = problem.removeprefix("Invalid enum value ").strip("'")
            problem = f"`{given}` is not one of {', '.join(choices)}"
        said = BUDGET if key == "attempt_usd" and BUDGET in front.values else key
        line = front.lines.get(said, FIRST_LINE)
        raise Misuse(f"{shown}:{line}: `{said}`: {printable(problem, 200)}", _hint(key)) from None


def _hint(key: str) -> str:
    if key in _LISTS:
        return f"write it as `{key}: a, b` or `{key}: [a, b]`"
    return "`paddock agents new NAME` writes a file in which every key is explained"


def _deadline(key: str, value: Any, front: FrontMatter, shown: str) -> Any:
    place = f"{shown}:{front.lines.get(f'timeouts.{key}', front.lines.get('timeouts', FIRST_LINE))}"
    known = fields_of(AgentTimeouts)
    if key not in known:
        near = nearest(key, known, cutoff=0.5)
        hint = f"did you mean `{near}`?" if near else f"known: {', '.join(known)}"
        raise Misuse(f"{place}: unknown key `timeouts.{printable(key, 80)}`", hint)
    try:
        return seconds_of(value)
    except ValueError as error:
        raise Misuse(f"{place}: `timeouts.{key}`: {error}") from None
