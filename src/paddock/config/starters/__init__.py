"""Agents that `paddock init --agents` writes, and the file that `paddock agents new` begins with."""

from importlib.resources import files

NAMES = ("fixer", "tester", "reviewer", "planner", "docs")


def starter_text(name: str) -> str:
    """The agent file of that name."""
    return files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8")


def new_agent_text(name: str) -> str:
    """A commented file for a new agent."""
    return files(__name__).joinpath("new.md.txt").read_text(encoding="utf-8").replace("NAME", name)
