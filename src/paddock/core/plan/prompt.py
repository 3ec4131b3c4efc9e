"""What a planner is told besides the goal: the form of its answer, who there is, what is under way.

Every token here is paid for on each call of the model. What the repository holds it reads for itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from paddock.core.ids import printable
from paddock.core.plan.overlaps import OpenTask
from paddock.core.plan.plan import PlanLimits

BUILT_IN_BRIEF = """\
You plan work for a fleet of coding agents: you read the repository and decide who does what; others do it."""
EXAMPLE = """\
{"convoy": "strict-parser", "title": "Make the parser strict", "notes": "The old parser stays for one release.",
 "risks": ["Users may rely on lenient input."],
 "tasks": [
  {"key": "errors", "title": "Name the place of every syntax error", "size": "medium",
   "brief": "In src/parser.py, let SyntaxError name file, line and column. tests/test_parser.py must pass.",
   "paths": ["src/parser.py", "tests/test_parser.py"],
   "accept": {"commands": [["pytest", "-q", "tests/test_parser.py"]]}},
  {"key": "manual", "title": "Describe the errors", "size": "small", "kind": "docs", "after": ["errors"],
   "brief": "Describe in docs/errors.md each error that src/parser.py raises.", "paths": ["docs/errors.md"]}]}"""
MOST_AGENTS, MOST_OPEN = 20, 30


@dataclass(frozen=True, slots=True)
class AgentNote:
    """What a planner needs to know of an agent to give it work."""

    name: str
    description: str = ""
    owns: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()


def planning_section(limits: PlanLimits, agents: Sequence[AgentNote] = (), others: Sequence[OpenTask] = ()) -> str:
    """How to plan. How the answer is handed over is told to every agent that only reads, in other words."""
    parts = [_rules(limits), f"As JSON, for example:\n{EXAMPLE}", _fields()]
    if agents:
        parts.append("\n".join(["# Agents", *map(_agent, agents[:MOST_AGENTS]), *_more(agents, MOST_AGENTS)]))
    if others:
        lines = ["# Under way already: plan nothing of it again; what needs it comes `after` it"]
        parts.append("\n".join([*lines, *map(_open, others[:MOST_OPEN]), *_more(others, MOST_OPEN)]))
    return "\n\n".join(parts)


def _rules(limits: PlanLimits) -> str:
    lines = [
        "# Your plan",
        "Read what you need to, then deliver a plan: tasks for agents that each start from main, in a worktree of "
        "their own, and know only their own brief.",
        f"- At most {limits.max_tasks} tasks, and as few as will do: what takes under ten minutes belongs to another.",
        "- A brief names files and functions, says what must hold at the end, and leaves nothing to guess.",
        "- Tasks that may run at the same time share no `paths`. What needs another task's work comes `after` it.",
    ]
    if limits.fence:
        lines.append(f"- All `paths` are inside of: {', '.join(printable(path, 80) for path in limits.fence)}")
    return "\n".join(lines)


def _fields() -> str:
    return (
        "Needed are `convoy` and `tasks`, and of a task `key`, `title` and `brief`. `size` is small, medium or large. "
        "A task may also have `agent`, `labels`, and `accept`: `commands` that must pass before its work counts, as "
        'lists of words, with `files` ({"path", "text"}) such as tests, which its agent cannot change. '
        "Other fields are refused."
    )


def _agent(agent: AgentNote) -> str:
    facts = [printable(agent.description, 120)] if agent.description else []
    facts += [f"owns {', '.join(printable(path, 60) for path in agent.owns[:8])}"] if agent.owns else []
    facts += [f"takes kinds {', '.join(agent.kinds[:8])}"] if agent.kinds else []
    return f"- `{agent.name}`: {'; '.join(facts)}" if facts else f"- `{agent.name}`"


def _open(task: OpenTask) -> str:
    paths = f" ({', '.join(printable(path, 60) for path in task.paths[:6])})" if task.paths else ""
    return f"- {task.id} {printable(task.title, 80)}{paths}"


def _more(items: Sequence[object], most: int) -> list[str]:
    return [f"- and {len(items) - most:,} more"] if len(items) > most else []
