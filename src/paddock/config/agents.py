"""Agents kept as Markdown with front matter: `.paddock/agents/*.md`, and `.claude/agents/*.md` as they are."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paddock.core.errors import Misuse
from paddock.core.wording import split_list

FOLDERS = (".paddock/agents", ".claude/agents")
FOREIGN = ".claude"
_PLAIN_LINE = re.compile(r"(?P<key>[\w-]+):\s*(?P<value>.*?)\s*$")
_SIZE_LIMIT = 256 * 1024
_KNOWN = ("engine", "model", "owns", "kinds", "attempt_usd", "max_calls", "max_turns", "fresh", "fence")


@dataclass(frozen=True, slots=True)
class AgentFile:
    name: str
    path: str
    settings: dict[str, Any]


def read_agent_files(top: Path) -> Iterator[AgentFile]:
    """In order of precedence: the first agent of a name wins."""
    for folder in FOLDERS:
        directory = top / folder
        if not directory.is_dir():
            continue
        for path in sorted(directory.glob("*.md")):
            if path.is_file() and path.stat().st_size <= _SIZE_LIMIT:
                yield _read(path, f"{folder}/{path.name}")


def _read(path: Path, shown: str) -> AgentFile:
    text = path.read_text(encoding="utf-8", errors="replace")
    head: dict[str, Any] = {}
    body = text
    if text.startswith("---\n") and "\n---" in text[4:]:
        front, _, body = text[4:].partition("\n---")
        head = _front_matter(front, shown)
    settings = {key: head[key] for key in _KNOWN if key in head}
    for key in ("owns", "kinds"):
        if isinstance(settings.get(key), str):
            settings[key] = list(split_list(settings[key]))
    if settings.get("model") == "inherit":
        del settings["model"]
    if shown.startswith(FOREIGN) and "engine" not in settings:
        settings["engine"] = "claude"
    settings["brief"] = body.strip()
    return AgentFile(str(head.get("name") or path.stem), shown, settings)


def _front_matter(front: str, shown: str) -> dict[str, Any]:
    import yaml

    try:
        head = yaml.safe_load(front)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        if shown.startswith(FOREIGN):
            return _line_by_line(front)
        mark = error.problem_mark if isinstance(error, yaml.MarkedYAMLError) else None
        place = f"{shown}:{mark.line + 2}:{mark.column + 1}" if mark else shown
        problem = error.problem if isinstance(error, yaml.MarkedYAMLError) else error
        raise Misuse(f"{place}: {problem}", "front matter is YAML between two lines of `---`") from None
    return head if isinstance(head, dict) else {}


def _line_by_line(front: str) -> dict[str, Any]:
    """claude accepts `description: Use this when: …`, which is not valid YAML, and writes it too."""
    lines = (_PLAIN_LINE.match(line) for line in front.splitlines())
    return {match["key"]: match["value"] for match in lines if match}
