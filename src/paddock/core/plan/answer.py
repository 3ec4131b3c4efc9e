"""A planner's answer: its plan, or what to tell it when it is asked again."""

from paddock.core.answers import Unusable
from paddock.core.plan.checks import check_plan
from paddock.core.plan.plan import Plan, PlanLimits
from paddock.core.plan.wrapping import NoJson, find_object

TEXT_CHARS = 1_000_000
MOST_PROBLEMS = 20


def read_plan(text: str, limits: PlanLimits) -> Plan | Unusable:
    """Whatever surrounds the JSON does not count, everything in it does. Raises nothing."""
    if not text.strip():
        return Unusable("The answer is empty; it must be one JSON object.")
    if len(text) > TEXT_CHARS:
        return Unusable(f"The answer has {len(text):,} characters; at most {TEXT_CHARS:,} are allowed.")
    try:
        found = check_plan(find_object(text, "tasks"), limits)
    except NoJson as problem:
        return Unusable(listed([str(problem)]))
    return found if isinstance(found, Plan) else Unusable(listed(found))


def listed(problems: list[str]) -> str:
    """One line each, and not more than somebody would read."""
    lines = [f"- {problem}" for problem in problems[:MOST_PROBLEMS]]
    if len(problems) > MOST_PROBLEMS:
        lines.append(f"- and {len(problems) - MOST_PROBLEMS:,} more problems")
    return "\n".join(lines)
