"""The files that agents read at every start, as far as they can be seen: agent files and instructions for engines."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from paddock.insight.costs.starts import ContextFile

if TYPE_CHECKING:
    from paddock.config.schema import Config

_IN_REPOSITORY: dict[str, tuple[str, ...]] = {
    "claude": ("CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md"),
    "codex": ("AGENTS.md", "AGENTS.override.md"),
    "opencode": ("AGENTS.md",),
    "gemini": ("GEMINI.md",),
    "qwen": ("QWEN.md", "AGENTS.md"),
    "copilot": (".github/copilot-instructions.md", "AGENTS.md"),
}
_AT_HOME: dict[str, tuple[str, ...]] = {
    "claude": (".claude/CLAUDE.md",),
    "codex": (".codex/AGENTS.md",),
    "opencode": (".config/opencode/AGENTS.md",),
    "gemini": (".gemini/GEMINI.md",),
    "qwen": (".qwen/QWEN.md",),
}
_AGENT_FILES = (".paddock/agents", ".claude/agents")


def find_context_files(top: Path, home: Path, config: "Config") -> tuple[ContextFile, ...]:
    """`top` is where the repository's files are. What is not there, or cannot be read, is left out."""
    return (*_agent_files(top, config), *_instructions(top, home, config))


def _agent_files(top: Path, config: "Config") -> Iterator[ContextFile]:
    """The brief is what an agent is told of its file; where it is in `paddock.toml`, that is named."""
    for name, agent in config.agents.items():
        if agent.brief:
            places = (f"{folder}/{name}.md" for folder in _AGENT_FILES)
            place = next((place for place in places if (top / place).is_file()), "paddock.toml")
            yield ContextFile(place, len(agent.brief.encode("utf-8", "replace")), agent=name)


def _instructions(top: Path, home: Path, config: "Config") -> Iterator[ContextFile]:
    engines = {**{name: name for name in _IN_REPOSITORY}, **{name: one.like for name, one in config.engines.items()}}
    for engine, like in engines.items():
        kind = like or engine
        for name in _IN_REPOSITORY.get(kind, ()):
            if (size := _size(top / name)) is not None:
                yield ContextFile(name, size, engine=engine)
        for name in _AT_HOME.get(kind, ()):
            if (size := _size(home / name)) is not None:
                yield ContextFile(f"~/{name}", size, engine=engine)


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size if path.is_file() else None
    except OSError:
        return None
