"""Writing agent files into a repository, never over anything."""

from dataclasses import dataclass
from pathlib import Path

from paddock.config.agents import OURS
from paddock.config.starters import NAMES, starter_text
from paddock.core.errors import Misuse, PaddockError
from paddock.core.ids import printable
from paddock.fleet.workspace import Workspace


@dataclass(frozen=True, slots=True)
class WrittenAgents:
    """Files that were written, and agents of the same names that were there before."""

    written: tuple[str, ...]
    kept: tuple[str, ...]


def write_starters(workspace: Workspace) -> WrittenAgents:
    """An agent that exists, wherever it is defined, is kept as it is."""
    there = workspace.load().config.agents
    written, kept = [], []
    for name in NAMES:
        path = workspace.top / OURS / f"{name}.md"
        if name in there or path.exists():
            kept.append(name)
        else:
            write_agent_file(path, starter_text(name))
            written.append(f"{OURS}/{name}.md")
    return WrittenAgents(tuple(written), tuple(kept))


def write_agent_file(path: Path, text: str) -> None:
    """Raises PaddockError where it cannot be written, Misuse where there is one."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise Misuse(f"`{printable(str(path))}` is there already", "choose another name") from None
    except OSError as error:
        hint = f"look at the folder: `ls -ld {path.parent}`"
        raise PaddockError(f"`{printable(str(path))}` cannot be written: {error.strerror}", hint) from None
