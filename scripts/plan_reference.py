"""The page about plans, and their JSON schema, from the structs that read them."""

from collections.abc import Iterator
from typing import get_type_hints

import msgspec
from msgspec import NODEFAULT, Meta

from paddock.core.plan.plan import DEFAULT_MAX_TASKS, MOST_TASKS, Plan, PlannedTask, Size, plan_schema
from paddock.core.plan.prompt import EXAMPLE

INTRO = f"""\
A planner delivers its plan as one JSON object, alone or in a fenced block with words around it. The same fields, as
YAML, are what `paddock plan --edit` opens. [How to plan](../how-to/planning.md).

The schema is in [plan.schema.json](plan.schema.json); `paddock plan --schema` prints it. For example:

```json
{EXAMPLE}
```"""
RULES = f"""\
## What is checked

A plan that breaks one of these is not used. Its planner is told all that is wrong, each problem with its place in the
JSON, and is asked again, at most twice.

- At most {DEFAULT_MAX_TASKS} tasks (`--max-tasks`), never over {MOST_TASKS}. Fields that are not listed are refused.
- Keys are unique and do not look like task ids. `after` names keys of the plan or tasks that exist, without a cycle.
- Paths are globs inside the repository: not absolute, without `..`, not inside `.git`; with `--paths` all of them are
  inside those.
- Agents are workers that exist; kinds are those that agents take, if any agent names kinds.
- Texts have no control characters. A title is one line; whatever is in it, it is only ever shown.

## Overlapping paths

Two tasks whose paths overlap, and of which neither waits for the other, are put in order when the plan is shown and
accepted: the one that comes later in the plan waits for the earlier one. "Later" is by the order in which the plan
could be done one by one, so that what is added never closes a cycle. The preview says what was added (`added`).

Flagged and not put in order (`overlaps`): tasks without paths, which may touch anything; open tasks of the log with
the same paths; and whatever you leave without an order when you edit a plan, because then your order stands."""


def lines(made: str) -> Iterator[str]:
    yield from ("# Plans", "", made, "", *INTRO.splitlines())
    yield from ("", "## The plan", "", *_table(Plan))
    yield from ("", "## A task", "", *_table(PlannedTask))
    yield from ("", *RULES.splitlines())


def schema_lines() -> list[str]:
    return msgspec.json.format(msgspec.json.encode(plan_schema()), indent=2).decode().splitlines()


def _table(struct: type[msgspec.Struct]) -> Iterator[str]:
    hints = get_type_hints(struct, include_extras=True)
    yield from ("| field | type | default | meaning |", "|---|---|---|---|")
    for field in msgspec.structs.fields(struct):
        meta = next(extra for extra in hints[field.encode_name].__metadata__ if isinstance(extra, Meta))
        needed = field.default is NODEFAULT and field.default_factory is NODEFAULT
        words = meta.description or ""
        meaning = f"{words[:1].upper()}{words[1:]}."
        default = "required" if needed else _default(field.default)
        yield f"| `{field.encode_name}` | {_type(field.encode_name)} | {default} | {meaning} |"


def _default(value: object) -> str:
    return "none" if value in ("", (), None) else f"`{value}`"


def _type(name: str) -> str:
    if name == "size":
        return ", ".join(f"`{size}`" for size in Size)
    if name == "accept":
        return "object: `commands`, `files`"
    if name == "tasks":
        return "list of tasks"
    return "list of texts" if name in ("paths", "after", "labels", "risks") else "text"
