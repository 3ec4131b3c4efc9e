"""A plan as people edit it: YAML, and back."""

from typing import Any

import msgspec

from paddock.core.plan.checks import check_plan
from paddock.core.plan.plan import MOST_TASKS, Plan, PlanLimits

HEADER = """\
# The plan, as it would become tasks. Change what you like, save and close; close without saving to leave it as it is.
# What each field means: paddock plan --schema, docs/reference/plan.md
"""
WIDTH = 110


def write_yaml(plan: Plan) -> str:
    import yaml

    class Dumper(yaml.SafeDumper):
        """Texts of several lines as blocks."""

    def represent(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)

    Dumper.add_representer(str, represent)
    tree = msgspec.to_builtins(plan)
    for entry, task in zip(tree["tasks"], plan.tasks, strict=True):
        entry["size"] = task.size.value
    ordered = {name: tree[name] for name in ("convoy", "title", "notes", "risks", "tasks") if name in tree}
    return HEADER + yaml.dump(ordered, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=WIDTH)


def read_yaml(text: str, limits: PlanLimits) -> Plan | list[str]:
    """The plan, or what is wrong with it. What a person writes has no other limits than a task file has."""
    import yaml

    try:
        tree: Any = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        return [f"{place}{error.problem or error.context}"]
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        return [str(error).splitlines()[0]]
    if not isinstance(tree, dict):
        return ["it must have `convoy` and `tasks`"]
    mine = PlanLimits(MOST_TASKS, (), limits.agents, limits.kinds, limits.tasks)
    return check_plan(tree, mine)
